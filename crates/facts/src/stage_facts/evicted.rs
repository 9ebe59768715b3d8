//! A stage of memory that read from the device: the page cache did not keep what had been read into
//! it.

use super::StageFacts;
use crate::memory_limit::WARMING;
use crate::prelude::*;

/// Share of the bytes that came from the device from which on it is worth a word.
const SHARE: f64 = 0.02;

/// What came from the device all the same.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Evicted {
    /// Share of the bytes.
    pub(crate) of_bytes: f64,
    /// Share of the time that reading them took, as far as that is known.
    pub(crate) of_time: Option<f64>,
}

impl Evicted {
    /// `None` too of what was never read into memory, so that nothing took it out.
    pub(crate) fn of(facts: &StageFacts<'_>) -> Option<Self> {
        let of_bytes = facts.figures.layers.beyond_memory()?;
        let warm = facts.only_reads() && facts.workload().cache == CacheMode::Warm;
        unless(!warm || of_bytes <= 0.0)?;
        let of_requests = facts.spent(&[
            Spent::Device,
            Spent::BlockLayer,
            Spent::Scheduler,
            Spent::Server,
        ]);
        // With fewer bytes the time decides: what comes from a device takes up to thousands of
        // times as long as what memory holds.
        unless(of_bytes < SHARE && of_requests.is_none_or(|share| share < WORTH_A_WORD))?;
        let never = |trial: &&Trial| trial.evidence.unseen.iter().any(|one| one.what == WARMING);
        unless(facts.trials().iter().any(never))?;
        let asleep = facts.spent(&[Spent::Cache]);
        let of_time = of_requests.zip(asleep).map(|(a, b)| (a + b).min(1.0));
        Some(Self { of_bytes, of_time })
    }

    /// Share of the time that it accounts for.
    pub(crate) fn share(&self) -> f64 {
        self.of_time.unwrap_or(self.of_bytes).min(1.0)
    }
}
