//! The kernel's queue in front of the device is the limit: it lets fewer requests
//! through than are there, its scheduler sends few of many, or keeps the device idle for
//! a process that may come back.

use super::prelude::*;
use super::queue::set;
use super::scheduler;
use crate::stage_facts::io_limit;
use crate::stage_facts::queue::NarrowQueue;

pub(super) const LIMITER: Limiter = Limiter {
    name: "device-queue",
    not_in: &[
        Spent::User,
        Spent::Kernel,
        Spent::Processor,
        Spent::Device,
        Spent::Flush,
    ],
    needs: &[NoDocument, Blocks, Closed, FromDisk],
    find: queue_holds_back,
    ..Limiter::ANY
};

/// Share of the rate that those have who are no more than get through: the rest is what is lost
/// while one of few comes back and the next is handed over.
const AS_FAST: f64 = 0.9;

fn queue_holds_back(facts: &StageFacts<'_>) -> Option<Candidate> {
    unless(io_limit::is_reached(facts))?;
    held_back(facts)
        .or_else(|| scheduler::few_of_many(facts))
        .or_else(|| scheduler::few_places(facts))
        .or_else(|| idled(facts))
        .or_else(|| scheduler::idles_at_syncs(facts))
}

/// Fewer requests got through than were there.
fn held_back(facts: &StageFacts<'_>) -> Option<Candidate> {
    let queue = NarrowQueue::of(facts)?;
    let (device, cap, wanted) = (queue.device, queue.cap, queue.wanted);
    let share = 1.0 - cap / wanted;
    let (name, of_time) = (&device.name, percent(share));
    let numbers = [wanted, facts.depth(), cap, queue.counted];
    let [many, depth, through, counted] = numbers.map(ratio);
    let of_pieces = if queue.pieces > 1.0 {
        format!(" of {} requests each", queue.pieces)
    } else {
        String::new()
    };
    let by_whom = match device.nr_requests.filter(|_| queue.is_kernels) {
        Some(each) => format!("nr_requests is {each}"),
        None => format!("the device takes {cap} at a time"),
    };
    let evidence = [
        format!(
            "{many} requests were to be in flight ({depth} operations{of_pieces}), and {by_whom}: \
             {through} / {many} get to {name} at a time."
        ),
        format!(
            "The kernel counted {counted} in its queue and the device together; an operation waited \
             {of_time} of its time for a place."
        ),
    ];
    // More than get through now, whoever lets them.
    let want = (wanted.ceil() as u64).next_power_of_two().to_string();
    let attribute = if queue.is_kernels {
        "queue/nr_requests"
    } else {
        "device/queue_depth"
    };
    let more = "the requests that are let through to more";
    let claim = format!(
        "The queue in front of {name} lets {} through at a time, where {many} were wanted.",
        ratio_of(cap, "request", "requests")
    );
    let pair = ("as-many-as-get-through", "as-it-was");
    let stages = facts.stages().and(pair.0, |w| {
        w.queue_depth = (cap / queue.pieces).max(1.0) as u32;
        w.streams = 1;
    });
    let stages = stages.and(pair.1, |_| ()).at_least(pair, Iops, AS_FAST);
    let found = cause(share, Likely, claim)
        .evidence(evidence)
        .evidence(queue.not_full)
        .settled_by(stages)
        .remedy(set(facts, device, (attribute, &want), more));
    Some(found)
}

/// The scheduler keeps the device idle for the I/O context whose turn it is, while
/// threads of others wait.
fn idled(facts: &StageFacts<'_>) -> Option<Candidate> {
    let device = facts.stack().top()?;
    let idle_ns = device.scheduler_idle_ns.filter(|ns| *ns > 0)?;
    // In one context nobody's turn ends.
    let in_one = facts.in_one_context()?;
    let (rate, better) = (facts.rate()?, in_one.rate()?);
    let share = 1.0 - rate / better;
    unless(share < WORTH_A_WORD)?;
    let evidence = [
        format!(
            "{} keeps the device idle for up to {} for the context whose turn it is, and {} \
             threads of contexts of their own take turns.",
            device.scheduler.as_deref().unwrap_or("The scheduler"),
            show_duration(idle_ns),
            facts.workload().pool?.threads
        ),
        format!(
            "{}, without that, is {} times as fast: {} of the time is lost.",
            in_one.stage.label(),
            ratio(better / rate),
            percent(share)
        ),
    ];
    let claim = "The scheduler keeps the device idle for one thread of a pool while the next one \
                 waits.";
    let question = "The plan `streams` reads by one thread, by a pool in one context and by a pool \
                    in several: only the last one slow speaks for it.";
    let idle = ("queue/iosched/slice_idle", "0");
    let found = cause(share, Likely, claim.into())
        .evidence(evidence)
        .case("idled")
        .question(question)
        .settled_by(Settling::BuiltIn("streams"))
        .remedy(set(facts, device, idle, "scheduler = \"deadline\""));
    Some(found)
}
