//! The file of the kernel behind a setting: read and written.

use super::identity::Identity;
use super::setting::Setting;
use crate::parse::sysfs_value::parse_scheduler;
use crate::roots::Roots;
use crate::sysfs::DeviceDir;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What stands for the machine in messages.
pub(super) const MACHINE: &str = "this machine";

/// The file of a setting, on a device or, with `None`, on the machine.
pub(super) fn path(roots: &Roots, dir: Option<&DeviceDir>, setting: &Setting) -> PathBuf {
    match dir {
        Some(dir) => dir.path.join("queue").join(setting.name()),
        None => roots.proc.join("sys").join(setting.name()),
    }
}

/// Who it is set on, for messages.
pub(super) fn on(device: Option<&Identity>) -> String {
    device.map_or_else(|| MACHINE.to_owned(), |device| device.name.clone())
}

/// What is in force: of a scheduler the name of the one in use.
pub(super) fn read(path: &Path, setting: &Setting) -> io::Result<String> {
    let bytes = fs::read(path)?;
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    if !setting.is_scheduler() {
        return Ok(text);
    }
    parse_scheduler(&text).0.ok_or_else(|| {
        let said = format!("`{text}` marks none of them as the one in use");
        io::Error::new(io::ErrorKind::InvalidData, said)
    })
}

/// Writes a value in one call, as the kernel wants it.
pub(super) fn write(path: &Path, value: &str) -> io::Result<()> {
    // Truncating means nothing to sysfs and procfs; it does to a file of a test.
    let mut file = File::options().write(true).truncate(true).open(path)?;
    file.write_all(value.as_bytes())
}

/// Whether this user may write it; nothing is written.
pub(super) fn writable(path: &Path) -> io::Result<()> {
    File::options().write(true).open(path).map(drop)
}

/// The tunables of the scheduler in use, as settings, in their order.
pub(super) fn tunables(dir: &DeviceDir) -> Vec<Setting> {
    let names = dir.entries("queue/iosched");
    let settings = names.iter().map(|name| format!("iosched/{name}"));
    settings.filter_map(|name| Setting::parse(&name)).collect()
}
