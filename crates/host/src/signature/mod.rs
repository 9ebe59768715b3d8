//! Marks that data leaves on a device: partition tables, filesystems,
//! encryption, volume managers, RAID, caches, swap.
//!
//! The purpose is to refuse to overwrite what may be somebody's data. So a mark
//! counts when it is there: no checksum has to be right, a copy at the end of
//! the device is enough, and what looks like two things is reported as both.
//! The price is that noise may look like a mark by chance; most marks here are
//! 4 bytes and more, and those of 2 bytes come with a check of the fields
//! beside them.
//!
//! What this cannot see: data without any mark (plain dm-crypt, a raw database,
//! the middle of a stripe), and formats that are not in the tables.
//!
//! Nothing is opened and nothing is written here: probes read through
//! [`ReadAt`], so that an image in memory is test data.

mod ext;
mod fat;
mod filesystems;
mod magic;
mod md;
mod partition_table;
mod raid;
mod reader;
mod swap;
mod udf;
mod volumes;
mod weak;
mod zfs;

pub use reader::{ReadAt, Unread};

use reader::Reader;
use std::fmt;

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
    /// The name that its owner gave it.
    pub label: Option<String>,
    /// Where the format is described.
    pub source: &'static str,
}

impl fmt::Display for Signature {
    /// `ext4 filesystem named "data" (mark at byte 1080)`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.name, self.kind)?;
        if let Some(label) = &self.label {
            write!(formatter, " named \"{label}\"")?;
        }
        write!(formatter, " (mark at byte {})", self.offset)
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

/// Looks for all marks on `device`. Reads about half a MiB at the start and at
/// the end, and a few bytes between.
pub fn signatures(device: &dyn ReadAt) -> Probed {
    let reader = Reader::new(device);
    let mut found = Vec::new();
    for table in [
        filesystems::MAGICS,
        volumes::MAGICS,
        raid::MAGICS,
        swap::MAGICS,
        partition_table::MAGICS,
    ] {
        for magic in table {
            found.extend(magic.probe(&reader));
        }
    }
    found.extend(ext::probe(&reader));
    found.extend(fat::probe(&reader));
    found.extend(weak::probe(&reader));
    found.extend(udf::probe(&reader));
    found.extend(md::probe(&reader));
    found.extend(zfs::probe(&reader));
    found.extend(partition_table::probe_mbr(&reader));
    found.extend(partition_table::probe_gpt(&reader));
    found.sort_by_key(|signature| signature.offset);
    found.dedup_by(|second, first| (first.offset, first.name) == (second.offset, second.name));
    Probed {
        found,
        unread: reader.into_unread(),
    }
}
