//! Large transfers: whether a stage is one, and how evenly its bytes flow.

use super::Subject;

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
            in_flight >= FLOWING || self.read_ahead() || self.written_behind()
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

    /// Whether the kernel or the drive gathers what is written in order.
    fn written_behind(&self) -> bool {
        self.only_writes() && self.workload().block_size >= 16 << 10
    }

    /// The largest rate of a large transfer of the run in this direction, this stage's
    /// included, bytes/s.
    pub(super) fn best_flow(&self) -> Option<f64> {
        let writes = self.workload().operation.writes();
        let others = self
            .others()
            .filter(|other| other.flows() && other.workload().operation.writes() == writes);
        let own = self.flows().then(|| self.rate()).flatten();
        others
            .filter_map(|other| other.rate())
            .chain(own)
            .reduce(f64::max)
    }
}
