//! A stage of memory read from the device: the page cache did not keep what was read into
//! it, because its control group may have less memory than that, or somebody took it away.

use super::prelude::*;
use crate::layers::behind_memory;
use crate::memory_limit::group_limit;
use crate::stage_facts::evicted::Evicted;

pub(super) const LIMITER: Limiter = Limiter {
    name: "evicted",
    needs: &[OnlyReads, Warm],
    find: memory_does_not_keep_it,
    ..Limiter::ANY
};

fn memory_does_not_keep_it(facts: &StageFacts<'_>) -> Option<Candidate> {
    let evicted = Evicted::of(facts)?;
    let behind = behind_memory(facts.stack());
    let limit = group_limit(facts.trials()).filter(|limit| limit.bytes < facts.span());
    let (came, span) = (percent(evicted.of_bytes), show_size(facts.span()));
    let bytes = format!(
        "{came} of the bytes came from the {behind}, of a span of {span} that was read into memory \
         before."
    );
    let time = evicted.of_time.map(percent);
    let time = time.map(|share| format!("They took {share} of the time."));
    let memory = limit.as_ref().map(|limit| {
        let (folder, bytes) = (limit.folder, show_size(limit.bytes));
        format!("{folder} may have {bytes} of memory, its part of the page cache among it.")
    });
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
    let found = cause(evicted.share(), certain_if(limit.is_some()), claim)
        .evidence([Some(bytes), time, memory].into_iter().flatten())
        .settled_by(stages)
        .remedy_if(limit.map(|limit| limit.raise("set a span that fits in this stage")));
    Some(found)
}
