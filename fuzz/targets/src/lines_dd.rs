//! GNU dd's lines.

use crate::lines;
use diskfacts_report::formats::dd::{Records, Repeat, Summary};

/// What is read and printed is read as the same.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    lines::each(input, |line| {
        lines::settles::<Summary>(line);
        lines::settles::<Records>(line);
        lines::settles::<Repeat>(line);
        if let Some(found) = Summary::find(line) {
            assert!(line.starts_with(found.before) && line.ends_with(found.behind));
        }
    });
}
