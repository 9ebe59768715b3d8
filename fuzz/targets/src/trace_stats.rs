//! `per_cpu/cpu*/stats`.

use crate::refusal;
use diskfacts_host::parse::trace::stats::parse_buffer_stats;

/// What is read, printed as the kernel prints it, is read as the same.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    match parse_buffer_stats(input) {
        Ok(stats) => {
            let text = format!(
                "entries: {}\noverrun: {}\ncommit overrun: {}\nbytes: 0\n\
                 oldest event ts:     0.000000\nnow ts: 1.5\ndropped events: {}\nread events: {}\n",
                stats.entries, stats.overrun, stats.commit_overrun, stats.dropped, stats.read
            );
            assert_eq!(parse_buffer_stats(text.as_bytes()), Ok(stats));
            assert!(stats.lost() >= stats.overrun.max(stats.dropped));
        }
        Err(error) => refusal::points_into(input, &error),
    }
}
