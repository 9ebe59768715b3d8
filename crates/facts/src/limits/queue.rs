//! The kernel's queue in front of a device: its name, and settings as commands.

use super::Subject;
use crate::simulated::edit_profile;
use diskfacts_record::{BlockDevice, DeviceKind};

/// The device whose settings hold for the target: the one right under the
/// filesystem, or the target itself; as it was in the trials.
pub(super) fn top<'a>(subject: &'a Subject<'_>) -> Option<&'a BlockDevice> {
    subject.stack().top()
}

/// How to set an attribute of a device (`queue/read_ahead_kb`): a command, or, of a
/// simulated disk, what to change in its profile.
pub(super) fn set(
    subject: &Subject<'_>,
    device: &BlockDevice,
    (attribute, value): (&str, &str),
    (table, key): (&str, &str),
) -> String {
    let run = subject.run();
    edit_profile(run, &format!("set {key} under [{table}]")).unwrap_or_else(|| {
        // A partition has no queue of its own.
        let name = match (device.kind, device.below.first()) {
            (DeviceKind::Partition, Some(disk)) => disk,
            _ => &device.name,
        };
        let name = name.replace('/', "!");
        format!("Type `echo {value} > /sys/block/{name}/{attribute}` as root.")
    })
}
