//! Trials on the files of a folder: each file once, in the order that was asked
//! for, and nothing left behind.

use diskfacts_engine::clock::{Monotonic, Timescale};
use diskfacts_engine::engine::Done;
use diskfacts_engine::files::{FileOps, FileSet, run_file_trial};
use diskfacts_engine::{
    Completion, Engine, FailedIn, Op, Prepare, Progress, TrialError, TrialOutcome, Wait,
};
use diskfacts_plan::{CacheMode, Files, Operation, Pattern, Rate, Stop, SyncMode, Workload};
use diskfacts_testkit::{Tmpfs, or_skip};
use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

const ALL: [Operation; 3] = [Operation::Create, Operation::Stat, Operation::Delete];

fn workload(operation: Operation, files: Files) -> Workload {
    Workload {
        operation,
        pattern: Pattern::Random,
        cache: CacheMode::Buffered,
        files: Some(files),
        ..Workload::default()
    }
}

fn files(count: u64) -> Files {
    Files {
        count,
        ..Files::default()
    }
}

fn listed(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|entry| {
            let entry = entry.expect("an entry");
            entry.file_name().to_string_lossy().into_owned()
        })
        .collect();
    names.sort();
    names
}

/// Sizes of the files of a trial that is going on, folder by folder.
fn found(parent: &Path) -> Vec<Vec<u64>> {
    let [own] = &listed(parent)[..] else {
        panic!("one folder of our own");
    };
    let own = parent.join(own);
    let mut folders = listed(&own);
    folders.retain(|name| name != "owner");
    let sizes = |folder: String| {
        let folder = own.join(folder);
        let size = |name: String| fs::metadata(folder.join(name)).expect("a file").len();
        listed(&folder).into_iter().map(size).collect()
    };
    folders.into_iter().map(sizes).collect()
}

/// What lies in the folder before and after the measured time.
struct Look<'a> {
    parent: &'a Path,
    before: Vec<Vec<u64>>,
    after: Vec<Vec<u64>>,
}

impl Prepare for Look<'_> {
    fn before(&mut self) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.before = found(self.parent);
        Ok(())
    }
    fn after(&mut self) {
        self.after = found(self.parent);
    }
}

fn measured<'a>(parent: &'a Path, workload: &Workload) -> (TrialOutcome, Look<'a>) {
    let mut look = Look {
        parent,
        before: Vec::new(),
        after: Vec::new(),
    };
    let outcome = run_file_trial(parent, workload, 7, &Progress::default(), &mut look)
        .expect("a trial on files");
    assert_eq!(listed(parent), [""; 0], "nothing is left behind");
    let over_time = outcome.latency_over_time.as_ref().expect("it has threads");
    let rows = 0..over_time.rows();
    let counts = rows.map(|row| over_time.measured(row, workload).count());
    assert_eq!(counts.sum::<u64>(), outcome.ops);
    (outcome, look)
}

#[test]
fn each_file_is_created_looked_up_or_deleted_once_and_only_that_is_in_the_time() {
    let parent = tempfile::tempdir().expect("a temporary folder");
    let given = Files {
        count: 300,
        size_min: 1,
        size_max: 9000,
        folders: 3,
    };
    for pattern in [Pattern::Sequential, Pattern::Random] {
        for streams in [1, 4] {
            for operation in ALL {
                let workload = Workload {
                    pattern,
                    streams,
                    ..workload(operation, given)
                };
                let (outcome, look) = measured(parent.path(), &workload);
                assert_eq!((outcome.ops, outcome.errors), (300, 0), "{operation:?}");
                let sizes =
                    |found: &[Vec<u64>]| -> Vec<usize> { found.iter().map(Vec::len).collect() };
                let (before, after) = match operation {
                    Operation::Create => ([0, 0, 0], [100, 100, 100]),
                    Operation::Stat => ([100, 100, 100], [100, 100, 100]),
                    _ => ([100, 100, 100], [0, 0, 0]),
                };
                assert_eq!(sizes(&look.before), before, "{operation:?}");
                assert_eq!(sizes(&look.after), after, "{operation:?}");
                let bytes = |found: &[Vec<u64>]| -> u64 { found.iter().flatten().sum() };
                let issued = outcome.issued;
                let moved = (issued.read_bytes, issued.write_bytes);
                match operation {
                    Operation::Create => assert_eq!(moved, (0, bytes(&look.after))),
                    Operation::Stat => assert_eq!(moved, (bytes(&look.before), 0)),
                    _ => assert_eq!(moved, (0, 0)),
                }
                let largest = look.before.iter().chain(&look.after).flatten().max();
                assert!(largest.is_some_and(|size| (4096..=9000).contains(size)));
                assert_eq!(outcome.engine.threads, streams);
            }
        }
    }
}

#[test]
fn a_trial_ends_at_its_operations_its_time_and_its_last_file() {
    let parent = tempfile::tempdir().expect("a temporary folder");
    let stopped = |stop: Stop| {
        let workload = Workload {
            stop,
            streams: 2,
            ..workload(Operation::Create, files(64))
        };
        measured(parent.path(), &workload).0.ops
    };
    assert_eq!(stopped(Stop::default()), 64);
    assert_eq!(
        stopped(Stop {
            operations: Some(11),
            ..Stop::default()
        }),
        11
    );
    let at_once = Stop {
        time_ns: Some(1),
        ..Stop::default()
    };
    // Each stream has begun one before it looks.
    assert_eq!(stopped(at_once), 2);
}

#[test]
fn a_rate_is_kept_and_its_latencies_are_kept_apart() {
    let parent = tempfile::tempdir().expect("a temporary folder");
    let workload = Workload {
        rate: Some(Rate {
            operations_per_s: 1000,
            arrivals: diskfacts_plan::Arrivals::Fixed,
        }),
        ..workload(Operation::Stat, files(50))
    };
    let outcome = measured(parent.path(), &workload).0;
    assert_eq!(outcome.ops, 50);
    assert!(outcome.seconds > 0.045, "{}", outcome.seconds);
    assert!(outcome.histograms.service.is_some());
}

#[test]
fn with_fsync_each_creation_and_deletion_is_synced_and_counted() {
    let parent = tempfile::tempdir().expect("a temporary folder");
    for operation in [Operation::Create, Operation::Delete] {
        let workload = Workload {
            sync: SyncMode::Fsync,
            ..workload(operation, files(20))
        };
        let outcome = measured(parent.path(), &workload).0;
        assert_eq!((outcome.ops, outcome.issued.syncs), (20, 20));
    }
}

#[test]
fn a_stop_while_the_files_are_made_ends_at_once_and_leaves_nothing() {
    let parent = tempfile::tempdir().expect("a temporary folder");
    let progress = Progress::default();
    progress.stop.store(true, Ordering::Relaxed);
    let outcome = run_file_trial(
        parent.path(),
        &workload(Operation::Delete, files(100_000)),
        7,
        &progress,
        &mut (),
    )
    .expect("an outcome, of nothing");
    assert_eq!(outcome.ops, 0);
    assert_eq!(listed(parent.path()), [""; 0]);
}

#[test]
fn a_failure_of_what_is_around_the_trial_leaves_nothing() {
    struct Fails;
    impl Prepare for Fails {
        fn before(&mut self) -> Result<(), Box<dyn Error + Send + Sync>> {
            Err("planted".into())
        }
        fn after(&mut self) {}
    }
    let parent = tempfile::tempdir().expect("a temporary folder");
    let workload = workload(Operation::Stat, files(10));
    let result = run_file_trial(
        parent.path(),
        &workload,
        7,
        &Progress::default(),
        &mut Fails,
    );
    assert!(matches!(result, Err(TrialError::Prepare(_))), "{result:?}");
    assert_eq!(listed(parent.path()), [""; 0]);
}

#[test]
fn a_filesystem_without_room_fails_the_creations_and_the_making_and_leaves_nothing() {
    let tmpfs = or_skip!(Tmpfs::new(1 << 20));
    let large = Files {
        count: 100,
        size_min: 64 << 10,
        size_max: 64 << 10,
        folders: 1,
    };
    let outcome = run_file_trial(
        tmpfs.path(),
        &workload(Operation::Create, large),
        7,
        &Progress::default(),
        &mut (),
    )
    .expect("failures are counted");
    assert!((1..16).contains(&outcome.ops), "{}", outcome.ops);
    assert_eq!(outcome.ops + outcome.errors, 100);
    let [error] = outcome.error_counts.as_slice() else {
        panic!("one kind of error: {:?}", outcome.error_counts);
    };
    assert_eq!(
        (error.operation.as_str(), error.errno),
        ("create", libc::ENOSPC)
    );
    assert_eq!(listed(tmpfs.path()), [""; 0]);

    let failed = run_file_trial(
        tmpfs.path(),
        &workload(Operation::Stat, large),
        7,
        &Progress::default(),
        &mut (),
    );
    let Err(TrialError::Files(error)) = failed else {
        panic!("there is no room: {failed:?}");
    };
    assert!(error.hint().is_some_and(|hint| hint.contains("df -i")));
    assert_eq!(listed(tmpfs.path()), [""; 0]);
}

/// The part of the contract of an engine (`tests/contract.rs`) that has a
/// meaning here: one at a time, each taken once and answered once, and failures
/// that carry their number and disturb nobody.
#[test]
fn the_engine_for_files_keeps_the_contract_as_far_as_it_applies() {
    let parent = tempfile::tempdir().expect("a temporary folder");
    let workload = workload(Operation::Delete, files(4));
    let set = FileSet::make(parent.path(), &workload, 7, &Progress::default()).expect("files");
    let clock = (Monotonic, Timescale::NANOSECONDS);
    let mut engine = FileOps::new(clock, &set, &workload, 7).expect("an engine");
    assert_eq!(
        (engine.abilities().name, engine.abilities().depth),
        ("sync", 1)
    );
    let op = |place| Op {
        offset: place,
        slot: 0,
        write: true,
    };
    let mut done = Done::new(1);
    let mut results = Vec::new();
    // The third is deleted twice.
    for place in [0, 2, 2, 1, 3] {
        assert_eq!(engine.submit(&[op(place), op(place)]).expect("taken"), 1);
        assert_eq!(engine.submit(&[op(place)]).expect("it is full"), 0);
        done.clear();
        engine.reap(Wait::One, &mut done).expect("reaping");
        let [
            Completion {
                slot: 0,
                result,
                failed_in: FailedIn::Transfer,
            },
        ] = *done.as_slice()
        else {
            panic!("one completion: {:?}", done.as_slice());
        };
        results.push(result);
    }
    assert_eq!(results, [0, 0, -libc::ENOENT, 0, 0]);
    engine.sync_all().expect("syncing the folders");
    let tick = engine.now() + engine.timescale().ticks(300_000);
    engine.idle_until(tick).expect("idling");
    assert!(engine.now() >= tick);
    set.remove().expect("removing");
    assert_eq!(listed(parent.path()), [""; 0]);
}
