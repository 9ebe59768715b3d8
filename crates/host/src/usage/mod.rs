//! Whether a block device or a file may be written: what holds it, and what it holds.
//!
//! Each obstacle is data, with what to do about it. What could not be checked
//! is an obstacle too. Nothing here writes, and nothing here reserves the
//! device: between the answer and the first write somebody may mount it. Who
//! writes opens it first, a device with `O_EXCL`, asks [`usage_while_held`] of
//! the open file then, and keeps it open until the last write. Files cannot be
//! claimed: who makes a loop device over one after the answer is not seen.

mod content;
mod exclusive;
mod file;
mod held;
mod identity;
mod kernel_setting;
mod layout;
mod lease;
mod mounted;
mod mounted_file;
#[cfg_attr(not(target_os = "linux"), path = "openers/elsewhere.rs")]
mod openers;
mod overlay;
mod reach;
mod stands_on;
mod zoned;

pub(crate) use identity::wwid;

use crate::answering::{standing_still, stands_still};
use crate::error::Error;
use crate::roots::Roots;
use crate::signature::Signature;
#[cfg(target_os = "linux")]
use crate::stack::Place;
use crate::stack::{Subject, SubjectKind};
use crate::sysfs::{DeviceDir, HOW_TO_SEE, Hidden};
use layout::Layout;
use reach::{Reach, Share};
use stands_on::{Loop, StandsOn};
use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;

/// What stands in the way of writing to a block device or a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// Name of the device in the kernel; of a file, its path.
    pub device: String,
    /// Path of its node, or of the file, without symbolic links.
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
    /// it, what it is a part of, what has bytes of it, or what stands on it; of a
    /// file, its path.
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
    /// It is a setting of the kernel, and not a file that holds data.
    KernelSetting,
    /// Its zones have to be written in order.
    HostManaged,
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

/// What stands in the way of writing to the block device or the file at `path`.
///
/// Looked at are a device, its partitions, what it is a part of, whatever else has
/// bytes of it (overlapping partitions, loop devices over the same file or device,
/// other paths to the same disk), and what stands on any of these:
/// - mounted filesystems, by the mount table of this mount namespace, by the
///   members of mounted btrfs, and by `/sys/fs/*`, which shows other mount
///   namespaces too;
/// - swap; holders (`/sys/block/*/holders`); loop devices over them; a read-only
///   switch;
/// - zones that have to be written in order;
/// - an open with `O_EXCL`, which fails while the kernel or a careful program
///   holds it, ZFS and containers elsewhere included;
/// - marks of data ([`crate::signature`]), on the device and on each partition.
///
/// Of a file: loop devices, swap and mounts that stand on it, by its inode, and whether
/// it is open where no process has it open, which is in the kernel. What a file holds is
/// no obstacle.
///
/// A program that has the device or file open without a claim, as a virtual machine
/// may, is none either; usually the marks of its data on a device are.
///
/// # Errors
/// When the path cannot be looked at, is neither a block device nor a file, or is
/// not in sysfs. What cannot be checked after that is an obstacle of its own.
#[cfg(target_os = "linux")]
pub fn usage(roots: &Roots, path: &Path) -> Result<Usage, Error> {
    usage_of(roots, &Place::look(path)?)
}

/// The same for what was looked at: it is opened by what holds it, whatever lies at its
/// name by now.
///
/// # Errors
/// As [`usage`], without those of looking.
#[cfg(target_os = "linux")]
pub fn usage_of(roots: &Roots, place: &Place) -> Result<Usage, Error> {
    let (subject, reach) = (&place.subject, place.reach());
    match subject.kind {
        SubjectKind::BlockDevice { major, minor } => {
            let (dir, shared, mut usage) = by_tables(roots, &subject.path, (major, minor))?;
            // What cannot even be opened is said once.
            if exclusive::check(&dir, (&reach, &subject.path), &mut usage.obstacles) {
                match open_device(&reach, (major, minor)) {
                    Ok(file) => by_content(roots, &file, &shared, &mut usage)?,
                    Err(error) => usage
                        .obstacles
                        .push(content::cannot_be_opened(&dir.name, &error)),
                }
            }
            Ok(usage)
        }
        SubjectKind::File => {
            let only = match kernel_setting::of(&subject.path, place.file()) {
                Some(obstacle) => obstacle,
                None => match File::open(&reach) {
                    Ok(file) => return of_file(roots, &subject.path, &file),
                    Err(error) => unchecked(
                        &subject.path.display().to_string(),
                        &format!("cannot be opened to see who uses it ({error})"),
                        crate::error::hint(&error),
                    ),
                },
            };
            let path = subject.path.display().to_string();
            Ok(Usage {
                device: path.clone(),
                path,
                size_bytes: None,
                obstacles: vec![only],
            })
        }
        SubjectKind::Folder => Err(Error::NotABlockDevice {
            path: subject.path.clone(),
            is: "a folder",
        }),
    }
}

/// The same for what the caller has open as `held`, a device with `O_EXCL`, so that
/// nobody can begin to use that after the answer. An exclusive open of the device by
/// others is not looked for: it would have made the caller's own fail. The answer is
/// about what is open, whatever lies at `path` by now.
///
/// # Errors
/// As [`usage`].
pub fn usage_while_held(roots: &Roots, held: &File, path: &Path) -> Result<Usage, Error> {
    let metadata = held
        .metadata()
        .map_err(|error| Error::on_path("looking at", path, error))?;
    match StandsOn::of(&metadata) {
        Some(StandsOn::Device(major, minor)) => {
            let (_, reach, mut usage) = by_tables(roots, path, (major, minor))?;
            by_content(roots, held, &reach, &mut usage)?;
            Ok(usage)
        }
        _ => of_file(roots, path, held),
    }
}

/// What the kernel's tables say of a block device, without opening it: that sees
/// neither marks of data nor an exclusive open.
///
/// # Errors
/// As [`usage`].
pub fn usage_by_tables(roots: &Roots, subject: &Subject) -> Result<Usage, Error> {
    let SubjectKind::BlockDevice { major, minor } = subject.kind else {
        return Err(Error::NotABlockDevice {
            path: subject.path.clone(),
            is: "something else",
        });
    };
    Ok(by_tables(roots, &subject.path, (major, minor))?.2)
}

fn by_tables(
    roots: &Roots,
    path: &Path,
    (major, minor): (u32, u32),
) -> Result<(DeviceDir, Reach, Usage), Error> {
    let dir = DeviceDir::of_number(roots, major, minor)?.ok_or_else(|| Error::NotInSysfs {
        path: path.to_owned(),
        major,
        minor,
        sys: roots.sys.clone(),
    })?;
    let layout = Layout::read(roots)?;
    let reach = reach::of(&layout, &dir)?;
    let mut obstacles = Vec::new();
    mounted::check(roots, &reach, &mut obstacles)?;
    held::check_swap(roots, &reach, &mut obstacles)?;
    held::check_holders(&reach, &mut obstacles);
    held::check_loops(&layout, &reach, &mut obstacles);
    held::check_read_only(&dir, &mut obstacles);
    zoned::check(&dir, &mut obstacles)?;
    let usage = Usage {
        device: dir.name.clone(),
        path: path.display().to_string(),
        size_bytes: dir
            .number("size")
            .ok()
            .and_then(|sectors| sectors.checked_mul(crate::parse::diskstats::SECTOR_BYTES)),
        obstacles,
    };
    Ok((dir, reach, usage))
}

/// What opening tells: of the target by `file`, of what shares bytes with it by
/// opening that.
fn by_content(roots: &Roots, file: &File, reach: &Reach, usage: &mut Usage) -> Result<(), Error> {
    let devices = reach.shares.iter().map(|share| &share.device);
    let silent = standing_still(roots, devices.filter(|device| device.name != usage.device));
    for device in &silent {
        usage.obstacles.push(unchecked(
            &device.name,
            &format!(
                "has bytes of it, and nothing of it is looked at: {}",
                stands_still()
            ),
            "the kernel log (`dmesg`) may say what it waits for",
        ));
    }
    let answers = |share: &&Share| !silent.contains(&&share.device);
    let shares: Vec<Share> = reach.shares.iter().filter(answers).cloned().collect();
    for share in shares.iter().filter(|share| share.how.to_be_opened()) {
        let node = roots.node(&share.device.name);
        exclusive::check(&share.device, (&node, &node), &mut usage.obstacles);
    }
    let Some(target) = reach.shares.first() else {
        return Ok(());
    };
    let target = (&target.device, Path::new(&usage.path), file);
    content::check(roots, target, &shares, &mut usage.obstacles)
}

fn of_file(roots: &Roots, path: &Path, file: &File) -> Result<Usage, Error> {
    let metadata = file
        .metadata()
        .map_err(|error| Error::on_path("looking at", path, error))?;
    Ok(Usage {
        device: path.display().to_string(),
        path: path.display().to_string(),
        size_bytes: Some(metadata.len()),
        obstacles: file::obstacles(roots, path, file, &metadata)?,
    })
}

/// Devices that may stand on anything: loop devices that do not say on what, and whatever
/// sysfs does not show.
fn unknown_devices(loops: &[Loop], hidden: &[Hidden]) -> impl Iterator<Item = Obstacle> {
    let loops = loops.iter().filter_map(|found| {
        let unknown = found.on.as_ref().err()?;
        Some(unchecked(
            &found.device.name,
            &format!("has something attached, and {}", unknown.why),
            &unknown.how_to_go_on,
        ))
    });
    let hidden = hidden.iter();
    loops.chain(hidden.map(|hidden| unchecked(&hidden.name, &hidden.why, HOW_TO_SEE)))
}

fn unchecked(name: &str, what: &str, how_to_go_on: &str) -> Obstacle {
    Obstacle {
        kind: ObstacleKind::Unchecked,
        device: name.to_owned(),
        what: what.to_owned(),
        how_to_go_on: how_to_go_on.to_owned(),
    }
}

/// Opens a device for reading only, without waiting for a medium.
fn open_device(node: &Path, number: (u32, u32)) -> io::Result<File> {
    open_device_with(node, number, 0)
}

/// The same with more flags of open(2). What lies at `node` must be the device of this
/// number: names in `/dev` come and go.
#[cfg(unix)]
fn open_device_with(node: &Path, number: (u32, u32), flags: i32) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let file = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags | libc::O_NONBLOCK)
        .open(node)?;
    let (major, minor) = number;
    if StandsOn::of(&file.metadata()?) == Some(StandsOn::Device(major, minor)) {
        return Ok(file);
    }
    Err(io::Error::other(format!(
        "{} is not the device {major}:{minor}",
        node.display()
    )))
}

#[cfg(not(unix))]
fn open_device_with(node: &Path, _: (u32, u32), _: i32) -> io::Result<File> {
    File::open(node)
}

/// A path as a shell takes it.
fn quoted(path: &str) -> String {
    let plain = |character: char| {
        character.is_ascii_alphanumeric() || matches!(character, '/' | '.' | '-' | '_' | '+' | ',')
    };
    if path.chars().all(plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}
