//! `/proc/PID/smaps`.

use directio::parse::smaps::huge_bytes;

/// A range, and no more huge bytes than it has mapped; an empty range has none.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    let whole = huge_bytes(input, 0, u64::MAX);
    let half = huge_bytes(input, 0, 1 << 46);
    assert!(half <= whole, "{half:?} of {whole:?}");
    assert_eq!(huge_bytes(input, 4096, 4096), None);
}
