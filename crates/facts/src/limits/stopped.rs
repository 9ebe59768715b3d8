//! The process that measures did not run: somebody stopped it, or the machine was paused.

use super::prelude::*;
use crate::pauses::Pauses;

pub(super) const LIMITER: Limiter = Limiter {
    name: "stopped",
    find: did_not_run,
    ..Limiter::ANY
};

/// Of a pause of the machine the hypervisor counts no less than this share as stolen, where it
/// counts at all.
const STOLEN: f64 = 0.5;

fn did_not_run(facts: &StageFacts<'_>) -> Option<Candidate> {
    let pauses = Pauses::of(facts.trials().iter().copied());
    let paused_s = pauses.total_ns as f64 / 1e9;
    // Of a document not even the time need be known.
    unless(pauses.number == 0 || paused_s < DETAIL * facts.seconds())?;
    let share = (paused_s / facts.seconds()).min(1.0);
    let stolen = facts.stage.known(|trial| trial.evidence.cpu_steal_ns);
    let by_machine = stolen.is_some_and(|ns| ns as f64 / 1e9 >= STOLEN * paused_s);
    let (who, remedy) = if by_machine {
        (
            "the hypervisor had its processors meanwhile",
            "The host is too full, migrates this machine or takes a snapshot of it: ask who runs \
             it, and measure again (`st` in `vmstat 1` is 0 then).",
        )
    } else {
        (
            "something stopped it",
            "Look for who does it: job control (Ctrl-Z), `kill -STOP`, a debugger or tracer, the \
             freezer of its control group (`cgroup.freeze`), a hypervisor that pauses the whole \
             machine for a snapshot or to move it. Then measure again.",
        )
    };
    let [total, longest] = [pauses.total_ns, pauses.longest_ns].map(show_duration);
    let counted = format!(
        "{} of 20 ms or more, {total} in all, the longest {longest}: a thread that waits for no \
         device and is woken each 10 ms was not woken, and the kernel counted no wait for a \
         processor.",
        count(pauses.number, "pause")
    );
    let stolen = stolen.map(|ns| {
        let stolen = show_duration(ns);
        format!("The hypervisor took {stolen} of processor time meanwhile (steal).")
    });
    let claim = format!(
        "diskfacts itself did not run for {} of the time, up to {longest} at once: {who}.",
        percent(share)
    );
    let found = cause(share, Certain, claim);
    Some(found.evidence([counted]).evidence(stolen).remedy(remedy))
}
