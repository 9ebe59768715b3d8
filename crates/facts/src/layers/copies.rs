//! How often a byte is written: copies and parity of arrays, and copies that a
//! filesystem keeps by itself.

use super::counted::Direction;
use diskfacts_record::{BlockDevice, Stack};

/// Copies of each byte of a file that a filesystem writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Copies {
    /// At least so many, 1 or more.
    pub(crate) least: u64,
    /// At most so many; `None` where parity makes it depend on what is written together.
    pub(crate) most: Option<u64>,
}

impl Copies {
    const fn at_least_one(most: Option<u64>) -> Self {
        Self { least: 1, most }
    }
}

/// Those of the filesystem of a stack: one, but for btrfs by its profiles of data and
/// bcachefs by its options. While devices are missing, copies are too.
pub(crate) fn of_filesystem(stack: &Stack) -> Copies {
    let Some(filesystem) = &stack.filesystem else {
        return Copies::at_least_one(Some(1));
    };
    let of_profiles: Option<Vec<u64>> = filesystem
        .data_profiles
        .iter()
        .map(|profile| of_profile(profile))
        .collect();
    let of_options = filesystem.options.iter().filter_map(|option| {
        // The more particular of the two says how many there are of data.
        let (name, value) = option.split_once('=')?;
        (name == "data_replicas" || name == "replicas").then(|| value.parse::<u64>().ok())?
    });
    let known = match (of_profiles, filesystem.kind.as_str()) {
        (None, _) => return Copies::at_least_one(None),
        (Some(known), "btrfs") => known,
        (Some(_), "bcachefs") => of_options.collect(),
        (Some(_), _) => Vec::new(),
    };
    let most = known.iter().copied().max().unwrap_or(1).max(1);
    if !filesystem.impaired.is_empty() {
        return Copies::at_least_one(Some(most));
    }
    Copies {
        least: known.iter().copied().min().unwrap_or(1).max(1),
        most: Some(most),
    }
}

/// Copies that a profile of btrfs keeps; `None` of those with parity.
///
/// Source: kernel, `btrfs_raid_array` in `fs/btrfs/volumes.c`.
fn of_profile(profile: &str) -> Option<u64> {
    match profile {
        "single" | "raid0" => Some(1),
        "dup" | "raid1" | "raid10" => Some(2),
        "raid1c3" => Some(3),
        "raid1c4" => Some(4),
        _ => None,
    }
}

/// Bytes below a device for each byte of it, at the least: 1 where nothing says that
/// there are more.
pub(super) fn least_below(device: &BlockDevice, direction: Direction) -> f64 {
    let Some(array) = device
        .array
        .as_ref()
        .filter(|_| direction == Direction::Write)
    else {
        return 1.0;
    };
    // Without a member a copy or the parity is not written; a journal takes what is
    // written before the members do.
    if !device.impaired.is_empty() || array.consistency.as_deref() == Some("journal") {
        return 1.0;
    }
    let members = array.members as f64;
    let with_parity = |parities: f64| {
        if members > parities {
            members / (members - parities)
        } else {
            1.0
        }
    };
    match array.level.as_str() {
        "raid1" => members.max(1.0),
        "raid10" => copies_of(array.layout.as_deref().unwrap_or_default()),
        "raid4" | "raid5" => with_parity(1.0),
        "raid6" => with_parity(2.0),
        _ => 1.0,
    }
}

/// Copies of a RAID 10, `near=2` or `near=2, far=2`.
fn copies_of(layout: &str) -> f64 {
    layout
        .split(", ")
        .filter_map(|part| part.split_once('=')?.1.parse::<f64>().ok())
        .product()
}
