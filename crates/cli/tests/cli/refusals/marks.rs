//! Devices that nobody uses and that carry data, by the marks that tools leave and by
//! marks put there by hand.

use super::doors::Door;
use super::guards::{Attached, zeros};
use super::{Attempts, sum};
use crate::support::{Case, KIB, MIB};
use diskfacts_testkit::{Missing, or_skip, require_root, require_tool};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A tool, and how it makes an image: on one of this size, or out of a folder. `{}`
/// among the arguments stands for the image, `FOLDER` for the folder.
struct Maker {
    tool: Result<PathBuf, Missing>,
    /// MiB.
    size: u64,
    arguments: &'static [&'static str],
    input: &'static str,
    /// It works on a block device only.
    on_device: bool,
    /// What the refusal says.
    said: &'static str,
    /// Bytes of its start that are zeroed when it is made, so that copies are left.
    wiped: u64,
}

/// A test for each row, and the number of rows.
macro_rules! made {
    ($($name:ident: $tool:expr, $size:literal, [$($argument:expr),*], $input:literal, $on_device:literal, $said:literal $(, wiped $wiped:expr)?;)*) => {
        $(
            #[test]
            fn $name() {
                refused(&Maker {
                    tool: $tool,
                    size: $size,
                    arguments: &[$($argument),*],
                    input: $input,
                    on_device: $on_device,
                    said: $said,
                    wiped: 0 $(+ $wiped)?,
                });
            }
        )*

        /// Attempts of all these tests.
        pub(super) const MADE: usize = [$(stringify!($name)),*].len() * Door::OF_EACH_KIND.len();
    };
}

const LVM: &str = "devices{use_devicesfile=0 obtain_device_list_from_udev=0} \
                   activation{udev_sync=0 monitoring=0}";

made! {
    ext2_is_refused: require_tool("mkfs.ext4", "e2fsprogs"), 16,
        ["-q", "-F", "-t", "ext2", "{}"], "", false, "ext2 filesystem";
    ext3_is_refused: require_tool("mkfs.ext4", "e2fsprogs"), 16,
        ["-q", "-F", "-t", "ext3", "{}"], "", false, "ext3 filesystem";
    ext4_is_refused: require_tool("mkfs.ext4", "e2fsprogs"), 16,
        ["-q", "-F", "-t", "ext4", "{}"], "", false, "ext4 filesystem";
    a_journal_of_ext4_is_refused: require_tool("mke2fs", "e2fsprogs"), 16,
        ["-q", "-F", "-O", "journal_dev", "{}"], "", false, "ext journal";
    xfs_is_refused: require_tool("mkfs.xfs", "xfsprogs"), 320,
        ["-q", "{}"], "", false, "XFS";
    btrfs_is_refused: require_tool("mkfs.btrfs", "btrfs-progs"), 128,
        ["-q", "{}"], "", false, "Btrfs";
    fat12_is_refused: require_tool("mkfs.vfat", "dosfstools"), 16,
        ["-F", "12", "{}"], "", false, "FAT";
    fat16_is_refused: require_tool("mkfs.vfat", "dosfstools"), 64,
        ["-F", "16", "{}"], "", false, "FAT";
    fat32_is_refused: require_tool("mkfs.vfat", "dosfstools"), 64,
        ["-F", "32", "{}"], "", false, "FAT32";
    exfat_is_refused: require_tool("mkfs.exfat", "exfatprogs"), 16,
        ["{}"], "", false, "exFAT";
    ntfs_is_refused: require_tool("mkfs.ntfs", "ntfs-3g"), 16,
        ["-F", "-q", "-Q", "{}"], "", false, "NTFS";
    f2fs_is_refused: require_tool("mkfs.f2fs", "f2fs-tools"), 128,
        ["-q", "{}"], "", false, "F2FS";
    jfs_is_refused: require_tool("mkfs.jfs", "jfsutils"), 32,
        ["-q", "{}"], "", false, "JFS";
    reiserfs_is_refused: require_tool("mkreiserfs", "reiserfsprogs"), 64,
        ["-q", "-f", "-f", "{}"], "y\n", false, "ReiserFS";
    nilfs_is_refused: require_tool("mkfs.nilfs2", "nilfs-tools"), 256,
        ["-q", "{}"], "", false, "NILFS2";
    gfs2_is_refused: require_tool("mkfs.gfs2", "gfs2-utils"), 256,
        ["-q", "-O", "-p", "lock_nolock", "{}"], "", false, "GFS2";
    udf_is_refused: require_tool("mkudffs", "udftools"), 16,
        ["{}"], "", false, "UDF";
    squashfs_is_refused: require_tool("mksquashfs", "squashfs-tools"), 0,
        ["FOLDER", "{}", "-quiet"], "", false, "SquashFS";
    erofs_is_refused: require_tool("mkfs.erofs", "erofs-utils"), 0,
        ["{}", "FOLDER"], "", false, "EROFS";
    iso_9660_is_refused: require_tool("genisoimage", "genisoimage"), 0,
        ["-quiet", "-o", "{}", "FOLDER"], "", false, "ISO 9660";
    a_swap_area_is_refused: require_tool("mkswap", "util-linux"), 4,
        ["-q", "{}"], "", false, "Linux swap";
    luks1_is_refused: require_tool("cryptsetup", "cryptsetup-bin"), 16,
        ["luksFormat", "--batch-mode", "--type", "luks1", "--pbkdf", "pbkdf2",
         "--pbkdf-force-iterations", "1000", "--key-file", "-", "{}"],
        "secret", false, "LUKS1";
    luks2_is_refused: require_tool("cryptsetup", "cryptsetup-bin"), 32,
        ["luksFormat", "--batch-mode", "--type", "luks2", "--pbkdf", "pbkdf2",
         "--pbkdf-force-iterations", "1000", "--key-file", "-", "{}"],
        "secret", false, "LUKS2";
    a_gpt_is_refused: require_tool("sfdisk", "fdisk"), 8,
        ["-q", "{}"], "label: gpt\n,1M\n", false, "GPT";
    a_dos_table_is_refused: require_tool("sfdisk", "fdisk"), 8,
        ["-q", "{}"], "label: dos\n,1M\n", false, "MBR";
    a_sun_label_is_refused: require_tool("sfdisk", "fdisk"), 64,
        ["-q", "{}"], "label: sun\n", false, "Sun";
    an_sgi_label_is_refused: require_tool("sfdisk", "fdisk"), 64,
        ["-q", "{}"], "label: sgi\n", false, "SGI";
    a_physical_volume_of_lvm_is_refused: require_tool("pvcreate", "lvm2"), 16,
        ["--yes", "--quiet", "--config", LVM, "{}"], "", true, "LVM2 physical volume";
    a_backing_device_of_bcache_is_refused: require_tool("make-bcache", "bcache-tools"), 16,
        ["-B", "{}"], "", true, "bcache";
    // Of these the first part is gone, as on a disk that somebody wants to recover.
    a_backup_superblock_of_ext4_is_refused: require_tool("mkfs.ext4", "e2fsprogs"), 16,
        ["-q", "-F", "-t", "ext4", "-b", "1024", "{}"], "", false, "copy of the superblock of an ext4 filesystem", wiped MIB;
    a_secondary_superblock_of_xfs_is_refused: require_tool("mkfs.xfs", "xfsprogs"), 320,
        ["-q", "{}"], "", false, "copy of the superblock of an XFS filesystem", wiped MIB;
    the_last_boot_sector_of_ntfs_is_refused: require_tool("mkfs.ntfs", "ntfs-3g"), 64,
        ["-F", "-q", "-Q", "{}"], "", false, "copy of the boot sector of an NTFS filesystem", wiped MIB;
    the_backup_boot_sector_of_fat32_is_refused: require_tool("mkfs.vfat", "dosfstools"), 64,
        ["-F", "32", "{}"], "", false, "copy of the boot sector of a FAT32 filesystem", wiped 512;
    the_backup_boot_sector_of_exfat_is_refused: require_tool("mkfs.exfat", "exfatprogs"), 16,
        ["{}"], "", false, "copy of the boot sector of an exFAT filesystem", wiped 6 * KIB;
}

/// Makes the image, and has every attempt to write to a device over it refused.
fn refused(maker: &Maker) {
    or_skip!(require_root());
    let case = Case::new();
    let image = case.path("image");
    let folder = case.folder("content");
    fs::write(folder.join("file"), vec![7; 100_000]).expect("a file");
    if maker.size > 0 {
        zeros(&image, maker.size * MIB);
    }
    if maker.on_device {
        let device = or_skip!(Attached::new(&image, &[]));
        or_skip!(maker.make(&device.path, &folder));
    } else {
        or_skip!(maker.make(&image, &folder));
    }
    let file = File::options()
        .write(true)
        .open(&image)
        .expect("the image that was made");
    let length = file.metadata().expect("its length").len();
    // A device has room for the attempts.
    file.set_len(length.max(4 * MIB)).expect("its length");
    let wiped = usize::try_from(maker.wiped).expect("a few pages");
    file.write_all_at(&vec![0; wiped], 0).expect("zeros");
    let removal = if wiped > 0 {
        "dd if=/dev/zero"
    } else {
        "wipefs --all"
    };
    carries(&case, &image, (maker.said, removal));
}

impl Maker {
    fn make(&self, image: &Path, folder: &Path) -> Result<(), Missing> {
        let tool = self.tool.clone()?;
        let mut child = Command::new(&tool)
            .args(self.arguments.iter().map(|argument| match *argument {
                "{}" => image.as_os_str(),
                "FOLDER" => folder.as_os_str(),
                other => other.as_ref(),
            }))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| Missing::new(tool.display(), error))?;
        // A tool that asks nothing may have ended.
        let _ = child
            .stdin
            .take()
            .expect("a pipe")
            .write_all(self.input.as_bytes());
        let output = child.wait_with_output().expect("the end of the tool");
        if output.status.success() {
            return Ok(());
        }
        Err(Missing::new(
            format_args!("{} that works here", tool.display()),
            String::from_utf8_lossy(&output.stderr).replace('\n', " "),
        ))
    }
}

/// A device over this image is refused for this mark, with what removes it, and accepted
/// when it holds zeros.
#[track_caller]
fn carries(case: &Case, image: &Path, (mark, removal): (&str, &str)) {
    let device = or_skip!(Attached::new(image, &[]));
    let said = format!("{} carries data: {mark}", device.name());
    let mut attempts = Attempts::new(case, "a mark", [image]);
    attempts.refused_by_both(&device.path, &[&said, removal]);
    attempts.end();
    drop(device);
    let length = image.metadata().expect("the image").len();
    zeros(image, length);
    let device = or_skip!(Attached::new(image, &[]));
    let before = sum(image);
    let other = Case::new();
    Door::Dd.program(&other, &device.path).run().expect_code(0);
    assert_ne!(sum(image), before);
}

/// A mark that is fixed bytes at a place; a negative place counts from the end.
type Mark = (&'static str, i64, &'static [u8]);

/// What no tool here makes: each by the description of its format.
const BY_HAND: [Mark; 24] = [
    ("CramFS", 0, &0x28CD_3D45_u32.to_le_bytes()),
    ("romfs", 0, b"-rom1fs-"),
    ("OCFS2", 4096, b"OCFSV2"),
    ("APFS", 32, b"NXSB"),
    ("HFS+", 1024, b"H+\0\x04"),
    ("BitLocker", 3, b"-FVE-FS-"),
    ("dm-integrity", 0, b"integrt\0"),
    ("dm-verity", 0, b"verity\0\0"),
    ("VDO", 0, b"dmvdo001"),
    ("Stratis", 516, b"!Stra0tis\x86\xff\x02^\x41rh"),
    (
        "bcachefs",
        4096 + 24,
        b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef",
    ),
    ("Ceph BlueStore", 0, b"bluestore block device\n"),
    ("Oracle ASM", 32, b"ORCLDISK"),
    ("hibernated system", 4086, b"S1SUSPEND"),
    ("DDF RAID", -512, &0xDE11_DE11_u32.to_be_bytes()),
    ("Intel Matrix RAID", -1024, b"Intel Raid ISM Cfg Sig. "),
    ("DRBD 8", -4096 + 60, &[0x83, 0x74, 0x02, 0x6B]),
    ("Linux RAID 0.90", -65536, &0xA92B_4EFC_u32.to_le_bytes()),
    ("Linux RAID 1.0", -8192, &MD_1),
    ("Linux RAID 1.1", 0, &MD_1),
    ("Linux RAID 1.2", 4096, &MD_1),
    ("ZFS member", 133 * 1024, &0x00BA_B10C_u64.to_le_bytes()),
    ("ZFS member", -(384 * 1024), &0x00BA_B10C_u64.to_le_bytes()),
    ("backup GPT", -512, b"EFI PART"),
];

/// A superblock of md from version 1 on.
const MD_1: [u8; 8] = [0xFC, 0x4E, 0x2B, 0xA9, 1, 0, 0, 0];

/// Attempts of the test with them.
pub(super) const BY_HAND_ATTEMPTS: usize = BY_HAND.len() * Door::OF_EACH_KIND.len();

#[test]
fn every_mark_that_no_tool_here_makes_is_refused() {
    or_skip!(require_root());
    for (name, place, bytes) in BY_HAND {
        let case = Case::new();
        let image = case.path("image");
        zeros(&image, 4 * MIB);
        let place = u64::try_from(place).unwrap_or(4 * MIB - place.unsigned_abs());
        File::options()
            .write(true)
            .open(&image)
            .and_then(|file| file.write_all_at(bytes, place))
            .expect("writing the mark");
        carries(&case, &image, (name, "wipefs --all"));
    }
}
