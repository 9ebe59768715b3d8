//! Where the hosts of a group wait for one another.

use super::Agreement;
use crate::exit::Failure;
use diskfacts_engine::AgreedStart;
use diskfacts_record::together::{AgreedTrial, LostHost};
use std::error::Error;
use thiserror::Error;

/// How a host meets the others: by a clock that all have, or by messages. Moments of this host
/// are those of its `CLOCK_MONOTONIC`.
pub(in super::super) trait Rendezvous: Send {
    /// Which trial of the agreement is next, an index; `None` after the last.
    ///
    /// # Errors
    /// Why the hosts do not go on.
    fn next(&mut self, agreement: &Agreement) -> Result<Option<usize>, Failure>;

    /// Nanoseconds until a trial begins; less than 0 is over. `None` where that is agreed on when
    /// all are prepared.
    fn ahead_ns(&self, trial: &AgreedTrial) -> Option<i64>;

    /// This host has prepared a trial. Comes back `lead_ns` nanoseconds before it begins, or at
    /// once where that is over, and says when that is; notes at the trial what is known then.
    ///
    /// # Errors
    /// [`StoppedWaiting`] when a signal came; else why there is no trial.
    fn ready(
        &mut self,
        trial: &mut AgreedTrial,
        lead_ns: u64,
    ) -> Result<AgreedStart, Box<dyn Error + Send + Sync>>;

    /// It is over, and lasted from the first of these moments to the second, nanoseconds on
    /// `CLOCK_MONOTONIC`. Notes at the trial when that was on the common clock, how far that may
    /// be off, and why it is void, if it is. Answers whether it is kept as a trial of this run.
    fn done(&mut self, trial: &mut AgreedTrial, monotonic_ns: (u64, u64)) -> bool;

    /// It was not done, or is of no use, and is void on this host; it would have begun this late.
    fn missed(&mut self, trial: &AgreedTrial, late_ns: u64);

    /// Hosts that are known to have been lost.
    fn lost(&self) -> Vec<LostHost>;

    /// Whether this host says on standard error what becomes of the trials.
    fn speaks(&self) -> bool;
}

/// A signal came while this host waited for the others.
#[derive(Debug, Error)]
#[error("stopped while waiting for the start that was agreed")]
pub(in super::super) struct StoppedWaiting;

/// The other hosts do without this trial.
#[derive(Debug, Error)]
#[error("{0}")]
pub(in super::super) struct Cancelled(pub(in super::super) String);
