//! `/proc/PID/stat`.

use crate::refusal;
use diskfacts_host::parse::process_stat::{parse_process_start, parse_process_stat};

/// What is read is read again behind any name.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    if let Ok(stat) = parse_process_stat(input) {
        assert_eq!(parse_process_start(input), Ok(stat.start));
    }
    match parse_process_start(input) {
        Ok(start) => {
            let columns = "0 ".repeat(18);
            let text = format!("1 (a) S 1 (b) R {columns}{start} 0\n");
            assert_eq!(parse_process_start(text.as_bytes()), Ok(start));
        }
        Err(error) => refusal::points_into(input, &error),
    }
}
