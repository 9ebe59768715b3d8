//! Where the mean latency of a stage's operations went, divided into parts that do not
//! overlap and add up to it.
//!
//! The block layer's share is taken from its trace events, and from the counters of the
//! devices in trials that were not followed. These cannot tell the scheduler from the device,
//! so their time is divided as in the trials that were.
//! The thread's share is the kernel's account of it. How the two lie behind each other
//! depends on the way of the operation ([`divide`]); what none of them covers is called
//! what it must be where only one thing can fill it, and unexplained elsewhere. Without
//! what is asleep in it a latency is never divided by a model of the device.

mod calls;
mod divide;
mod own;
mod requests;

use crate::stages::Stage;
pub(crate) use calls::calls_of_data;
use diskfacts_record::trial::Histograms;
use diskfacts_record::{Budget, BudgetPart, Run, SlowestBudget, Spent};
use divide::Division;
pub(crate) use divide::{HELD_BACK, PART, USED};
use requests::Requests;

/// Share of the operations that are the slowest ones.
const SLOWEST: f64 = 0.01;

/// The budget of a stage; `None` of imports, of copies, which have two ends, and where no
/// latency is known.
pub(crate) fn of_stage(run: &Run, stage: &Stage<'_>) -> Option<Budget> {
    let workload = stage.workload();
    if !stage.is_sound() || stage.is_null() || workload.copy.is_some() {
        return None;
    }
    let followed: Vec<Option<Requests>> = stage
        .trials
        .iter()
        .map(|trial| Requests::followed(trial, &run.stack))
        .collect();
    // Following requests costs something, so not each trial is.
    let share = requests::queued_share(followed.iter().flatten());
    let slowest = of_slowest(run, stage, &followed);
    let is_any_followed = followed.iter().any(Option::is_some);
    let each = stage.trials.iter().zip(followed);
    let each = each.filter_map(|(trial, followed)| {
        let counted = || Some(Requests::counted(trial, &run.stack)?.split(share));
        let requests = followed.or_else(counted);
        // Where the devices do not count, those that were followed speak for all.
        let is_seen = requests.is_some() || !trial.evidence.devices.is_empty();
        (is_seen || !is_any_followed).then_some((trial, requests))
    });
    let divisions: Option<Vec<Division>> = each
        .map(|(trial, requests)| divide::trial(run, trial, requests))
        .collect();
    let (latency_ns, parts) = together(&divisions?)?;
    Some(Budget {
        latency_ns,
        parts,
        slowest,
    })
}

/// The budget of the slowest hundredth of the operations, of the trials whose requests were
/// followed: each by its own latencies, because a single stall is a good part of a hundredth.
fn of_slowest(
    run: &Run,
    stage: &Stage<'_>,
    followed: &[Option<Requests>],
) -> Option<SlowestBudget> {
    let each = stage.trials.iter().zip(followed);
    let divisions: Vec<Division> = each
        .filter_map(|(trial, followed)| {
            let requests = followed.as_ref()?;
            requests
                .slowest
                .map(drop)
                .or(requests.slowest_syncs.map(drop))?;
            let mut latencies = Histograms::default();
            trial.histograms.add_to(&mut latencies);
            let latencies = latencies.measured(&trial.workload);
            divide::slowest(run, trial, requests, latencies.mean_of_largest(SLOWEST)?)
        })
        .collect();
    let (latency_ns, parts) = together(&divisions)?;
    Some(SlowestBudget { latency_ns, parts })
}

/// The trials of a stage together, each for as much as it has operations: the latency, and
/// its parts.
fn together(divisions: &[Division]) -> Option<(f64, Vec<BudgetPart>)> {
    let samples: f64 = divisions.iter().map(|one| one.samples).sum();
    let mean = |of: &dyn Fn(&Division) -> f64| {
        divisions
            .iter()
            .map(|one| of(one) * one.samples)
            .sum::<f64>()
            / samples
    };
    let latency_ns = mean(&|one| one.latency_ns);
    let mut seen: Vec<(Spent, &'static str)> = divisions
        .iter()
        .flat_map(|one| one.parts.iter().map(|part| (part.0, part.2)))
        .collect();
    // Of several sources the first: that of the first trial that had the part.
    seen.sort_by_key(|(part, _)| *part);
    seen.dedup_by_key(|(part, _)| *part);
    let parts = seen.into_iter().map(|(part, source)| {
        let each = divisions.iter().map(|one| one.of(part));
        BudgetPart {
            part,
            mean_ns: mean(&|one| one.of(part)),
            range_ns: [
                each.clone().fold(f64::INFINITY, f64::min),
                each.fold(0.0, f64::max),
            ],
            source: source.to_owned(),
        }
    });
    latency_ns
        .is_finite()
        .then(|| (latency_ns, parts.collect()))
}

#[cfg(test)]
mod tests;
