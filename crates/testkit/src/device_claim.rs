//! A block device that a test holds for itself.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// An exclusive claim to a block device (`open(2)`: `O_EXCL` without `O_CREAT`), as `mount(2)`
/// makes one.
#[derive(Debug)]
pub struct DeviceClaim {
    held: File,
    device: PathBuf,
}

impl DeviceClaim {
    /// Claims this device.
    ///
    /// # Errors
    ///
    /// As `open(2)`: `EBUSY` where somebody else has claimed it.
    pub fn on(device: &Path) -> io::Result<Self> {
        let flags = rustix::fs::OFlags::EXCL.bits().cast_signed();
        let held = OpenOptions::new()
            .read(true)
            .custom_flags(flags)
            .open(device)?;
        let device = fs::canonicalize(device)?;
        Ok(Self { held, device })
    }

    /// Gives it up, and returns when nobody has a copy of it: a process that another thread
    /// starts at the moment has one until it becomes its program (`O_CLOEXEC`).
    ///
    /// # Panics
    ///
    /// If it is still open somewhere after so many looks at all processes that it is somebody
    /// else who opened the device.
    pub fn release(self) {
        let Self { held, device } = self;
        drop(held);
        for _ in 0..10_000 {
            if !is_open_anywhere(&device) {
                return;
            }
            std::thread::yield_now();
        }
        panic!("somebody else has {} open", device.display());
    }
}

/// Whether any process has this device open, by the name that it has here. What is behind a
/// descriptor is not asked itself, as a disk that hangs would not answer.
fn is_open_anywhere(device: &Path) -> bool {
    let entries = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
    let processes = entries(PathBuf::from("/proc"));
    let mut descriptors = processes.flat_map(|one| entries(one.path().join("fd")));
    descriptors.any(|one| fs::read_link(one.path()).is_ok_and(|opened| opened == device))
}
