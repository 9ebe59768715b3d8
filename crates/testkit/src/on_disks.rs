//! Filesystems on disks of known delay. This process serves these, so that others make the
//! filesystems and fill them.

use crate::{Missing, Scratch, require_tool};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A filesystem that is mounted until it is dropped.
#[derive(Debug)]
pub struct OnDisks(Scratch);

impl OnDisks {
    /// A btrfs that deals its data out to these devices.
    ///
    /// # Errors
    /// What is missing: the program that makes it, or the kernel's part of it.
    pub fn btrfs(devices: &[&Path], options: &str) -> Result<Self, Missing> {
        let data = if devices.len() > 1 { "raid0" } else { "single" };
        let program = require_tool("mkfs.btrfs", "btrfs-progs")?;
        Self::made(
            "btrfs",
            Command::new(program).args(["-q", "-f", "-d", data]),
            devices,
            options,
        )
    }

    /// An ext4 with all of its structures written.
    ///
    /// # Errors
    /// What is missing: the program that makes it, or the kernel's part of it.
    pub fn ext4(device: &Path) -> Result<Self, Missing> {
        let program = require_tool("mkfs.ext4", "e2fsprogs")?;
        let mut make = Command::new(program);
        make.args(["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"]);
        Self::made("ext4", &mut make, &[device], "defaults")
    }

    /// An XFS.
    ///
    /// # Errors
    /// What is missing: the program that makes it, or the kernel's part of it.
    pub fn xfs(device: &Path) -> Result<Self, Missing> {
        let program = require_tool("mkfs.xfs", "xfsprogs")?;
        Self::made(
            "xfs",
            Command::new(program).args(["-q", "-f"]),
            &[device],
            "defaults",
        )
    }

    fn made(
        kind: &str,
        make: &mut Command,
        devices: &[&Path],
        options: &str,
    ) -> Result<Self, Missing> {
        make.args(devices);
        run(make, kind)?;
        Self::mounted(kind, devices[0], options)
    }

    /// What is on this device already.
    ///
    /// # Errors
    /// What is missing: the kernel's part of it.
    pub fn mounted(kind: &str, device: &Path, options: &str) -> Result<Self, Missing> {
        let mounted = Self(Scratch::new()?);
        let mut mount = Command::new("mount");
        let mount = mount.args(["-t", kind, "-o", options]).arg(device);
        run(mount.arg(mounted.path()), kind)?;
        Ok(mounted)
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// A file of 32 MiB of random data.
    ///
    /// # Panics
    /// When there is no room.
    pub fn file(&self) -> PathBuf {
        let file = self.0.join("data");
        let mut dd = Command::new("dd");
        dd.args(["if=/dev/urandom", "bs=1M", "count=32", "conv=fsync"]);
        let output = dd.arg(format!("of={}", file.display())).output();
        let output = output.expect("dd");
        assert!(output.status.success(), "{output:?}");
        file
    }
}

fn run(command: &mut Command, kind: &str) -> Result<(), Missing> {
    let output = command.output();
    let output = output.map_err(|error| Missing::new(kind, error))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let failed = || Missing::new(format_args!("a filesystem of the kind {kind}"), said);
    output.status.success().then_some(()).ok_or_else(failed)
}

impl Drop for OnDisks {
    fn drop(&mut self) {
        let ended = Command::new("umount").arg(self.path()).status();
        if ended.is_ok_and(|status| status.success()) {
            return;
        }
        eprintln!("{} is left mounted", self.path().display());
    }
}
