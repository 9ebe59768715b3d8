//! The kernel's trace events, in a buffer of our own.
//!
//! * [`Tracefs`] finds where the kernel shows its events, or mounts it where
//!   nobody else sees it.
//! * [`Instance`] is a private buffer: which events it takes, of which devices, is
//!   decided in the kernel; nobody else's tracing is touched. It is removed when it
//!   is dropped, and [`remove_stale_instances`] removes those of processes that were
//!   killed.
//! * [`Reader`] brings the events of all processors in order of time to a
//!   [`Consumer`]; [`Recorder`] does so on a thread of its own beside a measurement.
//!
//! What was lost is counted, and where in time it was lost is told
//! ([`Consumer::lost`], [`Losses`]).
//!
//! ```no_run
//! use diskfacts_host::Roots;
//! use diskfacts_host::trace::{Event, Instance, Options, Reader, Tracefs, any_of, device_number};
//!
//! # fn main() -> Result<(), diskfacts_host::trace::TraceError> {
//! let tracefs = Tracefs::open(&Roots::default())?;
//! let mut instance = Instance::create(&tracefs, Options::default())?;
//! let filter = any_of("dev", [device_number(7, 0)]);
//! let issue = instance.enable("block/block_rq_issue", Some(&filter))?;
//! let sector = issue.required("sector")?;
//! let mut reader = Reader::new(instance)?;
//! reader.switch().on()?;
//! // ... something reads from the device ...
//! reader.switch().off()?;
//! let losses = reader.finish(&mut |event: &Event<'_>| {
//!     if event.id() == Some(issue.id) {
//!         println!("{} ns: sector {:?}", event.time_ns, sector.unsigned(event.data));
//!     }
//! })?;
//! assert_eq!(losses.total(), 0);
//! # Ok(())
//! # }
//! ```

mod bursts;
mod error;
mod event;
#[cfg(target_os = "linux")]
mod instance;
mod merge;
#[cfg(target_os = "linux")]
mod name;
#[cfg(target_os = "linux")]
mod reader;
#[cfg(target_os = "linux")]
mod recorder;
#[cfg(target_os = "linux")]
mod remove;
#[cfg(target_os = "linux")]
mod schedule;
#[cfg(target_os = "linux")]
mod stale;
#[cfg(target_os = "linux")]
mod tracefs;

pub use bursts::{Burst, Pace};
pub use error::TraceError;
pub use event::{Consumer, Event, Gap, Losses, any_of, device_number};
#[cfg(target_os = "linux")]
pub use instance::{Clock, Instance, Options, Switch};
pub use merge::{CpuPages, Merge};
#[cfg(target_os = "linux")]
pub use reader::{Drained, Reader};
#[cfg(target_os = "linux")]
pub use recorder::{Recorded, Recorder};
#[cfg(target_os = "linux")]
pub use stale::{StaleInstances, instances_elsewhere, remove_stale_instances, stale_instances};
#[cfg(target_os = "linux")]
pub use tracefs::Tracefs;
