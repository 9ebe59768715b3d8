//! What limited the stages of a run.

use crate::finding::Confidence;
use diskfacts_plan::Stage;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What limited one stage: the candidates, the best explanation first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageLimits {
    /// Name of the stage.
    pub stage: String,
    /// What was varied, by name; as in the figures of the stage.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// What limited it, the best explanation first; empty when the evidence names
    /// nothing. What a test of this run refuted is not among them.
    pub limits: Vec<Limit>,
    /// What came of the claims about this stage that were tested, in the order of the
    /// tests.
    #[serde(default)]
    pub tested: Vec<TestedClaim>,
}

/// One thing that held a stage back, with the arithmetic that shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// Name of the limiter, `rotation`.
    pub limiter: String,
    /// What is so, in one sentence.
    pub claim: String,
    /// The figures it rests on and the arithmetic over them, each a sentence.
    pub evidence: Vec<String>,
    /// Share, from 0 to 1, of the operations' time that it accounts for by that
    /// arithmetic; absent where the evidence does not say.
    pub share: Option<f64>,
    /// What would be gained without it; absent where nothing would be, or nobody knows.
    #[serde(default)]
    pub gain: Option<Gain>,
    /// How sure it is.
    pub confidence: Confidence,
    /// What would show it to be wrong.
    pub refuted_by: String,
    /// What would settle it.
    pub experiment: Experiment,
    /// What to do about it; what would move the limit.
    pub remedy: String,
}

/// How much higher a rate would be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    /// So many times as high.
    pub times: f64,
    /// The least and the most of it: at 99 % of what was measured, of what is predicted by
    /// the 95 % interval of the rate without the gain, or its range over few trials.
    pub interval: [f64; 2],
    /// What it rests on.
    pub basis: GainBasis,
    /// With or without what: `with 32 in flight (random-read-qd32)`, `without it`.
    pub with: String,
}

/// What a gain rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GainBasis {
    /// Another stage of the run, or the test of the claim.
    Measured,
    /// The limiter's share of the time; it is no more than that, and less where another
    /// resource is next.
    Predicted,
}

/// A measurement that would settle a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// What to look for in it: which outcome speaks for the claim, and which
    /// against it.
    pub question: String,
    /// The command to type.
    pub command: String,
    /// The plan file that the command names, where it is no built-in plan.
    pub plan: Option<String>,
    /// What its figures are if the claim holds; absent where a figure does not decide it,
    /// or where a setting has to be changed first.
    #[serde(default)]
    pub prediction: Option<Prediction>,
}

/// What two stages that are measured in turn are to each other if a claim holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// The stage that is as the one of the claim.
    pub control: String,
    /// The stage that differs from it in what the claim is about.
    pub changed: String,
    /// What of both is compared.
    pub quantity: Quantity,
    /// On which side of `ratio` that of `changed` over that of `control` lies.
    pub side: Side,
    /// The ratio that divides what the claim predicts from what refutes it.
    pub ratio: f64,
}

/// A figure of a stage, of which more is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Operations per second.
    Iops,
    /// Bytes per second.
    Throughput,
}

/// A side of a ratio, the ratio itself included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Above it.
    AtLeast,
    /// Below it.
    AtMost,
}

/// A claim that a run tested after its trials: what was claimed then, and the stages of
/// the run that decide it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimTest {
    /// Name of the stage that the claim is about.
    pub stage: String,
    /// What was varied in it, by name.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// Name of the limiter that made it.
    pub limiter: String,
    /// The claim.
    pub claim: String,
    /// What it predicts; the stages are those below.
    pub prediction: Prediction,
    /// What was measured for it, under names that only these trials of the run have; runs
    /// that were stored before this key came have them at the end of their plan.
    #[serde(default)]
    pub stages: Vec<Stage>,
}

/// A claim with what came of its test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestedClaim {
    /// Name of the limiter that made it.
    pub limiter: String,
    /// The claim.
    pub claim: String,
    /// What came of it.
    pub outcome: TestOutcome,
    /// Both figures, and what was predicted; a sentence.
    pub evidence: String,
}

/// What came of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestOutcome {
    /// The figures are as predicted.
    Held,
    /// They are not; the claim is no explanation any more.
    Refuted,
    /// They lie too near to what divides both, or there were too few.
    Undecided,
}
