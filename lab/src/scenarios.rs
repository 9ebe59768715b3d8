//! All scenarios: what is built, and what must hold of it.
//!
//! A scenario is a function that builds a stack on disks of the lab, tells
//! [`Guest::later`] how each part is taken down, and calls the checks. To add
//! one: the function in a file of its family, and its line in the table there.

mod claims;
pub(crate) mod crypt;
mod disk;
mod faults;
mod files;
mod filesystem;
pub(crate) mod lvm;
pub(crate) mod mapper;
pub(crate) mod md;
pub(crate) mod memory;
mod network;
mod shared;

use crate::disks::DISKS;
use crate::fuzz;
use crate::guest::{Built, Guest};
use crate::needs::{BUSYBOX, MODULES, TOOLS};
use serde_json::{Value, json};

/// Something that is built in a guest, and what must hold of it.
#[derive(Clone, Copy)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) set: Set,
    /// The disks of the lab that it needs.
    pub(crate) disks: &'static [&'static str],
    /// Seconds that it takes alone, about.
    pub(crate) seconds: u64,
    pub(crate) run: fn(&mut Guest) -> Built,
}

/// Where a scenario is done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Set {
    /// In the short set, on every kernel.
    Always,
    /// In the short set, on one kernel.
    Short,
    /// With `--all` only.
    Long,
}

const FAMILIES: &[&[Scenario]] = &[
    disk::SCENARIOS,
    mapper::SCENARIOS,
    md::SCENARIOS,
    lvm::SCENARIOS,
    crypt::SCENARIOS,
    memory::SCENARIOS,
    network::SCENARIOS,
    shared::SCENARIOS,
    filesystem::SCENARIOS,
    files::SCENARIOS,
    faults::SCENARIOS,
    claims::SCENARIOS,
];

fn all() -> impl Iterator<Item = &'static Scenario> {
    FAMILIES.iter().copied().flatten()
}

/// The scenario of a name.
pub(crate) fn find(name: &str) -> Option<Scenario> {
    all().find(|scenario| scenario.name == name).copied()
}

/// All that the host has to know.
pub(crate) fn listed() -> Value {
    let helpers = |name: &str| {
        let mut shared = shared::SCENARIOS.iter();
        let is_shared = shared.any(|scenario| scenario.name == name);
        if is_shared { shared::HELPERS } else { 0 }
    };
    let scenario = |scenario: &Scenario| {
        json!({
            "name": scenario.name,
            "about": scenario.about,
            "short": scenario.set != Set::Long,
            "every_kernel": scenario.set == Set::Always,
            "disks": scenario.disks,
            "helpers": helpers(scenario.name),
            "seconds": scenario.seconds,
        })
    };
    let tool =
        |(program, package): &(&str, &str)| json!({ "program": program, "package": package });
    json!({
        "scenarios": all().map(scenario).collect::<Vec<_>>(),
        "fuzz": {
            "name": "fuzz", "about": "a random stack", "short": true, "every_kernel": false,
            "disks": fuzz::LEAVES, "helpers": 0, "seconds": 25,
        },
        "fuzz_of_days": fuzz::of_days(),
        "disks": DISKS.iter().map(crate::disks::Disk::listed).collect::<Vec<_>>(),
        "tools": TOOLS.iter().chain([&BUSYBOX]).map(tool).collect::<Vec<_>>(),
        "modules": MODULES,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disks;
    use std::collections::BTreeSet;

    #[test]
    fn every_scenario_has_a_name_of_its_own_and_disks_that_there_are() {
        let names: BTreeSet<&str> = all().map(|scenario| scenario.name).collect();
        assert_eq!(names.len(), all().count());
        for scenario in all() {
            for disk in scenario.disks {
                assert!(disks::find(disk).is_some(), "{}: {disk}", scenario.name);
            }
        }
    }
}
