//! What device mapper says of its targets: the ioctl's buffer, and single lines.

use diskfacts_host::parse::dm_status::{
    parse_dm_members, parse_dm_paths, parse_dm_raid, parse_dm_status,
};

/// As many targets come out as were asked for; a RAID has a letter for each member, a
/// multipath no more failed paths than paths.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    let count = input.first().map_or(0, |byte| u32::from(byte % 8));
    let buffer = input.get(1..).unwrap_or_default();
    let mut lines = vec![String::from_utf8_lossy(buffer).into_owned()];
    if let Ok(targets) = parse_dm_status(buffer, count) {
        assert_eq!(targets.len(), count as usize);
        lines.extend(targets.into_iter().map(|target| target.status));
    }
    for line in lines {
        let (paths, failed) = parse_dm_paths(&line);
        assert!(failed.len() as u64 <= paths);
        if let Some(raid) = parse_dm_raid(&line) {
            assert!(
                raid.in_sync
                    .is_none_or(|share| (0.0..=1.0).contains(&share))
            );
        }
        if let Some(members) = parse_dm_members(&line) {
            assert!(!members.is_empty());
        }
    }
}
