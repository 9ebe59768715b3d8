//! A stage of memory read from the device: the page cache did not keep what was read into
//! it, because its control group may have less memory than that, or somebody took it away.

use super::prelude::*;
use crate::layers::behind_memory;
use crate::memory_limit::{WARMING, group_limit};

pub(super) const LIMITER: Limiter = Limiter {
    name: "evicted",
    needs: &[OnlyReads],
    find: memory_does_not_keep_it,
    ..Limiter::ANY
};

/// Share of the bytes that came from the device from which on it is worth a word.
const SHARE: f64 = 0.02;

/// Whether a stage that is meant to read memory waits for the device for a good part of its
/// time.
pub(super) fn is_waited_for(facts: &StageFacts<'_>) -> bool {
    let found = LIMITER.candidate(facts);
    found.is_some_and(|found| found.kind.standing == Standing::Cause)
}

fn memory_does_not_keep_it(facts: &StageFacts<'_>) -> Option<Candidate> {
    let behind = behind_memory(facts.stack());
    let from_device = facts.figures.layers.beyond_memory()?;
    unless(facts.workload().cache != CacheMode::Warm || from_device <= 0.0)?;
    let of_requests = facts.spent(&[
        Spent::Device,
        Spent::BlockLayer,
        Spent::Scheduler,
        Spent::Server,
    ]);
    // With fewer bytes the time decides: what comes from a device takes up to thousands of times
    // as long as what memory holds.
    unless(from_device < SHARE && of_requests.is_none_or(|share| share < WORTH_A_WORD))?;
    // What was never read into it was not taken out.
    let never = |trial: &&Trial| trial.evidence.unseen.iter().any(|one| one.what == WARMING);
    unless(facts.trials().iter().any(never))?;
    let asleep = facts.spent(&[Spent::Cache]);
    let of_time = of_requests.zip(asleep).map(|(a, b)| (a + b).min(1.0));
    let share = of_time.unwrap_or(from_device).min(1.0);
    let limit = group_limit(facts.trials()).filter(|limit| limit.bytes < facts.span());
    let (came, span) = (percent(from_device), show_size(facts.span()));
    let evidence = [
        Some(format!(
            "{came} of the bytes came from the {behind}, of a span of {span} that was read into \
             memory before."
        )),
        of_time.map(|share| format!("They took {} of the time.", percent(share))),
        limit.as_ref().map(|limit| {
            let (folder, bytes) = (&limit.folder, show_size(limit.bytes));
            format!("{folder} may have {bytes} of memory, its part of the page cache among it.")
        }),
    ];
    let claim = match &limit {
        Some(limit) => format!(
            "The memory of a control group, {}, does not hold the {span} that are read: {came} came \
             from the {behind}.",
            show_size(limit.bytes)
        ),
        None => format!(
            "What had been read into memory was evicted: {came} of it came from the {behind}."
        ),
    };
    let quarter = facts.span() / 4;
    let stages = facts
        .as_it_was()
        .and("a-quarter", |w| w.span = Some(quarter.max(w.block_size)));
    let found = cause(share, certain_if(limit.is_some()), claim)
        .evidence(evidence.into_iter().flatten())
        .settled_by(stages)
        .remedy_if(limit.map(|limit| {
            format!(
                "Raise `memory.max` (version 1: `memory.limit_in_bytes`) of {}, or set a span that \
                 fits in this stage.",
                limit.folder
            )
        }));
    Some(found)
}
