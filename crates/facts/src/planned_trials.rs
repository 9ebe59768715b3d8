//! Which of the trials of a plan were done, and which of them have a figure: a document may hold
//! lines without a rate, and a trial may end before its first operation does.

use crate::prelude::StageFacts;
use crate::stages::Stage;
use diskfacts_record::{Run, Trial};

/// The trials of a run against those of its plan.
#[derive(Debug, Default)]
pub(crate) struct PlannedTrials<'a> {
    /// Stages without a trial.
    pub(crate) missing: Vec<&'a str>,
    /// Stages with fewer than were planned, and how many they have.
    pub(crate) fewer: Vec<(&'a str, u64)>,
    /// Whether no stage is missing and as many rounds were done of each.
    pub(crate) are_even: bool,
}

impl<'a> PlannedTrials<'a> {
    /// Of a run.
    pub(crate) fn of(run: &'a Run) -> Self {
        let planned = u64::from(run.plan.trials);
        let mut all = Self::default();
        // Trials are done in rounds, and a short time makes fewer of them than the plan has.
        let mut rounds = u32::MAX;
        for stage in &run.plan.stages {
            let trials = run.trials.iter().filter(|t| t.stage == stage.name);
            let done = trials.clone().count() as u64;
            if done == 0 {
                all.missing.push(&stage.name);
            } else if done < planned {
                all.fewer.push((&stage.name, done));
            }
            rounds = rounds.min(trials.map(|t| t.number).max().unwrap_or(0));
        }
        if run.plan.stages.is_empty() {
            rounds = 0;
        }
        // A precision takes more trials of some stages than of others.
        let all_and_more = run.plan.until.is_adaptive() && u64::from(rounds) >= planned;
        let even = all_and_more || run.planned_trials().all(|t| t.number <= rounds);
        all.are_even = all.missing.is_empty() && even;
        all
    }
}

/// How many trials of a stage there are in which no operation completed, and none failed.
pub(crate) fn nothing_completed(stage: &Stage<'_>) -> usize {
    let trials = stage.all_trials();
    trials.filter(|t| t.errors == 0 && t.ops == 0).count()
}

/// The trials of a stage that have a rate which says nothing of a disk. What is not a number is
/// missing, and counts as no trial; operations on files move no bytes.
pub(crate) fn without_rate<'a>(facts: &StageFacts<'a>) -> Vec<&'a Trial> {
    // What watches disks sees them idle.
    let source = facts.run().run.source.as_ref();
    let watches = source.is_some_and(|source| source.format.starts_with("iostat"));
    // What failed is told by the errors.
    let tried = facts.trials().iter().filter(|trial| trial.errors == 0);
    // And where nothing was done, that is said.
    let tried = tried.filter(|trial| source.is_some() || trial.ops > 0);
    let empty = tried.filter(|trial| {
        let (bytes, operations) = (trial.throughput_bytes_per_s, trial.iops);
        let is_idle = bytes == 0.0 && operations == 0.0;
        let has_none = bytes == 0.0 && operations.is_nan();
        bytes < 0.0 || operations < 0.0 || has_none || is_idle && !watches
    });
    empty.copied().collect()
}
