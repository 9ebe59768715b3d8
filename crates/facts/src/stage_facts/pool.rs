//! Threads that serve a stream, and in whose name they ask.

use super::StageFacts;
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
