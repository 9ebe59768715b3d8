//! `/proc/cpuinfo`.

use diskfacts_host::parse::cpuinfo::parse_cpuinfo;

/// Any text has an answer.
///
/// # Panics
/// When the parser does.
pub fn run(input: &[u8]) {
    let once = parse_cpuinfo(input);
    assert_eq!(parse_cpuinfo(input), once);
}
