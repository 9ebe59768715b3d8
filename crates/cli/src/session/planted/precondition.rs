//! A flash drive that is empty writes faster than one that was written full and then
//! anywhere; what a plan does before its trials makes it the latter.

use super::setup::Setup;
use diskfacts_disk::profile::Drive;
use diskfacts_disk::ssd::Wear;
use diskfacts_facts::stats;
use diskfacts_plan::file;
use diskfacts_record::Run;

/// Bytes of a drive that is soon worn in.
const CAPACITY: u64 = 512 << 20;

const MEASURED: &str = r#"
name = "worn"
trials = 16

[[stage]]
name = "random-write"
operation = "write"
block_size = "4KiB"
cache = "direct"
queue_depth = 32
bytes = "64MiB"
"#;

const BEFORE: &str = r#"
[[precondition]]
name = "fill"
operation = "write"
pattern = "sequential"
block_size = "128KiB"
cache = "direct"
queue_depth = 8
rounds = 2

[[precondition]]
name = "age"
operation = "write"
block_size = "4KiB"
cache = "direct"
queue_depth = 32
bytes = "128MiB"
steady = true
"#;

/// Measures a drive on which nothing was written.
fn measured(plan: &str) -> Run {
    let mut setup = Setup::on("nvme-datacenter");
    let Drive::Ssd(drive) = &mut setup.profile.drive else {
        panic!("it is a flash drive");
    };
    // Eight dies and superblocks of 2 MiB, with the erase in proportion.
    drive.capacity = CAPACITY;
    (drive.channels, drive.dies_per_channel) = (4, 2);
    (drive.pages_per_block, drive.erase_ns) = (16, 200_000);
    drive.write_buffer = 4 << 20;
    drive.slc = None;
    drive.wear = Wear::Fresh;
    setup.plan = file::parse(plan).expect("a plan");
    assert_eq!(setup.plan.problems(), []);
    setup.run()
}

/// How much faster the first three trials are than the last three.
fn first_to_last(run: &Run) -> f64 {
    let rates: Vec<f64> = run.trials.iter().map(|trial| trial.iops).collect();
    assert_eq!(rates.len(), 16);
    let median = |rates: &[f64]| stats::median(rates).expect("three rates");
    median(&rates[..3]) / median(&rates[13..])
}

#[test]
fn without_preconditioning_the_first_trials_of_an_empty_drive_are_faster_than_the_last() {
    let run = measured(MEASURED);
    let ratio = first_to_last(&run);
    assert!(ratio > 2.0, "{ratio}");
    assert_eq!(
        (run.preconditioning.len(), &run.run.notes[..]),
        (0, &[][..])
    );
}

#[test]
fn with_preconditioning_they_are_steady_and_what_was_done_is_in_the_record_and_in_no_figure() {
    let run = measured(&format!("{MEASURED}{BEFORE}"));
    let ratio = first_to_last(&run);
    assert!((0.9..1.1).contains(&ratio), "{ratio}");
    let rates: Vec<f64> = run.trials.iter().map(|trial| trial.iops).collect();
    assert!(stats::steadiness(&rates).is_some_and(|s| s.is_steady()));

    let [fill, age] = run.preconditioning.as_slice() else {
        panic!("{:?}", run.preconditioning.len());
    };
    assert_eq!((fill.name.as_str(), fill.rounds.len()), ("fill", 2));
    assert_eq!((fill.bytes, fill.steady), (2 * CAPACITY, None));
    assert_eq!((age.name.as_str(), age.steady), ("age", Some(true)));
    let rounds = age.rounds.len();
    assert!((6..=25).contains(&rounds), "{rounds}");
    // It was not from the first round on.
    let first = age.rounds[0].iops / age.rounds[rounds - 1].iops;
    assert!(first > 1.1, "{first}");

    let figures: Vec<&str> = run.figures.iter().map(|f| f.stage.as_str()).collect();
    assert_eq!(figures, ["random-write"]);
    assert_eq!(run.figures[0].iops.trials, 16);
    let stages = run.findings.iter().flat_map(|finding| &finding.stages);
    assert!(stages.clone().all(|stage| stage == "random-write"));
    let [of_fill, of_age] = run.run.notes.as_slice() else {
        panic!("{:?}", run.run.notes);
    };
    assert!(
        of_fill.starts_with("Before the trials: fill, 2 rounds, 1 GiB in "),
        "{of_fill}"
    );
    let said = format!("Before the trials: age, {rounds} rounds, ");
    assert!(
        of_age.starts_with(&said) && of_age.contains("; steady by SNIA's rule"),
        "{of_age}"
    );
}

#[test]
fn what_does_not_become_steady_is_said_to_be_not() {
    // Rounds so short that each shows another part of the fall.
    let before = BEFORE.replace("128MiB", "96MiB");
    let before = before.replace("rounds = 2\n", "").replace("fill", "part");
    let plan = format!("{MEASURED}{before}rounds_max = 5\n");
    let run = measured(&plan);
    let age = &run.preconditioning[1];
    assert_eq!((age.rounds.len(), age.steady), (5, Some(false)));
    let note = &run.run.notes[1];
    assert!(note.contains("; NOT steady by SNIA's rule"), "{note}");
}
