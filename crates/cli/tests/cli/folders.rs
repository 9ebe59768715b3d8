//! Folders in which diskfacts makes its own file: where it may not, where it
//! cannot, and that nothing of it stays.

use crate::nobody::ForNobody;
use crate::support::{
    Case, Content, MIB, diskfacts, free_blocks, one_stage, rules, trials, write_data,
};
use diskfacts_testkit::{
    FilesystemKind, LoopDevice, Missing, MountedFilesystem, Program, Throttle, ThrottleGroup,
    Tmpfs, or_skip, require_root, require_tool, skip,
};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Must say that nothing may be written there, and make nothing.
#[track_caller]
fn may_not_write(program: &Program, folder: &Path) {
    let finished = program.run();
    finished
        .expect_code(2)
        .expect_stderr(&format!("making a file in {}", folder.display()))
        .expect_stderr("Permission denied")
        .expect_stderr("name a folder of your own");
    assert_eq!(finished.stdout, "");
    assert_eq!(fs::read_dir(folder).expect("the folder").count(), 0);
}

#[test]
fn a_folder_that_may_not_be_written_says_whose_folder_would_do() {
    if require_root().is_err() {
        // For who is not root, a folder of his own without the right to write.
        let case = Case::new();
        let folder = case.folder("data");
        fs::set_permissions(&folder, Permissions::from_mode(0o555)).expect("rights");
        may_not_write(&case.diskfacts(["measure"]).arg(&folder), &folder);
        assert!(!case.store().exists());
        return;
    }
    let others = or_skip!(ForNobody::new());
    let folder = others.scratch.join("roots");
    fs::create_dir(&folder).expect("a folder");
    fs::set_permissions(&folder, Permissions::from_mode(0o755)).expect("rights");
    let program = others.diskfacts(&["measure", &folder.to_string_lossy()]);
    may_not_write(&program, &folder);
    assert!(!others.scratch.join("own/runs.db").exists());
}

/// What could not be observed, over all trials.
fn unseen(document: &Value) -> BTreeSet<String> {
    let evidence = trials(document).iter().map(|trial| &trial["evidence"]);
    evidence
        .flat_map(|evidence| evidence["unseen"].as_array().expect("a list"))
        .map(|unseen| unseen["what"].to_string())
        .collect()
}

#[test]
fn a_user_without_rights_measures_a_folder_of_his_own_and_sees_as_much_as_root() {
    let others = or_skip!(ForNobody::new());
    let own = others.scratch.join("own");
    let words = ["measure", "--time", "2s", "--size", "16MiB"];
    let folder = own.to_string_lossy();
    others
        .diskfacts(&[&words[..], &[&folder]].concat())
        .run()
        .expect_code(0);
    let shown = others.diskfacts(&["show", "--json"]).run();
    shown.expect_code(0);
    let document: Value = serde_json::from_str(&shown.stdout).expect("JSON");
    assert_eq!(document["machine"]["root"], false);
    assert_eq!(document["run"]["status"], "complete");

    let case = Case::new();
    case.diskfacts(words).arg(&own).run().expect_code(0);
    let by_root = case.last();
    assert_eq!(by_root["machine"]["root"], true);
    assert_eq!(unseen(&document), unseen(&by_root));
}

#[test]
fn a_user_who_may_not_read_a_device_is_told_who_may() {
    let others = or_skip!(ForNobody::new());
    let device = or_skip!(LoopDevice::new(16 * MIB));
    fs::set_permissions(device.path(), Permissions::from_mode(0o600)).expect("rights");
    let path = device.path().to_string_lossy();
    others
        .diskfacts(&["measure", "--time", "1s", &path])
        .run()
        .expect_code(2)
        .expect_stderr(&path)
        .expect_stderr("Permission denied")
        .expect_stderr("root");
}

#[test]
fn on_a_read_only_filesystem_it_says_how_to_measure_there() {
    let case = Case::new();
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 64 * MIB));
    let file = mounted.path().join("file");
    write_data(&file, 8 * MIB);
    or_skip!(mounted.remount_read_only());
    let before = Content::of(mounted.path());
    case.refuses(
        &case
            .diskfacts(["measure", "--time", "1s"])
            .arg(mounted.path()),
        &[
            "mounted for reading only",
            "Name a file in it",
            &format!("mount -o remount,rw {}", mounted.path().display()),
        ],
    );
    // As it says: a file in it can be read.
    case.diskfacts(["measure", "--time", "1s", "--stage", "random-read-qd1"])
        .arg(&file)
        .run()
        .expect_code(0);
    assert_eq!(Content::of(mounted.path()), before);
}

#[test]
fn on_a_full_filesystem_it_says_how_much_is_free() {
    let case = Case::new();
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 64 * MIB));
    let filler = fs::File::create(mounted.path().join("filler")).expect("a file");
    let piece = vec![1_u8; 1 << 20];
    while std::io::Write::write_all(&mut &filler, &piece).is_ok() {}
    drop(filler);
    let (before, free) = (Content::of(mounted.path()), free_blocks(mounted.path()));
    let folder = mounted.path().to_string_lossy();
    for size in [&[][..], &["--size", "8MiB"]] {
        let finished = case
            .diskfacts(["measure", "--time", "1s"])
            .args(size)
            .arg(mounted.path())
            .run();
        finished
            .expect_code(1)
            .expect_stderr(&format!("{folder} has "))
            .expect_stderr("free");
        assert_eq!(finished.stdout, "", "{finished}");
    }
    assert_eq!(Content::of(mounted.path()), before);
    assert_eq!(free_blocks(mounted.path()), free);
    assert!(!case.store().exists());
}

#[test]
fn a_size_that_does_not_fit_is_answered_with_one_that_does() {
    let case = Case::new();
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 128 * MIB));
    let measure = |size: &str| {
        case.diskfacts(["measure", "--time", "1s", "--size", size])
            .arg(mounted.path())
            .run()
    };
    let refused = measure("10GiB");
    refused
        .expect_code(1)
        .expect_stderr("no room for a file of 10 GiB");
    let (_, fits) = refused
        .stderr
        .rsplit_once("--size ")
        .expect("a size that fits");
    measure(fits.trim()).expect_code(0);
}

#[test]
fn a_small_filesystem_gets_a_smaller_file_and_keeps_a_reserve() {
    let case = Case::new();
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 128 * MIB));
    let (before, free) = (Content::of(mounted.path()), free_blocks(mounted.path()));
    case.diskfacts(["measure", "--explain", "--time", "2s"])
        .arg(mounted.path())
        .run()
        .expect_code(0)
        .expect_stdout("instead of 1 GiB");
    let document = case.last();
    let notes = document["run"]["notes"].to_string();
    assert!(notes.contains("stay free for others"), "{notes}");
    let size = document["target"]["size_bytes"].as_u64().expect("a size");
    assert!((16 * MIB..110 * MIB).contains(&size), "{size}");
    // Nothing stays, and what was taken is free again at once.
    assert_eq!(Content::of(mounted.path()), before);
    assert_eq!(free_blocks(mounted.path()), free);
}

#[test]
fn on_a_slow_disk_the_file_is_made_as_large_as_a_third_of_the_time_allows() {
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 256 * MIB));
    // What is under way when the time is over still ends: 8 of 1 MiB.
    let throttle = Throttle {
        write_bytes_per_s: Some(8 * MIB),
        ..Throttle::default()
    };
    let group = or_skip!(ThrottleGroup::new(mounted.device(), throttle));
    let free = free_blocks(mounted.path());
    let case = Case::new();
    // A plan of one's own, whose stage is of the whole file, however large that
    // becomes.
    let plan = case.text_file(
        "plan.toml",
        &one_stage("operation = \"read\"\noperations = 10"),
    );
    case.diskfacts(["measure", "--time", "3s", "--size", "128MiB", "--plan"])
        .args([plan.as_path(), mounted.path()])
        .inside(&group)
        .run()
        .expect_code(0);
    let document = case.last();
    let notes = document["run"]["notes"].to_string();
    assert!(
        notes.contains("instead of 128 MiB: filling it is given a third"),
        "{notes}"
    );
    let size = document["target"]["size_bytes"].as_u64().expect("a size");
    assert!((8 * MIB..64 * MIB).contains(&size), "{size}");
    assert_eq!(trials(&document)[0]["workload"]["span"], size);
    assert_eq!(free_blocks(mounted.path()), free);
}

#[test]
fn the_filesystem_can_be_unmounted_right_after_a_measurement() {
    let case = Case::new();
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 64 * MIB));
    let folder = mounted.path().to_owned();
    case.diskfacts(["measure", "--time", "1s", "--stage", "random-read-qd32"])
        .arg(&folder)
        .run()
        .expect_code(0);
    let umount = or_skip!(require_tool("umount", "mount"));
    let done = std::process::Command::new(umount)
        .arg(&folder)
        .output()
        .expect("running umount");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    // So that there is something to unmount when it is dropped.
    let mount = or_skip!(require_tool("mount", "mount"));
    let again = std::process::Command::new(mount)
        .args([mounted.device().path(), &folder])
        .status();
    assert!(again.expect("running mount").success());
}

#[test]
fn other_filesystems_are_measured_too_and_nothing_stays() {
    for (kind, size) in [
        (FilesystemKind::Xfs, 320 * MIB),
        (FilesystemKind::Btrfs, 256 * MIB),
        (FilesystemKind::Vfat, 64 * MIB),
    ] {
        let case = Case::new();
        let mounted = match MountedFilesystem::new(kind, size) {
            Ok(mounted) => mounted,
            Err(missing) => {
                skip(&missing.to_string());
                continue;
            }
        };
        let before = Content::of(mounted.path());
        case.diskfacts(["measure", "--time", "2s", "--size", "16MiB"])
            .arg(mounted.path())
            .run()
            .expect_code(0);
        let document = case.last();
        assert_eq!(document["run"]["status"], "complete", "{kind:?}");
        assert_eq!(Content::of(mounted.path()), before, "{kind:?}");
        let errors: u64 = trials(&document)
            .iter()
            .filter_map(|trial| trial["errors"].as_u64())
            .sum();
        assert_eq!(errors, 0, "{kind:?}");
    }
}

/// Requests to flush that a device has completed: the 19th field of its line in
/// /proc/diskstats (Documentation/admin-guide/iostats.rst, since Linux 5.5).
fn flushes(device: &LoopDevice) -> u64 {
    let table = fs::read_to_string("/proc/diskstats").expect("the table of disks");
    let mut rows = table.lines().map(|line| line.split_whitespace());
    let mut row = rows
        .find(|row| row.clone().nth(2) == Some(device.name()))
        .expect("the row of the device");
    let field = row.nth(18).expect("the field of flushes");
    field.parse().expect("a number")
}

/// The names in a folder.
fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    entries
        .map(|entry| name(entry.expect("an entry")))
        .collect()
}

#[test]
fn on_btrfs_each_fdatasync_is_of_a_file_with_a_name_and_flushes_the_device() {
    let case = Case::new();
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Btrfs, 256 * MIB));
    let before = Content::of(mounted.path());
    let flushed = flushes(mounted.device());
    case.measure_stage(
        mounted.path(),
        "operation = \"write\"\npattern = \"sequential\"\nsync = \"fdatasync\"\noperations = 100",
    )
    .args(["--size", "16MiB"])
    .run()
    .expect_code(0);
    let flushed = flushes(mounted.device()) - flushed;
    assert!(flushed >= 100, "{flushed} flushes of 100 syncs");
    let document = case.last();
    let notes = document["run"]["notes"].to_string();
    assert!(notes.contains("The file has a name here"), "{notes}");
    assert!(!rules(&document).contains(&"sync-without-flush"));
    assert_eq!(Content::of(mounted.path()), before);
    // Where a file without a name is synced as any other, it gets none.
    let folder = case.folder("data");
    case.diskfacts([
        "measure",
        "--time",
        "1s",
        "--size",
        "8MiB",
        "--stage",
        "random-read-qd1",
    ])
    .arg(&folder)
    .run()
    .expect_code(0);
    let other = case.last();
    let named = other["run"]["notes"].to_string().contains("has a name");
    let plain = ["ext4", "ext3", "ext2", "xfs", "tmpfs"];
    let kind = other["stack"]["filesystem"]["kind"].as_str();
    assert_eq!(
        named,
        !kind.is_some_and(|kind| plain.contains(&kind)),
        "{kind:?}"
    );
}

#[test]
fn a_survey_on_a_small_btrfs_takes_a_file_that_can_be_written_anew_beside_itself() {
    let case = Case::new();
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Btrfs, 400 * MIB));
    let before = Content::of(mounted.path());
    case.diskfacts(["measure", "--time", "20s"])
        .arg(mounted.path())
        .run()
        .expect_code(0);
    let document = case.last();
    assert_eq!(document["run"]["status"], "complete");
    for trial in trials(&document) {
        assert_eq!(trial["errors"], 0, "{}", trial["stage"]);
    }
    let notes = document["run"]["notes"].to_string();
    assert!(
        notes.contains("as much again for what is overwritten"),
        "{notes}"
    );
    assert_eq!(Content::of(mounted.path()), before);
}

#[test]
fn a_file_with_a_name_is_gone_after_ctrl_c_and_after_a_kill_with_the_next_start() {
    let case = Case::new();
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Btrfs, 256 * MIB));
    let measured = |time: &str| {
        let stage = [
            "--stage",
            "random-read-qd1",
            "--size",
            "16MiB",
            "--time",
            time,
        ];
        case.diskfacts(["measure"]).args(stage).arg(mounted.path())
    };
    let has_file = || !names(mounted.path()).is_empty();

    let running = measured("60s").start();
    running.wait_until("a file in the folder", has_file);
    running.interrupt();
    running.finish().expect_code(130);
    assert_eq!(names(mounted.path()), BTreeSet::new());

    let running = measured("60s").start();
    running.wait_until("a file in the folder", has_file);
    running.kill();
    running.finish();
    let left = names(mounted.path());
    assert_eq!(left.len(), 1, "{left:?}");
    measured("1s").run().expect_code(0);
    assert_eq!(names(mounted.path()), BTreeSet::new());
    let notes = case.last()["run"]["notes"].to_string();
    for name in left {
        let said = format!("{name}, which a killed diskfacts had left");
        assert!(notes.contains(&said), "{notes}");
    }
}

#[test]
fn figures_of_memory_are_labelled_and_no_device_is_invented() {
    let case = Case::new();
    let tmpfs = or_skip!(Tmpfs::new(64 * MIB));
    case.diskfacts(["measure", "--explain", "--time", "2s"])
        .arg(tmpfs.path())
        .run()
        .expect_code(0)
        .expect_stdout("on no block device")
        .expect_stdout("The target lies in memory");
    let document = case.last();
    let claim = document["findings"][0]["claim"].as_str().expect("a claim");
    assert!(claim.contains("these figures are not of a disk"), "{claim}");
    assert_eq!(
        document["stack"]["devices"].as_array().map(Vec::len),
        Some(0)
    );
    assert!(rules(&document).contains(&"served-from-cache"));
    for trial in trials(&document) {
        assert_eq!(trial["layers"]["page_cache"], 1.0, "{trial}");
        assert_eq!(trial["layers"]["device"], 0.0, "{trial}");
        assert_eq!(
            trial["evidence"]["devices"].as_array().map(Vec::len),
            Some(0)
        );
    }
    // A disk that is not there cannot be good enough for anything.
    let verdicts = document["verdicts"].as_array().expect("a list");
    assert!(verdicts.iter().all(|verdict| verdict["outcome"] != "pass"));
    assert_eq!(fs::read_dir(tmpfs.path()).expect("the folder").count(), 0);
}

#[test]
fn a_folder_is_the_same_after_a_measurement() {
    let case = Case::new();
    let folder = case.folder("data");
    fs::write(folder.join("precious"), b"data").expect("a file");
    let before = Content::of(&folder);
    case.diskfacts(["measure", "--time", "1s", "--size", "8MiB"])
        .arg(&folder)
        .run()
        .expect_code(0);
    assert_eq!(Content::of(&folder), before);
}

#[test]
fn a_bare_target_is_measured_as_with_the_command() {
    let case = Case::new();
    case.folder("data");
    diskfacts([
        "data",
        "--time",
        "1s",
        "--size",
        "8MiB",
        "--stage",
        "random-read-qd1",
        "--store",
        "runs.db",
    ])
    .current_dir(case.path(""))
    .run()
    .expect_code(0)
    .expect_stdout("random-read-qd1");
    assert_eq!(case.last()["target"]["given"], "data");
}

/// Measures a folder where this folder of the kernel's is not mounted.
fn without(case: &Case, hidden: &str) -> Result<diskfacts_testkit::Finished, Missing> {
    require_root()?;
    let unshare = require_tool("unshare", "util-linux")?;
    let script = "umount -l \"$1\" && shift && exec \"$@\"";
    let program = Program::new(unshare)
        .args(["--mount", "sh", "-c", script, "sh", hidden])
        .arg(env!("CARGO_BIN_EXE_diskfacts"))
        .arg("--store")
        .arg(case.store())
        .arg("measure")
        .arg(case.folder("data"))
        .args([
            "--size",
            "4MiB",
            "--time",
            "1s",
            "--stage",
            "random-read-qd1",
        ]);
    Ok(program.run())
}

#[test]
fn where_sysfs_is_hidden_devices_are_unseen_and_not_absent() {
    let case = Case::new();
    let measured = or_skip!(without(&case, "/sys"));
    measured
        .expect_code(0)
        .expect_stdout("on devices that could not be seen");
    assert!(!measured.stdout.contains("no block device"), "{measured}");
}

#[test]
fn where_proc_is_hidden_nothing_is_measured_and_the_reason_is_told() {
    let case = Case::new();
    let refused = or_skip!(without(&case, "/proc"));
    refused
        .expect_code(2)
        .expect_stderr("`mount -t proc proc /proc`");
}
