//! The table `[layout]` of a profile: where a partition and a file lie that were
//! measured on the disk, and which of them is measured.

use super::error::ProfileError;
use super::table::Table;
use crate::device::Extent;

/// What of the disk is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measured {
    /// All of it.
    Disk,
    /// The partition.
    Partition,
    /// The file.
    File,
}

const MEASURED: [(&str, Measured); 3] = [
    ("disk", Measured::Disk),
    ("partition", Measured::Partition),
    ("file", Measured::File),
];

/// Where a partition and a file on a filesystem lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayoutParameters {
    /// What is measured.
    pub measured: Measured,
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

    /// Bytes of what is measured, on a disk of `capacity` bytes: of the partition
    /// all behind its start; of the file what there is room for before its first
    /// bytes, where these lie apart, else before the partition.
    pub fn size(&self, capacity: u64) -> u64 {
        match self.measured {
            Measured::Disk => capacity,
            Measured::Partition => capacity - self.partition_at.min(capacity),
            Measured::File => {
                let room = if self.first > 0 {
                    self.first_at
                } else {
                    self.partition_at
                };
                self.first + room.min(capacity) / (self.group * self.every) * self.group
            }
        }
    }

    /// Where `len` bytes from `at` of what is measured are on the disk: offsets and
    /// lengths, in the order of what is measured.
    pub fn pieces(&self, at: u64, len: u64) -> Vec<(u64, u64)> {
        match self.measured {
            Measured::Disk => vec![(at, len)],
            Measured::Partition => vec![(self.of_partition(at), len)],
            Measured::File => {
                let (mut at, end) = (at, at + len);
                let mut pieces = Vec::new();
                while at < end {
                    let piece = (self.group - at % self.group).min(end - at);
                    pieces.push((self.of_file(at), piece));
                    at += piece;
                }
                pieces
            }
        }
    }

    /// What of an extent of the disk belongs to what is measured, and where in it
    /// that lies; it may be beyond its end.
    pub fn measured_of(&self, extent: Extent) -> Vec<Extent> {
        match self.measured {
            Measured::Disk => vec![extent],
            Measured::Partition => {
                let start = extent.start.max(self.partition_at);
                let end = extent.end.max(start);
                vec![Extent {
                    start: start - self.partition_at,
                    end: end - self.partition_at,
                }]
            }
            Measured::File => {
                let mut parts = Vec::new();
                let mut at = extent.start;
                while at < extent.end {
                    let apart = self.first > 0
                        && (self.first_at..self.first_at + self.first * self.every).contains(&at);
                    let (origin, from) = if apart {
                        (self.first_at, 0)
                    } else {
                        (0, self.first)
                    };
                    let (number, within) = ((at - origin) / self.group, (at - origin) % self.group);
                    let len = (self.group - within).min(extent.end - at);
                    if number.is_multiple_of(self.every) {
                        let start = from + number / self.every * self.group + within;
                        parts.push(Extent {
                            start,
                            end: start + len,
                        });
                    }
                    at += len;
                }
                parts
            }
        }
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
        measured: table.choice_or_first("measured", &MEASURED)?,
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
    table.require(
        "measured",
        layout.size(capacity) > 0,
        "nothing of it fits on the disk: make `group` or `every` smaller",
    )?;
    table.finish()?;
    Ok(layout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{parse, profile, profile_text};

    fn layout(measured: Measured) -> LayoutParameters {
        let layout = profile("hdd-7200-1tb").unwrap().layout.unwrap();
        LayoutParameters { measured, ..layout }
    }

    #[test]
    fn what_lies_where_on_the_disk_is_found_again() {
        let file = layout(Measured::File);
        // In the first part, across a border of groups, and across that of the parts.
        for (at, len) in [
            (0, 4096),
            (file.group - 512, 1024),
            (file.first - 512, 1024),
        ] {
            let pieces = file.pieces(at, len);
            assert_eq!(pieces.iter().map(|(_, len)| len).sum::<u64>(), len);
            let mut next = at;
            for (start, len) in pieces {
                assert_eq!(start, file.of_file(next));
                let end = start + len;
                let back = file.measured_of(Extent { start, end });
                let whole = Extent {
                    start: next,
                    end: next + len,
                };
                assert_eq!(back, [whole]);
                next += len;
            }
        }
        // The next group is another file's.
        let other = Extent {
            start: file.group,
            end: file.group + 4096,
        };
        assert_eq!(file.measured_of(other), []);
        let partition = layout(Measured::Partition);
        assert_eq!(
            partition.pieces(512, 512),
            [(partition.partition_at + 512, 512)]
        );
    }

    #[test]
    fn what_is_measured_ends_where_its_room_ends() {
        let capacity = 1_000_000_000_000;
        assert_eq!(layout(Measured::Disk).size(capacity), capacity);
        assert_eq!(layout(Measured::Partition).size(capacity), capacity / 2);
        // A quarter of the 100 GiB before its first 4 GiB, and these.
        let file = layout(Measured::File);
        assert_eq!(file.size(capacity), 29 << 30);
        let last = file.pieces(file.size(capacity) - 512, 512);
        assert!(last[0].0 < file.first_at, "{last:?}");
    }

    #[test]
    fn a_layout_that_leaves_nothing_to_measure_is_refused() {
        let text = profile_text("hdd-7200-1tb").unwrap();
        let with = |from: &str, to: &str| {
            assert!(text.contains(from), "{from}");
            parse(&text.replacen(from, to, 1)).unwrap_err().to_string()
        };
        let word = with("[layout]", "[layout]\nmeasured = \"fil\"");
        assert!(
            word.contains("measured") && word.contains("\"file\""),
            "{word}"
        );
        let none = parse(
            &text
                .replacen("[layout]", "[layout]\nmeasured = \"file\"", 1)
                .replacen("first = \"4GiB\"", "first = \"0\"", 1)
                .replacen("partition_at = \"500GB\"", "partition_at = \"0\"", 1),
        );
        let none = none.unwrap_err().to_string();
        assert!(none.contains("nothing of it fits"), "{none}");
    }
}
