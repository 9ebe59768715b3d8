//! Loop devices (kernel: `drivers/block/loop.c`): over files of our own, and what
//! those of others stand on.
//!
//! A [`LoopDevice`] is gone with the last open file of it (`LO_FLAGS_AUTOCLEAR`),
//! so that nothing stays even after SIGKILL; over a file without a name, that file
//! is gone with it.

mod backing;

pub(crate) use backing::{Told, of_loop_devices};

use crate::error::Error;
use rustix::io::Errno;
use rustix::ioctl::{IntegerSetter, Opcode, Setter, ioctl};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `LOOP_CTL_GET_FREE`.
const GET_FREE: libc::Ioctl = 0x4C82;
/// `LOOP_CONFIGURE`, since Linux 5.8.
const CONFIGURE: Opcode = 0x4C0A;
/// `LOOP_SET_DIRECT_IO`.
const SET_DIRECT_IO: Opcode = 0x4C08;
/// `LOOP_SET_CAPACITY`.
const SET_CAPACITY: Opcode = 0x4C07;
/// `LO_FLAGS_AUTOCLEAR`.
const AUTOCLEAR: u32 = 4;
/// Where the kernel gives free devices away.
const CONTROL: &str = "/dev/loop-control";
/// Others look for a free device too, and may be faster.
const TRIES: u32 = 64;
/// Between two tries: who has claimed a device and not set it up yet may be waiting for
/// a processor.
const PAUSE: Duration = Duration::from_millis(5);

/// `struct loop_info64` (`include/uapi/linux/loop.h`).
#[repr(C)]
struct Info {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

/// `struct loop_config`.
#[repr(C)]
struct Config {
    fd: u32,
    block_size: u32,
    info: Info,
    reserved: [u64; 8],
}

/// A loop device that was made here.
#[derive(Debug)]
pub struct LoopDevice {
    /// The device, open for reading and writing and claimed; it is gone when this
    /// and every other open file of it are closed.
    pub file: File,
    /// `/dev/loop3`.
    pub path: PathBuf,
    /// Why it goes through the page cache of the file under it, when it does; a
    /// sentence without its full stop.
    pub direct_refused: Option<String>,
}

impl LoopDevice {
    /// Makes a loop device over `backing`, as large as that is. Direct I/O to the
    /// backing file is switched on where its filesystem can.
    ///
    /// # Errors
    /// When this kernel has no loop devices, or this user may not make them.
    pub fn over(backing: &File) -> Result<Self, Error> {
        let control = OpenOptions::new()
            .read(true)
            .write(true)
            .open(CONTROL)
            .map_err(|error| Error::on_path("opening", Path::new(CONTROL), error))?;
        for _ in 0..TRIES {
            let path = PathBuf::from(format!("/dev/loop{}", free(&control)?));
            let Some(file) = claim(&path)? else {
                std::thread::sleep(PAUSE);
                continue;
            };
            match configure(&file, backing) {
                Ok(()) => {}
                // Somebody else has it now.
                Err(Errno::BUSY) => continue,
                Err(errno) => {
                    return Err(Error::on_path("setting up", &path, errno.into()));
                }
            }
            let direct_refused = direct(&file).err().map(|errno| {
                format!(
                    "the filesystem under it takes no direct I/O from a loop device ({})",
                    io::Error::from(errno)
                )
            });
            return Ok(Self {
                file,
                path,
                direct_refused,
            });
        }
        Err(Error::on_path(
            "finding a free loop device with",
            Path::new(CONTROL),
            Errno::BUSY.into(),
        ))
    }
}

/// Number of a device that nobody uses.
fn free(control: &File) -> Result<u32, Error> {
    // SAFETY: LOOP_CTL_GET_FREE takes no argument and touches no memory.
    let asked = unsafe { libc::ioctl(control.as_raw_fd(), GET_FREE) };
    u32::try_from(asked).map_err(|_| {
        let error = io::Error::last_os_error();
        Error::on_path("finding a free loop device with", Path::new(CONTROL), error)
    })
}

/// The device, open; `None` when somebody else claimed it meanwhile.
fn claim(path: &Path) -> Result<Option<File>, Error> {
    let opened = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_EXCL | libc::O_CLOEXEC)
        .open(path);
    match opened {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.raw_os_error() == Some(libc::EBUSY) => Ok(None),
        Err(error) => Err(Error::on_path("opening", path, error)),
    }
}

fn configure(device: &File, backing: &File) -> Result<(), Errno> {
    let config = Config {
        // Descriptors are not negative.
        fd: backing.as_raw_fd().unsigned_abs(),
        block_size: 0,
        info: Info {
            device: 0,
            inode: 0,
            rdevice: 0,
            offset: 0,
            size_limit: 0,
            number: 0,
            encrypt_type: 0,
            encrypt_key_size: 0,
            flags: AUTOCLEAR,
            file_name: [0; 64],
            crypt_name: [0; 64],
            encrypt_key: [0; 32],
            init: [0; 2],
        },
        reserved: [0; 8],
    };
    // SAFETY: LOOP_CONFIGURE reads one `struct loop_config`, of which Config has
    // the layout, and keeps a reference of its own to the file of `fd`.
    unsafe { ioctl(device, Setter::<CONFIGURE, Config>::new(config)) }
}

/// Makes a loop device, open here, as large as its file is now.
///
/// # Errors
/// When it is no loop device, or has no file.
pub fn follow_size(device: &File) -> Result<(), Error> {
    // SAFETY: LOOP_SET_CAPACITY takes a number in place of a pointer, and looks at none.
    unsafe { ioctl(device, IntegerSetter::<SET_CAPACITY>::new_usize(0)) }.map_err(|errno| {
        let hint = "the device may have been detached by somebody";
        Error::on_file("giving a loop device the size of", hint, errno)
    })
}

/// Direct I/O from the device to its file.
fn direct(device: &File) -> Result<(), Errno> {
    // SAFETY: LOOP_SET_DIRECT_IO takes a number in place of a pointer.
    unsafe { ioctl(device, IntegerSetter::<SET_DIRECT_IO>::new_usize(1)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::size_of;

    #[test]
    fn the_structures_are_as_long_as_the_kernels() {
        assert_eq!(size_of::<Info>(), 232);
        assert_eq!(size_of::<Config>(), 304);
    }
}
