//! Whether so many pages were dirty that the kernel held writers back.
//!
//! It does from half way between the limit of write-back and that of dirty pages on
//! (`dirty_freerun_ceiling`, `balance_dirty_pages` in mm/page-writeback.c).

use diskfacts_plan::SyncMode;
use diskfacts_record::evidence::WriteBack;

/// How near dirty pages must have come to where writers are held back: the kernel
/// aims at the middle between there and the limit, and its counters lag.
const REACHED: f64 = 0.9;

/// Where writers begin to be held back, bytes.
pub(crate) fn ceiling(dirty: &WriteBack) -> f64 {
    f64::midpoint(
        dirty.dirty_limit_bytes as f64,
        dirty.dirty_background_bytes as f64,
    )
}

/// Whether so many pages became dirty that they can have come there on the way.
pub(crate) fn can_reach(dirty: &WriteBack) -> bool {
    let most = dirty.dirty_before_bytes.saturating_add(dirty.dirtied_bytes);
    dirty.dirty_limit_bytes > 0 && most as f64 >= REACHED * ceiling(dirty)
}

/// Whether dirty pages came there. A sync at the end has written them by the time
/// that they are counted: then so many have to have become dirty.
pub(crate) fn reached_ceiling(dirty: &WriteBack, sync: SyncMode) -> bool {
    if sync.at_end() {
        return can_reach(dirty);
    }
    let most = dirty.dirty_after_bytes.max(dirty.dirty_before_bytes);
    dirty.dirty_limit_bytes > 0 && most as f64 >= REACHED * ceiling(dirty)
}
