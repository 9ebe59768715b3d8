//! A limit on the memory of this process, the pages of the page cache that it
//! fills among it: a control group of its own, entered and left again.
//!
//! # What is promised
//! * Dropping it puts the process back where it was and removes the group, on
//!   success, error and panic.
//! * A process that was killed leaves an empty group, which holds nobody back;
//!   the next [`MemoryLimit::enter`] removes it. A group that anybody is in
//!   cannot be removed: the kernel refuses it.
//!
//! # What it does
//! Version 2 of the control groups: a sibling of the group that this process is
//! in, with `memory.max` (kernel: `Documentation/admin-guide/cgroup-v2.rst`); the
//! process may not be in the root group, whose children have no memory
//! controller unless it hands one down. Version 1: a child, with
//! `memory.limit_in_bytes` (`Documentation/admin-guide/cgroup-v1/memory.rst`).
//! Pages that other groups brought into the page cache do not count, so a file
//! has to be filled or dropped from the cache after the limit is there.

use crate::error::Error;
use crate::parse::cgroup::{Membership, parse_cgroup};
use crate::roots::Roots;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How the groups are called: the number of the process follows.
const PREFIX: &str = "diskfacts-memory-";

/// This process is in a group of its own while this lives.
#[derive(Debug)]
pub struct MemoryLimit {
    /// The group that was made.
    group: PathBuf,
    /// The group that this process was in.
    before: PathBuf,
}

/// Where a group can be made.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    /// The group that this process is in.
    own: PathBuf,
    /// In which folder groups can be made that have the controller.
    parent: PathBuf,
    /// The file that takes the limit.
    file: &'static str,
}

impl MemoryLimit {
    /// Enters a new group of so many bytes.
    ///
    /// # Errors
    /// Where groups cannot be made, or have no limit on memory.
    pub fn enter(roots: &Roots, bytes: u64) -> Result<Self, Error> {
        let place = place(roots)?;
        remove_leftovers(&place.parent);
        let group = place.parent.join(format!("{PREFIX}{}", std::process::id()));
        fs::create_dir(&group)
            .map_err(|source| refused("making the control group", &group, source))?;
        let limit = Self {
            group,
            before: place.own,
        };
        let file = limit.group.join(place.file);
        fs::write(&file, bytes.to_string())
            .map_err(|source| refused("limiting memory by", &file, source))?;
        put_into(&limit.group)
            .map_err(|source| refused("entering the control group", &limit.group, source))?;
        Ok(limit)
    }

    /// Where it is.
    pub fn group(&self) -> &Path {
        &self.group
    }

    /// Where this process was before, and will be again.
    pub fn before(&self) -> &Path {
        &self.before
    }
}

impl Drop for MemoryLimit {
    fn drop(&mut self) {
        // A group that cannot be left ends with the process, and one that cannot
        // be removed now is removed by the next one that is made.
        let _ = put_into(&self.before);
        let _ = fs::remove_dir(&self.group);
    }
}

/// Puts this process into a group.
fn put_into(group: &Path) -> io::Result<()> {
    fs::write(group.join("cgroup.procs"), std::process::id().to_string())
}

fn refused(doing: &'static str, path: &Path, source: io::Error) -> Error {
    Error::System {
        doing,
        on: path.display().to_string(),
        hint: "control groups may be closed here, as in a container or to who is not root; run \
               it as root on the host, or keep the page cache from serving in another way"
            .to_owned(),
        source,
    }
}

/// Removes groups that nobody is in; the kernel refuses the others.
fn remove_leftovers(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.to_string_lossy().starts_with(PREFIX) {
            // In use, or gone meanwhile: either is as it should be.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

fn place(roots: &Roots) -> Result<Place, Error> {
    let table = roots.proc.join("self/cgroup");
    let text = fs::read(&table).map_err(|source| refused("reading", &table, source))?;
    let groups = parse_cgroup(&text).map_err(|source| Error::Form {
        path: table,
        source,
    })?;
    let cgroup = roots.sys.join("fs/cgroup");
    let places = groups.iter().filter_map(|group| candidate(&cgroup, group));
    // Of version 1 the group itself has the file, of version 2 its siblings have
    // it if it has.
    let mut usable = places.filter(|place| place.own.join(place.file).exists());
    usable.next().ok_or_else(|| {
        refused(
            "looking for a memory controller in",
            &cgroup,
            io::Error::new(io::ErrorKind::NotFound, "no group of this process has one"),
        )
    })
}

/// Where a group could be made, by one that this process is in.
fn candidate(cgroup: &Path, group: &Membership) -> Option<Place> {
    let under = |root: PathBuf| root.join(group.path.trim_start_matches('/'));
    if group.controllers.iter().any(|name| name == "memory") {
        let own = under(cgroup.join("memory"));
        return Some(Place {
            parent: own.clone(),
            own,
            file: "memory.limit_in_bytes",
        });
    }
    if !group.controllers.is_empty() || group.path == "/" {
        return None;
    }
    let own = under(cgroup.to_owned());
    Some(Place {
        parent: own.parent()?.to_owned(),
        own,
        file: "memory.max",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(cgroup: &Path, text: &str) -> Vec<Place> {
        let groups = parse_cgroup(text.as_bytes()).expect("groups");
        let places = groups.iter().filter_map(|group| candidate(cgroup, group));
        places.collect()
    }

    #[test]
    fn a_group_is_made_beside_that_of_version_2_and_inside_that_of_version_1() {
        let root = Path::new("/sys/fs/cgroup");
        let found = candidates(root, "0::/user.slice/session-1.scope\n");
        assert_eq!(
            found,
            [Place {
                own: root.join("user.slice/session-1.scope"),
                parent: root.join("user.slice"),
                file: "memory.max",
            }]
        );
        let found = candidates(root, "9:name=systemd:/\n4:memory:/a/b\n3:cpuset:/\n0::/\n");
        assert_eq!(
            found,
            [Place {
                own: root.join("memory/a/b"),
                parent: root.join("memory/a/b"),
                file: "memory.limit_in_bytes",
            }]
        );
        assert_eq!(candidates(root, "0::/\n"), []);
        for wrong in ["nonsense\n", "4:memory\n", "4:memory:a/b\n"] {
            assert!(parse_cgroup(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn without_a_controller_it_says_what_to_do_instead() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let roots = Roots::under(root.path());
        let error = MemoryLimit::enter(&roots, 1 << 20).expect_err("there is nothing");
        assert!(error.to_string().contains("in another way"), "{error}");
        fs::create_dir_all(root.path().join("proc/self")).expect("folders");
        fs::write(root.path().join("proc/self/cgroup"), "0::/\n").expect("a file");
        let error = MemoryLimit::enter(&roots, 1 << 20).expect_err("there is nothing");
        assert!(error.to_string().contains("memory controller"), "{error}");
    }

    #[test]
    fn leftovers_that_nobody_is_in_are_removed_and_nothing_else() {
        let parent = tempfile::tempdir().expect("a temporary folder");
        for name in ["diskfacts-memory-1", "diskfacts-memory-2", "other"] {
            fs::create_dir(parent.path().join(name)).expect("a folder");
        }
        // The kernel does not remove a group with members, nor this a full folder.
        fs::write(parent.path().join("diskfacts-memory-2/x"), "").expect("a file");
        remove_leftovers(parent.path());
        let left = |name: &str| parent.path().join(name).exists();
        assert!(!left("diskfacts-memory-1") && left("diskfacts-memory-2") && left("other"));
    }
}
