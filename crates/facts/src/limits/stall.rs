//! The device stood still for a part of the time.

use super::cap::Cap;
use super::prelude::*;
use super::{cgroup_throttle, dirty_throttling, slow_requests};
use crate::stage_facts::gaps::Gaps;
use crate::stalls::Stalls;

pub(super) const LIMITER: Limiter = Limiter {
    name: "stall",
    not_in: &[
        Spent::User,
        Spent::Kernel,
        Spent::Processor,
        Spent::Completion,
        Spent::Due,
        Spent::Dirty,
    ],
    // It waits while what runs beside it has its turn, as it was meant to.
    needs: &[Device, Closed, Alone],
    find: nothing_is_answered,
    ..Limiter::ANY
};

/// Intervals that a silence fills from which on its length is known to a third.
const LONG: f64 = 3.0;

/// Whether other work is of another kind or place, so that a weak place of this stage is
/// not what both have met.
fn is_elsewhere(facts: &StageFacts<'_>, other: &StageFacts<'_>) -> bool {
    let ends = |one: &StageFacts<'_>| {
        let (offset, span) = (one.workload().offset, one.workload().span);
        let rest = one.run().target.size_bytes.saturating_sub(offset);
        (offset, offset.saturating_add(span.unwrap_or(rest)))
    };
    let (mine, theirs) = (ends(facts), ends(other));
    other.only_writes() != facts.only_writes() || mine.1 <= theirs.0 || theirs.1 <= mine.0
}

fn nothing_is_answered(facts: &StageFacts<'_>) -> Option<Candidate> {
    // A limit pays out its budget slice by slice, and holds back between. And the kernel lets
    // writers sleep for up to 200 ms at a time until enough is written back.
    unless(cgroup_throttle::is_reached(facts) || dirty_throttling::is_waited_for(facts))?;
    let gaps = Gaps::of(facts);
    let share = gaps.share();
    // One alone may be chance, unless a trial stood still for much of its time.
    let long = gaps.longest_s >= LONG * gaps.grid_s
        && facts.trials().iter().any(|t| Stalls::is_most_of(t));
    unless(gaps.number == 0 || (gaps.number < 2 && !long) || share < DETAIL)?;
    // What pays out a budget, or holds back until a timer, leaves the device idle between.
    unless(Cap::of(facts).is_some_and(|cap| gaps.longest_s <= cap.window_s()))?;
    // Silences in other work too are the device's; those of one stage may be its place.
    let elsewhere = facts
        .others()
        .filter(|other| is_elsewhere(facts, other))
        .filter(|other| Gaps::of(other).share() >= DETAIL / 2.0);
    let elsewhere = elsewhere.count() as u64;
    let regular = gaps.regular_s();
    unless(regular.is_none() && elsewhere == 0 && slow_requests::are_silences(facts))?;
    let [all, total, longest] = [gaps.seconds, gaps.total_s, gaps.longest_s].map(seconds);
    let of_time = percent(share);
    let silences = count(gaps.number as u64, "silence");
    let evidence = [
        Some(format!(
            "{silences} in {all}: {total} in all, {of_time} of the time, the longest {longest}."
        )),
        regular.map(|mean| format!("They come at equal distances, each {}.", seconds(mean))),
        (elsewhere > 0).then(|| {
            let others = count(elsewhere, "other stage");
            format!("{others} of the run had silences too.")
        }),
    ];
    let confidence = if regular.is_some() || elsewhere > 0 {
        Certain
    } else {
        Possible
    };
    let claim =
        format!("The device completed nothing for {of_time} of the time, up to {longest} at once.");
    let found = cause(share, confidence, claim)
        .evidence(evidence.into_iter().flatten())
        .planted(facts.run(), "[faults.stall] and [faults.stuck]");
    Some(found)
}
