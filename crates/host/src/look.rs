//! Looks at files of the kernel and of the state folder, each of which may fail: for want
//! of descriptors, of rights, of a mounted sysfs. A look that failed says nothing of what
//! is there.
//!
//! All of them pass here, so that a test can let any one of them fail.

use crate::roots::Roots;
use rustix::fs::{Dir, StatxFlags, fstatfs, statx};
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// `SYSFS_MAGIC` and `PROC_SUPER_MAGIC` (uapi/linux/magic.h).
const SYSFS: u64 = 0x6265_6572;
const PROC: u64 = 0x9fa0;

/// The content of a file.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    may_fail()?;
    fs::read(path)
}

/// Opens a file or a folder for reading.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    may_fail()?;
    File::open(path)
}

/// The names in an open folder, sorted; not `.` and `..`.
pub(crate) fn names(folder: &File) -> io::Result<Vec<String>> {
    may_fail()?;
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = std::ffi::OsStr::from_bytes(entry.file_name().to_bytes());
        if name != "." && name != ".." {
            names.push(name.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// That what is open is of sysfs; in the tree of a test anything is.
pub(crate) fn is_sysfs(roots: &Roots, file: &File) -> io::Result<()> {
    is_of(
        roots,
        file,
        SYSFS,
        "it is not of sysfs: another filesystem is mounted over it",
    )
}

/// That what is open is of procfs; in the tree of a test anything is.
pub(crate) fn is_procfs(roots: &Roots, file: &File) -> io::Result<()> {
    is_of(
        roots,
        file,
        PROC,
        "it is not of procfs: another file is mounted over it",
    )
}

fn is_of(roots: &Roots, file: &File, magic: u64, else_: &'static str) -> io::Result<()> {
    may_fail()?;
    if !roots.live() {
        return Ok(());
    }
    // The field is signed on some machines.
    let found = i128::from(fstatfs(file)?.f_type);
    if found == i128::from(magic) {
        return Ok(());
    }
    Err(io::Error::other(else_))
}

/// That a folder of sysfs is where sysfs has it, and not another folder of sysfs that is
/// mounted there; kernels before 5.8 do not say.
pub(crate) fn is_in_place(roots: &Roots, folder: &File) -> io::Result<()> {
    may_fail()?;
    if !roots.live() {
        return Ok(());
    }
    let mount_of = |file: &File| -> io::Result<Option<u64>> {
        let found = statx(
            file,
            "",
            rustix::fs::AtFlags::EMPTY_PATH,
            StatxFlags::MNT_ID,
        )?;
        let known = found.stx_mask & StatxFlags::MNT_ID.bits() != 0;
        Ok(known.then_some(found.stx_mnt_id))
    };
    if mount_of(folder)? == mount_of(&File::open(&roots.sys)?)? {
        return Ok(());
    }
    Err(io::Error::other("another folder is mounted over it"))
}

/// A step that a test may let fail.
#[cfg_attr(not(test), expect(clippy::unnecessary_wraps))]
pub(crate) fn may_fail() -> io::Result<()> {
    #[cfg(test)]
    return failing::next();
    #[cfg(not(test))]
    Ok(())
}

#[cfg(test)]
pub(crate) mod failing {
    //! Lets one look of this thread fail.

    use std::cell::Cell;
    use std::io;

    thread_local! {
        /// How many looks are still answered, and how the next one fails.
        static LEFT: Cell<Option<(u32, i32)>> = const { Cell::new(None) };
    }

    pub(crate) fn next() -> io::Result<()> {
        LEFT.with(|left| match left.get() {
            Some((0, errno)) => {
                left.set(None);
                Err(io::Error::from_raw_os_error(errno))
            }
            Some((count, errno)) => {
                left.set(Some((count - 1, errno)));
                Ok(())
            }
            None => Ok(()),
        })
    }

    /// What `work` answers when its look of this number, from 0, fails with `errno`; and
    /// whether it had as many.
    pub(crate) fn at<T>(number: u32, errno: i32, work: impl FnOnce() -> T) -> (T, bool) {
        LEFT.with(|left| left.set(Some((number, errno))));
        let done = work();
        (done, LEFT.with(Cell::take).is_none())
    }
}
