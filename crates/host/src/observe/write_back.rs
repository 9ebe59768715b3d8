//! Dirty pages of the whole machine.

use super::Observer;
use super::file::FileObserver;
use super::window::Window;
use crate::parse::vmstat::{DirtyPageCounts, parse_vmstat};
use crate::roots::Roots;
use diskfacts_record::Evidence;
use diskfacts_record::evidence::WriteBack;

/// Observes `/proc/vmstat`. Its counters are kept for each processor and added up
/// when they pass a threshold, so they are some hundred pages off. The file is
/// opened here; whether that worked is said by [`Observer::stop`].
pub fn write_back(roots: &Roots) -> impl Observer + use<> {
    FileObserver {
        name: "write_back",
        window: Window::open(&roots.proc.join("vmstat")),
        parse: parse_vmstat,
        put: |before, after, evidence: &mut Evidence| {
            evidence.write_back = Some(difference(before, after));
            Ok(())
        },
        hint: " (the thresholds are in it since Linux 2.6.37)",
    }
}

fn difference(before: &DirtyPageCounts, after: &DirtyPageCounts) -> WriteBack {
    let bytes = |pages: u64| pages.saturating_mul(page_bytes());
    let dirty = |counts: &DirtyPageCounts| bytes(counts.dirty.saturating_add(counts.writeback));
    WriteBack {
        // The kernel works them out anew now and then; the lower ones held at
        // some time.
        dirty_limit_bytes: bytes(before.threshold.min(after.threshold)),
        dirty_background_bytes: bytes(before.background_threshold.min(after.background_threshold)),
        dirty_before_bytes: dirty(before),
        dirty_after_bytes: dirty(after),
        dirtied_bytes: bytes(after.dirtied.saturating_sub(before.dirtied)),
        written_bytes: bytes(after.written.saturating_sub(before.written)),
    }
}

#[cfg(unix)]
fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

#[cfg(not(unix))]
fn page_bytes() -> u64 {
    4096
}
