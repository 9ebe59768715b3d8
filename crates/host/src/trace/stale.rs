//! What diskfacts that were killed left in tracefs.

use super::error::TraceError;
use super::name::{Owner, Standing};
use super::tracefs::Tracefs;
use crate::roots::Roots;
use std::fs;
use std::io;
use std::path::Path;

/// Instances of ours that nobody uses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StaleInstances {
    /// Names of those that were removed.
    pub removed: Vec<String>,
    /// Names of those that could not be, and why.
    pub kept: Vec<(String, String)>,
}

/// Removes the instances whose process is gone. Those of a process that runs are left
/// alone, and so are those that a container made whose processes are not seen from here.
///
/// # Errors
/// When there is no tracefs to look into, as without root.
pub fn remove_stale_instances(roots: &Roots) -> Result<StaleInstances, TraceError> {
    let tracefs = Tracefs::open(roots)?;
    remove_stale_in(&tracefs, &roots.proc)
}

pub(super) fn remove_stale_in(
    tracefs: &Tracefs,
    proc: &Path,
) -> Result<StaleInstances, TraceError> {
    let folder = tracefs.root().join("instances");
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        // Kernels before Linux 3.10 have no instances.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(StaleInstances::default());
        }
        Err(source) => return Err(TraceError::on("reading", &folder, source)),
    };
    let mut found = StaleInstances::default();
    for entry in entries {
        let entry = entry.map_err(|source| TraceError::on("reading", &folder, source))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(owner) = Owner::of(&name) else {
            continue;
        };
        if owner.standing(proc) != Standing::Dead {
            continue;
        }
        match fs::remove_dir(entry.path()) {
            Ok(()) => found.removed.push(name),
            // Somebody else has removed it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => found.kept.push((name, error.to_string())),
        }
    }
    found.removed.sort();
    found.kept.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_dead_process_of_ours_left_is_removed() {
        let tree = tempfile::tempdir().expect("a folder");
        let proc = Path::new("/proc");
        let own = Owner::this(proc).expect("this process");
        // This process began later or earlier than that one.
        let dead = own
            .next_name()
            .replacen(&format!("-{}-", own.pid), "-4194305-", 1);
        let alive = own.next_name();
        for name in [&*dead, &*alive, "somebody", "diskfacts-x"] {
            fs::create_dir_all(tree.path().join("instances").join(name)).expect("a folder");
        }
        let tracefs = Tracefs::at(tree.path());
        let found = remove_stale_in(&tracefs, proc).expect("a tree");
        assert_eq!((found.removed, found.kept), (vec![dead], vec![]));
        let left = fs::read_dir(tree.path().join("instances")).expect("the folder");
        assert_eq!(left.count(), 3);
    }
}
