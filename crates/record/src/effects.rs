//! What the settings that a stage was varied in do to its rate.

use crate::run::Figure;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Values by the name of their axis: a cell of a matrix, or a part of one.
pub type Settings = BTreeMap<String, String>;

/// What a matrix says: the cells of one stage, the effect of each axis, what pairs of
/// axes do together, and which settings are best.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageEffects {
    /// Name of the stage.
    pub stage: String,
    /// Which rate is meant.
    pub rate: RateOf,
    /// What was varied, by name.
    pub axes: Vec<Axis>,
    /// Every cell of the plan, and of the trials; in the order of the plan.
    pub cells: Vec<CellRate>,
    /// Standard deviation of the repeats of a cell as a share of its rate, over all
    /// cells; absent where no cell has two trials.
    pub noise: Option<f64>,
    /// What each axis does by itself; without those that could not be worked out.
    pub main_effects: Vec<MainEffect>,
    /// What pairs of axes do together; without those that could not be worked out.
    pub interactions: Vec<Interaction>,
    /// Which settings are best: over all conditions first, then under each. Empty where
    /// nothing is to be chosen.
    pub answers: Vec<Answer>,
    /// What could not be worked out, and why; a sentence each.
    pub unknown: Vec<String>,
}

/// A rate of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RateOf {
    /// Bytes per second.
    ThroughputBytesPerS,
    /// Operations per second, of stages that move no bytes.
    Iops,
}

/// Something that was varied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// Its name: `read_ahead_kb`.
    pub name: String,
    /// Its values, in the order of the plan.
    pub values: Vec<String>,
    /// Whether it is to be chosen (a setting of the kernel, or what the plan says in
    /// `choose`); else it is a condition under which the choice is made.
    pub choice: bool,
}

/// The rate of one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellRate {
    /// Which cell.
    pub settings: Settings,
    /// Its rate, over the trials that count; absent where there is none.
    pub rate: Option<Figure>,
    /// Whether its settings of the kernel are those that the run found in force; absent
    /// where that is not known, or no setting of the kernel was varied.
    pub in_force: Option<bool>,
    /// Why trials of this cell are missing; absent where none is.
    pub missing: Option<String>,
}

/// What the values of an axis do to the rate, averaged over the other axes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MainEffect {
    /// Name of the axis.
    pub axis: String,
    /// Each of its values.
    pub levels: Vec<Level>,
    /// The chance of differences as large when the axis does nothing, from 0 to 1;
    /// corrected for how many effects and interactions of the run were tested.
    pub p: f64,
    /// Whether it does something, beyond noise.
    pub beyond_noise: bool,
    /// Combinations of the other axes that it was averaged over.
    pub over: u64,
    /// Combinations that were left out, because a cell of theirs is missing.
    pub left_out: u64,
}

/// What one value of an axis does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// The value.
    pub value: String,
    /// Its rate over the mean of all values of the axis (geometric means).
    pub ratio: f64,
    /// 95 % interval of `ratio`.
    pub ci95: [f64; 2],
}

/// What two axes do together that they do not do alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Interaction {
    /// Names of the axes.
    pub axes: [String; 2],
    /// As [`MainEffect::p`].
    pub p: f64,
    /// Whether there is any, beyond noise.
    pub beyond_noise: bool,
    /// Where it is largest.
    pub largest: Together,
    /// As [`MainEffect::over`].
    pub over: u64,
    /// As [`MainEffect::left_out`].
    pub left_out: u64,
}

/// Two values that do more together, or less, than each alone says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Together {
    /// A value of each axis.
    pub values: [String; 2],
    /// The rate with both over what the effects of the two come to when multiplied.
    pub ratio: f64,
    /// 95 % interval of `ratio`.
    pub ci95: [f64; 2],
}

/// Which settings are best, under which conditions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The values of the axes that are no choice; empty when it is averaged over all.
    pub under: Settings,
    /// What came out.
    pub outcome: Chosen,
    /// The settings of the largest rate; absent where nothing differs beyond noise.
    pub best: Option<Settings>,
    /// What they are compared with.
    pub against: Option<Against>,
    /// Conditions that it was averaged over; 1 under a single one.
    pub over: u64,
    /// Conditions that were left out, because a cell of theirs is missing.
    pub left_out: u64,
    /// Settings that cannot be told from the best; those that differ least from what is
    /// in force come first.
    pub as_good: Vec<Settings>,
}

/// What came out of a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Chosen {
    /// One is faster, beyond noise, than what is in force; or, where that is not among
    /// the cells, than the slowest.
    Better,
    /// Nothing is faster than what is in force beyond noise, and something is slower.
    InForceIsBest,
    /// Nothing differs beyond noise.
    NoDifference,
    /// It cannot be told: no repeats, or cells are missing.
    Unknown,
}

/// What the best settings are compared with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Against {
    /// The settings.
    pub settings: Settings,
    /// Whether these are in force; else they are the slowest.
    pub in_force: bool,
    /// The rate of the best over theirs (geometric means).
    pub ratio: f64,
    /// An interval of `ratio` that holds together with all other comparisons of the run
    /// with 95 % or more.
    pub interval: [f64; 2],
}
