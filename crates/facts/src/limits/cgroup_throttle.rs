//! A limit of this process's control group on I/O, and the device was used exactly
//! at it (kernel, `block/blk-throttle.c`).

use super::prelude::*;
use crate::budget::USED;
use crate::stage_facts::io_limit::ReachedLimit;
use diskfacts_record::evidence::{IoLimit, LimitOf};

pub(super) const LIMITER: Limiter = Limiter {
    name: "cgroup-throttle",
    find: held_at_the_limit,
    ..Limiter::ANY
};

fn held_at_the_limit(facts: &StageFacts<'_>) -> Option<Candidate> {
    // A short trial is over before its first slice is used up: nothing waits.
    let reached = ReachedLimit::of(facts).filter(|reached| reached.held_back >= DETAIL)?;
    let ReachedLimit { limit, depth, .. } = reached;
    let (file, device, share) = (&limit.file, &limit.device, reached.held_back);
    let [allowed, counted] =
        [limit.per_s as f64, reached.counted_per_s].map(|per_s| amount(limit.of, per_s));
    let is_all = reached.of_limit() >= USED;
    let who = if is_all {
        "and that is what came"
    } else {
        "of which others have a part"
    };
    let claim = format!("A control group holds {device} to {allowed}, {who}.");
    let evidence = [
        format!(
            "{file} says for {device}: {}, which is {allowed}.",
            limit.per_s
        ),
        format!(
            "{device} counted {counted}: {} of the limit.",
            percent(reached.of_limit())
        ),
        format!(
            "{depth:.2} operations were in flight, {:.2} of them with the device: {} of their time \
             they were held back before it.",
            depth * (1.0 - share),
            percent(share)
        ),
    ];
    // It is at the limit: no part of the rate is anything else's.
    let found = Candidate::new(Standing::Cause, share, certain_if(is_all), claim);
    Some(found.evidence(evidence).remedy(lift(facts, limit)))
}

/// What a limit is on: its key in `io.max`, whether it is bytes, and how these are called.
fn key(of: LimitOf) -> (&'static str, bool, &'static str) {
    match of {
        LimitOf::ReadBytes => ("rbps", true, "read"),
        LimitOf::WriteBytes => ("wbps", true, "written"),
        LimitOf::Reads => ("riops", false, "reads"),
        LimitOf::Writes => ("wiops", false, "writes"),
    }
}

/// The limit, or what was counted, for people.
fn amount(of: LimitOf, per_s: f64) -> String {
    match key(of) {
        (_, true, what) => format!("{} {what}", show_throughput(per_s)),
        (_, false, what) => format!("{} {what} a second", rate_digits(per_s)),
    }
}

/// How to take the limit away.
fn lift(facts: &StageFacts<'_>, limit: &IoLimit) -> String {
    let file = &limit.file;
    if is_simulated(facts.run()) {
        return format!("Take the limit of {file} out of the simulated host.");
    }
    let device = facts.run().stack.device(&limit.device);
    let number = device.map(|device| format!("{}:{}", device.major, device.minor));
    let number = number.unwrap_or_else(|| "MAJOR:MINOR".to_owned());
    let value = if file.ends_with("io.max") {
        format!("{}=max", key(limit.of).0)
    } else {
        // Takes a limit of version 1 away.
        "0".to_owned()
    };
    format!(
        "Type `echo '{number} {value}' > {file}` as root, or measure from another control group; \
         where a service manager or a container runtime set it, change it there."
    )
}
