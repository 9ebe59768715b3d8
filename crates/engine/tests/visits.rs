//! Strided trials, by system calls and through a mapping, against a slow and
//! obvious model: each block is touched exactly as promised, and no other.

use diskfacts_engine::{Progress, StreamFile, Trial, TrialError, TrialOutcome, run_trial};
use diskfacts_plan::rng::Rng;
use diskfacts_plan::{
    CacheMode, EngineChoice, Operation, Pattern, Stop, SyncMode, Touch, Workload,
};
use proptest::prelude::{Strategy, prop_assert, prop_assert_eq, prop_oneof};
use proptest::strategy::Just;
use std::fs::File;
use std::os::unix::fs::FileExt;

const SEED: u64 = 5;

fn content(size: u64) -> Vec<u8> {
    (0..size).map(|i| (i * 7 % 251) as u8).collect()
}

fn run_on(file: &File, path: &std::path::Path, workload: &Workload) -> TrialOutcome {
    let size = file.metadata().expect("its size").len();
    let trial = Trial {
        file: StreamFile {
            path,
            size,
            alignment: 4096,
        },
        workload,
        seed: SEED,
    };
    run_trial(trial, &Progress::default(), &mut ()).expect("the trial runs")
}

/// Runs a workload on a file of known content; answers what came of both.
fn run(workload: &Workload, size: u64) -> (TrialOutcome, Vec<u8>) {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.as_file()
        .write_all_at(&content(size), 0)
        .expect("writing the file");
    let outcome = run_on(file.as_file(), file.path(), workload);
    let after = std::fs::read(file.path()).expect("reading it back");
    (outcome, after)
}

/// How often each of `count` blocks is visited by `operations`, written down
/// pass by pass from the definition.
fn visits(count: u64, pattern: Pattern, operations: u64, stream: u32) -> Vec<u64> {
    let Pattern::Stride {
        skip_blocks,
        fixed,
        from_start,
    } = pattern
    else {
        panic!("a strided pattern");
    };
    let stream_seed = Rng::for_part(SEED, u64::from(stream)).next_u64();
    let mut rng = Rng::new(stream_seed);
    let mut seen = vec![0; usize::try_from(count).expect("a small file")];
    let mut done = 0;
    for pass in 0.. {
        let mut block = if from_start { 0 } else { pass % count };
        while block < count {
            if done == operations {
                return seen;
            }
            seen[block as usize] += 1;
            done += 1;
            block += if fixed {
                skip_blocks
            } else {
                1 + rng.below(2 * skip_blocks - 1)
            };
        }
    }
    seen
}

fn strides() -> impl Strategy<Value = Pattern> {
    (1_u64..40, proptest::bool::ANY, proptest::bool::ANY).prop_map(
        |(skip_blocks, fixed, from_start)| Pattern::Stride {
            skip_blocks,
            fixed,
            from_start,
        },
    )
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    #[test]
    fn every_block_is_modified_as_often_as_it_is_visited_and_no_other_byte_changes(
        pattern in strides(),
        count in 1_u64..48,
        // Blocks that lie in one page, in several, and across their borders.
        block in prop_oneof![Just(512_u64), Just(1000), Just(4096), Just(5000)],
        first in 0_u64..3,
        tail in 0_u64..400,
        fraction in 1_u64..4,
        engine in prop_oneof![Just(EngineChoice::Sync), Just(EngineChoice::Mmap)],
        touch in prop_oneof![Just(Touch::None), Just(Touch::First), Just(Touch::Every)],
        sync in prop_oneof![Just(SyncMode::None), Just(SyncMode::Fdatasync), Just(SyncMode::AtEnd)],
    ) {
        proptest::prop_assume!(fraction <= count);
        let (offset, size) = (first * block, (first + count) * block + tail);
        let workload = Workload {
            operation: Operation::Modify { percent: 100 },
            pattern,
            block_size: block,
            offset,
            cache: CacheMode::Buffered,
            engine,
            touch,
            sync,
            stop: Stop { fraction: Some(fraction), ..Stop::default() },
            ..Workload::default()
        };
        let (outcome, after) = run(&workload, size);
        let operations = count / fraction;
        prop_assert_eq!((outcome.ops, outcome.errors), (operations, 0));
        prop_assert_eq!(outcome.issued.read_bytes, operations * block);
        prop_assert_eq!(outcome.issued.write_bytes, operations * block);
        let mut expected = content(size);
        for (i, visits) in visits(count, pattern, operations, 0).into_iter().enumerate() {
            let byte = &mut expected[(offset + i as u64 * block) as usize];
            *byte = byte.wrapping_add(visits as u8);
        }
        prop_assert!(after == expected);
    }

    #[test]
    fn blocks_that_are_written_are_those_that_are_visited(
        pattern in strides(),
        count in 1_u64..48,
        operations in 1_u64..60,
        engine in prop_oneof![Just(EngineChoice::Sync), Just(EngineChoice::Mmap)],
        operation in prop_oneof![Just(Operation::Write), Just(Operation::Read)],
    ) {
        let block = 512;
        let workload = Workload {
            operation,
            pattern,
            block_size: block,
            cache: CacheMode::Buffered,
            engine,
            stop: Stop { operations: Some(operations), ..Stop::default() },
            ..Workload::default()
        };
        let (outcome, after) = run(&workload, count * block);
        prop_assert_eq!((outcome.ops, outcome.errors), (operations, 0));
        let before = content(count * block);
        let visited = visits(count, pattern, operations, 0);
        for (i, visits) in visited.into_iter().enumerate() {
            let bytes = i * block as usize..(i + 1) * block as usize;
            let same = after[bytes.clone()] == before[bytes];
            prop_assert_eq!(same, visits == 0 || operation == Operation::Read, "block {}", i);
        }
    }
}

#[test]
fn streams_visit_pieces_of_their_own() {
    let pattern = Pattern::Stride {
        skip_blocks: 3,
        fixed: false,
        from_start: false,
    };
    for engine in [EngineChoice::Sync, EngineChoice::Mmap] {
        let workload = Workload {
            operation: Operation::Modify { percent: 100 },
            pattern,
            block_size: 512,
            streams: 2,
            cache: CacheMode::Buffered,
            engine,
            stop: Stop {
                operations: Some(20),
                ..Stop::default()
            },
            ..Workload::default()
        };
        let (outcome, after) = run(&workload, 40 * 512);
        assert_eq!((outcome.ops, outcome.errors), (20, 0));
        let mut expected = content(40 * 512);
        for stream in [0, 1] {
            for (i, visits) in visits(20, pattern, 10, stream).into_iter().enumerate() {
                let byte = &mut expected[(stream as usize * 20 + i) * 512];
                *byte = byte.wrapping_add(visits as u8);
            }
        }
        assert!(after == expected, "{engine:?}");
    }
}

/// Cuts the file off when everybody is ready to begin.
struct Cut<'a>(&'a File, u64);

impl diskfacts_engine::Prepare for Cut<'_> {
    fn before(&mut self) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        Ok(self.0.set_len(self.1)?)
    }
    fn after(&mut self) {}
}

#[test]
fn a_mapped_file_that_is_cut_off_gives_errors_and_no_death() {
    const BLOCK: u64 = 4096;
    for operation in [
        Operation::Read,
        Operation::Write,
        Operation::Modify { percent: 100 },
    ] {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.as_file()
            .write_all_at(&content(16 * BLOCK), 0)
            .expect("writing the file");
        let workload = Workload {
            operation,
            pattern: Pattern::Sequential,
            block_size: BLOCK,
            cache: CacheMode::Buffered,
            engine: EngineChoice::Mmap,
            stop: Stop {
                operations: Some(32),
                ..Stop::default()
            },
            ..Workload::default()
        };
        let trial = Trial {
            file: StreamFile {
                path: file.path(),
                size: 16 * BLOCK,
                alignment: 4096,
            },
            workload: &workload,
            seed: SEED,
        };
        let mut cut = Cut(file.as_file(), 12 * BLOCK);
        let outcome = run_trial(trial, &Progress::default(), &mut cut).expect("the trial goes on");
        // Two passes of which the last four blocks are gone.
        assert_eq!((outcome.ops, outcome.errors), (24, 8), "{operation:?}");
        let error = &outcome.error_counts[0];
        assert_eq!(error.first_offset, 12 * BLOCK);
        assert!(error.message.contains("fewer bytes"), "{}", error.message);
        let length = file.as_file().metadata().expect("its size").len();
        assert_eq!(length, 12 * BLOCK, "nothing was written behind the end");
    }
}

/// Bytes of memory that planning the visits of a span takes: none on the heap.
#[test]
fn a_long_span_is_planned_in_the_memory_of_a_short_one() {
    use diskfacts_plan::pattern::{Range, Steps};
    for pattern in [
        Pattern::Sequential,
        Pattern::Random,
        Pattern::Zipf { theta: 0.99 },
        Pattern::Stride {
            skip_blocks: 262_144,
            fixed: false,
            from_start: false,
        },
    ] {
        let allocated = [1_u64 << 30, 16 << 30].map(|span| {
            let before = counting::allocated();
            let range = Range::new(0, span, 4096).expect("blocks");
            let mut steps = Steps::new(Operation::Read, pattern, range, SEED, 0, 1);
            for _ in 0..10_000 {
                assert!(steps.next_step().offset < span);
            }
            counting::allocated() - before
        });
        assert_eq!(allocated, [0, 0], "{pattern:?}");
    }
}

#[test]
fn a_block_that_does_not_fit_is_no_trial() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let workload = Workload {
        engine: EngineChoice::Mmap,
        cache: CacheMode::Buffered,
        stop: Stop {
            operations: Some(1),
            ..Stop::default()
        },
        ..Workload::default()
    };
    let trial = Trial {
        file: StreamFile {
            path: file.path(),
            size: 100,
            alignment: 4096,
        },
        workload: &workload,
        seed: SEED,
    };
    let error = run_trial(trial, &Progress::default(), &mut ()).expect_err("no block");
    assert!(matches!(error, TrialError::NoBlock { .. }), "{error}");
}

/// Counts what the calling thread takes from the heap.
mod counting {
    use std::alloc::{GlobalAlloc, Layout, System};
    use std::cell::Cell;

    thread_local! {
        static BYTES: Cell<usize> = const { Cell::new(0) };
    }

    struct Counting;

    #[global_allocator]
    static COUNTING: Counting = Counting;

    pub(super) fn allocated() -> usize {
        BYTES.get()
    }

    // SAFETY: all is left to the system's allocator, which keeps the contract;
    // counting touches a cell that needs no initialising and no memory.
    unsafe impl GlobalAlloc for Counting {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            BYTES.set(BYTES.get() + layout.size());
            // SAFETY: the caller's promise is handed on.
            unsafe { System.alloc(layout) }
        }

        unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
            // SAFETY: the caller's promise is handed on.
            unsafe { System.dealloc(pointer, layout) }
        }
    }
}

/// Content that is checked, in a file of which a part is spoilt between trials.
#[test]
fn values_tell_what_was_modified_from_what_is_wrong() {
    use diskfacts_plan::Values;
    const BLOCK: u64 = 1024;
    const BLOCKS: u64 = 16;
    for engine in [EngineChoice::Auto, EngineChoice::Mmap] {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.as_file()
            .set_len(BLOCK * BLOCKS)
            .expect("room for the file");
        let run = |operation, engine, operations| {
            let workload = Workload {
                operation,
                pattern: Pattern::Sequential,
                block_size: BLOCK,
                cache: CacheMode::Buffered,
                engine,
                values: Some(Values {
                    fill: false,
                    seed: Some(7),
                }),
                stop: Stop {
                    operations: Some(operations),
                    ..Stop::default()
                },
                ..Workload::default()
            };
            run_on(file.as_file(), file.path(), &workload)
        };
        let never = run(Operation::Read, engine, BLOCKS);
        assert_eq!((never.ops, never.errors), (0, BLOCKS));
        let error = &never.error_counts[0];
        assert_eq!(error.operation, "check");
        assert!(error.message.contains("never filled"), "{}", error.message);
        assert_eq!(never.issued.read_bytes, BLOCKS * BLOCK);

        assert_eq!(run(Operation::Write, engine, BLOCKS).errors, 0);
        assert_eq!(run(Operation::Read, engine, BLOCKS).errors, 0);
        let modified = run(Operation::Modify { percent: 100 }, engine, 2 * BLOCKS + 5);
        assert_eq!((modified.ops, modified.errors), (2 * BLOCKS + 5, 0));
        // Both ways to read see the same content.
        for engine in [EngineChoice::Auto, EngineChoice::Mmap] {
            assert_eq!(run(Operation::Read, engine, BLOCKS).errors, 0);
        }
        let after = std::fs::read(file.path()).expect("reading it back");
        let content = diskfacts_engine::values::Content::new(7);
        for block in 0..BLOCKS {
            let mut expected = vec![0; BLOCK as usize];
            content.fill(&mut expected, block * BLOCK);
            for _ in 0..2 + u64::from(block < 5) {
                content.modify(&mut expected);
            }
            let at = (block * BLOCK) as usize;
            assert!(after[at..at + BLOCK as usize] == expected, "block {block}");
        }

        let at = 3 * BLOCK + 600;
        file.as_file()
            .write_all_at(&[0xff], at)
            .expect("spoiling a byte");
        let read = run(Operation::Read, engine, BLOCKS);
        assert_eq!((read.ops, read.errors), (BLOCKS - 1, 1));
        let error = &read.error_counts[0];
        assert_eq!((error.operation.as_str(), error.errno), ("check", 0));
        assert_eq!(error.first_offset, at / 8 * 8);
        assert!(error.message.contains("should be 0x"), "{}", error.message);
        // What is wrong is not modified, and so stays wrong.
        let modified = run(Operation::Modify { percent: 100 }, engine, BLOCKS);
        assert_eq!((modified.ops, modified.errors), (BLOCKS - 1, 1));
        assert_eq!(modified.issued.read_bytes, BLOCKS * BLOCK);
        assert_eq!(modified.issued.write_bytes, (BLOCKS - 1) * BLOCK);
    }
}
