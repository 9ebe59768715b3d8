//! Whether a block device may be written: what holds it, and what it holds.
//!
//! Each obstacle is data, with what to do about it. What could not be checked
//! is an obstacle too. Nothing here writes, and nothing here reserves the
//! device: between the answer and the first write somebody may mount it. Who
//! writes opens it with `O_EXCL` first, asks [`usage_while_held`] then, and
//! keeps it open until the last write.

mod content;
mod exclusive;
mod held;
mod mounted;
mod reach;

use crate::error::Error;
use crate::roots::Roots;
use crate::signature::Signature;
use crate::stack::{Subject, SubjectKind};
use crate::sysfs::DeviceDir;
use std::fmt;
use std::path::Path;

/// What stands in the way of writing to a block device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// Name of the device in the kernel.
    pub device: String,
    /// Path of its node, without symbolic links.
    pub path: String,
    /// Bytes, if the kernel tells.
    pub size_bytes: Option<u64>,
    /// All that was found; empty when it may be written.
    pub obstacles: Vec<Obstacle>,
}

impl Usage {
    /// Whether nothing stands in the way.
    pub fn may_be_written(&self) -> bool {
        self.obstacles.is_empty()
    }

    /// Whether it is in use now: what to do then is not a matter of being sure.
    pub fn in_use(&self) -> bool {
        self.obstacles.iter().any(|obstacle| obstacle.kind.in_use())
    }
}

/// One reason not to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// What kind of reason.
    pub kind: ObstacleKind,
    /// Name in the kernel of the device that it concerns: the target, a part of
    /// it, what it is a part of, or what stands on it.
    pub device: String,
    /// What it is, as the end of a sentence that begins with the device: `is
    /// mounted on /data (ext4)`.
    pub what: String,
    /// What to type, if it is really meant.
    pub how_to_go_on: String,
}

/// A kind of reason not to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObstacleKind {
    /// A filesystem on it is mounted, in this mount namespace or another.
    Mounted,
    /// Memory is swapped to it.
    Swap,
    /// Another device stands on it: device mapper, md, bcache.
    Held,
    /// A loop device stands on it.
    Loop,
    /// Somebody has it open for himself alone.
    Exclusive,
    /// The kernel refuses writes to it.
    ReadOnly,
    /// It carries the mark of data.
    Signature(Signature),
    /// Something could not be checked.
    Unchecked,
}

impl ObstacleKind {
    /// Whether somebody uses the device now.
    pub fn in_use(&self) -> bool {
        matches!(
            self,
            Self::Mounted | Self::Swap | Self::Held | Self::Loop | Self::Exclusive
        )
    }
}

impl fmt::Display for Obstacle {
    /// `sdb1 is mounted on /data (ext4): umount /data`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} {}: {}",
            self.device, self.what, self.how_to_go_on
        )
    }
}

impl fmt::Display for Usage {
    /// One obstacle per line.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.obstacles.is_empty() {
            return write!(
                formatter,
                "{} is not in use and carries no known mark of data",
                self.path
            );
        }
        for (index, obstacle) in self.obstacles.iter().enumerate() {
            if index > 0 {
                writeln!(formatter)?;
            }
            write!(formatter, "{obstacle}")?;
        }
        Ok(())
    }
}

/// What stands in the way of writing to the block device at `path`.
///
/// Looked at are the device, its partitions, what stands on them, and what it
/// is a part of:
/// - mounted filesystems, by the mount table of this mount namespace, by the
///   members of mounted btrfs, and by `/sys/fs/*`, which shows other mount
///   namespaces too;
/// - swap; holders (`/sys/block/*/holders`); loop devices that have it as
///   their file; a read-only switch;
/// - an open with `O_EXCL`, which fails while the kernel or a careful program
///   holds it, ZFS and containers elsewhere included;
/// - marks of data ([`crate::signature`]), on the device and on each partition.
///
/// A program that has the device open without `O_EXCL`, as a virtual machine
/// may, is not seen; usually the marks of its data are.
///
/// # Errors
/// When the path cannot be looked at, is no block device, or is not in sysfs.
/// What cannot be checked after that is an obstacle of its own.
pub fn usage(roots: &Roots, path: &Path) -> Result<Usage, Error> {
    answer(roots, path, false)
}

/// The same for a device that the caller has open with `O_EXCL` already, so
/// that nobody can begin to use it after the answer. An exclusive open by
/// others is not looked for: it would have made the caller's own fail.
///
/// # Errors
/// As [`usage`].
pub fn usage_while_held(roots: &Roots, path: &Path) -> Result<Usage, Error> {
    answer(roots, path, true)
}

fn answer(roots: &Roots, path: &Path, held_by_caller: bool) -> Result<Usage, Error> {
    let subject = Subject::look(path)?;
    let is = match subject.kind {
        SubjectKind::BlockDevice { .. } => None,
        SubjectKind::File => Some("a regular file"),
        SubjectKind::Folder => Some("a folder"),
    };
    if let Some(is) = is {
        return Err(Error::NotABlockDevice {
            path: subject.path,
            is,
        });
    }
    let (dir, mut usage) = by_tables(roots, &subject)?;
    // What cannot even be opened is said once.
    if held_by_caller || exclusive::check(&dir, &subject.path, &mut usage.obstacles) {
        content::check(roots, &dir, &subject.path, &mut usage.obstacles)?;
    }
    Ok(usage)
}

/// What the kernel's tables say of a block device, without opening it: that
/// needs no rights, but sees neither marks of data nor an exclusive open.
///
/// # Errors
/// As [`usage`].
pub fn usage_by_tables(roots: &Roots, subject: &Subject) -> Result<Usage, Error> {
    Ok(by_tables(roots, subject)?.1)
}

fn by_tables(roots: &Roots, subject: &Subject) -> Result<(DeviceDir, Usage), Error> {
    let SubjectKind::BlockDevice { major, minor } = subject.kind else {
        return Err(Error::NotABlockDevice {
            path: subject.path.clone(),
            is: "something else",
        });
    };
    let dir = DeviceDir::of_number(roots, major, minor)?.ok_or_else(|| Error::NotInSysfs {
        path: subject.path.clone(),
        major,
        minor,
        sys: roots.sys.clone(),
    })?;
    let reach = reach::of(&dir)?;
    let mut obstacles = Vec::new();
    mounted::check(roots, &reach, &mut obstacles)?;
    held::check_swap(roots, &reach, &mut obstacles)?;
    held::check_holders(&reach, &mut obstacles);
    held::check_loops(roots, &reach, &mut obstacles)?;
    held::check_read_only(&dir, &mut obstacles);
    let usage = Usage {
        device: dir.name.clone(),
        path: subject.path.display().to_string(),
        size_bytes: dir
            .number("size")
            .ok()
            .and_then(|sectors| sectors.checked_mul(crate::parse::diskstats::SECTOR_BYTES)),
        obstacles,
    };
    Ok((dir, usage))
}
