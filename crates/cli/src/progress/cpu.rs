//! Processor time that showing things takes, which is no cost of what is measured.

use diskfacts_host::{CpuScope, CpuTimes};
use std::sync::{Arc, Mutex, PoisonError};

/// What the thread that draws has taken so far, for whoever measures beside it. It is as of
/// the last time that it was counted: after each picture.
#[derive(Debug, Clone, Default)]
pub(crate) struct DisplayCpu(Arc<Mutex<CpuTimes>>);

impl DisplayCpu {
    /// Another thread is about to draw.
    pub(crate) fn begins(&self) {
        self.put(CpuTimes::default());
    }

    /// Counts what the calling thread has taken. Where the system does not tell, it has
    /// taken nothing.
    pub(crate) fn counts(&self) {
        if let Ok(now) = CpuTimes::now(CpuScope::Thread) {
            self.put(now);
        }
    }

    /// What was counted.
    pub(crate) fn so_far(&self) -> CpuTimes {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It has taken so much.
    pub(crate) fn put(&self, times: CpuTimes) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = times;
    }
}
