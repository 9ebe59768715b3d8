//! Large transfers: whether a stage is one, and how evenly its bytes flow.

use super::Subject;
use super::spindle::RATE_MAX;
use crate::layers::all_leaves;

/// From so many bytes in flight on the way there is a small part of the time, on any
/// link up to a few hundred MB/s: 256 KiB at 500 MB/s are 0.5 ms, a command 0.02 to 0.1.
const FLOWING: f64 = 256.0 * 1024.0;
/// The same for one block anywhere: behind a seek of 12 ms a disk of 150 MB/s has to
/// move 2 MiB to spend as long on the bytes.
const FLOWING_ANYWHERE: f64 = 4.0 * 1024.0 * 1024.0;

impl Subject<'_> {
    /// Whether so many bytes are in flight, or read ahead by the kernel, that the time
    /// is that of the bytes.
    pub(super) fn flows(&self) -> bool {
        let workload = self.workload();
        let in_flight = workload.block_size as f64 * self.outstanding();
        let enough = if self.in_order() {
            let least = if self.waits_for_the_medium() {
                FLOWING_ANYWHERE
            } else {
                FLOWING
            };
            in_flight >= least || self.read_ahead() || self.written_behind()
        } else {
            workload.block_size as f64 >= FLOWING_ANYWHERE
        };
        enough && self.reaches_device() && !workload.sync.each_write()
    }

    /// Whether the kernel reads ahead of the stage.
    fn read_ahead(&self) -> bool {
        let through = self.workload().cache != diskfacts_plan::CacheMode::Direct;
        through && self.only_reads()
    }

    /// Whether something gathers what is written in order: the kernel where it goes through the
    /// page cache, the drive where its cache may be on.
    fn written_behind(&self) -> bool {
        let by_kernel = self.workload().cache != diskfacts_plan::CacheMode::Direct;
        let by_drive = self.rotates() == Some(false) || !all_leaves(self.stack(), "write through");
        self.only_writes() && self.workload().block_size >= 16 << 10 && (by_kernel || by_drive)
    }

    /// Whether each write is answered from the medium of a disk that may turn, with nothing
    /// asked of it meanwhile: the place behind it has to come round before the next.
    fn waits_for_the_medium(&self) -> bool {
        self.only_writes()
            && self.workload().cache == diskfacts_plan::CacheMode::Direct
            && self.outstanding() <= 1.0
            && self.rotates() != Some(false)
            && all_leaves(self.stack(), "write through")
    }

    /// The rate of a large transfer that a medium may have had, bytes/s: what is faster
    /// than any disk that turns went to memory, whether or not that was seen.
    pub(crate) fn flow(&self) -> Option<f64> {
        let array = self.leaves().any(|leaf| leaf.layout.is_some());
        let most = match self.rotates() {
            Some(true) if !array => self.leaves().count().max(1) as f64 * RATE_MAX,
            _ => f64::INFINITY,
        };
        let rate = self.flows().then(|| self.rate()).flatten();
        // What stayed in memory the medium did not have.
        let rate = rate.map(|rate| rate * (1.0 - self.from_memory()));
        rate.filter(|rate| *rate <= most)
    }

    /// The largest of these of the run in this direction, this stage's included.
    pub(super) fn best_flow(&self) -> Option<f64> {
        let writes = self.workload().operation.writes();
        let alike = self
            .all()
            .filter(|one| one.workload().operation.writes() == writes);
        alike.filter_map(|one| one.flow()).reduce(f64::max)
    }
}
