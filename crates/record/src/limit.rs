//! What limited the stages of a run.

use crate::finding::Confidence;
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
    /// nothing.
    pub limits: Vec<Limit>,
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
    /// How sure it is.
    pub confidence: Confidence,
    /// What would show it to be wrong.
    pub refuted_by: String,
    /// What would settle it.
    pub experiment: Experiment,
    /// What to do about it; what would move the limit.
    pub remedy: String,
}

/// A measurement that would settle a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Experiment {
    /// What to look for in it: which outcome speaks for the claim, and which
    /// against it.
    pub question: String,
    /// The command to type.
    pub command: String,
    /// The plan file that the command names, where it is no built-in plan.
    pub plan: Option<String>,
}
