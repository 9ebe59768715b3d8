//! What limited a stage, where that is known: each limiter is named first for a
//! simulated disk on which its cause was planted, by the path that a real measurement
//! takes.

use super::setup::Setup;
use crate::args::Cli;
use diskfacts_disk::defects::{SlowZone, WeakSector};
use diskfacts_disk::device::Extent;
use diskfacts_disk::faults::neighbour::NeighbourParameters;
use diskfacts_disk::faults::stall::StallParameters;
use diskfacts_disk::faults::throttle::{CreditParameters, HeatParameters, ThrottleParameters};
use diskfacts_disk::profile::{Drive, profiles};
use diskfacts_facts::limits;
use diskfacts_plan::{Operation, Pattern, Stage, SyncMode, file};
use diskfacts_record::{Confidence, Limit, Run};

const MS: u64 = 1_000_000;
const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// A limiter, the stage that it is to be first for, and what is planted.
pub(super) type Case = (&'static str, &'static str, fn() -> Setup);

const CASES: &[Case] = &[
    ("media-rate", "sequential-read", || {
        Setup::on("hdd-7200-1tb")
    }),
    // At 256 KiB an arm that moved would be slower than the platter that turns on: the disk
    // reads all that passes by. Farther apart the arm moves, and the place has to come round.
    ("media-rate", "stride", || strided(64, true)),
    ("rotation", "stride", || strided(1024, false)),
    ("rotation", "log-write", || Setup::on("hdd-7200-sync")),
    ("seek", "random-read", || Setup::on("hdd-20tb-cmr")),
    ("positioning", "random-read-qd8", || {
        Setup::on("hdd-20tb-cmr")
    }),
    ("one-at-a-time", "random-read", || {
        Setup::on("nvme-consumer")
    }),
    ("device-parallelism", "random-read-qd64", || {
        let mut setup = Setup::on("ssd-sata");
        let mut deep = setup.stage("random-read-qd8").clone();
        deep.name = "random-read-qd64".into();
        deep.workload.queue_depth = 64;
        setup.plan.stages.push(deep);
        setup
    }),
    ("interface", "sequential-read", || Setup::on("ssd-sata")),
    ("media-rate", "sequential-read", || {
        // Flash behind a link that is faster than it.
        let mut setup = Setup::on("ssd-sata");
        ssd(&mut setup).link_bytes_per_s = 4_000_000_000;
        setup
    }),
    ("flush-per-write", "log-write", || Setup::on("ssd-sata")),
    ("write-cache-off", "log-write", || {
        let mut setup = Setup::on("hdd-7200-sync");
        hdd(&mut setup).write_cache.enabled = false;
        setup.only("log-write").workload.sync = SyncMode::None;
        setup
    }),
    ("write-cache", "random-write", || {
        let mut setup = Setup::on("hdd-20tb-cmr");
        // Less than it holds.
        let workload = &mut writes(&mut setup).workload;
        workload.queue_depth = 1;
        (workload.stop.time_ns, workload.stop.operations) = (None, Some(1000));
        setup
    }),
    ("garbage-collection", "random-write", || {
        let mut setup = Setup::on("ssd-sata");
        let stage = writes(&mut setup);
        stage.workload.stop.time_ns = Some(1500 * MS);
        setup
    }),
    ("thermal-throttle", "sequential-read", || {
        let mut setup = Setup::on("nvme-consumer");
        let workload = &mut setup.only("sequential-read").workload;
        workload.block_size = MIB;
        workload.queue_depth = 8;
        workload.stop.time_ns = Some(1000 * MS);
        setup.profile.faults.throttle = Some(ThrottleParameters::Heat(HeatParameters {
            cools_bytes_per_s: 1_500_000_000,
            limit: 8 * GIB,
            resume: GIB,
            throttled_bytes_per_s: 1_600_000_000,
        }));
        setup
    }),
    // Of a disk that turns no cache has what is read anywhere.
    ("credit-throttle", "random-read-qd8", || {
        let mut setup = Setup::on("hdd-7200-1tb");
        setup.profile.faults.throttle = Some(credit(30, 120, 1000));
        setup
    }),
    ("credit-throttle", "random-read-qd8", || {
        let mut setup = Setup::on("cloud-credit");
        setup.only("random-read-qd8").workload.stop.time_ns = Some(2000 * MS);
        setup.profile.faults.throttle = Some(credit(400, 2600, 3000));
        setup
    }),
    ("raid-small-write", "random-write", || {
        let mut setup = Setup::on("raid6x8");
        writes(&mut setup);
        setup
    }),
    ("alignment", "log-write", || {
        // Seed 004's disk: no write covers whole sectors.
        let mut setup = Setup::on("hdd-10k");
        setup.only("log-write").workload.sync = SyncMode::Fdatasync;
        hdd(&mut setup).write_cache.enabled = false;
        setup
    }),
    ("zone", "inner", || {
        let mut setup = Setup::on("hdd-7200-sync");
        let outer = setup.only("sequential-read").clone();
        let mut inner = outer.clone();
        inner.name = "inner".into();
        inner.workload.offset = 900 * GIB;
        setup.plan.stages = vec![outer, inner];
        setup
    }),
    ("network", "random-read", || Setup::on("cloud-credit")),
    ("retries", "sequential-read", || {
        let mut setup = Setup::on("hdd-7200-1tb");
        let workload = &mut setup.only("sequential-read").workload;
        workload.span = Some(256 * MIB);
        workload.queue_depth = 1;
        let at = [7, 19, 23, 60, 61, 88, 120, 171, 200, 233];
        setup.profile.faults.weak_sectors = at
            .into_iter()
            .map(|mib| WeakSector {
                offset: mib * MIB,
                retries: 30,
                readable: true,
            })
            .collect();
        setup
    }),
    ("slow-requests", "random-read", || {
        let mut setup = Setup::on("ssd-sata");
        let workload = &mut setup.only("random-read").workload;
        workload.span = Some(GIB);
        workload.stop.time_ns = Some(1000 * MS);
        setup.profile.faults.slow_zones = vec![SlowZone {
            extent: Extent {
                start: 512 * MIB,
                end: 552 * MIB,
            },
            time_percent: 20_000,
        }];
        setup
    }),
    ("stall", "random-read", || {
        let mut setup = Setup::on("ssd-sata");
        setup.only("random-read").workload.stop.time_ns = Some(2000 * MS);
        setup.profile.faults.stall = Some(StallParameters {
            every_ns: 300 * MS,
            for_ns: 160 * MS,
        });
        setup
    }),
];

fn hdd(setup: &mut Setup) -> &mut diskfacts_disk::hdd::HddParameters {
    match &mut setup.profile.drive {
        Drive::Hdd(parameters) => parameters,
        Drive::Ssd(_) => panic!("{} turns", setup.profile.name),
    }
}

fn ssd(setup: &mut Setup) -> &mut diskfacts_disk::ssd::SsdParameters {
    match &mut setup.profile.drive {
        Drive::Ssd(parameters) => parameters,
        Drive::Hdd(_) => panic!("{} is no flash", setup.profile.name),
    }
}

/// Leaves random writes of 4 KiB with 8 in flight, and the reads to compare with.
fn writes(setup: &mut Setup) -> &mut Stage {
    let mut write = setup.stage("random-read-qd8").clone();
    write.name = "random-write".into();
    write.workload.operation = Operation::Write;
    setup
        .plan
        .stages
        .retain(|stage| stage.name == "random-read-qd8");
    setup.plan.stages.push(write);
    setup.stage("random-write")
}

/// One block of 4 KiB of so many, beside a stage in order that shows the rate of the medium.
fn strided(skip_blocks: u64, fixed: bool) -> Setup {
    let mut setup = Setup::on("hdd-7200-1tb");
    let mut stride = setup.only("sequential-read").clone();
    stride.name = "stride".into();
    let workload = &mut stride.workload;
    (workload.block_size, workload.queue_depth) = (4 * KIB, 1);
    workload.pattern = Pattern::Stride {
        skip_blocks,
        fixed,
        from_start: true,
    };
    setup.plan.stages.push(stride);
    setup
}

fn credit(base: u64, burst: u64, bucket: u64) -> ThrottleParameters {
    ThrottleParameters::Credit(CreditParameters {
        base_iops: base,
        burst_iops: burst,
        bucket,
        io_unit: 256 * KIB,
        bytes_per_s: 1 << 40,
    })
}

pub(super) fn of_stage<'a>(run: &'a Run, stage: &str) -> &'a [Limit] {
    let found = run.limits.iter().find(|limits| limits.stage == stage);
    &found.expect("a stage of the run").limits
}

pub(super) fn show(limits: &[Limit]) -> String {
    let lines = limits.iter().map(|limit| {
        format!(
            "  {} ({:?}, {:?}): {}\n      {}\n",
            limit.limiter,
            limit.share,
            limit.confidence,
            limit.claim,
            limit.evidence.join("\n      ")
        )
    });
    lines.collect()
}

/// Of each case the limiter is the first that is named of the stage.
///
/// # Panics
/// With all those of which it is not.
pub(super) fn named_first(cases: &[Case]) {
    let mut wrong = Vec::new();
    for (limiter, stage, plant) in cases {
        let run = plant().run();
        check_limits(&run);
        let limits = of_stage(&run, stage);
        if limits.first().is_none_or(|first| first.limiter != *limiter) {
            let name = &run.target.given;
            wrong.push(format!(
                "planted {limiter} on {name} {stage}:\n{}",
                show(limits)
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_planted_cause_is_named_first() {
    named_first(CASES);
}

/// Limits are sentences with figures, shares are shares, plans parse, and commands are
/// ones that the program takes.
pub(super) fn check_limits(run: &Run) {
    // As a user would have typed it: the command of a test is another.
    let mut typed = run.clone();
    typed.run.command = ["diskfacts", "measure", &run.target.given]
        .map(str::to_owned)
        .into();
    for limits in &limits(&typed) {
        for limit in &limits.limits {
            let said = [
                &limit.claim,
                &limit.refuted_by,
                &limit.remedy,
                &limit.experiment.question,
            ];
            for sentence in said.into_iter().chain(&limit.evidence) {
                assert!(sentence.ends_with('.'), "{limit:#?}");
                assert!(
                    !sentence.contains("NaN") && !sentence.contains(".."),
                    "{limit:#?}"
                );
            }
            assert!(!limit.evidence.is_empty(), "{limit:#?}");
            assert!(limit.share.is_none_or(|share| (0.0..=1.0).contains(&share)));
            check_experiment(limit);
        }
    }
}

fn check_experiment(limit: &Limit) {
    let experiment = &limit.experiment;
    let words = experiment
        .command
        .split_whitespace()
        .map(Into::into)
        .collect();
    let Ok(cli) = Cli::read(words) else {
        panic!("the program does not take `{}`", experiment.command);
    };
    let Some(crate::args::Command::Measure(args)) = cli.command else {
        panic!("`{}` measures nothing", experiment.command);
    };
    if let Some(text) = &experiment.plan {
        assert!(args.plan.strip_suffix(".toml").is_some(), "{experiment:#?}");
        let plan = file::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(plan.problems(), [], "{text}");
    } else {
        let known = diskfacts_plan::builtin::text(&args.plan);
        assert!(known.is_some(), "{experiment:#?}");
    }
}

#[test]
fn every_limiter_of_the_storage_has_a_cause_that_is_planted() {
    // What changes a simulated disk's speed for good is heat or credit, which have names of
    // their own; a real device without one is among the situations. So is a slow member: those of
    // a simulated array are one device.
    const NAMELESS: [&str; 2] = ["changed-speed", "slow-member"];
    let planted: Vec<&str> = CASES.iter().map(|(limiter, ..)| *limiter).collect();
    let named = |limiter: &&limits::Limiter| !NAMELESS.contains(&limiter.name);
    for limiter in limits::of_storage().iter().filter(named) {
        let times = planted.iter().filter(|name| **name == limiter.name).count();
        assert!(times > 0, "cases for {}", limiter.name);
    }
}

#[test]
fn what_else_keeps_a_disk_is_never_called_likely_to_be_its_arm_and_platter() {
    let positioning = |plant: fn(&mut Setup)| {
        let mut setup = Setup::on("hdd-20tb-cmr");
        setup.only("random-read-qd8");
        plant(&mut setup);
        let run = setup.run();
        let mut found = run.limits[0].limits.iter();
        let positioning = found.find(|limit| limit.limiter == "positioning");
        positioning.map(|limit| limit.confidence)
    };
    assert_eq!(positioning(|_| ()), Some(Confidence::Possible));
    // Somebody behind the device, whom no counter of this host shows: the same figures as a
    // slower arm.
    let neighbour = positioning(|setup| {
        setup.profile.faults.neighbour = Some(NeighbourParameters {
            every_ns: 12 * MS,
            len: 64 * KIB,
            writes: false,
            extent: Extent { start: 0, end: 0 },
        });
    });
    assert_eq!(neighbour, Some(Confidence::Possible));
    // What is known to have kept it leaves no room.
    let stall = positioning(|setup| {
        setup.profile.faults.stall = Some(StallParameters {
            every_ns: 1000 * MS,
            for_ns: 600 * MS,
        });
    });
    assert_eq!(stall, None);
}

#[test]
fn what_limits_each_stage_of_a_disk_without_a_flaw_is_no_fault() {
    const FAULTS: [&str; 9] = [
        "changed-speed",
        "retries",
        "slow-requests",
        "slow-member",
        "stall",
        "thermal-throttle",
        "credit-throttle",
        "alignment",
        "write-cache-off",
    ];
    let mut wrong = Vec::new();
    for name in profiles() {
        let run = Setup::on(name).run();
        check_limits(&run);
        for limits in &run.limits {
            let first = limits.limits.first();
            let fault = first.filter(|first| FAULTS.contains(&first.limiter.as_str()));
            // The cloud's volume is limited, and the seed's partition is off.
            let is_so = matches!(name, "cloud-credit" | "hdd-10k");
            if fault.is_some() && !is_so {
                wrong.push(format!(
                    "{name} {}:\n{}",
                    limits.stage,
                    show(&limits.limits)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
