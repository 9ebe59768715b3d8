//! The events of this machine's kernel: which of them, of which files, and how they
//! become [`Event`]s.

use super::event::{Event, FileId, NEEDED, OF_PAGES, What, kernel_device};
use super::scope::Scope;
use super::watch::Watch;
use crate::parse::mountinfo::parse_mountinfo;
use crate::parse::trace::format::{EventFormat, Field};
use crate::roots::Roots;
use crate::trace::{self, Consumer, Instance, Options, Reader, TraceError, Tracefs};
use rustix::fs::{AtFlags, StatxFlags, major, minor, statx};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

/// What a target is in the kernel's events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// A file; the filesystem's device is in it.
    File(FileId),
    /// A folder stands for everything on the filesystem of this device.
    Filesystem(u32),
    /// A block device.
    Device(u32),
}

impl Named {
    /// What an open file is.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn of(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        if metadata.file_type().is_block_device() {
            let number = metadata.rdev();
            return Ok(Self::Device(kernel_device(major(number), minor(number))));
        }
        let device = filesystem_of(file)
            .unwrap_or_else(|| kernel_device(major(metadata.dev()), minor(metadata.dev())));
        if metadata.is_dir() {
            return Ok(Self::Filesystem(device));
        }
        Ok(Self::File(FileId {
            device,
            inode: metadata.ino(),
        }))
    }

    /// The scope of it alone.
    pub fn scope(self) -> Scope {
        match self {
            Self::File(file) => Scope::default().with_file(file),
            Self::Filesystem(device) => Scope::default().with_filesystem(device),
            Self::Device(device) => Scope::default().with_device(device),
        }
    }
}

/// The device of the filesystem that holds a file, by the mount table: that of
/// `stat(2)` is another one where a filesystem has several volumes (btrfs).
fn filesystem_of(file: &File) -> Option<u32> {
    let found = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok()?;
    if found.stx_mask & StatxFlags::MNT_ID.bits() == 0 {
        return None;
    }
    let mounts = parse_mountinfo(&fs::read("/proc/self/mountinfo").ok()?).ok()?;
    let mount = mounts.iter().find(|mount| mount.id == found.stx_mnt_id)?;
    Some(kernel_device(mount.major, mount.minor))
}

/// A reader of the events of read-ahead, off until its switch is on, and what takes
/// them.
///
/// # Errors
/// When this user may not, or the kernel does not have them: those of the group
/// `readahead` came with Linux 6.18.
pub fn prepare(roots: &Roots, scope: &Scope, watch: Watch) -> Result<(Reader, Sorter), TraceError> {
    let tracefs = Tracefs::open(roots)?;
    let names: Vec<String> = NEEDED
        .iter()
        .chain(&OF_PAGES)
        .map(|(group, name)| format!("{group}/{name}"))
        .collect();
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    tracefs.need_events(&all)?;
    let mut instance = Instance::create(&tracefs, Options::default())?;
    let filter = scope.filter();
    let mut kinds = Vec::new();
    for ((_, name), path) in NEEDED.iter().chain(&OF_PAGES).zip(&names) {
        let format = instance.enable(path, Some(&filter))?;
        kinds.push(Kind::of(name, &format)?);
    }
    let sorter = Sorter {
        kinds,
        watch,
        tracefs,
        broken: 0,
    };
    Ok((Reader::new(instance)?, sorter))
}

/// One kind of event, and where its fields lie.
#[derive(Debug)]
struct Kind {
    id: u16,
    name: &'static str,
    thread: Field,
    device: Field,
    inode: Field,
    fields: Vec<(String, Field)>,
}

impl Kind {
    fn of(name: &'static str, format: &EventFormat) -> Result<Self, TraceError> {
        let fields = format.fields.iter();
        Ok(Self {
            id: format.id,
            name,
            thread: format.required("common_pid")?,
            device: format.required("s_dev")?,
            inode: format.required("i_ino")?,
            fields: fields
                .filter(|field| !field.name.starts_with("common_"))
                .map(|field| (field.name.clone(), field.field))
                .collect(),
        })
    }

    fn event(&self, event: &trace::Event<'_>) -> Option<Event> {
        let field = |name: &str| {
            let (_, field) = self.fields.iter().find(|(known, _)| known == name)?;
            // With the sign, where there is one.
            field.integer(event.data).map(i64::cast_unsigned)
        };
        Some(Event {
            at_ns: event.time_ns,
            thread: u32::try_from(self.thread.unsigned(event.data)?).ok()?,
            file: FileId {
                device: u32::try_from(self.device.unsigned(event.data)?).ok()?,
                inode: self.inode.unsigned(event.data)?,
            },
            what: What::from_fields(self.name, field)?,
        })
    }
}

/// Takes the kernel's events into a [`Watch`].
#[derive(Debug)]
pub struct Sorter {
    kinds: Vec<Kind>,
    /// What they come to.
    pub watch: Watch,
    tracefs: Tracefs,
    /// Events with a field that makes no sense.
    broken: u64,
}

impl Sorter {
    /// Gives the threads in the table the names that the kernel remembers, those of
    /// threads that are gone among them.
    pub fn name_threads(&mut self) {
        let path = self.tracefs.root().join("saved_cmdlines");
        let saved = fs::read(path).unwrap_or_default();
        let saved = String::from_utf8_lossy(&saved);
        let named = saved.lines().filter_map(|line| line.split_once(' '));
        for (thread, name) in named {
            if let Ok(thread) = thread.parse()
                && self.watch.knows_thread(thread)
            {
                self.watch.know_thread(thread, name);
            }
        }
        // Those that are there have the name that they have now.
        for thread in self.watch.nameless_threads() {
            let path = format!("/proc/{thread}/comm");
            if let Ok(name) = fs::read_to_string(path) {
                self.watch.know_thread(thread, name.trim_end());
            }
        }
    }

    /// Gives the files in the table the names and lengths that they have where a
    /// process that read them still has them open.
    pub fn name_files(&mut self) {
        for (file, thread) in self.watch.nameless_files() {
            if let Some((name, bytes)) = open_file_of(thread, file) {
                self.watch.know_file(file, &name, bytes);
            }
        }
    }

    /// Events that were not understood.
    pub fn broken(&self) -> u64 {
        self.broken
    }
}

impl Consumer for Sorter {
    fn event(&mut self, event: &trace::Event<'_>) {
        let id = event.id();
        let kind = self.kinds.iter().find(|kind| Some(kind.id) == id);
        match kind.and_then(|kind| kind.event(event)) {
            Some(event) => self.watch.take(&event),
            None => self.broken += 1,
        }
    }
}

/// A file among those that a process has open: its path, and its length.
fn open_file_of(thread: u32, file: FileId) -> Option<(String, Option<u64>)> {
    for entry in fs::read_dir(format!("/proc/{thread}/fd")).ok()? {
        let Ok(entry) = entry else { continue };
        let Ok(metadata) = fs::metadata(entry.path()) else {
            continue;
        };
        let number = if metadata.file_type().is_block_device() {
            u64::from(kernel_device(
                major(metadata.rdev()),
                minor(metadata.rdev()),
            ))
        } else {
            metadata.ino()
        };
        let here = kernel_device(major(metadata.dev()), minor(metadata.dev()));
        let same =
            number == file.inode && (here == file.device || metadata.file_type().is_block_device());
        if same && let Ok(path) = fs::read_link(entry.path()) {
            let bytes = metadata.is_file().then_some(metadata.len());
            return Some((path.display().to_string(), bytes));
        }
    }
    None
}

/// Bytes of a page of this machine.
pub fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

/// Length of a file or a block device, bytes, where the system tells.
pub fn length_of(file: &File, roots: &Roots) -> Option<u64> {
    let metadata = file.metadata().ok()?;
    if metadata.is_file() {
        return Some(metadata.len());
    }
    if !metadata.file_type().is_block_device() {
        return None;
    }
    let number = metadata.rdev();
    let (major, minor) = (major(number), minor(number));
    let size = roots.sys.join(format!("dev/block/{major}:{minor}/size"));
    let sectors: u64 = fs::read_to_string(size).ok()?.trim().parse().ok()?;
    sectors.checked_mul(512)
}
