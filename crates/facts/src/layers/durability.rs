//! Whether written data is on the medium, as far as the devices tell.

use diskfacts_plan::{SyncMode, Workload};
use diskfacts_record::{Evidence, Stack};

/// Flushes that the leaves counted; `None` when one of them does not count
/// them (before Linux 5.5).
pub(crate) fn flushes(evidence: &Evidence, stack: &Stack) -> Option<u64> {
    let mut sum = 0;
    let mut leaves = 0;
    for leaf in stack.leaves() {
        let counted = evidence.devices.iter().find(|d| d.name == leaf.name)?;
        sum += counted.flushes?;
        leaves += 1;
    }
    (leaves > 0).then_some(sum)
}

/// Whether every leaf has this kind of write cache.
pub(crate) fn all_leaves(stack: &Stack, write_cache: &str) -> bool {
    stack.leaves().next().is_some()
        && stack
            .leaves()
            .all(|leaf| leaf.write_cache.as_deref() == Some(write_cache))
}

/// Whether the bytes that reached the leaves are on their medium.
pub(crate) fn on_medium(workload: &Workload, evidence: &Evidence, stack: &Stack) -> bool {
    if all_leaves(stack, "write through") {
        return true;
    }
    let known =
        stack.leaves().next().is_some() && stack.leaves().all(|leaf| leaf.write_cache.is_some());
    if !known {
        return false;
    }
    let flushed = flushes(evidence, stack).is_some_and(|n| n > 0);
    match workload.sync {
        SyncMode::None => false,
        SyncMode::Fdatasync | SyncMode::Fsync => flushed,
        // Without a final sync (it failed, or the trial was cut short) a flush
        // that was counted belongs to somebody else.
        SyncMode::AtEnd | SyncMode::FdatasyncAtEnd => {
            flushed && evidence.issued.final_sync_ns.is_some()
        }
        SyncMode::ODsync | SyncMode::OSync => {
            let forced = evidence.engine.direct
                && stack.leaves().all(|leaf| {
                    leaf.fua == Some(true) || leaf.write_cache.as_deref() == Some("write through")
                });
            flushed || forced
        }
    }
}
