//! Marks of two bytes, which noise shows once in 65536 times: each is believed
//! only with a field beside it that has few sensible values.

use super::Signature;
use super::SignatureKind::{Filesystem, PartitionTable};
use super::reader::Reader;

const KIB: u64 = 1024;

pub(super) fn probe(reader: &Reader<'_>) -> Vec<Signature> {
    [minix(reader), nilfs(reader), sun(reader)]
        .into_iter()
        .flatten()
        .collect()
}

/// MINIX 1, 2 and 3, whose zones are always blocks: the logarithm of their
/// ratio is 0. Both byte orders.
///
/// Source: kernel, `include/uapi/linux/minix_fs.h`, `include/uapi/linux/magic.h`.
fn minix(reader: &Reader<'_>) -> Option<Signature> {
    const OLD: [u16; 4] = [0x137F, 0x138F, 0x2468, 0x2478];
    const NEW: u16 = 0x4D5A;
    let start: [u8; 32] = reader.array(KIB)?;
    let field = |offset: usize| u16::from_le_bytes([start[offset], start[offset + 1]]);
    let is = |value: u16, magic: u16| value == magic || value.swap_bytes() == magic;
    let old = OLD.iter().any(|magic| is(field(16), *magic));
    let offset = if old && field(10) == 0 && field(4) != 0 {
        16
    } else if is(field(24), NEW) && field(12) == 0 && field(6) != 0 {
        24
    } else {
        return None;
    };
    let source = "kernel: include/uapi/linux/minix_fs.h";
    Some(Signature::new(Filesystem, "MINIX", KIB + offset, source))
}

/// NILFS2, revision 2, with a superblock of at most 1 KiB; also its copy at the
/// last whole 4 KiB.
///
/// Source: kernel, `include/uapi/linux/nilfs2_ondisk.h`.
fn nilfs(reader: &Reader<'_>) -> Option<Signature> {
    const MAGIC: u16 = 0x3434;
    let copy = (reader.size() & !0xFFF).checked_sub(4096);
    [Some(KIB), copy].into_iter().flatten().find_map(|start| {
        let revision = reader.u32_le(start)?;
        let bytes = reader.u16_le(start + 8)?;
        (reader.u16_le(start + 6)? == MAGIC && revision == 2 && (12..=1024).contains(&bytes)).then(
            || {
                let source = "kernel: include/uapi/linux/nilfs2_ondisk.h";
                Signature::new(Filesystem, "NILFS2", start + 6, source)
            },
        )
    })
}

/// The label of Sun disks, whose 256 words give 0 when added without carry.
///
/// Source: kernel, `block/partitions/sun.c`.
fn sun(reader: &Reader<'_>) -> Option<Signature> {
    let sector: [u8; 512] = reader.array(0)?;
    let sum = sector.chunks_exact(2).fold(0_u16, |sum, word| {
        sum ^ u16::from_be_bytes([word[0], word[1]])
    });
    (sector[508..510] == [0xDA, 0xBE] && sum == 0)
        .then(|| Signature::new(PartitionTable, "Sun", 508, "kernel: block/partitions/sun.c"))
}
