//! A thread that reads events beside a measurement.

use super::error::TraceError;
use super::event::{Consumer, Losses};
use super::instance::{Clock, Switch};
use super::reader::{HELD_BACK_NS, Reader};
use crate::cpu::{CpuScope, CpuTimes};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long it sleeps between two looks. What it finds then is read page by page
/// without waiting, so that a look costs what lies there.
const PAUSE: Duration = Duration::from_millis(50);

/// Pages that are kept until the measurement is over, bytes. More than these are
/// taken apart while it runs.
const HELD_BYTES: usize = 128 << 20;

/// Memory that is there before the measurement begins, bytes: that of two seconds at
/// 75 000 requests per second with three events each.
const RESERVED_BYTES: usize = 32 << 20;

/// Reads events on a thread of its own, from [`start`](Self::start) to
/// [`finish`](Self::finish).
///
/// It sleeps 50 ms, then copies what is in the buffers. Events are taken apart when
/// the measurement is over, or as soon as more than 128 MiB of them wait. The
/// measured thread meets it only as another user of the processors.
#[derive(Debug)]
pub struct Recorder<C> {
    /// Dropped, it tells the thread to stop.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<Result<Recorded<C>, TraceError>>>,
    /// Closed before the thread is told: while it is open, the instance cannot be
    /// removed.
    switch: Option<Switch>,
    clock: Clock,
    thread_number: u32,
    /// Whether events are recorded.
    is_on: Arc<AtomicBool>,
}

/// What a recorder brought.
#[derive(Debug)]
pub struct Recorded<C> {
    /// Who took the events.
    pub consumer: C,
    /// What it was not given.
    pub losses: Losses,
    /// Events that it was given.
    pub events: u64,
    /// Processor time that reading took while events were recorded, nanoseconds.
    pub beside_ns: u64,
    /// Processor time of the thread after it was told to stop, nanoseconds.
    pub after_ns: u64,
}

impl<C> Recorded<C> {
    /// What reading took while events were recorded, as processor time. It copies, which
    /// the kernel does; what the system tells of the two kinds is good only over many
    /// ticks of its timer.
    pub fn beside(&self) -> CpuTimes {
        CpuTimes {
            system_ns: self.beside_ns,
            total_ns: self.beside_ns,
            ..CpuTimes::default()
        }
    }
}

impl<C: Consumer + Send + 'static> Recorder<C> {
    /// Begins to read; the instance is still off.
    ///
    /// # Errors
    /// When the system refuses a file or a thread.
    pub fn start(mut reader: Reader, consumer: C) -> Result<Self, TraceError> {
        reader.reserve(RESERVED_BYTES);
        let switch = reader.instance().switch()?;
        let clock = reader.clock();
        let is_on = Arc::new(AtomicBool::new(false));
        let seen_on = Arc::clone(&is_on);
        let (stop, stopped) = channel();
        let (number, numbered) = channel();
        let thread = std::thread::Builder::new()
            .name("trace".to_owned())
            .spawn(move || {
                // Who asked for the thread waits for its number.
                let _ = number.send(rustix::thread::gettid());
                record(reader, consumer, &stopped, &seen_on)
            })
            .map_err(|error| TraceError::Thread(format!("could not be started: {error}")))?;
        let number = numbered.recv();
        let number = number.map_err(|_| TraceError::Thread("ended before it began".to_owned()))?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
            switch: Some(switch),
            clock,
            thread_number: number.as_raw_pid().cast_unsigned(),
            is_on,
        })
    }

    /// Events are recorded from here on.
    ///
    /// # Errors
    /// When the system refuses it.
    pub fn on(&self) -> Result<(), TraceError> {
        self.switch.as_ref().map_or(Ok(()), Switch::on)?;
        self.is_on.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// No event is recorded from here on.
    ///
    /// # Errors
    /// When the system refuses it.
    pub fn off(&self) -> Result<(), TraceError> {
        self.is_on.store(false, Ordering::Relaxed);
        self.switch.as_ref().map_or(Ok(()), Switch::off)
    }

    /// The kernel's number of the thread that reads.
    pub fn thread(&self) -> u32 {
        self.thread_number
    }

    /// The clock of the events.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Switches off, gives the rest to the consumer, and removes the instance.
    ///
    /// # Errors
    /// When reading failed, or the instance could not be removed.
    ///
    /// # Panics
    /// When the consumer did.
    pub fn finish(mut self) -> Result<Recorded<C>, TraceError> {
        self.end()
            .expect("it is ended once, here or when it is dropped")
            .unwrap_or_else(|panic| resume_unwind(panic))
    }
}

impl<C> Recorder<C> {
    /// Tells the thread to stop and waits for it; `None` when that was done before.
    fn end(&mut self) -> Option<std::thread::Result<Result<Recorded<C>, TraceError>>> {
        self.switch = None;
        self.stop = None;
        self.thread.take().map(JoinHandle::join)
    }
}

impl<C> Drop for Recorder<C> {
    fn drop(&mut self) {
        // The thread removes the instance. Its result is nobody's any more.
        drop(self.end());
    }
}

fn record<C: Consumer>(
    mut reader: Reader,
    mut consumer: C,
    stopped: &Receiver<()>,
    is_on: &AtomicBool,
) -> Result<Recorded<C>, TraceError> {
    let mut events = 0;
    let mut beside_ns = 0;
    while stopped.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
        let before = own_cpu();
        let until_ns = reader.clock().now_ns().saturating_sub(HELD_BACK_NS);
        reader.collect()?;
        if reader.held_bytes() > HELD_BYTES {
            events += reader.give(until_ns, &mut consumer);
        }
        if is_on.load(Ordering::Relaxed) {
            beside_ns += own_cpu().since(&before).total_ns;
        }
    }
    let before = own_cpu();
    let mut counting = Counting {
        consumer: &mut consumer,
        events,
    };
    let losses = reader.finish(&mut counting)?;
    let events = counting.events;
    Ok(Recorded {
        consumer,
        losses,
        events,
        beside_ns,
        after_ns: own_cpu().since(&before).total_ns,
    })
}

struct Counting<'a, C> {
    consumer: &'a mut C,
    events: u64,
}

impl<C: Consumer> Consumer for Counting<'_, C> {
    fn event(&mut self, event: &super::event::Event<'_>) {
        self.events += 1;
        self.consumer.event(event);
    }

    fn lost(&mut self, gap: super::event::Gap) {
        self.consumer.lost(gap);
    }
}

/// Processor time of this thread, from its start.
fn own_cpu() -> CpuTimes {
    // Linux tells every thread its own.
    CpuTimes::now(CpuScope::Thread).unwrap_or_default()
}
