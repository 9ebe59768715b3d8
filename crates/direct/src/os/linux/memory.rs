//! Huge pages: reserved ones by `MAP_HUGETLB`, transparent ones by advice.

use rustix::mm::{Advice, MapFlags, madvise};

use crate::error::Subject;
use crate::os::Mapping;
use crate::os::unix::memory::reserve;
use crate::parse::smaps;
use crate::{Backing, Error};

/// Maps on reserved huge pages of the default size, or says why not.
pub(crate) fn map_huge(length: usize, alignment: usize) -> Result<Mapping, String> {
    let page_size = default_huge_page_size()
        .ok_or("this kernel has no huge pages to reserve (no Hugepagesize in /proc/meminfo)")?;
    reserve(
        length,
        alignment,
        page_size,
        MapFlags::HUGETLB,
        Backing::Huge { page_size },
    )
    .map_err(|error| {
        let needed = length.div_ceil(page_size);
        format!(
            "MAP_HUGETLB: {error}; {needed} free huge pages of {page_size} bytes are needed \
             (sysctl vm.nr_hugepages={needed})"
        )
    })
}

/// Advises the kernel to lay the mapping on transparent huge pages.
pub(crate) fn advise_huge(mapping: &Mapping) -> Result<(), String> {
    // SAFETY: the range is our own mapping, and this advice changes no content.
    let result = unsafe {
        madvise(
            mapping.start.as_ptr().cast(),
            mapping.length,
            Advice::LinuxHugepage,
        )
    };
    result.map_err(|error| format!("madvise(MADV_HUGEPAGE): {error}"))
}

/// Keeps the mapping out of child processes (madvise(2); since Linux 2.6.16).
pub(crate) fn keep_from_children(mapping: &Mapping) -> Result<(), Error> {
    // SAFETY: the range is our own mapping, which stays as it is in this process.
    let result = unsafe {
        madvise(
            mapping.start.as_ptr().cast(),
            mapping.length,
            Advice::LinuxDontFork,
        )
    };
    result.map_err(|error| Error::os("madvise(MADV_DONTFORK)", Subject::System, error, None))
}

/// How many bytes of the mapping lie on huge pages now.
pub(crate) fn resident_huge_bytes(mapping: &Mapping) -> Option<u64> {
    let text = std::fs::read("/proc/self/smaps").ok()?;
    let start = mapping.start.as_ptr().addr() as u64;
    smaps::huge_bytes(&text, start, start + mapping.length as u64)
}

/// `Hugepagesize:    2048 kB` of `/proc/meminfo`, in bytes: what `MAP_HUGETLB`
/// without a size means.
fn default_huge_page_size() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("Hugepagesize:"))?;
    let kibibytes: usize = line.split_whitespace().next()?.parse().ok()?;
    kibibytes
        .checked_mul(1024)
        .filter(|size| size.is_power_of_two())
}
