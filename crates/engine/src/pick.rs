//! Which engine does a workload here.
//!
//! Decided once per trial, before anything is measured, and recorded with the
//! reason whenever it is not what was asked for.

use crate::buffers::Buffers;
use crate::clock::Clock;
use crate::engine::SyncEach;
use crate::error::TrialError;
use crate::stream_file::StreamFile;
use diskfacts_plan::{CacheMode, EngineChoice, IoContext, Pool, SyncMode, Workload};

/// The engine for a trial, and over how many threads each stream is spread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picked {
    /// Which engine.
    pub kind: Kind,
    /// Operations in flight per thread.
    pub depth: u32,
    /// Threads that serve one stream together.
    pub lanes: u32,
    /// Why it is not what was asked for, each a sentence.
    pub fallbacks: Vec<String>,
}

/// The engines there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// No I/O.
    Null,
    /// One system call per operation.
    Sync {
        /// With `RWF_HIPRI`.
        high_priority: bool,
    },
    /// Loads and stores in a mapping of the file.
    Mmap,
    /// `io_uring`.
    Uring {
        /// With a ring that polls the device.
        iopoll: bool,
        /// With a kernel thread that takes submissions.
        sqpoll: bool,
    },
    /// Threads that serve the stream in turn, each in its own name.
    Pool {
        /// How many.
        threads: u32,
    },
    /// The worker threads of a ring, which share one I/O context.
    UringWorkers {
        /// At most so many.
        threads: u32,
    },
}

/// What an engine has to do after each write.
pub fn sync_each(mode: SyncMode) -> SyncEach {
    match mode {
        SyncMode::Fdatasync => SyncEach::Data,
        SyncMode::Fsync => SyncEach::Full,
        SyncMode::None
        | SyncMode::AtEnd
        | SyncMode::FdatasyncAtEnd
        | SyncMode::ODsync
        | SyncMode::OSync => SyncEach::None,
    }
}

/// What an engine has to do once, after the last write.
pub(crate) fn sync_at_end(mode: SyncMode) -> SyncEach {
    match mode {
        SyncMode::AtEnd => SyncEach::Full,
        SyncMode::FdatasyncAtEnd => SyncEach::Data,
        SyncMode::None
        | SyncMode::Fdatasync
        | SyncMode::Fsync
        | SyncMode::ODsync
        | SyncMode::OSync => SyncEach::None,
    }
}

/// Picks the engine for a workload on a file.
///
/// Left to itself it takes system calls for what applications do with system
/// calls (one operation at a time through the page cache, or a sync after each
/// write), because `io_uring` hands these to a worker thread and measures the
/// hand-over; also for modifications, which are a read and a write in turn, each
/// operation of a queue on a thread of its own; for characters, which pass through
/// one buffer; where values are checked; and `io_uring` for the rest. Without
/// `io_uring`, a queue depth
/// becomes as many threads.
///
/// # Errors
/// When the file can't be opened, there is no memory for the buffers, or
/// `io_uring` was asked for by name and is not to be had.
pub fn pick(
    workload: &Workload,
    file: &StreamFile<'_>,
    clock: Clock,
) -> Result<Picked, TrialError> {
    let one_at_a_time = Picked {
        kind: Kind::Sync {
            high_priority: workload.iopoll,
        },
        depth: 1,
        lanes: 1,
        fallbacks: Vec::new(),
    };
    if let Some(pool) = workload.pool {
        return pick_pool(pool, workload, file, clock);
    }
    match workload.engine {
        EngineChoice::Null => Ok(Picked {
            kind: Kind::Null,
            depth: workload.queue_depth,
            lanes: 1,
            fallbacks: Vec::new(),
        }),
        EngineChoice::Sync => Ok(one_at_a_time),
        EngineChoice::Mmap => Ok(Picked {
            kind: Kind::Mmap,
            ..one_at_a_time
        }),
        EngineChoice::Auto if with_calls_only(workload) => Ok(Picked {
            lanes: workload.queue_depth,
            ..one_at_a_time
        }),
        EngineChoice::Auto
            if workload.queue_depth == 1
                && !workload.sqpoll
                && !workload.iopoll
                && (workload.cache != CacheMode::Direct
                    || sync_each(workload.sync) != SyncEach::None) =>
        {
            Ok(one_at_a_time)
        }
        EngineChoice::Auto => match probe(workload, file, clock)? {
            Ok(picked) => Ok(picked),
            Err(reason) => Ok(Picked {
                depth: 1,
                lanes: workload.queue_depth,
                fallbacks: vec![without_uring(&reason, workload.queue_depth)],
                ..one_at_a_time
            }),
        },
        EngineChoice::IoUring if with_calls_only(workload) => Err(TrialError::Engine(
            "engine = \"io_uring\" cannot modify or check values: one of its operations reads or \
             writes; leave the engine to diskfacts with engine = \"auto\""
                .to_owned(),
        )),
        EngineChoice::IoUring => probe(workload, file, clock)?.map_err(|reason| {
            TrialError::Engine(format!(
                "engine = \"io_uring\" does not work here: {reason}; leave the engine to diskfacts with engine = \"auto\""
            ))
        }),
    }
}

/// Threads that share an I/O context are those of a ring: no other way to have
/// some is portable. Without one, a single thread is one context too.
fn pick_pool(
    pool: Pool,
    workload: &Workload,
    file: &StreamFile<'_>,
    clock: Clock,
) -> Result<Picked, TrialError> {
    let threads = pool.threads;
    let picked = |kind, depth, fallbacks| Picked {
        kind,
        depth,
        lanes: 1,
        fallbacks,
    };
    let depth = workload.queue_depth;
    if pool.io_context == IoContext::Separate {
        return Ok(picked(Kind::Pool { threads }, depth, Vec::new()));
    }
    Ok(match probe(workload, file, clock)? {
        Ok(_) => picked(Kind::UringWorkers { threads }, depth, Vec::new()),
        Err(reason) => picked(
            Kind::Pool { threads: 1 },
            depth,
            vec![format!(
                "one thread instead of {threads} that share an I/O context, which are those of \
                 io_uring: {reason}"
            )],
        ),
    })
}

/// Whether an operation is more than one read or one write.
fn with_calls_only(workload: &Workload) -> bool {
    workload.operation.modifies() || workload.values.is_some() || workload.touch.by_character()
}

fn without_uring(reason: &str, queue_depth: u32) -> String {
    if queue_depth == 1 {
        format!("system calls instead of io_uring: {reason}")
    } else {
        format!(
            "{queue_depth} threads with one system call each instead of io_uring with {queue_depth} operations in flight: {reason}"
        )
    }
}

#[cfg(not(target_os = "linux"))]
fn probe(_: &Workload, _: &StreamFile<'_>, _: Clock) -> Result<Result<Picked, String>, TrialError> {
    Ok(Err("io_uring exists on Linux only".to_owned()))
}

/// Reads a block through a ring like the one that the trial will use; without
/// polling, when that is what the kernel or the device refuses. The inner error
/// says why there is no ring at all.
#[cfg(target_os = "linux")]
fn probe(
    workload: &Workload,
    file: &StreamFile<'_>,
    clock: Clock,
) -> Result<Result<Picked, String>, TrialError> {
    use crate::uring::{NoWait, Options, Uring};

    let mut fallbacks = Vec::new();
    let mut wanted = Options {
        depth: workload.queue_depth,
        iopoll: workload.iopoll,
        sqpoll: workload.sqpoll,
        workers: None,
        nowait: NoWait::Never,
    };
    if wanted.iopoll && workload.sync != SyncMode::None {
        wanted.iopoll = false;
        fallbacks.push(
            "completions are not polled: a polling ring cannot sync (IORING_SETUP_IOPOLL)"
                .to_owned(),
        );
    }
    loop {
        // A small pool is enough to see what works; memory limits for the whole
        // one show when the threads register it, and cost only the registration.
        let opened = file.open(workload)?;
        let buffers = Buffers::new(1, workload.block_size, file.alignment, None)
            .map_err(TrialError::Buffers)?;
        let ring = Uring::new(
            (clock, clock.scale()),
            opened.file,
            buffers,
            SyncEach::None,
            Options { depth: 1, ..wanted },
        );
        let read = ring.and_then(|mut ring| ring.probe(workload.offset));
        let error = match read {
            Ok(()) => break,
            Err(error) => error,
        };
        let refusal = matches!(
            error.raw_os_error(),
            Some(
                libc::ENOSYS
                    | libc::EPERM
                    | libc::EACCES
                    | libc::EINVAL
                    | libc::EOPNOTSUPP
                    | libc::ENOMEM
            )
        );
        if !refusal {
            // The disk failed, not the ring: that is for the trial to count.
            break;
        }
        if wanted.iopoll {
            wanted.iopoll = false;
            fallbacks.push(format!(
                "completions are not polled: a polled read of this target failed ({error})"
            ));
        } else if wanted.sqpoll {
            wanted.sqpoll = false;
            fallbacks.push(format!(
                "submissions are not polled: a ring with a polling thread failed ({error})"
            ));
        } else {
            return Ok(Err(explain(&error)));
        }
    }
    Ok(Ok(Picked {
        kind: Kind::Uring {
            iopoll: wanted.iopoll,
            sqpoll: wanted.sqpoll,
        },
        depth: workload.queue_depth,
        lanes: 1,
        fallbacks,
    }))
}

#[cfg(target_os = "linux")]
fn explain(error: &std::io::Error) -> String {
    let cause = match error.raw_os_error() {
        Some(libc::ENOSYS) => "this kernel has none, or a container's seccomp profile hides it",
        Some(libc::EPERM | libc::EACCES) => {
            "forbidden by sysctl kernel.io_uring_disabled or a container's seccomp profile"
        }
        Some(libc::ENOMEM) => "not enough locked memory, see ulimit -l",
        _ => "a probing read through it failed",
    };
    format!("{cause} ({error})")
}
