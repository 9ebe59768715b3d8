//! What the kernel itself says of its devices: read anew here, by other code
//! than that of the program that is checked.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The name in the kernel of what a path of `/dev` leads to: `dm-0`.
///
/// # Errors
/// When there is no such device.
pub(crate) fn name_of(path: &str) -> Result<String, String> {
    let about = fs::metadata(path).map_err(|error| format!("{path}: {error}"))?;
    name_of_number(about.rdev()).ok_or_else(|| format!("{path} is no block device in /sys"))
}

/// The name of a device by its number, of the kind that `stat` gives.
fn name_of_number(number: u64) -> Option<String> {
    // The C library's split of a device number.
    let major = ((number >> 8) & 0xfff) | ((number >> 32) & !0xfff);
    let minor = (number & 0xff) | ((number >> 12) & !0xff);
    let link = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()?;
    Some(link.file_name()?.to_string_lossy().into_owned())
}

/// Whether a disk is made by somebody, in contrast to one that is plugged in.
pub(crate) fn is_made(disk: &str) -> bool {
    const MADE: [&str; 8] = ["loop", "dm-", "md", "zram", "ram", "nbd", "bcache", "nullb"];
    MADE.iter().any(|start| disk.starts_with(start))
}

/// A file of a device's folder, trimmed; `None` where it has none.
pub(crate) fn attribute(device: &str, file: &str) -> Option<String> {
    let text = fs::read_to_string(folder(device).join(file)).ok()?;
    Some(text.trim().to_owned())
}

/// A number in a file of a device's folder.
pub(crate) fn number(device: &str, file: &str) -> Option<u64> {
    attribute(device, file)?.parse().ok()
}

fn folder(device: &str) -> PathBuf {
    Path::new("/sys/class/block").join(device)
}

/// The disk that has the queue: itself, or that of a partition.
fn with_queue(device: &str) -> String {
    partition_of(device).unwrap_or_else(|| device.to_owned())
}

/// A file of its queue's folder.
pub(crate) fn queue(device: &str, file: &str) -> Option<String> {
    attribute(&with_queue(device), &format!("queue/{file}"))
}

/// The disk that it is a partition of.
pub(crate) fn partition_of(device: &str) -> Option<String> {
    folder(device).join("partition").exists().then(|| {
        let place = fs::canonicalize(folder(device)).unwrap_or_default();
        let disk = place.parent().and_then(Path::file_name);
        disk.unwrap_or_default().to_string_lossy().into_owned()
    })
}

/// The devices that it stands on, sorted.
pub(crate) fn below(device: &str) -> Vec<String> {
    if let Some(disk) = partition_of(device) {
        return vec![disk];
    }
    if let Some(file) = attribute(device, "loop/backing_file") {
        let about = fs::metadata(&file).ok();
        let on = about.and_then(|about| {
            // A loop device may stand on a device, too.
            let number = if about.rdev() == 0 {
                about.dev()
            } else {
                about.rdev()
            };
            name_of_number(number)
        });
        return on.into_iter().collect();
    }
    let mut names: Vec<String> = fs::read_dir(folder(device).join("slaves"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// A device and all below it, each once, with what it stands on.
pub(crate) fn stack(top: &str) -> BTreeMap<String, Vec<String>> {
    let mut stack = BTreeMap::new();
    let mut next = vec![top.to_owned()];
    while let Some(device) = next.pop() {
        if let Entry::Vacant(place) = stack.entry(device) {
            let on = below(place.key());
            next.extend(on.iter().cloned());
            place.insert(on);
        }
    }
    stack
}

/// All disks without their partitions.
pub(crate) fn disks() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir("/sys/block")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// What `/proc/diskstats` has counted for a device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) reads: u64,
    pub(crate) read_bytes: u64,
    pub(crate) writes: u64,
    pub(crate) write_bytes: u64,
    pub(crate) flushes: u64,
}

impl Counted {
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            reads: self.reads.wrapping_sub(before.reads),
            read_bytes: self.read_bytes.wrapping_sub(before.read_bytes),
            writes: self.writes.wrapping_sub(before.writes),
            write_bytes: self.write_bytes.wrapping_sub(before.write_bytes),
            flushes: self.flushes.wrapping_sub(before.flushes),
        }
    }
}

/// All of `/proc/diskstats`.
pub(crate) fn counters() -> BTreeMap<String, Counted> {
    let text = fs::read_to_string("/proc/diskstats").unwrap_or_default();
    text.lines().filter_map(counted).collect()
}

/// A line: major, minor, name, then the fields of
/// Documentation/admin-guide/iostats.rst; sectors are always 512 bytes.
fn counted(line: &str) -> Option<(String, Counted)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let field = |index: usize| words.get(index + 2)?.parse::<u64>().ok();
    let counted = Counted {
        reads: field(1)?,
        read_bytes: field(3)? * 512,
        writes: field(5)?,
        write_bytes: field(7)? * 512,
        flushes: field(16).unwrap_or(0),
    };
    Some(((*words.get(2)?).to_owned(), counted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_diskstats_is_counted_in_bytes() {
        let line = " 254 0 vda 10 1 80 5 20 2 160 7 0 11 12 1 0 8 1 30 4";
        let (name, counted) = counted(line).expect("a line");
        assert_eq!(name, "vda");
        assert_eq!((counted.reads, counted.read_bytes), (10, 80 * 512));
        assert_eq!((counted.writes, counted.write_bytes), (20, 160 * 512));
        assert_eq!(counted.flushes, 30);
    }
}
