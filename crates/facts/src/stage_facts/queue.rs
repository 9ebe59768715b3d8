//! The kernel's queue in front of a device: which devices have one, and how many requests get
//! through it.

use super::StageFacts;
use crate::prelude::*;

/// Operations in flight over the cap, from which on it holds some of them back.
const OVER: f64 = 1.25;
/// Share of what more operations in flight could bring by Little's law, which a
/// stage below the cap must have shown: less says that the device was full before.
const GAIN: f64 = 0.25;
/// A cap that few devices are full at: at half of what one SATA disk takes (32) a
/// device without other figures may as well be the limit itself.
const SMALL_CAP: f64 = 16.0;

/// The devices with a queue of requests that all the work goes by, from the target down: none where
/// it divides. Mappings and software RAID have no requests of their own, whatever their
/// `nr_requests` says; a partition goes by the queue of its disk.
pub(crate) fn on_the_way<'a>(facts: &'a StageFacts<'_>) -> impl Iterator<Item = &'a BlockDevice> {
    let with_queue = [DeviceKind::Disk, DeviceKind::Loop, DeviceKind::Simulated];
    let one_way = facts.leaves().count() == 1;
    let devices = facts.stack().devices.iter();
    devices.filter(move |device| one_way && with_queue.contains(&device.kind))
}

/// Requests of a device that a block of so many bytes is made of.
pub(crate) fn pieces(device: &BlockDevice, block_bytes: u64) -> u64 {
    let largest = device.max_request_bytes.filter(|bytes| *bytes > 0);
    largest.map_or(1, |largest| block_bytes.div_ceil(largest))
}

/// How many requests get to a device at a time, as far as the kernel tells, and whether that
/// is the kernel's `nr_requests` or the device's own `queue_depth`.
pub(crate) fn cap(device: &BlockDevice) -> Option<(f64, bool)> {
    let queues = device.hardware_queues.unwrap_or(1).max(1);
    let kernel = device.nr_requests.map(|each| each.saturating_mul(queues));
    let kernel = kernel.map(|requests| (requests as f64, true));
    let own = device.queue_depth.map(|depth| (depth as f64, false));
    let caps = kernel.into_iter().chain(own);
    let some = caps.filter(|(requests, _)| *requests >= 1.0);
    some.min_by(|a, b| a.0.total_cmp(&b.0))
}

/// How many requests a device takes at a time, as far as the kernel tells.
pub(crate) fn takes(device: &BlockDevice) -> Option<f64> {
    Some(cap(device)?.0)
}

/// The scheduler of a device, where it has one.
pub(crate) fn scheduler(device: &BlockDevice) -> Option<&str> {
    let name = device.scheduler.as_deref();
    name.filter(|name| *name != "none")
}

/// The queue that lets least through, of those that all the work goes by.
#[derive(Debug, Clone)]
pub(crate) struct NarrowQueue<'a> {
    pub(crate) device: &'a BlockDevice,
    /// Requests that get through at a time, and whether that is the kernel's `nr_requests`.
    pub(crate) cap: f64,
    pub(crate) is_kernels: bool,
    /// Requests of an operation, and all that were to be in flight.
    pub(crate) pieces: f64,
    pub(crate) wanted: f64,
    /// Requests in the queue and the device together, on average, as the kernel counted.
    pub(crate) counted: f64,
    /// By which figures the device can do more than at the cap, each a sentence.
    pub(crate) not_full: Vec<String>,
}

impl<'a> NarrowQueue<'a> {
    /// Of a stage of direct I/O; `None` where not more were there than get through, or the device
    /// was full with fewer, as far as the run tells.
    pub(crate) fn of(facts: &'a StageFacts<'_>) -> Option<Self> {
        // A sync follows its write: of each stream one request is under way.
        unless(facts.direct() != Some(true) || facts.syncs_each())?;
        let (device, (cap, is_kernels)) = on_the_way(facts)
            .filter_map(|device| Some((device, cap(device)?)))
            .min_by(|(_, a), (_, b)| a.0.total_cmp(&b.0))?;
        let pieces = pieces(device, facts.workload().block_size) as f64;
        let wanted = facts.depth() * pieces;
        let devices = [device];
        let counters = facts.counted_by(&devices);
        let counted_ms: u64 = counters.map(|one| one.read_ms + one.write_ms).sum();
        let counted = counted_ms as f64 / 1e3 / facts.seconds();
        // The kernel counts a request from when it has a place in its queue: with
        // nr_requests as the cap no more than that were counted.
        let more_counted = is_kernels && counted > OVER * cap;
        unless(wanted < OVER * cap || more_counted)?;
        Some(Self {
            device,
            cap,
            is_kernels,
            pieces,
            wanted,
            counted,
            not_full: not_full(facts, cap, pieces)?,
        })
    }
}

/// By which figures the device can do more than with so many requests in flight, so many of each
/// operation; of few that is so without any. `None` when it was full before.
fn not_full(facts: &StageFacts<'_>, cap: f64, pieces: f64) -> Option<Vec<String>> {
    let (own, through) = (facts.iops()?, cap / pieces);
    let below = facts
        .alike(Same::WORK)
        .filter(|other| other.workload().rate.is_none() && other.depth() < 0.75 * through)
        .filter_map(|other| Some((other.depth().max(1.0), other.iops()?, other.stage.label())))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let Some((depth, iops, label)) = below else {
        return (cap <= SMALL_CAP).then(Vec::new);
    };
    // With twice as many in flight, twice as many a second as long as the device has places free.
    let (places, gained) = (through / depth, own / iops);
    unless(gained - 1.0 < GAIN * (places - 1.0))?;
    let [depth, places, gained] = [depth, places, gained].map(ratio);
    let did = rate_digits(iops);
    Some(vec![format!(
        "{label} had {depth} in flight and did {did} a second; {places} times as many got through \
         here, and {gained} times as many were done: the device was not full."
    )])
}
