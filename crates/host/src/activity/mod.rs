//! What all devices of the machine do, whoever does it: two readings of the
//! counters of devices and processors, and their difference.
//!
//! What is read, and in which order, is what sysstat's iostat reads (12.7,
//! `iostat.c`): the uptime, the first line of `/proc/stat`, then
//! `/sys/block/*/stat`, or `/proc/diskstats` where partitions are wanted too. So
//! both say the same of the same moment.

mod difference;
mod heading;
mod names;

pub use heading::processors;
pub use names::{device_names, named_device};

use crate::error::Error;
use crate::parse::diskstats::{Diskstats, parse_any_stat, parse_diskstats};
use crate::parse::stat::{SystemCpu, parse_stat_cpu};
use crate::parse::uptime::parse_uptime;
use crate::roots::Roots;
use crate::sysfs::is_gone;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Of which devices the counters are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// Whole devices: the folders of `/sys/block`.
    Disks,
    /// Partitions too: the lines of `/proc/diskstats`.
    Everything,
    /// These, by their names in the kernel (see [`named_device`]).
    Named(Vec<String>),
}

/// The counters at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    uptime_centiseconds: u64,
    cpu: SystemCpu,
    devices: Vec<Counted>,
}

/// The counters of one device.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Counted {
    name: String,
    stat: Diskstats,
    requests_only: bool,
}

impl Reading {
    /// Reads the counters now. A device that goes away meanwhile is left out.
    ///
    /// # Errors
    /// When a file of the kernel is missing, cannot be read, or has a form that
    /// is not known.
    pub fn take(roots: &Roots, wanted: &Wanted) -> Result<Self, Error> {
        Ok(Self {
            uptime_centiseconds: parsed(&roots.proc.join("uptime"), parse_uptime)?,
            cpu: parsed(&roots.proc.join("stat"), parse_stat_cpu)?,
            devices: match wanted {
                Wanted::Disks => disks(roots)?,
                Wanted::Everything => everything(roots)?,
                Wanted::Named(names) => named(roots, names)?,
            },
        })
    }

    /// Leaves out the devices that were never read, written, discarded or flushed.
    #[must_use]
    pub fn without_unused(mut self) -> Self {
        self.devices.retain(|device| device.stat.operations() > 0);
        self
    }
}

fn parsed<T>(
    path: &Path,
    parse: impl Fn(&[u8]) -> Result<T, crate::ParseError>,
) -> Result<T, Error> {
    let bytes = fs::read(path).map_err(|error| unreadable(path, error))?;
    parse(&bytes).map_err(|source| Error::Form {
        path: path.to_owned(),
        source,
    })
}

fn unreadable(path: &Path, source: io::Error) -> Error {
    if source.kind() != io::ErrorKind::NotFound {
        return Error::on_path("reading", path, source);
    }
    Error::System {
        doing: "reading",
        on: path.display().to_string(),
        hint: "this kernel shows no such file, or /proc is not mounted or hidden here: run \
               diskfacts on the host"
            .to_owned(),
        source,
    }
}

/// The folders of `/sys/block`, in the order of their names' bytes, as sysstat
/// sorts them: `sda10` before `sda2`.
fn disks(roots: &Roots) -> Result<Vec<Counted>, Error> {
    let folder = roots.sys.join("block");
    let entries = fs::read_dir(&folder).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => Error::System {
            doing: "listing",
            on: folder.display().to_string(),
            hint: "sysfs is not mounted here: `mount -t sysfs sysfs /sys`, or run on the host; \
                   with --partitions /proc/diskstats is read instead"
                .to_owned(),
            source,
        },
        _ => Error::on_path("listing", &folder, source),
    })?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| Error::on_path("listing", &folder, error))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable();
    let mut devices = Vec::new();
    for name in names {
        devices.extend(of_file(&name, &folder.join(&name).join("stat"))?);
    }
    Ok(devices)
}

/// The lines of `/proc/diskstats`, in their order.
fn everything(roots: &Roots) -> Result<Vec<Counted>, Error> {
    let lines = parsed(&roots.proc.join("diskstats"), parse_diskstats)?;
    let counted = lines.into_iter().map(|line| Counted {
        name: line.name,
        stat: line.stat,
        requests_only: line.requests_only,
    });
    Ok(counted.collect())
}

fn named(roots: &Roots, names: &[String]) -> Result<Vec<Counted>, Error> {
    let mut folders: Vec<String> = names.iter().map(|name| name.replace('/', "!")).collect();
    folders.sort_unstable();
    folders.dedup();
    let mut devices = Vec::new();
    for name in folders {
        if let Some(folder) = folder_of(roots, &name) {
            devices.extend(of_file(&name, &folder.join("stat"))?);
        }
    }
    Ok(devices)
}

/// The folder of a device in sysfs, by the name of that folder.
fn folder_of(roots: &Roots, name: &str) -> Option<PathBuf> {
    if name.is_empty() || name.starts_with('.') || name.contains('/') {
        return None;
    }
    let direct = ["class/block", "block"].map(|parent| roots.sys.join(parent).join(name));
    direct.into_iter().find(|folder| folder.is_dir())
}

/// The counters in a file of sysfs; none where the device has none, or is gone.
fn of_file(folder_name: &str, path: &Path) -> Result<Option<Counted>, Error> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if is_gone(&error) => return Ok(None),
        Err(error) => return Err(Error::on_path("reading", path, error)),
    };
    let (stat, requests_only) = parse_any_stat(&bytes).map_err(|source| Error::Form {
        path: path.to_owned(),
        source,
    })?;
    Ok(Some(Counted {
        name: folder_name.replace('!', "/"),
        stat,
        requests_only,
    }))
}

impl Diskstats {
    /// All operations of a device since it appeared.
    fn operations(&self) -> u64 {
        let discards = self.discard.map_or(0, |discard| discard.count);
        let flushes = self.flush.map_or(0, |flush| flush.count);
        [self.reads, self.writes, discards, flushes]
            .into_iter()
            .fold(0, u64::saturating_add)
    }
}
