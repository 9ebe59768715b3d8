//! The kernel's queue in front of the device is the limit: it lets fewer requests
//! through than are there, its scheduler sends few of many, or keeps the device idle for
//! a process that may come back.

use super::experiment::at_least;
use super::queue::{set, top};
use super::scheduler_turns;
use super::{Candidate, Standing, Subject};
use crate::words::{percent, ratio, ratio_of};
use diskfacts_plan::IoContext;
use diskfacts_plan::units::{rate_digits, show_duration};
use diskfacts_record::{BlockDevice, Confidence, DeviceKind, Quantity};

pub(super) const NAME: &str = "device-queue";

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

/// How many requests get to the device at a time, and who says so.
struct Cap {
    requests: f64,
    /// `nr_requests`, `queue_depth`.
    by: String,
    is_kernels: bool,
}

fn cap(device: &BlockDevice) -> Option<Cap> {
    let queues = device.hardware_queues.unwrap_or(1).max(1);
    let kernel = device.nr_requests.map(|each| Cap {
        requests: each.saturating_mul(queues) as f64,
        by: format!("nr_requests is {each}"),
        is_kernels: true,
    });
    let own = device.queue_depth.map(|depth| Cap {
        requests: depth as f64,
        by: format!("the device takes {depth} at a time"),
        is_kernels: false,
    });
    kernel
        .into_iter()
        .chain(own)
        .filter(|cap| cap.requests >= 1.0)
        .min_by(|a, b| a.requests.total_cmp(&b.requests))
}

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    if subject.imported()
        || !subject.moves_blocks()
        || subject.workload().rate.is_some()
        || subject.from_memory() > 0.5
        || super::cgroup_throttle::is_reached(subject)
    {
        return None;
    }
    held_back(subject)
        .or_else(|| scheduler_turns::check(subject, takes))
        .or_else(|| idled(subject))
}

/// How many requests a device takes at a time, as far as the kernel tells.
fn takes(device: &BlockDevice) -> Option<f64> {
    Some(cap(device)?.requests)
}

/// Whether the scheduler, and not the device, keeps operations waiting.
pub(super) fn waits_in_scheduler(subject: &Subject<'_>) -> bool {
    scheduler_turns::hold_back(subject, takes)
}

/// The device whose queue lets least through, of those that all the work goes by.
/// Mappings and software RAID have no requests of their own, whatever their
/// `nr_requests` says; a partition goes by the queue of its disk.
fn narrowest<'a>(subject: &'a Subject<'_>) -> Option<(&'a BlockDevice, Cap)> {
    // Of several leaves the work divides.
    if subject.leaves().count() != 1 {
        return None;
    }
    let has_queue = |device: &&BlockDevice| {
        matches!(
            device.kind,
            DeviceKind::Disk | DeviceKind::Loop | DeviceKind::Simulated
        )
    };
    let devices = &subject.stack().devices;
    devices
        .iter()
        .filter(has_queue)
        .filter_map(|device| Some((device, cap(device)?)))
        .min_by(|(_, a), (_, b)| a.requests.total_cmp(&b.requests))
}

/// Fewer requests got through than were there.
fn held_back(subject: &Subject<'_>) -> Option<Candidate> {
    let (device, cap) = narrowest(subject)?;
    let trials = subject.trials();
    if !trials.iter().all(|trial| trial.evidence.engine.direct) {
        return None;
    }
    let workload = subject.workload();
    let pieces = device
        .max_request_bytes
        .filter(|bytes| *bytes > 0)
        .map_or(1, |largest| workload.block_size.div_ceil(largest)) as f64;
    // A sync follows its write: of each stream one request is under way.
    if workload.sync.each_write() {
        return None;
    }
    let wanted = subject.depth() * pieces;
    if wanted < OVER * cap.requests {
        return None;
    }
    let counted_ms: u64 = trials
        .iter()
        .flat_map(|trial| &trial.evidence.devices)
        .filter(|counters| counters.name == device.name)
        .map(|counters| counters.read_ms + counters.write_ms)
        .sum();
    let counted = counted_ms as f64 / 1e3 / subject.seconds();
    // The kernel counts a request from when it has a place in its queue: with
    // nr_requests as the cap no more than that were counted.
    if cap.is_kernels && counted > OVER * cap.requests {
        return None;
    }
    let share = 1.0 - cap.requests / wanted;
    let (confidence, by) = gains(subject, &cap)?;
    let mut evidence = vec![
        format!(
            "{} requests were to be in flight ({} operations{}), and {}: {} / {} get to {} at a \
             time.",
            ratio(wanted),
            ratio(subject.depth()),
            if pieces > 1.0 {
                format!(" of {pieces} requests each")
            } else {
                String::new()
            },
            cap.by,
            ratio(cap.requests),
            ratio(wanted),
            device.name
        ),
        format!(
            "The kernel counted {} in its queue and the device together; an operation waited {} \
             of its time for a place.",
            ratio(counted),
            percent(share)
        ),
    ];
    evidence.extend(by);
    // More than get through now, whoever lets them.
    let want = (wanted.ceil() as u64).next_power_of_two().to_string();
    let attribute = if cap.is_kernels {
        "queue/nr_requests"
    } else {
        "device/queue_depth"
    };
    let remedy = set(
        subject,
        device,
        (attribute, &want),
        ("host", "the requests that are let through to more"),
    );
    let mut below = subject.workload().clone();
    below.queue_depth = (cap.requests / pieces).max(1.0) as u32;
    below.streams = 1;
    Some(Candidate {
        standing: Standing::cause(share),
        claim: format!(
            "The queue in front of {} lets {} through at a time, where {} were wanted.",
            device.name,
            ratio_of(cap.requests, "request", "requests"),
            ratio(wanted)
        ),
        evidence,
        share: Some(share),
        confidence,
        refuted_by: "The same rate with a longer queue.".into(),
        experiment: subject.experiment(
            "With only as many in flight as get through, the same rate at a lower latency speaks \
             for it; then the same with a longer queue: a higher rate speaks for it too.",
            &[
                ("as-many-as-get-through", below),
                ("as-it-was", subject.workload().clone()),
            ],
        )
        .decided_by(at_least(("as-many-as-get-through", "as-it-was"), Quantity::Iops, AS_FAST)),
        remedy,
    })
}

/// Whether the device can do more than at the cap, as far as the run tells: how
/// sure that is, and by which figures; `None` when it was full before.
fn gains(subject: &Subject<'_>, cap: &Cap) -> Option<(Confidence, Option<String>)> {
    let own = subject.iops()?;
    let below = subject
        .others()
        .filter(|other| {
            let (mine, theirs) = (subject.workload(), other.workload());
            theirs.operation == mine.operation
                && theirs.pattern == mine.pattern
                && theirs.block_size == mine.block_size
                && theirs.cache == mine.cache
                && theirs.sync == mine.sync
                && theirs.rate.is_none()
                && other.depth() < 0.75 * cap.requests
        })
        .filter_map(|other| Some((other.depth().max(1.0), other.iops()?, other.stage.label())))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let Some((depth, iops, label)) = below else {
        return (cap.requests <= SMALL_CAP).then_some((Confidence::Likely, None));
    };
    // With twice as many in flight, twice as many a second as long as the device
    // has places free.
    let gained = own / iops - 1.0;
    let possible = cap.requests / depth - 1.0;
    (gained >= GAIN * possible).then(|| {
        let line = format!(
            "{label} had {} in flight and did {} a second; {} times as many got through here, \
             and {} times as many were done: the device was not full.",
            ratio(depth),
            rate_digits(iops),
            ratio(cap.requests / depth),
            ratio(own / iops)
        );
        (Confidence::Likely, Some(line))
    })
}

/// The scheduler keeps the device idle for the I/O context whose turn it is, while
/// threads of others wait.
fn idled(subject: &Subject<'_>) -> Option<Candidate> {
    let device = top(subject)?;
    let idle_ns = device.scheduler_idle_ns.filter(|ns| *ns > 0)? as f64;
    let workload = subject.workload();
    let pool = workload.pool.filter(|pool| pool.threads > 1)?;
    if pool.io_context != IoContext::Separate {
        return None;
    }
    // The same work in one context: nobody's turn ends.
    let (label, better) = subject
        .others()
        .filter(|other| {
            let theirs = other.workload();
            theirs.operation == workload.operation
                && theirs.pattern == workload.pattern
                && theirs.streams == workload.streams
                && theirs.beside.is_some() == workload.beside.is_some()
                && theirs
                    .pool
                    .is_none_or(|pool| pool.io_context == IoContext::Shared)
        })
        .filter_map(|other| Some((other.stage.label(), other.rate()?)))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let share = 1.0 - subject.rate()? / better;
    if share < 0.1 {
        return None;
    }
    let evidence = vec![
        format!(
            "{} keeps the device idle for up to {} for the context whose turn it is, and {} \
             threads of contexts of their own take turns.",
            device.scheduler.as_deref().unwrap_or("The scheduler"),
            show_duration(idle_ns as u64),
            pool.threads
        ),
        format!(
            "{label}, without that, is {} times as fast: {} of the time is lost.",
            ratio(better / subject.rate()?),
            percent(share)
        ),
    ];
    Some(Candidate {
        standing: Standing::cause(share),
        claim: "The scheduler keeps the device idle for one thread of a pool while the next one \
                waits."
            .into(),
        evidence,
        share: Some(share),
        confidence: Confidence::Likely,
        refuted_by: "The same rate with a scheduler that does not idle.".into(),
        experiment: subject.built_in(
            "The plan `streams` reads by one thread, by a pool in one context and by a pool in \
             several: only the last one slow speaks for it.",
            "streams",
        ),
        remedy: set(
            subject,
            device,
            ("queue/iosched/slice_idle", "0"),
            ("host", "scheduler = \"deadline\""),
        ),
    })
}
