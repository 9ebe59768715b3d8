//! `/proc/vmstat`.

use crate::refusal;
use diskfacts_host::parse::vmstat::parse_vmstat;

/// What is read, printed as the kernel prints it, is read as the same.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    match parse_vmstat(input) {
        Ok(counts) => {
            let text = format!(
                "nr_dirty {}\nnr_writeback {}\nnr_dirtied {}\nnr_written {}\nnr_dirty_threshold \
                 {}\nnr_dirty_background_threshold {}\n",
                counts.dirty,
                counts.writeback,
                counts.dirtied,
                counts.written,
                counts.threshold,
                counts.background_threshold
            );
            assert_eq!(parse_vmstat(text.as_bytes()), Ok(counts));
        }
        Err(error) => refusal::points_into(input, &error),
    }
}
