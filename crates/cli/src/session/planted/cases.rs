//! One flaw for each rule.

use super::setup::Setup;
use diskfacts_disk::Extent;
use diskfacts_disk::defects::{SlowZone, WeakSector};
use diskfacts_disk::faults::neighbour::NeighbourParameters;
use diskfacts_disk::faults::stall::StallParameters;
use diskfacts_disk::faults::throttle::{CreditParameters, HeatParameters, ThrottleParameters};
use diskfacts_disk::host::{HostParameters, Scheduler};
use diskfacts_engine::sim::{DirectOpen, FreshMemory, Processor};
use diskfacts_plan::{
    CacheMode, IoContext, Operation, Pattern, Pool, Stage, Stop, SyncMode, Workload,
};

const MS: u64 = 1_000_000;
const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// What is planted.
type Planting = fn(&mut Setup);

/// Each rule, and the flaw that it is for.
pub(super) const CASES: &[(&str, Planting)] = &[
    ("degraded", |setup| {
        *setup = Setup::on("raid6x8");
        setup.only("random-read");
        setup.plant.missing_members = 1;
    }),
    ("io-errors", |setup| {
        setup.only("random-read").workload.span = Some(MIB);
        setup.profile.faults.weak_sectors = vec![WeakSector {
            offset: 64 * KIB,
            retries: 2,
            readable: false,
        }];
    }),
    ("interrupted", |setup| {
        let each_ns = setup.only("random-read").workload.stop.time_ns;
        setup.plant.stop_at_ns = each_ns.map(|ns| ns * 4 + ns / 2);
    }),
    ("served-from-cache", |setup| {
        // The span is in memory, because a stage before it reads all of it.
        let warm = setup.stage("warm-read").clone();
        let mut direct = setup.only("random-read").clone();
        direct.workload.span = warm.workload.span;
        direct.workload.block_size = warm.workload.block_size;
        setup.plan.stages = vec![warm, direct];
        setup.plant.direct = DirectOpen::Ignored;
    }),
    ("holes", |setup| {
        setup.only("random-read");
        setup.plant.hole = Some(Extent {
            start: 0,
            end: setup.profile.capacity() / 2,
        });
    }),
    ("direct-refused", |setup| {
        setup.only("random-read");
        setup.plant.direct = DirectOpen::Refused;
    }),
    ("bytes-disagree", |setup| {
        setup.only("random-read");
        setup.plant.reads_in = Some(16 * KIB);
    }),
    ("sync-without-flush", |setup| {
        *setup = Setup::on("hdd-7200-sync");
        setup.only("log-write").workload.stop.time_ns = Some(2000 * MS);
        setup.plant.drops_flushes = true;
    }),
    ("flush-not-to-medium", |setup| {
        *setup = Setup::on("hdd-7200-sync");
        setup.only("log-write").workload.stop.time_ns = Some(2000 * MS);
        setup.profile.faults.lying_flush = true;
    }),
    ("cache-burst", |setup| {
        // Less than half of what its write cache holds in each trial.
        *setup = Setup::on("hdd-20tb-cmr");
        let mut read = setup.only("sequential-read").clone();
        read.workload.block_size = MIB;
        let mut write = read.clone();
        write.name = "sequential-write".into();
        write.workload.operation = Operation::Write;
        write.workload.stop = Stop {
            bytes: Some(96 * MIB),
            ..Stop::default()
        };
        setup.plan.stages = vec![read, write];
    }),
    ("other-io", |setup| {
        setup.only("random-read");
        setup.plant.neighbour = Some(NeighbourParameters {
            every_ns: MS,
            len: 16 * KIB,
            writes: false,
            extent: Extent { start: 0, end: 0 },
        });
    }),
    ("warm-not-cached", |setup| {
        setup.only("warm-read").workload.stop.time_ns = Some(2000 * MS);
        setup.plant.memory = Some(32 * MIB);
    }),
    ("cpu-bound", |setup| {
        setup.plant.processor = Some(Processor {
            busiest_thread: 0.97,
            ..Processor::default()
        });
    }),
    ("cpu-time-varies", |setup| {
        let workload = &mut setup.only("random-read").workload;
        workload.queue_depth = 1;
        let all_ns = workload.stop.time_ns.expect("it has a time") * u64::from(setup.plan.trials);
        setup.plant.fresh_memory = Some(FreshMemory {
            system_ns: MS / 5,
            until_ns: 2 * all_ns,
        });
    }),
    ("depth-not-reached", |setup| {
        setup.plant.in_flight_max = Some(5);
    }),
    ("engine-fell-back", |setup| {
        setup.stage("random-read").workload.iopoll = true;
        setup.plant.refuses_polling = true;
    }),
    ("rewrite-rate", |setup| {
        // The same pass in three ways, of which one turns back for each block.
        *setup = Setup::on("hdd-7200-1tb");
        let mut read = setup.only("sequential-read").clone();
        read.workload.queue_depth = 1;
        let with = |name: &str, operation| {
            let mut stage = read.clone();
            stage.name = name.into();
            stage.workload.operation = operation;
            stage.workload.sync = SyncMode::AtEnd;
            stage
        };
        let write = with("sequential-write", Operation::Write);
        let rewrite = with("rewrite", Operation::Modify { percent: 100 });
        setup.plan.stages = vec![read, write, rewrite];
    }),
    ("rate-missed", |setup| {
        setup.only("steady-rate");
        setup.profile.faults.throttle = Some(credit(90, 90, 1));
    }),
    ("stalled", |setup| {
        setup.only("random-read").workload.stop.time_ns = Some(2000 * MS);
        setup.profile.faults.stall = Some(StallParameters {
            every_ns: 400 * MS,
            for_ns: 50 * MS,
        });
    }),
    ("warm-up", |setup| {
        setup.only("random-read");
        setup.profile.faults.throttle = Some(credit(2000, 4000, 500));
    }),
    ("change-point", |setup| {
        // The credits are used up after half of the trials.
        setup.only("random-read");
        setup.plan.trials = 10;
        setup.profile.faults.throttle = Some(credit(2000, 4000, 3000));
    }),
    ("drift", |setup| {
        // Each stretch of the disk is slower than the one before it.
        *setup = Setup::on("hdd-7200-1tb");
        setup.only("sequential-read").workload.stop = Stop {
            bytes: Some(512 * MIB),
            ..Stop::default()
        };
        setup.profile.faults.slow_zones = (0..64)
            .map(|zone| SlowZone {
                extent: Extent {
                    start: zone * 8 * MIB,
                    end: (zone + 1) * 8 * MIB,
                },
                time_percent: 102 + 2 * zone,
            })
            .collect();
    }),
    ("several-modes", |setup| {
        // Hot in less than a second, and cool again in more than one.
        setup.only("sequential-read").workload.stop.time_ns = Some(16_000 * MS);
        setup.profile.faults.throttle = Some(ThrottleParameters::Heat(HeatParameters {
            cools_bytes_per_s: 250_000_000,
            limit: 400_000_000,
            resume: 200_000_000,
            throttled_bytes_per_s: 100_000_000,
        }));
    }),
    ("too-noisy", |setup| {
        // Another machine on the same disk: this host cannot see it.
        setup.only("random-read");
        setup.profile.faults.neighbour = Some(NeighbourParameters {
            every_ns: 50 * MS,
            len: 6 * MIB,
            writes: false,
            extent: Extent { start: 0, end: 0 },
        });
    }),
    ("beside-ended", |setup| {
        // The block that the other reads cannot be read.
        let beside = Workload {
            pattern: Pattern::Sequential,
            offset: 1 << 30,
            span: Some(4 * KIB),
            ..Workload::default()
        };
        setup.only("random-read").workload.span = Some(512 * MIB);
        setup.stage("random-read").workload.beside = Some(Box::new(beside));
        setup.profile.faults.weak_sectors = vec![WeakSector {
            offset: 1 << 30,
            retries: 2,
            readable: false,
        }];
    }),
    ("disturbed", |setup| {
        *setup = Setup::on("hdd-7200-1tb");
        let (reader, far) = readers(setup);
        let mut beside = reader.clone();
        beside.name = "disturbed".into();
        beside.workload.beside = Some(Box::new(far));
        setup.plan.stages = vec![reader, beside];
    }),
    ("io-context", |setup| {
        *setup = Setup::on("hdd-7200-1tb");
        let mut host = HostParameters::linux();
        host.block.scheduler = Scheduler::cfq();
        setup.profile.host = Some(host);
        let (reader, far) = readers(setup);
        setup.plan.stages = [IoContext::Shared, IoContext::Separate]
            .into_iter()
            .map(|io_context| {
                let mut stage = reader.clone();
                stage.name = format!("{io_context:?}").to_lowercase();
                stage.workload.beside = Some(Box::new(far.clone()));
                stage.workload.pool = Some(Pool {
                    threads: 5,
                    io_context,
                });
                stage
            })
            .collect();
    }),
    ("unfair-streams", |setup| {
        // Every sector of the second one's part takes several tries.
        let workload = &mut setup.only("random-read").workload;
        workload.pattern = Pattern::Sequential;
        workload.queue_depth = 1;
        workload.streams = 2;
        workload.span = Some(256 * KIB);
        setup.profile.faults.weak_sectors = (0..32)
            .map(|block| WeakSector {
                offset: 128 * KIB + block * 4 * KIB,
                retries: 20,
                readable: true,
            })
            .collect();
    }),
    ("too-short", |setup| {
        setup.only("random-read").workload.stop.time_ns = Some(50 * MS);
    }),
    ("too-few-trials", |setup| setup.plan.trials = 2),
    ("clock", |setup| setup.plant.clock_ppm = 1000),
    ("cpu-pressure", |setup| {
        setup.plant.processor = Some(Processor {
            waited: 0.3,
            ..Processor::default()
        });
    }),
    ("cpu-stolen", |setup| {
        // Of one processor, however many this machine has.
        let cpus = diskfacts_host::machine(&diskfacts_host::Roots::default()).cpus;
        setup.plant.processor = Some(Processor {
            stolen: 0.1 * f64::from(cpus),
            ..Processor::default()
        });
    }),
    ("not-durable", |setup| {
        *setup = Setup::on("hdd-7200-sync");
        let workload = &mut setup.only("log-write").workload;
        workload.stop.time_ns = Some(2000 * MS);
        workload.sync = SyncMode::None;
    }),
];

/// A stage that reads in order through an emptied page cache, and a reader at the
/// far end of the disk.
fn readers(setup: &mut Setup) -> (Stage, Workload) {
    let stop = Stop {
        bytes: Some(512 * MIB),
        ..Stop::default()
    };
    let workload = Workload {
        pattern: Pattern::Sequential,
        block_size: 64 * KIB,
        cache: CacheMode::Cold,
        ..Workload::default()
    };
    let mut reader = setup.only("random-read").clone();
    reader.name = "alone".into();
    reader.workload = Workload {
        stop,
        span: Some(1 << 30),
        ..workload.clone()
    };
    let far = Workload {
        offset: 900 << 30,
        ..workload
    };
    (reader, far)
}

/// A volume that does `burst` operations a second for the first `bucket`, and
/// `base` after that.
fn credit(base: u64, burst: u64, bucket: u64) -> ThrottleParameters {
    ThrottleParameters::Credit(CreditParameters {
        base_iops: base,
        burst_iops: burst,
        bucket,
        io_unit: 256 * KIB,
        bytes_per_s: 1 << 40,
    })
}
