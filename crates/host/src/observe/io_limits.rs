//! Limits on I/O of the control groups that this process is in.

use super::Observer;
use super::groups::{Hierarchy, Version, hierarchies, unreadable};
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
    let hierarchies = hierarchies(roots, "blkio")?;
    if hierarchies.is_empty() {
        return Err(
            "no control group of this process that can limit I/O is mounted in /sys/fs/cgroup"
                .to_owned(),
        );
    }
    let mut found = Vec::new();
    for (path, read) in hierarchies.iter().flat_map(files) {
        let text = match fs::read(&path) {
            Ok(text) => text,
            // A group without the controller, as the root of version 2.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(unreadable(&path, &error)),
        };
        let limits = match read {
            None => parse_io_max(&text),
            Some(of) => parse_blkio_throttle(&text, of),
        };
        let limits = limits.map_err(|error| format!("{}: {error}", path.display()))?;
        found.extend(limits.iter().filter_map(|limit| named(limit, &path, stack)));
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

/// The files to read, and what those of version 1 are on.
fn files(hierarchy: &Hierarchy) -> Vec<(PathBuf, Option<LimitOf>)> {
    match hierarchy.version {
        Version::One => FILES
            .iter()
            .map(|(file, of)| (hierarchy.own().join(file), Some(*of)))
            .collect(),
        Version::Two => hierarchy
            .groups
            .iter()
            .map(|folder| (folder.join("io.max"), None))
            .collect(),
    }
}
