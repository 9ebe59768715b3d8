//! The numbers of `ioctl` requests, computed as the systems' headers do.
//!
//! macOS and FreeBSD are not at hand where this crate is built and tested, so
//! their request numbers are not copied but computed from what the headers
//! state: direction, group, number and type. The tests hold the computation
//! against numbers that are known, on every system.

use std::ffi::c_ulong;

/// `_IO(group, number)` of `<sys/ioccom.h>` on macOS and FreeBSD.
///
/// The layout, from the top: 3 bits of direction, 13 bits of the parameter's
/// size, 8 bits of group, 8 bits of number. No parameter is `IOC_VOID`,
/// `0x2000_0000`.
#[cfg(any(target_os = "freebsd", test))]
pub(crate) const fn bsd_io(group: u8, number: u8) -> c_ulong {
    0x2000_0000 | ((group as c_ulong) << 8) | number as c_ulong
}

/// `_IOR(group, number, T)` of `<sys/ioccom.h>` on macOS and FreeBSD: a
/// request that reads a `T` from the kernel, `IOC_OUT`, `0x4000_0000`.
pub(crate) const fn bsd_ior<T>(group: u8, number: u8) -> c_ulong {
    const IOCPARM_MASK: usize = 0x1fff;
    assert!(size_of::<T>() <= IOCPARM_MASK);
    0x4000_0000
        | ((size_of::<T>() as c_ulong) << 16)
        | ((group as c_ulong) << 8)
        | number as c_ulong
}

/// `_IOR(type, number, T)` of `<asm-generic/ioctl.h>` on Linux, as most of its
/// architectures have it: 2 bits of direction (2: read), 14 bits of size, 8
/// bits of type, 8 bits of number.
#[cfg(test)]
const fn linux_ior<T>(group: u8, number: u8) -> c_ulong {
    assert!(size_of::<T>() < 1 << 14);
    (2 << 30) | ((size_of::<T>() as c_ulong) << 16) | ((group as c_ulong) << 8) | number as c_ulong
}

/// macOS: `<sys/disk.h>` (bsd/sys/disk.h of XNU).
#[cfg(any(target_os = "macos", test))]
pub(crate) mod macos {
    use super::{bsd_ior, c_ulong};

    /// `_IOR('d', 24, uint32_t)`: the logical sector, in bytes.
    pub(crate) const DKIOCGETBLOCKSIZE: c_ulong = bsd_ior::<u32>(b'd', 24);
    /// `_IOR('d', 25, uint64_t)`: the size, in logical sectors.
    pub(crate) const DKIOCGETBLOCKCOUNT: c_ulong = bsd_ior::<u64>(b'd', 25);
    /// `_IOR('d', 29, uint32_t)`: whether the medium can be written.
    pub(crate) const DKIOCISWRITABLE: c_ulong = bsd_ior::<u32>(b'd', 29);
    /// `_IOR('d', 77, uint32_t)`: the physical sector, in bytes.
    pub(crate) const DKIOCGETPHYSICALBLOCKSIZE: c_ulong = bsd_ior::<u32>(b'd', 77);
}

/// FreeBSD: `<sys/disk.h>` (sys/sys/disk.h).
#[cfg(any(target_os = "freebsd", test))]
pub(crate) mod freebsd {
    use super::{bsd_io, bsd_ior, c_ulong};

    /// `DISK_IDENT_SIZE`: the bytes of a serial number with its NUL.
    pub(crate) const DISK_IDENT_SIZE: usize = 256;
    /// `_IOR('d', 128, u_int)`: the logical sector, in bytes.
    pub(crate) const DIOCGSECTORSIZE: c_ulong = bsd_ior::<u32>(b'd', 128);
    /// `_IOR('d', 129, off_t)`: the size, in bytes.
    pub(crate) const DIOCGMEDIASIZE: c_ulong = bsd_ior::<i64>(b'd', 129);
    /// `_IO('d', 135)`: flushes the drive's write cache.
    pub(crate) const DIOCGFLUSH: c_ulong = bsd_io(b'd', 135);
    /// `_IOR('d', 137, char[DISK_IDENT_SIZE])`: the serial number.
    pub(crate) const DIOCGIDENT: c_ulong = bsd_ior::<[u8; DISK_IDENT_SIZE]>(b'd', 137);
    /// `_IOR('d', 139, off_t)`: the stripe, in bytes: on a disk its physical
    /// sector, on a RAID its stripe; 0 if neither is known.
    pub(crate) const DIOCGSTRIPESIZE: c_ulong = bsd_ior::<i64>(b'd', 139);
    /// `_IOR('d', 140, off_t)`: the offset of the first stripe, in bytes.
    pub(crate) const DIOCGSTRIPEOFFSET: c_ulong = bsd_ior::<i64>(b'd', 140);
}

#[cfg(test)]
mod tests {
    use super::{bsd_ior, freebsd, linux_ior, macos};

    /// `struct winsize`: the parameter of `TIOCGWINSZ`, whose number is in the
    /// libc crate for all of these systems.
    #[repr(C)]
    struct WindowSize {
        rows_columns_pixels: [u16; 4],
    }

    #[test]
    fn the_bsd_form_gives_the_numbers_that_are_known_of_both_systems() {
        // TIOCGWINSZ is _IOR('t', 104, struct winsize), 0x40087468 on both.
        assert_eq!(bsd_ior::<WindowSize>(b't', 104), 0x4008_7468);
        #[cfg(any(target_os = "macos", target_os = "freebsd"))]
        assert_eq!(bsd_ior::<WindowSize>(b't', 104), libc::TIOCGWINSZ);
        // FIONREAD is _IOR('f', 127, int), 0x4004667f on both.
        assert_eq!(bsd_ior::<i32>(b'f', 127), 0x4004_667f);
    }

    #[test]
    fn the_linux_form_gives_the_numbers_of_this_kernel() {
        // BLKGETSIZE64 of <linux/fs.h> is _IOR(0x12, 114, size_t), and
        // RNDGETENTCNT of <linux/random.h> is _IOR('R', 0x00, int).
        #[cfg(target_pointer_width = "64")]
        assert_eq!(linux_ior::<usize>(0x12, 114), 0x8008_1272);
        assert_eq!(linux_ior::<i32>(b'R', 0), 0x8004_5200);
        #[cfg(target_os = "linux")]
        {
            use rustix::ioctl::opcode;
            let here = |number: rustix::ioctl::Opcode| std::ffi::c_ulong::from(number);
            assert_eq!(
                linux_ior::<usize>(0x12, 114),
                here(opcode::read::<usize>(0x12, 114))
            );
            // FS_IOC_GETVERSION is _IOR('v', 1, long).
            assert_eq!(
                linux_ior::<std::ffi::c_long>(b'v', 1),
                here(opcode::read::<std::ffi::c_long>(b'v', 1))
            );
        }
    }

    #[test]
    fn each_request_has_the_number_that_its_header_defines() {
        assert_eq!(macos::DKIOCGETBLOCKSIZE, 0x4004_6418);
        assert_eq!(macos::DKIOCGETBLOCKCOUNT, 0x4008_6419);
        assert_eq!(macos::DKIOCISWRITABLE, 0x4004_641d);
        assert_eq!(macos::DKIOCGETPHYSICALBLOCKSIZE, 0x4004_644d);
        assert_eq!(freebsd::DIOCGSECTORSIZE, 0x4004_6480);
        assert_eq!(freebsd::DIOCGMEDIASIZE, 0x4008_6481);
        assert_eq!(freebsd::DIOCGFLUSH, 0x2000_6487);
        assert_eq!(freebsd::DIOCGIDENT, 0x4100_6489);
        assert_eq!(freebsd::DIOCGSTRIPESIZE, 0x4008_648b);
        assert_eq!(freebsd::DIOCGSTRIPEOFFSET, 0x4008_648c);
    }
}
