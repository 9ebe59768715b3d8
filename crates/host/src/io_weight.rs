//! The share of a device that this process gets beside others: a control group of
//! its own with a weight, entered and left again as
//! `control_group` promises.
//!
//! # What is promised
//! Groups whose processes want the device at the same time get it in proportion to
//! their weights, of which 100 is usual.
//!
//! # What is not
//! Only the scheduler bfq goes by it (kernel `Documentation/block/bfq-iosched.rst`),
//! and the cost model of version 2 where it is switched on for a device
//! (`io.cost.qos` in `Documentation/admin-guide/cgroup-v2.rst`). With nobody else at
//! the device it changes nothing.

use crate::control_group::{ControlGroup, Purpose};
use crate::error::Error;
use crate::roots::Roots;
use std::fs;
use std::path::{Path, PathBuf};

const WEIGHT: Purpose = Purpose {
    name: "weight",
    controller: "blkio",
    // Of bfq, and of cfq before Linux 5.0.
    version_1: &["blkio.bfq.weight", "blkio.weight"],
    // Of the cost model, and of bfq.
    version_2: &["io.weight", "io.bfq.weight"],
    doing: "setting the I/O weight by",
    instead: "drop io_weight",
    is_entered_again: true,
};

/// This process is in a group of its own while this lives.
#[derive(Debug)]
pub struct IoWeight {
    group: ControlGroup,
    files: Vec<PathBuf>,
}

impl IoWeight {
    /// Enters a new group with this weight, 1 to 1000.
    ///
    /// # Errors
    /// Where groups cannot be made, or have no weight.
    pub fn enter(roots: &Roots, weight: &str) -> Result<Self, Error> {
        let (group, files) = WEIGHT.enter(roots, weight)?;
        Ok(Self { group, files })
    }

    /// Leaves a group that this process had to stay in because the one before was gone, where
    /// there is one: no trial comes any more.
    pub fn leave(roots: &Roots) {
        WEIGHT.leave(roots);
    }

    /// Where it is.
    pub fn group(&self) -> &Path {
        self.group.path()
    }

    /// The weight of the group that this process was in before; absent where the kernel
    /// does not say, as of a root group, which has none.
    pub fn before(&self) -> Option<String> {
        let mut names = self.files.iter().filter_map(|file| file.file_name());
        names.find_map(|name| default_weight(&self.group.value_before(name)?))
    }

    /// The weight that the kernel says the group has; absent when it does not say, or
    /// says two.
    pub fn in_force(&self) -> Option<String> {
        let mut found = self.files.iter().map(|file| {
            let text = fs::read_to_string(file).ok()?;
            default_weight(&text)
        });
        let first = found.next()??;
        found
            .all(|other| other.as_deref() == Some(first.as_str()))
            .then_some(first)
    }
}

/// The weight for all devices: `100`, or `default 100` before those of single ones.
fn default_weight(text: &str) -> Option<String> {
    let first = text.lines().next()?;
    let number = first.split_whitespace().next_back()?;
    number.parse::<u32>().ok().map(|weight| weight.to_string())
}

/// Whether the cost model of version 2 goes by weights on this device, by its numbers;
/// absent where the kernel has no such model, or does not say.
pub fn cost_model(roots: &Roots, (major, minor): (u32, u32)) -> Option<bool> {
    let groups = roots.sys.join("fs/cgroup");
    // Of a machine with both versions the second is mounted inside.
    let both = groups.join("unified/io.cost.qos");
    let text = fs::read_to_string(groups.join("io.cost.qos"));
    let text = text.or_else(|_| fs::read_to_string(both)).ok()?;
    Some(is_on(&text, (major, minor)))
}

/// `8:0 enable=1 ctrl=auto ...`: a line for each device that was ever set up.
fn is_on(text: &str, (major, minor): (u32, u32)) -> bool {
    let device = format!("{major}:{minor}");
    let mut lines = text.lines().map(str::split_whitespace);
    lines.any(|mut words| {
        words.next() == Some(device.as_str()) && words.any(|word| word == "enable=1")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weight_of_a_group_is_read_in_either_form() {
        for (text, weight) in [
            ("100\n", Some("100")),
            ("default 500\n", Some("500")),
            ("default 500\n8:0 10\n", Some("500")),
            ("", None),
            ("default\n", None),
            ("8:0 -1\n", None),
        ] {
            assert_eq!(default_weight(text).as_deref(), weight, "{text:?}");
        }
    }

    #[test]
    fn the_cost_model_is_on_for_the_devices_that_it_is_on_for() {
        let text = "8:16 enable=0 ctrl=user\n8:0 enable=1 ctrl=auto rpct=0.00\n8:1 x=enable=1\n";
        assert!(is_on(text, (8, 0)));
        assert!(!is_on(text, (8, 16)) && !is_on(text, (8, 1)) && !is_on(text, (7, 0)));
        let root = tempfile::tempdir().expect("a temporary folder");
        let roots = Roots::under(root.path());
        assert_eq!(cost_model(&roots, (8, 0)), None);
        let unified = roots.sys.join("fs/cgroup/unified");
        fs::create_dir_all(&unified).expect("folders");
        fs::write(unified.join("io.cost.qos"), text).expect("a file");
        assert_eq!(cost_model(&roots, (8, 0)), Some(true));
        assert_eq!(cost_model(&roots, (8, 16)), Some(false));
    }
}
