//! `/proc/uptime`.

use crate::refusal;
use diskfacts_host::parse::uptime::parse_uptime;

/// What is read, printed as the kernel prints it, is read as the same.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    match parse_uptime(input) {
        Ok(centiseconds) => {
            let text = format!("{}.{:02} 0.00\n", centiseconds / 100, centiseconds % 100);
            assert_eq!(parse_uptime(text.as_bytes()), Ok(centiseconds));
        }
        Err(error) => refusal::points_into(input, &error),
    }
}
