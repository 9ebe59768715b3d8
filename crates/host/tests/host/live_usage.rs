//! What holds real loop devices, and what they hold.

use crate::alone::alone;
use diskfacts_host::{Error, Obstacle, ObstacleKind, Roots, Usage, usage, usage_while_held};
use diskfacts_testkit::{
    FilesystemKind, LoopDevice, LoopOptions, MountedFilesystem, Scratch, or_skip, require_root,
    require_tool,
};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::process::{Command, Stdio};

const MIB: u64 = 1 << 20;

fn look(path: &Path) -> Usage {
    usage(&Roots::default(), path).expect("an answer")
}

fn kinds(usage: &Usage) -> Vec<&ObstacleKind> {
    usage
        .obstacles
        .iter()
        .map(|obstacle| &obstacle.kind)
        .collect()
}

fn marks(usage: &Usage) -> Vec<(&str, &str)> {
    usage
        .obstacles
        .iter()
        .filter_map(|obstacle| match &obstacle.kind {
            ObstacleKind::Signature(signature) => Some((&*obstacle.device, signature.name)),
            _ => None,
        })
        .collect()
}

#[test]
fn an_empty_device_may_be_written() {
    let _alone = alone();
    let device = or_skip!(LoopDevice::new(16 * MIB));
    let usage = look(device.path());
    assert_eq!(usage.obstacles, [], "{usage}");
    assert!(usage.may_be_written());
    assert_eq!(usage.device, device.name());
    assert_eq!(usage.size_bytes, Some(16 * MIB));
}

/// The kernel shows a partition in sysfs a moment before its node is there, and a moment
/// after the node is gone.
#[test]
fn partitions_that_come_and_go_on_another_device_forbid_nothing() {
    let _alone = alone();
    let device = or_skip!(LoopDevice::new(MIB));
    let other = or_skip!(with_partition());
    or_skip!(require_tool("delpart", "util-linux"));
    let mut shell = Command::new("sh")
        .args([
            "-c",
            "while read go; do delpart $0 1 && addpart $0 1 2048 40960 || exit 1; done",
        ])
        .arg(other.path())
        .stdin(Stdio::piped())
        .spawn()
        .expect("a shell");
    let mut go = shell.stdin.take().expect("a pipe");
    let times = 400;
    go.write_all("go\n".repeat(times).as_bytes())
        .expect("a line for each");
    drop(go);
    let mut looks = 0;
    while shell.try_wait().expect("the shell").is_none() {
        let usage = look(device.path());
        assert_eq!(usage.obstacles, [], "look {looks}: {usage}");
        looks += 1;
    }
    assert!(shell.wait().expect("the shell").success());
    assert!(looks > 10, "{looks} looks at {times} partitions");
}

#[test]
fn looking_changes_no_byte_of_the_device() {
    let _alone = alone();
    let device = or_skip!(LoopDevice::new(2 * MIB));
    let content: Vec<u8> = (0..2 * MIB).map(|index| (index % 251) as u8).collect();
    fs::write(device.backing_file(), &content).expect("the file");
    look(device.path());
    assert!(fs::read(device.backing_file()).expect("the file") == content);
}

#[test]
fn a_mounted_device_is_named_with_its_mount_point() {
    let _alone = alone();
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 16 * MIB));
    let usage = look(mounted.device().path());
    assert!(usage.in_use());
    let said = usage.to_string();
    let point = mounted.path().display();
    assert!(
        said.contains(&format!("is mounted on {point} (ext4)")),
        "{said}"
    );
    assert!(said.contains(&format!("umount {point}")), "{said}");
    let name = mounted.device().name();
    assert_eq!(marks(&usage), [(name, "ext4"), (name, "ext4 copy")]);
    // Mounted is why it is busy: that is not said twice.
    assert!(!kinds(&usage).contains(&&ObstacleKind::Exclusive), "{said}");
}

#[test]
fn a_filesystem_that_is_not_mounted_is_found_on_the_device() {
    let _alone = alone();
    let device = or_skip!(LoopDevice::new(16 * MIB));
    let mkfs = or_skip!(require_tool("mkfs.ext4", "e2fsprogs"));
    let made = Command::new(mkfs)
        .args(["-q", "-F", "-L", "archive"])
        .arg(device.path())
        .status()
        .expect("running mkfs");
    assert!(made.success());
    let usage = look(device.path());
    assert!(!usage.in_use());
    let said = usage.to_string();
    assert!(said.contains("ext4 filesystem named \"archive\""), "{said}");
    assert!(said.contains("wipefs --all"), "{said}");
}

/// A device with one partition, from 1 MiB on, that the kernel was told of by
/// hand: not every kernel reads partition tables.
fn with_partition() -> Result<LoopDevice, diskfacts_testkit::Missing> {
    require_root()?;
    let tool = require_tool("addpart", "util-linux")?;
    let options = LoopOptions {
        partitions: true,
        ..LoopOptions::default()
    };
    let device = LoopDevice::with(32 * MIB, options)?;
    let added = Command::new(tool)
        .arg(device.path())
        .args(["1", "2048", "40960"])
        .output()
        .expect("running addpart");
    if added.status.success() {
        Ok(device)
    } else {
        Err(diskfacts_testkit::Missing::new(
            "partitions on loop devices",
            String::from_utf8_lossy(&added.stderr).trim(),
        ))
    }
}

fn node(device: &LoopDevice) -> std::path::PathBuf {
    format!("{}p1", device.path().display()).into()
}

#[test]
fn a_mark_on_a_partition_forbids_the_disk() {
    let _alone = alone();
    let device = or_skip!(with_partition());
    let partition = OpenOptions::new()
        .write(true)
        .open(node(&device))
        .expect("the node of the partition");
    partition
        .write_all_at(b"XFSB", 0)
        .expect("writing to the partition");
    let name = format!("{}p1", device.name());
    // Still in the cache of the partition's own node, which the disk's does not
    // see.
    let usage = look(device.path());
    assert_eq!(marks(&usage), [(&*name, "XFS")], "{usage}");
    drop(partition);
    assert_eq!(marks(&look(&node(&device))), [(&*name, "XFS")]);
}

#[test]
fn a_mounted_partition_forbids_the_disk() {
    let _alone = alone();
    let device = or_skip!(with_partition());
    let mkfs = or_skip!(require_tool("mkfs.ext4", "e2fsprogs"));
    let made = Command::new(mkfs)
        .args(["-q", "-F"])
        .arg(node(&device))
        .status()
        .expect("running mkfs");
    assert!(made.success());
    let point = device.scratch().join("point");
    fs::create_dir(&point).expect("a folder");
    let mount = or_skip!(require_tool("mount", "mount"));
    let umount = or_skip!(require_tool("umount", "mount"));
    let mounted = Command::new(mount)
        .arg(node(&device))
        .arg(&point)
        .status()
        .expect("running mount");
    assert!(mounted.success());
    let disk = look(device.path());
    let partition = look(&node(&device));
    let unmounted = Command::new(umount)
        .arg(&point)
        .status()
        .expect("running umount");
    assert!(unmounted.success());

    let name = format!("{}p1", device.name());
    for usage in [&disk, &partition] {
        assert!(
            usage
                .obstacles
                .iter()
                .any(|obstacle| obstacle.kind == ObstacleKind::Mounted && obstacle.device == name),
            "{usage}"
        );
        assert!(marks(usage).contains(&(&*name, "ext4")), "{usage}");
    }
    assert!(!look(device.path()).in_use());
}

#[test]
fn a_device_that_someone_holds_for_himself_is_not_free() {
    let _alone = alone();
    let device = or_skip!(LoopDevice::new(MIB));
    let held = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_EXCL)
        .open(device.path())
        .expect("the device");
    let usage = look(device.path());
    assert_eq!(kinds(&usage), [&ObstacleKind::Exclusive], "{usage}");
    assert!(usage.in_use());
    // Who holds it himself is not told of himself.
    let usage = usage_while_held(&Roots::default(), &held, device.path()).expect("an answer");
    assert!(usage.may_be_written(), "{usage}");
    drop(held);
    // A process that another test starts has a copy of every open file for a
    // moment: the last one counts.
    let free = (0..10_000).any(|_| look(device.path()).may_be_written());
    assert!(free, "{}", look(device.path()));
}

#[test]
fn a_device_under_a_loop_device_is_named_with_it() {
    let _alone = alone();
    let device = or_skip!(LoopDevice::new(16 * MIB));
    let losetup = or_skip!(require_tool("losetup", "mount"));
    let attached = Command::new(&losetup)
        .args(["--find", "--show"])
        .arg(device.path())
        .output()
        .expect("running losetup");
    assert!(attached.status.success());
    let upper = String::from_utf8(attached.stdout).expect("a name");
    let upper = upper.trim();
    let usage = look(device.path());
    let stack = diskfacts_host::stack_of(&Roots::default(), Path::new(upper));
    let detached = Command::new(&losetup)
        .args(["--detach", upper])
        .status()
        .expect("running losetup");
    assert!(detached.success());
    let name = upper.trim_start_matches("/dev/");
    assert!(
        usage.obstacles.iter().any(|obstacle| {
            obstacle.kind == ObstacleKind::Loop && obstacle.what.contains(name)
        }),
        "{usage}"
    );
    let stack = stack.expect("a stack");
    assert_eq!(stack.devices[0].below, [device.name()]);
}

#[test]
fn swap_on_a_device_is_named() {
    let _alone = alone();
    let device = or_skip!(LoopDevice::new(16 * MIB));
    let mkswap = or_skip!(require_tool("mkswap", "util-linux"));
    let swapon = or_skip!(require_tool("swapon", "mount"));
    let swapoff = or_skip!(require_tool("swapoff", "mount"));
    let run = |tool: &Path| {
        Command::new(tool)
            .arg(device.path())
            .output()
            .expect("running a tool")
    };
    assert!(run(&mkswap).status.success());
    let on = run(&swapon);
    if !on.status.success() {
        let why = String::from_utf8_lossy(&on.stderr);
        diskfacts_testkit::skip(&format!("swap on a loop device: {}", why.trim()));
        return;
    }
    let usage = look(device.path());
    assert!(run(&swapoff).status.success());
    assert!(kinds(&usage).contains(&&ObstacleKind::Swap), "{usage}");
    assert!(usage.to_string().contains("swapoff"), "{usage}");
    assert_eq!(marks(&usage), [(device.name(), "Linux")]);
}

#[test]
fn a_read_only_device_is_named_as_such() {
    let _alone = alone();
    let options = LoopOptions {
        read_only: true,
        ..LoopOptions::default()
    };
    let device = or_skip!(LoopDevice::with(MIB, options));
    assert_eq!(kinds(&look(device.path())), [&ObstacleKind::ReadOnly]);
}

#[test]
fn a_device_that_cannot_be_read_is_not_taken_for_empty() {
    let _alone = alone();
    let device = or_skip!(LoopDevice::new(16 * MIB));
    let file = OpenOptions::new()
        .write(true)
        .open(device.backing_file())
        .expect("the file");
    file.set_len(0).expect("cutting the file short");
    let usage = look(device.path());
    assert!(!usage.may_be_written());
    assert!(
        usage.obstacles.iter().any(|obstacle: &Obstacle| {
            obstacle.kind == ObstacleKind::Unchecked && obstacle.what.contains("could not be read")
        }),
        "{usage}"
    );
}

#[test]
fn a_folder_is_neither_a_device_nor_a_file() {
    let _alone = alone();
    let scratch = or_skip!(Scratch::new());
    let error = usage(&Roots::default(), scratch.path()).expect_err("a folder");
    assert!(matches!(error, Error::NotABlockDevice { .. }), "{error}");
    assert!(error.to_string().contains("a folder"), "{error}");
    assert!(error.to_string().contains("diskfacts devices"), "{error}");
}

#[test]
fn a_file_may_be_written_until_a_loop_device_stands_on_it() {
    let _alone = alone();
    let scratch = or_skip!(Scratch::new());
    let free = scratch.join("file");
    fs::write(&free, "text").expect("a file");
    let usage = look(&free);
    assert!(usage.may_be_written(), "{usage}");
    assert_eq!(usage.size_bytes, Some(4));
    let device = or_skip!(LoopDevice::new(MIB));
    let usage = look(device.backing_file());
    assert_eq!(kinds(&usage), [&ObstacleKind::Loop], "{usage}");
    assert!(usage.in_use());
}

#[test]
fn what_is_open_is_judged_and_not_what_lies_at_its_path_by_now() {
    let _alone = alone();
    let scratch = or_skip!(Scratch::new());
    let device = or_skip!(LoopDevice::new(MIB));
    let (looped, free) = (scratch.join("looped"), scratch.join("free"));
    fs::hard_link(device.backing_file(), &looped)
        .or_else(|_| std::os::unix::fs::symlink(device.backing_file(), &looped))
        .expect("a link");
    fs::write(&free, "text").expect("a file");
    let open = |path: &Path| File::open(path).expect("a file");
    let judge = |file: &File, path: &Path| {
        usage_while_held(&Roots::default(), file, path).expect("an answer")
    };
    // Opened by the name, which leads to the other file when it is asked.
    assert!(!judge(&open(&looped), &free).may_be_written());
    assert!(judge(&open(&free), &looped).may_be_written());
}

#[test]
fn a_device_that_this_user_may_not_open_is_not_taken_for_free() {
    let _alone = alone();
    let device = or_skip!(LoopDevice::new(MIB));
    let path = device.path().to_owned();
    // On Linux a thread can have a user of its own.
    let usage = std::thread::spawn(move || {
        let nobody = rustix::fs::Uid::from_raw(65534);
        let group = rustix::fs::Gid::from_raw(65534);
        rustix::thread::set_thread_groups(&[group]).expect("no other groups");
        rustix::thread::set_thread_res_gid(group, group, group).expect("another group");
        rustix::thread::set_thread_res_uid(nobody, nobody, nobody).expect("another user");
        look(&path)
    })
    .join()
    .expect("the thread");
    // Nor can this user ask any loop device what it stands on.
    let unchecked = |kind: &&ObstacleKind| **kind == ObstacleKind::Unchecked;
    assert!(kinds(&usage).iter().all(unchecked), "{usage}");
    assert!(!usage.may_be_written());
    let own = format!("{} cannot be opened, so that nothing", usage.device);
    assert!(usage.to_string().contains(&own), "{usage}");
    assert!(usage.to_string().contains("as root"), "{usage}");
}
