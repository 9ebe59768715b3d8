//! The control group of this process: its memory, and the stalls of its tasks.

use super::Observer;
use super::groups::{Hierarchy, Version, hierarchies, unreadable};
use super::pressure::Stalls;
use super::window::Window;
use crate::parse::group_memory::{parse_memory_limit, parse_memory_usage};
use crate::roots::Roots;
use diskfacts_record::evidence::{ControlGroup, GroupMemory};
use diskfacts_record::{Evidence, Unseen};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Reads the limits when it is made, before the window opens, and what is used and
/// waited for at its two ends.
///
/// The root of all groups is the machine, and has neither limits nor accounts of
/// its own: there is nothing to observe, and nothing is missing. A group that hands
/// its own limit to no one below is seen where it is: a process is held to the
/// limits of its group and of all above (version 1 as well: `memory.use_hierarchy`
/// is always on since Linux 5.11).
pub struct ControlGroupObserver {
    group: Result<Option<Group>, String>,
}

/// What is read of the group.
struct Group {
    folder: PathBuf,
    version: Version,
    limits: Limits,
    used: Window,
    /// Version 2 only.
    stalls: Option<Stalls>,
}

/// The limits on its memory.
#[derive(Default)]
struct Limits {
    max: Option<u64>,
    high: Option<u64>,
    /// The group with the lowest of them.
    by: PathBuf,
}

/// Names of the files: the limit, what is used.
const fn files(version: Version) -> (&'static str, &'static str) {
    match version {
        Version::One => ("memory.limit_in_bytes", "memory.usage_in_bytes"),
        Version::Two => ("memory.max", "memory.current"),
    }
}

impl ControlGroupObserver {
    /// Reads the limits and opens the counters.
    pub fn new(roots: &Roots) -> Self {
        Self {
            group: group(roots),
        }
    }
}

/// Memory that the control groups of this process let it have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedMemory {
    /// So much, bytes, the pages of the page cache that it fills among it.
    pub bytes: u64,
    /// The group that has this limit.
    pub group: PathBuf,
    /// The file of it with the limit: above `memory.high` a process is held up, above the
    /// other it is killed.
    pub file: &'static str,
}

/// The lowest limit on memory from the group of this process up; `None` without one, and
/// where none can be seen.
pub fn allowed_memory(roots: &Roots) -> Option<AllowedMemory> {
    let Group {
        limits, version, ..
    } = group(roots).ok()??;
    let of = |bytes: Option<u64>, file| Some((bytes?, file));
    let all = [
        of(limits.max, files(version).0),
        of(limits.high, "memory.high"),
    ];
    let (bytes, file) = all.into_iter().flatten().min()?;
    Some(AllowedMemory {
        bytes,
        group: limits.by,
        file,
    })
}

fn group(roots: &Roots) -> Result<Option<Group>, String> {
    for hierarchy in hierarchies(roots, "memory")? {
        let (limit, used) = files(hierarchy.version);
        let with = |folder: &&PathBuf| folder.join(limit).exists();
        let Some(own) = hierarchy.groups.iter().find(with) else {
            continue;
        };
        let limits = limits(&hierarchy, own)?;
        let root = hierarchy.groups.last() == Some(own);
        if hierarchy.version == Version::One && root && limits.max.is_none() {
            continue;
        }
        return Ok(Some(Group {
            folder: own.clone(),
            version: hierarchy.version,
            used: Window::open(&limits.by.join(used)),
            limits,
            stalls: (hierarchy.version == Version::Two)
                .then(|| Stalls::open(|name| own.join(format!("{name}.pressure")))),
        }));
    }
    Ok(None)
}

/// The lowest limits from the group `own` up.
fn limits(hierarchy: &Hierarchy, own: &Path) -> Result<Limits, String> {
    let mut lowest = Limits {
        by: own.to_owned(),
        ..Limits::default()
    };
    let mut at = u64::MAX;
    for folder in hierarchy
        .groups
        .iter()
        .skip_while(|folder| folder.as_path() != own)
    {
        let max = limit(&folder.join(files(hierarchy.version).0))?;
        let high = match hierarchy.version {
            Version::One => None,
            Version::Two => limit(&folder.join("memory.high"))?,
        };
        if let Some(bytes) = [max, high].into_iter().flatten().min()
            && bytes < at
        {
            at = bytes;
            folder.clone_into(&mut lowest.by);
        }
        let lower = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
        lowest.max = lower(lowest.max, max);
        lowest.high = lower(lowest.high, high);
    }
    Ok(lowest)
}

fn limit(file: &Path) -> Result<Option<u64>, String> {
    let text = match fs::read(file) {
        Ok(text) => text,
        // A group without the controller.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(file, &error)),
    };
    parse_memory_limit(&text).map_err(|error| format!("{}: {error}", file.display()))
}

impl Group {
    fn memory(&self) -> Result<GroupMemory, String> {
        let (before, after) = self.used.parse(parse_memory_usage)?;
        Ok(GroupMemory {
            limit_bytes: self.limits.max,
            high_bytes: self.limits.high,
            limited_by: self.limits.by.display().to_string(),
            used_before_bytes: before,
            used_after_bytes: after,
        })
    }

    fn put(&self, evidence: &mut Evidence) {
        let mut unseen = |what: &str, why: String| {
            evidence.unseen.push(Unseen {
                what: format!("{what} of the control group"),
                why,
            });
        };
        let memory = self.memory();
        let pressure = self.stalls.as_ref().map(Stalls::difference);
        // Where nothing holds the group back, the stalls of the machine say as much.
        let held_back = self.limits.max.is_some()
            || evidence
                .io_limits
                .as_ref()
                .is_some_and(|limits| !limits.is_empty());
        match &pressure {
            Some(Err(why)) => unseen(
                "pressure",
                format!(
                    "{why} (it needs Linux 4.20 with CONFIG_PSI; `echo 1 > cgroup.pressure` in \
                     the group switches it on, where it is off)"
                ),
            ),
            None if held_back && self.version == Version::One => unseen(
                "pressure",
                "version 1 of the control groups does not count the stalls of a group".to_owned(),
            ),
            _ => {}
        }
        if let Err(why) = &memory {
            unseen("memory", why.clone());
        }
        evidence.control_group = Some(ControlGroup {
            folder: self.folder.display().to_string(),
            memory: memory.ok(),
            pressure: pressure.and_then(Result::ok),
        });
    }
}

impl Observer for ControlGroupObserver {
    fn name(&self) -> &'static str {
        "control_group"
    }

    fn start(&mut self) {
        if let Ok(Some(group)) = &mut self.group {
            group.used.start();
            if let Some(stalls) = &mut group.stalls {
                stalls.start();
            }
        }
    }

    fn halt(&mut self) {
        if let Ok(Some(group)) = &mut self.group {
            if let Some(stalls) = &mut group.stalls {
                stalls.halt();
            }
            group.used.halt();
        }
    }

    fn stop(&mut self, evidence: &mut Evidence) {
        self.halt();
        match &self.group {
            Ok(Some(group)) => group.put(evidence),
            Ok(None) => {}
            Err(why) => evidence.unseen.push(Unseen {
                what: self.name().to_owned(),
                why: why.clone(),
            }),
        }
    }
}
