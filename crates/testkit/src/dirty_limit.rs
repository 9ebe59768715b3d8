//! How many dirty pages the machine lets be.

use crate::Missing;
use std::fs;
use std::path::{Path, PathBuf};

/// A limit on the dirty pages of the machine; what there was before is set again when this
/// is dropped.
#[derive(Debug)]
pub struct DirtyLimit {
    /// Files and what they held.
    before: Vec<(PathBuf, String)>,
}

impl DirtyLimit {
    /// So many bytes, and half of them from which on they are written back.
    ///
    /// # Errors
    /// What is missing: root, or the files of the kernel.
    pub fn new(bytes: u64) -> Result<Self, Missing> {
        let mut limit = Self { before: Vec::new() };
        for (name, bytes) in [("dirty_background", bytes / 2), ("dirty", bytes)] {
            let missing = |what: &Path, error| Missing::new(what.display(), error);
            let read = |path: &Path| fs::read_to_string(path).map_err(|e| missing(path, e));
            let in_bytes = Path::new("/proc/sys/vm").join(format!("{name}_bytes"));
            // Setting the one takes the other away (`dirty_bytes_handler` in
            // mm/page-writeback.c), so that which holds now is what is put back.
            let in_percent = Path::new("/proc/sys/vm").join(format!("{name}_ratio"));
            let holds = if read(&in_bytes)?.trim() == "0" {
                &in_percent
            } else {
                &in_bytes
            };
            let value = read(holds)?;
            fs::write(&in_bytes, bytes.to_string()).map_err(|error| missing(&in_bytes, error))?;
            limit.before.push((holds.clone(), value));
        }
        Ok(limit)
    }

    /// Bytes that the kernel lets be dirty, as it works them out.
    ///
    /// # Panics
    /// When it does not say.
    pub fn in_force() -> u64 {
        let counters = fs::read_to_string("/proc/vmstat").expect("/proc/vmstat");
        let mut lines = counters.lines();
        let pages = lines.find_map(|line| line.strip_prefix("nr_dirty_threshold "));
        4096 * pages.expect("a line").parse::<u64>().expect("a number")
    }
}

impl Drop for DirtyLimit {
    fn drop(&mut self) {
        // The background one cannot be above the other.
        for (path, value) in self.before.iter().rev() {
            if let Err(error) = fs::write(path, value.trim()) {
                eprintln!("{} is not {}: {error}", path.display(), value.trim());
            }
        }
    }
}
