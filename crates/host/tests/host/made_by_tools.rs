//! Marks left by the tools that make filesystems, volumes and partition tables,
//! on files; compared with what libblkid sees, where it is there.

use crate::alone::alone;
use diskfacts_host::{Signature, signatures};
use diskfacts_testkit::{LoopDevice, Missing, Scratch, or_skip, require_tool};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const MIB: u64 = 1 << 20;

/// A file in a folder that goes away with it.
struct Image {
    _scratch: Scratch,
    path: PathBuf,
}

impl Image {
    fn new(size: u64) -> Result<Self, Missing> {
        let scratch = Scratch::new()?;
        let path = scratch.join("image");
        let file = File::create(&path).expect("a file");
        file.set_len(size).expect("a sparse file");
        Ok(Self {
            path,
            _scratch: scratch,
        })
    }

    fn marks(&self) -> Vec<Signature> {
        let bytes = fs::read(&self.path).expect("the image");
        let probed = signatures(&bytes);
        assert!(probed.unread.is_empty());
        probed.found
    }

    fn names(&self) -> Vec<&'static str> {
        self.marks()
            .iter()
            .map(|signature| signature.name)
            .collect()
    }
}

/// Runs a tool; `{}` among the arguments stands for `path`. What it says is
/// shown only when it fails, as a reason to skip: tools of other versions may
/// refuse what the test asks for.
fn run(tool: &Path, arguments: &[&str], path: &Path, input: &str) -> Result<(), Missing> {
    let path = path.to_str().expect("a plain path");
    let arguments = arguments
        .iter()
        .map(|argument| argument.replace("{}", path));
    let mut child = Command::new(tool)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| Missing::new(tool.display(), error))?;
    let answered = child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(input.as_bytes());
    // A tool that asks nothing may have ended before; its exit code says how.
    if let Err(error) = answered {
        assert_eq!(error.kind(), ErrorKind::BrokenPipe, "answering: {error}");
    }
    let output = child.wait_with_output().expect("the end of the tool");
    if output.status.success() {
        return Ok(());
    }
    Err(Missing::new(
        format_args!("{} that works here", tool.display()),
        String::from_utf8_lossy(&output.stderr).replace('\n', " "),
    ))
}

/// An image that a tool made.
fn made(
    tool: Result<PathBuf, Missing>,
    size: u64,
    arguments: &[&str],
    input: &str,
) -> Result<Image, Missing> {
    let tool = tool?;
    let image = Image::new(size)?;
    run(&tool, arguments, &image.path, input)?;
    Ok(image)
}

#[track_caller]
fn assert_marks(image: &Image, expected: &[&str]) {
    assert_eq!(image.names(), expected, "{:?}", image.marks());
}

#[track_caller]
fn assert_label(image: &Image, label: &str) {
    let mut labels: Vec<_> = image
        .marks()
        .into_iter()
        .filter_map(|mark| mark.label)
        .collect();
    // A copy has the same.
    labels.dedup();
    assert_eq!(labels, [label]);
}

#[test]
fn all_generations_of_ext_are_told_apart() {
    let _alone = alone();
    for [name, copy] in [
        ["ext2", "ext2 copy"],
        ["ext3", "ext3 copy"],
        ["ext4", "ext4 copy"],
    ] {
        let tool = require_tool("mkfs.ext4", "e2fsprogs");
        let arguments = ["-q", "-F", "-t", name, "-L", "my label", "{}"];
        let image = or_skip!(made(tool, 16 * MIB, &arguments, ""));
        assert_marks(&image, &[name, copy]);
        assert_label(&image, "my label");
    }
}

#[test]
fn a_journal_of_ext4_on_a_device_of_its_own_is_found() {
    let _alone = alone();
    let tool = require_tool("mke2fs", "e2fsprogs");
    let arguments = ["-q", "-F", "-O", "journal_dev", "{}"];
    let image = or_skip!(made(tool, 16 * MIB, &arguments, ""));
    assert_marks(&image, &["ext journal"]);
}

#[test]
fn xfs_is_found_with_its_label() {
    let _alone = alone();
    let tool = require_tool("mkfs.xfs", "xfsprogs");
    let image = or_skip!(made(tool, 512 * MIB, &["-q", "-L", "scratch", "{}"], ""));
    assert_marks(&image, &["XFS", "XFS copy"]);
    assert_label(&image, "scratch");
}

#[test]
fn btrfs_is_found_with_its_copy() {
    let _alone = alone();
    let tool = require_tool("mkfs.btrfs", "btrfs-progs");
    let image = or_skip!(made(tool, 128 * MIB, &["-q", "-L", "pool", "{}"], ""));
    assert_marks(&image, &["Btrfs", "Btrfs copy"]);
    assert_label(&image, "pool");
}

#[test]
fn swap_is_found_for_several_page_sizes() {
    let _alone = alone();
    for page in ["4096", "16384", "65536"] {
        let tool = require_tool("mkswap", "util-linux");
        let arguments = ["-q", "-p", page, "-L", "paging", "{}"];
        let image = or_skip!(made(tool, 4 * MIB, &arguments, ""));
        assert_marks(&image, &["Linux"]);
        assert_label(&image, "paging");
    }
}

#[test]
fn both_versions_of_luks_are_found() {
    let _alone = alone();
    for (version, marks) in [
        ("luks1", &["LUKS1"][..]),
        ("luks2", &["LUKS2", "LUKS2 copy"]),
    ] {
        let tool = require_tool("cryptsetup", "cryptsetup-bin");
        let arguments = [
            "luksFormat",
            "--batch-mode",
            "--type",
            version,
            "--pbkdf",
            "pbkdf2",
            "--pbkdf-force-iterations",
            "1000",
            "--key-file",
            "-",
            "{}",
        ];
        let image = or_skip!(made(tool, 32 * MIB, &arguments, "secret"));
        assert_marks(&image, marks);
    }
}

#[test]
fn the_second_header_of_luks_is_found_when_the_first_is_wiped() {
    let _alone = alone();
    let tool = require_tool("cryptsetup", "cryptsetup-bin");
    let arguments = [
        "luksFormat",
        "--batch-mode",
        "--type",
        "luks2",
        "--pbkdf",
        "pbkdf2",
        "--pbkdf-force-iterations",
        "1000",
        "--key-file",
        "-",
        "{}",
    ];
    let image = or_skip!(made(tool, 32 * MIB, &arguments, "secret"));
    let mut bytes = fs::read(&image.path).expect("the image");
    bytes[..4096].fill(0);
    let found = signatures(&bytes).found;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].name, "LUKS2 copy");
}

#[test]
fn a_gpt_is_found_at_both_ends() {
    let _alone = alone();
    let tool = require_tool("sfdisk", "fdisk");
    let image = or_skip!(made(tool, 8 * MIB, &["-q", "{}"], "label: gpt\n,1M\n,,\n"));
    assert_marks(&image, &["protective MBR", "GPT", "GPT copy"]);
}

#[test]
fn a_dos_partition_table_is_found_with_and_without_partitions() {
    let _alone = alone();
    let tool = || require_tool("sfdisk", "fdisk");
    let image = or_skip!(made(tool(), 8 * MIB, &["-q", "{}"], "label: dos\n,1M\n"));
    assert_marks(&image, &["MBR"]);
    let image = or_skip!(made(tool(), 8 * MIB, &["-q", "{}"], "label: dos\n"));
    assert_marks(&image, &["empty MBR"]);
}

#[test]
fn a_sun_label_is_found() {
    let _alone = alone();
    let tool = require_tool("sfdisk", "fdisk");
    let image = or_skip!(made(tool, 64 * MIB, &["-q", "{}"], "label: sun\n"));
    assert_marks(&image, &["Sun"]);
}

#[test]
fn an_sgi_label_is_found() {
    let _alone = alone();
    let tool = require_tool("sfdisk", "fdisk");
    let image = or_skip!(made(tool, 64 * MIB, &["-q", "{}"], "label: sgi\n"));
    assert_marks(&image, &["SGI"]);
}

#[test]
fn fat_is_found_in_all_sizes() {
    let _alone = alone();
    for (bits, marks) in [
        ("12", &["FAT"][..]),
        ("16", &["FAT"]),
        ("32", &["FAT32", "FAT32 copy"]),
    ] {
        let tool = require_tool("mkfs.vfat", "dosfstools");
        let arguments = ["-F", bits, "-n", "STICK", "{}"];
        let image = or_skip!(made(tool, 64 * MIB, &arguments, ""));
        assert_marks(&image, marks);
        assert_label(&image, "STICK");
    }
}

#[test]
fn exfat_is_found() {
    let _alone = alone();
    let tool = require_tool("mkfs.exfat", "exfatprogs");
    let image = or_skip!(made(tool, 64 * MIB, &["{}"], ""));
    assert_marks(&image, &["exFAT", "exFAT copy"]);
}

#[test]
fn ntfs_is_found() {
    let _alone = alone();
    let tool = require_tool("mkfs.ntfs", "ntfs-3g");
    let image = or_skip!(made(tool, 64 * MIB, &["-F", "-q", "-Q", "{}"], ""));
    assert_marks(&image, &["NTFS", "NTFS copy"]);
}

#[test]
fn f2fs_is_found_with_its_copy() {
    let _alone = alone();
    let tool = require_tool("mkfs.f2fs", "f2fs-tools");
    let image = or_skip!(made(tool, 128 * MIB, &["-q", "{}"], ""));
    assert_marks(&image, &["F2FS", "F2FS copy"]);
}

#[test]
fn jfs_is_found_with_its_copy() {
    let _alone = alone();
    let tool = require_tool("mkfs.jfs", "jfsutils");
    let image = or_skip!(made(tool, 64 * MIB, &["-q", "{}"], ""));
    assert_marks(&image, &["JFS", "JFS copy"]);
}

#[test]
fn reiserfs_is_found() {
    let _alone = alone();
    let tool = require_tool("mkreiserfs", "reiserfsprogs");
    let image = or_skip!(made(tool, 64 * MIB, &["-q", "-f", "-f", "{}"], "y\n"));
    assert_marks(&image, &["ReiserFS"]);
}

#[test]
fn nilfs_is_found() {
    let _alone = alone();
    let tool = require_tool("mkfs.nilfs2", "nilfs-tools");
    let image = or_skip!(made(tool, 256 * MIB, &["-q", "{}"], ""));
    assert_eq!(image.names()[0], "NILFS2");
}

#[test]
fn gfs2_is_found() {
    let _alone = alone();
    let tool = require_tool("mkfs.gfs2", "gfs2-utils");
    let arguments = ["-q", "-O", "-p", "lock_nolock", "{}"];
    let image = or_skip!(made(tool, 256 * MIB, &arguments, ""));
    assert_marks(&image, &["GFS2"]);
}

#[test]
fn udf_is_found() {
    let _alone = alone();
    let tool = require_tool("mkudffs", "udftools");
    let image = or_skip!(made(tool, 16 * MIB, &["{}"], ""));
    assert!(image.names().contains(&"UDF"), "{:?}", image.marks());
}

/// Images that are made of a folder, not on a device.
fn packed(tool: Result<PathBuf, Missing>, arguments: &[&str]) -> Result<Image, Missing> {
    let tool = tool?;
    let image = Image::new(0)?;
    let folder = image.path.with_extension("content");
    fs::create_dir(&folder).expect("a folder");
    fs::write(folder.join("file"), vec![7; 100_000]).expect("a file");
    fs::remove_file(&image.path).expect("removing the empty image");
    let folder = folder.to_str().expect("a plain path");
    let arguments: Vec<String> = arguments
        .iter()
        .map(|argument| argument.replace("FOLDER", folder))
        .collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    run(&tool, &arguments, &image.path, "")?;
    Ok(image)
}

#[test]
fn squashfs_is_found() {
    let _alone = alone();
    let tool = require_tool("mksquashfs", "squashfs-tools");
    let image = or_skip!(packed(tool, &["FOLDER", "{}", "-quiet"]));
    assert_marks(&image, &["SquashFS"]);
}

#[test]
fn erofs_is_found() {
    let _alone = alone();
    let tool = require_tool("mkfs.erofs", "erofs-utils");
    let image = or_skip!(packed(tool, &["{}", "FOLDER"]));
    assert_marks(&image, &["EROFS"]);
}

#[test]
fn iso_9660_is_found_with_its_label() {
    let _alone = alone();
    let tool = require_tool("genisoimage", "genisoimage");
    let image = or_skip!(packed(
        tool,
        &["-quiet", "-V", "MYDISC", "-o", "{}", "FOLDER"]
    ));
    assert_marks(&image, &["ISO 9660"]);
    assert_label(&image, "MYDISC");
}

/// Tools that only work on a block device, over a loop device.
fn made_on_device(
    tool: Result<PathBuf, Missing>,
    size: u64,
    arguments: &[&str],
) -> Result<(LoopDevice, Vec<&'static str>), Missing> {
    let tool = tool?;
    let device = LoopDevice::new(size)?;
    run(&tool, arguments, device.path(), "y\n")?;
    let bytes = fs::read(device.path()).expect("the device");
    let names = signatures(&bytes)
        .found
        .iter()
        .map(|signature| signature.name)
        .collect();
    Ok((device, names))
}

#[test]
fn a_physical_volume_of_lvm_is_found() {
    let _alone = alone();
    let tool = require_tool("pvcreate", "lvm2");
    let arguments = [
        "--yes",
        "--quiet",
        "--config",
        "devices{use_devicesfile=0 obtain_device_list_from_udev=0} activation{udev_sync=0 monitoring=0}",
        "{}",
    ];
    let (_device, names) = or_skip!(made_on_device(tool, 32 * MIB, &arguments));
    assert_eq!(names, ["LVM2 physical volume", "LVM2 copy"]);
}

#[test]
fn a_backing_device_of_bcache_is_found() {
    let _alone = alone();
    let tool = require_tool("make-bcache", "bcache-tools");
    let (_device, names) = or_skip!(made_on_device(tool, 32 * MIB, &["-B", "{}"]));
    assert_eq!(names, ["bcache"]);
}

#[test]
fn members_of_software_raid_are_found_in_all_versions() {
    let _alone = alone();
    let tool = or_skip!(require_tool("mdadm", "mdadm"));
    if !Path::new("/proc/mdstat").exists() {
        let md = Missing::new("software RAID in the kernel", "modprobe md_mod");
        diskfacts_testkit::skip(&md.to_string());
        return;
    }
    for (version, mark) in [
        ("0.90", "Linux RAID 0.90"),
        ("1.0", "Linux RAID 1.0"),
        ("1.1", "Linux RAID 1.1"),
        ("1.2", "Linux RAID 1.2"),
    ] {
        let device = or_skip!(LoopDevice::new(32 * MIB));
        let array = format!("/dev/md/diskfacts-test-{}", std::process::id());
        let metadata = format!("--metadata={version}");
        let create = [
            "--create",
            &array,
            "--run",
            "--force",
            &metadata,
            "--level=1",
            "--raid-devices=1",
            "{}",
        ];
        or_skip!(run(&tool, &create, device.path(), ""));
        or_skip!(run(&tool, &["--stop", &array], device.path(), ""));
        let bytes = fs::read(device.path()).expect("the device");
        let names: Vec<_> = signatures(&bytes)
            .found
            .iter()
            .map(|signature| signature.name)
            .collect();
        assert_eq!(names, [mark]);
    }
}
