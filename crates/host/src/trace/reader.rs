//! Reads the buffers of all processors.

use super::error::TraceError;
use super::event::{Consumer, Losses};
use super::instance::{Clock, Instance, Switch};
use super::merge::{CpuPages, Merge};
use super::tracefs::read_at_once;
use crate::parse::trace::stats::parse_buffer_stats;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Events that are younger than this when a drain begins wait for the next one: one
/// that another processor is still writing may be older than what is there.
pub(super) const HELD_BACK_NS: u64 = 2_000_000;

/// Reads events from an instance.
///
/// A page is read by one system call into memory that is used again; nobody is woken
/// by an event. Dropping it removes the instance.
#[derive(Debug)]
pub struct Reader {
    /// The files are closed before the instance is removed.
    files: Vec<CpuFile>,
    merge: Merge,
    switch: Switch,
    instance: Instance,
}

#[derive(Debug)]
struct CpuFile {
    cpu: u32,
    path: PathBuf,
    file: File,
}

/// What one look into the buffers brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Drained {
    /// Pages that were read.
    pub pages: u64,
    /// Events that were given to the consumer.
    pub events: u64,
}

impl Reader {
    /// Opens the buffer of every processor.
    ///
    /// # Errors
    /// When the system refuses it.
    pub fn new(instance: Instance) -> Result<Self, TraceError> {
        let switch = instance.switch()?;
        let folder = instance.folder().join("per_cpu");
        let mut files = Vec::new();
        for cpu in cpus(&folder)? {
            let path = folder.join(format!("cpu{cpu}/trace_pipe_raw"));
            let opened = OpenOptions::new()
                .read(true)
                .custom_flags(libc::O_NONBLOCK)
                .open(&path);
            let file = opened.map_err(|source| TraceError::on("opening", &path, source))?;
            files.push(CpuFile { cpu, path, file });
        }
        let layout = instance.page_layout();
        let pages = files.iter().map(|file| CpuPages::new(file.cpu, layout));
        Ok(Self {
            merge: Merge::new(pages.collect()),
            files,
            switch,
            instance,
        })
    }

    /// What the events are begun and ended with.
    pub fn switch(&self) -> &Switch {
        &self.switch
    }

    /// The instance that is read.
    pub fn instance(&self) -> &Instance {
        &self.instance
    }

    /// The clock of the events.
    pub fn clock(&self) -> Clock {
        self.instance.clock()
    }

    /// Bytes of pages that were read and not given away yet.
    pub fn held_bytes(&self) -> usize {
        self.merge.held_bytes()
    }

    /// Bytes of events that were read so far.
    pub fn recorded_bytes(&self) -> u64 {
        self.merge.recorded_bytes()
    }

    /// Makes memory for so many bytes of events ready, the same for each processor.
    pub fn reserve(&mut self, bytes: usize) {
        let each = bytes / self.files.len().max(1);
        for pages in self.merge.cpus_mut() {
            pages.reserve(each);
        }
    }

    /// Takes what is in the buffers, without looking at it. Returns the number of
    /// pages.
    ///
    /// # Errors
    /// When reading fails.
    pub fn collect(&mut self) -> Result<u64, TraceError> {
        let mut read = 0;
        for (CpuFile { path, file, .. }, pages) in self.files.iter_mut().zip(self.merge.cpus_mut())
        {
            loop {
                match pages.push(|page| file.read(page)) {
                    Ok(true) => read += 1,
                    // Less than a page is at the end only.
                    Ok(false) => break,
                    Err(error) => match error.kind() {
                        io::ErrorKind::WouldBlock => break,
                        io::ErrorKind::Interrupted => {}
                        _ => return Err(TraceError::on("reading", path, error)),
                    },
                }
            }
        }
        Ok(read)
    }

    /// Gives what was collected to the consumer, but for events after `until_ns`.
    pub fn give(&mut self, until_ns: u64, consumer: &mut dyn Consumer) -> u64 {
        let before = self.merge.events();
        self.merge.give(until_ns, consumer);
        self.merge.events() - before
    }

    /// Takes what is in the buffers, and gives it to the consumer: all events that
    /// happened before two milliseconds ago.
    ///
    /// # Errors
    /// When reading fails.
    pub fn drain(&mut self, consumer: &mut dyn Consumer) -> Result<Drained, TraceError> {
        let until_ns = self.clock().now_ns().saturating_sub(HELD_BACK_NS);
        let pages = self.collect()?;
        let events = self.give(until_ns, consumer);
        Ok(Drained { pages, events })
    }

    /// What was lost so far.
    ///
    /// # Errors
    /// When the counts of a processor cannot be read.
    pub fn losses(&self) -> Result<Losses, TraceError> {
        let mut by_cpu = Vec::new();
        for CpuFile { cpu, path, .. } in &self.files {
            let path = path.with_file_name("stats");
            let bytes =
                read_at_once(&path).map_err(|source| TraceError::on("reading", &path, source))?;
            let stats =
                parse_buffer_stats(&bytes).map_err(|source| TraceError::Form { path, source })?;
            if stats.lost() > 0 {
                by_cpu.push((*cpu, stats.lost()));
            }
        }
        let (damaged_pages, damage) = self.merge.damage();
        Ok(Losses {
            by_cpu,
            damaged_pages,
            damage: damage.map(|error| error.to_string()),
            late: self.merge.late(),
        })
    }

    /// Switches off, gives the rest to the consumer, and removes the instance.
    ///
    /// # Errors
    /// When any of it fails; the instance is gone all the same, unless it is what
    /// could not be removed.
    pub fn finish(mut self, consumer: &mut dyn Consumer) -> Result<Losses, TraceError> {
        self.switch.off()?;
        self.collect()?;
        self.merge.finish(consumer);
        let losses = self.losses()?;
        let Self {
            files,
            switch,
            instance,
            ..
        } = self;
        drop((files, switch));
        instance.remove()?;
        Ok(losses)
    }
}

/// Numbers of the processors that have a buffer, in order.
fn cpus(folder: &Path) -> Result<Vec<u32>, TraceError> {
    let entries =
        fs::read_dir(folder).map_err(|source| TraceError::on("reading", folder, source))?;
    let mut cpus = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|source| TraceError::on("reading", folder, source))?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("cpu"));
        cpus.extend(number.and_then(|number| number.parse::<u32>().ok()));
    }
    cpus.sort_unstable();
    Ok(cpus)
}
