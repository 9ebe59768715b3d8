//! What diskfacts that were killed left in tracefs.

use super::error::TraceError;
use super::name::{Owner, Standing};
use super::remove::remove_instance;
use super::tracefs::Tracefs;
use crate::roots::Roots;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Two seconds: a process that was killed on a busy machine takes that long to end.
const REMOVE_TRIES: u32 = 400;

/// Instances of ours that nobody uses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StaleInstances {
    /// Names of those that were removed.
    pub removed: Vec<String>,
    /// Names of those that could not be, and why.
    pub kept: Vec<(String, String)>,
}

/// Names of the instances whose process is gone. Those of a process that runs are not
/// among them, and neither are those that a container made whose processes are not seen
/// from here.
///
/// # Errors
/// When there is no tracefs to look into, as without root.
pub fn stale_instances(roots: &Roots) -> Result<Vec<String>, TraceError> {
    instances_of(Standing::Dead, &Tracefs::open(roots)?, &roots.proc)
}

/// Paths of the instances of which is not known whether their process runs: it is, or was,
/// one of another pid namespace.
///
/// # Errors
/// When there is no tracefs to look into, as without root.
pub fn instances_elsewhere(roots: &Roots) -> Result<Vec<PathBuf>, TraceError> {
    let tracefs = Tracefs::open(roots)?;
    let names = instances_of(Standing::Elsewhere, &tracefs, &roots.proc)?;
    let paths = names.iter().map(|name| tracefs.instances().join(name));
    Ok(paths.collect())
}

/// Names of our instances whose processes are in this state, in their order.
fn instances_of(
    wanted: Standing,
    tracefs: &Tracefs,
    proc: &Path,
) -> Result<Vec<String>, TraceError> {
    let folder = tracefs.instances();
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        // Kernels before Linux 3.10 have no instances.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(TraceError::on("reading", &folder, source)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|source| TraceError::on("reading", &folder, source))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if Owner::of(&name).is_some_and(|owner| owner.standing(proc) == wanted) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Removes the [`stale_instances`].
///
/// # Errors
/// When there is no tracefs to look into, as without root.
pub fn remove_stale_instances(roots: &Roots) -> Result<StaleInstances, TraceError> {
    let tracefs = Tracefs::open(roots)?;
    remove_stale_in(&tracefs, &roots.proc, REMOVE_TRIES)
}

pub(super) fn remove_stale_in(
    tracefs: &Tracefs,
    proc: &Path,
    tries: u32,
) -> Result<StaleInstances, TraceError> {
    let mut found = StaleInstances::default();
    for name in instances_of(Standing::Dead, tracefs, proc)? {
        match remove_instance(&tracefs.instances().join(&name), tries) {
            Ok(true) => found.removed.push(name),
            Ok(false) => {}
            Err(error) => found.kept.push((name, error.to_string())),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_testkit::{or_skip, require_root, skip};
    use std::sync::Barrier;

    #[test]
    fn only_what_a_dead_process_of_ours_left_is_removed() {
        let tree = tempfile::tempdir().expect("a folder");
        let proc = Path::new("/proc");
        let own = Owner::this(proc).expect("this process");
        let dead = dead(&own);
        let alive = own.next_name();
        for name in [&*dead, &*alive, "somebody", "diskfacts-x"] {
            fs::create_dir_all(tree.path().join("instances").join(name)).expect("a folder");
        }
        let tracefs = Tracefs::at(tree.path());
        let shown = instances_of(Standing::Dead, &tracefs, proc).expect("a tree");
        assert_eq!(shown, std::slice::from_ref(&dead));
        let found = remove_stale_in(&tracefs, proc, REMOVE_TRIES).expect("a tree");
        assert_eq!((found.removed, found.kept), (vec![dead], vec![]));
        let left = fs::read_dir(tree.path().join("instances")).expect("the folder");
        assert_eq!(left.count(), 3);
    }

    /// tracefs, or the reason why a test cannot run.
    fn tracefs() -> Option<Tracefs> {
        let found = Tracefs::open(&Roots::default());
        found.map_err(|error| skip(&error.to_string())).ok()
    }

    /// The name of an instance that nobody uses.
    fn dead(own: &Owner) -> String {
        let name = own.next_name();
        // No process has such a number.
        name.replacen(&format!("-{}-", own.pid), "-4194305-", 1)
    }

    #[test]
    fn what_several_remove_at_once_is_removed_and_nobody_complains() {
        or_skip!(require_root());
        let Some(tracefs) = tracefs() else { return };
        let proc = Path::new("/proc");
        let own = Owner::this(proc).expect("this process");
        let instances = tracefs.instances();
        // Beside this test others may remove them, which is all the same here.
        for _ in 0..10 {
            let dead: Vec<String> = (0..8).map(|_| dead(&own)).collect();
            for name in &dead {
                fs::create_dir(instances.join(name)).expect("an instance");
            }
            let begin = Barrier::new(4);
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        begin.wait();
                        let found = remove_stale_in(&tracefs, proc, REMOVE_TRIES).expect("a tree");
                        assert_eq!(found.kept, []);
                    });
                }
            });
            let left = dead.iter().filter(|name| instances.join(name).exists());
            assert_eq!(left.count(), 0);
        }
    }

    #[test]
    fn one_that_somebody_looks_into_is_kept_until_he_is_gone() {
        or_skip!(require_root());
        let Some(tracefs) = tracefs() else { return };
        let proc = Path::new("/proc");
        let own = Owner::this(proc).expect("this process");
        let dead = dead(&own);
        let folder = tracefs.instances().join(&dead);
        fs::create_dir(&folder).expect("an instance");
        let looking = fs::File::open(folder.join("trace_pipe")).expect("its events");
        let found = remove_stale_in(&tracefs, proc, 2).expect("a tree");
        let why = found.kept.iter().find(|(name, _)| *name == dead);
        let (_, why) = why.expect("it is kept");
        assert!(why.contains("busy"), "{why}");
        assert!(folder.exists());
        drop(looking);
        remove_stale_in(&tracefs, proc, REMOVE_TRIES).expect("a tree");
        assert!(!folder.exists());
    }
}
