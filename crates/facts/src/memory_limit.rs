//! Why the page cache of a stage did not keep what was to be in it.

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
