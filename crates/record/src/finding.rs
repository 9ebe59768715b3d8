//! Claims about a run, each with its evidence.

use serde::{Deserialize, Serialize};

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know.
    Note,
    /// A figure does not mean what it seems to mean, or could be better.
    Warning,
    /// A figure is wrong, or data is at risk.
    Error,
}

/// How sure a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// One explanation among several.
    Possible,
    /// The best explanation of what was seen.
    Likely,
    /// Counted, not inferred.
    Certain,
}

/// A claim: what is so, why we think it, what would refute it, what to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Name of the rule that made it, `served-from-cache`.
    pub rule: String,
    /// How much it matters.
    pub severity: Severity,
    /// What is so in a few words, without the names of the stages; empty in documents of
    /// older versions.
    #[serde(default)]
    pub headline: String,
    /// What is so, in one sentence.
    pub claim: String,
    /// The figures it rests on, each a sentence.
    pub evidence: Vec<String>,
    /// How sure it is.
    pub confidence: Confidence,
    /// What would show it to be wrong.
    pub refuted_by: String,
    /// What to do about it.
    pub remedy: String,
    /// Names of the stages concerned; empty for the whole run.
    pub stages: Vec<String>,
}

/// How a target did for a use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Better than needed, beyond the spread of the trials.
    Pass,
    /// So near to the limit that the spread of the trials reaches it.
    Close,
    /// Worse than needed.
    Fail,
    /// What it needs was not measured.
    Unmeasured,
}

/// One requirement of a use, held against what was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Name of the use, `etcd`.
    pub profile: String,
    /// Pass, close, fail or unmeasured.
    pub outcome: Outcome,
    /// What was needed, with its unit: `p99 of write + fdatasync below 10 ms`.
    pub needed: String,
    /// What was measured, in the same words; absent when it was not.
    pub measured: Option<String>,
    /// By how much a requirement is missed, or nearly, in few words: `86 < 262 MB/s`; empty of
    /// what is met or unknown, and in documents of older versions.
    #[serde(default)]
    pub in_short: String,
    /// The stage that it is judged by, whether or not that was measured; `null` in documents
    /// of older versions.
    pub stage: Option<String>,
    /// Where the threshold comes from.
    pub source: String,
}
