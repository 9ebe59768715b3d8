//! Whether an open loop kept the rate that was asked for.
//!
//! The number of operations over the time does not tell it: random arrivals are so many
//! only on average, and several streams end at different moments. What tells it is how far
//! behind its intended starts the loop was when it ended: a target that does four fifths
//! of the rate is behind by a fifth of the time, with any arrivals and any streams.

use crate::prelude::{StageFacts, duration, rate_digits};
use crate::stages::Stage;
use diskfacts_plan::Arrivals;

/// Share of the rate from which on it was kept. Below it the last of 100 operations waited
/// for longer than a distance between two.
pub(crate) const KEPT: f64 = 0.99;

/// Share of the distance between two operations of a stream by which each may begin late
/// without the next being later for it: a thread that is woken on a busy machine, and a
/// trial of few operations.
const WAKING: f64 = 0.5;

/// An open loop as it was asked for and as it was done, over all trials of a stage.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenLoop {
    /// Operations a second that were asked for.
    pub(crate) asked: f64,
    /// Operations a second that were done.
    pub(crate) done: f64,
    /// Share of its time for which it kept the rate, of 1.
    pub(crate) share: f64,
    /// How far behind it was at the end of a trial, on average, ns; `None` in runs that did
    /// not note it.
    pub(crate) behind_ns: Option<f64>,
}

impl OpenLoop {
    /// That of a stage; `None` for closed loops, and where it cannot be told.
    pub(crate) fn of(stage: &Stage<'_>) -> Option<Self> {
        let rate = stage.workload().rate?;
        let asked = rate.operations_per_s as f64;
        let seconds: f64 = stage.trials.iter().map(|trial| trial.seconds).sum();
        let done = stage.sum(|trial| trial.ops) as f64 / seconds;
        let behind = || stage.trials.iter().map(|t| t.evidence.engine.behind_ns);
        let distance_ns = f64::from(stage.workload().streams) * 1e9 / asked;
        // What begins late by less than that is not more late with every operation.
        let lost = behind().map(|ns| Some((ns? as f64 - WAKING * distance_ns).max(0.0)));
        let lost: Option<f64> = lost.sum();
        let behind: Option<u64> = behind().sum();
        let share = match lost {
            Some(ns) => 1.0 - ns / 1e9 / seconds,
            // Streams of runs that did not note it idled each to its own next arrival.
            None if stage.workload().streams > 1 => return None,
            None => {
                // The number of Poisson arrivals has a deviation of its square root; three
                // of these are chance.
                let chance = match rate.arrivals {
                    Arrivals::Fixed => 0.0,
                    Arrivals::Poisson => 3.0 / (asked * seconds).sqrt(),
                };
                done / asked + chance
            }
        };
        (share.is_finite() && done.is_finite()).then(|| Self {
            asked,
            done,
            share: share.clamp(0.0, 1.0),
            behind_ns: behind.map(|ns| ns as f64 / stage.trials.len() as f64),
        })
    }

    /// What was asked for and done, a sentence.
    pub(crate) fn said(&self) -> String {
        let behind = self.behind_ns.map(duration).map_or_else(String::new, |by| {
            format!("; at the end of a trial it was {by} behind its intended starts")
        });
        format!(
            "{} operations per second asked for, {} done{behind}.",
            rate_digits(self.asked),
            rate_digits(self.done)
        )
    }

    /// Whether the rate was kept.
    pub(crate) fn kept(&self) -> bool {
        self.share >= KEPT
    }
}

/// Latency from the intended start, and from submission, nanoseconds: the 99th percentile, or
/// where there are too few operations for one the median, and its name.
pub(crate) fn waited_and_served(facts: &StageFacts<'_>) -> Option<(&'static str, [u64; 2])> {
    let service = facts.stage.latencies()?.service?;
    let intended = &facts.figures.latency_ns;
    let both = [
        ("p99", intended.p99, service.supported_quantile(0.99)),
        ("the median", intended.p50, service.supported_quantile(0.5)),
    ];
    let mut both = both.into_iter();
    both.find_map(|(name, waited, served)| Some((name, [waited?, served?])))
}
