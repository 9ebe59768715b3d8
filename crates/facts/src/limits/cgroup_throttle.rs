//! A limit of this process's control group on I/O, and the device was used exactly
//! at it (kernel, `block/blk-throttle.c`).

use super::{Candidate, Standing, Subject};
use crate::simulated::is_simulated;
use crate::words::percent;
use diskfacts_plan::units::{rate_digits, show_throughput};
use diskfacts_record::evidence::{DeviceCounters, IoLimit, LimitOf};
use diskfacts_record::{Confidence, Spent};

pub(super) const NAME: &str = "cgroup-throttle";

/// Share of the operations' time in front of a device below which a limit that is reached
/// holds nothing back.
const HELD_LEAST: f64 = 0.05;

/// Share of the limit that the device must have counted: budget that is not asked
/// for in its slice is lost.
const USED: f64 = 0.9;
/// Slices of 100 ms (`DFL_THROTL_SLICE`) whose whole budget may be used at once, that which a
/// trial begins in and that which it ends in, seconds: what it can have had beyond the rate.
const SLICE_S: f64 = 0.2;
/// What the counts of both may differ by for other reasons: clocks, others who are in
/// no group.
const OFF: f64 = 1.02;

/// Share of the operations' time before they are with the device from which on a limit is
/// what holds them back though the stage does not come to it: others of the group have the
/// rest, or it is charged for twice (Linux 6.18 does so for devices that were used before).
const HELD_BACK: f64 = 0.5;
/// Share of the limit that the stage has then at least: a little less than the half of it that
/// is left where each operation is charged twice.
const PART: f64 = 0.45;

/// A limit that was reached.
struct Reached<'a> {
    limit: &'a IoLimit,
    /// So many per second, as the device counted.
    counted: f64,
    /// Share of the time of the operations that they were not with the device.
    share: f64,
}

/// Whether a limit of a control group is reached, so that what else is flat is so
/// because of it.
pub(super) fn is_reached(subject: &Subject<'_>) -> bool {
    reached(subject).is_some()
}

fn reached<'a>(subject: &Subject<'a>) -> Option<Reached<'a>> {
    let trials = subject.trials();
    let limits = trials.first()?.evidence.io_limits.as_ref()?;
    limits
        .iter()
        .filter(|limit| {
            // It holds for all the trials of the stage.
            trials.iter().all(|trial| {
                let others = trial.evidence.io_limits.as_ref();
                others.is_some_and(|others| others.contains(limit))
            })
        })
        .filter_map(|limit| {
            let (mut amount, mut in_flight_s, mut seconds) = (0.0, 0.0, 0.0);
            for trial in trials {
                let devices = &trial.evidence.devices;
                let device = devices.iter().find(|d| d.name == limit.device)?;
                amount += counted(device, limit.of);
                in_flight_s += (device.read_ms + device.write_ms) as f64 / 1e3;
                seconds += trial.seconds;
            }
            let counted = amount / seconds;
            // What is held back is not with the device yet: the kernel counts it
            // from when it lets it go.
            let share = 1.0 - (in_flight_s / seconds / subject.depth()).min(1.0);
            let per_s = limit.per_s as f64;
            let most = per_s * (seconds + trials.len() as f64 * SLICE_S) * OFF;
            let part = amount / (per_s * seconds);
            let is_used = part >= USED || (part >= PART && holds_back(subject));
            (is_used && amount <= most && share.is_finite()).then_some(Reached {
                limit,
                counted,
                share,
            })
        })
        // Of several, the one that leaves least.
        .max_by(|a, b| {
            let ratio = |r: &Reached<'_>| r.counted / r.limit.per_s as f64;
            ratio(a).total_cmp(&ratio(b))
        })
}

/// Whether operations wait for most of their time in front of the devices at a limit.
fn holds_back(subject: &Subject<'_>) -> bool {
    let budget = subject.figures.budget.as_ref();
    budget.is_some_and(|budget| budget.mean_ns(Spent::Admission) >= HELD_BACK * budget.latency_ns)
}

/// What the device counted of that which a limit is on.
fn counted(device: &DeviceCounters, of: LimitOf) -> f64 {
    let counted = match of {
        LimitOf::ReadBytes => device.read_bytes,
        LimitOf::WriteBytes => device.write_bytes,
        LimitOf::Reads => device.reads,
        LimitOf::Writes => device.writes,
    };
    counted as f64
}

/// The limit, or what was counted, for people.
fn amount(of: LimitOf, per_s: f64) -> String {
    match of {
        LimitOf::ReadBytes => format!("{} read", show_throughput(per_s)),
        LimitOf::WriteBytes => format!("{} written", show_throughput(per_s)),
        LimitOf::Reads => format!("{} reads a second", rate_digits(per_s)),
        LimitOf::Writes => format!("{} writes a second", rate_digits(per_s)),
    }
}

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let Reached {
        limit,
        counted,
        share,
    } = reached(subject)?;
    // A short trial is over before its first slice is used up: nothing waits.
    if share < HELD_LEAST {
        return None;
    }
    let per_s = limit.per_s as f64;
    let evidence = vec![
        format!(
            "{} says for {}: {}, which is {}.",
            limit.file,
            limit.device,
            limit.per_s,
            amount(limit.of, per_s)
        ),
        format!(
            "{} counted {}: {} of the limit.",
            limit.device,
            amount(limit.of, counted),
            percent(counted / per_s)
        ),
        format!(
            "{:.2} operations were in flight, {:.2} of them with the device: {} of their time \
             they were held back before it.",
            subject.depth(),
            subject.depth() * (1.0 - share),
            percent(share)
        ),
    ];
    let is_all = counted >= USED * per_s;
    let lift = lift(subject, limit);
    Some(Candidate {
        // It is at the limit: no part of the rate is anything else's.
        standing: Standing::Cause,
        claim: format!(
            "A control group holds {} to {}, {}.",
            limit.device,
            amount(limit.of, per_s),
            if is_all {
                "and that is what came"
            } else {
                "of which others have a part"
            }
        ),
        evidence,
        share: Some(share),
        confidence: if is_all {
            Confidence::Certain
        } else {
            Confidence::Likely
        },
        refuted_by: "The same rate after the limit was taken away.".into(),
        experiment: subject.again(
            "The same measurement from a group without the limit: a higher rate speaks for it, \
             the same rate against it.",
        ),
        remedy: lift,
    })
}

/// How to take the limit away.
fn lift(subject: &Subject<'_>, limit: &IoLimit) -> String {
    if is_simulated(subject.run()) {
        return format!(
            "Take the limit of {} out of the simulated host.",
            limit.file
        );
    }
    let device = subject.run().stack.device(&limit.device);
    let number = device.map_or_else(
        || "MAJOR:MINOR".to_owned(),
        |device| format!("{}:{}", device.major, device.minor),
    );
    let value = if limit.file.ends_with("io.max") {
        let key = match limit.of {
            LimitOf::ReadBytes => "rbps",
            LimitOf::WriteBytes => "wbps",
            LimitOf::Reads => "riops",
            LimitOf::Writes => "wiops",
        };
        format!("{number} {key}=max")
    } else {
        // 0 takes a limit of version 1 away.
        format!("{number} 0")
    };
    format!(
        "Type `echo '{value}' > {}` as root, or measure from another control group; where a \
         service manager or a container runtime set it, change it there.",
        limit.file
    )
}
