//! Dirty pages of the whole machine.

use super::Observer;
use super::window::Window;
use crate::parse::vmstat::{DirtyPageCounts, parse_vmstat};
use crate::roots::Roots;
use diskfacts_record::evidence::WriteBack;
use diskfacts_record::{Evidence, Unseen};

/// Observes `/proc/vmstat`. Its counters are kept for each processor and added up
/// when they pass a threshold, so they are some hundred pages off.
pub struct WriteBackObserver {
    window: Window,
}

impl WriteBackObserver {
    /// Opens the file; whether that worked is said by [`Observer::stop`].
    pub fn new(roots: &Roots) -> Self {
        Self {
            window: Window::open(&roots.proc.join("vmstat")),
        }
    }
}

impl Observer for WriteBackObserver {
    fn name(&self) -> &'static str {
        "write_back"
    }

    fn start(&mut self) {
        self.window.start();
    }

    fn halt(&mut self) {
        self.window.halt();
    }

    fn stop(&mut self, evidence: &mut Evidence) {
        self.halt();
        match self.window.parse(parse_vmstat) {
            Ok((before, after)) => evidence.write_back = Some(difference(&before, &after)),
            Err(why) => evidence.unseen.push(Unseen {
                what: self.name().to_owned(),
                why: format!("{why} (the thresholds are in it since Linux 2.6.37)"),
            }),
        }
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
