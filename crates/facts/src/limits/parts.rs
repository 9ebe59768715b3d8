//! In which parts of an operation's time a limiter can lie: it accounts for no more than
//! these have together, whatever its own arithmetic says.
//!
//! Two limiters may both be consistent with a rate; where the time went decides between
//! them. What waits in a scheduler is not the journal's, though more journal makes it wait
//! longer; and while a group's limit holds operations back, no device is silent.

use super::{
    OF_BUSY_DEVICES, OF_HARDWARE, device_queue, flush_per_write, journal, memory_disk, network,
    page_cache, read_ahead, stall,
};
use diskfacts_record::{Budget, Spent};

/// What the threads did themselves, and waited for with the devices done.
const OF_THREADS: [Spent; 5] = [
    Spent::User,
    Spent::Kernel,
    Spent::Processor,
    Spent::Blocked,
    Spent::Completion,
];

/// Limiters by name, and the parts in which they cannot lie. Waiting in front of a device
/// that is full is the device's. What nothing explains may be anybody's.
const NOT_IN: [(&[&str], &[Spent]); 7] = [
    (&OF_HARDWARE, &OF_THREADS),
    (&OF_BUSY_DEVICES, &OF_THREADS),
    (&[network::NAME, stall::NAME, read_ahead::NAME], &OF_THREADS),
    (&[memory_disk::NAME, page_cache::NAME], &[Spent::Blocked]),
    (&[stall::NAME], &[Spent::Due, Spent::Dirty]),
    (
        // The work for a journal is the kernel's.
        &[journal::NAME, flush_per_write::NAME],
        &[
            Spent::User,
            Spent::Processor,
            Spent::Admission,
            Spent::Scheduler,
        ],
    ),
    (
        &[device_queue::NAME],
        &[
            Spent::User,
            Spent::Kernel,
            Spent::Processor,
            Spent::Device,
            Spent::Flush,
        ],
    ),
];

/// Share of a stage's time that a limiter can account for at most.
pub(crate) fn at_most(limiter: &str, budget: Option<&Budget>) -> f64 {
    let Some(budget) = budget else {
        return 1.0;
    };
    let not_in = |part: &Spent| {
        let mut rows = NOT_IN.iter();
        rows.any(|(limiters, parts)| limiters.contains(&limiter) && parts.contains(part))
    };
    let elsewhere = budget.parts.iter().filter(|one| not_in(&one.part));
    let elsewhere_ns: f64 = elsewhere.map(|one| one.mean_ns).sum();
    (1.0 - elsewhere_ns / budget.latency_ns).clamp(0.0, 1.0)
}
