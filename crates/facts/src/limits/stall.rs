//! The device stood still for a part of the time.

use super::credit_throttle::cap;
use super::prelude::*;
use super::slow_requests;
use crate::stage_facts::gaps::Gaps;
use crate::stage_facts::io_limit;
use crate::stage_facts::stalled::{Held, StageStalls};
use crate::stage_facts::write_back::DirtyWaiting;
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

fn nothing_is_answered(facts: &StageFacts<'_>) -> Option<Candidate> {
    // A limit pays out its budget slice by slice, and holds back between. And the kernel lets
    // writers sleep for up to 200 ms at a time until enough is written back.
    unless(io_limit::is_reached(facts) || DirtyWaiting::of(facts).is_some())?;
    let gaps = Gaps::of(facts);
    let share = gaps.share();
    // One alone may be chance, unless a trial stood still for much of its time.
    let long = gaps.longest_s >= LONG * gaps.grid_s
        && facts.trials().iter().any(|t| Stalls::is_most_of(t));
    unless(gaps.number == 0 || (gaps.number < 2 && !long) || share < DETAIL)?;
    // What pays out a budget, or holds back until a timer, leaves the device idle between.
    unless(cap(facts).is_some_and(|cap| gaps.longest_s <= cap.window_s()))?;
    // What held operations in front of the device is what `stalled` names.
    unless(StageStalls::of(facts).is_some_and(|of| of.held(facts) != Held::There))?;
    // Silences in other work too are the device's; those of one stage may be its place.
    let elsewhere = Gaps::elsewhere(facts, DETAIL / 2.0);
    let regular = gaps.regular_s();
    let are_silences = || slow_requests::are_silences(facts, gaps.total_s);
    unless(regular.is_none() && elsewhere == 0 && are_silences())?;
    let [all, total, longest] = [gaps.seconds, gaps.total_s, gaps.longest_s].map(seconds);
    let of_time = percent(share);
    let silences = count(gaps.number as u64, "silence");
    let line = format!(
        "{silences} in {all}: {total} in all, {of_time} of the time, the longest {longest}."
    );
    let evenly =
        regular.map(|mean| format!("They come at equal distances, each {}.", seconds(mean)));
    let others = (elsewhere > 0).then(|| {
        let others = count(elsewhere, "other stage");
        format!("{others} of the run had silences too.")
    });
    let confidence = if regular.is_some() || elsewhere > 0 {
        Certain
    } else {
        Possible
    };
    let claim =
        format!("The device completed nothing for {of_time} of the time, up to {longest} at once.");
    let found = cause(share, confidence, claim)
        .evidence([line])
        .evidence(evenly)
        .evidence(others)
        .planted(facts.run(), "[faults.stall] and [faults.stuck]");
    Some(found)
}
