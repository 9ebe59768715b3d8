//! Marks that data leaves on a device: partition tables, filesystems,
//! encryption, volume managers, RAID, caches, swap.
//!
//! The purpose is to refuse to overwrite what may be somebody's data. So a mark
//! counts when it is there: no checksum has to be right, a copy that a tool can
//! restore the rest from is enough, wherever it stands, and what looks like two
//! things is reported as both. The price is that noise may look like a mark by
//! chance; most marks here are 4 bytes and more, and those of 2 bytes come with
//! a check of the fields beside them. A copy far from the start is believed when
//! its own fields say that it belongs there.
//!
//! What this cannot see: data without any mark (plain dm-crypt, a raw database,
//! the middle of a stripe), and formats that are not in the tables.
//!
//! Nothing is opened and nothing is written here: probes read through
//! [`ReadAt`], so that an image in memory is test data.

mod apfs;
mod btrfs_zoned;
mod ext;
mod fat;
mod filesystems;
mod hfs;
mod magic;
mod md;
mod partition_table;
mod raid;
mod reader;
mod swap;
mod tail;
mod udf;
mod volumes;
mod weak;
mod xfs;
mod zfs;

pub use reader::{ReadAt, Unread};

use reader::Reader;
use std::fmt;
use std::io;
use std::path::Path;

/// A family of marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SignatureKind {
    /// The device is divided into parts.
    PartitionTable,
    /// Files.
    Filesystem,
    /// Encrypted data.
    Encryption,
    /// A part of a pool of volumes.
    Volume,
    /// A member of a RAID, or one side of a mirror over the network.
    Raid,
    /// A cache in front of another device, or a device behind one.
    Cache,
    /// Swapped memory, or that of a hibernating system.
    Swap,
    /// Data of a database or an object store without a filesystem.
    Store,
}

impl fmt::Display for SignatureKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::PartitionTable => "partition table",
            Self::Filesystem => "filesystem",
            Self::Encryption => "encrypted volume",
            Self::Volume => "volume manager's label",
            Self::Raid => "RAID label",
            Self::Cache => "cache label",
            Self::Swap => "swap area",
            Self::Store => "data store",
        })
    }
}

/// A mark that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Its family.
    pub kind: SignatureKind,
    /// What left it: `ext4`, `LUKS2`, `GPT`.
    pub name: &'static str,
    /// Where the mark stands, bytes from the start of the device.
    pub offset: u64,
    /// Where the same mark stands again, as copies of a superblock do.
    pub also_at: Vec<u64>,
    /// The name that its owner gave it.
    pub label: Option<String>,
    /// Where the format is described.
    pub source: &'static str,
    /// Whether `wipefs --all` knows the mark and removes it.
    by_wipefs: bool,
}

/// Sectors that a command to type counts in.
const SECTOR_BYTES: u64 = 512;

impl Signature {
    /// A mark at one place, without a name that its owner gave it.
    fn new(kind: SignatureKind, name: &'static str, offset: u64, source: &'static str) -> Self {
        Self {
            kind,
            name,
            offset,
            also_at: Vec::new(),
            label: None,
            source,
            by_wipefs: true,
        }
    }

    /// The same where wipefs does not look.
    fn out_of_wipefs(mut self) -> Self {
        self.by_wipefs = false;
        self
    }

    /// The same with the name that its owner gave it, if it has one.
    fn labelled(mut self, label: Option<String>) -> Self {
        self.label = label;
        self
    }

    /// The same on a device of which this one is a part, from byte `start` on.
    fn moved(mut self, start: u64) -> Self {
        self.offset += start;
        for place in &mut self.also_at {
            *place += start;
        }
        self.out_of_wipefs()
    }

    /// All places where it stands.
    fn places(&self) -> impl Iterator<Item = u64> {
        std::iter::once(self.offset).chain(self.also_at.iter().copied())
    }

    /// What to type in a shell to remove the mark from the device at `path`, and
    /// with it the last that is known of the data.
    pub fn removal(&self, path: &Path) -> String {
        let path = path.display();
        if self.by_wipefs {
            return format!("wipefs --all {path}");
        }
        let write = |sector: &str| {
            format!("dd if=/dev/zero of={path} bs=512 count=1 seek={sector} conv=notrunc,fsync")
        };
        let sectors: Vec<String> = self
            .places()
            .map(|place| (place / SECTOR_BYTES).to_string())
            .collect();
        match &*sectors {
            [sector] => write(sector),
            sectors => format!("for s in {}; do {}; done", sectors.join(" "), write("$s")),
        }
    }
}

/// What such a format keeps twice.
fn what_is_copied(of: &str) -> &'static str {
    match of {
        "FAT32" | "exFAT" | "NTFS" | "ReFS" | "BitLocker" => "boot sector",
        "HFS" | "HFS+" | "HFSX" => "volume header",
        "UDF" => "anchor",
        "LUKS2" | "Windows dynamic disk" => "header",
        _ => "superblock",
    }
}

/// As the name is spoken: an ext4, an XFS, a UDF.
fn article(of: &str) -> &'static str {
    let spoken = [
        "ext", "exFAT", "XFS", "NTFS", "HFS", "APFS", "OCFS2", "F2FS",
    ];
    if spoken.iter().any(|name| of.starts_with(name)) {
        "an"
    } else {
        "a"
    }
}

impl fmt::Display for Signature {
    /// `ext4 filesystem named "data" (mark at byte 1080)`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name.strip_suffix(" copy") {
            Some("GPT") => formatter.write_str("backup GPT")?,
            Some(of) => write!(
                formatter,
                "copy of the {} of {} {of} {}",
                what_is_copied(of),
                article(of),
                self.kind
            )?,
            None => write!(formatter, "{} {}", self.name, self.kind)?,
        }
        if let Some(label) = &self.label {
            write!(formatter, " named \"{label}\"")?;
        }
        write!(formatter, " (mark at byte {}", self.offset)?;
        match &*self.also_at {
            [] => {}
            [again] => write!(formatter, " and {again}")?,
            [again, more @ ..] => write!(formatter, ", {again} and {} more places", more.len())?,
        }
        write!(formatter, ")")
    }
}

/// What looking for marks brought.
#[derive(Debug, Default)]
pub struct Probed {
    /// The marks, by their place on the device.
    pub found: Vec<Signature>,
    /// Places that could not be read: a mark may stand there.
    pub unread: Vec<Unread>,
}

/// Where the first partition of a disk usually begins, and how much of it is
/// looked at: at 1 MiB, and with old tools in sector 63.
const FIRST_PARTITION: [(u64, u64); 2] = [(1 << 20, u64::MAX), (63 * 512, 1 << 20)];

/// Looks for all marks on `device`. Where it carries none, they are looked for
/// where its first partition would begin, as a table that was overwritten says
/// nothing of it.
///
/// Reads some MiB at the start and at the end, and small pieces at about 150
/// places between; a device without a mark is read at twice as many.
pub fn signatures(device: &dyn ReadAt) -> Probed {
    let reader = Reader::new(device);
    let mut found = probe(&reader);
    let mut unread = reader.into_unread();
    if found.is_empty() {
        for (start, len) in FIRST_PARTITION {
            let part = Part { device, start, len };
            let reader = Reader::new(&part);
            found.extend(probe(&reader).into_iter().map(|mark| mark.moved(start)));
            unread.extend(reader.into_unread().into_iter().map(|place| Unread {
                offset: place.offset + start,
                ..place
            }));
        }
    }
    Probed {
        found: gathered(found),
        unread,
    }
}

/// All marks of a volume that begins and ends with the device.
fn probe(reader: &Reader<'_>) -> Vec<Signature> {
    let mut found = Vec::new();
    for table in [
        filesystems::MAGICS,
        volumes::MAGICS,
        raid::MAGICS,
        swap::MAGICS,
        partition_table::MAGICS,
    ] {
        for magic in table {
            found.extend(magic.probe(reader));
        }
    }
    found.extend(ext::probe(reader));
    found.extend(ext::copies(reader));
    found.extend(fat::probe(reader));
    found.extend(fat::copies(reader));
    found.extend(xfs::copies(reader));
    found.extend(hfs::probe(reader));
    found.extend(hfs::copy(reader));
    found.extend(apfs::copies(reader));
    found.extend(btrfs_zoned::probe(reader));
    found.extend(weak::probe(reader));
    found.extend(udf::probe(reader));
    found.extend(udf::anchors(reader));
    found.extend(tail::probe(reader));
    found.extend(md::probe(reader));
    found.extend(zfs::probe(reader));
    found.extend(partition_table::probe_mbr(reader));
    found.extend(partition_table::probe_gpt(reader));
    found
}

/// By their places; copies of one thing as one mark that stands at many.
fn gathered(mut found: Vec<Signature>) -> Vec<Signature> {
    found.sort_by_key(|signature| signature.offset);
    let mut marks: Vec<Signature> = Vec::new();
    for signature in found {
        let same = |mark: &&mut Signature| mark.name == signature.name;
        match marks.iter_mut().find(same) {
            Some(mark) if mark.places().any(|place| place == signature.offset) => {}
            Some(mark) if !mark.by_wipefs => mark.also_at.push(signature.offset),
            _ => marks.push(signature),
        }
    }
    marks
}

/// A part of a device, of at most `len` bytes.
struct Part<'a> {
    device: &'a dyn ReadAt,
    start: u64,
    len: u64,
}

impl ReadAt for Part<'_> {
    fn size_bytes(&self) -> u64 {
        let rest = self.device.size_bytes().saturating_sub(self.start);
        rest.min(self.len)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let place = offset.checked_add(self.start);
        self.device
            .read_at(place.ok_or(io::ErrorKind::UnexpectedEof)?, buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_called_what_is_kept_twice() {
        use SignatureKind::{Encryption, Filesystem, PartitionTable};
        let said = |kind, name| Signature::new(kind, name, 512, "a test").to_string();
        for (kind, name, expected) in [
            (Filesystem, "ext4", "ext4 filesystem"),
            (
                Filesystem,
                "ext4 copy",
                "copy of the superblock of an ext4 filesystem",
            ),
            (
                Filesystem,
                "Btrfs copy",
                "copy of the superblock of a Btrfs filesystem",
            ),
            (
                Filesystem,
                "NTFS copy",
                "copy of the boot sector of an NTFS filesystem",
            ),
            (
                Encryption,
                "LUKS2 copy",
                "copy of the header of a LUKS2 encrypted volume",
            ),
            (PartitionTable, "GPT copy", "backup GPT"),
        ] {
            let expected = format!("{expected} (mark at byte 512)");
            assert_eq!(said(kind, name), expected);
        }
    }
}
