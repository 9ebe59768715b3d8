//! Whole trials on a real file: what was asked for is what was done.

use diskfacts_engine::{Prepare, Progress, StreamFile, Trial, TrialError, TrialOutcome, run_trial};
use diskfacts_plan::{
    Arrivals, CacheMode, EngineChoice, Operation, Pattern, Rate, Stop, SyncMode, Workload,
};
use diskfacts_record::CoarseHistogram;
use std::io::Write;
use std::sync::atomic::Ordering;

const SIZE: u64 = 4 << 20;

fn file() -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(&vec![0xa5; usize::try_from(SIZE).expect("it is small")])
        .expect("writing the file");
    file
}

fn try_run(workload: &Workload, progress: &Progress) -> Result<TrialOutcome, TrialError> {
    let file = file();
    let file = StreamFile {
        path: file.path(),
        size: SIZE,
        alignment: 4096,
    };
    run_trial(
        Trial {
            file,
            workload,
            seed: 5,
        },
        progress,
        &mut (),
    )
}

fn run(workload: &Workload) -> TrialOutcome {
    try_run(workload, &Progress::default()).expect("the trial runs")
}

fn buffered() -> Workload {
    Workload {
        cache: CacheMode::Buffered,
        stop: Stop {
            operations: Some(1000),
            ..Stop::default()
        },
        ..Workload::default()
    }
}

#[test]
fn every_engine_does_as_many_operations_as_asked() {
    for engine in [
        EngineChoice::Auto,
        EngineChoice::Sync,
        EngineChoice::IoUring,
        EngineChoice::Null,
    ] {
        for streams in [1, 3] {
            let queue_depth = if engine == EngineChoice::Sync { 1 } else { 8 };
            let workload = Workload {
                engine,
                streams,
                queue_depth,
                ..buffered()
            };
            let outcome = match try_run(&workload, &Progress::default()) {
                Ok(outcome) => outcome,
                Err(TrialError::Engine(reason)) => {
                    diskfacts_testkit::skip(&reason);
                    return;
                }
                Err(error) => panic!("{engine:?}: {error}"),
            };
            assert_eq!(outcome.ops, 1000, "{engine:?}");
            assert_eq!(outcome.errors, 0);
            assert_eq!(outcome.issued.read_bytes, 1000 * 4096);
            assert_eq!(outcome.histograms.read.count(), 1000);
            assert_eq!(outcome.intervals.operations.iter().sum::<u64>(), 1000);
            assert_eq!(outcome.engine.threads, streams);
            assert!(outcome.seconds > 0.0);
        }
    }
}

#[test]
fn a_mix_keeps_reads_and_writes_apart() {
    let workload = Workload {
        operation: Operation::Mixed { read_percent: 70 },
        queue_depth: 4,
        stop: Stop {
            bytes: Some(4096 * 2000),
            ..Stop::default()
        },
        ..buffered()
    };
    let outcome = run(&workload);
    let (reads, writes) = (
        outcome.histograms.read.count(),
        outcome.histograms.write.count(),
    );
    assert_eq!(reads + writes, 2000);
    assert_eq!(
        (reads, writes),
        (outcome.issued.reads, outcome.issued.writes)
    );
    assert!((1300..1500).contains(&reads), "{reads}");
}

#[test]
fn a_sync_is_counted_for_each_write_or_once_at_the_end() {
    for (sync, syncs) in [
        (SyncMode::None, 0),
        (SyncMode::Fdatasync, 20),
        (SyncMode::Fsync, 20),
        (SyncMode::AtEnd, 1),
        (SyncMode::FdatasyncAtEnd, 1),
        (SyncMode::ODsync, 0),
        (SyncMode::OSync, 0),
    ] {
        for queue_depth in [1, 4] {
            let workload = Workload {
                operation: Operation::Write,
                pattern: Pattern::Sequential,
                sync,
                queue_depth,
                stop: Stop {
                    operations: Some(20),
                    ..Stop::default()
                },
                ..buffered()
            };
            let outcome = run(&workload);
            assert_eq!(outcome.issued.syncs, syncs, "{sync:?}");
            assert_eq!(outcome.issued.final_sync_ns.is_some(), sync.at_end());
            assert_eq!(outcome.issued.write_bytes, 20 * 4096);
            assert_eq!(outcome.errors, 0, "{:?}", outcome.error_counts);
        }
    }
}

#[test]
fn an_open_loop_starts_operations_at_its_rate() {
    for arrivals in [Arrivals::Fixed, Arrivals::Poisson] {
        let rate = Some(Rate {
            operations_per_s: 2000,
            arrivals,
        });
        let workload = Workload {
            rate,
            queue_depth: 16,
            streams: 2,
            stop: Stop {
                operations: Some(1000),
                ..Stop::default()
            },
            ..buffered()
        };
        let outcome = run(&workload);
        assert_eq!(outcome.ops, 1000);
        // 1000 operations at 2000 a second cannot be done in less than about
        // 0.5 s, however fast the file; a busy machine may take longer.
        let least = if arrivals == Arrivals::Fixed {
            0.499
        } else {
            0.4
        };
        assert!(outcome.seconds > least, "{arrivals:?}: {}", outcome.seconds);
        let service = outcome
            .histograms
            .service
            .expect("an open loop has both latencies");
        assert_eq!(service.count(), 1000);
        assert!(service.sum() <= outcome.histograms.read.sum());
    }
}

#[test]
fn a_trial_that_is_stopped_keeps_what_it_did() {
    let progress = Progress::default();
    progress.stop.store(true, Ordering::Relaxed);
    let workload = Workload {
        stop: Stop::default(),
        queue_depth: 8,
        ..buffered()
    };
    let outcome = try_run(&workload, &progress).expect("a stopped trial is a trial");
    assert!(outcome.ops >= 8, "what was in flight is waited for");
    assert_eq!(outcome.ops, progress.operations.load(Ordering::Relaxed));
}

#[test]
fn whoever_watches_has_seen_every_latency_in_the_end() {
    let workloads = [
        Workload {
            streams: 3,
            queue_depth: 4,
            ..buffered()
        },
        Workload {
            operation: Operation::Mixed { read_percent: 50 },
            rate: Some(Rate {
                operations_per_s: 20_000,
                arrivals: Arrivals::Fixed,
            }),
            ..buffered()
        },
    ];
    for workload in workloads {
        let progress = Progress::default();
        let outcome = try_run(&workload, &progress).expect("the trial runs");
        let all = CoarseHistogram::from(&outcome.histograms.all());
        assert_eq!(all.count(), outcome.ops);
        assert_eq!(progress.latencies.so_far(), all);
        let over_time = outcome.latency_over_time.expect("it has threads");
        let mut sum = CoarseHistogram::new();
        for row in 0..over_time.rows() {
            sum.add(&over_time.measured(row, &workload));
        }
        assert_eq!(sum, all);
        assert_eq!(progress.operations.load(Ordering::Relaxed), outcome.ops);
    }
}

#[test]
fn time_ends_a_trial() {
    let workload = Workload {
        stop: Stop {
            time_ns: Some(50_000_000),
            ..Stop::default()
        },
        ..buffered()
    };
    let outcome = run(&workload);
    assert!(outcome.seconds >= 0.05, "{}", outcome.seconds);
    assert!(outcome.ops > 0);
}

#[test]
fn reads_beyond_the_end_are_errors_with_their_place_and_end_the_trial() {
    let file = file();
    let stream = StreamFile {
        path: file.path(),
        size: SIZE * 2,
        alignment: 4096,
    };
    let workload = Workload {
        offset: SIZE,
        stop: Stop::default(),
        ..buffered()
    };
    let outcome = run_trial(
        Trial {
            file: stream,
            workload: &workload,
            seed: 1,
        },
        &Progress::default(),
        &mut (),
    )
    .expect("errors of operations are no error of the trial");
    assert_eq!(outcome.ops, 0);
    assert_eq!(outcome.errors, diskfacts_engine::measure::ERRORS_MAX);
    assert_eq!(outcome.error_counts.len(), 1);
    assert!(outcome.error_counts[0].message.contains("fewer bytes"));
    assert!(outcome.error_counts[0].first_offset >= SIZE);
}

#[test]
fn what_cannot_be_opened_or_holds_no_block_is_said_before_measuring() {
    struct Never;
    impl Prepare for Never {
        fn before(&mut self) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
            panic!("nothing may be prepared for a trial that cannot run");
        }
        fn after(&mut self) {}
    }
    let missing = StreamFile {
        path: "/no/such/file".as_ref(),
        size: SIZE,
        alignment: 4096,
    };
    let workload = buffered();
    let trial = Trial {
        file: missing,
        workload: &workload,
        seed: 1,
    };
    let error = run_trial(trial, &Progress::default(), &mut Never).expect_err("no such file");
    assert!(error.to_string().contains("/no/such/file"), "{error}");
    let file = file();
    let small = StreamFile {
        path: file.path(),
        size: 100,
        alignment: 4096,
    };
    let trial = Trial {
        file: small,
        workload: &workload,
        seed: 1,
    };
    let error = run_trial(trial, &Progress::default(), &mut Never).expect_err("no block");
    assert!(matches!(error, TrialError::NoBlock { .. }), "{error}");
}

#[test]
fn an_error_while_preparing_ends_the_trial_and_its_threads() {
    struct Fails;
    impl Prepare for Fails {
        fn before(&mut self) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
            Err("the cache could not be dropped".into())
        }
        fn after(&mut self) {}
    }
    let file = file();
    let stream = StreamFile {
        path: file.path(),
        size: SIZE,
        alignment: 4096,
    };
    let workload = Workload {
        streams: 4,
        ..buffered()
    };
    let trial = Trial {
        file: stream,
        workload: &workload,
        seed: 1,
    };
    let error = run_trial(trial, &Progress::default(), &mut Fails).expect_err("it failed");
    assert!(matches!(error, TrialError::Prepare(_)));
}

#[test]
fn the_same_seed_visits_the_same_blocks() {
    // The order of visits is not recorded; but a Zipf pattern over a file with a
    // hole in its reads would differ. What must agree is the count of errors
    // when the second half of the span does not exist.
    let errors = || {
        let file = file();
        let stream = StreamFile {
            path: file.path(),
            size: SIZE * 2,
            alignment: 4096,
        };
        let workload = Workload {
            stop: Stop {
                operations: Some(500),
                ..Stop::default()
            },
            ..buffered()
        };
        let trial = Trial {
            file: stream,
            workload: &workload,
            seed: 77,
        };
        run_trial(trial, &Progress::default(), &mut ())
            .expect("it runs")
            .errors
    };
    let first = errors();
    assert!(first > 100);
    assert_eq!(first, errors());
}
