//! Block devices over files that the test made itself.

use crate::{Missing, Scratch, require_root, require_tool, tool};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a loop device is set up. The default is what `losetup FILE` gives.
#[derive(Debug, Clone, Copy, Default)]
pub struct LoopOptions {
    /// Bytes of a logical sector: 512 to 4096, a power of two; `None` for the
    /// kernel's own choice, 512.
    pub sector_size: Option<u32>,
    /// Writes are refused by the device.
    pub read_only: bool,
    /// The backing file is read and written past the page cache.
    pub direct_io: bool,
    /// Partitions get devices of their own (`/dev/loop3p1`).
    pub partitions: bool,
}

/// A loop device over a sparse file of zeros. When it is dropped, the device is
/// detached and the file removed.
#[derive(Debug)]
pub struct LoopDevice {
    path: PathBuf,
    backing_file: PathBuf,
    /// Shared with what its file may lie in.
    scratch: Arc<Scratch>,
}

impl LoopDevice {
    /// A device of `size` bytes with the default options.
    ///
    /// # Errors
    /// What is missing: root, losetup, or loop devices in the kernel.
    pub fn new(size: u64) -> Result<Self, Missing> {
        Self::with(size, LoopOptions::default())
    }

    /// A device of `size` bytes.
    ///
    /// # Errors
    /// What is missing: root, losetup, loop devices in the kernel, or an option
    /// that this kernel does not know.
    pub fn with(size: u64, options: LoopOptions) -> Result<Self, Missing> {
        require_root()?;
        Self::in_scratch(Scratch::new()?, size, options)
    }

    pub(crate) fn in_scratch(
        scratch: Scratch,
        size: u64,
        options: LoopOptions,
    ) -> Result<Self, Missing> {
        require_root()?;
        let backing_file = scratch.join("backing");
        File::create(&backing_file)
            .and_then(|file| file.set_len(size))
            .map_err(|error| {
                Missing::new(
                    format_args!("{} bytes in {}: {error}", size, backing_file.display()),
                    "free some space, or set TMPDIR to a folder that has it",
                )
            })?;
        Self::over(Arc::new(scratch), backing_file, options)
    }

    /// A device over a file of the test's own, which stays.
    ///
    /// # Errors
    /// What is missing: root, losetup, or loop devices in the kernel.
    pub fn over_file(file: &Path) -> Result<Self, Missing> {
        Self::over_file_with(file, LoopOptions::default())
    }

    /// The same, set up otherwise.
    ///
    /// # Errors
    /// As [`LoopDevice::over_file`], or an option that this kernel does not know.
    pub fn over_file_with(file: &Path, options: LoopOptions) -> Result<Self, Missing> {
        require_root()?;
        let scratch = Arc::new(Scratch::new()?);
        Self::over(scratch, file.to_owned(), options)
    }

    /// A device over a file that is there already.
    pub(crate) fn over(
        scratch: Arc<Scratch>,
        backing_file: PathBuf,
        options: LoopOptions,
    ) -> Result<Self, Missing> {
        let mut arguments = vec!["--find".to_owned(), "--show".to_owned()];
        if let Some(bytes) = options.sector_size {
            arguments.push(format!("--sector-size={bytes}"));
        }
        if options.read_only {
            arguments.push("--read-only".to_owned());
        }
        if options.direct_io {
            arguments.push("--direct-io=on".to_owned());
        }
        if options.partitions {
            arguments.push("--partscan".to_owned());
        }
        arguments.push(backing_file.to_string_lossy().into_owned());
        let path = PathBuf::from(tool::run("losetup", "mount", arguments)?);
        let device = Self {
            path,
            backing_file,
            scratch,
        };
        device.as_new()?;
        Ok(device)
    }

    /// Takes back what those who had the device before set: the kernel keeps it until the
    /// device is removed, and who was killed left it.
    fn as_new(&self) -> Result<(), Missing> {
        for (attribute, value) in AS_NEW {
            // Not every kernel has all of them.
            let Ok(is) = fs::read_to_string(self.sysfs("queue").join(attribute)) else {
                continue;
            };
            let chosen = is
                .split_once('[')
                .and_then(|(_, from)| from.split_once(']'));
            if chosen.map_or(is.trim(), |(chosen, _)| chosen) != value {
                self.set(attribute, value)?;
            }
        }
        Ok(())
    }

    /// Sets an attribute of its queue: `scheduler`, `iosched/slice_idle`, `nr_requests`. The
    /// next that is made has it as new devices have it.
    ///
    /// # Errors
    /// What the kernel lacks, or its refusal.
    pub fn set(&self, attribute: &str, value: &str) -> Result<(), Missing> {
        let path = self.sysfs("queue").join(attribute);
        fs::write(&path, value)
            .map_err(|error| Missing::new(format_args!("{value} for {}", path.display()), error))
    }

    /// An attribute of its queue, as the kernel shows it.
    ///
    /// # Panics
    /// When it cannot be read.
    pub fn get(&self, attribute: &str) -> String {
        let path = self.sysfs("queue").join(attribute);
        let text = fs::read_to_string(&path);
        let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        text.trim().to_owned()
    }

    /// The device, `/dev/loop3`.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its name in sysfs, `loop3`.
    ///
    /// # Panics
    /// Never: losetup prints `/dev/loopN`.
    pub fn name(&self) -> &str {
        self.path
            .file_name()
            .and_then(|name| name.to_str())
            .expect("losetup prints /dev/loopN")
    }

    /// Puts another file of zeros behind it, which to the kernel is another disk under
    /// the same number (`LOOP_CHANGE_FD`, drivers/block/loop.c). Only a read-only
    /// device can be changed so.
    ///
    /// # Errors
    /// What is missing: perl, by which the kernel is asked without unsafe code.
    ///
    /// # Panics
    /// When the kernel refuses it.
    pub fn change_file(&mut self) -> Result<(), Missing> {
        const CHANGE: &str = "open(D, '<', $ARGV[0]) or die $!; open(F, '<', $ARGV[1]) or die $!; \
                              ioctl(D, 0x4C06, fileno(F)) or die $!";
        let other = self.scratch.join("another");
        let made =
            fs::metadata(&self.backing_file).and_then(|of| File::create(&other)?.set_len(of.len()));
        made.map_err(|error| Missing::new(format_args!("{}", other.display()), error))?;
        let arguments = [
            OsStr::new("-e"),
            OsStr::new(CHANGE),
            self.path.as_os_str(),
            other.as_os_str(),
        ];
        require_tool("perl", "perl-base")?;
        if let Err(refused) = tool::run("perl", "perl-base", arguments) {
            panic!("another file behind {}: {refused}", self.path.display());
        }
        self.backing_file = other;
        Ok(())
    }

    /// The file under it. A test may cut it short, so that reads fail.
    pub fn backing_file(&self) -> &Path {
        &self.backing_file
    }

    /// A folder that lives as long as the device does.
    pub fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    /// Major and minor number, as the throttle wants them.
    ///
    /// # Panics
    /// When sysfs does not show the device that losetup just made.
    pub fn device_number(&self) -> (u32, u32) {
        let file = self.sysfs("dev");
        let text = fs::read_to_string(&file)
            .unwrap_or_else(|error| panic!("reading {}: {error}", file.display()));
        text.trim()
            .split_once(':')
            .and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)))
            .unwrap_or_else(|| panic!("'{text}' in {} is no device number", file.display()))
    }

    fn sysfs(&self, name: &str) -> PathBuf {
        Path::new("/sys/block").join(self.name()).join(name)
    }

    /// Whether the kernel still has this device over this file.
    fn is_attached(&self) -> bool {
        fs::read_to_string(self.sysfs("loop/backing_file")).is_ok_and(|backing| {
            // A removed file is shown with " (deleted)" behind its name.
            backing.starts_with(&*self.backing_file.to_string_lossy())
        })
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        // A test that took the file away gave the device back: another test may have it.
        if !self.is_attached() {
            return;
        }
        let detached = tool::run("losetup", "mount", [Path::new("--detach"), &self.path]);
        // With another opener, such as udev's scan of a new device, the kernel
        // detaches when the last one closes.
        for _ in 0..DETACH_TRIES {
            if !self.is_attached() {
                return;
            }
            std::thread::sleep(DETACH_PAUSE);
        }
        let why = detached.err().map_or_else(
            || "something still has it open".to_owned(),
            |e| e.to_string(),
        );
        tool::not_taken_down(&self.path.to_string_lossy(), &why);
    }
}

/// What a loop device that was just made has (Linux 6.1 to 6.18), in this order: a scheduler
/// brings a queue of its own, without one it holds 128 and no more, and a new largest request
/// brings a new window.
const AS_NEW: [(&str, &str); 5] = [
    ("scheduler", "none"),
    ("nr_requests", "128"),
    ("nomerges", "0"),
    ("max_sectors_kb", "1280"),
    ("read_ahead_kb", "128"),
];

/// How often it is looked whether a device is detached, and how long in between.
pub(crate) const DETACH_TRIES: u32 = 400;
pub(crate) const DETACH_PAUSE: std::time::Duration = std::time::Duration::from_millis(5);
