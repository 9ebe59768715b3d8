//! Which scenarios share a boot.

use super::catalogue::Scenario;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Seconds of work in one boot, about, unless one scenario takes longer. A
/// boot costs some ten; a guest that is lost costs what is behind it.
const SECONDS: u64 = 200;

/// QEMU's machine has 32 places on its bus, and some are taken.
const DISKS: usize = 20;

/// Cuts the scenarios into parts of about the same length, as many for each of the
/// guests that work side by side, so that none has to wait for another at the end.
///
/// What needs more guests than one has a part of its own: they take memory and processors.
pub(super) fn share_out(scenarios: Vec<Scenario>, guests: usize) -> Vec<Vec<Scenario>> {
    let (alone, mut scenarios): (Vec<_>, Vec<_>) = scenarios
        .into_iter()
        .partition(|scenario| scenario.helpers > 0);
    let seconds: u64 = scenarios.iter().map(|scenario| scenario.seconds).sum();
    let boots = seconds.div_ceil(SECONDS) as usize;
    let mut parts = vec![Vec::new(); boots.next_multiple_of(guests)];
    // The longest first, so that the short ones even out what is left.
    scenarios.sort_by_key(|scenario| Reverse(scenario.seconds));
    for scenario in scenarios {
        let places = parts.iter_mut().filter(|part| has_room(part, &scenario));
        match places.min_by_key(|part| length(part)) {
            Some(part) => part.push(scenario),
            None => parts.push(vec![scenario]),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts.extend(alone.into_iter().map(|scenario| vec![scenario]));
    parts
}

/// Seconds of a part.
fn length(part: &[Scenario]) -> u64 {
    part.iter().map(|scenario| scenario.seconds).sum()
}

fn has_room(part: &[Scenario], scenario: &Scenario) -> bool {
    let all = part.iter().chain([scenario]);
    let disks: BTreeSet<&String> = all.flat_map(|scenario| &scenario.disks).collect();
    disks.len() <= DISKS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(name: &str, seconds: u64) -> Scenario {
        Scenario {
            name: name.to_owned(),
            about: String::new(),
            short: true,
            every_kernel: false,
            disks: vec![name.to_owned()],
            helpers: 0,
            seconds,
        }
    }

    #[test]
    fn what_needs_several_guests_has_a_boot_of_its_own() {
        let several = Scenario {
            helpers: 2,
            ..scenario("several", 9)
        };
        let all = vec![several.clone(), scenario("a", 1), scenario("b", 1)];
        let parts = share_out(all, 1);
        assert_eq!(parts.len(), 2);
        assert_eq!(parts[1], [several]);
    }

    #[test]
    fn every_scenario_is_in_one_part_and_all_guests_have_as_much_to_do() {
        let all: Vec<Scenario> = (1..=40).map(|n| scenario(&n.to_string(), n)).collect();
        let parts = share_out(all, 2);
        let mut seconds: Vec<u64> = parts.iter().flatten().map(|s| s.seconds).collect();
        seconds.sort_unstable();
        assert_eq!(seconds, (1..=40).collect::<Vec<u64>>());
        assert_eq!(parts.len(), 6, "820 s, as many parts for each guest");
        for part in parts {
            assert!(part.len() <= DISKS);
            assert!((130..=143).contains(&length(&part)), "{} s", length(&part));
        }
    }

    #[test]
    fn a_part_has_no_more_disks_than_the_machine_has_places() {
        let all: Vec<Scenario> = (0..50).map(|n| scenario(&n.to_string(), 1)).collect();
        let parts = share_out(all, 2);
        assert_eq!(parts.iter().map(Vec::len).sum::<usize>(), 50);
        assert!(parts.iter().all(|part| part.len() <= DISKS));
    }

    #[test]
    fn fewer_scenarios_than_guests_are_no_empty_boots() {
        assert_eq!(share_out(vec![scenario("a", SECONDS + 1)], 2).len(), 1);
        assert_eq!(share_out(Vec::new(), 2).len(), 0);
    }
}
