//! Trials with something beside them, and streams that several threads serve.

use diskfacts_engine::{Prepare, Progress, StreamFile, Trial, TrialOutcome, run_trial};
use diskfacts_plan::{CacheMode, IoContext, Operation, Pattern, Pool, Stop, Workload};
use std::collections::BTreeSet;
use std::error::Error;
use std::io::Write;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const SIZE: u64 = 4 << 20;

fn file() -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(&vec![0x5a; usize::try_from(SIZE).expect("it is small")])
        .expect("writing the file");
    file
}

fn run(workload: &Workload, size: u64, prepare: &mut dyn Prepare) -> TrialOutcome {
    run_watched(workload, size, &Progress::default(), prepare)
}

fn run_watched(
    workload: &Workload,
    size: u64,
    progress: &Progress,
    prepare: &mut dyn Prepare,
) -> TrialOutcome {
    let file = file();
    let trial = Trial {
        file: StreamFile {
            path: file.path(),
            size,
            alignment: 4096,
        },
        workload,
        seed: 11,
    };
    run_trial(trial, progress, prepare).expect("the trial runs")
}

fn reader(operations: Option<u64>) -> Workload {
    Workload {
        pattern: Pattern::Sequential,
        cache: CacheMode::Buffered,
        stop: Stop {
            operations,
            ..Stop::default()
        },
        ..Workload::default()
    }
}

/// Which threads there were when the window opened and when it closed.
#[derive(Default)]
struct Watch {
    beside: Vec<u32>,
    opened: BTreeSet<String>,
    closed: BTreeSet<String>,
}

fn threads() -> BTreeSet<String> {
    let tasks = std::fs::read_dir("/proc/self/task").expect("threads");
    tasks
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok())
        .map(|name| name.trim().to_owned())
        .collect()
}

impl Prepare for Watch {
    fn before(&mut self) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(())
    }

    fn window_opens(&mut self, beside: &[u32]) {
        self.beside = beside.to_vec();
        self.opened = threads();
    }

    fn after(&mut self) {
        self.closed = threads();
    }
}

#[test]
fn what_runs_beside_runs_before_and_after_and_counts_for_itself() {
    let workload = Workload {
        beside: Some(Box::new(Workload {
            offset: SIZE / 2,
            streams: 2,
            ..reader(None)
        })),
        ..reader(Some(500))
    };
    let mut watch = Watch::default();
    let outcome = run(&workload, SIZE, &mut watch);
    assert_eq!((outcome.ops, outcome.issued.read_bytes), (500, 500 * 4096));
    let beside = outcome.beside.expect("it ran");
    assert_eq!(beside.ended_early, None);
    assert_eq!(beside.read_bytes, beside.ops * 4096);
    // It began a tenth of a second before.
    assert!(beside.seconds > outcome.seconds, "{beside:?}");
    assert!(beside.ops > 0 && beside.errors == 0, "{beside:?}");
    assert_eq!(watch.beside.len(), 2);
    for names in [&watch.opened, &watch.closed] {
        assert!(
            names.contains("beside-0") && names.contains("beside-1"),
            "{names:?}"
        );
    }
    assert!(outcome.user_ns.is_none(), "it spent time of this process");
}

#[test]
fn what_runs_beside_and_dies_says_why_and_the_trial_goes_on() {
    // The file ends where the other's half begins.
    let workload = Workload {
        span: Some(SIZE),
        beside: Some(Box::new(Workload {
            offset: SIZE,
            ..reader(None)
        })),
        ..reader(Some(500))
    };
    let outcome = run(&workload, 2 * SIZE, &mut ());
    assert_eq!((outcome.ops, outcome.errors), (500, 0));
    let beside = outcome.beside.expect("it was to run");
    let why = beside.ended_early.expect("it died");
    assert!(
        why.contains("gave up after 1000 failed operations: read at 4194304"),
        "{why}"
    );
    assert_eq!(beside.read_bytes, 0);
}

#[test]
#[cfg(target_os = "linux")]
fn a_cold_reader_beside_never_reads_its_own_pages_again() {
    const MIB: u64 = 1 << 20;
    let file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a file");
    file.as_file()
        .write_all(&vec![1; 32 << 20])
        .expect("content");
    file.as_file().sync_all().expect("on the disk");
    // Folios as large as the writes made them would not be dropped in part.
    rustix::fs::fadvise(file.as_file(), 0, None, rustix::fs::Advice::DontNeed).expect("dropped");
    let workload = Workload {
        span: Some(MIB),
        beside: Some(Box::new(Workload {
            offset: 16 * MIB,
            span: Some(8 * MIB),
            cache: CacheMode::Cold,
            ..reader(None)
        })),
        ..reader(Some(100_000))
    };
    let trial = Trial {
        file: StreamFile {
            path: file.path(),
            size: 32 * MIB,
            alignment: 4096,
        },
        workload: &workload,
        seed: 1,
    };
    let fetched = || {
        let text = std::fs::read_to_string("/proc/self/io").expect("what the process moved");
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("read_bytes: "));
        line.and_then(|n| n.parse::<u64>().ok())
            .expect("read_bytes")
    };
    let before = fetched();
    let outcome = run_trial(trial, &Progress::default(), &mut ()).expect("the trial runs");
    let fetched = fetched() - before;
    let beside = outcome.beside.expect("it ran");
    assert!(
        beside.read_bytes > 16 * MIB,
        "two passes and more: {beside:?}"
    );
    if fetched < 16 * MIB {
        diskfacts_testkit::skip(
            "a filesystem that counts what it fetches, and drops what is clean",
        );
        return;
    }
    // The last pass may be cut short; a folio over the edge of the span stays.
    assert!(
        fetched as f64 > 0.7 * beside.read_bytes as f64,
        "{fetched} of {beside:?}"
    );
}

#[test]
fn each_stream_says_what_it_did() {
    let workload = Workload {
        streams: 3,
        ..reader(Some(301))
    };
    let outcome = run(&workload, SIZE, &mut ());
    let ops: Vec<u64> = outcome.streams.iter().map(|stream| stream.ops).collect();
    assert_eq!(ops, [101, 100, 100]);
    let bytes: u64 = outcome.streams.iter().map(|stream| stream.bytes).sum();
    assert_eq!(bytes, 301 * 4096);
    let alone = run(&reader(Some(10)), SIZE, &mut ());
    assert!(alone.streams.is_empty() && alone.beside.is_none());
}

#[test]
#[cfg(target_os = "linux")]
fn a_stream_is_served_by_as_many_threads_as_asked() {
    for (io_context, feature, name_begins) in [
        (IoContext::Separate, "io-context-separate", "server-"),
        (IoContext::Shared, "io-context-shared", "iou-wrk-"),
    ] {
        for operation in [Operation::Read, Operation::Write] {
            let workload = Workload {
                operation,
                queue_depth: 2,
                pool: Some(Pool {
                    threads: 5,
                    io_context,
                }),
                ..reader(None)
            };
            // The trial and its threads are gone together: somebody else looks, and
            // ends it. Workers of a ring all bear its thread's number.
            let wanted = if io_context == IoContext::Separate {
                5
            } else {
                1
            };
            let progress = Progress::default();
            let patience = Instant::now() + Duration::from_secs(20);
            let (outcome, seen) = std::thread::scope(|scope| {
                let watcher = scope.spawn(|| {
                    let mut seen = BTreeSet::new();
                    let serving = |name: &&String| name.starts_with(name_begins);
                    while seen.iter().filter(serving).count() < wanted && Instant::now() < patience
                    {
                        seen.extend(threads());
                    }
                    progress.stop.store(true, Ordering::Relaxed);
                    seen
                });
                let outcome = run_watched(&workload, SIZE, &progress, &mut ());
                (outcome, watcher.join().expect("the watcher"))
            });
            assert!(outcome.ops > 0 && outcome.errors == 0, "{io_context:?}");
            let features = outcome.engine.features;
            if !features.iter().any(|known| known == feature) {
                assert!(!outcome.engine.fallbacks.is_empty());
                diskfacts_testkit::skip(&outcome.engine.fallbacks[0]);
                continue;
            }
            assert!(features.contains(&"5-threads".to_owned()), "{features:?}");
            let serving = seen.iter().filter(|n| n.starts_with(name_begins)).count();
            assert_eq!(serving, wanted, "{seen:?}");
        }
    }
}
