//! Btrfs on zoned devices: a zone is written in order, so a superblock cannot
//! be overwritten. Each is a log in two zones: one state of 4 KiB behind the
//! other; when a zone is full the other one is emptied and goes on.
//!
//! Of the two zones of a log, one at least begins with a state of the
//! superblock, whatever the other is. The logs begin at 0, at 512 GiB and at 4
//! TiB. How large a zone is, which says where the second begins, is a power of
//! two: all that btrfs takes are tried.
//!
//! Source: kernel, `fs/btrfs/zoned.c` (`sb_zone_number`, `sb_write_pointer`).

use super::reader::Reader;
use super::{Signature, SignatureKind};

const SOURCE: &str = "kernel: fs/btrfs/zoned.c, include/uapi/linux/btrfs_tree.h";
/// Where each log begins, and where the superblock stands on other devices, which
/// each of its states gives as its own place.
const LOGS: [(u64, u64); 3] = [(0, 64 << 10), (512 << 30, 64 << 20), (4 << 40, 256 << 30)];
/// `BTRFS_MIN_ZONE_SIZE` and `BTRFS_MAX_ZONE_SIZE`: 4 MiB and 8 GiB.
const ZONE_BYTES_LOG2: std::ops::RangeInclusive<u32> = 22..=33;
const STATE_BYTES: u64 = 4096;
const PLACE_OFFSET: u64 = 48;
const MAGIC_OFFSET: u64 = 64;
const MAGIC: &[u8; 8] = b"_BHRfS_M";
/// Where a superblock has the name that its owner gave it.
const LABEL_OFFSET: u64 = 0x12b;

pub(super) fn probe(reader: &Reader<'_>) -> Vec<Signature> {
    let mut found = Vec::new();
    for (log, said) in LOGS {
        let seconds = ZONE_BYTES_LOG2.map(|shift| log + (1 << shift));
        for zone in std::iter::once(log).chain(seconds) {
            if !has_state(reader, zone, said) {
                continue;
            }
            let label = reader.name(newest(reader, zone, said) + LABEL_OFFSET, 256);
            let kind = SignatureKind::Filesystem;
            found.push(
                Signature::new(kind, "Btrfs (zoned)", zone + MAGIC_OFFSET, SOURCE)
                    .labelled(label)
                    .out_of_wipefs(),
            );
        }
    }
    found
}

/// Whether a superblock stands at `place` that says that it belongs to `said`:
/// what belongs to where it stands is no log.
fn has_state(reader: &Reader<'_>, place: u64, said: u64) -> bool {
    place != said
        && reader.array(place + MAGIC_OFFSET) == Some(*MAGIC)
        && reader.array(place + PLACE_OFFSET).map(u64::from_le_bytes) == Some(said)
}

/// The last state of the log in a zone that begins with one. They lie side by
/// side up to the write pointer, so it is found by halving.
fn newest(reader: &Reader<'_>, zone: u64, said: u64) -> u64 {
    // No zone is smaller than this; a name of long ago is better than none.
    let (mut with, mut without) = (0, (1 << ZONE_BYTES_LOG2.start()) / STATE_BYTES);
    while without - with > 1 {
        let middle = u64::midpoint(with, without);
        if has_state(reader, zone + middle * STATE_BYTES, said) {
            with = middle;
        } else {
            without = middle;
        }
    }
    zone + with * STATE_BYTES
}
