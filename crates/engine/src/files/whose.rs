//! Whose leftovers may be removed where other machines may have the same filesystem.
//!
//! A free lock says that nobody on this machine has a file. Locks of other machines are seen on few
//! network filesystems: not on NFS with `nolock` or `local_lock`, Lustre with `localflock`, or
//! `BeeGFS` as it is set up. So on a filesystem that may be another machine's too, only what has the
//! [mark](mark_in) of this boot and this mount in its name is swept.

use diskfacts_plan::sha256;
use rustix::fs::fstat;
use rustix::io::Errno;
use std::os::fd::OwnedFd;

/// Filesystems that only one machine has mounted at a time, so that all who use their files share
/// its locks: the numbers that statfs(2) has for ext2 to ext4, XFS, tmpfs, btrfs, F2FS, ZFS,
/// bcachefs, JFS, NILFS2, `ReiserFS`, overlayfs, FAT, exFAT and NTFS3.
const OF_ONE_MACHINE: [u64; 14] = [
    0xEF53,
    0x5846_5342,
    0x0102_1994,
    0x9123_683E,
    0xF2F5_2010,
    0x2FC1_2FC1,
    0xCA45_1A4E,
    0x3153_464A,
    0x3434,
    0x5265_4973,
    0x794C_7630,
    0x4D44,
    0x2011_BAB0,
    0x7366_746E,
];

/// The name of this boot.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// What a name says of who made it: a digest of the boot and of the mounted filesystem. Two mounts
/// of one share do not see each other's locks either, where those are local.
pub type Mark = u64;

/// The mark of what this machine makes in a folder; `None` where it is not known which boot it is.
///
/// # Errors
/// When the folder cannot be looked at.
pub fn mark_in(folder: &OwnedFd) -> Result<Option<Mark>, Errno> {
    let Ok(boot) = std::fs::read_to_string(BOOT_ID) else {
        return Ok(None);
    };
    let device = fstat(folder)?.st_dev;
    let digest = sha256::number(format!("{}\n{device}", boot.trim()).as_bytes());
    Ok(Some(digest))
}

/// Whose leftovers are removed, if their locks are free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// All see each other's locks.
    Anybodys,
    /// Those with this mark, and none where it is not known.
    Marked(Option<Mark>),
}

impl Whose {
    /// Why something with a free lock stays where other machines may have it open.
    pub const MAY_BE_ANOTHERS: &'static str = "no process of this machine has it, but one of another \
                                               machine may, or one that mounted it otherwise, and \
                                               their locks may not be seen here";

    /// Of this folder.
    ///
    /// # Errors
    /// When it cannot be looked at.
    pub fn of(folder: &OwnedFd) -> Result<Self, Errno> {
        // The type of `f_type` differs between architectures; the numbers have 32 bits.
        let kind = rustix::fs::fstatfs(folder)?.f_type as u64 & 0xFFFF_FFFF;
        Ok(if OF_ONE_MACHINE.contains(&kind) {
            Self::Anybodys
        } else {
            Self::Marked(mark_in(folder)?)
        })
    }

    /// Whether what has this mark, or none, is among them.
    pub fn includes(self, mark: Option<Mark>) -> bool {
        match self {
            Self::Anybodys => true,
            Self::Marked(own) => own.is_some() && mark == own,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_kinds_of_filesystem_may_be_another_machines() {
        // NFS, SMB, Lustre, BeeGFS, CephFS, FUSE, 9P, GFS2, OCFS2.
        let shared = [
            0x6969,
            0xFE53_4D42,
            0x0BD0_0BD0,
            0x1983_0326,
            0x00C3_6400,
            0x6573_5546,
            0x0102_1997,
            0x0116_1970,
            0x7461_636F,
        ];
        for kind in shared {
            assert!(!OF_ONE_MACHINE.contains(&kind));
        }
    }
}
