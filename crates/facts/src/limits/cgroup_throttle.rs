//! A limit of this process's control group on I/O, and the device was used exactly
//! at it (kernel, `block/blk-throttle.c`).

use super::prelude::*;
use crate::budget::{HELD_BACK, PART, USED};
use crate::stage_facts::DeviceWork;
use diskfacts_record::evidence::{IoLimit, LimitOf};

pub(super) const LIMITER: Limiter = Limiter {
    name: "cgroup-throttle",
    find: held_at_the_limit,
    ..Limiter::ANY
};

/// Slices of 100 ms (`DFL_THROTL_SLICE`) whose whole budget may be used at once, that which a
/// trial begins in and that which it ends in, seconds: what it can have had beyond the rate.
const SLICE_S: f64 = 0.2;
/// What the counts of both may differ by for other reasons: clocks, others who are in
/// no group.
const OFF: f64 = 1.02;

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
pub(super) fn is_reached(facts: &StageFacts<'_>) -> bool {
    reached(facts).is_some()
}

fn reached<'a>(facts: &StageFacts<'a>) -> Option<Reached<'a>> {
    let trials = facts.trials();
    let limits = trials.first()?.evidence.io_limits.as_ref()?;
    let holds_in = |trial: &Trial, limit: &IoLimit| {
        let limits = trial.evidence.io_limits.as_ref();
        limits.is_some_and(|limits| limits.contains(limit))
    };
    limits
        .iter()
        .filter(|limit| trials.iter().all(|trial| holds_in(trial, limit)))
        .filter_map(|limit| {
            let seconds = facts.seconds();
            let work = facts.work_of(&limit.device)?;
            let amount = counted(&work, limit.of);
            // What is held back is not with the device yet: the kernel counts it
            // from when it lets it go.
            let share = 1.0 - (work.waited_s / seconds / facts.depth()).min(1.0);
            let per_s = limit.per_s as f64;
            let most = per_s * (seconds + trials.len() as f64 * SLICE_S) * OFF;
            let part = amount / (per_s * seconds);
            let is_used = part >= USED || (part >= PART && holds_back(facts));
            (is_used && amount <= most && share.is_finite()).then_some(Reached {
                limit,
                counted: amount / seconds,
                share,
            })
        })
        // Of several, the one that leaves least.
        .max_by(|a, b| {
            let part = |r: &Reached<'_>| r.counted / r.limit.per_s as f64;
            part(a).total_cmp(&part(b))
        })
}

/// Whether operations wait for most of their time in front of the devices at a limit.
fn holds_back(facts: &StageFacts<'_>) -> bool {
    let budget = facts.figures.budget.as_ref();
    budget.is_some_and(|budget| budget.mean_ns(Spent::Admission) >= HELD_BACK * budget.latency_ns)
}

/// What the device counted of that which a limit is on.
fn counted(work: &DeviceWork, of: LimitOf) -> f64 {
    match of {
        LimitOf::ReadBytes => work.read_bytes,
        LimitOf::WriteBytes => work.bytes - work.read_bytes,
        LimitOf::Reads => work.reads,
        LimitOf::Writes => work.requests - work.reads,
    }
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

fn held_at_the_limit(facts: &StageFacts<'_>) -> Option<Candidate> {
    // A short trial is over before its first slice is used up: nothing waits.
    let reached = reached(facts).filter(|reached| reached.share >= DETAIL)?;
    let Reached { limit, share, .. } = reached;
    let (file, device, per_s) = (&limit.file, &limit.device, limit.per_s as f64);
    let [allowed, counted] = [per_s, reached.counted].map(|per_s| amount(limit.of, per_s));
    let is_all = reached.counted >= USED * per_s;
    let who = if is_all {
        "and that is what came"
    } else {
        "of which others have a part"
    };
    let claim = format!("A control group holds {device} to {allowed}, {who}.");
    // It is at the limit: no part of the rate is anything else's.
    let limit_of = Candidate::new(Standing::Cause, share, certain_if(is_all), claim);
    let evidence = [
        format!(
            "{file} says for {device}: {}, which is {allowed}.",
            limit.per_s
        ),
        format!(
            "{device} counted {counted}: {} of the limit.",
            percent(reached.counted / per_s)
        ),
        format!(
            "{:.2} operations were in flight, {:.2} of them with the device: {} of their time \
             they were held back before it.",
            facts.depth(),
            facts.depth() * (1.0 - share),
            percent(share)
        ),
    ];
    Some(limit_of.evidence(evidence).remedy(lift(facts, limit)))
}

/// How to take the limit away.
fn lift(facts: &StageFacts<'_>, limit: &IoLimit) -> String {
    let file = &limit.file;
    if is_simulated(facts.run()) {
        return format!("Take the limit of {file} out of the simulated host.");
    }
    let device = facts.run().stack.device(&limit.device);
    let number = device.map_or_else(
        || "MAJOR:MINOR".to_owned(),
        |device| format!("{}:{}", device.major, device.minor),
    );
    let value = match limit.of {
        // 0 takes a limit of version 1 away.
        _ if !file.ends_with("io.max") => "0",
        LimitOf::ReadBytes => "rbps=max",
        LimitOf::WriteBytes => "wbps=max",
        LimitOf::Reads => "riops=max",
        LimitOf::Writes => "wiops=max",
    };
    format!(
        "Type `echo '{number} {value}' > {file}` as root, or measure from another control group; \
         where a service manager or a container runtime set it, change it there."
    )
}
