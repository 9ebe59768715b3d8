//! What `diskfacts dd` is asked to do, as data.
//!
//! The words are those of GNU dd (coreutils 9.1), and so is what they mean:
//! [`parse`] reads them, [`Dd`] is the copy that they ask for, with every number
//! multiplied out. A plan file cannot ask for a copy; only the command can.

mod number;
mod operands;

pub use number::{Number, number};
pub use operands::{OperandError, parse};

use crate::workload::{CacheMode, EngineChoice, Operation, Pattern, Stop, SyncMode, Workload};
use serde::{Deserialize, Serialize};

/// Bytes of a block when `bs=` is not given.
pub const BLOCK_BYTES: u64 = 512;
/// Largest block, bytes: what one system call may be asked to move here.
pub const BLOCK_BYTES_MAX: u64 = 1 << 30;

/// How an end of a copy is read or written (`iflag=`, `oflag=`).
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent flags, as dd has them"
)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Flags {
    /// `direct`: past the page cache (`O_DIRECT`).
    pub direct: bool,
    /// `dsync`: each write is durable when it returns (`O_DSYNC`).
    pub dsync: bool,
    /// `sync`: likewise, with the file's metadata (`O_SYNC`).
    pub sync: bool,
    /// `nocache`: what was read or written is dropped from the page cache.
    pub nocache: bool,
    /// `fullblock`: a read that brings less than a block is continued until the
    /// block is full or the input ends. Of the input only.
    pub fullblock: bool,
}

/// How much to copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Count {
    /// So many reads, however much each brings.
    Blocks(u64),
    /// So many bytes.
    Bytes(u64),
}

/// What is done after the last write, within dd's own time (`conv=`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinalSync {
    /// Nothing: what was written may lie in the page cache alone.
    #[default]
    None,
    /// `fdatasync(2)`.
    Fdatasync,
    /// `fsync(2)`.
    Fsync,
}

/// Which lines dd would print (`status=`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatusLines {
    /// All three.
    #[default]
    All,
    /// Not the one with the rate.
    Noxfer,
    /// None.
    None,
}

/// A copy, as GNU dd would make it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dd {
    /// `if=`; standard input when absent, also when it was named (`-`, `/dev/stdin`).
    pub input: Option<String>,
    /// `of=`; standard output when absent, also when it was named (`-`, `/dev/stdout`).
    pub output: Option<String>,
    /// `bs=`, or 512, bytes; in `1..=2^30`.
    pub block_size: u64,
    /// Whether reads that bring less than a block are gathered into whole
    /// blocks before they are written, as dd does without `bs=`. With it, each
    /// read is written as it came.
    pub gathers: bool,
    /// Bytes of the input that are passed over first (`skip=`).
    pub skip_bytes: u64,
    /// Bytes of the output that are passed over first (`seek=`).
    pub seek_bytes: u64,
    /// How much to copy; all of the input when absent.
    pub count: Option<Count>,
    /// Of the input.
    pub input_flags: Flags,
    /// Of the output.
    pub output_flags: Flags,
    /// After the last write.
    pub final_sync: FinalSync,
    /// `conv=notrunc`: an output file keeps what lies behind.
    pub keeps_length: bool,
    /// What `--style classic` prints.
    pub status: StatusLines,
}

impl Default for Dd {
    fn default() -> Self {
        Self {
            input: None,
            output: None,
            block_size: BLOCK_BYTES,
            gathers: true,
            skip_bytes: 0,
            seek_bytes: 0,
            count: None,
            input_flags: Flags::default(),
            output_flags: Flags::default(),
            final_sync: FinalSync::None,
            keeps_length: false,
            status: StatusLines::All,
        }
    }
}

/// Which end of a copy is the one that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// What is read.
    Input,
    /// What is written.
    Output,
}

impl Dd {
    /// Most bytes that can be copied, if `count=` bounds them.
    pub fn bytes_max(&self) -> Option<u64> {
        self.count.map(|count| match count {
            Count::Blocks(blocks) => blocks.saturating_mul(self.block_size),
            Count::Bytes(bytes) => bytes,
        })
    }

    /// The workload that this copy is for the end that is measured: sequential
    /// blocks, one at a time, with system calls.
    pub fn workload(&self, measured: End) -> Workload {
        let (operation, offset, flags) = match measured {
            End::Input => (Operation::Read, self.skip_bytes, self.input_flags),
            End::Output => (Operation::Write, self.seek_bytes, self.output_flags),
        };
        let writes = measured == End::Output;
        let sync = match self.final_sync {
            // The flags of the input promise nothing of what is read.
            _ if !writes => SyncMode::None,
            _ if flags.sync => SyncMode::OSync,
            _ if flags.dsync => SyncMode::ODsync,
            FinalSync::None => SyncMode::None,
            FinalSync::Fdatasync => SyncMode::FdatasyncAtEnd,
            FinalSync::Fsync => SyncMode::AtEnd,
        };
        Workload {
            operation,
            pattern: Pattern::Sequential,
            block_size: self.block_size,
            offset,
            span: self.bytes_max(),
            cache: if flags.direct {
                CacheMode::Direct
            } else {
                CacheMode::Buffered
            },
            sync,
            stop: Stop {
                bytes: self.bytes_max(),
                ..Stop::default()
            },
            engine: EngineChoice::Sync,
            copy: Some(Copying {
                dd: self.clone(),
                measured,
            }),
            ..Workload::default()
        }
    }
}

/// What makes a workload a copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copying {
    /// What was asked for.
    pub dd: Dd,
    /// Which end the figures are of; the other is only its source or its sink.
    pub measured: End,
}
