//! Which device of a stack a setting is for.

use super::error::SettingsError;
use super::identity::dir_of;
use super::setting::{Scope, Setting};
use crate::parse::sysfs_value::parse_scheduler;
use crate::roots::Roots;
use crate::sysfs::DeviceDir;
use diskfacts_record::{BlockDevice, DeviceKind, Stack};
use std::collections::HashSet;

/// Where a setting is written.
#[derive(Debug)]
pub(super) enum Place {
    Machine,
    Devices(Vec<DeviceDir>),
}

/// Where `setting` is written for a target that stands on `stack`.
pub(super) fn place(
    roots: &Roots,
    stack: &Stack,
    setting: &Setting,
) -> Result<Place, SettingsError> {
    let scope = setting.scope();
    if scope == Scope::Machine {
        return Ok(Place::Machine);
    }
    let mut walk = Walk {
        roots,
        stack,
        setting,
        scope,
        seen: HashSet::new(),
        found: Vec::new(),
        passed: Vec::new(),
    };
    for top in tops(stack) {
        walk.visit(top)?;
    }
    if walk.found.is_empty() {
        let passed = walk.passed.join("; ");
        return Err(SettingsError::NoPlace {
            setting: setting.clone(),
            passed: if passed.is_empty() {
                "no block device is known under it".to_owned()
            } else {
                passed
            },
        });
    }
    Ok(Place::Devices(walk.found))
}

/// The devices that stand right under the target.
fn tops(stack: &Stack) -> impl Iterator<Item = &BlockDevice> {
    let below: HashSet<&String> = stack.devices.iter().flat_map(|d| &d.below).collect();
    let devices = stack.devices.iter();
    devices.filter(move |device| !below.contains(&device.name))
}

struct Walk<'a> {
    roots: &'a Roots,
    stack: &'a Stack,
    setting: &'a Setting,
    scope: Scope,
    seen: HashSet<&'a str>,
    found: Vec<DeviceDir>,
    /// Why devices were passed by, each a few words.
    passed: Vec<String>,
}

impl<'a> Walk<'a> {
    fn visit(&mut self, device: &'a BlockDevice) -> Result<(), SettingsError> {
        if !self.seen.insert(&device.name) {
            return Ok(());
        }
        if device.kind == DeviceKind::Simulated {
            self.passed
                .push(format!("{} is a simulated disk", device.name));
            return Ok(());
        }
        if device.kind != DeviceKind::Partition {
            let number = (device.major, device.minor);
            let dir = dir_of(self.roots, &device.name, number)?;
            let queued = has_queue(&dir);
            match self.scope {
                Scope::Topmost => {
                    self.found.push(dir);
                    return Ok(());
                }
                Scope::Queue if queued => {
                    self.take_queue(dir);
                    return Ok(());
                }
                Scope::Every => {
                    self.found.push(dir);
                    if queued {
                        return Ok(());
                    }
                }
                Scope::Queue | Scope::Machine => self.passed.push(format!(
                    "{} hands requests on and has no queue of its own",
                    device.name
                )),
            }
        }
        let stack = self.stack;
        for name in &device.below {
            if let Some(lower) = stack.device(name) {
                self.visit(lower)?;
            }
        }
        Ok(())
    }

    /// A queue, when it has a scheduler to choose where that is what is set.
    fn take_queue(&mut self, dir: DeviceDir) {
        let schedules = self.setting.is_scheduler() || self.setting.tunable().is_some();
        if schedules && !has_scheduler(&dir) {
            self.passed.push(format!(
                "{} has a request queue, but its driver leaves no scheduler to choose",
                dir.name
            ));
        } else {
            self.found.push(dir);
        }
    }
}

/// Whether the device has a request queue: devices that only hand on what they get
/// (md, most of dm, zram) have no hardware queues.
fn has_queue(dir: &DeviceDir) -> bool {
    !dir.entries("mq").is_empty() || has_scheduler(dir)
}

/// Whether it has a scheduler to choose: the kernel marks the one in use where
/// there is a choice, and prints a bare `none` elsewhere.
fn has_scheduler(dir: &DeviceDir) -> bool {
    let text = dir.optional_text("queue/scheduler").unwrap_or_default();
    text.contains('[') && !parse_scheduler(&text).1.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    /// A device of a made-up sysfs.
    fn make(root: &Path, name: &str, minor: u32, scheduler: Option<&str>) -> BlockDevice {
        let folder = root.join("sys/block").join(name);
        fs::create_dir_all(folder.join("queue")).expect("a folder");
        fs::write(folder.join("dev"), format!("9:{minor}\n")).expect("its number");
        if let Some(text) = scheduler {
            fs::create_dir_all(folder.join("mq/0")).expect("a hardware queue");
            fs::write(folder.join("queue/scheduler"), text).expect("its scheduler");
        } else {
            fs::write(folder.join("queue/scheduler"), "none\n").expect("its scheduler");
        }
        let numbers = root.join("sys/dev/block");
        fs::create_dir_all(&numbers).expect("a folder");
        std::os::unix::fs::symlink(&folder, numbers.join(format!("9:{minor}"))).expect("a link");
        BlockDevice::unknown(name, 9, minor, DeviceKind::Disk)
    }

    fn names(roots: &Roots, stack: &Stack, setting: &str) -> Vec<String> {
        let setting = Setting::parse(setting).expect("a setting");
        match place(roots, stack, &setting).expect("a place") {
            Place::Machine => vec!["machine".to_owned()],
            Place::Devices(found) => found.into_iter().map(|dir| dir.name).collect(),
        }
    }

    #[test]
    fn read_ahead_goes_to_the_top_and_a_scheduler_to_the_members_of_an_array() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let roots = Roots::under(root.path());
        let mut md = make(root.path(), "md0", 0, None);
        md.below = vec!["sda".to_owned(), "sdb1".to_owned()];
        let sda = make(root.path(), "sda", 1, Some("[none] bfq\n"));
        let mut part = BlockDevice::unknown("sdb1", 9, 3, DeviceKind::Partition);
        part.below = vec!["sdb".to_owned()];
        let sdb = make(root.path(), "sdb", 2, Some("none [bfq]\n"));
        let stack = Stack {
            devices: vec![md, sda, part, sdb],
            ..Stack::default()
        };
        assert_eq!(names(&roots, &stack, "read_ahead_kb"), ["md0"]);
        assert_eq!(names(&roots, &stack, "scheduler"), ["sda", "sdb"]);
        assert_eq!(names(&roots, &stack, "iosched/slice_idle"), ["sda", "sdb"]);
        assert_eq!(
            names(&roots, &stack, "max_sectors_kb"),
            ["md0", "sda", "sdb"]
        );
        assert_eq!(names(&roots, &stack, "vm/dirty_ratio"), ["machine"]);
    }

    #[test]
    fn a_partition_is_set_on_its_disk_and_nothing_below_a_queue_is() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let roots = Roots::under(root.path());
        let mut looped = make(root.path(), "loop0", 0, Some("[none] bfq\n"));
        looped.below = vec!["vda1".to_owned()];
        let mut part = BlockDevice::unknown("vda1", 9, 2, DeviceKind::Partition);
        part.below = vec!["vda".to_owned()];
        let disk = make(root.path(), "vda", 1, Some("[none]\n"));
        let stack = Stack {
            devices: vec![looped, part.clone(), disk.clone()],
            ..Stack::default()
        };
        for setting in ["read_ahead_kb", "scheduler", "max_sectors_kb", "nomerges"] {
            assert_eq!(names(&roots, &stack, setting), ["loop0"], "{setting}");
        }
        let stack = Stack {
            devices: vec![part, disk],
            ..Stack::default()
        };
        assert_eq!(names(&roots, &stack, "read_ahead_kb"), ["vda"]);
    }

    #[test]
    fn a_stack_without_a_scheduler_says_what_each_device_lacks() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let roots = Roots::under(root.path());
        let zram = make(root.path(), "zram0", 0, None);
        let stack = Stack {
            devices: vec![zram],
            ..Stack::default()
        };
        let setting = Setting::parse("scheduler").expect("a setting");
        let error = place(&roots, &stack, &setting).expect_err("there is none");
        let said = error.to_string();
        assert!(said.contains("zram0 hands requests on"), "{said}");
        let nothing = place(&roots, &Stack::default(), &setting).expect_err("nothing is there");
        assert!(nothing.to_string().contains("no block device"), "{nothing}");
    }
}
