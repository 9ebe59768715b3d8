//! Where the kernel shows itself.

use std::path::{Path, PathBuf};

/// The folders that everything here is read from.
///
/// They are a parameter, so that the captured tree of a strange machine is
/// test data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    /// `/proc`.
    pub proc: PathBuf,
    /// `/sys`.
    pub sys: PathBuf,
    /// `/dev`.
    pub dev: PathBuf,
    /// `/etc`, for the name of the operating system.
    pub etc: PathBuf,
}

impl Default for Roots {
    fn default() -> Self {
        Self::under(Path::new("/"))
    }
}

impl Roots {
    /// The same folders below `root`; `/` is this machine.
    pub fn under(root: &Path) -> Self {
        Self {
            proc: root.join("proc"),
            sys: root.join("sys"),
            dev: root.join("dev"),
            etc: root.join("etc"),
        }
    }

    /// Whether these are this machine's own folders, so that a path which the
    /// kernel names can be looked up.
    pub fn live(&self) -> bool {
        *self == Self::default()
    }

    /// The path of the node of the device that the kernel calls `name`.
    pub(crate) fn node(&self, name: &str) -> PathBuf {
        self.dev.join(name)
    }
}
