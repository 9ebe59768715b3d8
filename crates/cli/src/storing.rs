//! Where runs are kept.

use crate::args::Common;
use crate::exit::{Failure, OrFail};
use diskfacts_store::{Store, Writer, default_path};
use std::path::PathBuf;

fn path(common: &Common) -> Result<PathBuf, Failure> {
    match &common.store {
        Some(path) => Ok(path.clone()),
        None => default_path(|name| std::env::var_os(name)).or_wrong_call(),
    }
}

/// The store, made if it is not there.
pub(crate) fn open(common: &Common) -> Result<Store, Failure> {
    Store::open(&path(common)?).or_failed()
}

/// The store for reading; `None` when there is none yet.
pub(crate) fn existing(common: &Common) -> Result<Option<Store>, Failure> {
    let path = path(common)?;
    if common.store.is_none() && !path.exists() {
        return Ok(None);
    }
    Store::open_existing(&path).map(Some).or_failed()
}

/// `--store PATH` as it was given, with a space before it, for commands to type.
pub(crate) fn option(common: &Common) -> String {
    common.store.as_ref().map_or_else(String::new, |path| {
        let path = path.display().to_string();
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
        if !path.is_empty() && path.chars().all(plain) {
            format!(" --store {path}")
        } else {
            format!(" --store '{}'", path.replace('\'', "'\\''"))
        }
    })
}

/// Who writes: process, boot and moment of start.
pub(crate) fn writer_of(process: &str) -> Option<Writer> {
    let stat = std::fs::read(format!("/proc/{process}/stat")).ok()?;
    let boot_id = std::fs::read("/proc/sys/kernel/random/boot_id").ok()?;
    Writer::parse(&stat, &boot_id)
}

/// Whether the process that made a run lives; `None` when that is unknown.
pub(crate) fn alive(writer: Option<&Writer>) -> Option<bool> {
    let writer = writer?;
    // A process that is gone has no stat file; without /proc nothing is known.
    writer_of("self")?;
    Some(writer_of(&writer.pid.to_string()).as_ref() == Some(writer))
}
