//! `diskfacts devices`: what lies under a target.

use crate::support::{Case, MIB};
use diskfacts_testkit::{FilesystemKind, LoopDevice, MountedFilesystem, Tmpfs, or_skip};
use serde_json::Value;

fn json(case: &Case, target: &str) -> Value {
    let finished = case.run(["devices", "--json", target]);
    finished.expect_code(0);
    serde_json::from_str(&finished.stdout).expect("JSON")
}

#[test]
fn the_filesystem_of_a_folder_is_shown_with_its_devices() {
    let case = Case::new();
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 32 * MIB));
    let folder = mounted.path().to_string_lossy().into_owned();
    case.run(["devices", &folder])
        .expect_code(0)
        .expect_stdout(&format!("{folder}: a folder, may be written"))
        .expect_stdout("ext4")
        .expect_stdout(&format!("on {}: loop device", mounted.device().name()));
    let document = json(&case, &folder);
    assert_eq!(document["target"]["kind"], "folder");
    assert_eq!(document["stack"]["filesystem"]["kind"], "ext4");
    assert_eq!(
        document["stack"]["devices"][0]["path"],
        mounted.device().path().to_string_lossy().as_ref()
    );
    or_skip!(mounted.remount_read_only());
    case.run(["devices", &folder])
        .expect_code(0)
        .expect_stdout("a folder, may only be read");
}

#[test]
fn a_device_says_whether_it_may_be_written_and_what_uses_it() {
    let case = Case::new();
    let device = or_skip!(LoopDevice::new(32 * MIB));
    let path = device.path().to_string_lossy().into_owned();
    case.run(["devices", &path])
        .expect_code(0)
        .expect_stdout(&format!("{path}: a block device, 32 MiB, may be written"));
    assert_eq!(json(&case, &path)["target"]["writable"], true);

    let mounted = or_skip!(MountedFilesystem::on(device, FilesystemKind::Ext4, ""));
    case.run(["devices", &path])
        .expect_code(0)
        .expect_stdout("may only be read")
        .expect_stdout(&format!("mounted at {}", mounted.path().display()))
        .expect_stdout(&format!("umount {}", mounted.path().display()));
    let document = json(&case, &path);
    assert_eq!(document["target"]["writable"], false);
    let holders = document["stack"]["devices"][0]["holders"].to_string();
    assert!(holders.contains("mounted at"), "{holders}");
}

#[test]
fn a_device_that_carries_data_says_which() {
    let case = Case::new();
    let device = or_skip!(LoopDevice::new(32 * MIB));
    let mounted = or_skip!(MountedFilesystem::on(device, FilesystemKind::Ext4, ""));
    let device = mounted.unmount();
    let path = device.path().to_string_lossy().into_owned();
    case.run(["devices", &path])
        .expect_code(0)
        .expect_stdout("may only be read")
        .expect_stdout("ext4");
    let obstacles = json(&case, &path)["target"]["obstacles"].to_string();
    assert!(obstacles.contains("ext4"), "{obstacles}");
}

#[test]
fn without_a_target_every_device_is_listed() {
    let case = Case::new();
    let device = or_skip!(LoopDevice::new(16 * MIB));
    case.run(["devices"])
        .expect_code(0)
        .expect_stdout(&format!("{}: loop device, 16 MiB", device.name()));
}

#[test]
fn below_a_tmpfs_there_is_no_device() {
    let case = Case::new();
    let tmpfs = or_skip!(Tmpfs::new(16 * MIB));
    let folder = tmpfs.path().to_string_lossy().into_owned();
    case.run(["devices", &folder])
        .expect_code(0)
        .expect_stdout("tmpfs")
        .expect_stdout("memory");
    let document = json(&case, &folder);
    assert_eq!(document["stack"]["devices"], serde_json::json!([]));
}

#[test]
fn looking_changes_nothing_and_makes_no_store() {
    let case = Case::new();
    let file = case.data_file("file", MIB);
    let before = crate::support::Content::of(&case.path(""));
    case.run(["devices".as_ref(), file.as_os_str()])
        .expect_code(0)
        .expect_stdout("a file, 1 MiB");
    assert_eq!(crate::support::Content::of(&case.path("")), before);
}
