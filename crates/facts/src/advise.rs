//! What to choose: volumes, filesystems, schedulers, read-ahead, ways to sync, block
//! sizes, whatever the runs measured in more than one way, in order for a use.
//!
//! * `cells`: the stages of all runs, with their conditions.
//! * `options`: what could be chosen, and the tests in which options meet. Only what
//!   was measured in the same way is held against each other.
//! * `interval`: how sure a value is; `rank`: the order, and how sure that is.
//! * `why`: sentences: ties, what a choice costs elsewhere, what was not measured.
//!
//! Nothing is recommended beyond what was measured: options whose intervals overlap
//! share their places.

mod cells;
mod dimension;
mod interval;
mod options;
mod rank;
mod weights;
mod why;

#[cfg(test)]
mod tests;

pub use dimension::{Dimension, Unit};
pub use interval::Measured;
pub(crate) use interval::{Ratio, of as intervals};
pub(crate) use options::names_flash;
pub use options::{Choice, Group, Test};
pub use rank::{Ranked, Ranking};
pub use weights::{BadWeights, Weights};
pub(crate) use why::firsts;
pub use why::show;

use diskfacts_record::{Finding, Outcome, Run, Severity};
use std::fmt;

/// What follows from some runs for a choice.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// Ids of the runs, in the order in which they were given.
    pub runs: Vec<String>,
    /// What was to decide; `None` where each dimension stands for itself.
    pub weights: Option<Weights>,
    /// The options that could be held against each other, by what they share.
    pub groups: Vec<Advised>,
    /// What was measured of one option only, a few words each.
    pub alone: Vec<String>,
    /// How each run does for the use by its published thresholds, a sentence each; empty
    /// without a use, and of imported runs.
    pub needs: Vec<String>,
    /// Dimensions that no two options were measured in.
    pub unmeasured: Vec<Dimension>,
    /// What was measured and takes no part, and why; a sentence each.
    pub left_out: Vec<String>,
    /// What the rules say of the figures: doubts, and what explains an order.
    pub findings: Vec<Finding>,
}

/// What follows for one group of options.
#[derive(Debug, Clone, PartialEq)]
pub struct Advised {
    /// The options and their tests.
    pub group: Group,
    /// The order by the weights; `None` without weights, and where nothing that
    /// counts was measured of two options.
    pub ranking: Option<Ranking>,
    /// The order in each dimension by itself.
    pub dimensions: Vec<(Dimension, Ranking)>,
    /// Which option comes first, or which share the first place; a sentence each.
    pub picks: Vec<String>,
    /// What the first of the order costs in other dimensions; a sentence each.
    pub costs: Vec<String>,
    /// Where the order is not certain, and what the intervals rest on; a sentence each.
    pub uncertain: Vec<String>,
}

/// Why no advice can be given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unadvised {
    /// There is no run.
    NoRuns,
    /// No two options were measured in the same way: what each was measured in.
    NothingInCommon(Vec<String>),
    /// Options were compared, and in nothing that is to count: what they were
    /// compared in.
    NotMeasured {
        /// What was to count.
        wanted: Vec<Dimension>,
        /// What two options or more were measured in.
        measured: Vec<Dimension>,
    },
}

impl fmt::Display for Unadvised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRuns => f.write_str("there is no run to choose from"),
            Self::NothingInCommon(alone) => {
                f.write_str(
                    "there is nothing to choose between: no two options were measured in the \
                     same way",
                )?;
                let shown = alone.iter().take(6).cloned().collect::<Vec<_>>();
                if !shown.is_empty() {
                    write!(f, "; measured of one only: {}", shown.join("; "))?;
                }
                if alone.len() > shown.len() {
                    write!(f, "; and {} more", alone.len() - shown.len())?;
                }
                Ok(())
            }
            Self::NotMeasured { wanted, measured } => {
                let names = |all: &[Dimension]| {
                    let names: Vec<&str> = all.iter().map(|d| d.name()).collect();
                    names.join(", ")
                };
                write!(
                    f,
                    "nothing that is to count ({}) was measured of two options; measured were {}",
                    names(wanted),
                    names(measured)
                )
            }
        }
    }
}

impl std::error::Error for Unadvised {}

/// What these runs say for a choice by these weights, or in each dimension. Findings
/// are those of the rules on the runs as they stand in them.
///
/// # Errors
/// When there is nothing to choose between, or nothing of what is to count was
/// measured.
pub fn advise(runs: &[Run], weights: Option<Weights>) -> Result<Advice, Unadvised> {
    if runs.is_empty() {
        return Err(Unadvised::NoRuns);
    }
    let (cells, mut left_out) = cells::of(runs);
    let (groups, alone) = options::groups(&cells);
    if groups.is_empty() {
        return Err(Unadvised::NothingInCommon(alone));
    }
    let measured = |dimension: &Dimension| {
        let mut tests = groups.iter().flat_map(|group| &group.tests);
        tests.any(|test| test.dimension == *dimension)
    };
    let (known, unmeasured): (Vec<_>, Vec<_>) = Dimension::ALL.into_iter().partition(measured);
    if let Some(weights) = &weights
        && !weights.of.iter().any(|(dimension, _)| measured(dimension))
    {
        return Err(Unadvised::NotMeasured {
            wanted: weights.of.iter().map(|(dimension, _)| *dimension).collect(),
            measured: known,
        });
    }
    let all = groups
        .into_iter()
        .map(|group| advised(group, weights.as_ref()));
    let (groups, aside): (Vec<_>, Vec<_>) =
        all.partition(|advised| weights.is_none() || advised.ranking.is_some());
    left_out.extend(aside.iter().map(why::aside));
    if let Some(weights) = weights.as_ref().filter(|_| groups.is_empty()) {
        return Err(Unadvised::NotMeasured {
            wanted: weights.of.iter().map(|(dimension, _)| *dimension).collect(),
            measured: known,
        });
    }
    let usage = weights.as_ref().and_then(|weights| weights.usage);
    Ok(Advice {
        runs: runs.iter().map(|run| run.run.id.clone()).collect(),
        needs: usage.map_or_else(Vec::new, |usage| needs(runs, usage)),
        weights,
        groups,
        alone,
        unmeasured,
        left_out,
        findings: findings(runs),
    })
}

/// The first in an order may still be too slow for a use, and the last fast enough.
fn needs(runs: &[Run], usage: &str) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for run in runs {
        let verdicts = crate::verdicts(run).into_iter();
        for verdict in verdicts.filter(|verdict| verdict.profile == usage) {
            let word = match verdict.outcome {
                Outcome::Pass => "pass",
                Outcome::Close => "close",
                Outcome::Fail => "FAIL",
                Outcome::Unmeasured => continue,
            };
            let sentence = format!(
                "{}: {word}, {usage} needs {}; measured {} ({}).",
                cells::target(run),
                verdict.needed,
                verdict.measured.unwrap_or_default(),
                verdict.stage.unwrap_or_default()
            );
            if !said.contains(&sentence) {
                said.push(sentence);
            }
        }
    }
    said
}

fn advised(group: Group, weights: Option<&Weights>) -> Advised {
    let ranking = weights.and_then(|weights| rank::by(&group, weights));
    let dimensions: Vec<(Dimension, Ranking)> = Dimension::ALL
        .into_iter()
        .filter_map(|dimension| {
            let alone = Weights {
                usage: None,
                of: vec![(dimension, 1.0)],
                sources: Vec::new(),
            };
            Some((dimension, rank::by(&group, &alone)?))
        })
        .collect();
    let picks = why::picks(&group, ranking.as_ref(), &dimensions);
    let costs = why::costs(&group, ranking.as_ref(), &dimensions);
    let uncertain = why::uncertain(&group, ranking.as_ref(), &dimensions);
    Advised {
        group,
        ranking,
        dimensions,
        picks,
        costs,
        uncertain,
    }
}

/// Rules whose findings explain an order, or say that it is not the volumes'.
const EXPLAINING: [&str; 2] = ["rewrite-rate", "flash-like-disks"];

/// The findings that bear on a choice, each once: warnings and errors, and what
/// explains an order.
fn findings(runs: &[Run]) -> Vec<Finding> {
    let mut all: Vec<Finding> = Vec::new();
    for finding in runs.iter().flat_map(|run| &run.findings) {
        let bears =
            finding.severity >= Severity::Warning || EXPLAINING.contains(&finding.rule.as_str());
        if bears && !all.contains(finding) {
            all.push(finding.clone());
        }
    }
    all.sort_by_key(|finding| std::cmp::Reverse((finding.severity, finding.confidence)));
    all
}
