//! Attributes of an md array, `/sys/block/md*/md`.
//!
//! Source: kernel, `Documentation/admin-guide/md.rst`, `drivers/md/md.c`.

/// How far a rebuilding, resyncing, reshaping or checking array has come
/// (`md/sync_completed`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SyncCompleted {
    /// So large a share of it, from 0 to 1.
    Share(f64),
    /// It waits until another array that shares its disks is done.
    Delayed,
}

/// `1024 / 4096`, `delayed`, or `none` where nothing goes on. The kernel counts
/// sectors of 512 bytes.
pub fn parse_sync_completed(text: &str) -> Option<SyncCompleted> {
    let text = text.trim();
    if text == "delayed" {
        return Some(SyncCompleted::Delayed);
    }
    let (done, all) = text.split_once('/')?;
    let (done, all): (u64, u64) = (done.trim().parse().ok()?, all.trim().parse().ok()?);
    (all > 0).then(|| SyncCompleted::Share((done as f64 / all as f64).min(1.0)))
}

/// The number of members that an array is made for (`md/raid_disks`): `4`, or
/// `5 (4)` while it is being reshaped from 4 to 5.
pub fn parse_raid_disks(text: &str) -> Option<u64> {
    text.split_ascii_whitespace().next()?.parse().ok()
}

/// Bytes per second of what goes on (`md/sync_speed`, in KiB/s); `None` for `none`.
pub fn parse_sync_speed(text: &str) -> Option<u64> {
    text.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Whether a member (`md/dev-*/state`, flags with commas between) was failed.
pub fn is_faulty(state: &str) -> bool {
    state.split(',').any(|flag| flag.trim() == "faulty")
}

/// The number of a layout (`md/layout`) in the words of mdadm: `left-symmetric`,
/// `near=2`; the number itself for what has no name, `None` where it says nothing.
pub fn layout_words(level: &str, layout: u64) -> Option<String> {
    match level {
        "raid5" | "raid6" => {
            const NAMES: [&str; 6] = [
                "left-asymmetric",
                "right-asymmetric",
                "left-symmetric",
                "right-symmetric",
                "parity-first",
                "parity-last",
            ];
            let name = usize::try_from(layout).ok().and_then(|i| NAMES.get(i));
            Some(name.map_or_else(|| layout.to_string(), |name| (*name).to_owned()))
        }
        "raid10" => {
            // The lowest byte counts the near copies, the next the far ones; bit 16
            // says that far ones are only offset by a chunk.
            let (near, far) = (layout & 0xff, (layout >> 8) & 0xff);
            let apart = if layout & (1 << 16) == 0 {
                "far"
            } else {
                "offset"
            };
            match (near, far) {
                (near, 0 | 1) => Some(format!("near={near}")),
                (0 | 1, far) => Some(format!("{apart}={far}")),
                (near, far) => Some(format!("near={near}, {apart}={far}")),
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_of_arrays_are_read_as_the_kernel_writes_them() {
        assert_eq!(
            parse_sync_completed("1024 / 4096\n"),
            Some(SyncCompleted::Share(0.25))
        );
        assert_eq!(
            parse_sync_completed("delayed\n"),
            Some(SyncCompleted::Delayed)
        );
        for nothing in ["none\n", "", "5 / 0", "x / 9"] {
            assert_eq!(parse_sync_completed(nothing), None, "{nothing}");
        }
        assert_eq!(parse_raid_disks("4\n"), Some(4));
        assert_eq!(parse_raid_disks("5 (4)\n"), Some(5));
        assert_eq!(parse_sync_speed("2000\n"), Some(2_048_000));
        assert_eq!(parse_sync_speed("none\n"), None);
        assert!(is_faulty("faulty,write_error\n"));
        assert!(!is_faulty("in_sync\n"));
    }

    #[test]
    fn layouts_have_the_names_that_mdadm_gives_them() {
        for (level, layout, words) in [
            ("raid5", 2, Some("left-symmetric")),
            ("raid6", 0, Some("left-asymmetric")),
            ("raid6", 17, Some("17")),
            ("raid10", 0x102, Some("near=2")),
            ("raid10", 0x201, Some("far=2")),
            ("raid10", 0x1_0201, Some("offset=2")),
            ("raid1", 0, None),
        ] {
            assert_eq!(
                layout_words(level, layout).as_deref(),
                words,
                "{level} {layout}"
            );
        }
    }
}
