//! Direct I/O in tests.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Memory that begins at a multiple of 4096.
pub(crate) struct Aligned {
    memory: Vec<u8>,
    start: usize,
}

impl Aligned {
    pub(crate) fn new(length: usize) -> Self {
        let memory = vec![0x5A; length + 4096];
        let start = memory.as_ptr().align_offset(4096);
        Self { memory, start }
    }

    pub(crate) fn bytes(&mut self, length: usize) -> &mut [u8] {
        &mut self.memory[self.start..self.start + length]
    }
}

/// The device, past the page cache.
pub(crate) fn direct(path: &Path) -> File {
    File::options()
        .read(true)
        .write(true)
        .custom_flags(libc::O_DIRECT)
        .open(path)
        .expect("the device")
}
