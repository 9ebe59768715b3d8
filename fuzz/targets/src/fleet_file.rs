//! A Parquet file in the folder of a fleet, as another machine wrote it, or somebody who means harm.

use diskfacts_facts::fleet::{GroupOfFleet, Options, compare_groups, screen};
use diskfacts_fleet::Fleet;
use std::fs;

/// What is read is looked at by the statistics; what is not is refused with the name of its file.
///
/// # Panics
/// When that does not hold, or the system has no room for the file.
pub fn run(input: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("input.parquet"), input).expect("a file");
    let fleet = Fleet::open(folder.path()).expect("a folder with a file");
    let refused = |error: diskfacts_fleet::Error| {
        let said = error.to_string();
        assert!(said.contains("input.parquet"), "{said}");
    };
    if let Err(error) = fleet.groups() {
        refused(error);
    }
    let samples = fleet
        .runs(None)
        .and_then(|runs| fleet.samples(&runs.all(), None));
    match samples {
        Err(error) => refused(error),
        Ok(samples) => {
            let screen = screen(&samples, &Options::default());
            assert!(screen.members <= samples.len());
            let half = samples.len() / 2;
            let side = |samples| GroupOfFleet {
                given: String::new(),
                group: String::new(),
                samples,
            };
            let (a, b) = (side(&samples[..half]), side(&samples[half..]));
            let compared = compare_groups(&a, &b, 0.05, &[], &Options::default());
            assert!(compared.fleet.is_some());
        }
    }
}
