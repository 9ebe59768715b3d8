//! A buffer of our own for trace events.

use super::error::TraceError;
use super::name::Owner;
use super::remove::remove_instance;
use super::stale::remove_stale_in;
use super::tracefs::Tracefs;
use crate::parse::trace::format::EventFormat;
use crate::parse::trace::header_page::PageLayout;
use rustix::time::{ClockId, clock_gettime};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// What all buffers of an instance may take, if not said otherwise.
const ALL_BUFFERS_BYTES: u64 = 64 << 20;
/// Of each processor: less is full before anybody looks, more is of no use.
const BUFFER_BYTES: std::ops::RangeInclusive<u64> = (256 << 10)..=(8 << 20);

/// Reading took 29 ns per event in pages of 4 KiB, and 9 in sub-buffers of this length;
/// longer ones gain little, and are harder to find in memory
/// (`PAGE_ALLOC_COSTLY_ORDER` is 3).
const SUB_BUFFER_BYTES: u64 = 32 << 10;

/// Half a second: starting a process may take so long on a busy machine.
const REMOVE_TRIES: u32 = 100;

/// The same for what dead processes left: few, as somebody may be looking into one, and every
/// trial that is followed begins here.
const STALE_TRIES: u32 = 20;

/// How an instance is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Length of the buffer of each processor, bytes; the kernel takes whole
    /// sub-buffers, at least two.
    pub buffer_bytes_per_cpu: u64,
    /// Length of what is read at once, bytes: whole KiB, a power of two of at least a
    /// page. Kernels before Linux 6.8 know pages only.
    pub sub_buffer_bytes: u64,
}

impl Default for Options {
    /// 64 MiB for all processors together, 256 KiB to 8 MiB for each. An event takes
    /// some 72 bytes: 8 MiB hold what a processor writes in a third of a second at
    /// 100 000 requests per second with three events each.
    fn default() -> Self {
        let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u64);
        let bytes = ALL_BUFFERS_BYTES / cpus;
        Self {
            buffer_bytes_per_cpu: bytes.clamp(*BUFFER_BYTES.start(), *BUFFER_BYTES.end()),
            sub_buffer_bytes: SUB_BUFFER_BYTES,
        }
    }
}

/// The clock that events are stamped with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// `CLOCK_MONOTONIC_RAW`: nobody sets or slews it, so that differences never
    /// jump, and this process reads it too.
    MonotonicRaw,
    /// `CLOCK_MONOTONIC`, on kernels before Linux 4.2.
    Monotonic,
}

impl Clock {
    const ALL: [(Self, &'static str); 2] =
        [(Self::MonotonicRaw, "mono_raw"), (Self::Monotonic, "mono")];

    /// What the clock shows, nanoseconds: comparable with [`Event::time_ns`](super::Event).
    pub fn now_ns(self) -> u64 {
        let time = clock_gettime(match self {
            Self::MonotonicRaw => ClockId::MonotonicRaw,
            Self::Monotonic => ClockId::Monotonic,
        });
        // Both begin with the machine, and never show less than 0.
        time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
    }
}

/// A private instance of the kernel's tracing, off until its [`Switch`] is on.
///
/// When it is dropped it is removed, with its buffers. Should that fail, or this
/// process be killed, [`remove_stale_instances`](super::remove_stale_instances) of
/// the next one does it; a killed process leaves no buffer behind and nothing that
/// still records (`free_buffer` with `disable_on_free`, kernel,
/// `tracing_free_buffer_release` in `kernel/trace/trace.c`).
#[derive(Debug)]
pub struct Instance {
    tracefs: Tracefs,
    folder: PathBuf,
    clock: Clock,
    layout: PageLayout,
    /// Closed before the instance is removed.
    free_buffer: Option<File>,
    /// The files that switch the events it takes.
    enabled: Vec<String>,
    removed: bool,
}

/// What the events of an instance are begun and ended with, from any thread.
#[derive(Debug)]
pub struct Switch {
    file: File,
    path: PathBuf,
}

impl Switch {
    /// Events are recorded from here on.
    ///
    /// # Errors
    /// When the system refuses it.
    pub fn on(&self) -> Result<(), TraceError> {
        self.set(b"1")
    }

    /// No event is recorded from here on.
    ///
    /// # Errors
    /// When the system refuses it.
    pub fn off(&self) -> Result<(), TraceError> {
        self.set(b"0")
    }

    fn set(&self, to: &[u8]) -> Result<(), TraceError> {
        let written = self.file.write_all_at(to, 0);
        written.map_err(|source| TraceError::on("writing", &self.path, source))
    }
}

impl Instance {
    /// Makes one, switched off and without events. Those that killed processes left
    /// are removed first.
    ///
    /// The buffers overwrite their oldest events when they are full, because then the
    /// kernel marks the place where events are missing, which it does not when it
    /// drops the newest.
    ///
    /// # Errors
    /// When this user may not, when tracefs is mounted read-only, or when the kernel
    /// has no memory for the smallest buffer.
    pub fn create(tracefs: &Tracefs, options: Options) -> Result<Self, TraceError> {
        // What it could not remove is no reason to look at nothing; `restore` names it.
        drop(remove_stale_in(tracefs, Path::new("/proc"), STALE_TRIES));
        let owner = Owner::this(Path::new("/proc"))
            .map_err(|source| TraceError::on("reading", Path::new("/proc/self/stat"), source))?;
        let folder = tracefs.instances().join(owner.next_name());
        fs::create_dir(&folder).map_err(|source| refused(tracefs, &folder, source))?;
        let mut instance = Self {
            tracefs: tracefs.clone(),
            clock: Clock::MonotonicRaw,
            layout: Tracefs::page_layout(tracefs.root())?,
            folder,
            free_buffer: None,
            enabled: Vec::new(),
            removed: false,
        };
        // From here on, dropping it removes it.
        instance.write("tracing_on", "0")?;
        instance.write("options/overwrite", "1")?;
        instance.write("options/disable_on_free", "1")?;
        let free_buffer = instance.folder.join("free_buffer");
        let opened = OpenOptions::new().write(true).open(&free_buffer);
        instance.free_buffer =
            Some(opened.map_err(|source| TraceError::on("opening", &free_buffer, source))?);
        instance.clock = instance.choose_clock()?;
        let sub_buffer = (options.sub_buffer_bytes / 1024).max(1).to_string();
        // Where it is not known or there is no memory for it, pages do.
        let _ = instance.write("buffer_subbuf_size_kb", &sub_buffer);
        instance.resize(options.buffer_bytes_per_cpu)?;
        instance.layout = Tracefs::page_layout(&instance.folder)?;
        Ok(instance)
    }

    fn choose_clock(&self) -> Result<Clock, TraceError> {
        let mut refused = None;
        for (clock, name) in Clock::ALL {
            match self.write("trace_clock", name) {
                Ok(()) => return Ok(clock),
                Err(error) => refused = Some(error),
            }
        }
        Err(refused.expect("there is a clock to try"))
    }

    /// Asks for buffers of so many bytes, and for half of it where there is no memory.
    fn resize(&self, bytes: u64) -> Result<(), TraceError> {
        let mut kib = (bytes / 1024).max(1);
        loop {
            match self.write("buffer_size_kb", &kib.to_string()) {
                Err(TraceError::System { source, .. })
                    if source.kind() == io::ErrorKind::OutOfMemory && kib > 64 =>
                {
                    kib /= 2;
                }
                done => return done,
            }
        }
    }

    /// Takes an event, `block/block_rq_issue`, of all that the filter lets through.
    ///
    /// # Errors
    /// [`TraceError::NoEvent`], [`TraceError::Filter`], or when the system refuses it.
    pub fn enable(&mut self, event: &str, filter: Option<&str>) -> Result<EventFormat, TraceError> {
        let format = self.tracefs.format(event)?;
        if let Some(filter) = filter {
            let file = format!("events/{event}/filter");
            self.write(&file, filter).map_err(|error| match error {
                TraceError::System { source, .. }
                    if source.kind() == io::ErrorKind::InvalidInput =>
                {
                    TraceError::Filter {
                        event: event.to_owned(),
                        filter: filter.to_owned(),
                        why: self.last_complaint(),
                    }
                }
                other => other,
            })?;
        }
        let file = format!("events/{event}/enable");
        self.write(&file, "1")?;
        self.enabled.push(file);
        Ok(format)
    }

    /// Takes its events again after a [`rest`](Self::rest).
    ///
    /// # Errors
    /// When the system refuses it.
    pub fn wake(&self) -> Result<(), TraceError> {
        let mut files = self.enabled.iter();
        files.try_for_each(|file| self.write(file, "1"))
    }

    /// Takes no events: then they cost nobody anything. One that is merely
    /// [switched off](Switch) still fills in each event and asks the filter, and only
    /// then throws it away (`trace_event_buffer_lock_reserve` in `kernel/trace/trace.c`);
    /// but to rest, the kernel rewrites its code, which takes some 0.3 ms per event.
    ///
    /// # Errors
    /// When the system refuses it.
    pub fn rest(&self) -> Result<(), TraceError> {
        let mut files = self.enabled.iter();
        files.try_for_each(|file| self.write(file, "0"))
    }

    /// What the kernel said of the last thing that it did not understand.
    fn last_complaint(&self) -> String {
        let log = fs::read_to_string(self.folder.join("error_log")).unwrap_or_default();
        let mut complaints = log.lines().filter_map(|line| line.split_once("error: "));
        let last = complaints.next_back();
        last.map_or_else(
            || "it does not say why".to_owned(),
            |(_, what)| what.trim().to_owned(),
        )
    }

    /// Where its files are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The clock of its events.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// How its pages begin.
    pub fn page_layout(&self) -> PageLayout {
        self.layout
    }

    /// What it is switched on and off with.
    ///
    /// # Errors
    /// When the system refuses to open it.
    pub fn switch(&self) -> Result<Switch, TraceError> {
        let path = self.folder.join("tracing_on");
        let opened = OpenOptions::new().write(true).open(&path);
        let file = opened.map_err(|source| TraceError::on("opening", &path, source))?;
        Ok(Switch { file, path })
    }

    fn write(&self, file: &str, text: &str) -> Result<(), TraceError> {
        let path = self.folder.join(file);
        // One call of write(2): the kernel takes each as a command of its own.
        OpenOptions::new()
            .write(true)
            .open(&path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|source| TraceError::on("writing", &path, source))
    }

    /// Removes it, with its buffers, and says whether that worked.
    ///
    /// # Errors
    /// When somebody else has one of its files open, or the system refuses it.
    pub fn remove(mut self) -> Result<(), TraceError> {
        self.take_down()
    }

    fn take_down(&mut self) -> Result<(), TraceError> {
        if self.removed {
            return Ok(());
        }
        self.free_buffer = None;
        let removed = remove_instance(&self.folder, REMOVE_TRIES);
        removed.map_err(|source| TraceError::on("removing", &self.folder, source))?;
        self.removed = true;
        Ok(())
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // Nobody is there to be told; the next process finds what stays.
        drop(self.take_down());
    }
}

/// Why no instance could be made.
fn refused(tracefs: &Tracefs, folder: &Path, source: io::Error) -> TraceError {
    if source.kind() == io::ErrorKind::ReadOnlyFilesystem {
        return TraceError::ReadOnly {
            folder: folder.to_owned(),
            root: tracefs.root().to_owned(),
            source,
        };
    }
    TraceError::on("making", folder, source)
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_testkit::{or_skip, require_root, skip};
    use rustix::mount::MountAttrFlags;

    #[test]
    fn a_tracefs_that_is_mounted_read_only_is_said_so_with_the_remedy() {
        or_skip!(require_root());
        let mounted = Tracefs::detached(MountAttrFlags::MOUNT_ATTR_RDONLY, "/sys".into());
        let tracefs = match mounted {
            Ok(tracefs) => tracefs,
            Err(error) => return skip(&error.to_string()),
        };
        let error = Instance::create(&tracefs, Options::default()).expect_err("nothing is made");
        assert!(matches!(error, TraceError::ReadOnly { .. }), "{error}");
        let said = error.to_string();
        assert!(said.contains("mounted read-only"), "{said}");
        assert!(said.contains("mount -o remount,rw "), "{said}");
    }

    #[test]
    fn a_clock_of_the_buffer_is_one_that_this_process_reads() {
        for (clock, _) in Clock::ALL {
            let first = clock.now_ns();
            assert!(first > 0);
            assert!(clock.now_ns() >= first);
        }
    }
}
