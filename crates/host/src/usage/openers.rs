//! Which processes have a file open.
//!
//! A file that is open and that no process has open is open in the kernel: a filesystem
//! mounted from it, a target that exports it, an overlay above it, a descriptor that was
//! handed to an `io_uring`.

#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The number of the first pid namespace (`PROC_PID_INIT_INO`, `include/linux/proc_ns.h`):
/// only from there every process is seen.
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

/// Whether some process has the file open or mapped, besides this open file of it; `None`
/// where none is seen to have it, and not all could be looked at.
pub(super) fn any_process(proc: &Path, file: &File) -> Option<bool> {
    let id = file
        .metadata()
        .map(|found| (found.dev(), found.ino()))
        .ok()?;
    let namespace = fs::read_link(proc.join("self/ns/pid")).ok()?;
    let mut all_seen = namespace == Path::new(FIRST_NAMESPACE);
    let own = proc.join(std::process::id().to_string()).join("fd");
    let own = own.join(file.as_raw_fd().to_string());
    for process in numbered(proc)? {
        match has_open(&process, id, &own) {
            Some(true) => return Some(true),
            Some(false) => {}
            // It ended meanwhile, or it is not to be looked at.
            None => all_seen &= !process.exists(),
        }
    }
    all_seen.then_some(false)
}

fn has_open(process: &Path, id: (u64, u64), own: &Path) -> Option<bool> {
    for descriptor in numbered(&process.join("fd"))? {
        // Follows the link to the open file itself, whatever its name is now. It has been
        // open, so that what does not answer is asked about what it has told already.
        if descriptor != own && is_it(&descriptor, id) {
            return Some(true);
        }
    }
    // Who has closed it may have it mapped. A process that shows its descriptors and not
    // its memory (a thread of the kernel, which has none, or one that a security module
    // guards) is taken for one that has not: it is the less likely way to have a file open.
    // The lines have the number of the filesystem in the kernel, which on btrfs is another
    // than that of stat(2): the inode has to do.
    let maps = fs::read(process.join("maps")).unwrap_or_default();
    let inode = id.1.to_string();
    let of_inode = |line: &[u8]| {
        let mut columns = line
            .split(|byte| *byte == b' ')
            .filter(|word| !word.is_empty());
        columns.nth(4) == Some(inode.as_bytes())
    };
    Some(maps.split(|byte| *byte == b'\n').any(of_inode))
}

/// Whether a descriptor is of this inode: by fdinfo, which asks no filesystem.
fn is_it(descriptor: &Path, (dev, inode): (u64, u64)) -> bool {
    let said = || {
        let folder = descriptor.parent()?.parent()?;
        fs::read_to_string(folder.join("fdinfo").join(descriptor.file_name()?)).ok()
    };
    let told = said().and_then(|text| {
        let number = text.lines().find_map(|line| line.strip_prefix("ino:"))?;
        number.trim().parse::<u64>().ok()
    });
    // Before Linux 5.14 it does not tell.
    if told.is_some_and(|told| told != inode) {
        return false;
    }
    fs::metadata(descriptor).is_ok_and(|found| (found.dev(), found.ino()) == (dev, inode))
}

/// What a folder holds that has a number for a name.
fn numbered(folder: &Path) -> Option<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).ok()?;
    let is_number = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.parse::<u32>().is_ok())
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    Some(paths.filter(is_number).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_open_file_of_this_process_is_seen_and_the_own_one_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let file = File::create(&path).expect("a file");
        let proc = Path::new("/proc");
        let again = File::open(&path).expect("the file");
        assert_eq!(any_process(proc, &file), Some(true));
        drop(again);
        // A process that another test starts may have a copy for a moment; who is not
        // root sees not everything.
        assert!((0..10_000).any(|_| any_process(proc, &file) != Some(true)));
    }
}
