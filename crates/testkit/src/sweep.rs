//! Takes down what killed test processes left behind.
//!
//! A panic unwinds and drops; Ctrl-C and SIGKILL do not. Everything the kit
//! makes hangs on a [`Scratch`](crate::Scratch) folder whose lock dies with its
//! process, so the next process can find it and take it down.

use crate::loop_device::{DETACH_PAUSE, DETACH_TRIES};
use crate::scratch::{GROUPS, LOCK, PREFIX};
use crate::{throttle, tool};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Once;

/// Sweeps the folder once in the life of this process.
pub(crate) fn once(parent: &Path) {
    static SWEPT: Once = Once::new();
    SWEPT.call_once(|| sweep(parent));
}

fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for folder in entries.flatten().map(|entry| entry.path()) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        if !name.starts_with(PREFIX) {
            continue;
        }
        // Not ours to judge when the lock is not there yet, belongs to another
        // user, or is held.
        let Ok(lock) = File::options().write(true).open(folder.join(LOCK)) else {
            continue;
        };
        if lock.try_lock().is_ok() {
            eprintln!(
                "taking down what a killed test left in {}",
                folder.display()
            );
            for failure in take_down(&folder) {
                eprintln!("  {failure}");
            }
        }
    }
}

/// Takes down what hangs on one folder, then the folder; says what could not be.
fn take_down(folder: &Path) -> Vec<String> {
    let mut failures = Vec::new();
    let mut note = |result: Result<(), String>| failures.extend(result.err());
    for group in fs::read_to_string(folder.join(GROUPS))
        .unwrap_or_default()
        .lines()
    {
        note(throttle::remove(Path::new(group)).map_err(|e| format!("{group}: {e}")));
    }
    // Looked for before a filesystem that such a device's file lies in is
    // unmounted: then the kernel shows the file without where it was.
    let devices = loop_devices_over(folder);
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    // Later mounts may lie on earlier ones.
    for mount in mount_points(&mounts)
        .into_iter()
        .rev()
        .filter(|mount| mount.starts_with(folder))
    {
        let unmounted = tool::run("umount", "mount", [Path::new("--lazy"), &mount]);
        note(unmounted.map(drop).map_err(|e| e.to_string()));
    }
    for device in devices {
        note(detach(&device).map_err(|e| format!("{}: {e}", device.display())));
    }
    note(fs::remove_dir_all(folder).map_err(|e| e.to_string()));
    failures
}

/// Detaches a loop device, and waits until the kernel has: while somebody else has it
/// open, it does so later.
fn detach(device: &Path) -> Result<(), String> {
    let name = device.file_name().unwrap_or_default();
    let file = Path::new("/sys/block").join(name).join("loop/backing_file");
    let backing = || fs::read_to_string(&file).ok();
    let before = backing();
    let arguments = [Path::new("--detach"), device];
    tool::run("losetup", "mount", arguments).map_err(|e| e.to_string())?;
    for _ in 0..DETACH_TRIES {
        if backing() != before {
            return Ok(());
        }
        std::thread::sleep(DETACH_PAUSE);
    }
    Err("something still has it open".to_owned())
}

/// Where things are mounted, in the order of mounting: the fifth field of
/// `mountinfo` (`proc_pid_mountinfo(5)`), in which blanks are written as octal.
fn mount_points(mountinfo: &str) -> Vec<PathBuf> {
    mountinfo
        .lines()
        .filter_map(|line| line.split(' ').nth(4))
        .map(|field| PathBuf::from(field.replace("\\040", " ").replace("\\134", "\\")))
        .collect()
}

fn loop_devices_over(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir("/sys/block")
        .into_iter()
        .flatten()
        .flatten()
        .filter(|block| {
            fs::read_to_string(block.path().join("loop/backing_file"))
                .is_ok_and(|backing| Path::new(&backing).starts_with(folder))
        })
        .map(|block| Path::new("/dev").join(block.file_name()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        DelayedDisk, FilesystemKind, LoopOptions, MountedFilesystem, Scratch, Throttle,
        ThrottleGroup,
    };
    use crate::{LoopDevice, or_skip};
    use std::mem::forget;

    #[test]
    fn mount_points_are_the_fifth_field_with_blanks_put_back() {
        let text = "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n\
                    40 22 7:1 / /tmp/a\\040b rw - ext4 /dev/loop1 rw\n";
        assert_eq!(
            mount_points(text),
            [PathBuf::from("/"), PathBuf::from("/tmp/a b")]
        );
    }

    #[test]
    fn a_living_process_keeps_its_folder() {
        let parent = tempfile::tempdir().expect("a temporary folder");
        let scratch = Scratch::inside(parent.path()).expect("a scratch folder");
        sweep(parent.path());
        assert!(scratch.path().is_dir());
    }

    #[test]
    fn what_a_killed_process_left_is_taken_down_by_the_next() {
        let parent = tempfile::tempdir().expect("a temporary folder");
        let scratch = Scratch::inside(parent.path()).expect("a scratch folder");
        let folder = scratch.path().to_owned();
        let device = or_skip!(LoopDevice::in_scratch(
            scratch,
            16 << 20,
            LoopOptions::default()
        ));
        let name = device.name().to_owned();
        let group = or_skip!(ThrottleGroup::in_scratch(
            device.scratch(),
            device.device_number(),
            Throttle::default()
        ));
        let group_folder = group.path().to_owned();
        let mounted = or_skip!(MountedFilesystem::on(device, FilesystemKind::Ext4, ""));
        assert!(group_folder.is_dir() && mounted.path().join("lost+found").exists());

        nobody_holds(&folder);
        forget(group);
        forget(mounted);

        sweep(parent.path());
        assert!(!group_folder.exists());
        nothing_is_left_of(&folder, &name);
    }

    #[test]
    fn a_disk_of_known_delay_is_taken_down_too() {
        let parent = tempfile::tempdir().expect("a temporary folder");
        let scratch = Scratch::inside(parent.path()).expect("a scratch folder");
        let folder = scratch.path().to_owned();
        let delay = std::time::Duration::from_millis(1);
        let disk = or_skip!(DelayedDisk::in_scratch(scratch, 1 << 20, delay));
        let name = disk.device().name().to_owned();
        nobody_holds(&folder);
        forget(disk);

        sweep(parent.path());
        nothing_is_left_of(&folder, &name);
    }

    /// As after SIGKILL, when besides nothing is dropped.
    fn nobody_holds(folder: &Path) {
        fs::remove_file(folder.join(LOCK)).expect("the lock");
        File::create(folder.join(LOCK)).expect("a lock that nobody holds");
    }

    fn nothing_is_left_of(folder: &Path, device: &str) {
        assert!(!folder.exists());
        let mounts = fs::read_to_string("/proc/self/mountinfo").expect("the mounts");
        assert!(!mounts.contains(&*folder.to_string_lossy()));
        // Its device may be another's already. Of a file whose filesystem was
        // unmounted, the kernel shows the path from that filesystem's root.
        let backing = fs::read_to_string(format!("/sys/block/{device}/loop/backing_file"));
        let backing = PathBuf::from(backing.unwrap_or_default());
        assert!(!backing.starts_with(folder), "{}", backing.display());
        assert_ne!(backing, Path::new("/disk\n"));
    }
}
