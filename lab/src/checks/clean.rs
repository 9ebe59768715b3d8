//! That a run leaves the machine as it was.

use crate::sysfs;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What a run may not change: settings of all queues, loop devices, mounts,
/// journals of settings, processes.
#[derive(PartialEq, Eq)]
pub(crate) struct Before(BTreeMap<String, String>);

impl Before {
    pub(crate) fn look() -> Self {
        let mut seen = BTreeMap::new();
        for disk in sysfs::disks() {
            // Without a file it is no disk, and the kernel leaves it as it was last.
            if disk.starts_with("loop") && sysfs::attribute(&disk, "loop/backing_file").is_none() {
                continue;
            }
            let queue = format!("/sys/block/{disk}/queue");
            for entry in fs::read_dir(&queue).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                if let Ok(value) = fs::read_to_string(entry.path()) {
                    seen.insert(format!("{disk} {name}"), value.trim().to_owned());
                }
            }
            if let Some(file) = sysfs::attribute(&disk, "loop/backing_file") {
                seen.insert(format!("{disk} over"), file);
            }
        }
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        for mount in mounts.lines() {
            seen.insert(format!("mount {mount}"), String::new());
        }
        for folder in [
            "/var/lib/diskfacts",
            "/sys/kernel/tracing/instances",
            "/sys/fs/cgroup",
        ] {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                // A lock and the folder itself may stay; what is in it tells.
                let name = entry.path().display().to_string();
                seen.insert(format!("entry {name}"), String::new());
            }
        }
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let command = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            if command.trim() == "diskfacts" && is_alive(&entry.path()) {
                seen.insert(format!("process {}", entry.path().display()), String::new());
            }
        }
        Self(seen)
    }

    /// What is otherwise now.
    pub(crate) fn compare(&self) -> Result<(), String> {
        let now = Self::look();
        let mut other = Vec::new();
        for (what, value) in &self.0 {
            match now.0.get(what) {
                Some(now) if now == value => {}
                Some(now) => other.push(format!("{what}: {now}, was {value}")),
                // A disk that was taken away has no settings.
                None if is_of_gone_disk(what) => {}
                None => other.push(format!("{what} is gone")),
            }
        }
        let new = now.0.keys().filter(|what| !self.0.contains_key(*what));
        // The kernel finds disks that are plugged in whenever it comes to them.
        let new = new.filter(|what| !is_of_plugged_disk(what));
        other.extend(new.map(|what| format!("{what} is new")));
        if other.is_empty() {
            Ok(())
        } else {
            Err(other.join("; "))
        }
    }
}

/// The disk that it is a setting of.
fn disk_of(what: &str) -> Option<&str> {
    let first = what.split(' ').next()?;
    (!matches!(first, "mount" | "entry" | "process")).then_some(first)
}

/// Whether it is the setting of a disk that is no longer there.
fn is_of_gone_disk(what: &str) -> bool {
    let disk = disk_of(what).filter(|disk| !disk.starts_with("loop"));
    disk.is_some_and(|disk| !Path::new("/sys/block").join(disk).exists())
}

fn is_of_plugged_disk(what: &str) -> bool {
    disk_of(what).is_some_and(|disk| !sysfs::is_made(disk))
}

/// Whether a process is more than an entry that nobody has waited for.
fn is_alive(process: &Path) -> bool {
    let status = fs::read_to_string(process.join("stat")).unwrap_or_default();
    let state = status.rsplit(')').next().unwrap_or_default().trim_start();
    !state.is_empty() && !state.starts_with('Z')
}
