//! Where the hosts of a group wait for one another.

use diskfacts_engine::AgreedStart;
use diskfacts_record::together::AgreedTrial;
use std::error::Error;
use thiserror::Error;

/// How a host meets the others: by a clock that all have, or by messages. Moments of this host
/// are those of its `CLOCK_MONOTONIC`.
pub(in super::super) trait Rendezvous: Send {
    /// Nanoseconds until a trial begins, as far as that is known before it is prepared; less
    /// than 0 is over.
    fn ahead_ns(&self, trial: &AgreedTrial) -> i64;

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
    /// be off, and why it is void, if it is.
    fn done(&mut self, trial: &mut AgreedTrial, monotonic_ns: (u64, u64));
}

/// A signal came while this host waited for the others.
#[derive(Debug, Error)]
#[error("stopped while waiting for the start that was agreed")]
pub(in super::super) struct StoppedWaiting;
