//! A limit on the memory of this process, the pages of the page cache that it
//! fills among it: a control group of its own, entered and left again as
//! `control_group` promises.
//!
//! Version 2 takes it in `memory.max` (kernel:
//! `Documentation/admin-guide/cgroup-v2.rst`), version 1 in
//! `memory.limit_in_bytes` (`Documentation/admin-guide/cgroup-v1/memory.rst`).
//! Pages that other groups brought into the page cache do not count, so a file
//! has to be filled or dropped from the cache after the limit is there.

use crate::control_group::{ControlGroup, Purpose};
use crate::error::Error;
use crate::roots::Roots;
use std::path::Path;

const MEMORY: Purpose = Purpose {
    name: "memory",
    controller: "memory",
    version_1: &["memory.limit_in_bytes"],
    version_2: &["memory.max"],
    doing: "limiting memory by",
    instead: "keep the page cache from serving in another way",
    is_entered_again: false,
};

/// This process is in a group of its own while this lives.
#[derive(Debug)]
pub struct MemoryLimit {
    group: ControlGroup,
}

impl MemoryLimit {
    /// Enters a new group of so many bytes.
    ///
    /// # Errors
    /// Where groups cannot be made, or have no limit on memory.
    pub fn enter(roots: &Roots, bytes: u64) -> Result<Self, Error> {
        let (group, _) = MEMORY.enter(roots, &bytes.to_string())?;
        Ok(Self { group })
    }

    /// Where it is.
    pub fn group(&self) -> &Path {
        self.group.path()
    }

    /// Where this process was before, and will be again.
    pub fn before(&self) -> &Path {
        self.group.before()
    }
}
