//! Processor time that the control groups of this process may have, and for how long they
//! were not let run because it was used up.

use super::Observer;
use super::groups::{Hierarchy, Version, hierarchies, unreadable};
use super::window::Window;
use crate::parse::cpu_quota::{Quota, parse_cfs_quota, parse_cpu_max, parse_cpu_stat};
use crate::roots::Roots;
use diskfacts_record::evidence::CpuQuota;
use diskfacts_record::{Evidence, Unseen};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Reads the quotas when it is made, before the window opens, and what they did at its two
/// ends. A process is held to the quota of its group and of all above, in both versions.
pub struct CpuQuotaObserver {
    groups: Result<Vec<Group>, String>,
}

/// A group that has a quota.
struct Group {
    folder: PathBuf,
    quota: Quota,
    stat: Window,
}

impl CpuQuotaObserver {
    /// Looks for quotas from the group of this process up.
    pub fn new(roots: &Roots) -> Self {
        Self {
            groups: groups(roots),
        }
    }
}

fn groups(roots: &Roots) -> Result<Vec<Group>, String> {
    let mut found = Vec::new();
    for Hierarchy { version, groups } in hierarchies(roots, "cpu")? {
        for folder in groups {
            if let Some(quota) = quota(version, &folder)? {
                found.push(Group {
                    stat: Window::open(&folder.join("cpu.stat")),
                    folder,
                    quota,
                });
            }
        }
    }
    Ok(found)
}

fn quota(version: Version, folder: &Path) -> Result<Option<Quota>, String> {
    match version {
        Version::Two => {
            let file = folder.join("cpu.max");
            let Some(text) = text(&file)? else {
                return Ok(None);
            };
            parse_cpu_max(&text).map_err(|error| format!("{}: {error}", file.display()))
        }
        Version::One => {
            let file = folder.join("cpu.cfs_quota_us");
            let period = text(&folder.join("cpu.cfs_period_us"))?;
            let Some((quota, period)) = text(&file)?.zip(period) else {
                return Ok(None);
            };
            parse_cfs_quota(&quota, &period).map_err(|error| format!("{}: {error}", file.display()))
        }
    }
}

/// What a file says; `None` where it is not there: the root, a kernel without quotas.
fn text(file: &Path) -> Result<Option<Vec<u8>>, String> {
    match fs::read(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(file, &error)),
    }
}

impl Group {
    fn seen(&self) -> Result<CpuQuota, String> {
        let (before, after) = self.stat.parse(parse_cpu_stat)?;
        Ok(CpuQuota {
            folder: self.folder.display().to_string(),
            quota_ns: self.quota.quota_us.saturating_mul(1000),
            period_ns: self.quota.period_us.saturating_mul(1000),
            periods: after.periods.saturating_sub(before.periods),
            throttled_periods: after
                .throttled_periods
                .saturating_sub(before.throttled_periods),
            throttled_ns: after.throttled_ns.saturating_sub(before.throttled_ns),
        })
    }
}

impl Observer for CpuQuotaObserver {
    fn name(&self) -> &'static str {
        "cpu_quota"
    }

    fn start(&mut self) {
        for group in self.groups.iter_mut().flatten() {
            group.stat.start();
        }
    }

    fn halt(&mut self) {
        for group in self.groups.iter_mut().flatten() {
            group.stat.halt();
        }
    }

    fn stop(&mut self, evidence: &mut Evidence) {
        self.halt();
        let seen = self.groups.as_ref().map_err(Clone::clone);
        let seen = seen.and_then(|groups| groups.iter().map(Group::seen).collect());
        match seen {
            // Of several, the one that held back for longest.
            Ok(all) => {
                let all: Vec<CpuQuota> = all;
                evidence.cpu_quota = all.into_iter().max_by_key(|one| one.throttled_ns);
            }
            Err(why) => evidence.unseen.push(Unseen {
                what: self.name().to_owned(),
                why,
            }),
        }
    }
}
