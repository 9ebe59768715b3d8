//! On which pages Linux lays a pool.
#![cfg(target_os = "linux")]

use directio::{Backing, BufferPool, Pages};

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
