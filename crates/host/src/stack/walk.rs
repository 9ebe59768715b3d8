//! The walk from the devices right under a target down to the leaves.

use super::device::describe;
use super::sources::devices_of_mount;
use super::{others, paths, read_mounts};
use crate::answering::ANSWERS_WITHIN;
use crate::beside::what_lies_at;
use crate::error::Error;
use crate::parse::mountinfo::Mount;
use crate::roots::Roots;
use crate::stack::mount_of_path;
use crate::sysfs::DeviceDir;
use diskfacts_record::{BlockDevice, DeviceKind, Filesystem, Stack, Unseen};
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

/// Longest chain of devices that is followed. The kernel itself has no such
/// limit; real chains are shorter than ten.
const MAX_DEPTH: usize = 64;

pub(super) struct Walk<'a> {
    roots: &'a Roots,
    /// Read when the first loop device needs it.
    mounts: Option<Vec<Mount>>,
    /// Finished devices, each after those it stands on.
    finished: Vec<BlockDevice>,
    seen: HashSet<String>,
    /// The chain from the target to the device in hand.
    chain: Vec<String>,
    unseen: Vec<Unseen>,
    /// What was found of the files of loop devices.
    files: HashMap<String, Below>,
    /// The mount points below which a file did not answer: none does there.
    silent: Vec<String>,
}

/// What the path at a loop device leads to.
#[derive(Debug, Clone)]
enum Below {
    Device(u32, u32),
    File,
    /// Why it cannot be followed.
    Unseen(String),
}

impl<'a> Walk<'a> {
    pub(super) fn new(roots: &'a Roots) -> Self {
        Self {
            roots,
            mounts: None,
            finished: Vec::new(),
            seen: HashSet::new(),
            chain: Vec::new(),
            unseen: Vec::new(),
            files: HashMap::new(),
            silent: Vec::new(),
        }
    }

    pub(super) fn unseen_mut(&mut self) -> &mut Vec<Unseen> {
        &mut self.unseen
    }

    /// Follows `tops` and all that they stand on.
    pub(super) fn below_devices(&mut self, tops: Vec<DeviceDir>) -> Result<(), Error> {
        // Finished devices are turned round at the end, so that the first of
        // the tops has to come last here.
        for top in tops.into_iter().rev() {
            self.visit(&top)?;
        }
        Ok(())
    }

    pub(super) fn into_stack(mut self, filesystem: Option<Filesystem>) -> Stack {
        self.finished.reverse();
        let mut stack = Stack {
            filesystem,
            devices: self.finished,
            unseen: self.unseen,
        };
        others::fill(self.roots, &mut stack);
        paths::fill(&mut stack);
        stack
    }

    /// Follows one device; says whether it may be named as standing below the
    /// one before it in the chain.
    fn visit(&mut self, dir: &DeviceDir) -> Result<bool, Error> {
        if self.chain.contains(&dir.name) || self.chain.len() >= MAX_DEPTH {
            self.unseen.push(Unseen {
                what: format!("{} below {}", dir.name, self.chain.join(" on ")),
                why: "the devices stand on each other in a circle; it is cut here".to_owned(),
            });
            return Ok(false);
        }
        if !self.seen.insert(dir.name.clone()) {
            return Ok(true);
        }
        let mut unseen = Vec::new();
        let mut device = describe(self.roots, dir, &mut unseen)?;
        if !dir.has("dev") {
            self.unseen.push(Unseen {
                what: dir.name.clone(),
                why: "the device was removed while it was looked at".to_owned(),
            });
            return Ok(false);
        }
        self.unseen.append(&mut unseen);
        self.chain.push(dir.name.clone());
        let below = self.below(dir, &device)?;
        device.backing_filesystem = self.backing_filesystem(&device);
        for lower in below.iter().rev() {
            if self.visit(lower)? {
                device.below.insert(0, lower.name.clone());
            }
        }
        self.chain.pop();
        self.finished.push(device);
        Ok(true)
    }

    /// The devices that one stands on.
    fn below(&mut self, dir: &DeviceDir, device: &BlockDevice) -> Result<Vec<DeviceDir>, Error> {
        match device.kind {
            DeviceKind::Partition => Ok(dir.whole_disk()?.into_iter().collect()),
            DeviceKind::Loop => match &device.backing_file {
                Some(file) => self.below_file(&device.name, file),
                None => Ok(Vec::new()),
            },
            // dm, md, bcache and whatever else stacks: the kernel links them.
            _ => {
                let mut below = Vec::new();
                for (name, lower) in dir.linked("slaves")? {
                    match lower {
                        Some(lower) => below.push(lower),
                        None => self.unseen.push(Unseen {
                            what: format!("{name} below {}", dir.name),
                            why: "the kernel names it, but does not show it".to_owned(),
                        }),
                    }
                }
                Ok(below)
            }
        }
    }

    /// The devices under the file of a loop device.
    fn below_file(&mut self, name: &str, file: &str) -> Result<Vec<DeviceDir>, Error> {
        match self.below_path(file)? {
            Below::Device(major, minor) => {
                return Ok(DeviceDir::of_number(self.roots, major, minor)?
                    .into_iter()
                    .collect());
            }
            Below::Unseen(why) => {
                self.unseen.push(Unseen {
                    what: format!("devices under {name}"),
                    why: format!("its file {file} {why}"),
                });
                return Ok(Vec::new());
            }
            Below::File => {}
        }
        let mounts = self.mounts.as_deref().unwrap_or_default();
        if let Some(mount) = mount_of_path(mounts, Path::new(file)) {
            return devices_of_mount(self.roots, mounts, mount, &mut self.unseen);
        }
        self.unseen.push(Unseen {
            what: format!("devices under {name}"),
            why: format!("its file {file} is on no filesystem of this mount namespace"),
        });
        Ok(Vec::new())
    }

    /// The kind of filesystem that holds the file of a loop device, once it was followed.
    fn backing_filesystem(&self, device: &BlockDevice) -> Option<String> {
        let file = device.backing_file.as_deref()?;
        if !matches!(self.files.get(file), Some(Below::File)) {
            return None;
        }
        let mount = mount_of_path(self.mounts.as_deref()?, Path::new(file))?;
        Some(mount.kind.clone())
    }

    /// What a loop device's path leads to. Its filesystem may hang, so that a process
    /// beside this one looks.
    fn below_path(&mut self, file: &str) -> Result<Below, Error> {
        if let Some(known) = self.files.get(file) {
            return Ok(known.clone());
        }
        if self.mounts.is_none() {
            self.mounts = Some(read_mounts(self.roots)?);
        }
        let below = self.look_at(file);
        self.files.insert(file.to_owned(), below.clone());
        Ok(below)
    }

    fn look_at(&mut self, file: &str) -> Below {
        if file.ends_with(" (deleted)") {
            return Below::Unseen(
                "was deleted while it is in use, so that its path leads nowhere".to_owned(),
            );
        }
        if !self.roots.live() {
            return Below::File;
        }
        let mount = mount_of_path(self.mounts.as_deref().unwrap_or_default(), Path::new(file));
        let mount_point = mount.map(|mount| mount.mount_point.clone());
        let silent = mount_point
            .as_ref()
            .is_some_and(|at| self.silent.contains(at));
        let found = if silent {
            None
        } else {
            what_lies_at(&[file]).pop()
        };
        match found.unwrap_or_else(|| Err(io::ErrorKind::TimedOut.into())) {
            Ok(found) => match found.block_device {
                Some((major, minor)) => Below::Device(major, minor),
                None => Below::File,
            },
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                self.silent.extend(mount_point);
                Below::Unseen(format!(
                    "did not answer within {} s",
                    ANSWERS_WITHIN.as_secs()
                ))
            }
            Err(_) => Below::Unseen("cannot be seen in this mount namespace".to_owned()),
        }
    }
}
