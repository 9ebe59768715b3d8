//! The table `[layout]` of a profile: where a partition and a file lie that were
//! measured on the disk. It changes nothing of the disk itself; the reproduction
//! of the measurements asks for it.

use super::error::ProfileError;
use super::table::Table;

/// Where a partition and a file on a filesystem lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayoutParameters {
    /// First byte of the partition.
    pub partition_at: u64,
    /// Bytes of the file that lie in a row: a block group of the filesystem.
    pub group: u64,
    /// The file has one of so many groups, at least 1.
    pub every: u64,
    /// The first bytes of the file, in whole groups, that lie apart from the rest.
    pub first: u64,
    /// Where these begin.
    pub first_at: u64,
}

impl LayoutParameters {
    /// Where byte `at` of the file is on the disk.
    pub fn of_file(&self, at: u64) -> u64 {
        let (start, within) = if at < self.first {
            (self.first_at, at)
        } else {
            (0, at - self.first)
        };
        start + within / self.group * self.group * self.every + within % self.group
    }

    /// Where byte `at` of the partition is on the disk.
    pub fn of_partition(&self, at: u64) -> u64 {
        self.partition_at + at
    }
}

/// One of more groups than this is a file of its own.
const EVERY_MAX: u64 = 1024;

pub(super) fn layout(
    mut table: Table<'_>,
    capacity: u64,
    sector: u64,
) -> Result<LayoutParameters, ProfileError> {
    let layout = LayoutParameters {
        partition_at: table.required_size("partition_at")?,
        group: table.required_size("group")?,
        every: table.required_number("every")?,
        first: table.required_size("first")?,
        first_at: table.required_size("first_at")?,
    };
    for (key, byte) in [
        ("partition_at", layout.partition_at),
        ("first_at", layout.first_at),
    ] {
        let fits = byte < capacity && byte.is_multiple_of(sector);
        table.require(key, fits, "within the disk, in whole logical sectors")?;
    }
    table.require(
        "group",
        layout.group > 0 && layout.group.is_multiple_of(sector),
        "above 0, in whole logical sectors",
    )?;
    table.require(
        "every",
        (1..=EVERY_MAX).contains(&layout.every),
        &format!("between 1, for a file in one piece, and {EVERY_MAX}"),
    )?;
    table.require(
        "first",
        layout.first.is_multiple_of(layout.group),
        "in whole groups; \"0\" for a file that lies together",
    )?;
    table.finish()?;
    Ok(layout)
}
