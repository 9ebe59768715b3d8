//! A thread that reads events beside a measurement.

use super::bursts::{Burst, Pace};
use super::error::TraceError;
use super::event::{Consumer, Event, Gap, Losses};
use super::instance::{Clock, Switch};
use super::reader::{HELD_BACK_NS, Reader};
use super::schedule::{Schedule, Step};
use crate::cpu::{CpuScope, CpuTimes};
use crate::observe::AllowedMemory;
use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Memory for pages of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Room {
    /// What is there before the measurement begins, bytes.
    reserved: usize,
    /// What is kept until the measurement is over, bytes. More than this is taken apart
    /// while it runs.
    held: usize,
}

impl Room {
    /// Two seconds at 75 000 requests per second with three events each are there in the
    /// beginning.
    const WANTED: Self = Self {
        reserved: 32 << 20,
        held: 128 << 20,
    };

    /// What there is where all of the process may have so many bytes: an eighth, up to a
    /// quarter. The rest is for the buffers of the operations and for what is not observing.
    fn within(allowed_bytes: Option<u64>) -> Self {
        let of = |part| {
            allowed_bytes.map_or(usize::MAX, |all| {
                usize::try_from(all / part).unwrap_or(usize::MAX)
            })
        };
        Self {
            reserved: Self::WANTED.reserved.min(of(8)),
            held: Self::WANTED.held.min(of(4)),
        }
    }
}

/// Reads events on a thread of its own, from [`start`](Self::start) to
/// [`finish`](Self::finish).
///
/// It sleeps 50 ms, then copies what is in the buffers, page by page without waiting,
/// so that a look costs what lies there. Events are taken apart when the measurement is
/// over, or as soon as more than 128 MiB of them wait, or a quarter of the memory that
/// the process may have. The measured thread meets it
/// only as another user of the processors.
///
/// With [`Pace::Sparing`] the thread switches recording off and on while the window is
/// open; the consumer is told of each [`Burst`].
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
    /// When events are recorded. Who switches holds it.
    schedule: Arc<Mutex<Schedule>>,
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
    /// When they were recorded, the oldest first: once, unless at a sparing pace.
    pub bursts: Vec<Burst>,
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
    /// Begins to read; the instance is still off. `pace` is how much of the time events
    /// will be recorded, `allowed` the memory that this process may have, where
    /// that is limited.
    ///
    /// # Errors
    /// When the system refuses a file or a thread.
    pub fn start(
        mut reader: Reader,
        consumer: C,
        pace: Pace,
        allowed: Option<&AllowedMemory>,
    ) -> Result<Self, TraceError> {
        let room = Room::within(allowed.map(|allowed| allowed.bytes));
        reader.reserve(room.reserved);
        let switch = reader.instance().switch()?;
        let clock = reader.clock();
        let schedule = Arc::new(Mutex::new(Schedule::new(pace)));
        let shared = Arc::clone(&schedule);
        let (stop, stopped) = channel();
        let (number, numbered) = channel();
        let thread = std::thread::Builder::new()
            .name("trace".to_owned())
            .spawn(move || {
                // Who asked for the thread waits for its number.
                let _ = number.send(rustix::thread::gettid());
                record(reader, consumer, &stopped, (&shared, room))
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
            schedule,
        })
    }

    /// The window opens: events are recorded from here on. Returns when, by the clock
    /// of the events.
    ///
    /// # Errors
    /// When the system refuses it.
    pub fn on(&self) -> Result<u64, TraceError> {
        let mut schedule = lock(&self.schedule);
        let now_ns = self.clock.now_ns();
        self.switch.as_ref().map_or(Ok(()), Switch::on)?;
        schedule.open(now_ns);
        Ok(now_ns)
    }

    /// The window closes: no event is recorded from here on. Returns when.
    ///
    /// # Errors
    /// When the system refuses it.
    pub fn off(&self) -> Result<u64, TraceError> {
        let mut schedule = lock(&self.schedule);
        let switched = self.switch.as_ref().map_or(Ok(()), Switch::off);
        let now_ns = self.clock.now_ns();
        schedule.close(now_ns);
        switched.map(|()| now_ns)
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

fn lock(schedule: &Mutex<Schedule>) -> MutexGuard<'_, Schedule> {
    // Whoever panicked with it left times that were true.
    schedule.lock().unwrap_or_else(PoisonError::into_inner)
}

fn record<C: Consumer>(
    mut reader: Reader,
    consumer: C,
    stopped: &Receiver<()>,
    (schedule, room): (&Mutex<Schedule>, Room),
) -> Result<Recorded<C>, TraceError> {
    let mut telling = Telling {
        consumer,
        events: 0,
        bursts: VecDeque::new(),
        told: 0,
    };
    let mut beside_ns = 0;
    loop {
        let wait_ns = lock(schedule).wait_ns(reader.clock().now_ns());
        if stopped.recv_timeout(Duration::from_nanos(wait_ns)) != Err(RecvTimeoutError::Timeout) {
            break;
        }
        let before = own_cpu();
        let is_open = look(&mut reader, schedule)?;
        if reader.held_bytes() > room.held {
            telling.hear(schedule);
            let until_ns = reader.clock().now_ns().saturating_sub(HELD_BACK_NS);
            reader.give(until_ns, &mut telling);
        }
        if is_open {
            beside_ns += own_cpu().since(&before).total_ns;
        }
    }
    let before = own_cpu();
    // A recorder that is dropped has not closed its window.
    lock(schedule).close(reader.clock().now_ns());
    telling.hear(schedule);
    let losses = reader.finish(&mut telling)?;
    telling.tell_before(u64::MAX);
    Ok(Recorded {
        consumer: telling.consumer,
        losses,
        events: telling.events,
        bursts: lock(schedule).ended().to_vec(),
        beside_ns,
        after_ns: own_cpu().since(&before).total_ns,
    })
}

/// Copies what was recorded, and switches recording off or on when it is time to.
/// Returns whether the window is open.
fn look(reader: &mut Reader, schedule: &Mutex<Schedule>) -> Result<bool, TraceError> {
    if lock(schedule).is_recording() {
        reader.collect()?;
    }
    let mut schedule = lock(schedule);
    let clock = reader.clock();
    // This thread may be stopped between any two lines. A burst is from before it is
    // switched on until after it is switched off, so that its events lie within it.
    match schedule.step(clock.now_ns(), reader.recorded_bytes()) {
        Step::Stay => {}
        Step::Pause => {
            reader.switch().off()?;
            let ended_ns = clock.now_ns();
            reader.instance().rest()?;
            schedule.pause(ended_ns, clock.now_ns());
        }
        Step::Resume => {
            reader.instance().wake()?;
            let begins_ns = clock.now_ns();
            reader.switch().on()?;
            schedule.resume(begins_ns);
        }
    }
    Ok(schedule.is_open())
}

/// An event that another processor was just writing may be stamped later than the
/// switch; the next burst is far away.
const SEEN_NS: u64 = 2_000_000;

/// Counts the events for a consumer, and tells it of a burst before the first event of
/// the next one.
struct Telling<C> {
    consumer: C,
    events: u64,
    /// Those that it was not told of.
    bursts: VecDeque<Burst>,
    /// How many it was.
    told: usize,
}

impl<C: Consumer> Telling<C> {
    /// Learns which bursts ended. Every event of a burst that did not is given after
    /// it has been heard of the ones before.
    fn hear(&mut self, schedule: &Mutex<Schedule>) {
        let schedule = lock(schedule);
        let known = self.told + self.bursts.len();
        self.bursts.extend(&schedule.ended()[known..]);
    }

    fn tell_before(&mut self, time_ns: u64) {
        while let Some(burst) = self.bursts.front()
            && time_ns > burst.until_ns.saturating_add(SEEN_NS)
        {
            self.consumer.burst(*burst);
            self.bursts.pop_front();
            self.told += 1;
        }
    }
}

impl<C: Consumer> Consumer for Telling<C> {
    fn event(&mut self, event: &Event<'_>) {
        self.tell_before(event.time_ns);
        self.events += 1;
        self.consumer.event(event);
    }

    fn lost(&mut self, gap: Gap) {
        self.consumer.lost(gap);
    }
}

/// Processor time of this thread, from its start.
fn own_cpu() -> CpuTimes {
    // Linux tells every thread its own.
    CpuTimes::now(CpuScope::Thread).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_a_small_group_little_memory_is_kept_for_events() {
        let of = |mib: u64| Room::within(Some(mib << 20));
        assert_eq!(Room::within(None), Room::WANTED);
        assert_eq!(of(1 << 20), Room::WANTED);
        let small = of(32);
        assert_eq!((small.reserved, small.held), (4 << 20, 8 << 20));
    }
}
