//! Control groups that dead processes left behind.
//!
//! A group of ours is called `diskfacts-WHAT-PROCESS`. It is removed when that
//! process is dead; the kernel refuses to remove one that anybody is in.

use super::process::lives;
use crate::roots::Roots;
use std::fs;
use std::path::{Path, PathBuf};

/// How groups begin.
const PREFIX: &str = "diskfacts-";
/// The folders of the tests are taken down by the tests.
const OF_TESTS: &str = "diskfacts-test";
/// Deeper trees are not looked through.
const DEPTH: usize = 16;

/// The process that a group of ours is named after.
fn process_of(name: &str) -> Option<u32> {
    if name.starts_with(OF_TESTS) {
        return None;
    }
    let (_, process) = name.strip_prefix(PREFIX)?.rsplit_once('-')?;
    process.parse().ok()
}

/// The groups of dead processes, in no order.
pub fn stale_groups(roots: &Roots) -> Vec<PathBuf> {
    let mut found = Vec::new();
    look_into(roots, &roots.sys.join("fs/cgroup"), DEPTH, &mut found);
    found
}

fn look_into(roots: &Roots, folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    // A group that goes meanwhile has nothing in it.
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        // Controllers of version 1 are linked under second names.
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let path = entry.path();
        match process_of(&entry.file_name().to_string_lossy()) {
            Some(process) if !lives(roots, process, None) => found.push(path),
            None if depth > 0 => look_into(roots, &path, depth - 1, found),
            Some(_) | None => {}
        }
    }
}

/// Removes them, and answers those that were removed; one that anybody is in
/// stays.
pub fn remove_stale_groups(roots: &Roots) -> Vec<PathBuf> {
    let mut groups = stale_groups(roots);
    groups.retain(|group| fs::remove_dir(group).is_ok());
    groups
}

/// Puts this process into each of these groups.
pub(super) fn enter(groups: &[PathBuf]) {
    for group in groups {
        // Where it cannot go it stays in the group of its parent, which is then
        // left behind, and removed by the next start.
        let _ = fs::write(group.join("cgroup.procs"), std::process::id().to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_dead_processes_are_removed_and_all_others_stay() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let roots = Roots::under(root.path());
        let groups = roots.sys.join("fs/cgroup");
        let names = [
            "memory/a/diskfacts-memory-7",
            "user.slice/diskfacts-io-8",
            "user.slice/diskfacts-io-9",
            "memory/diskfacts-test-7",
            "memory/diskfacts-memory",
            "memory/other-7",
        ];
        for name in names {
            fs::create_dir_all(groups.join(name)).expect("a folder");
        }
        fs::create_dir_all(roots.proc.join("9")).expect("a folder");
        fs::write(roots.proc.join("9/stat"), "9 (x) S 1 1\n").expect("a living process");
        let mut removed = remove_stale_groups(&roots);
        removed.sort();
        let of = |name: &str| groups.join(name);
        assert_eq!(removed, [of(names[0]), of(names[1])]);
        for name in &names[2..] {
            assert!(of(name).exists(), "{name}");
        }
        assert!(!of(names[0]).exists() && !of(names[1]).exists());
    }
}
