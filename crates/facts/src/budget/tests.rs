//! Each way of an operation, on records of a host: what is known stands in its part, and what
//! is not in none.

mod synced;

use super::*;
use crate::testing;
use diskfacts_plan::{CacheMode, SyncMode};
use diskfacts_record::evidence::{
    BlockLayer, DeviceRequests, IoLimit, LimitOf, NfsCalls, NfsMount, OperationRequests,
    QueuedFrom, RequestKind, SlowestRequests, SlowestSyncs, WriteBack,
};
use diskfacts_record::trial::Histograms;
use diskfacts_record::{Latency, PackedHistograms, Trial};

const STAGE: &str = "random-read-qd1";

/// Mean latency of every operation of the stage, ns.
const LATENCY_NS: f64 = 100_000.0;

/// A run of one stage of one trial: 10 us on a processor, 5 us without one, and 60 us of
/// requests by the counters of the partition under the file.
fn run(change: impl FnOnce(&mut Trial)) -> Run {
    let mut run = testing::healthy();
    run.trials
        .retain(|trial| trial.stage == STAGE && trial.number == 1);
    run.run.overhead_ns_per_io = Some(1_000.0);
    let trial = &mut run.trials[0];
    trial.ops = 10_000;
    trial.latency_ns = latency(LATENCY_NS, 10_000);
    trial.latency_service_ns = None;
    trial.cpu.user_ns_per_io = Some(2_000.0);
    trial.cpu.system_ns_per_io = Some(9_000.0);
    trial.cpu.wait_ns_per_io = Some(5_000.0);
    trial.evidence.engine.direct = true;
    trial.evidence.engine.mean_depth = 1.0;
    for device in &mut trial.evidence.devices {
        (device.reads, device.read_ms) = (10_000, 600);
        (device.writes, device.write_ms, device.flushes) = (0, 0, Some(0));
    }
    change(trial);
    run
}

fn latency(mean: f64, samples: u64) -> Latency {
    Latency {
        samples,
        mean: Some(mean),
        ..Latency::default()
    }
}

/// The trial was followed: a request waits so long, and is with the disk so long.
fn follow(trial: &mut Trial, queued_ns: f64, device_ns: f64) {
    trial.evidence.block_layer = Some(BlockLayer {
        queued_from: Some(QueuedFrom::Start),
        devices: vec![DeviceRequests {
            name: "vda".into(),
            operations: vec![OperationRequests {
                operation: RequestKind::Read,
                queued_ns: latency(queued_ns, 10_000),
                device_ns: latency(device_ns, 10_000),
                ..OperationRequests::default()
            }],
            ..DeviceRequests::default()
        }],
        ..BlockLayer::default()
    });
}

#[track_caller]
fn assert_parts(run: &Run, expected: &[(Spent, f64)]) {
    let figures = crate::figures(run);
    let budget = figures[0].budget.as_ref().expect("a budget");
    let parts: Vec<(Spent, f64)> = budget
        .parts
        .iter()
        .map(|one| (one.part, one.mean_ns.round()))
        .collect();
    assert_eq!(parts, expected);
    let sum: f64 = budget.parts.iter().map(|one| one.mean_ns).sum();
    assert!((sum - budget.latency_ns).abs() < 1e-3, "{budget:?}");
}

#[test]
fn counters_cannot_tell_the_scheduler_from_the_device_and_the_rest_is_not_explained() {
    assert_parts(
        &run(|_| {}),
        &[
            (Spent::Kernel, 10_000.0),
            (Spent::Processor, 5_000.0),
            (Spent::BlockLayer, 60_000.0),
            (Spent::Unexplained, 25_000.0),
        ],
    );
}

#[test]
fn events_can_and_what_is_left_lies_behind_the_device() {
    assert_parts(
        &run(|trial| follow(trial, 20_000.0, 40_000.0)),
        &[
            (Spent::Kernel, 10_000.0),
            (Spent::Processor, 5_000.0),
            (Spent::Scheduler, 20_000.0),
            (Spent::Device, 40_000.0),
            (Spent::Completion, 25_000.0),
            (Spent::Unexplained, 0.0),
        ],
    );
}

#[test]
fn a_trial_that_was_not_followed_is_divided_as_the_others_were() {
    let mut run = run(|_| {});
    let mut second = run.trials[0].clone();
    second.number = 2;
    follow(&mut second, 15_000.0, 45_000.0);
    run.trials.push(second);
    assert_parts(
        &run,
        &[
            (Spent::Kernel, 10_000.0),
            (Spent::Processor, 5_000.0),
            (Spent::Scheduler, 15_000.0),
            (Spent::Device, 45_000.0),
            (Spent::Completion, 25_000.0),
            (Spent::Unexplained, 0.0),
        ],
    );
}

#[test]
fn of_pieces_side_by_side_only_one_operation_at_a_time_tells_how_long_there_were_any() {
    let pieces = |trial: &mut Trial| {
        for device in &mut trial.evidence.devices {
            (device.reads, device.read_ms, device.busy_ms) = (40_000, 2_400, 700);
        }
    };
    let one = run(pieces);
    assert_parts(
        &one,
        &[
            (Spent::Kernel, 10_000.0),
            (Spent::Processor, 5_000.0),
            (Spent::BlockLayer, 70_000.0),
            (Spent::Unexplained, 15_000.0),
        ],
    );
    let several = run(|trial| {
        pieces(trial);
        trial.workload.queue_depth = 8;
    });
    assert_parts(
        &several,
        &[
            (Spent::Kernel, 10_000.0),
            // All eight wait while the thread does.
            (Spent::Processor, 40_000.0),
            (Spent::Unexplained, 50_000.0),
        ],
    );
}

/// So many READ calls of an NFS client, and no device under the target.
fn call(trial: &mut Trial, calls: u64) {
    trial.evidence.devices.clear();
    trial.evidence.nfs = Some(NfsMount {
        reads: Some(NfsCalls {
            calls,
            sent: calls,
            queued_ns: 50_000_000,
            round_trip_ns: 700_000_000,
            total_ns: 780_000_000,
            ..NfsCalls::default()
        }),
        ..NfsMount::default()
    });
}

#[test]
fn what_an_nfs_client_counted_of_its_calls_is_the_servers_time_and_that_of_its_queue() {
    assert_parts(
        &run(|trial| call(trial, 10_000)),
        &[
            (Spent::Kernel, 10_000.0),
            (Spent::Processor, 5_000.0),
            (Spent::Client, 5_000.0),
            (Spent::Server, 70_000.0),
            (Spent::Unexplained, 10_000.0),
        ],
    );
}

#[test]
fn of_several_calls_side_by_side_it_is_not_known_how_long_there_was_any() {
    assert_parts(
        &run(|trial| call(trial, 40_000)),
        &[
            (Spent::Kernel, 10_000.0),
            (Spent::Processor, 5_000.0),
            (Spent::Unexplained, 85_000.0),
        ],
    );
}

#[test]
fn through_the_page_cache_no_more_of_a_server_counts_than_the_thread_slept() {
    let read = run(|trial| {
        call(trial, 1_000);
        trial.workload.cache = CacheMode::Cold;
        trial.evidence.engine.direct = false;
        let reads = trial
            .evidence
            .nfs
            .as_mut()
            .and_then(|nfs| nfs.reads.as_mut());
        reads.expect("reads").round_trip_ns = 2_000_000_000;
    });
    assert_parts(
        &read,
        &[
            (Spent::Kernel, 10_000.0),
            (Spent::Processor, 5_000.0),
            (Spent::Server, 85_000.0),
            (Spent::Unexplained, 0.0),
        ],
    );
}

#[test]
fn through_the_page_cache_no_more_of_a_device_counts_than_the_thread_slept() {
    // The device worked for 200 us of each operation, most of it ahead.
    let read = run(|trial| {
        trial.workload.cache = CacheMode::Cold;
        trial.evidence.engine.direct = false;
        for device in &mut trial.evidence.devices {
            device.read_ms = 2_000;
        }
    });
    assert_parts(
        &read,
        &[
            (Spent::Kernel, 10_000.0),
            (Spent::Processor, 5_000.0),
            (Spent::BlockLayer, 85_000.0),
            (Spent::Unexplained, 0.0),
        ],
    );
    // And for 10 us: the rest of the sleep is for pages that others bring.
    let ahead = run(|trial| {
        trial.workload.cache = CacheMode::Cold;
        trial.evidence.engine.direct = false;
        for device in &mut trial.evidence.devices {
            device.read_ms = 100;
        }
    });
    assert_parts(
        &ahead,
        &[
            (Spent::Kernel, 10_000.0),
            (Spent::Processor, 5_000.0),
            (Spent::Cache, 75_000.0),
            (Spent::BlockLayer, 10_000.0),
            (Spent::Unexplained, 0.0),
        ],
    );
    // What others had read is theirs: half of it, then all.
    let by_others = |own: u64| {
        run(|trial| {
            trial.workload.cache = CacheMode::Warm;
            trial.evidence.engine.direct = false;
            for device in &mut trial.evidence.devices {
                (device.read_ms, device.read_bytes) = (400, 10_000 * 4096);
            }
            let io = trial.evidence.process_io.as_mut().expect("it is known");
            io.read_bytes = own;
        })
    };
    assert_parts(
        &by_others(5_000 * 4096),
        &[
            (Spent::Kernel, 10_000.0),
            (Spent::Processor, 5_000.0),
            (Spent::Cache, 65_000.0),
            (Spent::BlockLayer, 20_000.0),
            (Spent::Unexplained, 0.0),
        ],
    );
    assert_parts(
        &by_others(0),
        &[
            (Spent::Kernel, 10_000.0),
            (Spent::Processor, 5_000.0),
            (Spent::Unexplained, 85_000.0),
        ],
    );
    // Without the processor's part nobody knows what was slept.
    let unknown = run(|trial| {
        trial.evidence.engine.direct = false;
        trial.cpu = diskfacts_record::Cpu::default();
    });
    assert_parts(&unknown, &[(Spent::Unexplained, LATENCY_NS)]);
}

#[test]
fn a_write_that_sleeps_waits_for_dirty_pages_only_where_there_were_too_many() {
    let write = |dirty_bytes| {
        run(|trial| {
            trial.workload.operation = diskfacts_plan::Operation::Write;
            trial.workload.cache = CacheMode::Buffered;
            trial.evidence.engine.direct = false;
            trial.evidence.write_back = Some(WriteBack {
                dirty_limit_bytes: 200 << 20,
                dirty_background_bytes: 100 << 20,
                dirty_after_bytes: dirty_bytes,
                ..WriteBack::default()
            });
        })
    };
    let own = [(Spent::Kernel, 10_000.0), (Spent::Processor, 5_000.0)];
    let [kernel, processor] = own;
    assert_parts(
        &write(150 << 20),
        &[
            kernel,
            processor,
            (Spent::Dirty, 85_000.0),
            (Spent::Unexplained, 0.0),
        ],
    );
    assert_parts(
        &write(100 << 20),
        &[kernel, processor, (Spent::Unexplained, 85_000.0)],
    );
    // A pause may end a trial with little that is dirty: another that was counted there tells
    // of one that dirtied enough, and of none that did not, nor of one of another stage.
    let beside = |dirtied_bytes, stage: &str, mean_ns: f64| {
        let mut run = write(150 << 20);
        let mut ended_low = run.trials[0].clone();
        ended_low.number = 2;
        ended_low.latency_ns.mean = Some(mean_ns);
        ended_low.evidence.write_back = Some(WriteBack {
            dirtied_bytes,
            ..write(0).trials[0].evidence.write_back.expect("it is known")
        });
        run.trials[0].stage = stage.into();
        run.trials.push(ended_low);
        run.figures = crate::figures(&run);
        let of_stage = run.figures.iter().find(|figures| figures.stage == STAGE);
        let budget = of_stage.and_then(|figures| figures.budget.clone());
        budget.expect("a budget").mean_ns(Spent::Dirty).round() as u64
    };
    assert_eq!(beside(400 << 20, STAGE, LATENCY_NS), 85_000);
    assert_eq!(beside(100 << 20, STAGE, LATENCY_NS), 42_500);
    assert_eq!(beside(400 << 20, "another", LATENCY_NS), 0);
    // Longer than where it was counted: something else may have held it.
    assert_eq!(beside(400 << 20, STAGE, 2.0 * LATENCY_NS), 42_500);
}

#[test]
fn a_sync_waits_for_its_writes_its_flush_and_then_for_the_filesystem() {
    let synced = run(|trial| {
        trial.workload.operation = diskfacts_plan::Operation::Write;
        trial.workload.sync = SyncMode::Fdatasync;
        for device in &mut trial.evidence.devices {
            (device.reads, device.read_ms) = (0, 0);
            // Each sync counts as a write without data, with the time of its flush.
            (device.writes, device.write_ms) = (20_000, 650);
            (device.flushes, device.flush_ms) = (Some(10_000), Some(250));
        }
    });
    assert_parts(
        &synced,
        &[
            (Spent::Kernel, 10_000.0),
            (Spent::Processor, 5_000.0),
            (Spent::Journal, 20_000.0),
            (Spent::BlockLayer, 40_000.0),
            (Spent::Flush, 25_000.0),
            (Spent::Unexplained, 0.0),
        ],
    );
}

#[test]
fn a_limit_that_others_fill_holds_nobody_back_here() {
    let limited = |per_s| {
        run(|trial| {
            trial.bytes = 10_000 * 4096;
            trial.evidence.io_limits = Some(vec![IoLimit {
                device: "vda".into(),
                of: LimitOf::Reads,
                per_s,
                file: "io.max".into(),
            }]);
            for device in &mut trial.evidence.devices {
                // Half of what it reads is somebody else's.
                (device.reads, device.read_bytes) = (20_000, 20_000 * 4096);
                (device.read_ms, device.busy_ms) = (1_200, 300);
            }
            trial.workload.queue_depth = 1;
        })
    };
    let held = |run: &Run| {
        let figures = crate::figures(run);
        let budget = figures[0].budget.as_ref().expect("a budget");
        budget.mean_ns(Spent::Admission) > 0.0
    };
    let seconds = limited(1).trials[0].seconds;
    let per_s = (10_000.0 / seconds) as u64;
    assert!(held(&limited(per_s)));
    assert!(!held(&limited(per_s * 2)));
}

#[test]
fn what_is_due_and_not_handed_over_is_no_part_of_anything_else() {
    let late = run(|trial| {
        trial.latency_service_ns = Some(latency(80_000.0, 10_000));
    });
    assert_parts(
        &late,
        &[
            (Spent::Due, 20_000.0),
            (Spent::Kernel, 10_000.0),
            (Spent::Processor, 5_000.0),
            (Spent::BlockLayer, 60_000.0),
            (Spent::Unexplained, 5_000.0),
        ],
    );
}

#[test]
fn imports_have_none() {
    let mut run = run(|_| {});
    run.trials[0].latency_ns = Latency::default();
    assert_eq!(crate::figures(&run)[0].budget, None);
}

/// The slow ones of the requests; and all operations of the trial in a histogram, of which
/// two hundredths took a millisecond.
fn slow(trial: &mut Trial, queued_ns: f64, device_ns: f64) {
    follow(trial, 20_000.0, 40_000.0);
    let layer = trial.evidence.block_layer.as_mut().expect("followed");
    layer.devices[0].slowest = Some(SlowestRequests {
        requests: 100.0,
        queued_ns,
        device_ns,
    });
    let mut histograms = Histograms::default();
    for operation in 0..10_000 {
        let ns = if operation % 50 == 0 {
            1_000_000
        } else {
            81_633
        };
        histograms.read.record(ns);
    }
    trial.histograms = PackedHistograms::from(&histograms);
}

fn slowest(run: &Run) -> Option<Vec<(Spent, f64)>> {
    let budget = crate::figures(run)[0].budget.clone().expect("a budget");
    let slowest = budget.slowest?;
    let sum: f64 = slowest.parts.iter().map(|one| one.mean_ns).sum();
    assert!((sum - slowest.latency_ns).abs() < 1e-3, "{slowest:?}");
    // Of a histogram, whose buckets are 0.8 % wide.
    assert!(
        (slowest.latency_ns / 1e6 - 1.0).abs() < 0.004,
        "{slowest:?}"
    );
    let parts = slowest.parts.iter();
    Some(
        parts
            .map(|one| (one.part, (one.mean_ns / 10_000.0).round()))
            .collect(),
    )
}

#[test]
fn the_slowest_are_divided_by_what_their_own_requests_took() {
    assert_eq!(
        slowest(&run(|trial| slow(trial, 900_000.0, 50_000.0))),
        Some(vec![
            (Spent::Kernel, 1.0),
            (Spent::Scheduler, 90.0),
            (Spent::Device, 5.0),
            (Spent::Completion, 4.0),
            (Spent::Unexplained, 0.0),
        ])
    );
    // Slow behind the device: nobody waited longer for that.
    let behind = |followed_ns| {
        run(|trial| {
            slow(trial, 20_000.0, 50_000.0);
            let layer = trial.evidence.block_layer.as_mut().expect("followed");
            (layer.window_ns, layer.followed_ns) = (1_000_000_000, followed_ns);
        })
    };
    assert_eq!(
        slowest(&behind(1_000_000_000)),
        Some(vec![
            (Spent::Kernel, 1.0),
            (Spent::Scheduler, 2.0),
            (Spent::Device, 5.0),
            (Spent::Completion, 92.0),
            (Spent::Unexplained, 0.0),
        ])
    );
    // Or while nobody followed: that may as well have been the device.
    assert_eq!(
        slowest(&behind(220_000_000)),
        Some(vec![
            (Spent::Kernel, 1.0),
            (Spent::Scheduler, 2.0),
            (Spent::Device, 5.0),
            (Spent::Unexplained, 92.0),
        ])
    );
}

#[test]
fn requests_that_are_slower_than_any_operation_are_of_others_and_keep_their_shares() {
    let found = slowest(&run(|trial| slow(trial, 3_000_000.0, 1_000_000.0)));
    let parts = found.expect("a budget of the slowest");
    assert_eq!(parts[0].0, Spent::Scheduler);
    assert!((parts[0].1 - 75.0).abs() <= 1.0, "{parts:?}");
    assert!((parts[1].1 - 25.0).abs() <= 1.0, "{parts:?}");
}

#[test]
fn of_operations_that_are_not_one_request_each_the_slowest_are_not_divided() {
    let split = run(|trial| {
        slow(trial, 900_000.0, 50_000.0);
        for device in &mut trial.evidence.devices {
            device.reads = 20_000;
        }
    });
    assert_eq!(slowest(&split), None);
    let open_loop = run(|trial| {
        slow(trial, 900_000.0, 50_000.0);
        trial.latency_service_ns = Some(latency(LATENCY_NS, 10_000));
    });
    assert_eq!(slowest(&open_loop), None);
    let buffered = run(|trial| {
        slow(trial, 900_000.0, 50_000.0);
        trial.evidence.engine.direct = false;
    });
    assert_eq!(slowest(&buffered), None);
    let stored_without = run(|trial| {
        slow(trial, 900_000.0, 50_000.0);
        trial.histograms = PackedHistograms::default();
    });
    assert_eq!(slowest(&stored_without), None);
}

#[test]
fn the_slowest_syncs_are_a_write_a_flush_and_what_the_filesystem_does_behind_them() {
    let synced = |flushes: u64, depth: u32| {
        run(|trial| {
            slow(trial, 0.0, 0.0);
            trial.workload.operation = diskfacts_plan::Operation::Write;
            trial.workload.sync = SyncMode::Fdatasync;
            trial.workload.queue_depth = depth;
            for device in &mut trial.evidence.devices {
                (device.reads, device.writes) = (0, 10_000 + flushes);
                device.flushes = Some(flushes);
            }
            let layer = trial.evidence.block_layer.as_mut().expect("followed");
            let writes = &mut layer.devices[0].operations[0];
            (writes.operation, writes.completed) = (RequestKind::Write, 10_000);
            let of_flushes = OperationRequests {
                operation: RequestKind::Flush,
                completed: flushes,
                ..OperationRequests::default()
            };
            layer.devices[0].operations.push(of_flushes);
            layer.devices[0].slowest_syncs = Some(SlowestSyncs {
                syncs: 100.0,
                queued_ns: 20_000.0,
                device_ns: 80_000.0,
                flush_ns: 700_000.0,
            });
        })
    };
    assert_eq!(
        slowest(&synced(10_000, 1)),
        Some(vec![
            (Spent::Kernel, 1.0),
            (Spent::Journal, 19.0),
            (Spent::Scheduler, 2.0),
            (Spent::Device, 8.0),
            (Spent::Flush, 70.0),
            (Spent::Unexplained, 0.0),
        ])
    );
    // With two flushes a sync, or several syncs at once, none is known by itself.
    assert_eq!(slowest(&synced(20_000, 1)), None);
    assert_eq!(slowest(&synced(10_000, 4)), None);
}
