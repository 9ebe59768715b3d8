//! Single values of sysfs.

use diskfacts_host::parse::sysfs_value::{parse_device_number, parse_dm_uuid, parse_scheduler};

/// The scheduler in use is one of those on offer; a device's number reads back;
/// a kind of device-mapper device is a word.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let (current, all) = parse_scheduler(&text);
    if let Some(current) = current {
        assert!(all.contains(&current), "{current} of {all:?}");
    }
    if let Some((major, minor)) = parse_device_number(&text) {
        let again = format!("{major}:{minor}\n");
        assert_eq!(parse_device_number(&again), Some((major, minor)));
    }
    if let Some(kind) = parse_dm_uuid(&text) {
        assert!(!kind.is_empty());
    }
}
