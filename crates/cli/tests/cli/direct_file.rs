//! Reads and writes of a device past the page cache, so that each is a request.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// What the largest read or write may have, bytes.
const LONGEST: usize = 64 << 10;
/// What every device takes memory, offsets and lengths in multiples of, bytes.
const ALIGNED: usize = 4096;

/// A device that is open for direct I/O, and aligned memory.
pub(crate) struct DirectFile {
    file: File,
    memory: Vec<u8>,
    start: usize,
}

impl DirectFile {
    pub(crate) fn open(device: &Path) -> Self {
        let file = fs::OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(rustix::fs::OFlags::DIRECT.bits().cast_signed())
            .open(device)
            .expect("the device");
        // So much more that an aligned part is in it.
        let memory = vec![7_u8; LONGEST + ALIGNED];
        let start = memory.as_ptr().align_offset(ALIGNED);
        Self {
            file,
            memory,
            start,
        }
    }

    pub(crate) fn read(&mut self, at: u64, bytes: usize) {
        let part = &mut self.memory[self.start..self.start + bytes];
        self.file.read_exact_at(part, at).expect("a direct read");
    }

    pub(crate) fn write(&self, at: u64, bytes: usize) {
        let part = &self.memory[self.start..self.start + bytes];
        self.file.write_all_at(part, at).expect("a direct write");
    }

    pub(crate) fn sync(&self) {
        self.file.sync_data().expect("a sync");
    }
}
