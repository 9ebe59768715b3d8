//! What a loop device stands on, as its driver knows it.
//!
//! sysfs has a path (`loop/backing_file`), which proves nothing: it is that of the
//! moment when the device was made, in the mount namespace of who made it, and the
//! file may have been renamed, removed, or hidden below another mount since. The
//! driver answers with the inode.

use super::Info;
use rustix::io::Errno;
use rustix::ioctl::{Getter, Opcode, ioctl};
use std::fs::File;

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

impl Backing {
    /// What lies under this open loop device; `None` when nothing is attached.
    pub(crate) fn of(device: &File) -> Result<Option<Self>, Errno> {
        // SAFETY: LOOP_GET_STATUS64 writes one `struct loop_info64`, of which Info
        // has the layout and which any bytes are valid for.
        match unsafe { ioctl(device, Getter::<GET_STATUS64, Info>::new()) } {
            Ok(info) => Ok(Some(Self {
                filesystem: numbers(info.device),
                inode: info.inode,
                block_device: (info.rdevice != 0).then(|| numbers(info.rdevice)),
                offset_bytes: info.offset,
            })),
            Err(Errno::NXIO) => Ok(None),
            Err(errno) => Err(errno),
        }
    }
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
