//! Limits on I/O of the control groups that this process is in.

use super::Observer;
use crate::parse::cgroup::{Membership, parse_cgroup};
use crate::parse::io_limits::{DeviceLimit, parse_blkio_throttle, parse_io_max};
use crate::roots::Roots;
use diskfacts_record::evidence::{IoLimit, LimitOf};
use diskfacts_record::{Evidence, Stack, Unseen};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The files of version 1.
const FILES: [(&str, LimitOf); 4] = [
    ("blkio.throttle.read_bps_device", LimitOf::ReadBytes),
    ("blkio.throttle.write_bps_device", LimitOf::WriteBytes),
    ("blkio.throttle.read_iops_device", LimitOf::Reads),
    ("blkio.throttle.write_iops_device", LimitOf::Writes),
];

/// Reads the limits when it is made, before the window opens: they are settings,
/// and who changes them in the middle of a trial is not found out.
///
/// Version 2 of the control groups holds a process to the limits of its group and
/// of all groups above; version 1 to those of its own group only (kernel,
/// `throtl_pd_init` in `block/blk-throttle.c`). What a container does not see of
/// the groups above it, is not seen here either.
pub struct IoLimitsObserver {
    limits: Result<Vec<IoLimit>, String>,
}

impl IoLimitsObserver {
    /// Reads the limits on the devices of this stack.
    pub fn new(roots: &Roots, stack: &Stack) -> Self {
        Self {
            limits: limits(roots, stack),
        }
    }
}

impl Observer for IoLimitsObserver {
    fn name(&self) -> &'static str {
        "io_limits"
    }

    fn start(&mut self) {}

    fn stop(&mut self, evidence: &mut Evidence) {
        match &self.limits {
            Ok(limits) => evidence.io_limits = Some(limits.clone()),
            Err(why) => evidence.unseen.push(Unseen {
                what: self.name().to_owned(),
                why: why.clone(),
            }),
        }
    }
}

fn limits(roots: &Roots, stack: &Stack) -> Result<Vec<IoLimit>, String> {
    let table = roots.proc.join("self/cgroup");
    let said = |path: &Path, error: &io::Error| format!("reading {}: {error}", path.display());
    let text = fs::read(&table).map_err(|error| said(&table, &error))?;
    let groups = parse_cgroup(&text).map_err(|error| format!("{}: {error}", table.display()))?;
    let folders: Vec<Folder> = groups
        .iter()
        .filter_map(|group| folder(&roots.sys.join("fs/cgroup"), group))
        .collect();
    if folders.is_empty() {
        return Err(
            "no control group of this process that can limit I/O is mounted in /sys/fs/cgroup"
                .to_owned(),
        );
    }
    let mut found = Vec::new();
    for folder in folders {
        for (path, read) in folder.files() {
            let text = match fs::read(&path) {
                Ok(text) => text,
                // A group without the controller, as the root of version 2.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(said(&path, &error)),
            };
            let limits = match read {
                None => parse_io_max(&text),
                Some(of) => parse_blkio_throttle(&text, of),
            };
            let limits = limits.map_err(|error| format!("{}: {error}", path.display()))?;
            found.extend(limits.iter().filter_map(|limit| named(limit, &path, stack)));
        }
    }
    Ok(found)
}

/// The limit with the name of its device; `None` where that is not in the stack.
fn named(limit: &DeviceLimit, path: &Path, stack: &Stack) -> Option<IoLimit> {
    let device = stack
        .devices
        .iter()
        .find(|device| (device.major, device.minor) == limit.device)?;
    Some(IoLimit {
        device: device.name.clone(),
        of: limit.of,
        per_s: limit.per_s,
        file: path.display().to_string(),
    })
}

/// Folder of a group that this process is in.
enum Folder {
    Version1(PathBuf),
    /// The group and those above it.
    Version2(Vec<PathBuf>),
}

impl Folder {
    /// The files to read, and what those of version 1 are on.
    fn files(&self) -> Vec<(PathBuf, Option<LimitOf>)> {
        match self {
            Self::Version1(folder) => FILES
                .iter()
                .map(|(file, of)| (folder.join(file), Some(*of)))
                .collect(),
            Self::Version2(folders) => folders
                .iter()
                .map(|folder| (folder.join("io.max"), None))
                .collect(),
        }
    }
}

fn folder(cgroup: &Path, group: &Membership) -> Option<Folder> {
    let below = group.path.trim_start_matches('/');
    if group.controllers.iter().any(|name| name == "blkio") {
        // The hierarchy is mounted under the names of its controllers; where
        // there are several, links lead there too.
        let roots = [group.controllers.join(","), "blkio".to_owned()];
        let root = roots.iter().map(|name| cgroup.join(name));
        let mut existing = root.filter(|root| root.is_dir());
        return existing
            .next()
            .map(|root| Folder::Version1(root.join(below)));
    }
    if !group.controllers.is_empty() {
        return None;
    }
    let roots = [cgroup.to_owned(), cgroup.join("unified")];
    let root = roots
        .into_iter()
        .find(|root| root.join("cgroup.controllers").exists())?;
    let own = root.join(below);
    let folders = own
        .ancestors()
        .take_while(|folder| folder.starts_with(&root))
        .map(Path::to_owned);
    Some(Folder::Version2(folders.collect()))
}
