//! The workload asked for so many operations a second, and got them: the figure is
//! what was asked, and says nothing of what the target can do.

use super::prelude::*;
use crate::figures::without_histograms;
use crate::open_loop::OpenLoop;

pub(super) const LIMITER: Limiter = Limiter {
    name: "offered-load",
    find: rate_was_kept,
    ..Limiter::ANY
};

fn rate_was_kept(facts: &StageFacts<'_>) -> Option<Candidate> {
    let open = OpenLoop::of(facts.stage).filter(OpenLoop::kept)?;
    let [asked, done] = [open.asked, open.done].map(rate_digits);
    let kept = percent(open.done / open.asked);
    let kept = format!("{asked} operations a second were asked for, {done} were done: {kept}.");
    // From submission to completion.
    let latencies = facts.trials().iter();
    let latencies = latencies.map(|trial| trial.latency_service_ns.unwrap_or(trial.latency_ns));
    let mean_ns = without_histograms(latencies).and_then(|all| all.mean);
    let each = mean_ns.filter(|ns| ns.is_finite()).map(|ns| {
        format!(
            "Each took {}: {done} a second times that is {:.2} in flight on average, of {} allowed.",
            duration(ns),
            open.done * ns / 1e9,
            facts.workload().outstanding()
        )
    });
    let claim = format!(
        "The rate is what was asked for, {asked} operations a second, and it was kept: the target \
         may be able to do more."
    );
    let found = Candidate::new(Standing::NotTheDevice, 1.0, Certain, claim)
        .evidence([kept])
        .evidence(each)
        .settled_by(facts.stages().and("closed-loop", |_| ()));
    Some(found)
}
