//! Times in the middle of the trials of a stage in which nothing was completed.

use super::StageFacts;
use crate::blocked::Looks;
use crate::prelude::{WORTH_A_WORD, count, show_duration};
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
    /// The trials that have any.
    trials: Vec<&'a Trial>,
    /// The trial that has the longest.
    worst: &'a Trial,
}

impl<'a> StageStalls<'a> {
    /// `None` where there was none.
    pub(crate) fn of(facts: &StageFacts<'a>) -> Option<Self> {
        let turns = facts.context.turning().next().is_some();
        let shortest_ns = if turns { TURN_NS } else { 0 };
        let mut all = Stalls::default();
        let (mut trials, mut worst) = (Vec::new(), None);
        for trial in facts.trials() {
            let here = Stalls::of(trial, shortest_ns);
            if here.number > 0 {
                trials.push(*trial);
            }
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
        let (stalls, trials) = (
            count(all.number, "stall"),
            count(trials.len() as u64, "trial"),
        );
        let intervals = count(all.longest_ns / grid_ns, "interval");
        let [total, longest, grid] = [all.total_ns, all.longest_ns, grid_ns].map(show_duration);
        format!(
            "{stalls} in {trials}, {total} in all; stalled for {longest} in trial {}, {intervals} of \
             {grid} in a row without a completion{slowest}.",
            worst.number
        )
    }
}

/// Where the operations were meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    /// The process that measures did not run.
    Stopped,
    /// In front of the device.
    Before,
    /// At the device, as far as is seen.
    There,
}

impl Held {
    /// Who held them, in words.
    pub(crate) fn by(self) -> &'static str {
        match self {
            Self::Stopped => "diskfacts was stopped, or the whole machine was",
            Self::Before => {
                "operations were held in front of the device, blocked in the kernel or without a \
                 processor"
            }
            Self::There => "the device, its link or the host stalled",
        }
    }
}

impl StageStalls<'_> {
    /// What the stage waited for in its stalls: what makes up half of their time.
    pub(crate) fn held(&self, facts: &StageFacts<'_>) -> Held {
        if 2 * self.all.paused_ns >= self.all.total_ns {
            return Held::Stopped;
        }
        let is_stalled = |one: &Trial| self.trials.iter().any(|other| std::ptr::eq(*other, one));
        let others = facts.trials().iter().copied();
        let others: Vec<&Trial> = others.filter(|one| !is_stalled(one)).collect();
        let here = held_share(&self.trials);
        // What the other trials have of it too was not there because of a stall. Without any, as
        // much as a small machine always has explains nothing.
        let usual = held_share(&others);
        let seconds: f64 = self.trials.iter().map(|trial| trial.seconds).sum();
        let held_ns = (here - usual) * seconds * 1e9;
        if here >= WORTH_A_WORD && 2.0 * held_ns >= self.all.total_ns as f64 {
            Held::Before
        } else {
            Held::There
        }
    }
}

/// Share of the time for which the threads were blocked in front of their requests, as far as
/// somebody looked, or waited for a processor.
fn held_share(trials: &[&Trial]) -> f64 {
    let blocked = Looks::of(trials.iter().copied()).map_or(0.0, |looks| looks.share_of_all());
    let waited = ProcessorWait::of_trials(trials).map_or(0.0, |wait| wait.share);
    blocked + waited
}
