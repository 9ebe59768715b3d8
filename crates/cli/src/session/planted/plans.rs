//! The built-in plans on disks without a fault: nothing is blamed that the simulated disk
//! itself knows not to have been there, and no two explanations of a stage exclude each
//! other.

use super::setup::Setup;
use diskfacts_record::evidence::TimeParts;
use diskfacts_record::{Run, StageLimits, Trial};

/// A limiter, and the part of the operations' time that it speaks of.
type Part = (&'static str, fn(&TimeParts) -> u64);

const PARTS: &[Part] = &[
    ("stall", |t| t.stall_ns),
    ("retries", |t| t.retry_ns),
    ("thermal-throttle", |t| t.throttle_ns),
    ("credit-throttle", |t| t.throttle_ns),
    ("cgroup-throttle", |t| t.throttle_ns),
    // Where it cannot tell which, it says that it is the drive's own work.
    ("garbage-collection", |t| {
        t.collection_ns + t.cache_wait_ns + t.program_ns
    }),
    ("network", |t| t.network_ns),
];

/// Pairs of which one at most can be why a stage is no faster, and why.
const EXCLUSIONS: &[(&str, &str, &str)] = &[
    (
        "one-at-a-time",
        "device-parallelism",
        "a device with room for more is not full",
    ),
    (
        "interface",
        "media-rate",
        "one rate is that of the link or of what is behind it",
    ),
    (
        "network",
        "rotation",
        "the way there takes all the time, or the platter does",
    ),
    (
        "network",
        "seek",
        "the way there takes all the time, or the arm does",
    ),
    (
        "network",
        "media-rate",
        "a constant wait, or the time of the bytes",
    ),
    (
        "retries",
        "media-rate",
        "the platter streams, or goes round again",
    ),
    (
        "page-cache",
        "media-rate",
        "memory served it, or the medium did",
    ),
    ("page-cache", "seek", "memory served it, or the arm moved"),
    (
        "page-cache",
        "device-parallelism",
        "memory served it, or a device was full",
    ),
    (
        "cgroup-throttle",
        "device-parallelism",
        "what is held back in front of a device does not fill it",
    ),
];

/// Plans, and disks of which each has something that others have not.
const RUNS: &[(&str, &[&str])] = &[
    (
        "streams",
        &["hdd-7200-1tb", "hdd-7200-md-raid0x2", "ssd-sata", "raid6x8"],
    ),
    ("stride", &["hdd-10k", "nvme-consumer"]),
    ("write-matrix", &["hdd-7200-1tb", "nvme-datacenter"]),
    ("bonnie", &["san-entry", "ssd-raid1"]),
    ("zones", &["hdd-20tb-cmr"]),
    ("dd", &["hdd-7200-sync", "ssd-sata"]),
];

const TIME_NS: u64 = 60_000_000_000;

fn measured(plan: &str, profile: &str) -> Run {
    let mut setup = Setup::on(profile);
    setup.plan = diskfacts_plan::builtin::plan(plan).expect("it is built in");
    // A simulated disk has no folder for files.
    setup
        .plan
        .stages
        .retain(|stage| stage.workload.files.is_none());
    setup.time_ns = TIME_NS;
    setup.run()
}

fn trials<'a>(run: &'a Run, of: &'a StageLimits) -> impl Iterator<Item = &'a Trial> {
    let same = |trial: &&Trial| trial.stage == of.stage && trial.settings == of.settings;
    run.trials.iter().filter(same)
}

/// What is blamed in a stage without having been there.
fn blamed(run: &Run, stage: &StageLimits) -> Vec<String> {
    let mut wrong = Vec::new();
    for limit in &stage.limits {
        let Some((_, part)) = PARTS.iter().find(|(name, _)| *name == limit.limiter) else {
            continue;
        };
        let times = trials(run, stage).filter_map(|t| t.evidence.truth.as_ref()?.time);
        let (there, all) = times.fold((0, 0), |(there, all), time| {
            (there + part(&time), all + time.total_ns())
        });
        // Of what was there, a claim may be off by half.
        let share = limit.share.unwrap_or(0.0);
        if (there as f64) < 0.5 * share * all as f64 {
            let truth = there as f64 / all as f64;
            wrong.push(format!(
                "{}: {} (in truth {truth:.2})",
                limit.limiter, limit.claim
            ));
        }
    }
    wrong
}

fn excluded(stage: &StageLimits) -> Vec<String> {
    // Each may be so for a part of the time.
    let share = |name: &str| {
        let limit = stage.limits.iter().find(|limit| limit.limiter == name)?;
        Some(limit.share.unwrap_or(1.0))
    };
    // That a device is full accounts for all of the time that operations are there.
    let most = |name: &str| {
        if name == "device-parallelism" {
            1.5
        } else {
            1.05
        }
    };
    let both = |one: &str, other: &str| Some(share(one)? + share(other)?);
    EXCLUSIONS
        .iter()
        .filter(|(one, other, _)| both(one, other).is_some_and(|both| both > most(other)))
        .map(|(one, other, why)| format!("{one} and {other}: {why}"))
        .collect()
}

#[test]
fn the_plans_blame_nothing_that_is_not_there_and_do_not_contradict_themselves() {
    let mut wrong = Vec::new();
    let mut looked_at = 0;
    for (plan, profiles) in RUNS {
        for profile in *profiles {
            let run = measured(plan, profile);
            for stage in &run.limits {
                looked_at += stage.limits.len();
                let of_stage = blamed(&run, stage).into_iter().chain(excluded(stage));
                wrong.extend(of_stage.map(|what| {
                    format!(
                        "{plan} {profile} {} {:?}: {what}",
                        stage.stage, stage.settings
                    )
                }));
            }
        }
    }
    assert!(looked_at > 500, "{looked_at} claims");
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
