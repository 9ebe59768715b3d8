//! The file of the kernel behind a setting: read and written.

use super::identity::Identity;
use super::setting::Setting;
use crate::look;
use crate::parse::sysfs_value::parse_scheduler;
use crate::roots::Roots;
use crate::sysfs::DeviceDir;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

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
    let bytes = look::read(path)?;
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    if !setting.is_scheduler() {
        return Ok(text);
    }
    parse_scheduler(&text).0.ok_or_else(|| {
        let said = format!("`{text}` marks none of them as the one in use");
        io::Error::new(io::ErrorKind::InvalidData, said)
    })
}

/// How often a setting is written that the kernel has no time for, and how long is waited
/// in between.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

/// Writes a value in one call, as the kernel wants it; again while it says that it is
/// busy, as Linux 6.18 was seen to do of `nr_requests` on a machine with much to do.
pub(super) fn write(path: &Path, value: &str) -> io::Result<()> {
    while_busy(PAUSE, || write_once(path, value))
}

/// What a call answers that is made again while it says that the kernel is busy.
fn while_busy(pause: Duration, mut call: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    for _ in 1..TRIES {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => std::thread::sleep(pause),
            result => return result,
        }
    }
    call()
}

fn write_once(path: &Path, value: &str) -> io::Result<()> {
    // Truncating means nothing to sysfs and procfs; it does to a file of a test.
    look::may_fail()?;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A call that is refused so many times, with this: how often it was made, and what
    /// came of it.
    fn refused(with: io::ErrorKind, times: u32) -> (u32, Option<io::ErrorKind>) {
        let mut calls = 0;
        let result = while_busy(Duration::ZERO, || {
            calls += 1;
            if calls <= times {
                Err(with.into())
            } else {
                Ok(())
            }
        });
        (calls, result.err().map(|error| error.kind()))
    }

    #[test]
    fn a_busy_kernel_is_asked_again_and_another_refusal_is_one() {
        let busy = io::ErrorKind::ResourceBusy;
        assert_eq!(refused(busy, 0), (1, None));
        assert_eq!(refused(busy, 3), (4, None));
        assert_eq!(refused(busy, TRIES), (TRIES, Some(busy)));
        let invalid = io::ErrorKind::InvalidInput;
        assert_eq!(refused(invalid, 3), (1, Some(invalid)));
    }
}
