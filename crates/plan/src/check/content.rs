//! Content that is checked, and memory that is mapped.

use super::{Problem, VALUES_SECTOR, problem};
use crate::workload::{BufferAlignment, CacheMode, EngineChoice, SyncMode, Workload};

impl Workload {
    /// What content that is checked needs.
    pub(super) fn check_values(&self, found: &mut Vec<Problem>) {
        if self.values.is_none() {
            return;
        }
        if !self.block_size.is_multiple_of(VALUES_SECTOR)
            || !self.offset.is_multiple_of(VALUES_SECTOR)
        {
            found.push(problem(
                "values",
                format!(
                    "they are checked in sectors of {VALUES_SECTOR} bytes; block_size and offset \
                     should be multiples of that"
                ),
            ));
        }
        if matches!(self.engine, EngineChoice::IoUring | EngineChoice::Null) {
            found.push(problem(
                "values",
                "they are checked where system calls or a mapping did the work; use engine = \
                 \"auto\", \"sync\" or \"mmap\"",
            ));
        }
        if self.pool.is_some() {
            found.push(problem(
                "threads",
                "values are checked by the thread that measures; drop threads, or values",
            ));
        }
        if self.touch.by_character() {
            found.push(problem(
                "touch",
                "characters are put into a block one by one, and values are its content as a \
                 whole; drop one of the two",
            ));
        }
        if self.iopoll || self.sqpoll {
            let key = if self.iopoll { "iopoll" } else { "sqpoll" };
            found.push(problem(
                key,
                "values are checked where system calls did the work, and only io_uring can poll",
            ));
        }
    }

    /// What a memory mapping cannot do.
    pub(super) fn check_mmap(&self, found: &mut Vec<Problem>) {
        if self.engine != EngineChoice::Mmap {
            return;
        }
        if self.cache == CacheMode::Direct {
            found.push(problem(
                "cache",
                "a memory mapping is the page cache, so engine = \"mmap\" cannot be direct; use \
                 cache = \"buffered\", \"warm\" or \"cold\"",
            ));
        }
        if self.queue_depth > 1 {
            found.push(problem(
                "queue_depth",
                format!(
                    "who touches mapped memory waits for it, so the mmap engine has one \
                     operation in flight per stream; use queue_depth = 1 with streams = {}",
                    self.outstanding()
                ),
            ));
        }
        if matches!(self.sync, SyncMode::ODsync | SyncMode::OSync) {
            found.push(problem(
                "sync",
                "how a file was opened does not reach its mapping; with engine = \"mmap\" use \
                 \"fdatasync\" or \"fsync\", which call msync(2)",
            ));
        }
        if self.iopoll || self.sqpoll {
            let key = if self.iopoll { "iopoll" } else { "sqpoll" };
            found.push(problem(key, "only the io_uring engine can poll"));
        }
        if self.buffer == BufferAlignment::Unaligned {
            found.push(problem(
                "buffer",
                "the mmap engine works in the file's own memory and has no other; drop it",
            ));
        }
    }
}
