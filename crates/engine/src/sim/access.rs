//! How a stream of a simulated trial uses its file.

use diskfacts_disk::Extent;

/// How the file of a trial is open, and what follows a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one thing that a file is opened with, or not"
)]
pub(super) struct Access {
    /// Bytes per operation.
    pub(super) block: u64,
    /// Each write is preceded by a read of its block.
    pub(super) modify: bool,
    /// Past the page cache.
    pub(super) direct: bool,
    /// Each write is followed by a flush.
    pub(super) flush_each: bool,
    /// Each write is acknowledged only when durable.
    pub(super) fua: bool,
    /// Reads are widened to whole multiples of this, bytes; 1 leaves them.
    pub(super) reads_in: u64,
    /// Reading this needs no I/O.
    pub(super) hole: Option<Extent>,
    /// A system call, ns.
    pub(super) call_ns: u64,
    /// Threads that serve the stream in turn, each in an I/O context of its own.
    pub(super) contexts: u32,
    /// Whether it is counted.
    pub(super) role: Role,
}

/// What a stream is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Role {
    /// It is measured.
    #[default]
    Trial,
    /// It runs beside the trial, and is counted apart.
    Beside,
}
