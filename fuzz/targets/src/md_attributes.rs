//! Attributes of md arrays.

use diskfacts_host::parse::md::{
    SyncCompleted, is_faulty, layout_words, parse_raid_disks, parse_sync_completed,
    parse_sync_speed,
};

/// A share lies between 0 and 1; a layout has words or none, and never panics.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    if let Some(SyncCompleted::Share(share)) = parse_sync_completed(&text) {
        assert!((0.0..=1.0).contains(&share), "{share}");
    }
    if let Some(bytes) = parse_sync_speed(&text) {
        assert_eq!(bytes % 1024, 0);
    }
    is_faulty(&text);
    let layout = parse_raid_disks(&text).unwrap_or_default();
    for level in ["raid1", "raid5", "raid6", "raid10"] {
        if let Some(words) = layout_words(level, layout) {
            assert!(!words.is_empty());
        }
    }
}
