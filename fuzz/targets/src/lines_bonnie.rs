//! bonnie++'s tables and CSV.

use crate::lines;
use diskfacts_report::formats::bonnie::csv::Row;
use diskfacts_report::formats::bonnie::text::{self, Look};

/// Tables are read or refused; a CSV of today that is read and printed is read
/// as the same.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    lines::each(input, |line| {
        if let Ok(io) = text::io(line) {
            assert!(!io.line(Look::Lettered).is_empty());
            assert!(!io.line(Look::Edited).is_empty());
        }
        if let Ok(files) = text::files(line) {
            assert!(!files.line().is_empty());
        }
        if let Ok(latencies) = text::latencies(line) {
            assert!(text::latency_line(&latencies).starts_with("Latency"));
        }
        // 1.03 had no version, and is not printed.
        if line.starts_with("1.9") {
            lines::settles::<Row>(line);
        }
    });
}
