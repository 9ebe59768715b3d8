//! The file under measurement, as each stream opens it.

use crate::error::TrialError;
use directio::{Direct, Durability, OpenOptions, Opened};
use diskfacts_plan::{CacheMode, SyncMode, Workload};
use std::path::Path;

/// The file that streams open, each for itself.
#[derive(Debug, Clone, Copy)]
pub struct StreamFile<'a> {
    /// A path that can be opened again: `/proc/self/fd/N` for a nameless file.
    pub path: &'a Path,
    /// Bytes that can be read and written.
    pub size: u64,
    /// What addresses of direct I/O must be a multiple of; a power of 2.
    pub alignment: usize,
}

impl StreamFile<'_> {
    /// Opens the file as a workload needs it.
    ///
    /// # Errors
    /// What the system answered. Direct I/O that is refused is not among them:
    /// it is recorded, and the stage is measured without.
    pub fn open(&self, workload: &Workload) -> Result<Opened, TrialError> {
        OpenOptions::new()
            .read(true)
            .write(workload.operation.writes())
            .direct(match workload.cache {
                CacheMode::Direct => Direct::IfPossible,
                CacheMode::Buffered | CacheMode::Warm | CacheMode::Cold => Direct::No,
            })
            .durability(match workload.sync {
                SyncMode::ODsync => Durability::Data,
                SyncMode::OSync => Durability::Full,
                _ => Durability::None,
            })
            .open(self.path)
            .map_err(TrialError::Open)
    }
}
