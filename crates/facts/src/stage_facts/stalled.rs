//! Times in the middle of the trials of a stage in which nothing was completed.

use super::StageFacts;
use crate::prelude::{count, show_duration};
use crate::processor_wait::ProcessorWait;
use crate::stalls::Stalls;
use diskfacts_record::Trial;

/// A disk that turns may need so long for an operation without anything being
/// wrong, nanoseconds: a stroke over all of it and a revolution or two at 5400 rpm.
/// Where read-ahead completes many operations at once, that is an empty interval.
const TURN_NS: u64 = 40_000_000;

/// Stalls of one stage.
#[derive(Debug, Clone)]
pub(crate) struct StageStalls<'a> {
    /// Those of all its trials.
    pub(crate) all: Stalls,
    /// How many trials have any.
    trials: u64,
    /// The trial that has the longest.
    worst: &'a Trial,
}

impl<'a> StageStalls<'a> {
    /// `None` where there was none.
    pub(crate) fn of(facts: &StageFacts<'a>) -> Option<Self> {
        let turns = facts.context.turning().next().is_some();
        let shortest_ns = if turns { TURN_NS } else { 0 };
        let mut all = Stalls::default();
        let (mut trials, mut worst) = (0, None);
        for trial in facts.trials() {
            let here = Stalls::of(trial, shortest_ns);
            trials += u64::from(here.number > 0);
            if here.longest_ns > all.longest_ns {
                worst = Some(*trial);
            }
            all = all.and(&here);
        }
        worst.map(|worst| Self { all, trials, worst })
    }

    /// How many and how long, a sentence.
    pub(crate) fn said(&self, facts: &StageFacts<'_>) -> String {
        let Self { all, trials, worst } = self;
        let slowest = facts.trials().iter().filter_map(|t| t.latency_ns.max).max();
        let slowest = slowest.map(show_duration).map_or_else(String::new, |took| {
            format!("; the slowest operation took {took}")
        });
        let grid_ns = worst.evidence.intervals.length_ns.max(1);
        let (stalls, trials) = (count(all.number, "stall"), count(*trials, "trial"));
        let intervals = count(all.longest_ns / grid_ns, "interval");
        let [total, longest, grid] = [all.total_ns, all.longest_ns, grid_ns].map(show_duration);
        format!(
            "{stalls} in {trials}, {total} in all; stalled for {longest} in trial {}, {intervals} of \
             {grid} in a row without a completion{slowest}.",
            worst.number
        )
    }
}

/// Time for which the threads of a stage were blocked in front of their requests, as far as
/// somebody looked, or waited for a processor, nanoseconds.
pub(crate) fn held_ns(facts: &StageFacts<'_>) -> f64 {
    let blocked = facts.looks().map_or(0.0, |looks| looks.share_of_all());
    let waited = ProcessorWait::of(facts.stage).map_or(0.0, |wait| wait.share);
    (blocked + waited) * facts.seconds() * 1e9
}
