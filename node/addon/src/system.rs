//! What differs between the systems here, one file for each behind one
//! interface: the flags of `fs.open`, `borrow`, `path_from_bytes`, `descriptor`,
//! `is_disk`, `set_no_cache`, and how errors are numbered.

use std::fs::File;
use std::mem::ManuallyDrop;
use std::ops::Deref;

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(crate) use unix::*;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub(crate) use windows::*;

/// An open file that belongs to the caller, who closes it.
pub(crate) struct Borrowed(ManuallyDrop<File>);

impl Deref for Borrowed {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

#[cfg(unix)]
impl std::os::fd::AsFd for Borrowed {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(windows)]
impl std::os::windows::io::AsHandle for Borrowed {
    fn as_handle(&self) -> std::os::windows::io::BorrowedHandle<'_> {
        self.0.as_handle()
    }
}
