//! What a loop device stands on, as its driver knows it.
//!
//! sysfs has a path (`loop/backing_file`), which proves nothing: it is that of the
//! moment when the device was made, in the mount namespace of who made it, and the
//! file may have been renamed, removed, or hidden below another mount since. The
//! driver answers with the inode.

use super::Info;
use crate::beside::{Words, answers, numbers as parted};
use rustix::fs::{FileType, Mode, OFlags, fstat, major, minor, open};
use rustix::io::Errno;
use rustix::ioctl::{Getter, Opcode, ioctl};
use std::ffi::CString;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// `LOOP_GET_STATUS64`.
const GET_STATUS64: Opcode = 0x4C05;

/// The file or the block device under a loop device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Backing {
    /// Major and minor number of the filesystem, as stat(2) of the file has it:
    /// on btrfs that of the subvolume.
    pub(crate) filesystem: (u32, u32),
    /// Its inode there.
    pub(crate) inode: u64,
    /// Its own number, where it is a block device.
    pub(crate) block_device: Option<(u32, u32)>,
    /// Where the device begins in it, bytes.
    pub(crate) offset_bytes: u64,
}

/// What a loop device said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Told {
    /// Nothing is attached.
    Nothing,
    /// That.
    Backing(Backing),
    /// Its node leads to another device.
    Another,
    /// It is open, and does not say.
    Refused(Errno),
}

/// What the kinds of answers are called between the two processes.
const NOTHING: u64 = 0;
const FILE: u64 = 1;
const DEVICE: u64 = 2;
const ANOTHER: u64 = 3;
const REFUSED: u64 = 4;

/// What each loop device says, by its node and its number; an error where the node cannot be
/// opened. The driver asks the filesystem of the file (`loop_get_status` in
/// `drivers/block/loop.c`), which may not answer: [`io::ErrorKind::TimedOut`].
pub(crate) fn of_loop_devices<P: AsRef<Path>>(nodes: &[(P, (u32, u32))]) -> Vec<io::Result<Told>> {
    let question = |(node, number): &(P, (u32, u32))| {
        let node = CString::new(node.as_ref().as_os_str().as_bytes());
        (node.unwrap_or_default(), *number)
    };
    let questions: Vec<(CString, (u32, u32))> = nodes.iter().map(question).collect();
    // SAFETY: it makes system calls only, with a path that is there already.
    let answers = unsafe { answers(&questions, ask) };
    let told = |[kind, first, inode, offset_bytes]: Words| match kind {
        FILE | DEVICE => Told::Backing(Backing {
            filesystem: parted(first),
            inode,
            block_device: (kind == DEVICE).then(|| parted(first)),
            offset_bytes,
        }),
        ANOTHER => Told::Another,
        REFUSED => Told::Refused(Errno::from_raw_os_error(i32::try_from(first).unwrap_or(0))),
        _ => Told::Nothing,
    };
    answers.into_iter().map(|answer| answer.map(told)).collect()
}

/// Asks one device, in a process of its own.
fn ask((node, (expected_major, expected_minor)): &(CString, (u32, u32))) -> Result<Words, Errno> {
    // Without waiting for a medium.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let device = open(node.as_c_str(), flags, Mode::empty())?;
    let found = fstat(&device)?;
    // Names in /dev come and go.
    if FileType::from_raw_mode(found.st_mode) != FileType::BlockDevice
        || (major(found.st_rdev), minor(found.st_rdev)) != (*expected_major, *expected_minor)
    {
        return Ok([ANOTHER, 0, 0, 0]);
    }
    let word = |(major, minor): (u32, u32)| u64::from(major) << 32 | u64::from(minor);
    Ok(match status(&device) {
        Ok(info) if info.rdevice != 0 => [DEVICE, word(numbers(info.rdevice)), 0, info.offset],
        Ok(info) => [FILE, word(numbers(info.device)), info.inode, info.offset],
        Err(Errno::NXIO) => [NOTHING, 0, 0, 0],
        Err(errno) => [REFUSED, errno.raw_os_error().unsigned_abs().into(), 0, 0],
    })
}

fn status(device: impl AsFd) -> Result<Info, Errno> {
    // SAFETY: LOOP_GET_STATUS64 writes one `struct loop_info64`, of which Info has the
    // layout and which any bytes are valid for.
    unsafe { ioctl(device, Getter::<GET_STATUS64, Info>::new()) }
}

/// Major and minor number out of `huge_encode_dev` (`include/linux/kdev_t.h`): 12 bits
/// and 20, the low 8 of the minor number lowest.
fn numbers(encoded: u64) -> (u32, u32) {
    let bits = |shift: u32, mask: u64| u32::try_from(encoded >> shift & mask).unwrap_or(u32::MAX);
    (bits(8, 0xfff), bits(0, 0xff) | bits(20, 0xfff) << 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_device_numbers_are_parted_as_the_kernel_joins_them() {
        // new_encode_dev(MKDEV(259, 0x54321)).
        let encoded = 0x21 | 259 << 8 | (0x5_4321 & !0xff) << 12;
        assert_eq!(numbers(encoded), (259, 0x5_4321));
        assert_eq!(numbers(0x0801), (8, 1));
        // btrfs and overlayfs: major 0.
        assert_eq!(numbers(0x0010_0004), (0, 0x104));
    }
}
