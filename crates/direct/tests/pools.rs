//! Pools: where each buffer lies, on which pages, and that none overlap.
//!
//! These run under miri too, but for what it does not know: advice about pages.

use directio::{Backing, BufferError, BufferPool, Error, Pages};
use proptest::prelude::*;

fn pool(count: usize, size: usize, alignment: usize, pages: Pages) -> BufferPool {
    BufferPool::with_pages(count, size, alignment, pages)
        .unwrap_or_else(|error| panic!("({count}, {size}, {alignment}, {pages:?}): {error:#}"))
}

#[test]
fn every_size_at_every_alignment_lies_at_its_stride_and_is_zeroed() {
    for alignment in (3..=22).map(|power| 1_usize << power) {
        for size in [1, 511, 4096, 4097, 65_536] {
            if cfg!(miri) && (size > 4097 || alignment > 4096) {
                continue; // miri would take minutes, and these differ in no code.
            }
            let mut pool = pool(3, size, alignment, Pages::Auto);
            let (start, length) = pool.region();
            assert_eq!(start.addr() % alignment, 0);
            assert_eq!(pool.stride() % alignment, 0);
            assert!(pool.stride() - size < alignment);
            assert_eq!(length, 3 * pool.stride());
            for index in 0..pool.len() {
                assert_eq!(
                    pool.as_mut_ptr(index).addr(),
                    start.addr() + index * pool.stride()
                );
                assert!(pool.get(index).iter().all(|&byte| byte == 0));
                pool.get_mut(index)
                    .fill(u8::try_from(index + 1).expect("3 buffers"));
            }
            for index in 0..pool.len() {
                assert!(
                    pool.get(index)
                        .iter()
                        .all(|&byte| usize::from(byte) == index + 1)
                );
            }
        }
    }
}

#[test]
fn the_rules_of_a_pool_are_those_of_a_buffer_and_its_count() {
    let refused = |count, size, alignment| match BufferPool::new(count, size, alignment) {
        Err(Error::Buffer(error)) => error,
        other => panic!("({count}, {size}, {alignment}) gave {other:?}"),
    };
    assert_eq!(refused(0, 1, 8), BufferError::CountZero);
    assert_eq!(refused(1, 0, 8), BufferError::SizeZero);
    assert_eq!(
        refused(1, 1, 4),
        BufferError::AlignmentTooSmall { alignment: 4 }
    );
    // The product overflows, or only the mapping fails: both are errors.
    assert_eq!(
        refused(usize::MAX, 2, 8),
        BufferError::SizeTooLarge { size: usize::MAX }
    );
    #[cfg(all(not(miri), target_pointer_width = "64"))]
    assert!(matches!(
        refused(1 << 30, 1 << 30, 4096),
        BufferError::OutOfMemory { .. }
    ));
}

#[test]
#[should_panic(expected = "buffer 2 of a pool of 2")]
fn an_index_beyond_the_pool_panics() {
    let pool = pool(2, 512, 512, Pages::Base);
    let _ = pool.as_mut_ptr(2);
}

#[test]
fn a_small_pool_lies_on_base_pages_and_no_better_were_asked_for() {
    let pool = pool(4, 4096, 4096, Pages::Auto);
    assert!(matches!(pool.backing(), Backing::Base { page_size } if page_size >= 4096));
    assert_eq!(pool.refused(), None);
}

#[test]
fn prefaulting_makes_all_buffers_zero() {
    let mut pool = pool(3, 4097, 512, Pages::Base);
    for index in 0..3 {
        pool.get_mut(index).fill(7);
    }
    pool.prefault();
    assert!((0..3).all(|index| pool.get(index).iter().all(|&byte| byte == 0)));
}

#[test]
#[cfg(target_os = "linux")]
#[cfg_attr(miri, ignore = "miri knows no madvise")]
fn reserved_huge_pages_are_granted_or_the_refusal_says_how_many_to_reserve() {
    let mut pool = pool(2, 1 << 20, 4096, Pages::Huge);
    if let Backing::Huge { page_size } = pool.backing() {
        pool.prefault();
        assert_eq!(pool.region().0.addr() % page_size, 0);
        assert_eq!(pool.refused(), None);
        assert_eq!(pool.resident_huge_bytes(), Some(2 << 20));
    } else {
        let why = pool.refused().expect("a reason");
        assert!(
            why.contains("vm.nr_hugepages") || why.contains("no huge pages"),
            "{why}"
        );
    }
}

#[test]
fn a_pool_moves_to_another_thread_and_is_unmapped_there() {
    let mut pool = pool(2, 4096, 4096, Pages::Base);
    pool.get_mut(1)[0] = 9;
    let byte = std::thread::spawn(move || pool.get(1)[0])
        .join()
        .expect("the thread reads");
    assert_eq!(byte, 9);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 16 } else { 256 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn buffers_never_overlap_and_never_leave_the_region(
        count in 1_usize..40,
        size in 1_usize..20_000,
        power in 3_u32..16,
    ) {
        let alignment = 1 << power;
        let pool = BufferPool::new(count, size, alignment).expect("a small pool");
        let (start, length) = pool.region();
        for index in 0..count {
            let from = pool.as_mut_ptr(index).addr() - start.addr();
            prop_assert_eq!(from % alignment, 0);
            prop_assert!(from + size <= length);
            prop_assert!(index == 0 || from >= pool.as_mut_ptr(index - 1).addr() - start.addr() + size);
        }
    }
}
