//! The operands of `diskfacts dd`, with white space between them.

use diskfacts_plan::dd::{self, BLOCK_BYTES_MAX, End};

/// What is understood is a copy that can be asked for: its block has a size, its
/// places are places of a file, and it is a workload for either end. What is
/// refused says why.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    match dd::parse(&words) {
        Ok(dd) => {
            assert!((1..=BLOCK_BYTES_MAX).contains(&dd.block_size), "{text}");
            for bytes in [dd.skip_bytes, dd.seek_bytes, dd.bytes_max().unwrap_or(0)] {
                assert!(i64::try_from(bytes).is_ok(), "{text}");
            }
            for end in [End::Input, End::Output] {
                let workload = dd.workload(end);
                assert_eq!(workload.block_size, dd.block_size, "{text}");
                assert_eq!(workload.operation.writes(), end == End::Output, "{text}");
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
