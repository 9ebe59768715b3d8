//! Workloads and plans as pure data.
//!
//! A [`Workload`] says which I/O to do and nothing about how or on what; a
//! [`Plan`] is a named list of stages, each a workload with the rules that end
//! it. Nothing here opens a file, reads a clock or draws entropy: a plan and a
//! seed determine every offset ([`pattern`]) and, under a rate limit, every
//! intended start ([`arrivals`]).
//!
//! * [`units`]: sizes, durations and rates as people write them.
//! * [`workload`]: the vocabulary of I/O.
//! * [`check`]: whether a workload makes sense at all, and on a given target.
//! * [`mod@file`]: the TOML form of a plan, read and printed.
//! * [`files`]: operations on the files of a folder.
//! * [`io_priority`]: whose requests come first.
//! * [`kernel`]: settings of the kernel that a stage may ask for.
//! * [`observe`]: which observers look at a trial.
//! * [`write_mode`]: the ways to write a file, by their usual names.
//! * [`dd`]: what `diskfacts dd` is asked to do, in the words of GNU dd.
//! * [`sha256`]: digests, for names that are equal where what they name is.
//! * [`builtin`]: the plans that come with diskfacts.

pub mod arrivals;
pub mod builtin;
pub mod check;
pub mod dd;
pub mod file;
pub mod files;
pub mod io_priority;
pub mod kernel;
pub mod observe;
pub mod pattern;
pub mod plan;
pub mod precondition;
pub mod rng;
pub mod sha256;
pub mod share;
pub mod units;
mod unsaid;
pub mod workload;
pub mod write_mode;

pub use check::{Constraints, Problem};
pub use dd::{Copying, Dd};
pub use files::Files;
pub use io_priority::IoPriority;
pub use observe::Observe;
pub use plan::{Amount, Plan, Stage, Until};
pub use precondition::Precondition;
pub use share::Share;
pub use workload::{
    Arrivals, BufferAlignment, CacheMode, EngineChoice, IoContext, On, Operation, Pattern, Pool,
    Rate, Stop, SyncMode, Touch, Values, Workload,
};
pub use write_mode::WriteMode;
