//! What follows from the runs of a group together, each in a file of its own.

mod clock_uncertain;
mod host_lost;
mod mixed_versions;
mod odd_host;
mod one_storage;
mod same_machine_twice;
mod separate_storage;
mod shift_on_one_machine;
mod uneven_start;

use diskfacts_record::Finding;
use diskfacts_record::together::Merged;

type Claim = fn(&Merged) -> Option<Finding>;

/// Most important first; among equals in the order of this table.
const CLAIMS: [(&str, Claim); 9] = [
    ("host-lost", host_lost::claim),
    ("uneven-start", uneven_start::claim),
    ("clock-uncertain", clock_uncertain::claim),
    ("odd-host", odd_host::claim),
    ("same-machine-twice", same_machine_twice::claim),
    ("shift-on-one-machine", shift_on_one_machine::claim),
    ("mixed-versions", mixed_versions::claim),
    ("one-storage", one_storage::claim),
    ("separate-storage", separate_storage::claim),
];

/// The names of all claims.
pub const NAMES: [&str; CLAIMS.len()] = {
    let mut names = [""; CLAIMS.len()];
    let mut at = 0;
    while at < CLAIMS.len() {
        names[at] = CLAIMS[at].0;
        at += 1;
    }
    names
};

/// All that is so.
pub(super) fn all(merged: &Merged) -> Vec<Finding> {
    let claims = CLAIMS.iter().filter_map(|(name, claim)| {
        let finding = claim(merged)?;
        Some(Finding {
            rule: (*name).to_owned(),
            ..finding
        })
    });
    let mut findings: Vec<Finding> = claims.collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings
}

/// The first of these with commas between them, and how many more there are.
fn some(names: &[String]) -> String {
    const NAMED: usize = 8;
    let shown = names.iter().take(NAMED).cloned().collect::<Vec<_>>();
    match names.len().saturating_sub(NAMED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
