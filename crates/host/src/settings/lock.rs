//! Two runs that change settings of one device, or of the machine, exclude each
//! other; and runs that only measure keep those away that would change what they
//! measure.
//!
//! Who changes settings holds an exclusive lock (`flock`) on the folder of the queue
//! of each device that it changes (`/sys/.../queue`), and on `/proc/sys/vm` for those
//! of the machine; who only measures holds a shared one on what lies under its target.
//! These folders can be opened by every user, also where a container forbids the
//! device itself.
//!
//! Besides, who changes settings locks the device node, where it may be opened. This
//! is what systemd calls [Block Device
//! Locking](https://systemd.io/BLOCK_DEVICE_LOCKING): udev does not look at a device
//! meanwhile, so that no rule of it writes settings, and partitioners wait.
//!
//! The kernel lets go of all this when the process and its watchdog, which inherits
//! it, are dead: nobody comes between a death and the restoring.

use super::error::SettingsError;
use super::journal::{Found, Journal, StateFolder};
use crate::look;
use crate::roots::Roots;
use diskfacts_record::{DeviceKind, Stack};
use rustix::fs::{FileType, FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// udev holds a shared lock while it looks at a device, which takes moments.
const PATIENCE: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(20);

/// Locks that are held while this lives.
#[derive(Debug, Default)]
pub struct Locks {
    files: Vec<File>,
}

/// A thing whose settings can be changed by one only.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Object {
    Machine,
    /// Its number and its name in the kernel.
    Device((u32, u32), String),
}

impl Object {
    pub(super) fn device(name: &str, major: u32, minor: u32) -> Self {
        Self::Device((major, minor), name.to_owned())
    }

    /// The folder that its settings are in.
    fn folder(&self, roots: &Roots) -> PathBuf {
        match self {
            Self::Machine => roots.proc.join("sys/vm"),
            Self::Device((major, minor), _) => {
                let numbers = roots.sys.join("dev/block");
                numbers.join(format!("{major}:{minor}/queue"))
            }
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Machine => "the machine's vm settings".to_owned(),
            Self::Device(_, name) => format!("the settings of {name}"),
        }
    }

    fn is_in(&self, journal: &Journal) -> bool {
        match self {
            Self::Machine => journal.old.iter().any(|old| old.device.is_none()),
            Self::Device(number, _) => {
                let mut devices = journal.devices.iter();
                devices.any(|device| (device.major, device.minor) == *number)
            }
        }
    }
}

impl Locks {
    /// Those of a run that changes settings.
    pub(super) fn exclusive(
        roots: &Roots,
        folders: &[StateFolder],
        objects: &[Object],
    ) -> Result<Self, SettingsError> {
        let mut locks = Self::default();
        for object in objects {
            let path = object.folder(roots);
            let folder = look::open(&path).map_err(|source| {
                SettingsError::from(crate::Error::on_path("opening", &path, source))
            })?;
            let mut wanted = vec![(folder, path)];
            if let Object::Device(number, name) = object {
                let node = roots.node(name);
                // Where it may not be opened, udev and partitioners are elsewhere, too.
                wanted.extend(open_node(roots, &node, *number).map(|file| (file, node)));
            }
            for (file, path) in wanted {
                let known = || changer(roots, folders, object).is_some();
                if !taken(&file, FlockOperation::NonBlockingLockExclusive, known)
                    .map_err(|source| cannot_lock(&path, source))?
                {
                    return Err(SettingsError::Busy {
                        what: format!("{} cannot be changed now: in use by", object.words()),
                        by: holder(roots, folders, object, &file),
                        hint: "nothing was changed. Wait until it has ended, or end it, and type \
                               the same again"
                            .to_owned(),
                    });
                }
                locks.files.push(file);
            }
        }
        Ok(locks)
    }

    /// Those of a run that only measures what stands on `stack`, but for what it
    /// changes itself. What this user may not open is left out.
    ///
    /// # Errors
    /// When the settings of a device, or of the machine, are being changed.
    pub fn shared(
        roots: &Roots,
        folders: &[StateFolder],
        stack: &Stack,
        changed: Option<&super::Changes>,
    ) -> Result<Self, SettingsError> {
        let whole = stack
            .devices
            .iter()
            .filter(|device| !matches!(device.kind, DeviceKind::Partition | DeviceKind::Simulated));
        let objects = whole.map(|device| Object::device(&device.name, device.major, device.minor));
        let objects = objects.chain([Object::Machine]);
        let mut locks = Self::default();
        for object in objects.filter(|object| !changed.is_some_and(|own| own.changes(object))) {
            let path = object.folder(roots);
            let Ok(folder) = File::open(&path) else {
                continue;
            };
            let known = || changer(roots, folders, &object).is_some();
            if !taken(&folder, FlockOperation::NonBlockingLockShared, known)
                .map_err(|source| cannot_lock(&path, source))?
            {
                return Err(SettingsError::Busy {
                    what: format!("{} are being changed by", object.words()),
                    by: holder(roots, folders, &object, &folder),
                    hint: "figures would now be under unknown settings. Wait \
                           until it has ended, or end it, and type the same again"
                        .to_owned(),
                });
            }
            locks.files.push(folder);
        }
        Ok(locks)
    }

    /// Those of who puts back what is in a journal, but for devices that are not there,
    /// which are not written either.
    pub(super) fn for_restoring(
        roots: &Roots,
        folder: &StateFolder,
        journal: &Journal,
    ) -> Result<Self, SettingsError> {
        let devices = journal.devices.iter();
        let devices =
            devices.map(|device| Object::device(&device.name, device.major, device.minor));
        let objects = devices.chain([Object::Machine]);
        let mut there: Vec<Object> = Vec::new();
        for object in objects.filter(|object| object.is_in(journal)) {
            match object.folder(roots).try_exists() {
                Ok(true) => there.push(object),
                Ok(false) => {}
                Err(source) => return Err(cannot_lock(&object.folder(roots), source)),
            }
        }
        // Everybody takes them in the same order.
        there.sort();
        Self::exclusive(roots, std::slice::from_ref(folder), &there)
    }

    pub(super) fn files(&self) -> &[File] {
        &self.files
    }
}

/// The node of a device, when it is one, and of this number.
fn open_node(roots: &Roots, node: &Path, (major, minor): (u32, u32)) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(node, flags, Mode::empty()).ok()?);
    let stat = rustix::fs::fstat(&file).ok()?;
    let is_it = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice
        && stat.st_rdev == rustix::fs::makedev(major, minor);
    // In the tree of a test it is a file.
    (is_it || !roots.live()).then_some(file)
}

fn cannot_lock(path: &Path, source: io::Error) -> SettingsError {
    SettingsError::from(crate::Error::on_path("locking", path, source))
}

/// Whether the lock could be had within the time that udev may need; not waited for
/// when it is `known` who has it.
fn taken(file: &File, operation: FlockOperation, known: impl Fn() -> bool) -> io::Result<bool> {
    let until = Instant::now() + PATIENCE;
    loop {
        match flock(file, operation) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK) if Instant::now() >= until || known() => return Ok(false),
            Err(Errno::WOULDBLOCK) => sleep(PAUSE),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// The process that changes settings of it, by the journals.
fn changer(roots: &Roots, folders: &[StateFolder], object: &Object) -> Option<String> {
    let found = folders.iter().filter_map(|folder| folder.list(roots).ok());
    found.flatten().find_map(|found| match found {
        Found::Live {
            journal: Some(journal),
            ..
        } if object.is_in(&journal) => {
            Some(format!("process {} ({})", journal.process, journal.command))
        }
        _ => None,
    })
}

/// Who has the lock: by the journals, else by the kernel's table.
fn holder(roots: &Roots, folders: &[StateFolder], object: &Object, file: &File) -> String {
    changer(roots, folders, object)
        .or_else(|| {
            let table = std::fs::read(roots.proc.join("locks")).ok()?;
            let of = file.metadata().ok()?;
            let device = (rustix::fs::major(of.dev()), rustix::fs::minor(of.dev()));
            let lines = directio::parse::file_locks::parse(&table);
            let line = lines
                .iter()
                .find(|lock| lock.is_flock_of(device, of.ino()))?;
            let process = line.process?;
            let name = std::fs::read_to_string(roots.proc.join(format!("{process}/comm")));
            let name = name.map_or_else(|_| String::new(), |name| format!(" ({})", name.trim()));
            Some(format!("process {process}{name}, which holds a lock on it"))
        })
        .unwrap_or_else(|| "another process, which holds a lock on it".to_owned())
}
