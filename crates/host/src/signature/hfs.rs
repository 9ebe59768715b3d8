//! HFS and HFS+, whose last but one sector is a copy of the volume header; all
//! big-endian.
//!
//! Source: Inside Macintosh, Files, 2-59; Apple Technical Note 1150; kernel,
//! `fs/hfs/hfs.h`, `include/linux/hfs_common.h`.

use super::reader::Reader;
use super::{Signature, SignatureKind};

const KIB: u64 = 1024;
const SOURCE: &str = "kernel: fs/hfs/hfs.h, include/linux/hfs_common.h";

fn signature(name: &'static str, offset: u64) -> Signature {
    Signature::new(SignatureKind::Filesystem, name, offset, SOURCE)
}

/// The marks have two bytes: HFS is believed with the size of a block, HFS+ with
/// its version.
pub(super) fn probe(reader: &Reader<'_>) -> Option<Signature> {
    let start: [u8; 24] = reader.array(KIB)?;
    let version = u16::from_be_bytes([start[2], start[3]]);
    let block = u32_at(&start, 20);
    let name = match &start[..2] {
        b"BD" if block > 0 && block.is_multiple_of(512) => "HFS",
        b"H+" if version == 4 => "HFS+",
        b"HX" if version == 5 => "HFSX",
        _ => return None,
    };
    Some(signature(name, KIB))
}

/// The copy, which `fsck_hfs` and `fsck.hfsplus` put back. Its volume has about
/// the size of the device: as many blocks as fit.
pub(super) fn copy(reader: &Reader<'_>) -> Option<Signature> {
    let end = reader.size() / 512 * 512;
    let offset = end.checked_sub(KIB)?;
    let header: [u8; 48] = reader.array(offset)?;
    let version = u16::from_be_bytes([header[2], header[3]]);
    let (name, block, blocks) = match &header[..2] {
        b"BD" => (
            "HFS copy",
            u32_at(&header, 20),
            u32::from(u16::from_be_bytes([header[18], header[19]])),
        ),
        b"H+" if version == 4 => ("HFS+ copy", u32_at(&header, 40), u32_at(&header, 44)),
        b"HX" if version == 5 => ("HFSX copy", u32_at(&header, 40), u32_at(&header, 44)),
        _ => return None,
    };
    let bytes = u64::from(block) * u64::from(blocks);
    // HFS leaves its boot blocks and bitmap aside, which are less than a MiB.
    let fits = bytes <= end && end - bytes <= u64::from(block) + (1 << 20);
    (block > 0 && block.is_multiple_of(512) && fits)
        .then(|| signature(name, offset).out_of_wipefs())
}

fn u32_at(bytes: &[u8], offset: usize) -> u32 {
    bytes[offset..offset + 4]
        .iter()
        .fold(0, |sum, byte| sum << 8 | u32::from(*byte))
}
