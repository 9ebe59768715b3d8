//! The limiters on the side of the host, each on a run in which one thing was
//! changed.

use crate::limits;
use crate::testing::{self, each};
use diskfacts_plan::{Arrivals, CacheMode, Operation, Rate};
use diskfacts_record::evidence::{
    Asleep, BlockLayer, ControlGroup, DeviceRequests, GroupMemory, IoLimit, Journal, LimitOf,
    OperationRequests, Pause, Processors, QueuedFrom, WriteBack,
};
use diskfacts_record::{BlockDevice, Confidence, Latency, Limit, Run};

/// The limits of a stage.
pub(super) fn of(run: &Run, stage: &str) -> Vec<Limit> {
    let mut all = limits(run).into_iter();
    let found = all.find(|limits| limits.stage == stage);
    found.expect("a stage of the run").limits
}

/// What a limiter says of a stage, when it does.
pub(super) fn said(run: &Run, stage: &str, limiter: &str) -> Option<Limit> {
    let found = of(run, stage);
    found.into_iter().find(|limit| limit.limiter == limiter)
}

fn first(run: &Run, stage: &str) -> Limit {
    let mut limits = of(run, stage).into_iter();
    limits
        .next()
        .unwrap_or_else(|| panic!("no limit of {stage}"))
}

#[test]
fn of_a_healthy_run_only_memory_is_said_on_the_side_of_the_host() {
    let run = testing::healthy();
    for limiter in super::OF_HOST {
        for stage in limits(&run) {
            let spoke = stage.limits.iter().any(|l| l.limiter == limiter.name);
            let warm = stage.stage == "cached-random-read";
            assert_eq!(
                spoke,
                warm && limiter.name == "page-cache",
                "{} of {}: {:#?}",
                limiter.name,
                stage.stage,
                stage.limits
            );
        }
    }
}

#[test]
fn nothing_limits_a_stage_whose_trials_all_had_errors() {
    let mut run = testing::healthy();
    each(&mut run, "random-read-qd32", |trial| {
        trial.cpu.busiest_thread = Some(0.97);
        trial.errors = u64::from(trial.number == 1);
    });
    assert_eq!(first(&run, "random-read-qd32").limiter, "cpu-kernel");
    each(&mut run, "random-read-qd32", |trial| trial.errors = 1);
    let named = limits(&run);
    assert!(!named.is_empty());
    let failed = named.iter().find(|one| one.stage == "random-read-qd32");
    assert_eq!(failed, None);
}

#[test]
fn a_limit_of_a_control_group_is_named_when_the_device_was_used_at_it() {
    let mut run = testing::healthy();
    // 8000 reads of 4 KiB in a second, by the device's own count.
    let limit = |per_s| IoLimit {
        device: "vda".into(),
        of: LimitOf::Reads,
        per_s,
        file: "/sys/fs/cgroup/job/io.max".into(),
    };
    let set = |run: &mut Run, per_s| {
        each(run, "random-read-qd32", |trial| {
            trial.evidence.io_limits = Some(vec![limit(per_s)]);
        });
    };
    set(&mut run, 8000);
    let found = first(&run, "random-read-qd32");
    assert_eq!(found.limiter, "cgroup-throttle");
    assert_eq!(found.confidence, Confidence::Certain);
    assert!(
        found.evidence[0].contains("/sys/fs/cgroup/job/io.max"),
        "{found:#?}"
    );
    assert!(
        found
            .remedy
            .contains("echo '254:0 riops=max' > /sys/fs/cgroup/job/io.max"),
        "{found:#?}"
    );
    // A limit far above what came holds nobody back.
    set(&mut run, 20_000);
    assert_eq!(said(&run, "random-read-qd32", "cgroup-throttle"), None);
    // Nor does one that was lifted in the middle of the stage.
    set(&mut run, 8000);
    each(&mut run, "random-read-qd32", |trial| {
        if trial.number == 3 {
            trial.evidence.io_limits = Some(Vec::new());
        }
    });
    assert_eq!(said(&run, "random-read-qd32", "cgroup-throttle"), None);
}

#[test]
fn the_processor_is_laid_to_the_kernel_or_to_the_measuring_by_where_its_time_went() {
    let mut run = testing::healthy();
    each(&mut run, "random-read-qd32", |trial| {
        trial.cpu.busiest_thread = Some(0.97);
    });
    let found = first(&run, "random-read-qd32");
    assert_eq!(found.limiter, "cpu-kernel");
    assert!(
        found.evidence[1].contains("2 us in the kernel"),
        "{found:#?}"
    );
    each(&mut run, "random-read-qd32", |trial| {
        trial.cpu.user_ns_per_io = Some(9000.0);
    });
    assert_eq!(first(&run, "random-read-qd32").limiter, "cpu-generator");
    // With many in flight, a thread that waits half of the time limits nothing.
    each(&mut run, "random-read-qd32", |trial| {
        trial.cpu.busiest_thread = Some(0.6);
    });
    assert_eq!(said(&run, "random-read-qd32", "cpu-generator"), None);
}

#[test]
fn threads_of_the_kernel_are_found_by_the_processors_of_the_machine() {
    let mut run = testing::healthy();
    each(&mut run, "random-read-qd32", |trial| {
        trial.evidence.processors = Some(Processors {
            user_ns: 300_000_000,
            system_ns: 1_500_000_000,
            interrupt_ns: 200_000_000,
            idle_ns: 0,
            ..Processors::default()
        });
    });
    let found = first(&run, "random-read-qd32");
    assert_eq!(found.limiter, "cpu-kernel");
    let whose = "in threads of its own or in calls of other programs";
    assert!(found.claim.contains(whose), "{found:#?}");
    assert!(found.remedy.contains("`top`"), "{found:#?}");
}

#[test]
fn who_waits_for_a_processor_that_others_have_is_told() {
    // `waited` is the share of the time by the account of the thread, where there is one.
    let told = |waited: Option<f64>| {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd1", |trial| {
            for device in &mut trial.evidence.devices {
                device.busy_ms = 150;
            }
            trial.evidence.processors = Some(Processors {
                user_ns: 1_900_000_000,
                system_ns: 100_000_000,
                ..Processors::default()
            });
            if let Some(pressure) = &mut trial.evidence.pressure {
                pressure.cpu_some_ns = 950_000_000;
            }
            let ns = waited.map(|share| share * trial.seconds * 1e9);
            trial.cpu.wait_ns_per_io = ns.map(|ns| ns / trial.ops as f64);
        });
        said(&run, "random-read-qd1", "other-process")
    };
    for waited in [None, Some(0.8)] {
        let found = told(waited).expect("it waited");
        assert!(found.claim.contains("the processors"), "{found:#?}");
        let account = found.evidence[1].contains("no processor for 80 % of the time");
        assert_eq!(account, waited.is_some(), "{found:#?}");
    }
    // Whatever others waited: this one slept.
    assert_eq!(told(Some(0.02)), None);
}

#[test]
fn threads_of_the_kernel_that_work_for_the_stage_are_nobody_else() {
    let with = |user_ns: u64| {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd1", |trial| {
            for device in &mut trial.evidence.devices {
                device.busy_ms = 150;
            }
            trial.evidence.processors = Some(Processors {
                user_ns,
                system_ns: 2_000_000_000 - user_ns,
                ..Processors::default()
            });
            if let Some(pressure) = &mut trial.evidence.pressure {
                pressure.cpu_some_ns = 950_000_000;
            }
            trial.cpu.wait_ns_per_io = None;
        });
        said(&run, "random-read-qd1", "other-process").is_some()
    };
    assert!(!with(40_000_000));
    // Programs of somebody, the second one for three quarters of its time in the kernel.
    assert!(with(1_900_000_000));
    assert!(with(500_000_000));
}

/// 32 in flight at a device with a scheduler, as the trace events show it.
fn under_a_scheduler(change: impl Fn(&mut BlockDevice, &mut DeviceRequests)) -> Run {
    let mut run = testing::healthy();
    let mean = |ns: f64| Latency {
        samples: 7500,
        mean: Some(ns),
        ..Latency::default()
    };
    let mut requests = DeviceRequests {
        name: "vda".into(),
        in_flight_max: Some(1),
        operations: vec![OperationRequests {
            issued: 7500,
            queued_ns: mean(339_119.0),
            device_ns: mean(8_823.0),
            ..OperationRequests::default()
        }],
        ..DeviceRequests::default()
    };
    let disk = run
        .stack
        .devices
        .iter_mut()
        .find(|device| device.name == "vda");
    let disk = disk.expect("the disk");
    disk.scheduler = Some("bfq".into());
    disk.nr_requests = Some(256);
    change(disk, &mut requests);
    each(&mut run, "random-read-qd32", |trial| {
        trial.evidence.block_layer = Some(BlockLayer {
            devices: vec![requests.clone()],
            queued_from: Some(QueuedFrom::Start),
            ..BlockLayer::default()
        });
    });
    run
}

#[test]
fn a_scheduler_that_sends_one_at_a_time_is_named_and_the_device_is_not_full() {
    let stage = "random-read-qd32";
    let run = under_a_scheduler(|_, _| {});
    let found = first(&run, stage);
    assert_eq!(found.limiter, "device-queue");
    assert!(
        found
            .claim
            .contains("vda, bfq, sends it 1 request at a time: a request waits 339 us"),
        "{found:#?}"
    );
    assert_eq!(said(&run, stage, "device-parallelism"), None);
    // A device that is full, or sends requests back, or has no scheduler, or of which too
    // little was seen, and one that takes no more than a few.
    let others: [fn(&mut BlockDevice, &mut DeviceRequests); 5] = [
        |_, requests| requests.in_flight_max = Some(32),
        |_, requests| requests.operations[0].requeues = 200,
        |disk, _| disk.scheduler = Some("none".into()),
        |_, requests| requests.operations[0].queued_ns.samples = 10,
        |disk, _| disk.queue_depth = Some(2),
    ];
    for (number, change) in others.into_iter().enumerate() {
        let run = under_a_scheduler(change);
        let found = said(&run, stage, "device-queue");
        let of_turns = found.filter(|limit| limit.claim.contains("scheduler of"));
        assert_eq!(of_turns, None, "change {number}");
    }
}

#[test]
fn bytes_of_others_on_the_device_are_its_work_for_others() {
    let mut run = testing::healthy();
    each(&mut run, "sequential-read", |trial| {
        for device in &mut trial.evidence.devices {
            device.read_bytes *= 3;
            device.reads *= 3;
        }
    });
    let found = first(&run, "sequential-read");
    assert_eq!(found.limiter, "other-process");
    assert!(
        found
            .share
            .is_some_and(|share| (0.55..0.65).contains(&share)),
        "{found:#?}"
    );
}

#[test]
fn a_kept_rate_is_named_before_anything_about_the_device() {
    let mut run = testing::healthy();
    each(&mut run, "random-read-qd1", |trial| {
        trial.workload.rate = Some(Rate {
            operations_per_s: trial.ops,
            arrivals: Arrivals::Fixed,
        });
    });
    assert_eq!(first(&run, "random-read-qd1").limiter, "offered-load");
    each(&mut run, "random-read-qd1", |trial| {
        trial.workload.rate = Some(Rate {
            operations_per_s: trial.ops * 2,
            arrivals: Arrivals::Fixed,
        });
    });
    assert_eq!(said(&run, "random-read-qd1", "offered-load"), None);
}

#[test]
fn a_journal_is_named_when_it_counts_and_writes_more_than_the_data() {
    let mut run = testing::healthy();
    each(&mut run, "log-write", |trial| {
        let writes = trial.evidence.issued.writes;
        for device in &mut trial.evidence.devices {
            device.writes = 3 * writes;
            device.write_bytes += writes * 12_288;
            device.write_ms = writes / 10;
            device.flush_ms = Some(writes / 20);
        }
    });
    // ext4 counts its commits when it has a journal, and this one counted none.
    assert_eq!(said(&run, "log-write", "journal"), None);
    each(&mut run, "log-write", |trial| {
        trial.evidence.journal = Some(Journal {
            kind: "jbd2".into(),
            commits: trial.evidence.issued.writes,
            bytes: None,
            commit_ms: None,
        });
    });
    let found = said(&run, "log-write", "journal").expect("a journal");
    assert!(
        found.claim.contains("2 requests more for each sync"),
        "{found:#?}"
    );
    assert!(
        found.share.is_some_and(|share| (0.4..0.5).contains(&share)),
        "{found:#?}"
    );
}

#[test]
fn figures_of_one_trial_that_contradict_each_other_are_mislabelled() {
    let mut run = testing::healthy();
    each(&mut run, "random-read-qd32", |trial| {
        trial.throughput_bytes_per_s *= 16.0;
    });
    let found = first(&run, "random-read-qd32");
    assert_eq!(found.limiter, "mislabelled");
    assert!(found.claim.contains("16 times too high"), "{found:#?}");
    // Rounding, and 1000 against 1024 twice, are no other label.
    let mut run = testing::healthy();
    each(&mut run, "random-read-qd32", |trial| {
        trial.throughput_bytes_per_s *= 1.048_576;
    });
    assert_eq!(said(&run, "random-read-qd32", "mislabelled"), None);
}

#[test]
fn more_in_flight_than_was_asked_for_is_mislabelled() {
    let mut run = testing::healthy();
    each(&mut run, "random-read-qd1", |trial| {
        trial.latency_ns.mean = trial.latency_ns.mean.map(|mean| mean * 4.0);
    });
    let found = first(&run, "random-read-qd1");
    assert_eq!(found.limiter, "mislabelled");
    assert!(found.evidence[0].contains("in flight"), "{found:#?}");
}

#[test]
fn a_silence_in_which_the_process_did_not_run_is_no_stall_of_the_device() {
    let silent = |paused: bool, stolen_ns: u64| {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd32", |trial| {
            let intervals = &mut trial.evidence.intervals;
            intervals.operations[10..20].fill(0);
            intervals.operations[30..40].fill(0);
            let pause = |from: u64| Pause {
                begins_ns: from * intervals.length_ns + 1,
                ns: 10 * intervals.length_ns,
            };
            let pauses = vec![pause(10), pause(30)];
            trial.evidence.engine.pauses = Some(if paused { pauses } else { Vec::new() });
            trial.evidence.cpu_steal_ns = Some(stolen_ns);
        });
        run
    };
    let run = silent(true, 0);
    let limit = first(&run, "random-read-qd32");
    assert_eq!(limit.limiter, "stopped");
    assert!(limit.claim.ends_with("something stopped it."), "{limit:?}");
    assert_eq!(said(&run, "random-read-qd32", "stall"), None);
    let finding = crate::findings(&run).into_iter();
    let finding = finding.filter(|found| found.rule == "stalled");
    let claims: Vec<String> = finding.map(|found| found.claim).collect();
    assert!(claims[0].contains("diskfacts was stopped"), "{claims:?}");
    let limit = first(&silent(true, 1 << 40), "random-read-qd32");
    assert!(limit.claim.contains("the hypervisor had"), "{limit:?}");
    // The same silences, and the process ran.
    let run = silent(false, 0);
    assert!(said(&run, "random-read-qd32", "stall").is_some());
    assert_eq!(said(&run, "random-read-qd32", "stopped"), None);
}

#[test]
fn who_hardly_waits_for_a_processor_is_not_limited_by_busy_ones() {
    let busy = |waited_ns: f64| {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd32", |trial| {
            trial.cpu.wait_ns_per_io = Some(waited_ns);
            trial.evidence.processors = Some(Processors {
                system_ns: 19_000_000_000,
                user_ns: 900_000_000,
                idle_ns: 100_000_000,
                ..Processors::default()
            });
        });
        said(&run, "random-read-qd32", "cpu-kernel")
    };
    let each_ns = 1e9
        / testing::healthy()
            .trials
            .iter()
            .find_map(|trial| (trial.stage == "random-read-qd32").then_some(trial.iops))
            .expect("a trial");
    assert!(busy(each_ns / 2.0).is_some());
    assert_eq!(busy(0.0).filter(|limit| limit.share > Some(0.34)), None);
}

#[test]
fn what_blocks_a_thread_in_front_of_its_requests_is_named_by_where_it_sleeps() {
    let asleep = |function: &str, seen: u64| {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd1", |trial| {
            trial.evidence.engine.asleep = Some(Asleep {
                looks: 50,
                functions: [(function.to_owned(), seen)].into(),
            });
        });
        run
    };
    let limit = first(&asleep("fanotify_handle_event", 40), "random-read-qd1");
    assert_eq!(limit.limiter, "blocked");
    assert!(limit.claim.contains("asked for leave"), "{limit:?}");
    assert_eq!(limit.share, Some(0.8));
    let limit = first(&asleep("xfs_ilock", 30), "random-read-qd1");
    assert_eq!(limit.limiter, "blocked");
    assert!(limit.claim.contains("lock of the file"), "{limit:?}");
    // Seldom, and where it waits for its own request.
    for (function, seen) in [
        ("xfs_ilock", 2),
        ("io_cqring_wait", 45),
        ("ext4_map_blocks", 45),
    ] {
        let run = asleep(function, seen);
        assert_eq!(said(&run, "random-read-qd1", "blocked"), None, "{function}");
    }
}

#[test]
fn writers_who_sleep_for_memory_of_their_group_wait_for_write_back_in_less_of_the_time() {
    let stage = "random-read-qd1";
    let waiting = |share: f64, function: &str, limited: bool| {
        let mut run = testing::healthy();
        each(&mut run, stage, |trial| {
            trial.workload.operation = Operation::Write;
            trial.workload.cache = CacheMode::Buffered;
            let engine = &mut trial.evidence.engine;
            engine.direct = false;
            engine.asleep = Some(Asleep {
                looks: 50,
                functions: [(function.to_owned(), 20)].into(),
            });
            // What does not wait is the threads' own work.
            let mean_ns = trial.latency_ns.mean.expect("a latency");
            trial.cpu.system_ns_per_io = Some((1.0 - share) * mean_ns);
            trial.cpu.user_ns_per_io = Some(0.0);
            trial.evidence.write_back = Some(WriteBack {
                dirty_limit_bytes: 200 << 20,
                dirty_background_bytes: 100 << 20,
                dirtied_bytes: 64 << 20,
                written_bytes: 60 << 20,
                ..WriteBack::default()
            });
            trial.evidence.control_group = limited.then(|| ControlGroup {
                memory: Some(GroupMemory {
                    limit_bytes: Some(32 << 20),
                    limited_by: "/sys/fs/cgroup/job".into(),
                    ..GroupMemory::default()
                }),
                ..ControlGroup::default()
            });
        });
        run
    };
    let named = |run: &Run| said(run, stage, "dirty-throttling");
    let throttled = "mem_cgroup_handle_over_high";
    let run = waiting(0.45, throttled, true);
    let limit = first(&run, stage);
    assert_eq!(limit.limiter, "dirty-throttling", "{limit:?}");
    assert!(limit.claim.contains("a control group, 32 MiB"), "{limit:?}");
    // Less is no cause; and without the group, or asleep elsewhere, half of the time is asked for.
    assert_eq!(named(&waiting(0.25, throttled, true)), None);
    assert_eq!(named(&waiting(0.45, throttled, false)), None);
    assert_eq!(named(&waiting(0.45, "io_cqring_wait", true)), None);
}

#[test]
fn discards_are_those_of_others_where_no_filesystem_makes_them() {
    let stage = "random-read-qd1";
    let mut run = testing::healthy();
    let trims = |run: &Run| said(run, stage, "other-process").map(|limit| limit.claim);
    let discarded = |run: &mut Run, number: u64| {
        each(run, stage, |trial| {
            for device in &mut trial.evidence.devices {
                (device.discards, device.discard_ms) = (Some(number), Some(3 * number));
                device.read_ms = 900;
            }
        });
    };
    discarded(&mut run, 300);
    let claim = trims(&run).expect("somebody trims");
    assert!(claim.contains("(trim): 50 % of the time"), "{claim}");
    discarded(&mut run, 1);
    assert_eq!(trims(&run), None);
    discarded(&mut run, 300);
    let filesystem = run.stack.filesystem.as_mut().expect("there is one");
    filesystem.options.push("discard".into());
    assert_eq!(trims(&run), None);
}
