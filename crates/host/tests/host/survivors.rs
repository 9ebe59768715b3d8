//! What is left of a filesystem when its first part is gone, as after `dd` of a
//! wrong image: each is made by its own tool, wiped from its start on, and has
//! to be found by what remains, on a device and on a partition of it.

use crate::alone::alone;
use diskfacts_host::signature::Probed;
use diskfacts_host::{ObstacleKind, ReadAt, Roots, Signature, signatures, usage};
use diskfacts_testkit::{LoopDevice, LoopOptions, Missing, Scratch, or_skip, require_tool};
use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// A sparse file, read where it is asked for only.
struct Image<'a>(&'a File);

impl ReadAt for Image<'_> {
    fn size_bytes(&self) -> u64 {
        self.0.metadata().expect("its size").len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.0.read_exact_at(buffer, offset)
    }
}

fn marks(file: &File) -> Vec<Signature> {
    let Probed { found, unread } = signatures(&Image(file));
    assert!(unread.is_empty(), "{unread:?}");
    found
}

fn names(found: &[Signature]) -> Vec<&'static str> {
    found.iter().map(|signature| signature.name).collect()
}

/// Zeros from the start of `file` to `end`; other noise would do as well.
fn wipe(file: &File, end: u64) {
    let zeros = vec![0; 1 << 20];
    let mut place = 0;
    while place < end {
        let len = (end - place).min(zeros.len() as u64) as usize;
        file.write_all_at(&zeros[..len], place).expect("wiping");
        place += len as u64;
    }
}

/// One way to make something, how much of its start is wiped, and what is found
/// then.
struct Case {
    tool: (&'static str, &'static str),
    arguments: &'static str,
    size: u64,
    wiped: u64,
    found: &'static str,
}

const fn case(
    tool: (&'static str, &'static str),
    arguments: &'static str,
    size: u64,
    wiped: u64,
    found: &'static str,
) -> Case {
    Case {
        tool,
        arguments,
        size,
        wiped,
        found,
    }
}

const EXT: (&str, &str) = ("mkfs.ext4", "e2fsprogs");
const XFS: (&str, &str) = ("mkfs.xfs", "xfsprogs");
const NTFS: (&str, &str) = ("mkfs.ntfs", "ntfs-3g");
const FAT: (&str, &str) = ("mkfs.vfat", "dosfstools");
const EXFAT: (&str, &str) = ("mkfs.exfat", "exfatprogs");
const BTRFS: (&str, &str) = ("mkfs.btrfs", "btrfs-progs");
const UDF: (&str, &str) = ("mkudffs", "udftools");
const OCFS2: (&str, &str) = ("mkfs.ocfs2", "ocfs2-tools");

const CASES: &[Case] = &[
    // Superblocks of ext in groups 1, 3, 5, 7, 9, 25, ...
    case(EXT, "-q -F -t ext4 -b 4096", 600 * MIB, MIB, "ext4 copy"),
    case(EXT, "-q -F -t ext4 -b 4096", 8 * GIB, 3 * GIB, "ext4 copy"),
    case(
        EXT,
        "-q -F -t ext4 -b 1024",
        16 * MIB,
        64 * KIB,
        "ext4 copy",
    ),
    case(EXT, "-q -F -t ext3 -b 2048", 100 * MIB, MIB, "ext3 copy"),
    case(EXT, "-q -F -t ext2 -b 1024", 16 * MIB, MIB, "ext2 copy"),
    case(
        EXT,
        "-q -F -F -t ext4 -b 16384 -J size=16",
        3 * GIB,
        MIB,
        "ext4 copy",
    ),
    case(
        EXT,
        "-q -F -F -t ext4 -b 65536 -J size=64",
        9 * GIB,
        MIB,
        "ext4 copy",
    ),
    case(
        EXT,
        "-q -F -t ext4 -O bigalloc -C 65536",
        5 * GIB,
        MIB,
        "ext4 copy",
    ),
    case(
        EXT,
        "-q -F -t ext4 -O sparse_super2",
        600 * MIB,
        MIB,
        "ext4 copy",
    ),
    case(
        EXT,
        "-q -F -t ext4 -O ^metadata_csum,^64bit",
        600 * MIB,
        MIB,
        "ext4 copy",
    ),
    case(
        EXT,
        "-q -F -t ext4 -O meta_bg,^resize_inode",
        600 * MIB,
        MIB,
        "ext4 copy",
    ),
    // Superblocks of XFS at the start of each allocation group.
    case(XFS, "-q", 512 * MIB, MIB, "XFS copy"),
    case(XFS, "-q", 512 * MIB + 7 * 512, MIB, "XFS copy"),
    case(XFS, "-q", 6 * GIB, 2 * GIB, "XFS copy"),
    case(XFS, "-q -b size=1024", 512 * MIB + 3 * 512, MIB, "XFS copy"),
    case(XFS, "-q -s size=4096", 512 * MIB, MIB, "XFS copy"),
    case(XFS, "-q -m crc=0", 512 * MIB, MIB, "XFS copy"),
    case(XFS, "-q -d agcount=13", GIB, MIB, "XFS copy"),
    case(XFS, "-q -d agcount=61", 8 * GIB, MIB, "XFS copy"),
    case(XFS, "-q -d su=512k,sw=4", 10 * GIB, MIB, "XFS copy"),
    case(XFS, "-q -d su=64k,sw=3", 600 * MIB, MIB, "XFS copy"),
    case(XFS, "-q", 5 << 40, MIB, "XFS copy"),
    // Boot sectors.
    case(NTFS, "-F -q -Q", 64 * MIB, MIB, "NTFS copy"),
    case(NTFS, "-F -q -Q", 64 * MIB + 5 * 512, MIB, "NTFS copy"),
    case(
        NTFS,
        "-F -q -Q -c 65536",
        64 * MIB + 9 * 512,
        MIB,
        "NTFS copy",
    ),
    case(NTFS, "-F -q -Q -s 4096", 64 * MIB, MIB, "NTFS copy"),
    case(FAT, "-F 32", 64 * MIB, 512, "FAT32 copy"),
    case(FAT, "-F 32 -S 2048", 512 * MIB, 2048, "FAT32 copy"),
    case(FAT, "-F 32 -S 4096", 512 * MIB, 4096, "FAT32 copy"),
    case(EXFAT, "", 64 * MIB, 6 * KIB, "exFAT copy"),
    // Others.
    case(BTRFS, "-q", 128 * MIB, MIB, "Btrfs copy"),
    case(
        ("mkfs.jfs", "jfsutils"),
        "-q",
        64 * MIB,
        48 * KIB,
        "JFS copy",
    ),
    case(
        ("mkfs.f2fs", "f2fs-tools"),
        "-q",
        128 * MIB,
        4 * KIB,
        "F2FS copy",
    ),
    case(
        ("mkfs.nilfs2", "nilfs-tools"),
        "-q",
        256 * MIB,
        MIB,
        "NILFS2",
    ),
    case(UDF, "-b 2048", 16 * MIB, MIB, "UDF copy"),
    case(UDF, "-b 512", 16 * MIB, 64 * KIB, "UDF copy"),
    case(UDF, "-b 4096", 16 * MIB, MIB, "UDF copy"),
    case(OCFS2, "-q -M local -T mail", 2 * GIB, MIB, "OCFS2 copy"),
    case(("mkapfs", "apfsprogs"), "", GIB, 4 * KIB, "APFS copy"),
];

/// Makes it on `path`, and wipes its start.
fn make(case: &Case, path: &Path, file: &File) -> Result<(), Missing> {
    let tool = require_tool(case.tool.0, case.tool.1)?;
    let output = Command::new(tool)
        .args(case.arguments.split_whitespace())
        .arg(path)
        .output()
        .expect("running the tool");
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Missing::new(
            format_args!("{} {} that works here", case.tool.0, case.arguments),
            said.trim().replace('\n', " "),
        ));
    }
    file.sync_all().expect("what the tool wrote");
    wipe(file, case.wiped);
    file.sync_all().expect("what was wiped");
    Ok(())
}

#[test]
fn a_filesystem_whose_first_part_is_gone_is_found_by_its_copies() {
    let mut wrong = Vec::new();
    for case in CASES {
        let scratch = or_skip!(Scratch::new());
        let path = scratch.join("image");
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)
            .expect("an image");
        file.set_len(case.size).expect("a sparse file");
        if let Err(missing) = make(case, &path, &file) {
            diskfacts_testkit::skip(&missing.to_string());
            continue;
        }
        let found = marks(&file);
        let said = format!("{} {} of {}", case.tool.0, case.arguments, case.size);
        if !names(&found).contains(&case.found) {
            wrong.push(format!("{said}: {found:?}"));
            continue;
        }
        // What is told to type removes what was found, and nothing is left to find.
        for mark in found {
            let removal = mark.removal(&path);
            let done = Command::new("sh").args(["-c", &removal]).output();
            let done = done.expect("running a shell");
            assert!(done.status.success(), "{removal}: {done:?}");
        }
        let left = marks(&file);
        if !left.is_empty() {
            wrong.push(format!("{said}: left are {left:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Those of the table that fit on a device of a few hundred MiB, through the
/// kernel's own view of it.
#[test]
fn a_device_and_a_partition_with_nothing_but_copies_are_not_to_be_written() {
    let _alone = alone();
    let small = CASES.iter().filter(|case| case.size <= 128 * MIB);
    for case in small {
        let options = LoopOptions {
            partitions: true,
            ..LoopOptions::default()
        };
        let device = or_skip!(LoopDevice::with(case.size + 2 * MIB, options));
        let addpart = or_skip!(require_tool("addpart", "util-linux"));
        let sectors = (case.size / 512).to_string();
        let added = Command::new(addpart)
            .arg(device.path())
            .args(["1", "2048", &sectors])
            .output()
            .expect("running addpart");
        if !added.status.success() {
            diskfacts_testkit::skip("this kernel has no partitions on loop devices");
            return;
        }
        let node = format!("{}p1", device.path().display());
        let open = || File::options().read(true).write(true).open(&node);
        let file = open().expect("the node of the partition");
        if let Err(missing) = make(case, node.as_ref(), &file) {
            diskfacts_testkit::skip(&missing.to_string());
            continue;
        }
        drop(file);
        for path in [device.path(), node.as_ref()] {
            let usage = usage(&Roots::default(), path).expect("an answer");
            let seen = usage.obstacles.iter().any(|obstacle| {
                matches!(&obstacle.kind, ObstacleKind::Signature(mark) if mark.name == case.found)
            });
            assert!(seen, "{} {}: {usage}", path.display(), case.found);
        }
    }
}

/// The table of the disk is gone; its first partition began where they begin.
#[test]
fn the_first_partition_is_found_on_a_disk_without_a_table() {
    for start in [MIB, 63 * 512] {
        let scratch = or_skip!(Scratch::new());
        let path = scratch.join("part");
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        let part = options.open(&path).expect("an image");
        part.set_len(32 * MIB).expect("a sparse file");
        let whole = case(EXT, "-q -F -t ext4", 32 * MIB, 0, "ext4");
        or_skip!(make(&whole, &path, &part));
        let disk = options.open(scratch.join("disk")).expect("an image");
        disk.set_len(start + 32 * MIB).expect("a sparse file");
        let mut bytes = vec![0; 32 << 20];
        part.read_exact_at(&mut bytes, 0).expect("the part");
        disk.write_all_at(&bytes, start).expect("the disk");
        let found = marks(&disk);
        assert_eq!(found[0].name, "ext4", "{found:?}");
        assert_eq!(found[0].offset, start + 1080);
    }
}

/// Zeros with bytes put in at their places, of any size.
struct Sparse<'a> {
    size: u64,
    parts: &'a [(u64, &'a [u8])],
}

impl ReadAt for Sparse<'_> {
    fn size_bytes(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        buffer.fill(0);
        for (place, bytes) in self.parts {
            let from = offset.max(*place);
            let to = (offset + buffer.len() as u64).min(place + bytes.len() as u64);
            if from < to {
                buffer[(from - offset) as usize..(to - offset) as usize]
                    .copy_from_slice(&bytes[(from - place) as usize..(to - place) as usize]);
            }
        }
        Ok(())
    }
}

fn on_sparse(size: u64, parts: &[(u64, &[u8])]) -> Vec<Signature> {
    signatures(&Sparse { size, parts }).found
}

/// A block of `len` bytes with the given ones at their places.
fn block(len: usize, parts: &[(usize, &[u8])]) -> Vec<u8> {
    let mut block = vec![0; len];
    for (place, bytes) in parts {
        block[*place..place + bytes.len()].copy_from_slice(bytes);
    }
    block
}

/// A state of a superblock of zoned btrfs: its own place is that of the first
/// superblock of any btrfs, wherever it stands.
fn zoned_state(place: u64, label: &[u8]) -> Vec<u8> {
    block(
        4096,
        &[
            (48, &place.to_le_bytes()),
            (64, b"_BHRfS_M"),
            (0x12b, label),
        ],
    )
}

#[test]
fn the_log_of_a_zoned_btrfs_is_found_in_either_zone_with_its_newest_name() {
    let old = zoned_state(64 << 10, b"old");
    let new = zoned_state(64 << 10, b"new");
    // The first zone holds three states; the second was emptied.
    let first: &[(u64, &[u8])] = &[(0, &old), (4096, &old), (8192, &new)];
    let found = on_sparse(8 * GIB, first);
    assert_eq!(names(&found), ["Btrfs (zoned)"], "{found:?}");
    assert_eq!(found[0].offset, 64);
    assert_eq!(found[0].label.as_deref(), Some("new"));
    // The first zone was emptied, or is what is gone.
    for zone in [4 * MIB, 96 * MIB, 128 * MIB, 256 * MIB, 2 * GIB] {
        let second: &[(u64, &[u8])] = &[(zone, &new)];
        let found = names(&on_sparse(8 * GIB, second));
        // Zones are a power of two.
        let expected: &[&str] = if zone.is_power_of_two() {
            &["Btrfs (zoned)"]
        } else {
            &[]
        };
        assert_eq!(found, expected, "a zone of {zone}");
    }
    // The other logs.
    let (second, third) = (zoned_state(64 << 20, b""), zoned_state(256 << 30, b""));
    for (place, state) in [
        (512 * GIB, &second),
        (513 * GIB, &second),
        (4096 * GIB + 256 * MIB, &third),
    ] {
        let found = on_sparse(6 << 40, &[(place, state)]);
        assert_eq!(names(&found), ["Btrfs (zoned)"], "at {place}");
    }
    // A copy of a btrfs that is not zoned, where a zone would begin.
    let found = on_sparse(8 * GIB, &[(64 * MIB, &second)]);
    assert_eq!(names(&found), ["Btrfs copy"]);
}

#[test]
fn the_last_sectors_of_hfs_refs_and_bitlocker_are_found() {
    let size = 64 * MIB + 3 * 512;
    let blocks = (size / 4096) as u32;
    let hfs_plus = block(
        512,
        &[
            (0, b"H+\0\x04"),
            (40, &4096_u32.to_be_bytes()),
            (44, &blocks.to_be_bytes()),
        ],
    );
    assert_eq!(
        names(&on_sparse(size, &[(size - 1024, &hfs_plus)])),
        ["HFS+ copy"]
    );
    // A volume of another size ended elsewhere.
    let found = on_sparse(2 * size, &[(2 * size - 1024, &hfs_plus)]);
    assert!(found.is_empty(), "{found:?}");
    let hfs = block(
        512,
        &[
            (0, b"BD"),
            (18, &16_000_u16.to_be_bytes()),
            (20, &4096_u32.to_be_bytes()),
        ],
    );
    let size = 16_000 * 4096 + 64 * KIB;
    assert_eq!(
        names(&on_sparse(size, &[(size - 1024, &hfs)])),
        ["HFS copy"]
    );
    let refs = block(512, &[(3, b"ReFS\0\0\0\0FSRS"), (16, b"FSRS")]);
    assert_eq!(
        names(&on_sparse(size, &[(size - 512, &refs)])),
        ["ReFS copy"]
    );
    let bitlocker = block(512, &[(3, b"-FVE-FS-"), (510, &[0x55, 0xAA])]);
    assert_eq!(
        names(&on_sparse(size, &[(size - MIB, &bitlocker)])),
        ["BitLocker copy"]
    );
}

/// splitmix64: noise that is the same in every run.
struct Noise(u64);

impl Noise {
    fn fill(&mut self, buffer: &mut [u8]) {
        for eight in buffer.chunks_mut(8) {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut word = self.0;
            word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            word ^= word >> 31;
            eight.copy_from_slice(&word.to_le_bytes()[..eight.len()]);
        }
    }
}

/// Where to read next, and the noise of that place.
struct NoisyDevice {
    size: u64,
    seed: u64,
}

impl ReadAt for NoisyDevice {
    fn size_bytes(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        // Noise of whole sectors, so that a place has the same bytes in each read.
        let first = offset / 512;
        let last = (offset + buffer.len() as u64).div_ceil(512);
        let mut sectors = vec![0; ((last - first) * 512) as usize];
        for (index, sector) in sectors.chunks_mut(512).enumerate() {
            Noise(self.seed ^ (first + index as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93))
                .fill(sector);
        }
        let skip = (offset % 512) as usize;
        buffer.copy_from_slice(&sectors[skip..skip + buffer.len()]);
        Ok(())
    }
}

#[test]
fn noise_carries_no_mark() {
    for seed in 0..24 {
        for size in [64 * MIB, 3 * GIB + 5 * 512, 7 << 40] {
            let Probed { found, .. } = signatures(&NoisyDevice { size, seed });
            assert!(found.is_empty(), "seed {seed}, {size} bytes: {found:?}");
        }
    }
}

/// An empty device that counts at how many places it is read, where a place is
/// 64 KiB: what a disk brings in one go.
#[derive(Default)]
struct Counted {
    size: u64,
    places: RefCell<std::collections::BTreeSet<u64>>,
    bytes: RefCell<u64>,
}

impl ReadAt for Counted {
    fn size_bytes(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        buffer.fill(0);
        *self.bytes.borrow_mut() += buffer.len() as u64;
        let last = offset + buffer.len() as u64 - 1;
        self.places
            .borrow_mut()
            .extend(offset / (64 * KIB)..=last / (64 * KIB));
        Ok(())
    }
}

#[test]
fn an_empty_device_of_any_size_is_probed_at_a_bounded_number_of_places() {
    for size in [GIB, 100 * GIB, 20 << 40] {
        let device = Counted {
            size,
            ..Counted::default()
        };
        assert!(signatures(&device).found.is_empty());
        let places = device.places.borrow();
        // A seek for each row of places that lie side by side.
        let seeks = places
            .iter()
            .filter(|place| !places.contains(&place.wrapping_sub(1)))
            .count();
        assert!(seeks <= 300, "{size} bytes: {seeks} seeks");
        assert!(places.len() <= 700, "{size} bytes: {} places", places.len());
        let bytes = device.bytes.into_inner();
        assert!(bytes <= 32 * MIB, "{size} bytes: {bytes} read");
    }
}
