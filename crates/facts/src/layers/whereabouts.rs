//! Where the bytes of a target lie, as far as the stack tells.

use diskfacts_record::{Filesystem, Stack};

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

/// The filesystem, where it lies on another machine.
pub(crate) fn remote(stack: &Stack) -> Option<&Filesystem> {
    let filesystem = stack.filesystem.as_ref();
    filesystem.filter(|f| REMOTE.contains(&f.kind.as_str()))
}

/// Whether nothing is known of where the bytes lie: a filesystem that joins folders nobody
/// found, for one. It may as well be memory.
pub(crate) fn is_unknown(stack: &Stack) -> bool {
    stack.devices.is_empty() && !in_memory(stack) && remote(stack).is_none()
}
