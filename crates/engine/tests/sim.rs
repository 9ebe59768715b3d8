//! Trials on simulated computers: in virtual time, the same every time, with
//! the failures of a real device.

use diskfacts_disk::host::{HostParameters, Scheduler};
use diskfacts_disk::profile::profile;
use diskfacts_engine::engine::Done;
use diskfacts_engine::sim::{Computer, Plant};
use diskfacts_engine::{Engine, FailedIn, Op, Progress, TrialError, TrialOutcome, Wait};
use diskfacts_plan::{
    Arrivals, CacheMode, EngineChoice, IoContext, Operation, Pattern, Pool, Rate, Stop, SyncMode,
    Workload,
};
use diskfacts_record::{CoarseHistogram, Evidence};
use std::sync::atomic::Ordering;

fn computer(name: &str, plant: &Plant) -> Computer {
    Computer::new(&profile(name).expect("a built-in profile"), 1, *plant)
}

fn run(computer: &mut Computer, workload: &Workload) -> (TrialOutcome, Evidence) {
    computer
        .run_trial(workload, 5, &Progress::default())
        .expect("the trial runs")
}

fn operations(operations: u64) -> Workload {
    Workload {
        stop: Stop {
            operations: Some(operations),
            ..Stop::default()
        },
        ..Workload::default()
    }
}

#[test]
fn a_second_of_virtual_time_is_a_second_in_the_record() {
    let mut computer = computer("hdd-7200-1tb", &Plant::default());
    let workload = Workload {
        stop: Stop {
            time_ns: Some(1_000_000_000),
            ..Stop::default()
        },
        ..Workload::default()
    };
    // The first trial also brings the disk to rest.
    run(&mut computer, &workload);
    let before_ns = computer.now_ns();
    let (outcome, evidence) = run(&mut computer, &workload);
    // The last operation is awaited: at most a full seek and a revolution.
    assert!(
        (1.0..1.03).contains(&outcome.seconds),
        "{}",
        outcome.seconds
    );
    let took_ns = computer.now_ns() - before_ns;
    let measured_ns = (outcome.seconds * 1e9).round() as u64;
    // Before it, one flush of a disk that holds nothing: a command and its answer.
    assert!((0..200_000).contains(&(took_ns - measured_ns)), "{took_ns}");
    // 4 KiB anywhere on a disk of 7200 rpm: half a revolution and a seek.
    assert!((60..120).contains(&outcome.ops), "{}", outcome.ops);
    assert_eq!(outcome.clock.source, "virtual");
    assert_eq!(evidence.devices[0].reads, outcome.ops);
    assert_eq!(evidence.devices[0].read_bytes, outcome.ops * 4096);
}

#[test]
fn streams_share_the_disk_and_the_same_seed_gives_the_same_record() {
    let workload = Workload {
        streams: 5,
        queue_depth: 3,
        operation: Operation::Mixed { read_percent: 70 },
        ..operations(3000)
    };
    let outcomes: Vec<_> = (0..3)
        .map(|_| {
            let mut computer = computer("ssd-sata", &Plant::default());
            let (outcome, evidence) = run(&mut computer, &workload);
            assert_eq!(outcome.ops, 3000);
            assert_eq!(outcome.engine.threads, 5);
            assert!((14.0..=15.0).contains(&outcome.engine.mean_depth));
            (
                format!("{:?}", outcome.histograms),
                format!("{:?}", outcome.intervals),
                format!("{evidence:?}"),
                computer.now_ns(),
            )
        })
        .collect();
    assert_eq!(outcomes[0], outcomes[1]);
    assert_eq!(outcomes[0], outcomes[2]);
}

#[test]
fn five_streams_of_one_are_as_fast_as_one_stream_of_five() {
    let seconds = |streams, queue_depth| {
        let workload = Workload {
            streams,
            queue_depth,
            ..operations(4000)
        };
        let mut computer = computer("nvme-datacenter", &Plant::default());
        run(&mut computer, &workload).0.seconds
    };
    let (one, five) = (seconds(1, 5), seconds(5, 1));
    assert!((one / five - 1.0).abs() < 0.02, "{one} and {five}");
}

#[test]
fn an_open_loop_keeps_its_rate_without_sleeping() {
    let workload = Workload {
        rate: Some(Rate {
            operations_per_s: 100,
            arrivals: Arrivals::Fixed,
        }),
        streams: 2,
        queue_depth: 4,
        ..operations(60 * 100)
    };
    let (outcome, _) = run(&mut computer("ssd-sata", &Plant::default()), &workload);
    assert_eq!(outcome.ops, 6000);
    assert!(
        (59.9..60.1).contains(&outcome.seconds),
        "{}",
        outcome.seconds
    );
    let service = outcome.histograms.service.expect("of an open loop");
    assert!(service.max().expect("it has samples") < 10_000_000);
}

#[test]
fn beyond_the_end_is_an_error_and_half_a_sector_another() {
    let computer = computer("hdd-7200-1tb", &Plant::default());
    let (size, sector) = (computer.size_bytes(), computer.sector_bytes());
    let workload = Workload {
        queue_depth: 4,
        ..Workload::default()
    };
    let mut engine = computer.into_engine(&workload).expect("an engine");
    let offsets = [0, size - sector, size + 4096, 4096 + sector / 2];
    let ops: Vec<Op> = (0..4_u32)
        .zip(offsets)
        .map(|(slot, offset)| Op {
            offset,
            slot,
            write: slot % 2 == 1,
        })
        .collect();
    assert_eq!(engine.submit(&ops).expect("submitting"), 4);
    let mut results = [0; 4];
    let mut done = Done::new(4);
    while results.contains(&0) {
        done.clear();
        engine.reap(Wait::One, &mut done).expect("reaping");
        for completion in done.as_slice() {
            assert_eq!(completion.failed_in, FailedIn::Transfer);
            results[completion.slot as usize] = completion.result;
        }
    }
    assert_eq!(results, [4096, -libc::EIO, -libc::EIO, -libc::EINVAL]);
}

#[test]
fn syncs_become_flushes_where_the_disk_has_something_to_lose() {
    let flushes = |name: &str, cache, sync, plant: &Plant| {
        let workload = Workload {
            operation: Operation::Write,
            pattern: Pattern::Sequential,
            cache,
            sync,
            ..operations(50)
        };
        let (outcome, evidence) = run(&mut computer(name, plant), &workload);
        assert_eq!((outcome.ops, outcome.errors), (50, 0));
        evidence.devices[0].flushes.expect("counted")
    };
    let whole = Plant::default();
    for cache in [CacheMode::Direct, CacheMode::Buffered] {
        for (sync, expected) in [
            (SyncMode::None, 0),
            (SyncMode::Fdatasync, 50),
            (SyncMode::Fsync, 50),
            (SyncMode::AtEnd, 1),
            // An ATA drive is not asked for forced writes.
            (SyncMode::ODsync, 50),
        ] {
            assert_eq!(
                flushes("hdd-7200-1tb", cache, sync, &whole),
                expected,
                "{cache:?} {sync:?}"
            );
            assert_eq!(flushes("nvme-datacenter", cache, sync, &whole), 0);
        }
    }
    let forced = SyncMode::OSync;
    assert_eq!(
        flushes("nvme-consumer", CacheMode::Direct, forced, &whole),
        0
    );
    let drops = Plant {
        drops_flushes: true,
        ..whole
    };
    let sync = SyncMode::Fdatasync;
    assert_eq!(flushes("hdd-7200-1tb", CacheMode::Direct, sync, &drops), 0);
}

#[test]
fn a_synced_write_waits_for_the_platter() {
    let latency_ns = |sync| {
        let workload = Workload {
            operation: Operation::Write,
            pattern: Pattern::Sequential,
            sync,
            ..operations(60)
        };
        let (outcome, _) = run(&mut computer("hdd-7200-sync", &Plant::default()), &workload);
        outcome
            .histograms
            .write
            .quantile(0.5)
            .expect("it has samples")
    };
    // Seed 003: one revolution of 8.33 ms, against some 50 µs to the cache.
    assert!((8_000_000..8_700_000).contains(&latency_ns(SyncMode::Fdatasync)));
    assert!(latency_ns(SyncMode::None) < 200_000);
}

#[test]
fn where_the_time_went_adds_up_to_the_latencies() {
    for (name, cache, sync) in [
        ("hdd-7200-1tb", CacheMode::Direct, SyncMode::Fdatasync),
        ("hdd-7200-1tb", CacheMode::Buffered, SyncMode::Fdatasync),
        ("hdd-10k", CacheMode::Direct, SyncMode::None),
        ("nvme-datacenter", CacheMode::Direct, SyncMode::ODsync),
        ("raid6x8", CacheMode::Direct, SyncMode::Fsync),
    ] {
        let mut computer = computer(name, &Plant::default());
        let workload = Workload {
            operation: Operation::Write,
            pattern: Pattern::Random,
            cache,
            sync,
            ..operations(4096)
        };
        let (outcome, seen) = run(&mut computer, &workload);
        let parts = seen.truth.and_then(|truth| truth.time).expect("it knows");
        assert_eq!(parts.operations, outcome.issued.writes, "{name}");
        // The mean is exact, and what waits waits in these parts.
        let mean_ns = outcome.histograms.write.mean().expect("operations");
        let parts_ns = parts.total_ns() as f64 / parts.operations as f64;
        assert!(
            (parts_ns / mean_ns - 1.0).abs() < 1e-6,
            "{name} {parts_ns} {mean_ns}"
        );
    }
}

#[test]
fn the_latencies_of_each_interval_are_those_of_its_operations() {
    let mut computer = computer("hdd-7200-1tb", &Plant::default());
    let workload = Workload {
        streams: 2,
        ..operations(400)
    };
    let (outcome, _) = run(&mut computer, &workload);
    let over_time = outcome.latency_over_time.expect("it has threads");
    assert!(over_time.rows() > 32, "{}", over_time.rows());
    let mut sum = CoarseHistogram::new();
    for row in 0..over_time.rows() {
        let measured = over_time.measured(row, &workload);
        sum.add(&measured);
        // The counts of the same time, in shorter intervals.
        let each = over_time.length_ns() / outcome.intervals.length_ns;
        let each = usize::try_from(each).expect("few");
        let counts = outcome.intervals.operations.iter();
        let counted: u64 = counts.skip(row * each).take(each).sum();
        assert_eq!(measured.count(), counted, "interval {row}");
    }
    assert_eq!(sum, CoarseHistogram::from(&outcome.histograms.all()));
}

#[test]
fn a_warm_cache_serves_and_a_cold_one_does_not() {
    let mut computer = computer("hdd-7200-1tb", &Plant::default());
    let workload = |cache, pattern| Workload {
        cache,
        pattern,
        span: Some(16 << 20),
        ..operations(4096)
    };
    let (_, warm) = run(&mut computer, &workload(CacheMode::Warm, Pattern::Random));
    let truth = warm.truth.expect("a simulated disk knows").layers;
    assert!(truth.page_cache >= 1.0, "{truth:?}");
    assert_eq!(warm.devices[0].reads, 0);
    assert_eq!(warm.residency_before.expect("seen").cached_bytes, 16 << 20);
    let (_, cold) = run(
        &mut computer,
        &workload(CacheMode::Cold, Pattern::Sequential),
    );
    assert_eq!(cold.residency_before.expect("seen").cached_bytes, 0);
    let truth = cold.truth.expect("a simulated disk knows").layers;
    assert!(truth.page_cache <= 0.0, "{truth:?}");
    // Read-ahead goes on beyond the span, and its last window, 128 KiB, was
    // still under way when the trial ended.
    let fetched = cold.process_io.expect("seen").read_bytes;
    let ahead = (128 << 10)..=(256 << 10);
    assert!(ahead.contains(&(fetched - (16 << 20))), "{fetched}");
    assert_eq!(cold.devices[0].read_bytes, fetched - (128 << 10));
}

#[test]
fn a_signal_ends_a_trial_and_virtual_time_can_be_watched() {
    let mut computer = computer(
        "hdd-7200-1tb",
        &Plant {
            stop_at_ns: Some(2_000_000_000),
            ..Plant::default()
        },
    );
    let progress = Progress::default();
    let (outcome, _) = computer
        .run_trial(&operations(1_000_000), 1, &progress)
        .expect("the trial runs");
    assert!(
        (2.0..2.05).contains(&outcome.seconds),
        "{}",
        outcome.seconds
    );
    assert!(progress.stop.load(Ordering::Relaxed));
    assert_eq!(
        progress.virtual_ns.load(Ordering::Relaxed),
        computer.now_ns()
    );
    assert_eq!(progress.operations.load(Ordering::Relaxed), outcome.ops);
}

#[test]
fn what_needs_real_time_and_what_does_not_fit_is_refused() {
    let mut computer = computer("hdd-7200-1tb", &Plant::default());
    let mut refused = |workload: &Workload| {
        computer
            .run_trial(workload, 1, &Progress::default())
            .expect_err("it cannot be done")
    };
    let null = Workload {
        engine: EngineChoice::Null,
        ..operations(1)
    };
    assert!(matches!(refused(&null), TrialError::Engine(why) if why.contains("real time")));
    let beyond = Workload {
        offset: 1 << 50,
        ..operations(1)
    };
    assert!(matches!(refused(&beyond), TrialError::NoBlock { .. }));
    // And the computer is none the worse for it.
    assert_eq!(run(&mut computer, &operations(3)).0.ops, 3);
}

/// A disk whose host gives readers their turns.
fn fair() -> Computer {
    let mut profile = profile("hdd-7200-1tb").expect("a built-in profile");
    let mut host = profile.host.unwrap_or_else(HostParameters::linux);
    host.block.scheduler = Scheduler::cfq();
    profile.host = Some(host);
    Computer::new(&profile, 1, Plant::default())
}

fn reader(bytes: Option<u64>) -> Workload {
    Workload {
        pattern: Pattern::Sequential,
        block_size: 64 << 10,
        cache: CacheMode::Cold,
        stop: Stop {
            bytes,
            ..Stop::default()
        },
        ..Workload::default()
    }
}

#[test]
fn a_second_reader_at_the_far_end_costs_seeks_and_a_shared_context_saves_some() {
    const AMOUNT: u64 = 64 << 20;
    let far = Box::new(Workload {
        offset: 900_000_000_000,
        ..reader(None)
    });
    let rate = |pool: Option<Pool>, beside: Option<&Workload>| {
        let workload = Workload {
            pool,
            beside: beside.map(|beside| Box::new(beside.clone())),
            ..reader(Some(AMOUNT))
        };
        let (outcome, evidence) = run(&mut fair(), &workload);
        assert_eq!((outcome.ops, outcome.errors), (1024, 0));
        let charged = evidence.process_io.expect("what was charged").read_bytes;
        // Read-ahead may be under way when it ends.
        assert!((AMOUNT..AMOUNT + (4 << 20)).contains(&charged), "{charged}");
        assert_eq!(beside.is_some(), outcome.beside.is_some());
        if let Some(did) = outcome.beside {
            assert!(did.read_bytes > 1 << 20 && did.ended_early.is_none());
            let charged = evidence.beside.and_then(|b| b.process_io).expect("charged");
            assert!(charged.read_bytes >= did.read_bytes, "{charged:?}");
            let moved = evidence.devices[0].read_bytes;
            assert!(
                moved > AMOUNT + did.read_bytes / 2,
                "the device serves both"
            );
        }
        AMOUNT as f64 / outcome.seconds
    };
    let five = |io_context| {
        Some(Pool {
            threads: 5,
            io_context,
        })
    };
    let alone = rate(None, None);
    let beside = rate(None, Some(&far));
    let shared = rate(five(IoContext::Shared), Some(&far));
    let separate = rate(five(IoContext::Separate), Some(&far));
    assert!(alone > 100e6, "{alone}");
    assert!(beside < alone / 2.0, "{beside} of {alone}");
    // One context is one reader, however many threads do its work.
    assert!((shared / beside - 1.0).abs() < 0.01, "{shared} {beside}");
    assert!(separate < shared / 1.5, "{separate} {shared}");
}

#[test]
fn what_runs_beside_in_virtual_time_ends_with_the_trial_and_is_the_same_each_time() {
    let workload = Workload {
        streams: 2,
        beside: Some(Box::new(Workload {
            offset: 1 << 39,
            queue_depth: 4,
            ..Workload::default()
        })),
        ..operations(500)
    };
    let one = run(&mut computer("hdd-7200-1tb", &Plant::default()), &workload);
    let other = run(&mut computer("hdd-7200-1tb", &Plant::default()), &workload);
    let (outcome, evidence) = &one;
    let beside = outcome.beside.clone().expect("it ran");
    assert!(beside.ops > 100, "{beside:?}");
    assert!((beside.seconds - outcome.seconds).abs() < 0.2, "{beside:?}");
    assert_eq!(outcome.streams.len(), 2);
    assert_eq!(outcome.beside, other.0.beside);
    assert_eq!(evidence, &other.1);
    assert!((outcome.seconds - other.0.seconds).abs() < f64::EPSILON);
}

#[test]
fn a_modification_is_a_read_and_then_a_write_in_one_operation() {
    let time_of = |operation| {
        let mut computer = computer("hdd-7200-1tb", &Plant::default());
        let workload = Workload {
            operation,
            sync: if operation == Operation::Read {
                SyncMode::None
            } else {
                SyncMode::ODsync
            },
            ..operations(200)
        };
        run(&mut computer, &workload)
    };
    let (outcome, evidence) = time_of(Operation::Modify { percent: 100 });
    assert_eq!((outcome.ops, outcome.errors), (200, 0));
    assert_eq!(outcome.issued.read_bytes, 200 * 4096);
    assert_eq!(outcome.issued.write_bytes, 200 * 4096);
    assert_eq!(outcome.histograms.write.count(), 200);
    assert_eq!(evidence.devices[0].read_bytes, 200 * 4096);
    assert_eq!(evidence.devices[0].write_bytes, 200 * 4096);
    // A block that was just read passes under the head again a revolution later.
    let (read, _) = time_of(Operation::Read);
    let revolution = 200.0 * 60.0 / 7200.0;
    let extra = outcome.seconds - read.seconds;
    assert!(
        (0.9 * revolution..1.2 * revolution).contains(&extra),
        "{extra} s against {revolution} s"
    );

    let (outcome, evidence) = time_of(Operation::Modify { percent: 30 });
    let written = outcome.histograms.write.count();
    assert!((40..=80).contains(&written), "{written}");
    assert_eq!(outcome.histograms.read.count(), 200 - written);
    assert_eq!(outcome.issued.read_bytes, 200 * 4096);
    assert_eq!(outcome.issued.write_bytes, written * 4096);
    // What asks for a flush counts as a write without data.
    let flushes = evidence.devices[0].flushes.expect("they are counted");
    assert_eq!(evidence.devices[0].writes, written + flushes);
    assert_eq!(evidence.devices[0].write_bytes, written * 4096);
}

#[test]
fn settings_of_the_kernel_hold_until_others_are_set() {
    let mut computer = computer("hdd-7200-1tb", &Plant::default());
    let workload = Workload {
        operation: Operation::Read,
        pattern: Pattern::Sequential,
        block_size: 64 << 10,
        cache: CacheMode::Cold,
        span: Some(32 << 20),
        stop: Stop {
            bytes: Some(32 << 20),
            ..Stop::default()
        },
        ..Workload::default()
    };
    let mut request_bytes = |settings: &[(&str, &str)]| {
        let settings = settings
            .iter()
            .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
        let set = computer.set_kernel(&settings.collect());
        let device = run(&mut computer, &workload).1.devices.remove(0);
        (set.is_ok(), device.read_bytes / device.reads)
    };
    let plain = request_bytes(&[]);
    assert_eq!(plain, (true, 128 << 10));
    // The first windows are smaller.
    let (_, larger) = request_bytes(&[("read_ahead_kb", "512")]);
    assert!((480 << 10..=512 << 10).contains(&larger), "{larger}");
    let cut = [
        ("read_ahead_kb", "512"),
        ("max_sectors_kb", "64"),
        ("nomerges", "2"),
    ];
    assert_eq!(request_bytes(&cut), (true, 64 << 10));
    // What is refused changes nothing, and what is not asked for is as it was made.
    let refused = [("read_ahead_kb", "16"), ("scheduler", "kyber")];
    assert_eq!(request_bytes(&refused), (false, 64 << 10));
    assert_eq!(request_bytes(&[]), plain);
}
