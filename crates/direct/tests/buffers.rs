//! Aligned buffers: their rules, their content and their lifetime. No file is
//! touched, so these run under miri too.

use directio::{ALIGNMENT_MAX, AlignedBuffer, BufferError, Error, SIZE_MAX};
use proptest::prelude::*;

/// Odd sizes, sectors, pages and more.
const SIZES: [usize; 13] = [
    1, 7, 8, 511, 512, 513, 4095, 4096, 131_071, 131_072, 131_073, 1_048_576, 4_194_305,
];

fn refused(size: usize, alignment: usize) -> BufferError {
    let mapped = AlignedBuffer::mapped(size, alignment).map(drop);
    match AlignedBuffer::new(size, alignment) {
        Err(Error::Buffer(error)) => {
            assert!(matches!(mapped, Err(Error::Buffer(same)) if same == error));
            error
        }
        other => panic!("({size}, {alignment}) gave {other:?}"),
    }
}

#[test]
fn every_size_at_every_alignment_is_aligned_zeroed_and_writable() {
    // 2^3 to 2^22: all twenty alignments there are.
    for alignment in (3..=22).map(|power| 1_usize << power) {
        for size in SIZES {
            if cfg!(miri) && (size > 4097 || alignment > 4096) {
                continue; // miri would take minutes, and these differ in no code.
            }
            for make in [AlignedBuffer::new, AlignedBuffer::mapped] {
                let mut buffer = make(size, alignment)
                    .unwrap_or_else(|error| panic!("({size}, {alignment}): {error:#}"));
                assert_eq!(buffer.len(), size);
                assert_eq!(buffer.alignment(), alignment);
                assert_eq!(buffer.as_ptr().addr() % alignment, 0, "{buffer:?}");
                assert!(buffer.iter().all(|&byte| byte == 0), "{buffer:?}");
                // What the next one gets must be zero all the same.
                buffer.fill(0xff);
                assert_eq!(buffer[size - 1], 0xff);
            }
        }
    }
}

#[test]
fn the_first_broken_rule_is_reported_in_the_documented_order() {
    assert_eq!(refused(0, 0), BufferError::SizeZero);
    assert_eq!(
        refused(usize::MAX, 0),
        BufferError::SizeTooLarge { size: usize::MAX }
    );
    assert_eq!(
        refused(SIZE_MAX + 1, 8),
        BufferError::SizeTooLarge { size: SIZE_MAX + 1 }
    );
    assert_eq!(refused(1, 0), BufferError::AlignmentZero);
    assert_eq!(
        refused(1, 3),
        BufferError::AlignmentNotPowerOfTwo { alignment: 3 }
    );
    assert_eq!(
        refused(1, ALIGNMENT_MAX + 1),
        BufferError::AlignmentNotPowerOfTwo {
            alignment: ALIGNMENT_MAX + 1
        }
    );
    assert_eq!(
        refused(1, 4),
        BufferError::AlignmentTooSmall { alignment: 4 }
    );
    assert_eq!(
        refused(1, 2 * ALIGNMENT_MAX),
        BufferError::AlignmentTooLarge {
            alignment: 2 * ALIGNMENT_MAX
        }
    );
}

#[test]
fn messages_say_the_rule_and_the_value_that_would_be_right() {
    assert_eq!(refused(0, 8).to_string(), "size must not be 0");
    assert_eq!(
        refused(4096, 4095).to_string(),
        "alignment must be a power of 2, but is 4095; the next is 4096"
    );
    assert_eq!(
        refused(4096, 3).to_string(),
        "alignment must be a power of 2, but is 3; the next is 8"
    );
    assert_eq!(
        refused(4096, 4).to_string(),
        "alignment must be at least 8 bytes, but is 4"
    );
    assert_eq!(
        refused(4096, 8_388_608).to_string(),
        "alignment must be at most 4194304 bytes, but is 8388608"
    );
}

#[test]
#[cfg_attr(miri, ignore = "miri aborts when memory runs out")]
fn a_buffer_larger_than_any_memory_is_an_error_and_no_panic() {
    // On 32 bits one may be had, and no second or third beside it.
    let mut held = Vec::new();
    let error = loop {
        match AlignedBuffer::new(SIZE_MAX, 4096) {
            Ok(buffer) => held.push(buffer),
            Err(error) => break error,
        }
        assert!(held.len() < 3, "more than there are addresses");
    };
    let expected = BufferError::OutOfMemory {
        size: SIZE_MAX,
        alignment: 4096,
    };
    assert!(matches!(error, Error::Buffer(error) if error == expected));
}

#[test]
fn only_pages_of_its_own_are_kept_from_children() {
    let allocated = AlignedBuffer::new(1 << 20, 4096).expect("1 MiB is there");
    let mapped = AlignedBuffer::mapped(4096, 4096).expect("4 KiB are there");
    let error = allocated.keep_from_children().expect_err("it shares them");
    assert_eq!(error.kind(), std::io::ErrorKind::Unsupported);
    assert!(
        error.to_string().contains("AlignedBuffer::mapped"),
        "{error:#}"
    );
    if cfg!(not(target_os = "linux")) {
        let error = mapped.keep_from_children().expect_err("no such advice");
        assert_eq!(error.kind(), std::io::ErrorKind::Unsupported);
    }
}

#[test]
fn a_buffer_can_be_filled_on_one_thread_and_read_on_another() {
    let mut buffer = AlignedBuffer::new(4096, 512).expect("4 KiB are there");
    let sum = std::thread::spawn(move || {
        buffer.fill(3);
        buffer.iter().map(|&byte| u64::from(byte)).sum::<u64>()
    })
    .join()
    .expect("the thread adds");
    assert_eq!(sum, 3 * 4096);
}

#[test]
fn memory_is_given_back_when_a_buffer_is_dropped() {
    // miri finds what is freed twice or never by itself; elsewhere 4 GiB in
    // turn leave the process no larger than one turn made it.
    let (turns, size) = if cfg!(miri) {
        (4, 4096)
    } else {
        (64, 64 << 20)
    };
    for turn in 0..turns {
        let mut buffer =
            AlignedBuffer::new(size, 4096).unwrap_or_else(|error| panic!("turn {turn}: {error:#}"));
        buffer[size - 1] = 1;
    }
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        let statm = std::fs::read_to_string("/proc/self/statm").expect("proc is mounted");
        let pages: usize = statm
            .split(' ')
            .nth(1)
            .and_then(|pages| pages.parse().ok())
            .expect("the second number is the resident pages");
        let resident = pages * 4096;
        assert!(resident < 1 << 30, "{resident} bytes are resident");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 16 } else { 512 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_size_and_alignment_gives_either_such_a_buffer_or_the_rule_it_breaks(
        size in 0_usize..if cfg!(miri) { 5000 } else { 100_000 },
        alignment in prop_oneof![0_usize..100, (0_u32..24).prop_map(|power| 1 << power)],
    ) {
        let legal = size > 0
            && alignment.is_power_of_two()
            && (8..=ALIGNMENT_MAX).contains(&alignment);
        match AlignedBuffer::new(size, alignment) {
            Ok(buffer) => {
                prop_assert!(legal);
                prop_assert_eq!(buffer.len(), size);
                prop_assert_eq!(buffer.as_ptr().addr() % alignment, 0);
            }
            Err(Error::Buffer(_)) => prop_assert!(!legal),
            Err(other) => prop_assert!(false, "{}", other),
        }
    }
}
