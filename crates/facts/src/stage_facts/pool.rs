//! Threads that serve a stream, and in whose name they ask.

use super::StageFacts;
use crate::beside::TRIALS;
use crate::prelude::{show_throughput, unless};
use diskfacts_plan::{IoContext, Pool, Stop, Workload};

/// The threads of a stage that are several and have their I/O contexts so.
fn pool(facts: &StageFacts<'_>, io_context: IoContext) -> Option<Pool> {
    let pool = facts.workload().pool;
    pool.filter(|pool| pool.threads > 1 && pool.io_context == io_context)
}

impl<'a> StageFacts<'a> {
    /// Of threads with an I/O context each: the stage in which as many share one, and which is the
    /// same otherwise, its settings of the kernel too; of several the fastest.
    pub(crate) fn in_one_context(&self) -> Option<StageFacts<'a>> {
        let own = pool(self, IoContext::Separate)?;
        let bare = |one: &StageFacts<'_>| Workload {
            pool: None,
            stop: Stop::default(),
            ..one.workload().clone()
        };
        let others = self.others().filter(|other| {
            pool(other, IoContext::Shared).is_some_and(|pool| pool.threads == own.threads)
                && bare(other) == bare(self)
                && other.stack() == self.stack()
        });
        let rates = others.filter_map(|other| Some((other.rate()?, other)));
        let fastest = rates.max_by(|a, b| a.0.total_cmp(&b.0));
        fastest.map(|(_, other)| other)
    }
}

/// Schedulers that look at I/O contexts: Linux's `bfq`, `cfq` until 5.0, and that
/// of a simulated host.
pub(crate) const FAIR: [&str; 3] = ["bfq", "cfq", "fair"];

/// The disks of a stage whose scheduler looks at I/O contexts, with that.
pub(crate) fn fair_disks<'f>(
    facts: &'f StageFacts<'_>,
) -> impl Iterator<Item = (&'f str, &'f str)> {
    let disks = facts.stack().leaves();
    let disks = disks.filter_map(|disk| Some((disk.name.as_str(), disk.scheduler.as_deref()?)));
    disks.filter(|(_, scheduler)| FAIR.contains(scheduler))
}

/// How many times as fast the threads of a stage are in one I/O context, and the figures, a
/// sentence; `None` where it may be chance.
pub(crate) fn gain_of_one_context(facts: &StageFacts<'_>) -> Option<(f64, Vec<String>)> {
    let shared = facts.in_one_context()?;
    let [one, many] = [&shared, facts].map(|stage| &stage.figures.throughput_bytes_per_s);
    unless(one.trials.min(many.trials) < TRIALS || one.min <= many.max)?;
    let workload = facts.workload();
    let disturbed = workload.beside.as_ref().map_or("", |_| ", disturbed");
    let line = format!(
        "{} threads{disturbed} do {} in one I/O context, {} in contexts of their own.",
        workload.pool?.threads,
        show_throughput(one.median),
        show_throughput(many.median),
    );
    Some((one.median / many.median, vec![line]))
}
