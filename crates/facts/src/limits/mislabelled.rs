//! The figures contradict each other by a factor: one of the labels is wrong.

use super::prelude::*;
use crate::stage_facts::contradiction::Contradiction;
use crate::words::of_document;

pub(crate) const LIMITER: Limiter = Limiter {
    name: "mislabelled",
    needs: &[Blocks],
    find: contradicts_itself,
    ..Limiter::ANY
};

fn contradicts_itself(facts: &StageFacts<'_>) -> Option<Candidate> {
    let found = Contradiction::of(facts)?;
    Some(wrong_label(facts, found.factor, Certain).evidence([found.line]))
}

/// What is said of a stage whose stated figure is so many times what it should be.
pub(crate) fn wrong_label(
    facts: &StageFacts<'_>,
    factor: f64,
    confidence: Confidence,
) -> Candidate {
    let way = if factor > 1.0 { "high" } else { "low" };
    let times = factor.max(1.0 / factor);
    let claim = format!(
        "The rate cannot be right as it is labelled: it is {} times too {way}.",
        ratio(times)
    );
    let stages = facts.stages().and("as-labelled", |_| ());
    let share = 1.0 - 1.0 / times;
    let what = "state block size, count and time of this line";
    Candidate::new(Standing::NotTheDevice, share, confidence, claim)
        .settled_by(stages)
        .remedy_if(of_document(facts.run(), what))
}
