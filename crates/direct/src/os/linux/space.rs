//! The space of a file, by fallocate(2).

use std::fs::File;

use rustix::fs::{FallocateFlags, fallocate};

use crate::Error;
use crate::os::no_such_call;

pub(crate) fn preallocate(file: &File, offset: u64, length: u64) -> Result<(), Error> {
    fallocate(file, FallocateFlags::empty(), offset, length)
        .map_err(|error| no_such_call("fallocate", file, error.into()))
}

pub(crate) fn punch_hole(file: &File, offset: u64, length: u64) -> Result<(), Error> {
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate(file, flags, offset, length)
        .map_err(|error| no_such_call("fallocate(FALLOC_FL_PUNCH_HOLE)", file, error.into()))
}
