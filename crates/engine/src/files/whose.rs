//! Whose leftovers may be removed where other machines may have the same filesystem.
//!
//! A free lock says that nobody on this machine has a file. Locks of other machines are seen on few
//! network filesystems: not on NFS with `nolock` or `local_lock`, Lustre with `localflock`, or
//! `BeeGFS` as it is set up. So on a filesystem that may be another machine's too, only what has the
//! [mark](mark_in) of this boot and this mount in its name is swept.
//!
//! A filesystem that only one machine has mounted may be exported by it. The flock(2) of an NFS client is a
//! lock of a range of bytes at the server, which no flock(2) there meets. So on these too what has
//! the mark of another boot or mount stays, until it is [so old](UNUSED_FOR) that nobody measures in it.

use diskfacts_plan::sha256;
use rustix::fs::{Stat, fstat};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Filesystems that only one machine has mounted at a time, so that all who use their files there
/// share its locks, but not those who use them through an export of it: the numbers that statfs(2) has for ext2 to ext4, XFS, tmpfs, btrfs, F2FS, ZFS,
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

/// What nobody has written for so long is nobody's. A run that only reads writes its file once, at its
/// beginning, and then goes on for its `--time`: over a weekend, or a week. The clock of a client, by which
/// its file may have its time, is a day off at most.
const UNUSED_FOR: Duration = Duration::from_hours(8 * 24);

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

/// For how long nobody has written a file; nothing where its time lies ahead.
pub fn unused_for(seen: &Stat) -> Duration {
    let written_s = u64::try_from(seen.st_mtime).unwrap_or(0);
    let written = UNIX_EPOCH + Duration::from_secs(written_s);
    let unused = SystemTime::now().duration_since(written);
    unused.unwrap_or_default()
}

/// Whose leftovers are removed, if their locks are free. Each has the mark of this boot and this
/// mount, where it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Those with this mark or none, whose locks are seen, and others that are old: one machine
    /// alone has mounted the filesystem.
    OfOneMachine(Option<Mark>),
    /// Those with this mark, and none where it is not known.
    Marked(Option<Mark>),
}

impl Whose {
    /// Why something with a free lock stays where other machines may have it open.
    pub const MAY_BE_ANOTHERS: &'static str = "no process of this machine has it, but one of another \
                                               machine may, or one that mounted it otherwise, and \
                                               their locks may not be seen here";
    /// Why something with a free lock stays where others may have it open through an export.
    pub const MAY_BE_A_CLIENTS: &'static str = "no process of this machine has it, but it was made before \
                                                this boot or this mount, or by a machine that this one \
                                                exports the filesystem to, whose locks are not \
                                                seen here; when nobody has written it for 8 days it is \
                                                removed";

    /// Of this folder.
    ///
    /// # Errors
    /// When it cannot be looked at.
    pub fn of(folder: &OwnedFd) -> Result<Self, Errno> {
        // The type of `f_type` differs between architectures; the numbers have 32 bits.
        let kind = rustix::fs::fstatfs(folder)?.f_type as u64 & 0xFFFF_FFFF;
        let own = mark_in(folder)?;
        Ok(if OF_ONE_MACHINE.contains(&kind) {
            Self::OfOneMachine(own)
        } else {
            Self::Marked(own)
        })
    }

    /// Why what has this mark, or none, and was last written so long ago, stays; `None` where it is
    /// removed.
    pub fn why_not(self, mark: Option<Mark>, unused: Duration) -> Option<&'static str> {
        match self {
            Self::OfOneMachine(own) => {
                let is_removed = mark.is_none() || mark == own || unused > UNUSED_FOR;
                (!is_removed).then_some(Self::MAY_BE_A_CLIENTS)
            }
            Self::Marked(own) => {
                let is_removed = own.is_some() && mark == own;
                (!is_removed).then_some(Self::MAY_BE_ANOTHERS)
            }
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

    #[test]
    fn what_an_nfs_client_of_this_machine_may_have_stays_until_it_is_old() {
        const DAY: Duration = Duration::from_hours(24);
        let here = Whose::OfOneMachine(Some(1));
        for mark in [None, Some(1)] {
            assert_eq!(here.why_not(mark, Duration::ZERO), None);
        }
        assert_eq!(
            here.why_not(Some(2), 7 * DAY),
            Some(Whose::MAY_BE_A_CLIENTS)
        );
        assert_eq!(here.why_not(Some(2), 9 * DAY), None);
        assert!(Whose::OfOneMachine(None).why_not(Some(2), DAY).is_some());
        // Where many machines have mounted it no age tells that nobody has it.
        let shared = Whose::Marked(Some(1));
        assert_eq!(shared.why_not(Some(1), Duration::ZERO), None);
        for mark in [None, Some(2)] {
            assert!(shared.why_not(mark, 9 * DAY).is_some());
        }
    }
}
