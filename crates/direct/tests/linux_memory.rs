//! On which pages Linux lays buffers and pools, and what it does with them.
#![cfg(target_os = "linux")]

use directio::{AlignedBuffer, Backing, BufferPool, Pages};

#[test]
fn a_large_pool_is_advised_and_tells_what_the_kernel_did() {
    let pool = BufferPool::with_pages(64, 1 << 20, 4096, Pages::Auto);
    let mut pool = pool.expect("64 MiB of addresses");
    let transparent = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    let Ok(transparent) = transparent else {
        diskfacts_testkit::skip("transparent huge pages in the kernel");
        return;
    };
    assert!(
        matches!(pool.backing(), Backing::Advised { .. }),
        "{pool:?} {:?}",
        pool.refused()
    );
    assert_eq!(pool.resident_huge_bytes(), Some(0), "not touched yet");
    pool.prefault();
    let huge = pool.resident_huge_bytes().expect("smaps can be read");
    let page = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size")
        .expect("it is beside the switch");
    let page: u64 = page.trim().parse().expect("bytes");
    assert!(huge <= 64 << 20 && huge.is_multiple_of(page), "{huge}");
    if transparent.contains("[never]") {
        assert_eq!(huge, 0);
    } else if huge == 0 {
        // The kernel may refuse when memory is fragmented; it promises nothing.
        diskfacts_testkit::skip("64 MiB of unfragmented memory for huge pages");
    }
}

/// The flags of the mapping that holds an address, as proc(5) shows them.
fn flags_of_mapping(address: usize) -> String {
    let text = std::fs::read_to_string("/proc/self/smaps").expect("proc is mounted");
    let mut within = false;
    for line in text.lines() {
        let range = line.split(' ').next().and_then(|word| word.split_once('-'));
        let number = |digits| usize::from_str_radix(digits, 16).ok();
        if let Some((Some(from), Some(to))) = range.map(|(from, to)| (number(from), number(to))) {
            within = (from..to).contains(&address);
        } else if let (true, Some(flags)) = (within, line.strip_prefix("VmFlags:")) {
            return flags.to_owned();
        }
    }
    panic!("no mapping has {address:#x}");
}

#[test]
fn what_is_kept_from_children_is_marked_so_in_the_kernel() {
    let buffer = AlignedBuffer::mapped(1 << 20, 4096).expect("1 MiB is there");
    let pool = BufferPool::new(4, 64 << 10, 4096).expect("256 KiB are there");
    let marked = |address| {
        flags_of_mapping(address)
            .split(' ')
            .any(|flag| flag == "dc")
    };
    let addresses = [buffer.as_ptr().addr(), pool.as_mut_ptr(0).addr()];
    assert_eq!(addresses.map(marked), [false, false]);
    buffer.keep_from_children().expect("Linux has the advice");
    assert_eq!(addresses.map(marked), [true, false]);
    pool.keep_from_children().expect("Linux has the advice");
    assert_eq!(addresses.map(marked), [true, true]);
}

/// How many of the pages from this address on are there (bit 63 of
/// Documentation/admin-guide/mm/pagemap.rst).
fn present(address: usize, pages: usize, page_size: usize) -> usize {
    use std::os::unix::fs::FileExt;
    let table = std::fs::File::open("/proc/self/pagemap").expect("proc is mounted");
    let mut entries = vec![0; pages * 8];
    let at = (address / page_size * 8) as u64;
    table.read_exact_at(&mut entries, at).expect("one's own");
    let top = entries.iter().skip(7).step_by(8);
    top.filter(|&&byte| byte & 0x80 != 0).count()
}

#[test]
fn the_pages_of_a_large_buffer_are_not_cleared_by_hand() {
    let page_size = rustix::param::page_size();
    for make in [AlignedBuffer::new, AlignedBuffer::mapped] {
        // Larger than what an allocator keeps to give out again (glibc: 32 MiB).
        let (size, pages) = (64 << 20, (64 << 20) / page_size);
        let mut buffer = make(size, page_size).expect("64 MiB of addresses");
        let address = buffer.as_ptr().addr();
        // The allocator has its own notes before the buffer.
        assert!(present(address, pages, page_size) <= 1);
        buffer[size / 2] = 1;
        assert!(present(address, pages, page_size) >= 1);
    }
}
