//! Names of disks and their partitions on macOS and FreeBSD.

/// Whether `device` is `disk` itself or one of its partitions or slices:
/// `/dev/disk1s2` of `/dev/disk1`, `/dev/ada0p2` and `/dev/ada0s1a` of
/// `/dev/ada0`.
pub fn is_within(disk: &str, device: &str) -> bool {
    let Some(rest) = device.strip_prefix(disk) else {
        return false;
    };
    if rest.is_empty() {
        return true;
    }
    // "/dev/ada1" is no partition of "/dev/ada", nor "/dev/ada10" of "/dev/ada1".
    disk.ends_with(|last: char| last.is_ascii_digit())
        && rest
            .strip_prefix(['p', 's'])
            .is_some_and(|number| number.starts_with(|first: char| first.is_ascii_digit()))
}

/// The name under which a disk is mounted, of the raw device that a program
/// works on: `/dev/disk1` for macOS' `/dev/rdisk1`.
pub fn mountable(path: &str) -> String {
    match path.strip_prefix("/dev/rdisk") {
        Some(rest) => format!("/dev/disk{rest}"),
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{is_within, mountable};

    #[test]
    fn partitions_and_slices_belong_to_their_disk_and_neighbours_do_not() {
        assert!(is_within("/dev/disk1", "/dev/disk1"));
        assert!(is_within("/dev/disk1", "/dev/disk1s2"));
        assert!(is_within("/dev/ada0", "/dev/ada0p2"));
        assert!(is_within("/dev/ada0", "/dev/ada0s1a"));
        assert!(!is_within("/dev/disk1", "/dev/disk10"));
        assert!(!is_within("/dev/disk1", "/dev/disk10s1"));
        assert!(!is_within("/dev/disk1s2", "/dev/disk1"));
        assert!(!is_within("/dev/da", "/dev/da0p1"));
        assert!(!is_within("/dev/da0", "/dev/da0pool"));
    }

    #[test]
    fn a_raw_disk_is_mounted_under_its_block_name() {
        assert_eq!(mountable("/dev/rdisk2s1"), "/dev/disk2s1");
        assert_eq!(mountable("/dev/disk2"), "/dev/disk2");
        assert_eq!(mountable("/dev/ada0"), "/dev/ada0");
    }
}
