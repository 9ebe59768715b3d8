//! Reads through the page cache that were to be in flight together, of which few get to the
//! device: who reads through it waits for its pages, so as many are under way as there are
//! threads that wait (kernel, `io_uring_enter(2)`: what would block goes to workers).

use super::prelude::*;

pub(super) const LIMITER: Limiter = Limiter {
    name: "buffered-depth",
    needs: &[NoDocument, Blocks, OnlyReads, FromDisk, Closed, Buffered],
    find: few_reach_the_device,
    ..Limiter::ANY
};

/// Share of what was to be in flight that is with the devices at most, for it to be few.
const FEW: f64 = 0.5;

fn few_reach_the_device(facts: &StageFacts<'_>) -> Option<Candidate> {
    let wanted = facts.outstanding();
    let own_each = facts.workload().queue_depth > 1 && !facts.in_order();
    let waits = facts.spent(&[Spent::Cache])?;
    let latency_ns = facts.figures.budget.as_ref()?.latency_ns;
    let with_device = facts.spent(&[Spent::Device, Spent::Scheduler, Spent::BlockLayer])?;
    let with_device_ns = with_device * latency_ns;
    // Little's law, of the time that a read is with the devices.
    let with_device = facts.mean_iops()? * with_device_ns / 1e9;
    unless(!own_each || wanted < 2.0 || with_device > FEW * wanted || waits < FEW / 2.0)?;
    let claim = format!(
        "Of the {wanted} reads that were to be in flight {} are with the device at a time: \
         through the page cache the others wait for their turn in the kernel.",
        ratio(with_device)
    );
    let [all, there] = [latency_ns, with_device_ns].map(duration);
    let line = format!(
        "A read takes {all}, of which {there} with the device; {} of its time it waits for its \
         page without being there.",
        percent(waits)
    );
    let stages = facts.stages().and("through-the-cache", |_| ());
    let stages = stages.and("direct", |w| w.cache = CacheMode::Direct);
    let stages = stages.without(("direct", "through-the-cache"), Iops, waits);
    Some(
        cause(waits, Likely, claim)
            .evidence([line])
            .settled_by(stages),
    )
}
