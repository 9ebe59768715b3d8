//! `/proc/PID/status`.

use diskfacts_host::parse::process_status::parse_process_status;

/// Any text has an answer.
///
/// # Panics
/// When the parser does.
pub fn run(input: &[u8]) {
    let once = parse_process_status(input);
    assert_eq!(parse_process_status(input), once);
}
