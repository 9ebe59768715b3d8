//! Whether a filesystem with several devices has all of them, and how it spreads data
//! over them: btrfs and ZFS.

use super::sources::btrfs_folder;
use crate::error::Error;
use crate::parse::mountinfo::Mount;
use crate::roots::Roots;
use crate::sysfs::sorted_entries;
use diskfacts_record::{Filesystem, Impairment, ImpairmentKind};
use std::fs;
use std::path::Path;

/// Fills in what the kernel tells of this filesystem.
pub(super) fn look(roots: &Roots, mount: &Mount, filesystem: &mut Filesystem) -> Result<(), Error> {
    match mount.kind.as_str() {
        "btrfs" => {
            if let Some(folder) = btrfs_folder(roots, mount)? {
                if filesystem.uuid.is_none() {
                    // Its folder has its name (`btrfs_sysfs_add_mounted`).
                    let name = folder.file_name().and_then(|name| name.to_str());
                    filesystem.uuid = name.map(str::to_owned);
                }
                btrfs(&folder, filesystem)?;
            }
        }
        "zfs" => filesystem.impaired.extend(zfs(roots, &mount.source)),
        _ => {}
    }
    Ok(())
}

/// `allocation/data` has a folder for each profile, `devinfo` one for each device with
/// `missing` in it (since Linux 5.10), `exclusive_operation` what moves data about
/// (since 5.10).
///
/// Source: kernel, `fs/btrfs/sysfs.c`.
fn btrfs(folder: &Path, filesystem: &mut Filesystem) -> Result<(), Error> {
    for entry in sorted_entries(&folder.join("allocation/data"))? {
        if entry.join("total_bytes").exists() {
            let name = entry.file_name().unwrap_or_default();
            filesystem
                .data_profiles
                .push(name.to_string_lossy().into_owned());
        }
    }
    let devices = sorted_entries(&folder.join("devinfo"))?;
    let is_missing = |device: &&std::path::PathBuf| text(&device.join("missing")) == "1";
    let missing = devices.iter().filter(is_missing).count();
    if missing > 0 {
        let (verb, all) = (if missing == 1 { "is" } else { "are" }, devices.len());
        filesystem.impaired.push(Impairment {
            kind: ImpairmentKind::Degraded,
            what: format!("{missing} of its {all} devices {verb} missing"),
            source: format!("devinfo/*/missing is 1 for {missing}"),
        });
    }
    let (kind, what) = match text(&folder.join("exclusive_operation")).as_str() {
        operation @ "device replace" => (ImpairmentKind::Rebuilding, operation.to_owned()),
        operation @ ("balance" | "device remove") => {
            (ImpairmentKind::Reshaping, operation.to_owned())
        }
        _ => return Ok(()),
    };
    filesystem.impaired.push(Impairment {
        kind,
        source: format!("exclusive_operation is {what}"),
        what: format!("btrfs does a {what}"),
    });
    Ok(())
}

/// The state of a pool, as the module tells it (since `OpenZFS` 0.8).
fn zfs(roots: &Roots, source: &str) -> Option<Impairment> {
    let pool = source.split('/').next().filter(|pool| !pool.is_empty())?;
    // A name must not lead out of the folder.
    if pool.starts_with('.') {
        return None;
    }
    let path = format!("spl/kstat/zfs/{pool}/state");
    let state = text(&roots.proc.join(&path));
    let kind = match state.as_str() {
        "DEGRADED" => ImpairmentKind::Degraded,
        "SUSPENDED" => ImpairmentKind::Suspended,
        "FAULTED" | "UNAVAIL" | "OFFLINE" | "REMOVED" => ImpairmentKind::Failed,
        _ => return None,
    };
    Some(Impairment {
        kind,
        what: format!("its pool {pool} is {state}; `zpool status {pool}` says more"),
        source: format!("/proc/{path} is {state}"),
    })
}

/// A file without the blanks around it; empty where it cannot be read, as with kernels
/// that do not have it.
fn text(path: &Path) -> String {
    let bytes = fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&bytes).trim().to_owned()
}
