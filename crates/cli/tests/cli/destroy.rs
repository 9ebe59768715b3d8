//! `--destroy-data-on`: what is refused all the same, and what it does when
//! nothing stands in the way.

use crate::support::{Case, MIB, hash, run_tool, trials, write_data};
use diskfacts_testkit::{
    DeviceClaim, FilesystemKind, LoopDevice, LoopOptions, MountedFilesystem, or_skip,
};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Must be refused, saying this, and change no byte of the device's file.
#[track_caller]
fn refuses(device: &LoopDevice, target: &Path, said: &[&str]) {
    let case = Case::new();
    let before = hash(device.backing_file());
    let program = case
        .diskfacts(["measure", "--time", "1s", "--destroy-data-on"])
        .args([target, target]);
    let mut all = vec!["despite --destroy-data-on", "Nothing was written"];
    all.extend(said);
    case.refuses(&program, &all);
    assert_eq!(hash(device.backing_file()), before);
}

#[test]
fn a_mounted_device_is_refused_with_its_mount_point() {
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 32 * MIB));
    let umount = format!("umount {}", mounted.path().display());
    let device = mounted.device();
    refuses(
        device,
        device.path(),
        &["is mounted on", &umount, "ext4 filesystem"],
    );
}

#[test]
fn a_device_of_which_a_partition_is_mounted_is_refused() {
    let options = LoopOptions {
        partitions: true,
        ..LoopOptions::default()
    };
    let device = or_skip!(LoopDevice::with(64 * MIB, options));
    let path = device.path().to_string_lossy().into_owned();
    // Told by hand, because not every kernel reads partition tables; without a
    // table, the mounted partition is all that stands in the way.
    or_skip!(run_tool(
        "addpart",
        "util-linux",
        &[&path, "1", "2048", "100000"]
    ));
    let partition = format!("{path}p1");
    or_skip!(run_tool(
        "mkfs.ext4",
        "e2fsprogs",
        &["-q", "-F", &partition]
    ));
    let at = device.scratch().join("at");
    std::fs::create_dir(&at).expect("a folder");
    let at = at.to_string_lossy().into_owned();
    // Nothing of it is written by itself while the sums are taken.
    let quiet = ["-o", "noinit_itable", &partition, &at];
    or_skip!(run_tool("mount", "mount", &quiet));
    or_skip!(run_tool("sync", "coreutils", &["-f", &at]));
    let refused = std::panic::catch_unwind(|| {
        let name = format!("{}p1", device.name());
        refuses(
            &device,
            device.path(),
            &[&name, "is mounted on", &format!("umount {at}")],
        );
        // Nor the partition itself.
        refuses(&device, Path::new(&partition), &[&name, "is mounted on"]);
    });
    or_skip!(run_tool("umount", "mount", &[&at]));
    if let Err(panic) = refused {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn a_device_that_carries_a_filesystem_is_refused() {
    let device = or_skip!(LoopDevice::new(32 * MIB));
    let path = device.path().to_string_lossy();
    or_skip!(run_tool("mkfs.ext4", "e2fsprogs", &["-q", "-F", &path]));
    refuses(
        &device,
        device.path(),
        &[
            "carries data: ext4 filesystem (mark at byte 1080)",
            &format!("wipefs --all {path}"),
        ],
    );
}

#[test]
fn a_device_that_carries_the_mark_of_luks_raid_or_partitions_is_refused() {
    let mut mbr = [0_u8; 512];
    // One Linux partition from sector 2048 on.
    mbr[446 + 4] = 0x83;
    mbr[446 + 8..446 + 12].copy_from_slice(&2048_u32.to_le_bytes());
    mbr[446 + 12..446 + 16].copy_from_slice(&4096_u32.to_le_bytes());
    mbr[510..].copy_from_slice(&[0x55, 0xaa]);
    let mut raid = [0_u8; 64];
    raid[..4].copy_from_slice(&0xa92b_4efc_u32.to_le_bytes());
    raid[4..8].copy_from_slice(&1_u32.to_le_bytes());
    let marks: [(&str, u64, &[u8]); 4] = [
        ("LUKS2", 0, b"LUKS\xba\xbe\x00\x02"),
        ("Linux RAID 1.2", 4096, &raid),
        ("partition table", 0, &mbr),
        ("LVM2", 512, b"LABELONE"),
    ];
    for (name, offset, mark) in marks {
        let device = or_skip!(LoopDevice::new(32 * MIB));
        File::options()
            .write(true)
            .open(device.path())
            .and_then(|file| {
                file.write_all_at(mark, offset)?;
                // A block device takes whole blocks; the cache holds the rest.
                file.sync_all()
            })
            .expect("writing the mark");
        refuses(&device, device.path(), &["carries", name, "wipefs"]);
    }
}

#[test]
fn a_device_that_somebody_holds_for_himself_is_refused() {
    let device = or_skip!(LoopDevice::new(32 * MIB));
    let holder = DeviceClaim::on(device.path()).expect("nobody else holds it");
    refuses(&device, device.path(), &["is held by someone"]);
    holder.release();
}

#[test]
fn nobody_can_mount_a_device_while_it_is_written() {
    let case = Case::new();
    let device = or_skip!(LoopDevice::new(32 * MIB));
    let running = case
        .diskfacts(["measure", "--time", "10s", "--stage", "random-write-qd1"])
        .arg("--destroy-data-on")
        .args([device.path(), device.path()])
        .start();
    case.wait_for_a_trial(&running);
    let claim = DeviceClaim::on(device.path());
    running.interrupt();
    running.finish().expect_code(130);
    let error = claim.expect_err("it is claimed").raw_os_error();
    assert_eq!(error, Some(rustix::io::Errno::BUSY.raw_os_error()));
}

#[test]
fn only_the_target_itself_may_be_named() {
    let case = Case::new();
    let (target, other) = (case.data_file("target", MIB), case.data_file("other", MIB));
    let folder = case.folder("data");
    let measure = |named: &Path, target: &Path| {
        case.diskfacts(["measure", "--time", "1s", "--destroy-data-on"])
            .args([named, target])
    };
    case.refuses(
        &measure(&other, &target),
        &[
            "--destroy-data-on names",
            "other",
            "but the target is",
            "nothing was written",
        ],
    );
    case.refuses(
        &measure(&folder, &target),
        &["--destroy-data-on names", "but the target is"],
    );
    case.refuses(
        &measure(&case.path("missing"), &target),
        &["missing", "No such file"],
    );
    for named in [&folder, &target] {
        case.refuses(
            &measure(named, &folder),
            &["is a folder", "destroys nothing", "drop --destroy-data-on"],
        );
    }
}

#[test]
fn a_file_on_which_a_loop_device_stands_is_refused() {
    let case = Case::new();
    let device = or_skip!(LoopDevice::new(16 * MIB));
    write_data(device.backing_file(), 16 * MIB);
    let before = hash(device.backing_file());
    case.refuses(
        &case
            .diskfacts(["measure", "--time", "1s", "--destroy-data-on"])
            .args([device.backing_file(), device.backing_file()]),
        &[
            "is the file of the loop device",
            &format!("losetup --detach {}", device.path().display()),
        ],
    );
    assert_eq!(hash(device.backing_file()), before);
}

#[test]
fn a_fresh_device_is_written_when_it_is_named() {
    let case = Case::new();
    let device = or_skip!(LoopDevice::new(64 * MIB));
    let before = hash(device.backing_file());
    case.diskfacts(["measure", "--time", "3s", "--destroy-data-on"])
        .args([device.path(), device.path()])
        .run()
        .expect_code(0)
        .expect_stdout("random-write-qd32")
        .expect_stdout("log-write");
    assert_ne!(hash(device.backing_file()), before);
    let document = case.last();
    assert_eq!(document["target"]["kind"], "device");
    assert_eq!(document["target"]["writable"], true);
    assert_eq!(
        document["plan"]["stages"].as_array().map(Vec::len),
        Some(12)
    );
    assert!(trials(&document).iter().all(|trial| trial["errors"] == 0));
}

#[test]
fn an_existing_file_is_written_when_it_is_named_and_keeps_its_size() {
    let case = Case::new();
    let file = case.data_file("file", 8 * MIB);
    let before = hash(&file);
    // Another way to write the same path names the same target.
    let link = case.path("link");
    std::os::unix::fs::symlink(&file, &link).expect("a link");
    case.diskfacts(["measure", "--time", "2s", "--destroy-data-on"])
        .args([&link, &file])
        .run()
        .expect_code(0);
    let after = hash(&file);
    assert_eq!(after.0, before.0);
    assert_ne!(after.1, before.1);
}

#[test]
fn a_read_only_device_says_so_instead_of_failing_later() {
    let options = LoopOptions {
        read_only: true,
        ..LoopOptions::default()
    };
    let device = or_skip!(LoopDevice::with(16 * MIB, options));
    let case = Case::new();
    case.refuses(
        &case
            .diskfacts(["measure", "--time", "1s", "--destroy-data-on"])
            .args([device.path(), device.path()]),
        &["is not written", "read-only"],
    );
}
