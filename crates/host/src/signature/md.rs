//! Linux software RAID.
//!
//! Source: kernel, `include/uapi/linux/raid/md_p.h`; the places are those of
//! `drivers/md/md.c` (`calc_dev_sboffset`, `super_1_load`).

use super::reader::Reader;
use super::{Signature, SignatureKind};

const MAGIC: u32 = 0xA92B_4EFC;

pub(super) fn probe(reader: &Reader<'_>) -> Vec<Signature> {
    let size = reader.size();
    // 0.90: the last 64 KiB that begin at a multiple of 64 KiB, in the byte
    // order of the machine that made it.
    let old = (size & !0xFFFF).checked_sub(0x1_0000);
    let old = old.filter(|offset| {
        reader.u32_le(*offset) == Some(MAGIC) || reader.u32_le(*offset) == Some(MAGIC.swap_bytes())
    });
    // 1.0: 8 KiB before the end, down to a multiple of 4 KiB.
    let at_end = size.checked_sub(0x2000).map(|offset| offset & !0xFFF);
    let new = [
        ("Linux RAID 1.0", at_end),
        ("Linux RAID 1.1", Some(0)),
        ("Linux RAID 1.2", Some(0x1000)),
    ];
    let new = new.into_iter().filter_map(|(name, offset)| {
        let offset = offset?;
        (reader.u32_le(offset)? == MAGIC && reader.u32_le(offset + 4)? == 1).then(|| {
            let source = "kernel: include/uapi/linux/raid/md_p.h, struct mdp_superblock_1";
            Signature::new(SignatureKind::Raid, name, offset, source)
                .labelled(reader.name(offset + 32, 32))
        })
    });
    let old = old.map(|offset| {
        let source = "kernel: include/uapi/linux/raid/md_p.h, struct mdp_superblock_s";
        Signature::new(SignatureKind::Raid, "Linux RAID 0.90", offset, source)
    });
    old.into_iter().chain(new).collect()
}
