//! A disk's serial number in SCSI's page 0x80, which two crates read for
//! themselves.

use directio::parse::unit_serial::parse;
use diskfacts_host::parse::sysfs_value::parse_vpd_serial;

/// Both read the same out of a page of printable characters.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    let (one, other) = (parse(input), parse_vpd_serial(input));
    let text = input.get(4..).unwrap_or_default();
    if text.iter().all(|byte| matches!(byte, b' '..=b'~')) {
        assert_eq!(one, other);
    }
}
