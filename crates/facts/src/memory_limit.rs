//! Why the page cache of a stage did not keep what was to be in it.

use crate::kept_in_memory::cached_after;
use crate::layers::SERVED_FROM_CACHE;
use crate::prelude::{StageFacts, percent, show_size};
use diskfacts_record::Trial;

/// What could not be done, as the session names it.
pub(crate) const WARMING: &str = "warm page cache";

/// A limit on memory.
pub(crate) struct GroupLimit<'a> {
    pub(crate) bytes: u64,
    /// The control group that has it.
    pub(crate) folder: &'a str,
}

impl GroupLimit<'_> {
    /// How to have more memory, or what else to do.
    pub(crate) fn raise(&self, or: &str) -> String {
        let folder = self.folder;
        format!("Raise `memory.max` (version 1: `memory.limit_in_bytes`) of {folder}, or {or}.")
    }

    /// That there is one, a sentence.
    pub(crate) fn said(&self) -> String {
        format!(
            "A control group of this process limits its memory, its part of the page cache among \
             it, to {}: {}.",
            show_size(self.bytes),
            self.folder
        )
    }
}

/// The lowest limit on the memory of this process's control group, where it has one.
pub(crate) fn group_limit<'a>(
    trials: impl IntoIterator<Item = &'a &'a Trial>,
) -> Option<GroupLimit<'a>> {
    let limits = trials.into_iter().filter_map(|trial| {
        let memory = trial.evidence.control_group.as_ref()?.memory.as_ref()?;
        let lowest = memory.limit_bytes.into_iter().chain(memory.high_bytes);
        Some(GroupLimit {
            bytes: lowest.min()?,
            folder: &memory.limited_by,
        })
    });
    limits.min_by_key(|limit| limit.bytes)
}

/// Why the page cache of a stage was not warmed, where it was not.
pub(crate) fn not_warmed<'a>(facts: &StageFacts<'a>) -> Option<&'a str> {
    let mut unseen = facts.trials().iter().flat_map(|t| &t.evidence.unseen);
    let warming = unseen.find(|unseen| unseen.what == WARMING)?;
    Some(warming.why.trim_end_matches('.'))
}

/// What of a stage shows that it did not keep it, or why, sentences.
pub(crate) fn why_not_kept(facts: &StageFacts<'_>) -> impl Iterator<Item = String> {
    let warming = not_warmed(facts);
    let warming = warming.map(|why| format!("warming the page cache was not done: {why}."));
    let fewest = Some(cached_after(facts.stage)).filter(|least| *least < 1.0 - SERVED_FROM_CACHE);
    let fewer = fewest.map(percent).map(|fewest| {
        format!("after a trial as little as {fewest} of its span was in the page cache.")
    });
    let after = facts.trials().iter();
    let evicted = after.filter_map(|t| t.evidence.residency_after?.evicted_bytes);
    let evicted = evicted.max().filter(|bytes| *bytes > 0).map(|evicted| {
        format!(
            "up to {} of its span had been taken out of the page cache because memory was short, \
             and were not read in again.",
            show_size(evicted)
        )
    });
    [warming, fewer, evicted].into_iter().flatten()
}
