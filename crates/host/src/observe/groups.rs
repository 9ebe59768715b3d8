//! The folders of the control groups that this process is in.

use crate::parse::cgroup::{Membership, parse_cgroup};
use crate::roots::Roots;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Version of the control groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// A hierarchy for each controller, or for a few.
    One,
    /// One for all.
    Two,
}

/// A hierarchy of groups that this process is in.
pub(super) struct Hierarchy {
    pub(super) version: Version,
    /// The folders of its own group and of those above it, up to what is mounted.
    /// The own one may not exist, where a container is shown something else.
    pub(super) groups: Vec<PathBuf>,
}

impl Hierarchy {
    fn new(version: Version, root: &Path, group: &Membership) -> Self {
        let own = root.join(group.path.trim_start_matches('/'));
        let groups = own
            .ancestors()
            .take_while(|folder| folder.starts_with(root))
            .map(Path::to_owned)
            .collect();
        Self { version, groups }
    }

    /// Folder of the group that this process is in.
    pub(super) fn own(&self) -> &Path {
        &self.groups[0]
    }
}

/// The hierarchies that may have a controller, by its name in version 1: that of
/// version 1 with this name, and that of version 2.
///
/// # Errors
/// When the groups of this process cannot be read, in words.
pub(super) fn hierarchies(roots: &Roots, controller: &str) -> Result<Vec<Hierarchy>, String> {
    let table = roots.proc.join("self/cgroup");
    let text = fs::read(&table).map_err(|error| unreadable(&table, &error))?;
    let groups = parse_cgroup(&text).map_err(|error| format!("{}: {error}", table.display()))?;
    let mounted = roots.sys.join("fs/cgroup");
    Ok(groups
        .iter()
        .filter_map(|group| hierarchy(&mounted, group, controller))
        .collect())
}

/// Why a file could not be read, in words.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> String {
    format!("reading {}: {error}", path.display())
}

fn hierarchy(mounted: &Path, group: &Membership, controller: &str) -> Option<Hierarchy> {
    if group.controllers.iter().any(|name| name == controller) {
        // The hierarchy is mounted under the names of its controllers; where
        // there are several, links lead there too.
        let roots = [group.controllers.join(","), controller.to_owned()];
        let root = roots.iter().map(|name| mounted.join(name));
        let mut existing = root.filter(|root| root.is_dir());
        return existing
            .next()
            .map(|root| Hierarchy::new(Version::One, &root, group));
    }
    if !group.controllers.is_empty() {
        return None;
    }
    let roots = [mounted.to_owned(), mounted.join("unified")];
    let root = roots
        .into_iter()
        .find(|root| root.join("cgroup.controllers").exists())?;
    Some(Hierarchy::new(Version::Two, &root, group))
}
