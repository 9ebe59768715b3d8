//! What the kernel of this machine knows of its storage: the stack under a
//! path, the counters of its devices, the page cache, where a file's data lies,
//! and whether a device may be written.
//!
//! This crate only looks, but for [`loop_device`], which makes block devices over
//! files of our own, [`MemoryLimit`], [`IoWeight`] and [`settings`], which are put back,
//! and [`Caches`], which are dropped: nothing in it writes to a device. Roots of `/proc`,
//! `/sys` and `/dev` are a parameter ([`Roots`]), parsers take bytes
//! ([`parse`]), so that captured trees of other machines are test data.
//!
//! Linux is what it is for. Elsewhere it compiles, and says of each question
//! that it has no answer.
//!
//! What cannot be found out is never guessed: it is absent, and a line of
//! `Unseen` says what and why. Only what makes the question itself meaningless
//! is an [`Error`].

#[cfg(target_os = "linux")]
mod absence;
pub mod activity;
mod answering;
#[cfg_attr(not(target_os = "linux"), path = "beside/elsewhere.rs")]
mod beside;
mod control_group;
pub mod cpu;
mod drop_caches;
mod error;
pub mod extents;
pub mod io_weight;
mod kernel_clock;
#[cfg(target_os = "linux")]
mod look;
#[cfg(target_os = "linux")]
pub mod loop_device;
mod machine;
mod memory_limit;
pub mod observe;
pub mod parse;
pub mod read_ahead;
pub mod residency;
mod roots;
#[cfg(target_os = "linux")]
pub mod settings;
#[cfg(unix)]
pub mod signals;
pub mod signature;
mod space;
pub mod stack;
mod standard_streams;
mod sysfs;
pub mod trace;
pub mod usage;

pub use answering::{ANSWERS_WITHIN, in_flight, not_answering};
pub use cpu::{CpuScope, CpuTimes};
pub use drop_caches::{Caches, may_drop_caches};
pub use error::Error;
pub use extents::{Extents, ExtentsMethod, extents};
pub use io_weight::IoWeight;
pub use kernel_clock::{ClockUnknown, KernelClock, clock_error_ns};
#[cfg(target_os = "linux")]
pub use loop_device::LoopDevice;
pub use machine::machine;
pub use memory_limit::MemoryLimit;
pub use observe::{AllowedMemory, BesideObserver, Observer, Observers, allowed_memory};
pub use parse::ParseError;
pub use parse::diskstats::{CountersReset, Diskstats, DiskstatsLine, parse_diskstats};
pub use residency::{DirtyPages, Dropped, drop_cache, residency, write_back};
pub use roots::Roots;
pub use signature::{ReadAt, Signature, SignatureKind, signatures};
pub use space::{Space, filesystem_read_only, space};
#[cfg(target_os = "linux")]
pub use stack::{Pinned, Place};
pub use stack::{Subject, SubjectKind, all_devices, health_after, stack_of, stack_of_subject};
#[cfg(unix)]
pub use standard_streams::let_large_writes_fail;
pub use standard_streams::{stdin_was_closed, stdout_was_closed};
pub use usage::{Obstacle, ObstacleKind, Usage, usage_by_tables, usage_while_held};
#[cfg(target_os = "linux")]
pub use usage::{usage, usage_of};
