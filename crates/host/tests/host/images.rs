//! Marks of data in small images made by hand, and in none.

use diskfacts_host::signature::{Probed, Unread};
use diskfacts_host::{ReadAt, Signature, SignatureKind, signatures};
use proptest::prelude::*;
use std::io;

const MIB: usize = 1 << 20;

/// An image of zeros with bytes put in at their places; a negative place
/// counts from the end.
fn image(size: usize, parts: &[(i64, &[u8])]) -> Vec<u8> {
    let mut image = vec![0; size];
    for (place, bytes) in parts {
        let start = match usize::try_from(*place) {
            Ok(start) => start,
            Err(_) => size - usize::try_from(-place).expect("a place from the end"),
        };
        image[start..start + bytes.len()].copy_from_slice(bytes);
    }
    image
}

fn found(image: &[u8]) -> Vec<Signature> {
    let Probed { found, unread } = signatures(&image);
    assert!(unread.is_empty());
    found
}

fn names(image: &[u8]) -> Vec<&'static str> {
    found(image)
        .iter()
        .map(|signature| signature.name)
        .collect()
}

#[test]
fn an_image_of_zeros_carries_no_mark_whatever_its_size() {
    for size in [0, 1, 511, 512, 4095, 4096, 65535, 65536, MIB, 4 * MIB + 512] {
        assert!(names(&vec![0; size]).is_empty(), "{size}");
        assert!(names(&vec![0xFF; size]).is_empty(), "{size}");
    }
}

/// Every mark of fixed bytes, with its name, put into an image by hand from the
/// description of the format, so that the table is checked against something
/// other than itself.
#[test]
#[expect(clippy::too_many_lines, reason = "a table, a row per format")]
fn each_format_is_found_by_its_mark() {
    let zfs_header = [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    let uberblock = 0x00BA_B10C_u64.to_le_bytes();
    let other_uberblock = 0x00BA_B10C_u64.to_be_bytes();
    let md1 = [0xFC, 0x4E, 0x2B, 0xA9, 1, 0, 0, 0];
    let cases: &[(&str, i64, &[u8])] = &[
        ("XFS", 0, b"XFSB"),
        ("XFS external log", 0, &[0xFE, 0xED, 0xBA, 0xBE]),
        ("Btrfs", 0x10040, b"_BHRfS_M"),
        ("F2FS", 1024, &0xF2F5_2010_u32.to_le_bytes()),
        ("EROFS", 1024, &0xE0F5_E1E2_u32.to_le_bytes()),
        ("SquashFS", 0, b"hsqs"),
        ("CramFS", 0, &0x28CD_3D45_u32.to_le_bytes()),
        ("romfs", 0, b"-rom1fs-"),
        ("ReiserFS", 65536 + 52, b"ReIsEr2Fs"),
        ("ReiserFS", 8192 + 52, b"ReIsErFs"),
        ("JFS", 32768, b"JFS1"),
        ("OCFS2", 4096, b"OCFSV2"),
        ("F2FS copy", 5 * 1024, &0xF2F5_2010_u32.to_le_bytes()),
        ("F2FS copy", 17 * 1024, &0xF2F5_2010_u32.to_le_bytes()),
        ("UFS1 copy", 32 * 512 + 1372, &0x0001_1954_u32.to_le_bytes()),
        (
            "UFS2 copy",
            192 * 512 + 1372,
            &0x1954_0119_u32.to_le_bytes(),
        ),
        ("zonefs", 0, &0x5A4F_4653_u32.to_le_bytes()),
        ("dm-zoned", 0, b"DBZD\x02\0\0\0"),
        ("LVM2 copy", 4096 + 4, b" LVM2 x[5A%r0N*>"),
        ("GFS2", 65536, &0x0116_1970_u32.to_be_bytes()),
        ("ISO 9660", 32769, b"CD001"),
        ("UDF", 32768 + 2048 + 1, b"NSR02"),
        ("UDF", 32768 + 3 * 2048 + 1, b"NSR03"),
        ("APFS", 32, b"NXSB"),
        ("VMFS", 2 * 1024 * 1024, &0x2FAB_F15E_u32.to_le_bytes()),
        (
            "VMFS volume member",
            1024 * 1024,
            &0xC001_D00D_u32.to_le_bytes(),
        ),
        ("NTFS", 3, b"NTFS    "),
        ("exFAT", 3, b"EXFAT   "),
        ("BitLocker", 3, b"-FVE-FS-"),
        ("LUKS1", 0, b"LUKS\xba\xbe\0\x01"),
        ("LUKS2", 0, b"LUKS\xba\xbe\0\x02"),
        ("LUKS2 copy", 0x4000, b"SKUL\xba\xbe"),
        ("LUKS2 copy", 0x40_0000, b"SKUL\xba\xbe"),
        ("LVM2 physical volume", 512, b"LABELONE"),
        ("dm-integrity", 0, b"integrt\0"),
        ("dm-verity hashes", 0, b"verity\0\0"),
        ("VDO", 0, b"dmvdo001"),
        ("Stratis", 516, b"!Stra0tis\x86\xff\x02^\x41rh"),
        (
            "bcache",
            4096 + 24,
            b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81",
        ),
        (
            "bcachefs",
            4096 + 24,
            b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef",
        ),
        (
            "bcachefs copy",
            1024 * 1024 + 4096 + 24,
            b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef",
        ),
        (
            "bcachefs copy",
            -1024 * 1024 + 24,
            b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef",
        ),
        ("Windows dynamic disk copy", -512, b"PRIVHEAD"),
        ("Windows dynamic disk copy", -192 * 512, b"PRIVHEAD"),
        ("Ceph BlueStore", 0, b"bluestore block device\n"),
        ("Oracle ASM", 32, b"ORCLDISK"),
        ("Linux", 4086, b"SWAPSPACE2"),
        ("Linux", 65526, b"SWAPSPACE2"),
        ("old Linux", 8182, b"SWAP-SPACE"),
        ("hibernated system", 4086, b"S1SUSPEND"),
        ("DDF RAID", -512, &0xDE11_DE11_u32.to_be_bytes()),
        ("Intel Matrix RAID", -1024, b"Intel Raid ISM Cfg Sig. "),
        ("DRBD 8", -4096 + 60, &[0x83, 0x74, 0x02, 0x6B]),
        ("DRBD 9", -4096 + 60, &[0x83, 0x74, 0x02, 0x6D]),
        ("Linux RAID 0.90", -65536, &0xA92B_4EFC_u32.to_le_bytes()),
        ("Linux RAID 0.90", -65536, &0xA92B_4EFC_u32.to_be_bytes()),
        ("Linux RAID 1.0", -8192, &md1),
        ("Linux RAID 1.1", 0, &md1),
        ("Linux RAID 1.2", 4096, &md1),
        ("ZFS member", 16 * 1024, &zfs_header),
        ("ZFS member", (256 + 16) * 1024, &zfs_header),
        ("ZFS member", -(256 - 16) * 1024, &zfs_header),
        ("ZFS member", -(512 - 128) * 1024, &uberblock),
        ("ZFS member", (128 + 5) * 1024, &other_uberblock),
        ("GPT", 512, b"EFI PART"),
        ("GPT", 4096, b"EFI PART"),
        ("GPT copy", -512, b"EFI PART"),
        ("GPT copy", -4096, b"EFI PART"),
        ("Apple", 512, b"PM\0\0"),
        ("SGI", 0, &0x0BE5_A941_u32.to_be_bytes()),
        ("BSD", 512, &0x8256_4557_u32.to_le_bytes()),
        ("empty MBR", 510, &[0x55, 0xAA]),
        ("HFS+", 1024, b"H+\0\x04"),
        (
            "MINIX",
            1024 + 4,
            &[2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x8F, 0x13],
        ),
        ("NILFS2", 1024, &[2, 0, 0, 0, 0, 0, 0x34, 0x34, 0x18, 0x01]),
    ];
    for (name, place, bytes) in cases {
        let image = image(8 * MIB, &[(*place, bytes)]);
        assert_eq!(names(&image), [*name], "{name} at {place}");
        // The same bytes one place further mean nothing.
        let shifted = self::image(8 * MIB, &[(*place + 1, &bytes[..bytes.len() - 1])]);
        assert!(
            !names(&shifted).contains(name),
            "{name} one byte beside {place}"
        );
    }
}

#[test]
fn marks_at_the_end_are_found_on_a_device_of_an_odd_size() {
    let md1 = [0xFC, 0x4E, 0x2B, 0xA9, 1, 0, 0, 0];
    // 0.90 begins at a multiple of 64 KiB, 1.0 at one of 4 KiB, ZFS counts
    // whole 256 KiB, a sector may be left over behind each.
    let size = 4 * MIB + 3 * 512;
    let at = |place: usize, bytes: &[u8]| {
        let place = i64::try_from(place).expect("a small place");
        names(&image(size, &[(place, bytes)]))
    };
    assert_eq!(at(4 * MIB - 65536, &md1), ["Linux RAID 0.90"]);
    assert_eq!(at(4 * MIB - 8192, &md1), ["Linux RAID 1.0"]);
    assert_eq!(
        at(4 * MIB - (256 - 128) * 1024, &0x00BA_B10C_u64.to_le_bytes()),
        ["ZFS member"]
    );
    assert_eq!(at(4 * MIB + 2 * 512, b"EFI PART"), ["GPT copy"]);
}

/// The fields of an ext superblock that matter, by their offsets in it.
fn ext(compat: u32, incompat: u32, ro_compat: u32) -> Vec<u8> {
    let mut superblock = vec![0; 1024];
    let mut put = |offset: usize, bytes: &[u8]| {
        superblock[offset..offset + bytes.len()].copy_from_slice(bytes);
    };
    put(4, &8192_u32.to_le_bytes());
    put(24, &2_u32.to_le_bytes());
    put(56, &0xEF53_u16.to_le_bytes());
    put(76, &1_u32.to_le_bytes());
    put(92, &compat.to_le_bytes());
    put(96, &incompat.to_le_bytes());
    put(100, &ro_compat.to_le_bytes());
    put(120, b"archive");
    superblock
}

#[test]
fn the_features_of_ext_tell_its_generation() {
    for (name, compat, incompat, ro_compat) in [
        ("ext2", 0, 0x2, 0x1),
        ("ext3", 0x4, 0x2, 0x3),
        ("ext4", 0x4, 0x2 | 0x40, 0x3),
        ("ext4", 0x4, 0x2, 0x8),
        ("ext journal", 0, 0x8, 0),
    ] {
        let image = image(MIB, &[(1024, &ext(compat, incompat, ro_compat))]);
        let found = found(&image);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].name, name);
        assert_eq!(found[0].label.as_deref(), Some("archive"));
        assert_eq!(
            found[0].to_string(),
            format!("{name} filesystem named \"archive\" (mark at byte 1080)")
        );
    }
}

#[test]
fn two_bytes_of_ext_among_noise_are_not_believed() {
    let mut superblock = ext(0x4, 0x2, 0x3);
    // A block of 2^(10 + 77) bytes.
    superblock[24..28].copy_from_slice(&77_u32.to_le_bytes());
    assert!(names(&image(MIB, &[(1024, &superblock)])).is_empty());
}

#[test]
fn the_partition_table_of_a_gpt_disk_protects_itself() {
    let mut entry = [0_u8; 16];
    entry[4] = 0xEE;
    entry[8..12].copy_from_slice(&1_u32.to_le_bytes());
    entry[12..16].copy_from_slice(&0xFFFF_FFFF_u32.to_le_bytes());
    let image = image(
        MIB,
        &[
            (446, &entry),
            (510, &[0x55, 0xAA]),
            (512, b"EFI PART"),
            (-512, b"EFI PART"),
        ],
    );
    assert_eq!(names(&image), ["protective MBR", "GPT", "GPT copy"]);
}

#[test]
fn a_boot_sector_of_fat_is_no_partition_table() {
    let fat: &[(i64, &[u8])] = &[
        (0, &[0xEB, 0x3C, 0x90]),
        (54, b"FAT16   "),
        (510, &[0x55, 0xAA]),
    ];
    assert_eq!(names(&image(MIB, fat)), ["FAT"]);
    // Unless it has a partition too, as some USB sticks have.
    let mut entry = [0_u8; 16];
    (entry[0], entry[4], entry[12]) = (0x80, 0x0C, 1);
    let both: Vec<_> = fat.iter().copied().chain([(446, &entry[..])]).collect();
    assert_eq!(names(&image(MIB, &both)), ["FAT", "MBR"]);
}

#[test]
fn fat_of_old_media_is_known_by_its_parameters() {
    let mut sector = [0_u8; 24];
    sector[0] = 0xEB;
    sector[11..13].copy_from_slice(&512_u16.to_le_bytes());
    sector[13] = 2;
    sector[14] = 1;
    sector[16] = 2;
    sector[21] = 0xF9;
    assert_eq!(names(&image(MIB, &[(0, &sector)])), ["FAT without a name"]);
    sector[13] = 3;
    assert!(names(&image(MIB, &[(0, &sector)])).is_empty());
}

#[test]
fn a_label_of_sun_counts_only_with_its_sum() {
    let label: &[(i64, &[u8])] = &[(508, &[0xDA, 0xBE, 0xDA, 0xBE])];
    assert_eq!(names(&image(MIB, label)), ["Sun"]);
    let noise: &[(i64, &[u8])] = &[(508, &[0xDA, 0xBE, 0, 0])];
    assert!(names(&image(MIB, noise)).is_empty());
}

#[test]
fn what_looks_like_two_things_is_reported_as_both() {
    let image = image(
        8 * MIB,
        &[
            (0, b"LUKS\xba\xbe\0\x02"),
            (0x4000, b"SKUL\xba\xbe"),
            (0x10040, b"_BHRfS_M"),
        ],
    );
    assert_eq!(names(&image), ["LUKS2", "LUKS2 copy", "Btrfs"]);
    let kinds: Vec<_> = found(&image)
        .iter()
        .map(|signature| signature.kind)
        .collect();
    assert_eq!(
        kinds,
        [
            SignatureKind::Encryption,
            SignatureKind::Encryption,
            SignatureKind::Filesystem
        ]
    );
}

/// A device whose sectors from 32 KiB on cannot be read.
struct Broken;

impl ReadAt for Broken {
    fn size_bytes(&self) -> u64 {
        8 << 20
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        if offset + buffer.len() as u64 > 32 << 10 {
            return Err(io::Error::from_raw_os_error(5));
        }
        buffer.fill(0);
        Ok(())
    }
}

#[test]
fn a_place_that_cannot_be_read_is_named_and_not_taken_for_empty() {
    let Probed { found, unread } = signatures(&Broken);
    assert!(found.is_empty());
    assert!(!unread.is_empty());
    let Unread { offset, error, .. } = &unread[0];
    assert!(*offset + 64 * 1024 > 32 << 10);
    assert_eq!(error.raw_os_error(), Some(5));
}

#[test]
fn a_huge_device_is_probed_without_reading_it() {
    struct Huge;
    impl ReadAt for Huge {
        fn size_bytes(&self) -> u64 {
            u64::MAX
        }
        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
            assert!(offset.checked_add(buffer.len() as u64).is_some());
            buffer.fill(0);
            if offset == (256 << 30) + 64 {
                buffer.copy_from_slice(b"_BHRfS_M");
            }
            Ok(())
        }
    }
    let found = signatures(&Huge).found;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].name, "Btrfs copy");
}

proptest! {
    #[test]
    fn a_mark_is_always_inside_the_image(
        size in 0_usize..300_000,
        parts in proptest::collection::vec((0_usize..300_000, any::<[u8; 12]>()), 0..8),
    ) {
        let mut image = vec![0; size];
        for (place, bytes) in parts {
            if let Some(target) = image.get_mut(place..place + bytes.len()) {
                target.copy_from_slice(&bytes);
            }
        }
        for signature in signatures(&image).found {
            prop_assert!(signature.offset < size as u64);
            prop_assert!(!signature.source.is_empty());
        }
    }
}
