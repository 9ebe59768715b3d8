//! The single requests of a few moments of a trial: when each was queued, issued to the device
//! and completed.
//!
//! A [`Burst`] is a row of requests that completed one after the other. A trial has two at most:
//! its first requests, and those around the slowest of all that follow. Requests that were still
//! under way when a burst ends are not in it.
//!
//! They are found in [`Evidence::bursts`](crate::Evidence::bursts) of the first trial of a stage:
//!
//! ```
//! # use diskfacts_record::Run;
//! fn of_stage(run: &Run, stage: &str) -> Option<diskfacts_record::Bursts> {
//!     let mut trials = run.trials.iter().filter(|trial| trial.stage == stage);
//!     Some(trials.find_map(|trial| trial.evidence.bursts.as_ref())?.unpack())
//! }
//! ```

mod json;
mod keeper;
mod packed;

pub use keeper::BurstKeeper;
pub use packed::PackedBursts;

use crate::evidence::RequestKind;
use serde::{Deserialize, Serialize};

/// The requests of a few moments of a trial.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bursts {
    /// Names of the devices that the requests are of, in the order of the stack.
    pub devices: Vec<String>,
    /// In the order of time.
    pub bursts: Vec<Burst>,
}

/// Requests that completed one after the other, on whatever device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Burst {
    /// Which requests of the trial they are.
    pub of: BurstOf,
    /// When it begins, which is when the first of its requests was queued or issued: nanoseconds
    /// from the opening of the observers' window, which is some milliseconds before the first
    /// operation of the trial at most.
    pub from_ns: u64,
    /// By when they were queued, or else issued.
    pub requests: Vec<BurstRequest>,
}

/// Which requests of a trial a burst has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BurstOf {
    /// The first.
    First,
    /// The slowest of those behind the first burst, and what completed before and after it.
    Slowest,
}

/// A request. Its times are nanoseconds from the beginning of its burst.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BurstRequest {
    /// Its device, an index into [`Bursts::devices`].
    pub device: usize,
    /// What it asked for.
    pub operation: RequestKind,
    /// Where it begins on the device, bytes, a multiple of 512; 0 of a flush.
    pub offset_bytes: u64,
    /// How long it is, a multiple of 512; 0 of a flush.
    pub bytes: u64,
    /// When it was made, or put into the queue; not known of some.
    pub queued_ns: Option<u64>,
    /// When it was given to the device, the last time.
    pub issued_ns: u64,
    /// When the device had done it.
    pub completed_ns: u64,
    /// Whether a thread of diskfacts made it, and not another program or the kernel, which
    /// writes back what is dirty; absent where that is not known.
    pub ours: Option<bool>,
    /// Whether the device reported an error.
    pub failed: bool,
}

impl BurstRequest {
    /// When it began: when it was queued, where that is known, else when it was issued.
    pub fn began_ns(&self) -> u64 {
        self.queued_ns.unwrap_or(self.issued_ns)
    }

    /// From when it began to when it was done, nanoseconds.
    pub fn took_ns(&self) -> u64 {
        self.completed_ns.saturating_sub(self.began_ns())
    }
}

#[cfg(test)]
mod tests;
