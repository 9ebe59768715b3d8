//! What differs between the systems here, one file for each behind one
//! interface: the flags of `fs.open`, `borrow`, `path_from_bytes`, `is_disk`,
//! `set_no_cache`, and how errors are numbered.

use std::fs::File;
use std::mem::ManuallyDrop;

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(crate) use unix::*;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub(crate) use windows::*;

/// An open file that belongs to the caller, who closes it.
pub(crate) type Borrowed = ManuallyDrop<File>;
