//! Small mounted filesystems.

use crate::unmount::unmount;
use crate::{LoopDevice, Missing, Scratch, require_root, tool};
use std::fs;
use std::path::{Path, PathBuf};

/// A filesystem that the kit can make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilesystemKind {
    /// From 1 MiB.
    Ext4,
    /// From 300 MiB.
    Xfs,
    /// From 109 MiB.
    Btrfs,
    /// FAT, without owners and rights, from 1 MiB.
    Vfat,
}

impl FilesystemKind {
    /// Its name for mount(8), the program that makes it with the options that
    /// keep it quiet, and the Debian package of that program.
    const fn how(
        self,
    ) -> (
        &'static str,
        &'static str,
        &'static [&'static str],
        &'static str,
    ) {
        match self {
            Self::Ext4 => ("ext4", "mkfs.ext4", &["-q", "-F"], "e2fsprogs"),
            Self::Xfs => ("xfs", "mkfs.xfs", &["-q", "-f"], "xfsprogs"),
            Self::Btrfs => ("btrfs", "mkfs.btrfs", &["-q", "-f"], "btrfs-progs"),
            Self::Vfat => ("vfat", "mkfs.vfat", &[], "dosfstools"),
        }
    }
}

/// Makes an empty filesystem on a device, without mounting it.
///
/// # Errors
/// What is missing: the program that makes it, or its consent.
fn format(device: &LoopDevice, kind: FilesystemKind, how: &[&str]) -> Result<(), Missing> {
    let (_, program, quiet, package) = kind.how();
    let arguments = quiet.iter().chain(how).map(Path::new);
    let arguments = arguments.chain([device.path()]);
    tool::run(program, package, arguments).map(drop)
}

/// Whether the kernel has a filesystem: the last word of a line in
/// /proc/filesystems.
fn is_known(kind: &str) -> bool {
    fs::read_to_string("/proc/filesystems")
        .is_ok_and(|list| list.split_whitespace().any(|word| word == kind))
}

/// A mount point that is unmounted when it is dropped.
#[derive(Debug)]
struct Mount {
    at: PathBuf,
}

impl Mount {
    fn new(what: &Path, at: PathBuf, kind: &str, options: &str) -> Result<Self, Missing> {
        // It is there where another filesystem was mounted on the same device before.
        fs::create_dir_all(&at)
            .map_err(|error| Missing::new(format_args!("a folder {}", at.display()), error))?;
        let options = if options.is_empty() {
            "defaults"
        } else {
            options
        };
        let arguments = [
            Path::new("-t"),
            Path::new(kind),
            Path::new("-o"),
            Path::new(options),
            what,
            &at,
        ];
        match tool::run("mount", "mount", arguments) {
            Ok(_) => Ok(Self { at }),
            // Mounting has loaded its module, if there is one.
            Err(_) if !is_known(kind) => Err(Missing::new(
                format_args!("the filesystem {kind} in the kernel"),
                format_args!("modprobe {kind}, or run the tests on a kernel that has it"),
            )),
            Err(failed) => Err(failed),
        }
    }

    fn remount(&self, options: &str) -> Result<(), Missing> {
        let options = format!("remount,{options}");
        let arguments = [Path::new("-o"), Path::new(&options), &self.at];
        tool::run("mount", "mount", arguments).map(drop)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        if let Err(busy) = unmount(&self.at) {
            // Out of everyone's sight at least; the kernel lets go of it when
            // the last open file is closed.
            let lazy = tool::run("umount", "mount", [Path::new("--lazy"), &self.at]);
            let why = lazy.err().unwrap_or(busy);
            tool::not_taken_down(&self.at.to_string_lossy(), &why);
        }
    }
}

/// A filesystem on a loop device of its own, mounted. Dropping it unmounts it,
/// detaches the device and removes its file.
#[derive(Debug)]
pub struct MountedFilesystem {
    // Fields are dropped in order: unmounted before the device goes.
    mount: Mount,
    device: LoopDevice,
}

impl MountedFilesystem {
    /// A filesystem on a new device of `size` bytes.
    ///
    /// # Errors
    /// What is missing: root, loop devices, mkfs, or the filesystem in the
    /// kernel.
    pub fn new(kind: FilesystemKind, size: u64) -> Result<Self, Missing> {
        Self::on(LoopDevice::new(size)?, kind, "")
    }

    /// A filesystem on this device, mounted with these options (`"noatime"`, or
    /// `""`).
    ///
    /// # Errors
    /// What is missing: mkfs, or the filesystem or the option in the kernel.
    pub fn on(device: LoopDevice, kind: FilesystemKind, options: &str) -> Result<Self, Missing> {
        Self::made(device, kind, &[], options)
    }

    /// The same, made with these options of its mkfs, too.
    ///
    /// # Errors
    /// As [`on`](Self::on).
    pub fn made(
        device: LoopDevice,
        kind: FilesystemKind,
        how: &[&str],
        options: &str,
    ) -> Result<Self, Missing> {
        format(&device, kind, how)?;
        let at = device.scratch().join("mounted");
        let mount = Mount::new(device.path(), at, kind.how().0, options)?;
        Ok(Self { mount, device })
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        &self.mount.at
    }

    /// The device it is on.
    pub fn device(&self) -> &LoopDevice {
        &self.device
    }

    /// Unmounts it and gives the device back, with what is on it.
    pub fn unmount(self) -> LoopDevice {
        let Self { mount, device } = self;
        drop(mount);
        device
    }

    /// From now on nothing in it can be written.
    ///
    /// # Errors
    /// When the kernel refuses, because a file is open for writing for example.
    pub fn remount_read_only(&self) -> Result<(), Missing> {
        self.mount.remount("ro")
    }
}

/// A mounted tmpfs: files in memory, without any device under them.
#[derive(Debug)]
pub struct Tmpfs {
    mount: Mount,
    // Held: the folder that it is mounted in.
    _scratch: Scratch,
}

impl Tmpfs {
    /// A tmpfs that holds at most `size` bytes.
    ///
    /// # Errors
    /// What is missing: root, or tmpfs in the kernel.
    pub fn new(size: u64) -> Result<Self, Missing> {
        require_root()?;
        let scratch = Scratch::new()?;
        let at = scratch.join("mounted");
        let mount = Mount::new(Path::new("tmpfs"), at, "tmpfs", &format!("size={size}"))?;
        Ok(Self {
            mount,
            _scratch: scratch,
        })
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        &self.mount.at
    }
}
