//! What a disk of known delay wrote down of a trial, as the truth for what lies in it and
//! around it.

use diskfacts_testkit::{DelayedDisk, Served};
use std::time::{Duration, Instant};

/// Means for each operation of a trial, ns.
#[derive(Debug, Clone, Copy)]
pub(super) struct DiskLog {
    /// With the disk, one request after the other where an operation has several.
    pub(super) service_ns: f64,
    /// While any request was with the disk.
    pub(super) any_ns: f64,
    /// Not with the disk, in a closed loop of operations that are one request each: so many are
    /// under way at any time until there are no more to begin (Little, 1961), and the disk knows
    /// for how long it had them.
    pub(super) outside_ns: f64,
}

impl DiskLog {
    /// Of the requests since the log was taken last, those of a trial: its operations, so many at
    /// a time, each this many requests of so many bytes. What looks at a device before and after
    /// a trial asks for other sizes, or is before it.
    #[track_caller]
    pub(super) fn of(disk: &DelayedDisk, operations: usize, at_a_time: usize, bytes: u64) -> Self {
        let mut served = disk.served();
        served.retain(|one| one.bytes == bytes);
        assert!(served.len() >= operations, "{} requests", served.len());
        served.drain(..served.len() - operations);
        Self::of_requests(&served, operations, at_a_time)
    }

    /// Of all these requests.
    pub(super) fn of_requests(served: &[Served], operations: usize, at_a_time: usize) -> Self {
        let each = |sum: Duration| sum.as_nanos() as f64 / operations as f64;
        let service_ns = each(served.iter().map(Served::service).sum());
        let mut last = served[0].arrived;
        let (mut any, mut under_way) = (Duration::ZERO, 0.0);
        let begun = last;
        let mut replies: Vec<Instant> = served.iter().map(|one| one.replied).collect();
        replies.sort_unstable();
        for one in served {
            any += one.replied.saturating_duration_since(one.arrived.max(last));
            last = last.max(one.replied);
        }
        let mut before = begun;
        for (done, reply) in replies.iter().enumerate() {
            let many = at_a_time.min(replies.len() - done) as f64;
            under_way += many * (*reply - before).as_nanos() as f64;
            before = *reply;
        }
        Self {
            service_ns,
            any_ns: each(any),
            outside_ns: under_way / operations as f64 - service_ns,
        }
    }
}
