//! The kernel's queue in front of a device: its name, and settings as commands.

use super::prelude::*;
use crate::simulated::edit_profile;

/// How to set an attribute of a device (`queue/read_ahead_kb`): a command, or, of a
/// simulated disk, what to change under `[host]` in its profile.
pub(super) fn set(
    facts: &StageFacts<'_>,
    device: &BlockDevice,
    (attribute, value): (&str, &str),
    key: &str,
) -> String {
    edit_profile(facts.run(), &format!("set {key} under [host]")).unwrap_or_else(|| {
        // A partition has no queue of its own.
        let name = match (device.kind, device.below.first()) {
            (DeviceKind::Partition, Some(disk)) => disk,
            _ => &device.name,
        };
        let name = name.replace('/', "!");
        format!("Type `echo {value} > /sys/block/{name}/{attribute}` as root.")
    })
}

/// The devices with a queue of requests that all the work goes by, from the target down: none where
/// it divides. Mappings and software RAID have no requests of their own, whatever their
/// `nr_requests` says; a partition goes by the queue of its disk.
pub(super) fn on_the_way<'a>(facts: &'a StageFacts<'_>) -> impl Iterator<Item = &'a BlockDevice> {
    let with_queue = [DeviceKind::Disk, DeviceKind::Loop, DeviceKind::Simulated];
    let one_way = facts.leaves().count() == 1;
    let devices = facts.stack().devices.iter();
    devices.filter(move |device| one_way && with_queue.contains(&device.kind))
}

/// Requests of a device that a block is made of.
pub(super) fn pieces(device: &BlockDevice, block: u64) -> u64 {
    let largest = device.max_request_bytes.filter(|bytes| *bytes > 0);
    largest.map_or(1, |largest| block.div_ceil(largest))
}

/// How many requests get to a device at a time, as far as the kernel tells, and whether that
/// is the kernel's `nr_requests` or the device's own `queue_depth`.
pub(super) fn cap(device: &BlockDevice) -> Option<(f64, bool)> {
    let queues = device.hardware_queues.unwrap_or(1).max(1);
    let kernel = device.nr_requests.map(|each| each.saturating_mul(queues));
    let kernel = kernel.map(|requests| (requests as f64, true));
    let own = device.queue_depth.map(|depth| (depth as f64, false));
    let caps = kernel.into_iter().chain(own);
    let some = caps.filter(|(requests, _)| *requests >= 1.0);
    some.min_by(|a, b| a.0.total_cmp(&b.0))
}

/// How many requests a device takes at a time, as far as the kernel tells.
pub(super) fn takes(device: &BlockDevice) -> Option<f64> {
    Some(cap(device)?.0)
}
