//! The requests of devices as they come, part after part.

use super::request_event::Decoder;
use super::requests::{Followed, Requests};
use super::set_up::{SetUp, followed, not_seen};
use crate::roots::Roots;
use crate::trace::{Consumer, Event, Gap, Losses, Reader, TraceError};
use diskfacts_record::evidence::{BlockLayer, DeviceRequests, QueuedFrom};
use diskfacts_record::{BlockDevice, Stack, Unseen};
use rustix::time::{ClockId, clock_gettime};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// Time that is given to events which other processors are still writing when a part
/// ends: they may belong to it.
const SETTLES: Duration = Duration::from_millis(2);

/// Why requests cannot be followed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiveError {
    /// There are none.
    #[error("no device under the target has a queue of requests")]
    NoRequests,
    /// The kernel's trace events cannot be seen.
    #[error(transparent)]
    Trace(#[from] TraceError),
}

/// Follows the requests of the devices of a stack from when it is made.
///
/// Events are read on the thread that calls; the buffers of the kernel hold at least
/// a third of a second of 100 000 requests per second, so [`drain`](Self::drain)
/// wants to be called ten times a second. When it is dropped, the kernel's buffer is
/// removed.
#[derive(Debug)]
pub struct LiveBlockLayer {
    reader: Reader,
    taking: Taking,
    queued_from: Option<QueuedFrom>,
    devices: Vec<Present>,
    names: Vec<String>,
    unseen: Vec<Unseen>,
    all: Mark,
    part: Mark,
}

/// A device that was there when it began.
#[derive(Debug)]
struct Present {
    name: String,
    /// Its folder in sysfs.
    folder: PathBuf,
    /// Whether it had a medium, and a length.
    had_length: bool,
}

impl Present {
    fn new(roots: &Roots, device: &BlockDevice) -> Self {
        let number = format!("dev/block/{}:{}", device.major, device.minor);
        let mut present = Self {
            name: device.name.clone(),
            folder: roots.sys.join(number),
            had_length: false,
        };
        present.had_length = present.has_length();
        present
    }

    fn has_length(&self) -> bool {
        fs::read_to_string(self.folder.join("size")).is_ok_and(|size| size.trim() != "0")
    }

    /// A card was pulled out of its reader, a loop device was detached: then the
    /// device stays, without a length.
    fn is_gone(&self) -> bool {
        !self.folder.exists() || (self.had_length && !self.has_length())
    }
}

/// Where a span of time begins or ends: sums until then.
#[derive(Debug, Clone, Copy)]
struct Mark {
    ns: u64,
    events: u64,
    lost: u64,
    damaged_pages: u64,
    cpu_ns: u64,
}

impl Mark {
    fn new(ns: u64, events: u64, losses: &Losses) -> Self {
        Self {
            ns,
            events,
            lost: losses.total(),
            damaged_pages: losses.damaged_pages,
            cpu_ns: own_cpu_ns(),
        }
    }

    /// What lies between these.
    fn until(
        &self,
        end: &Self,
        queued_from: Option<QueuedFrom>,
        devices: Vec<DeviceRequests>,
    ) -> BlockLayer {
        BlockLayer {
            devices,
            window_ns: end.ns.saturating_sub(self.ns),
            followed_ns: end.ns.saturating_sub(self.ns),
            bursts: 1,
            queued_from,
            events: end.events - self.events,
            lost_events: end.lost.saturating_sub(self.lost),
            // Understanding them is part of reading them here.
            reader_cpu_ns: end.cpu_ns.saturating_sub(self.cpu_ns),
            analysis_cpu_ns: 0,
        }
    }
}

/// Processor time of this thread, nanoseconds.
fn own_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// Takes the events as they come, for the part and for all of it.
#[derive(Debug)]
struct Taking {
    decoder: Decoder,
    part: Requests,
    all: Requests,
    events: u64,
}

impl Consumer for Taking {
    fn event(&mut self, event: &Event<'_>) {
        self.events += 1;
        if let Some(said) = self.decoder.decode(event) {
            self.part.event(event.time_ns, &said);
            self.all.event(event.time_ns, &said);
        }
    }

    fn lost(&mut self, gap: Gap) {
        self.part.lost(gap.before_ns);
        self.all.lost(gap.before_ns);
    }
}

impl LiveBlockLayer {
    /// Begins.
    ///
    /// # Errors
    /// When no device of the stack has requests, or the kernel's trace events cannot
    /// be seen: without root, tracefs or the events.
    pub fn new(roots: &Roots, stack: &Stack) -> Result<Self, LiveError> {
        let (followed, mut unseen) = followed(roots, stack);
        if followed.is_empty() {
            return Err(LiveError::NoRequests);
        }
        let set_up = SetUp::new(roots, &followed)?;
        let not_seen = not_seen(set_up.queued_from, &set_up.missing);
        unseen.extend(not_seen.into_iter().map(|why| Unseen {
            what: super::super::BLOCK_LAYER.to_owned(),
            why,
        }));
        let reader = Reader::new(set_up.instance)?;
        reader.switch().on()?;
        let began = Mark::new(reader.clock().now_ns(), 0, &Losses::default());
        Ok(Self {
            reader,
            taking: Taking {
                decoder: set_up.decoder,
                part: Requests::new(&followed),
                all: Requests::new(&followed),
                events: 0,
            },
            queued_from: set_up.queued_from,
            names: followed
                .into_iter()
                .map(|Followed { name, .. }| name)
                .collect(),
            devices: stack
                .devices
                .iter()
                .map(|device| Present::new(roots, device))
                .collect(),
            unseen,
            all: began,
            part: began,
        })
    }

    /// The devices that are followed, the topmost first.
    pub fn devices(&self) -> &[String] {
        &self.names
    }

    /// Devices of the stack that went away since it began, or lost their medium.
    pub fn gone(&self) -> Vec<String> {
        let gone = self.devices.iter().filter(|device| device.is_gone());
        gone.map(|device| device.name.clone()).collect()
    }

    /// Devices that are not followed, and what the events of this kernel do not tell.
    pub fn unseen(&self) -> &[Unseen] {
        &self.unseen
    }

    /// Takes what is in the buffers.
    ///
    /// # Errors
    /// When reading fails.
    pub fn drain(&mut self) -> Result<(), TraceError> {
        self.reader.drain(&mut self.taking).map(drop)
    }

    /// Ends a part now, and begins the next one.
    ///
    /// # Errors
    /// When reading fails.
    pub fn part(&mut self) -> Result<BlockLayer, TraceError> {
        let until_ns = self.reader.clock().now_ns();
        std::thread::sleep(SETTLES);
        self.reader.collect()?;
        self.reader.give(until_ns, &mut self.taking);
        let now = Mark::new(until_ns, self.taking.events, &self.reader.losses()?);
        let from = std::mem::replace(&mut self.part, now);
        if now.damaged_pages > from.damaged_pages {
            // What was in them is lost too, and nobody knows how much.
            self.taking.part.lost(until_ns);
            self.taking.all.lost(until_ns);
        }
        let devices = self.taking.part.part(from.ns, until_ns);
        Ok(from.until(&now, self.queued_from, devices))
    }

    /// Ends, and tells what became of all requests since the beginning.
    ///
    /// # Errors
    /// When reading fails, or the kernel's buffer cannot be removed.
    pub fn finish(self) -> Result<BlockLayer, TraceError> {
        let Self {
            reader,
            mut taking,
            queued_from,
            all,
            ..
        } = self;
        reader.switch().off()?;
        let until_ns = reader.clock().now_ns();
        let losses = reader.finish(&mut taking)?;
        if losses.damaged_pages > 0 {
            taking.all.lost(until_ns);
        }
        let now = Mark::new(until_ns, taking.events, &losses);
        let devices = taking.all.finish(all.ns, until_ns);
        Ok(all.until(&now, queued_from, devices))
    }
}
