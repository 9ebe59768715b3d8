//! Marks of two bytes, which noise shows once in 65536 times: each is believed
//! only with a field beside it that has few sensible values.

use super::SignatureKind::{Filesystem, PartitionTable};
use super::reader::Reader;
use super::{Signature, SignatureKind};

const KIB: u64 = 1024;

pub(super) fn probe(reader: &Reader<'_>) -> Vec<Signature> {
    [hfs(reader), minix(reader), nilfs(reader), sun(reader)]
        .into_iter()
        .flatten()
        .collect()
}

fn signature(
    kind: SignatureKind,
    name: &'static str,
    offset: u64,
    source: &'static str,
) -> Signature {
    Signature {
        kind,
        name,
        offset,
        label: None,
        source,
    }
}

/// HFS with the size of a block, HFS+ with its version; all big-endian.
///
/// Source: Inside Macintosh, Files, 2-59; Apple Technical Note 1150.
fn hfs(reader: &Reader<'_>) -> Option<Signature> {
    let start: [u8; 24] = reader.array(KIB)?;
    let version = u16::from_be_bytes([start[2], start[3]]);
    let block = u32::from_be_bytes([start[20], start[21], start[22], start[23]]);
    let name = match &start[..2] {
        b"BD" if block > 0 && block.is_multiple_of(512) => "HFS",
        b"H+" if version == 4 => "HFS+",
        b"HX" if version == 5 => "HFSX",
        _ => return None,
    };
    let source = "kernel: fs/hfs/hfs.h, include/linux/hfs_common.h";
    Some(signature(Filesystem, name, KIB, source))
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
    Some(signature(Filesystem, "MINIX", KIB + offset, source))
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
                signature(Filesystem, "NILFS2", start + 6, source)
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
        .then(|| signature(PartitionTable, "Sun", 508, "kernel: block/partitions/sun.c"))
}
