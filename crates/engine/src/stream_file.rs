//! The file under measurement, as each stream opens it.

use crate::error::TrialError;
use directio::{Direct, Durability, OpenOptions, Opened};
use diskfacts_plan::{CacheMode, SyncMode, Workload};
use rustix::io::Errno;
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
            .map_err(|error| self.cannot_be_opened(error))
    }

    /// The target was opened before the first trial, so what has no name now has lost it.
    fn cannot_be_opened(&self, error: directio::Error) -> TrialError {
        let gone = |errno| matches!(errno, Errno::NOENT | Errno::NXIO | Errno::NODEV);
        match error.io_error().and_then(Errno::from_io_error) {
            Some(errno) if gone(errno) => TrialError::Gone {
                // What leads to an open file says what that is.
                path: std::fs::read_link(self.path).unwrap_or_else(|_| self.path.to_owned()),
                source: errno.into(),
            },
            _ => TrialError::Open(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error;

    #[test]
    fn a_target_that_has_gone_is_not_to_be_created() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("disk");
        std::fs::write(&path, b"data").expect("a file");
        let file = StreamFile {
            path: &path,
            size: 4,
            alignment: 4096,
        };
        let buffered = Workload {
            cache: CacheMode::Buffered,
            ..Workload::default()
        };
        assert!(file.open(&buffered).is_ok());
        std::fs::remove_file(&path).expect("it is there");
        let error = file.open(&buffered).expect_err("it is gone");
        let said = error.to_string();
        assert!(matches!(error, TrialError::Gone { .. }), "{error:?}");
        assert!(said.contains("is gone"), "{said}");
        assert!(!said.contains("create"), "{said}");
        assert!(error.source().is_some());
    }
}
