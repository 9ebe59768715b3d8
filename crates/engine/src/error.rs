//! Why a trial could not be run.

use thiserror::Error;

/// Why a trial could not be run. Operations that fail are no such error.
#[derive(Debug, Error)]
pub enum TrialError {
    /// The target could not be opened as the workload needs it.
    #[error(transparent)]
    Open(directio::Error),
    /// The target was there when the run began, and is no more.
    #[error(
        "{} is gone, though it was there when the run began: a device was unplugged, detached or \
         reset, or a file was removed; `dmesg --ctime | tail -n 30` tells what the kernel saw",
        path.display()
    )]
    Gone {
        /// Where it was.
        path: std::path::PathBuf,
        /// What the system answered.
        #[source]
        source: std::io::Error,
    },
    /// There was no memory for the buffers.
    #[error("no memory for the buffers; lower queue_depth, streams or block_size")]
    Buffers(#[source] directio::Error),
    /// No whole block lies in the span.
    #[error("no block of {block_size} bytes fits between {offset} and {size}")]
    NoBlock {
        /// Bytes per block.
        block_size: u64,
        /// First byte of the span.
        offset: u64,
        /// Size of the target.
        size: u64,
    },
    /// The files of a trial could not be made or taken away again.
    #[error(transparent)]
    Files(#[from] crate::files::FolderError),
    /// The engine is not to be had.
    #[error("{0}")]
    Engine(String),
    /// The threads may not have the I/O priority that is asked for.
    #[error("io_priority: {asked} could not be set; {hint}")]
    IoPriority {
        /// Which one.
        asked: diskfacts_plan::IoPriority,
        /// What to do.
        hint: &'static str,
        /// What the system answered.
        #[source]
        source: std::io::Error,
    },
    /// The engine broke in the middle.
    #[error("the {engine} engine broke while measuring")]
    Broken {
        /// Which engine.
        engine: &'static str,
        /// What the system answered.
        #[source]
        source: std::io::Error,
    },
    /// A thread could not be started or ended without a record.
    #[error("a measuring thread {0}")]
    Thread(String),
    /// It would have begun too long after the moment that was agreed with other hosts.
    #[error(
        "it was ready {} after the agreed start, and {} late is the most",
        diskfacts_plan::units::show_duration(*late_ns),
        diskfacts_plan::units::show_duration(*late_ns_max)
    )]
    Late {
        /// By how many nanoseconds.
        late_ns: u64,
        /// Nanoseconds that were allowed.
        late_ns_max: u64,
    },
    /// The work between set-up and start failed.
    #[error("preparing the trial failed")]
    Prepare(#[source] Box<dyn std::error::Error + Send + std::marker::Sync>),
}
