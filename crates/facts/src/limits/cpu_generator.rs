//! The thread that makes the operations ran all the time in user mode: diskfacts
//! itself, and what it was told to do with the data, is the limit.

use super::prelude::*;
use crate::stage_facts::processor;
use diskfacts_plan::Touch;

pub(super) const LIMITER: Limiter = Limiter {
    name: "cpu-generator",
    find: measuring_takes_the_processor,
    ..Limiter::ANY
};

fn measuring_takes_the_processor(facts: &StageFacts<'_>) -> Option<Candidate> {
    let processor = processor::of(facts).filter(|processor| processor.in_user)?;
    let workload = facts.workload();
    let streams = workload.streams.saturating_mul(2);
    let (claim, or) = if workload.touch != Touch::None || workload.values.is_some() {
        (
            "The limit is a processor, at work on the data as the stage asks, not the device.",
            "leave `touch` out",
        )
    } else {
        (
            "The limit is the processor time of the measuring itself, not the device.",
            "larger blocks",
        )
    };
    let change = format!("set streams = {streams}, or {or}, in this stage");
    let twice = facts
        .as_it_was()
        .and("twice-the-streams", |w| w.streams = streams);
    // It is the larger part of the time, whichever way it divides.
    let found = Candidate::new(Standing::Cause, processor.share, Likely, claim)
        .evidence(processor.evidence("The busiest thread ran"))
        .evidence(processor::own_cost(facts.run()))
        .settled_by(twice)
        .remedy(edit_plan(facts.run(), &change));
    Some(found)
}
