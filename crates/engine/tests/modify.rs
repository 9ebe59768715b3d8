//! Modifications change what they say, and nothing else.

use diskfacts_engine::{Progress, StreamFile, Trial, TrialError, TrialOutcome, run_trial};
use diskfacts_plan::{
    CacheMode, EngineChoice, Operation, Pattern, Stop, SyncMode, Touch, Workload,
};
use std::os::unix::fs::FileExt;

const BLOCK: u64 = 512;
const BLOCKS: u64 = 32;

fn modify(percent: u8, operations: u64) -> Workload {
    Workload {
        operation: Operation::Modify { percent },
        pattern: Pattern::Sequential,
        block_size: BLOCK,
        cache: CacheMode::Buffered,
        stop: Stop {
            operations: Some(operations),
            ..Stop::default()
        },
        ..Workload::default()
    }
}

fn content(size: u64) -> Vec<u8> {
    (0..size).map(|i| (i * 7 % 251) as u8).collect()
}

/// Runs a workload on a file of known content, of which `missing` bytes are cut
/// off; answers what came of it, and of the file.
fn run(workload: &Workload, missing: u64) -> (Result<TrialOutcome, TrialError>, Vec<u8>) {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let size = BLOCKS * BLOCK;
    let before = content(size - missing);
    file.as_file()
        .write_all_at(&before, 0)
        .expect("writing the file");
    let trial = Trial {
        file: StreamFile {
            path: file.path(),
            size,
            alignment: 4096,
        },
        workload,
        seed: 5,
    };
    let outcome = run_trial(trial, &Progress::default(), &mut ());
    (
        outcome,
        std::fs::read(file.path()).expect("reading it back"),
    )
}

#[test]
fn each_block_is_changed_as_often_as_it_was_written_back_and_no_other_byte_is() {
    for (operations, sync) in [
        (BLOCKS, SyncMode::None),
        (3, SyncMode::Fdatasync),
        (BLOCKS * 2 + 5, SyncMode::AtEnd),
    ] {
        for touch in [Touch::None, Touch::First, Touch::Every] {
            let workload = Workload {
                sync,
                touch,
                ..modify(100, operations)
            };
            let (outcome, after) = run(&workload, 0);
            let outcome = outcome.expect("the trial runs");
            assert_eq!((outcome.ops, outcome.errors), (operations, 0));
            assert_eq!(outcome.issued.read_bytes, operations * BLOCK);
            assert_eq!(outcome.issued.write_bytes, operations * BLOCK);
            let mut expected = content(BLOCKS * BLOCK);
            for operation in 0..operations {
                let first = (operation % BLOCKS * BLOCK) as usize;
                expected[first] = expected[first].wrapping_add(1);
            }
            assert!(after == expected, "{operations} operations, {touch:?}");
        }
    }
}

#[test]
fn a_share_of_the_operations_only_reads() {
    let (outcome, after) = run(&modify(25, 4 * BLOCKS), 0);
    let outcome = outcome.expect("the trial runs");
    let written = outcome.histograms.write.count();
    assert_eq!(outcome.histograms.read.count(), 4 * BLOCKS - written);
    assert_eq!(outcome.issued.read_bytes, 4 * BLOCKS * BLOCK);
    assert_eq!(outcome.issued.write_bytes, written * BLOCK);
    let changes: u64 = after
        .iter()
        .zip(content(BLOCKS * BLOCK))
        .map(|(after, before)| u64::from(after.wrapping_sub(before)))
        .sum();
    assert_eq!(changes, written);
    assert!((1..4 * BLOCKS).contains(&written), "{written}");
}

#[test]
fn a_queue_depth_becomes_threads() {
    let workload = Workload {
        queue_depth: 4,
        ..modify(100, BLOCKS)
    };
    let (outcome, after) = run(&workload, 0);
    let outcome = outcome.expect("the trial runs");
    assert_eq!(
        (outcome.engine.name.as_str(), outcome.engine.threads),
        ("sync", 4)
    );
    let changed = after
        .iter()
        .zip(content(BLOCKS * BLOCK))
        .filter(|(after, before)| *after != before)
        .count();
    assert_eq!(changed as u64, BLOCKS);
}

#[test]
fn a_ring_is_refused_by_name() {
    let workload = Workload {
        engine: EngineChoice::IoUring,
        ..modify(100, 1)
    };
    let (outcome, after) = run(&workload, 0);
    let error = outcome.expect_err("a ring cannot modify").to_string();
    assert!(error.contains("cannot modify"), "{error}");
    assert!(after == content(BLOCKS * BLOCK));
}

#[test]
fn a_block_that_cannot_be_read_whole_is_not_written() {
    let (outcome, after) = run(&modify(100, BLOCKS), 100);
    let outcome = outcome.expect("the trial runs");
    assert_eq!((outcome.ops, outcome.errors), (BLOCKS - 1, 1));
    assert_eq!(outcome.error_counts[0].operation, "read");
    assert_eq!(outcome.error_counts[0].first_offset, (BLOCKS - 1) * BLOCK);
    assert_eq!(outcome.issued.read_bytes, BLOCKS * BLOCK - 100);
    assert_eq!(outcome.issued.write_bytes, (BLOCKS - 1) * BLOCK);
    assert_eq!(after.len() as u64, BLOCKS * BLOCK - 100);
}

/// Every engine that looks at bytes does what it did without looking.
#[test]
fn looking_at_bytes_changes_nothing() {
    for engine in [EngineChoice::Sync, EngineChoice::IoUring] {
        for operation in [Operation::Read, Operation::Write] {
            let workload = Workload {
                operation,
                engine,
                touch: Touch::Every,
                ..modify(100, BLOCKS)
            };
            match run(&workload, 0) {
                (Ok(outcome), after) => {
                    assert_eq!((outcome.ops, outcome.errors), (BLOCKS, 0));
                    let kept = after == content(BLOCKS * BLOCK);
                    assert_eq!(kept, operation == Operation::Read, "{engine:?}");
                }
                (Err(TrialError::Engine(reason)), _) => return diskfacts_testkit::skip(&reason),
                (Err(error), _) => panic!("{error}"),
            }
        }
    }
}
