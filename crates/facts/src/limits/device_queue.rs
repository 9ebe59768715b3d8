//! The kernel's queue in front of the device is the limit: it lets fewer requests
//! through than are there, its scheduler sends few of many, or keeps the device idle for
//! a process that may come back.

use super::prelude::*;
use super::queue::{cap, on_the_way, pieces, set};
use super::{cgroup_throttle, scheduler_idle, scheduler_turns};

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

/// Operations in flight over the cap, from which on it holds some of them back.
const OVER: f64 = 1.25;
/// Share of what more operations in flight could bring by Little's law, which a
/// stage below the cap must have shown: less says that the device was full before.
const GAIN: f64 = 0.25;
/// A cap that few devices are full at: at half of what one SATA disk takes (32) a
/// device without other figures may as well be the limit itself.
const SMALL_CAP: f64 = 16.0;

/// Share of the rate that those have who are no more than get through: the rest is what is lost while one
/// of few comes back and the next is handed over.
const AS_FAST: f64 = 0.9;

fn queue_holds_back(facts: &StageFacts<'_>) -> Option<Candidate> {
    unless(cgroup_throttle::is_reached(facts))?;
    held_back(facts)
        .or_else(|| scheduler_turns::few_of_many(facts))
        .or_else(|| scheduler_turns::few_places(facts))
        .or_else(|| idled(facts))
        .or_else(|| scheduler_idle::at_each_sync(facts))
}

/// The device whose queue lets least through, of those that all the work goes by.
fn narrowest<'a>(facts: &'a StageFacts<'_>) -> Option<(&'a BlockDevice, (f64, bool))> {
    on_the_way(facts)
        .filter_map(|device| Some((device, cap(device)?)))
        .min_by(|(_, a), (_, b)| a.0.total_cmp(&b.0))
}

/// Fewer requests got through than were there.
fn held_back(facts: &StageFacts<'_>) -> Option<Candidate> {
    let (device, (cap, is_kernels)) = narrowest(facts)?;
    let trials = facts.trials();
    // A sync follows its write: of each stream one request is under way.
    let pieces = pieces(device, facts.workload().block_size) as f64;
    let wanted = facts.depth() * pieces;
    unless(
        facts.direct() != Some(true) || facts.workload().sync.each_write() || wanted < OVER * cap,
    )?;
    let counters = trials.iter().flat_map(|trial| &trial.evidence.devices);
    let of_device = counters.filter(|counters| counters.name == device.name);
    let counted_ms: u64 = of_device.map(|one| one.read_ms + one.write_ms).sum();
    let counted = counted_ms as f64 / 1e3 / facts.seconds();
    // The kernel counts a request from when it has a place in its queue: with
    // nr_requests as the cap no more than that were counted.
    unless(is_kernels && counted > OVER * cap)?;
    let share = 1.0 - cap / wanted;
    let by = gains(facts, cap)?;
    let (name, many) = (&device.name, ratio(wanted));
    let of_pieces = if pieces > 1.0 {
        format!(" of {pieces} requests each")
    } else {
        String::new()
    };
    let by_whom = match device.nr_requests.filter(|_| is_kernels) {
        Some(each) => format!("nr_requests is {each}"),
        None => format!("the device takes {cap} at a time"),
    };
    let evidence = [
        format!(
            "{many} requests were to be in flight ({} operations{of_pieces}), and {}: {} / {many} \
             get to {name} at a time.",
            ratio(facts.depth()),
            by_whom,
            ratio(cap)
        ),
        format!(
            "The kernel counted {} in its queue and the device together; an operation waited {} \
             of its time for a place.",
            ratio(counted),
            percent(share)
        ),
    ];
    // More than get through now, whoever lets them.
    let want = (wanted.ceil() as u64).next_power_of_two().to_string();
    let attribute = if is_kernels {
        "queue/nr_requests"
    } else {
        "device/queue_depth"
    };
    let more = "the requests that are let through to more";
    let claim = format!(
        "The queue in front of {name} lets {} through at a time, where {many} were wanted.",
        ratio_of(cap, "request", "requests")
    );
    let stages = facts.stages().and("as-many-as-get-through", |w| {
        w.queue_depth = (cap / pieces).max(1.0) as u32;
        w.streams = 1;
    });
    let stages = stages.and("as-it-was", |_| ()).at_least(
        ("as-many-as-get-through", "as-it-was"),
        Iops,
        AS_FAST,
    );
    let found = cause(share, Likely, claim)
        .evidence(evidence)
        .evidence(by)
        .settled_by(stages)
        .remedy(set(facts, device, (attribute, &want), more));
    Some(found)
}

/// Whether the device can do more than at the cap, as far as the run tells, and by which
/// figures; `None` when it was full before.
fn gains(facts: &StageFacts<'_>, cap: f64) -> Option<Vec<String>> {
    let own = facts.iops()?;
    let below = facts
        .alike(Same::WORK)
        .filter(|other| other.workload().rate.is_none() && other.depth() < 0.75 * cap)
        .filter_map(|other| Some((other.depth().max(1.0), other.iops()?, other.stage.label())))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let Some((depth, iops, label)) = below else {
        return (cap <= SMALL_CAP).then(Vec::new);
    };
    // With twice as many in flight, twice as many a second as long as the device
    // has places free.
    let (places, gained) = (cap / depth, own / iops);
    (gained - 1.0 >= GAIN * (places - 1.0)).then(|| {
        vec![format!(
            "{label} had {} in flight and did {} a second; {} times as many got through here, \
             and {} times as many were done: the device was not full.",
            ratio(depth),
            rate_digits(iops),
            ratio(places),
            ratio(gained)
        )]
    })
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
