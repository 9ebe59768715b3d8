//! `/etc/os-release`.

use diskfacts_host::parse::os_release::parse_os_release;

/// A name is not empty.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    if let Some(name) = parse_os_release(input) {
        assert!(!name.is_empty());
    }
}
