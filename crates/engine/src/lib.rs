//! Operations in, completions out: the I/O engines and the measuring loop.
//!
//! An [`Engine`] takes a batch of operations and hands back completions; it
//! knows nothing of patterns, latency or stop rules. The measuring loop
//! ([`measure`]) knows those and nothing of system calls. [`trial`] puts both on
//! threads, one engine per stream, and adds up what they recorded.
//!
//! # Contract of the loop
//! While it measures it allocates nothing, locks nothing, formats nothing and
//! decides nothing that could have been decided before. Each operation gets two
//! time stamps and one histogram entry; what that costs is measured with the
//! [`null`] engine and reported in every run.
//!
//! # Contract of an engine
//! `tests/contract.rs` runs the same suite on each: every operation taken is
//! completed exactly once, in any order; `submit` takes as many as fit and says
//! how many; what was written is what is read; a failed operation carries its
//! error number and does not disturb the others.

pub mod buffers;
pub mod clock;
#[cfg(target_os = "linux")]
pub mod copy;
pub mod engine;
pub mod files;
pub mod fixed;
pub mod handling;
pub mod io_priority;
pub mod measure;
#[cfg(target_os = "linux")]
pub mod mmap;
pub mod null;
pub mod pick;
pub mod pool;
pub mod run_delay;
pub mod sim;
pub mod sync;
pub mod trial;
#[cfg(target_os = "linux")]
pub mod uring;
pub mod values;

mod asleep;
mod beside;
mod cpu;
mod crew;
mod errno;
mod error;
mod intervals;
mod live;
mod lookout;
mod outcome;
mod over_time;
mod part;
mod pauses;
mod stream;
mod stream_file;

pub use clock::Clock;
pub use engine::{Abilities, Completion, Done, Engine, FailedIn, Op, SyncEach, Wait};
pub use errno::said as error_said;
pub use error::TrialError;
pub use handling::Handling;
pub use live::LiveLatencies;
pub use outcome::TrialOutcome;
pub use stream_file::StreamFile;
pub use trial::{AgreedStart, Prepare, Progress, Trial, overhead_ns_per_io, run_trial};
