//! Devices above the disks that answer by themselves: fewer bytes go on below them than
//! came in above.
//!
//! A thin volume answers reads of what was never written, `dm-zero` all reads; a mapping
//! that is to drop writes keeps them. Whatever the device says of its I/O then, no disk
//! took part in it.
//!
//! # What is compared
//! The bytes that the devices of one level counted, with those of each level below, down
//! to the leaves or the next loop device, whose page cache is another matter. Below a
//! RAID more is to be expected, at least a copy for each member of a mirror and a share of
//! parity: what is missing of that is missing, too. Other volumes on the same disks make
//! the lower counters larger, so this says too little rather than too much.
//!
//! What came in is no more than what was issued: Linux 6.1 counts a request that a linear
//! mapping cuts in two with all of its bytes each time. With 1 MiB read from a volume of
//! LVM, dm-0 and `/proc/self/io` had 2 MiB, the disk 1 MiB.
//!
//! # Whose counters are believed
//! One that moved in this direction. One that stood still only of a device that was told
//! to count (`queue/iostats` is 1) and that has queues of requests (`mq`): bio-based ones,
//! as `brd`, may not count at all.

use super::copies::least_below;
use super::counted::{Direction, below, count, counters};
use diskfacts_record::{BlockDevice, DeviceKind, Evidence, Stack};

/// Bytes still under way when the window closed, and rounding.
const SLACK: f64 = 0.02;

/// Types of targets that stand on nothing and answer all the same.
const BY_THEMSELVES: [&str; 2] = ["zero", "error"];

/// Devices that answered by themselves.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answered {
    /// Their names: the lowest that counted all of the bytes.
    pub(crate) names: Vec<String>,
    /// Bytes that came in at the top.
    pub(crate) above: u64,
    /// Bytes that went on below them.
    pub(crate) below: u64,
    /// Share of the bytes that went on, from 0 to 1.
    pub(crate) share_below: f64,
}

/// Who answered by itself between these devices and the leaves, or the next loop devices, of
/// what was issued to them, where that is known.
pub(super) fn answered(
    direction: Direction,
    evidence: &Evidence,
    stack: &Stack,
    top: &[&BlockDevice],
    issued: Option<u64>,
) -> Option<Answered> {
    let counted = count(top, direction, evidence)?;
    let cut = top.iter().any(|device| may_count_twice(device));
    let above = issued
        .filter(|_| cut)
        .map_or(counted, |issued| counted.min(issued));
    let above = Some(above).filter(|bytes| *bytes > 0)?;
    let mut level = top.to_vec();
    let mut times = 1.0;
    let mut least: Option<Answered> = None;
    let mut consider = |names: &[&BlockDevice], below: u64, times: f64| {
        let share_below = (below as f64 / (above as f64 * times)).min(1.0);
        let known = least.as_ref().map_or(1.0, |known| known.share_below);
        if share_below < known - SLACK {
            least = Some(Answered {
                names: names.iter().map(|device| device.name.clone()).collect(),
                above,
                below,
                share_below,
            });
        }
    };
    for _ in 0..stack.devices.len() {
        let goes_on = |device: &BlockDevice| {
            device.kind != DeviceKind::Loop && !below(&[device], stack).is_empty()
        };
        let (opened, mut next): (Vec<_>, Vec<_>) =
            level.iter().copied().partition(|device| goes_on(device));
        if opened.is_empty() {
            break;
        }
        if let ([only], []) = (opened.as_slice(), next.as_slice()) {
            times *= least_below(only, direction);
        } else {
            // What multiplies a part of the bytes only is not followed.
            times = 1.0;
        }
        for device in below(&opened, stack) {
            if !next.iter().any(|known| known.name == device.name) {
                next.push(device);
            }
        }
        level = next;
        // A partition is a name for a part of its disk, and answers nothing.
        if opened
            .iter()
            .all(|device| device.kind == DeviceKind::Partition)
        {
            continue;
        }
        if let Some(counted) = believed(&level, direction, evidence) {
            consider(&opened, counted, times);
        }
    }
    let (themselves, disks): (Vec<&BlockDevice>, Vec<&BlockDevice>) =
        level.iter().partition(|device| by_itself(device));
    if !themselves.is_empty()
        && let Some(counted) = believed(&disks, direction, evidence)
    {
        consider(&themselves, counted, 1.0);
    }
    least
}

/// Whether a device may count more bytes than came to it, because it cuts requests.
pub(crate) fn may_count_twice(device: &BlockDevice) -> bool {
    device.kind == DeviceKind::DeviceMapper
}

/// Whether a leaf is known to be no disk but a mapping that answers.
fn by_itself(device: &BlockDevice) -> bool {
    let own = |kind: &String| BY_THEMSELVES.contains(&kind.as_str());
    device.is_leaf() && !device.targets.is_empty() && device.targets.iter().all(own)
}

/// What all of these counted, where each one's counter is believed.
fn believed(devices: &[&BlockDevice], direction: Direction, evidence: &Evidence) -> Option<u64> {
    let each = |device: &&BlockDevice| {
        let counts = device.counts_io == Some(true) && device.hardware_queues.is_some();
        counters(device, evidence).is_some_and(|counted| {
            direction.of(counted.read_bytes, counted.write_bytes) > 0 || counts
        })
    };
    devices.iter().all(each).then_some(())?;
    count(devices, direction, evidence)
}
