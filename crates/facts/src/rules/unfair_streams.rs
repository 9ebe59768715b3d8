//! Streams that were to do the same got very different shares.
//!
//! The measure is Jain's fairness index ([`fairness`]).

use super::prelude::*;
use crate::stats::fairness;
use crate::streams::stream_rates;

pub(super) const RULE: Rule = Rule {
    name: "unfair-streams",
    needs: &[NoDocument, Blocks],
    confidence: Confidence::Certain,
    check: Check::Stages(&[StageCheck(is_unfair, unfair)]),
    ..Rule::NOTE
};

/// Index below which it is a finding: among four, three that do the same and one
/// that does a third of it.
const FAIR: f64 = 0.9;

fn is_unfair(facts: &StageFacts<'_>) -> Option<Seen> {
    // The same streams in every trial, or it is chance.
    let rates = stream_rates(facts.trials());
    let index = fairness(&rates).filter(|index| *index < FAIR)?;
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let most = rates.iter().copied().fold(0.0, f64::max);
    let line = format!(
        "of {} streams the slowest did {}, the fastest {} (fairness {index:.2}).",
        rates.len(),
        show_throughput(least),
        show_throughput(most)
    );
    Some((index, vec![line]))
}

fn unfair(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let lowest = shown.least();
    RULE.claim(format!(
        "The streams of {} got unequal shares: Jain's fairness index is {lowest:.2} (1 is equal).",
        shown.list()
    ))
    .headline(format!("unfair streams: fairness index {lowest:.2}"))
    .remedy(format!(
        "What all streams do together still counts; to see whether it lasts, type `{}`.",
        measure_longer(context.run, 3)
    ))
}
