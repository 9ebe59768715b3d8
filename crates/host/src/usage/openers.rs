//! Which processes have a file open.
//!
//! A file that is open and that no process has open is open in the kernel: a filesystem
//! mounted from it, a target that exports it, an overlay above it, a descriptor that was
//! handed to an `io_uring`.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The number of the first pid namespace (`PROC_PID_INIT_INO`, `include/linux/proc_ns.h`):
/// only from there every process is seen.
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

/// An inode, as the two places tell it that have to be compared.
struct Inode {
    /// By stat(2): the number of the filesystem, and the own one.
    id: (u64, u64),
    /// By fdinfo and maps, which on an overlay may be another; before Linux 5.14 fdinfo
    /// does not tell.
    in_kernel: Option<u64>,
}

/// Whether some process has the file open or mapped, besides this open file of it; `None`
/// where none is seen to have it, and not all could be looked at.
pub(super) fn any_process(proc: &Path, file: &File) -> Option<bool> {
    let found = file.metadata().ok()?;
    let namespace = fs::read_link(proc.join("self/ns/pid")).ok()?;
    let mut all_seen = namespace == Path::new(FIRST_NAMESPACE);
    let own = proc.join(std::process::id().to_string()).join("fd");
    let own = own.join(file.as_raw_fd().to_string());
    let inode = Inode {
        id: (found.dev(), found.ino()),
        in_kernel: fdinfo(&own).as_deref().and_then(inode_in),
    };
    for process in numbered(proc)? {
        match has_open(&process, &inode, &own) {
            Some(true) => return Some(true),
            Some(false) => {}
            // It ended meanwhile, or it is not to be looked at.
            None => all_seen &= !process.exists(),
        }
    }
    all_seen.then_some(false)
}

fn has_open(process: &Path, inode: &Inode, own: &Path) -> Option<bool> {
    let is_it = |link: &Path| {
        // Follows the link to the open file itself, whatever its name is now.
        fs::metadata(link).map(|found| (found.dev(), found.ino()) == inode.id)
    };
    for descriptor in numbered(&process.join("fd"))? {
        // Another inode's filesystem is not asked: it may hang.
        let info = fdinfo(&descriptor);
        if info.as_deref().is_some_and(is_path_only) {
            continue;
        }
        let told = info.as_deref().and_then(inode_in);
        let may_be = told.is_none() || inode.in_kernel.is_none() || told == inode.in_kernel;
        if descriptor != own && may_be && is_it(&descriptor).unwrap_or(false) {
            return Some(true);
        }
    }
    // Who has closed it may have it mapped. A process that shows its descriptors and not
    // its memory (a thread of the kernel, which has none, or one that a security module
    // guards) is taken for one that has not: it is the less likely way to have a file open.
    let maps = fs::read(process.join("maps")).unwrap_or_default();
    let numbers = [Some(inode.id.1), inode.in_kernel].into_iter().flatten();
    let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
    let mapped = String::from_utf8_lossy(&maps).lines().any(|line| {
        let columns: Vec<&str> = line.split_whitespace().take(5).collect();
        // The number of the filesystem there is on btrfs another than that of stat(2).
        let [addresses, _, _, _, number] = columns[..] else {
            return false;
        };
        let ends: Vec<&str> = addresses
            .split('-')
            .map(|end| end.trim_start_matches('0'))
            .collect();
        let link = process.join("map_files").join(ends.join("-"));
        numbers.iter().any(|own| own == number) && is_it(&link).unwrap_or(true)
    });
    Some(mapped)
}

/// What the kernel tells of a descriptor without asking its filesystem.
fn fdinfo(descriptor: &Path) -> Option<String> {
    let folder = descriptor.parent()?.parent()?;
    let info = folder.join("fdinfo").join(descriptor.file_name()?);
    fs::read_to_string(info).ok()
}

fn field<'a>(fdinfo: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = fdinfo.lines();
    lines.find_map(|line| Some(line.strip_prefix(name)?.trim()))
}

fn inode_in(fdinfo: &str) -> Option<u64> {
    field(fdinfo, "ino:")?.parse().ok()
}

/// Whether it only stands for the file (open(2), `O_PATH`), which does not have it open: as
/// those by which a path is held here.
fn is_path_only(fdinfo: &str) -> bool {
    let flags = field(fdinfo, "flags:").and_then(|octal| i64::from_str_radix(octal, 8).ok());
    flags.is_some_and(|flags| flags & i64::from(libc::O_PATH) != 0)
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
        // What only stands for it does not have it open.
        let stands_for = rustix::fs::open(
            &path,
            rustix::fs::OFlags::PATH | rustix::fs::OFlags::CLOEXEC,
            rustix::fs::Mode::empty(),
        );
        let stands_for = stands_for.expect("the file");
        assert!((0..10_000).any(|_| any_process(proc, &file) != Some(true)));
        drop(stands_for);
        // SAFETY: nothing else is done with the memory than to give it back.
        let mapped = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                4096,
                rustix::mm::ProtFlags::READ,
                rustix::mm::MapFlags::SHARED,
                File::open(&path).expect("the file"),
                0,
            )
        };
        let mapped = mapped.expect("a mapping");
        assert_eq!(any_process(proc, &file), Some(true));
        // SAFETY: it was mapped above, and nobody has a reference into it.
        unsafe { rustix::mm::munmap(mapped, 4096) }.expect("unmapping");
        // A process that another test starts may have a copy for a moment; who is not
        // root sees not everything.
        assert!((0..10_000).any(|_| any_process(proc, &file) != Some(true)));
    }
}
