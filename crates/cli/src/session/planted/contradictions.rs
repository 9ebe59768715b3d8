//! What no run may say: of what was not there, and two statements of one stage of which
//! one at most can be.

use diskfacts_record::evidence::TimeParts;
use diskfacts_record::finding::Severity;
use diskfacts_record::{Confidence, Finding, Outcome, Run, StageLimits, Trial};

/// A limiter, and the part of the operations' time that it speaks of.
type Part = (&'static str, fn(&TimeParts) -> u64);

const PARTS: &[Part] = &[
    // A sector that is read again and again keeps the device from answering too, others as
    // well as the one that reads it.
    ("stall", |t| {
        // Who waits for room in memory waits for a device that is silent.
        let still = t.stall_ns + t.retry_ns + t.cache_wait_ns;
        if still > 0 { still + t.queue_ns } else { 0 }
    }),
    // From outside a device that is silent for a while may be reading a sector again.
    ("retries", |t| t.retry_ns + t.stall_ns),
    ("thermal-throttle", throttled),
    ("credit-throttle", throttled),
    ("cgroup-throttle", |t| t.throttle_ns),
    // Where it cannot tell which, it says that it is the drive's own work.
    ("garbage-collection", |t| {
        t.collection_ns + t.cache_wait_ns + t.program_ns
    }),
    ("network", |t| t.network_ns),
    // What waits in front of what the cache takes waits for the same.
    ("write-cache", |t| {
        let taken = t.overhead_ns + t.bus_ns + t.cache_wait_ns;
        if taken > 0 { taken + t.queue_ns } else { 0 }
    }),
];

/// What waits in front of what is held back waits for the same.
fn throttled(time: &TimeParts) -> u64 {
    if time.throttle_ns > 0 {
        time.throttle_ns + time.queue_ns
    } else {
        0
    }
}

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
        "write-cache",
        "media-rate",
        "what goes into a cache is not at the rate of the medium",
    ),
    (
        "write-cache",
        "write-cache-off",
        "a cache that is off takes nothing",
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
        "network",
        "positioning",
        "the way there takes all the time, or arm and platter do",
    ),
    (
        "positioning",
        "seek",
        "arm and platter are told apart, or not",
    ),
    (
        "positioning",
        "rotation",
        "arm and platter are told apart, or not",
    ),
    (
        "positioning",
        "media-rate",
        "operations wait for arm and platter, or it streams",
    ),
    (
        "retries",
        "media-rate",
        "the platter streams, or goes round again",
    ),
    (
        "cgroup-throttle",
        "device-parallelism",
        "what is held back in front of a device does not fill it",
    ),
    (
        "credit-throttle",
        "device-parallelism",
        "what a limit lets pass does not fill a device",
    ),
    (
        "device-queue",
        "device-parallelism",
        "what does not get to a device does not fill it",
    ),
    (
        "cpu-generator",
        "device-parallelism",
        "a device that is full leaves the processor time",
    ),
    (
        "cpu-kernel",
        "device-parallelism",
        "a device that is full leaves the processor time",
    ),
    (
        "write-cache-off",
        "media-rate",
        "each write waits for its place, or the medium streams",
    ),
    (
        "rotation",
        "media-rate",
        "operations wait for the platter, or it streams",
    ),
    (
        "seek",
        "media-rate",
        "operations wait for the arm, or the platter streams",
    ),
    (
        "thermal-throttle",
        "credit-throttle",
        "a drive holds itself back, or somebody in front of it does",
    ),
    (
        "offered-load",
        "device-parallelism",
        "what is asked for and done leaves the device room",
    ),
];

/// What a device does, which nothing waits for that memory serves.
const OF_DEVICES: [&str; 14] = [
    "media-rate",
    "rotation",
    "seek",
    "positioning",
    "device-parallelism",
    "interface",
    "flush-per-write",
    "write-cache-off",
    "garbage-collection",
    "thermal-throttle",
    "credit-throttle",
    "alignment",
    "zone",
    "retries",
];

/// What a rule finds in a stage, and limiters that it leaves no room for there, and why.
const FOUND: &[(&str, &[&str], &str)] = &[
    (
        "served-from-cache",
        &["media-rate", "interface", "zone", "device-parallelism"],
        "a rate is that of memory, or of the device",
    ),
    (
        "holes",
        &["media-rate", "zone", "seek", "rotation"],
        "no medium is asked for what was never written",
    ),
    (
        "cache-burst",
        &["media-rate", "write-cache-off", "zone"],
        "a write cache took it, or the medium did",
    ),
    (
        "warm-not-cached",
        &["page-cache"],
        "memory served it, or the device had to",
    ),
    (
        "cpu-bound",
        &["media-rate", "interface", "device-parallelism"],
        "a processor is the limit, or the device is",
    ),
    (
        "depth-not-reached",
        &["device-parallelism"],
        "what does not get to a device does not fill it",
    ),
    (
        "rate-missed",
        &["offered-load"],
        "the rate that was asked for was met, or was not",
    ),
    (
        "early-acknowledgement",
        &["write-cache-off"],
        "a cache answers for the medium, or it is off",
    ),
    (
        "not-durable",
        &["flush-per-write"],
        "no write waits for a flush where none is asked for",
    ),
    (
        "sync-without-flush",
        &["flush-per-write"],
        "no write waits for a flush that is not sent",
    ),
];

/// Findings of which each says that a stage is not what it seems, and how its figures then are:
/// better than what a use needs of a disk.
const FLATTERING: [&str; 7] = [
    "served-from-cache",
    "holes",
    "cache-burst",
    "direct-refused",
    "sync-without-flush",
    "flush-not-to-medium",
    "too-short",
];

/// Whether a finding is about a stage, or about all of them.
fn concerns(finding: &Finding, stage: &str) -> bool {
    finding.stages.is_empty() || finding.stages.iter().any(|name| name == stage)
}

/// What limits a stage, as is said, though what was found there leaves no room for it.
fn found_otherwise(run: &Run, stage: &StageLimits, least: Confidence) -> Vec<String> {
    // Of a stage with several settings a finding does not say which of them it is about.
    if !stage.settings.is_empty() {
        return Vec::new();
    }
    let said = |name: &str| {
        let mut limits = stage.limits.iter();
        limits.find(|limit| {
            // Each may be so for a part of the time.
            let share = limit.share.unwrap_or(1.0);
            limit.limiter == name && limit.confidence >= least && share > OFF
        })
    };
    // A note is of a part: what memory kept of a write, of which the device did the rest.
    let is_grave = |finding: &&Finding| finding.severity >= Severity::Warning;
    let here = run.findings.iter().filter(is_grave);
    let here = here.filter(|finding| concerns(finding, &stage.stage));
    let wrong = here.flat_map(|finding| {
        let rows = FOUND.iter().filter(|(rule, ..)| *rule == finding.rule);
        let pairs = rows.flat_map(|(_, limiters, why)| limiters.iter().map(move |l| (*l, *why)));
        pairs.filter_map(|(limiter, why)| {
            let limit = said(limiter)?;
            Some(format!(
                "{} and {limiter}: {why}: {} {}",
                finding.rule, finding.claim, limit.claim
            ))
        })
    });
    wrong.collect()
}

/// Verdicts that a disk is good enough, by stages of which it was found that they are not what
/// they seem.
pub(super) fn of_verdicts(run: &Run) -> Vec<String> {
    let passed = run.verdicts.iter().filter(|v| v.outcome == Outcome::Pass);
    let wrong = passed.flat_map(|verdict| {
        let stage = verdict.stage.as_deref().unwrap_or_default();
        let doubts = run.findings.iter().filter(move |finding| {
            let is_grave = finding.severity >= Severity::Warning;
            is_grave && FLATTERING.contains(&finding.rule.as_str()) && concerns(finding, stage)
        });
        doubts.map(move |finding| {
            let (profile, needed) = (&verdict.profile, &verdict.needed);
            format!(
                "{profile} passes by {stage}, {needed}, and {}: {}",
                finding.rule, finding.claim
            )
        })
    });
    wrong.collect()
}

fn trials<'a>(run: &'a Run, of: &'a StageLimits) -> impl Iterator<Item = &'a Trial> {
    let same = |trial: &&Trial| trial.stage == of.stage && trial.settings == of.settings;
    run.trials.iter().filter(same)
}

/// Part of what a claim says that has to have been there.
pub(super) const OFF: f64 = 0.5;

/// The part of the time of a stage that this limiter speaks of, where that is known.
pub(super) fn there(run: &Run, stage: &StageLimits, limiter: &str) -> Option<f64> {
    let (_, part) = PARTS.iter().find(|(name, _)| *name == limiter)?;
    let times = trials(run, stage).filter_map(|t| t.evidence.truth.as_ref()?.time);
    let (there, all) = times.fold((0, 0), |(there, all), time| {
        (there + part(&time), all + time.total_ns())
    });
    Some(there as f64 / all as f64)
}

/// What is blamed in a stage without having been there.
fn blamed(run: &Run, stage: &StageLimits, least: Confidence) -> Vec<String> {
    let mut wrong = Vec::new();
    for limit in stage
        .limits
        .iter()
        .filter(|limit| limit.confidence >= least)
    {
        let Some(truth) = there(run, stage, &limit.limiter) else {
            continue;
        };
        // Of what was there, a claim may be off by half.
        if truth < OFF * limit.share.unwrap_or(0.0) {
            wrong.push(format!(
                "{}: {} ({:?}, in truth {truth:.2})",
                limit.limiter, limit.claim, limit.confidence
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
    let of_memory = OF_DEVICES.iter().map(|of_device| {
        (
            "page-cache",
            *of_device,
            "memory served it, or a device did",
        )
    });
    EXCLUSIONS
        .iter()
        .copied()
        .chain(of_memory)
        .filter(|(one, other, _)| both(one, other).is_some_and(|both| both > most(other)))
        .map(|(one, other, why)| format!("{one} and {other}: {why}"))
        .collect()
}

/// What is wrong with all that is said of a run.
pub(super) fn of_run(run: &Run, least: Confidence) -> Vec<String> {
    let stages = run.limits.iter();
    stages
        .flat_map(|stage| {
            let wrong = of_stage(run, stage, least);
            wrong.map(|what| format!("{} {:?}: {what}", stage.stage, stage.settings))
        })
        .chain(of_verdicts(run))
        .collect()
}

/// What is wrong with what is said of a stage, as surely as this or more so: what is only
/// possible is one explanation among several, and says so.
pub(super) fn of_stage(
    run: &Run,
    stage: &StageLimits,
    least: Confidence,
) -> impl Iterator<Item = String> {
    blamed(run, stage, least)
        .into_iter()
        .chain(excluded(stage))
        .chain(found_otherwise(run, stage, least))
}
