//! `/proc/thread-self/schedstat`.

use diskfacts_engine::run_delay::parse_run_delay;

/// Any text has an answer, and what is read is one of its numbers.
///
/// # Panics
/// When the parser does, or when it reads a number that is not there.
pub fn run(input: &[u8]) {
    if let Some(ns) = parse_run_delay(input) {
        let text = String::from_utf8_lossy(input);
        let second = text.split_ascii_whitespace().nth(1);
        assert_eq!(second.and_then(|word| word.parse().ok()), Some(ns));
    }
}
