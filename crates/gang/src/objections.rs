//! What speaks against measuring together: asked of all hosts' cards before anything is written.

use crate::wire::{Card, Details, PROTOCOL};
use std::collections::BTreeMap;

/// Every objection, each a sentence that names its hosts; empty where all agree.
///
/// Hosts are held against the root's card (the lowest rank). A device in use on one host is that
/// host's own objection, and refuses all.
pub(crate) fn objections(cards: &BTreeMap<usize, Card>) -> Vec<String> {
    let mut found = versions(cards);
    found.extend(plans(cards));
    found.extend(same_machine(cards));
    for card in cards.values() {
        let of_host = card.details.iter().flat_map(|details| &details.objections);
        found.extend(of_host.map(|objection| format!("{}: {objection}", name(cards, card))));
    }
    found
}

/// A host's name, with its rank where that is needed to tell it from another.
pub(crate) fn name(cards: &BTreeMap<usize, Card>, card: &Card) -> String {
    let same = |other: &&Card| other.host == card.host;
    if cards.values().filter(same).count() > 1 {
        format!("{} (rank {})", card.host, card.rank)
    } else {
        card.host.clone()
    }
}

/// The name of a rank; its number where it never said who it is.
pub(crate) fn name_of_rank(cards: &BTreeMap<usize, Card>, rank: usize) -> String {
    cards
        .get(&rank)
        .map_or_else(|| format!("rank {rank}"), |card| name(cards, card))
}

/// At most this many hosts are named in one sentence.
const NAMES_MAX: usize = 8;

/// Names in one sentence, and how many more there are.
pub(crate) fn names(names: &[String]) -> String {
    let shown = names[..names.len().min(NAMES_MAX)].join(", ");
    match names.len().saturating_sub(NAMES_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn versions(cards: &BTreeMap<usize, Card>) -> Vec<String> {
    let mut of_version: BTreeMap<(u16, &str), Vec<String>> = BTreeMap::new();
    for card in cards.values() {
        let version = (card.protocol, &*card.program);
        of_version
            .entry(version)
            .or_default()
            .push(name(cards, card));
    }
    if of_version.len() < 2 {
        return Vec::new();
    }
    let parts: Vec<String> = of_version
        .iter()
        .map(|((protocol, program), hosts)| {
            let protocol = if *protocol == PROTOCOL {
                String::new()
            } else {
                format!(" (protocol {protocol})")
            };
            format!("{program}{protocol} on {}", names(hosts))
        })
        .collect();
    vec![format!(
        "the hosts run different versions: {}; install one version on all of them",
        parts.join(", ")
    )]
}

fn details(cards: &BTreeMap<usize, Card>) -> impl Iterator<Item = (&Card, &Details)> {
    cards
        .values()
        .filter_map(|card| Some((card, card.details.as_ref()?)))
}

fn plans(cards: &BTreeMap<usize, Card>) -> Option<String> {
    // A host that could not come to a plan says why itself.
    let with_plan = || details(cards).filter(|(_, of_host)| !of_host.plan.is_empty());
    let (first, of_first) = with_plan().next()?;
    let other: Vec<String> = with_plan()
        .filter(|(_, of_host)| of_host.plan != of_first.plan)
        .map(|(card, _)| name(cards, card))
        .collect();
    (!other.is_empty()).then(|| {
        format!(
            "the plan on {} is not that on {}; give all hosts the same plan and options",
            names(&other),
            name(cards, first)
        )
    })
}

/// Two ranks on one machine and one device measure each other, and the sum counts the device
/// twice.
fn same_machine(cards: &BTreeMap<usize, Card>) -> Vec<String> {
    let mut at: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for (card, details) in details(cards) {
        if let (false, Some(device)) = (details.boot_id.is_empty(), &details.device) {
            at.entry((&details.boot_id, device))
                .or_default()
                .push(format!("{} (rank {})", card.host, card.rank));
        }
    }
    at.iter()
        .filter(|(_, hosts)| hosts.len() > 1)
        .map(|((_, device), hosts)| {
            format!(
                "{} are one machine (same boot id) and one device ({device}); start one process \
                 on each host (mpirun --map-by node, srun --ntasks-per-node=1), or add \
                 --several-per-host where they are meant to share it",
                names(hosts)
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn details_of(plan: &[u8], boot_id: &str, device: &str) -> Details {
        Details {
            plan: plan.to_vec(),
            boot_id: boot_id.to_owned(),
            device: Some(device.to_owned()),
            objections: Vec::new(),
        }
    }

    fn cards(details: Vec<(&str, Details)>) -> BTreeMap<usize, Card> {
        let card = |(rank, (host, details)): (usize, (&str, Details))| {
            let number = u32::try_from(rank).unwrap();
            let program = "diskfacts 0.1.0".to_owned();
            (rank, Card::new(number, program, host.to_owned(), details))
        };
        details.into_iter().enumerate().map(card).collect()
    }

    #[test]
    fn hosts_that_agree_have_no_objection() {
        let agreed = cards(vec![
            ("c1", details_of(b"p", "a", "nfs:1")),
            ("c2", details_of(b"p", "b", "nfs:1")),
        ]);
        assert_eq!(objections(&agreed), Vec::<String>::new());
    }

    #[test]
    fn mixed_versions_are_named_with_their_hosts() {
        let mut mixed = cards(vec![
            ("c1", details_of(b"p", "a", "d")),
            ("c2", details_of(b"p", "b", "d")),
            ("c3", details_of(b"p", "c", "d")),
        ]);
        mixed.insert(1, Card::of_another_version(1, 9, "c2", b"?"));
        assert_eq!(
            objections(&mixed),
            [
                "the hosts run different versions: diskfacts 0.1.0 on c1, c3, diskfacts 9.0.0 \
              (protocol 9) on c2; install one version on all of them"
            ]
        );
    }

    #[test]
    fn another_plan_is_named_with_its_hosts() {
        let mixed = cards(vec![
            ("c1", details_of(b"p", "a", "d")),
            ("c2", details_of(b"q", "b", "d")),
        ]);
        assert_eq!(
            objections(&mixed),
            ["the plan on c2 is not that on c1; give all hosts the same plan and options"]
        );
    }

    #[test]
    fn one_machine_twice_is_refused_on_one_device_only() {
        let twice = cards(vec![
            ("c1", details_of(b"p", "a", "sda1")),
            ("c1", details_of(b"p", "a", "sda1")),
        ]);
        let found = objections(&twice);
        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with("c1 (rank 0), c1 (rank 1) are one machine"),
            "{found:?}"
        );
        let two_devices = cards(vec![
            ("c1", details_of(b"p", "a", "sda1")),
            ("c1", details_of(b"p", "a", "sdb1")),
        ]);
        assert_eq!(objections(&two_devices), Vec::<String>::new());
        // What is not known is not the same.
        let unknown = cards(vec![
            ("c1", details_of(b"p", "", "sda1")),
            ("c2", details_of(b"p", "", "sda1")),
        ]);
        assert_eq!(objections(&unknown), Vec::<String>::new());
    }

    #[test]
    fn two_hosts_with_one_name_are_told_apart_by_their_ranks() {
        let mut second = details_of(b"p", "b", "sda1");
        second.objections = vec!["/dev/sda1 is mounted at /data".to_owned()];
        let same = cards(vec![
            ("localhost", details_of(b"p", "a", "sda1")),
            ("localhost", second),
        ]);
        assert_eq!(
            objections(&same),
            ["localhost (rank 1): /dev/sda1 is mounted at /data"]
        );
    }

    #[test]
    fn a_long_list_of_hosts_is_cut_with_its_number() {
        let many: Vec<String> = (0..20).map(|host| format!("c{host}")).collect();
        assert_eq!(names(&many), "c0, c1, c2, c3, c4, c5, c6, c7 and 12 more");
    }
}
