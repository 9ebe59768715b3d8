//! What changed between two runs, or two sets of runs, as data.

mod fleet;

pub use fleet::{
    FleetComparison, FleetSide, HostChange, HostName, Moved, Mover, SlowHours, StageOfHosts,
    WithoutFigure,
};

use crate::unsaid;
use serde::{Deserialize, Serialize};

/// Two sides held against each other; see `docs/reference/json.md`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Version of this document, [`SCHEMA`](crate::SCHEMA).
    pub schema: u32,
    /// What all of it comes to, in a sentence or two with a number.
    pub summary: String,
    /// The side that is compared with: before, the reference.
    pub a: Side,
    /// The side that is compared: after, the new one.
    pub b: Side,
    /// What differs besides the figures, or is known of one side only.
    pub conditions: Vec<Condition>,
    /// Each stage that both sides have, in the order of `a`.
    pub stages: Vec<StageComparison>,
    /// Labels of the stages that only `a` has.
    pub only_in_a: Vec<String>,
    /// Labels of the stages that only `b` has.
    pub only_in_b: Vec<String>,
    /// The rates of all comparable stages together; absent without any.
    pub overall: Option<Overall>,
    /// How the errors of many tests were kept from adding up.
    pub correction: Correction,
    /// Share within which a difference counts as none, for `same`.
    pub same_within: f64,
    /// The conditions that were asked for, in their order.
    pub demands: Vec<Demand>,
    /// Of two groups of a fleet, whose hosts are compared each with itself; absent of runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetComparison>,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// As it was given.
    pub given: String,
    /// The runs that it is made of; none of a group of a fleet, whose files have them.
    pub runs: Vec<SideRun>,
}

/// A run of a side, in a few words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SideRun {
    /// Its id.
    pub id: String,
    /// When it began, RFC 3339, UTC.
    pub started: String,
    /// The target's real path, or the name of a simulated disk.
    pub target: String,
    /// Name of its plan.
    pub plan: String,
    /// Trials that take part.
    pub trials: u64,
}

/// A condition that is not the same on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    /// What it is, a few words: `kernel`, `scheduler of sda`.
    pub what: String,
    /// Its values in `a`, each once; empty where it is not known.
    pub a: Vec<String>,
    /// Its values in `b`.
    pub b: Vec<String>,
    /// Labels of the stages that it is of; empty for all of the run.
    pub stages: Vec<String>,
}

/// How one figure, or one stage, compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The whole interval of the difference lies within the share asked for.
    Same,
    /// `b` is better, by more than chance explains.
    Faster,
    /// `b` is worse, by more than chance explains.
    Slower,
    /// No difference was shown, and none was ruled out.
    Unclear,
    /// The figures are of different things.
    NotComparable,
}

/// What a difference is taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Each trial counts as one observation.
    Trial,
    /// Each run counts as one: what differs from run to run is in the interval.
    Run,
    /// Each host of a fleet counts as one, by the ratio of its two figures.
    Host,
}

/// A stage on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageComparison {
    /// Its label in `a`: name and settings.
    pub stage: String,
    /// Its label in `b`, where that is another.
    pub stage_b: Option<String>,
    /// How its speed compares.
    pub change: Change,
    /// The same in a sentence, with its numbers.
    pub statement: String,
    /// Why it cannot be compared, a sentence each; empty when it can.
    pub because: Vec<String>,
    /// The figure that is called its speed: throughput, operations per second,
    /// or the median latency where the rate was set. Absent when it cannot be
    /// compared.
    pub speed: Option<Difference>,
    /// Percentiles of the latency, as far as both sides support them.
    pub latency: Vec<Difference>,
}

/// Which figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Bytes per second.
    ThroughputBytesPerS,
    /// Operations per second.
    Iops,
    /// Median latency, nanoseconds.
    LatencyP50Ns,
    /// 90th percentile of the latency, nanoseconds.
    LatencyP90Ns,
    /// 99th percentile, nanoseconds.
    LatencyP99Ns,
    /// 99.9th percentile, nanoseconds.
    #[serde(rename = "latency_p99_9_ns")]
    LatencyP999Ns,
}

impl Measure {
    /// Whether more of it is better.
    pub fn more_is_better(self) -> bool {
        matches!(self, Self::ThroughputBytesPerS | Self::Iops)
    }

    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::ThroughputBytesPerS,
        Self::Iops,
        Self::LatencyP50Ns,
        Self::LatencyP90Ns,
        Self::LatencyP99Ns,
        Self::LatencyP999Ns,
    ];

    /// The word of it in documents and files.
    pub fn word(self) -> &'static str {
        match self {
            Self::ThroughputBytesPerS => "throughput_bytes_per_s",
            Self::Iops => "iops",
            Self::LatencyP50Ns => "latency_p50_ns",
            Self::LatencyP90Ns => "latency_p90_ns",
            Self::LatencyP99Ns => "latency_p99_ns",
            Self::LatencyP999Ns => "latency_p99_9_ns",
        }
    }

    /// The one that documents call so.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.word() == word)
    }
}

/// A figure on both sides, and how sure their difference is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Which figure.
    pub measure: Measure,
    /// Its value in `a`: the median of the trials, or the percentile of all
    /// operations of all trials.
    #[serde(deserialize_with = "unsaid::number")]
    pub a: f64,
    /// Its value in `b`.
    #[serde(deserialize_with = "unsaid::number")]
    pub b: f64,
    /// Observations of `a`: trials, or runs.
    pub count_a: u32,
    /// Observations of `b`.
    pub count_b: u32,
    /// What the observations are.
    pub unit: Unit,
    /// `b` over `a` less 1, by the centres of the observations: 0.05 is 5 % more.
    #[serde(deserialize_with = "unsaid::number")]
    pub change: f64,
    /// Interval of that; absent when no spread is known.
    pub interval: Option<[f64; 2]>,
    /// Confidence of the interval, 0.95 or more: the level at which Holm's
    /// procedure tested it. Absent with the interval.
    pub confidence: Option<f64>,
    /// Chance of such a difference or a larger one when there is none.
    pub p: Option<f64>,
    /// The same after Holm's correction for all that was tested beside it.
    pub p_adjusted: Option<f64>,
    /// How it compares.
    pub outcome: Change,
}

/// The rates of all comparable stages together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Overall {
    /// Stages that it is over.
    pub stages: u32,
    /// Geometric mean of the speeds of `b` over those of `a`, less 1.
    pub change: f64,
    /// Its 95 % interval; absent when no spread is known.
    pub interval: Option<[f64; 2]>,
    /// What the interval is over.
    pub over: Option<Spread>,
    /// Smallest ratio of a stage, less 1.
    pub least: f64,
    /// Largest ratio of a stage, less 1.
    pub most: f64,
}

/// Where the spread of an overall difference comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// From the trials or runs of each stage: how sure the mean of these stages
    /// is.
    Observations,
    /// From the stages alone, whose ratios differ: no stage has a spread of its
    /// own.
    Stages,
}

/// How the errors of many tests were kept from adding up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Correction {
    /// The procedure.
    pub method: String,
    /// Differences of speed that were tested.
    pub speeds: u32,
    /// Chance that any of them is called different though none differs.
    pub speeds_alpha: f64,
    /// Differences of latency percentiles that were tested.
    pub latencies: u32,
    /// The same chance for these.
    pub latencies_alpha: f64,
}

/// A condition that was asked for, with `--fail-if`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Demand {
    /// As it was given.
    pub given: String,
    /// Labels of the stages for which it holds.
    pub holds: Vec<String>,
    /// Number of stages for which it could be judged.
    pub judged: u32,
    /// Labels of the stages for which it could not be judged.
    pub unjudged: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_of_a_measure_is_that_of_the_document() {
        for measure in Measure::ALL {
            let word = serde_json::to_value(measure).unwrap();
            assert_eq!(word.as_str(), Some(measure.word()));
            assert_eq!(Measure::of_word(measure.word()), Some(measure));
        }
        assert_eq!(Measure::of_word("speed"), None);
    }
}
