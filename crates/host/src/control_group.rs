//! A control group of this process's own, entered and left again.
//!
//! # What is promised
//! * Dropping it puts the process back where it was and removes the group, on
//!   success, error and panic.
//! * Where that is gone (systemd removes a scope that is empty), it goes to one above. Those above take no
//!   processes but for the root group, beside which no group can be made. So where one is entered
//!   [again and again](Purpose::is_entered_again), the process stays in it instead, with what was in its files
//!   at first, until it [leaves](Purpose::leave).
//! * A process that was killed leaves an empty group, which holds nobody back; the
//!   next one that is made beside it removes it. A group that anybody is in cannot
//!   be removed: the kernel refuses it.
//!
//! # What it does
//! Version 2 of the control groups: a sibling of the group that this process is
//! in (kernel: `Documentation/admin-guide/cgroup-v2.rst`), as a group with processes
//! hands no controller down; the process may not be in the root group, whose
//! children have no controller unless it hands one down. Limits of the group that
//! was left do not hold there, only those above it. Version 1: a child
//! (`Documentation/admin-guide/cgroup-v1/cgroups.rst`), for which those of its
//! parent hold.

use crate::error::Error;
use crate::parse::cgroup::{Membership, parse_cgroup};
use crate::roots::Roots;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What a group is for.
#[derive(Debug)]
pub(crate) struct Purpose {
    /// The groups are called `diskfacts-NAME-PROCESS`.
    pub(crate) name: &'static str,
    /// The controller of version 1.
    pub(crate) controller: &'static str,
    /// Its files that take the value: those of them that there are.
    pub(crate) version_1: &'static [&'static str],
    /// Those of version 2.
    pub(crate) version_2: &'static [&'static str],
    /// What was tried, as `limiting memory by`.
    pub(crate) doing: &'static str,
    /// What to do where it is refused.
    pub(crate) instead: &'static str,
    /// Whether one is entered for each of several trials.
    pub(crate) is_entered_again: bool,
}

/// This process is in a group of its own while this lives.
#[derive(Debug)]
pub(crate) struct ControlGroup {
    /// The group that was made.
    group: PathBuf,
    /// The group that this process was in: this one, where it had to stay in it.
    before: PathBuf,
    /// What was in the files that took the value.
    at_first: Vec<(PathBuf, String)>,
    is_entered_again: bool,
}

/// Where a group can be made.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    /// The group that this process is in.
    own: PathBuf,
    /// In which folder groups can be made that have the controller.
    parent: PathBuf,
    /// The files that may take the value.
    files: &'static [&'static str],
}

impl Purpose {
    /// Enters a new group, whose files take this value; answers with their paths.
    ///
    /// # Errors
    /// Where groups cannot be made, or none has a file that takes the value.
    pub(crate) fn enter(
        &self,
        roots: &Roots,
        value: &str,
    ) -> Result<(ControlGroup, Vec<PathBuf>), Error> {
        for place in self.places(roots)? {
            self.remove_leftovers(roots, &place.parent);
            let group = place.parent.join(self.own_name());
            if group != place.own {
                fs::create_dir(&group)
                    .map_err(|source| self.refused("making the control group", &group, source))?;
            }
            let mut entered = ControlGroup {
                group,
                before: place.own,
                at_first: Vec::new(),
                is_entered_again: self.is_entered_again,
            };
            entered.at_first = at_first(&entered.group, place.files);
            let files = self.set(&entered.group, place.files, value)?;
            if files.is_empty() {
                // The kernel makes the files of a group with it: there are none.
                continue;
            }
            put_into(&entered.group).map_err(|source| {
                self.refused("entering the control group", &entered.group, source)
            })?;
            return Ok((entered, files));
        }
        Err(self.refused(
            "looking for a controller in",
            &roots.sys.join("fs/cgroup"),
            io::Error::new(
                io::ErrorKind::NotFound,
                format!("no group of this process has one for {}", self.name),
            ),
        ))
    }

    /// Leaves a group that this process had to stay in, for one above, and removes it.
    pub(crate) fn leave(&self, roots: &Roots) {
        // Where it is not known, or cannot be left, it ends with the process.
        for place in self.places(roots).unwrap_or_default() {
            if place.own.ends_with(self.own_name()) {
                put_above(&place.own);
                let _ = fs::remove_dir(&place.own);
            }
        }
    }

    /// Writes the value to those of the files that there are.
    fn set(&self, group: &Path, files: &[&str], value: &str) -> Result<Vec<PathBuf>, Error> {
        let files = files.iter().map(|file| group.join(file));
        let files: Vec<PathBuf> = files.filter(|file| file.exists()).collect();
        for file in &files {
            fs::write(file, value).map_err(|source| self.refused(self.doing, file, source))?;
        }
        Ok(files)
    }

    fn own_name(&self) -> String {
        format!("{}{}", self.prefix(), std::process::id())
    }

    fn prefix(&self) -> String {
        format!("diskfacts-{}-", self.name)
    }

    fn refused(&self, doing: &'static str, path: &Path, source: io::Error) -> Error {
        Error::System {
            doing,
            on: path.display().to_string(),
            hint: format!(
                "control groups may be closed here, as in a container or to who is not root; run \
                 it as root on the host, or {}",
                self.instead
            ),
            source,
        }
    }

    /// Removes the groups of processes that are dead, and of one before this that had
    /// its number; the kernel refuses it where anybody is in one.
    fn remove_leftovers(&self, roots: &Roots, parent: &Path) {
        let Ok(entries) = fs::read_dir(parent) else {
            return;
        };
        let prefix = self.prefix();
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let Some(process) = name.strip_prefix(&prefix) else {
                continue;
            };
            // One that lives may just have made it, and not be in it yet.
            if name == self.own_name() || !roots.proc.join(process).exists() {
                // In use, or gone meanwhile: either is as it should be.
                let _ = fs::remove_dir(entry.path());
            }
        }
    }

    /// Where a group could be made, by those that this process is in.
    fn places(&self, roots: &Roots) -> Result<Vec<Place>, Error> {
        let table = roots.proc.join("self/cgroup");
        let text = fs::read(&table).map_err(|source| self.refused("reading", &table, source))?;
        let groups = parse_cgroup(&text).map_err(|source| Error::Form {
            path: table,
            source,
        })?;
        let cgroup = roots.sys.join("fs/cgroup");
        let places = groups.iter().filter_map(|group| self.place(&cgroup, group));
        // A hierarchy may be mounted elsewhere, or nowhere.
        let mounted = places.filter(|place| place.own.join("cgroup.procs").exists());
        Ok(mounted.collect())
    }

    fn place(&self, cgroup: &Path, group: &Membership) -> Option<Place> {
        let under = |root: PathBuf| root.join(group.path.trim_start_matches('/'));
        if group.controllers.iter().any(|name| name == self.controller) {
            let own = under(cgroup.join(self.controller));
            return Some(Place {
                parent: own.clone(),
                own,
                files: self.version_1,
            });
        }
        if !group.controllers.is_empty() || group.path == "/" {
            return None;
        }
        let own = under(cgroup.to_owned());
        Some(Place {
            parent: own.parent()?.to_owned(),
            own,
            files: self.version_2,
        })
    }
}

impl ControlGroup {
    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.group
    }

    /// Where this process was before, and will be again where that is there.
    pub(crate) fn before(&self) -> &Path {
        &self.before
    }

    /// What stood in a file of this name in the group where this process was before, and will be
    /// again; `None` where there is none.
    pub(crate) fn value_before(&self, name: &OsStr) -> Option<String> {
        if self.before != self.group {
            return fs::read_to_string(self.before.join(name)).ok();
        }
        let mut values = self.at_first.iter();
        let value = values.find(|(file, _)| file.file_name() == Some(name));
        value.map(|(_, value)| value.clone())
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        let is_back = self.before != self.group && put_into(&self.before).is_ok();
        if !is_back && self.is_entered_again {
            for (file, value) in &self.at_first {
                // What cannot be put back holds nobody but this process.
                let _ = fs::write(file, value);
            }
        } else if !is_back {
            put_above(&self.before);
        }
        // The kernel refuses it while this process is in it, and one that cannot be removed now is
        // removed by the next one that is made.
        let _ = fs::remove_dir(&self.group);
    }
}

/// Puts this process into the first group above this one that takes it. Where none does it stays
/// until it ends.
fn put_above(group: &Path) {
    let mut above = group.ancestors().skip(1);
    let _ = above.find(|group| put_into(group).is_ok());
}

/// What is in those of the files that there are, as it can be written to them: of `io.weight`,
/// the line for all devices.
fn at_first(group: &Path, files: &[&str]) -> Vec<(PathBuf, String)> {
    let files = files.iter().map(|file| group.join(file));
    let values = files.filter_map(|file| {
        let text = fs::read_to_string(&file).ok()?;
        Some((file, text.lines().next()?.to_owned()))
    });
    values.collect()
}

/// Puts this process into a group.
fn put_into(group: &Path) -> io::Result<()> {
    // Where there is none, none is made.
    let mut file = fs::OpenOptions::new()
        .write(true)
        .open(group.join("cgroup.procs"))?;
    file.write_all(std::process::id().to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TESTED: Purpose = Purpose {
        name: "tested",
        controller: "memory",
        version_1: &["limit", "other_limit"],
        version_2: &["max"],
        doing: "limiting it by",
        instead: "do without",
        is_entered_again: true,
    };

    fn places(cgroup: &Path, text: &str) -> Vec<Place> {
        let groups = parse_cgroup(text.as_bytes()).expect("groups");
        let places = groups
            .iter()
            .filter_map(|group| TESTED.place(cgroup, group));
        places.collect()
    }

    #[test]
    fn a_group_is_made_beside_that_of_version_2_and_inside_that_of_version_1() {
        let root = Path::new("/sys/fs/cgroup");
        let found = places(root, "0::/user.slice/session-1.scope\n");
        assert_eq!(
            found,
            [Place {
                own: root.join("user.slice/session-1.scope"),
                parent: root.join("user.slice"),
                files: &["max"],
            }]
        );
        let found = places(root, "9:name=systemd:/\n4:memory:/a/b\n3:cpuset:/\n0::/\n");
        assert_eq!(
            found,
            [Place {
                own: root.join("memory/a/b"),
                parent: root.join("memory/a/b"),
                files: &["limit", "other_limit"],
            }]
        );
        assert_eq!(places(root, "0::/\n"), []);
        for wrong in ["nonsense\n", "4:memory\n", "4:memory:a/b\n"] {
            assert!(parse_cgroup(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn without_a_controller_it_says_what_to_do_instead_and_leaves_nothing() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let roots = Roots::under(root.path());
        let error = TESTED.enter(&roots, "1").expect_err("there is nothing");
        assert!(error.to_string().contains("or do without"), "{error}");
        fs::create_dir_all(root.path().join("proc/self")).expect("folders");
        let groups = root.path().join("sys/fs/cgroup");
        for group in ["memory/a", "b/c"] {
            let group = groups.join(group);
            fs::create_dir_all(&group).expect("folders");
            fs::write(group.join("cgroup.procs"), "").expect("a file");
        }
        let table = root.path().join("proc/self/cgroup");
        // Here nothing makes the files of a group.
        for groups in ["0::/\n", "4:memory:/a\n0::/b/c\n", "4:memory:/z\n"] {
            fs::write(&table, groups).expect("a file");
            let error = TESTED.enter(&roots, "1").expect_err("there is nothing");
            assert!(error.to_string().contains("has one for tested"), "{error}");
        }
        for parent in [groups.join("memory/a"), groups.join("b")] {
            let mut names = fs::read_dir(parent).expect("a folder").flatten();
            let left = names.find(|entry| entry.file_name() != "c" && entry.path().is_dir());
            assert!(left.is_none(), "{left:?}");
        }
    }

    /// A group as the kernel shows one, with nobody in it.
    fn group_in(parent: &Path, name: &str) -> PathBuf {
        let group = parent.join(name);
        fs::create_dir_all(&group).expect("folders");
        fs::write(group.join("cgroup.procs"), "").expect("a file");
        fs::write(group.join("max"), "100\n8:0 7\n").expect("a file");
        group
    }

    fn read(file: PathBuf) -> String {
        fs::read_to_string(file).expect("a file")
    }

    #[test]
    fn where_the_group_before_is_gone_it_stays_in_its_own_without_the_value() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let slice = group_in(root.path(), "user.slice");
        let group = group_in(&slice, "diskfacts-tested-1");
        let gone = |is_entered_again| ControlGroup {
            before: slice.join("session-1.scope"),
            group: group.clone(),
            at_first: at_first(&group, TESTED.version_2),
            is_entered_again,
        };
        let entered = gone(true);
        fs::write(group.join("max"), "500").expect("a file");
        drop(entered);
        assert_eq!(read(group.join("max")), "100");
        // In the root group no other could be made.
        assert_eq!(read(slice.join("cgroup.procs")), "");
        drop(gone(false));
        let own = std::process::id().to_string();
        assert_eq!(read(slice.join("cgroup.procs")), own);
    }

    #[test]
    fn the_group_that_it_had_to_stay_in_is_entered_again() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let roots = Roots::under(root.path());
        let slice = root.path().join("sys/fs/cgroup/user.slice");
        let group = group_in(&slice, &TESTED.own_name());
        fs::create_dir_all(root.path().join("proc/self")).expect("folders");
        let table = format!("0::/user.slice/{}\n", TESTED.own_name());
        fs::write(root.path().join("proc/self/cgroup"), table).expect("a file");
        let (entered, files) = TESTED.enter(&roots, "500").expect("it is there");
        assert_eq!(files, [group.join("max")]);
        assert_eq!(read(group.join("max")), "500");
        let own = std::process::id().to_string();
        assert_eq!(read(group.join("cgroup.procs")), own);
        let before = entered.value_before(OsStr::new("max"));
        assert_eq!(before.as_deref(), Some("100"));
        drop(entered);
        assert_eq!(read(group.join("max")), "100");
        // Nobody is in that above before the run ends.
        let above = slice.join("cgroup.procs");
        fs::write(&above, "").expect("a file");
        TESTED.leave(&roots);
        assert_eq!(read(above), own);
    }

    #[test]
    fn the_value_is_written_to_each_file_that_there_is_and_to_no_other() {
        let group = tempfile::tempdir().expect("a temporary folder");
        let other = group.path().join("other_limit");
        fs::write(&other, "0").expect("a file");
        let files = TESTED.set(group.path(), TESTED.version_1, "500");
        assert_eq!(files.expect("it is there"), std::slice::from_ref(&other));
        assert_eq!(fs::read_to_string(other).expect("a file"), "500");
        assert!(!group.path().join("limit").exists());
    }

    #[test]
    fn groups_of_the_dead_that_nobody_is_in_are_removed_and_nothing_else() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let roots = Roots::under(root.path());
        fs::create_dir_all(roots.proc.join("3")).expect("a living process");
        let parent = root.path().join("groups");
        let own = TESTED.own_name();
        let names = [
            "diskfacts-tested-1",
            "diskfacts-tested-2",
            "diskfacts-tested-3",
        ];
        for name in names
            .into_iter()
            .chain(["diskfacts-memory-1", "other", &own])
        {
            fs::create_dir_all(parent.join(name)).expect("a folder");
        }
        // The kernel does not remove a group with members, nor this a full folder.
        fs::write(parent.join("diskfacts-tested-2/x"), "").expect("a file");
        TESTED.remove_leftovers(&roots, &parent);
        let mut left: Vec<String> = fs::read_dir(&parent)
            .expect("a folder")
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        left.sort();
        assert_eq!(left, ["diskfacts-memory-1", names[1], names[2], "other"]);
    }
}
