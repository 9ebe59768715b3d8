//! Where the bytes of a target lie, as far as the stack tells.

use diskfacts_record::{BlockDevice, DeviceKind, Filesystem, Stack};

/// Filesystems that are nothing but page cache.
const MEMORY: [&str; 4] = ["tmpfs", "ramfs", "devtmpfs", "hugetlbfs"];

/// Filesystems whose blocks lie on another machine.
const REMOTE: [&str; 9] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "ceph",
    "9p",
    "glusterfs",
    "lustre",
    "fuse.sshfs",
];

/// Whether the target lies in memory: no device can be reached.
pub(crate) fn in_memory(stack: &Stack) -> bool {
    let filesystem = stack.filesystem.as_ref();
    stack.devices.is_empty() && filesystem.is_some_and(|f| MEMORY.contains(&f.kind.as_str()))
}

/// Why all devices at the bottom of a target are memory, a sentence's end for each; empty
/// where one of them is not, or there is none.
pub(crate) fn devices_of_memory(stack: &Stack) -> Vec<String> {
    let reasons: Option<Vec<String>> = stack.leaves().map(memory).collect();
    reasons.unwrap_or_default()
}

/// Why a device is nothing but memory of this machine.
fn memory(leaf: &BlockDevice) -> Option<String> {
    let name = &leaf.name;
    let number = |prefix: &str| {
        let number = name.strip_prefix(prefix);
        number.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    let backing = leaf.backing_filesystem.as_deref();
    let backing = backing.filter(|kind| MEMORY.contains(kind));
    match (leaf.kind, backing) {
        (DeviceKind::Zram, _) => Some(format!("{name} is compressed memory (zram)")),
        (DeviceKind::Loop, Some(kind)) => Some(format!("the file behind {name} lies on {kind}")),
        // Linux' drivers/block/brd.c.
        (DeviceKind::Disk | DeviceKind::Other, _) if number("ram") => {
            Some(format!("{name} is a RAM disk (brd)"))
        }
        _ => None,
    }
}

/// The filesystem, where it lies on another machine.
pub(crate) fn remote(stack: &Stack) -> Option<&Filesystem> {
    let filesystem = stack.filesystem.as_ref();
    filesystem.filter(|f| REMOTE.contains(&f.kind.as_str()))
}

/// What lies behind the memory of this machine, in a sentence.
pub(crate) fn behind_memory(stack: &Stack) -> &'static str {
    if remote(stack).is_some() {
        "server"
    } else {
        "device"
    }
}

/// Whether nothing is known of where the bytes lie: a filesystem that joins folders nobody
/// found, for one. It may as well be memory.
pub(crate) fn is_unknown(stack: &Stack) -> bool {
    stack.devices.is_empty() && !in_memory(stack) && remote(stack).is_none()
}
