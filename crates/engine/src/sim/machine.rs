//! The simulated machine: a host, its clock, and who waits for what.
//!
//! Time passes in one place, [`Machine::next_to_run`]: event by event, until a
//! stream can go on.

use super::access::{Access, Role};
use super::bursts::Bursts;
use super::neighbour::Neighbour;
use super::truth::{Served, spend};
use crate::engine::{Completion as Done, FailedIn, Op};
use diskfacts_disk::host::Host;
use diskfacts_disk::request::Kind;
use diskfacts_disk::{Breakdown, Completion, Device, Extent, Flags, IoError, Request};
use diskfacts_record::PackedBursts;
use diskfacts_record::evidence::TimeParts;
use rustix::io::Errno;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How long a trial waits at most for what was under way before it, ns: about
/// as long as a real session takes to store the trial before.
const REST_NS: u64 = 100_000_000;
/// Bytes that are read at once to warm the page cache.
const WARM_BYTES: u64 = 1 << 20;
/// The stream of requests of the machine itself.
pub(super) const OWN_STREAM: u32 = u32::MAX - 1;
/// Streams of what runs beside a trial, as the host numbers them, from this on
/// to the machine's own.
const BESIDE: u32 = 1 << 22;
/// I/O contexts that a stream may have: no more threads serve one.
pub(super) const CONTEXTS: u32 = 1 << 9;
/// Tags of requests that no stream made. Those of streams are below: 22 bits
/// for the stream, 32 for the slot, 2 for the part of the operation.
const OWN: u64 = 1 << 62;
const NEIGHBOUR: u64 = 1 << 63;
const SLOT_SHIFT: u32 = 2;
const STREAM_SHIFT: u32 = 34;

/// Parts of an operation.
const TRANSFER: u64 = 0;
const SYNC: u64 = 1;
const FINAL_SYNC: u64 = 2;
const READ_FIRST: u64 = 3;

/// What a stream waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiting {
    /// Nothing: it is to begin, or runs.
    Nothing,
    /// A completion, or this moment, ns.
    Completion(u64),
    /// This moment, ns.
    Time(u64),
    /// The sync at its end.
    FinalSync,
    /// Nothing any more.
    Ended,
}

/// A stream of the trial.
#[derive(Debug)]
struct Stream {
    access: Access,
    /// As the host numbers it.
    number: u32,
    /// Operations begun: whose turn it is of the threads that serve it.
    begun: u64,
    waiting: Waiting,
    ready: Vec<Done>,
    synced: Option<Result<(), IoError>>,
    /// Where the modification in each slot is to write what it read.
    places: Vec<u64>,
    /// Processor time of its thread, ns.
    processor_ns: u64,
}

/// What a trial brings along.
#[derive(Debug, Clone, Default)]
pub(super) struct Outside {
    /// Ends the trial.
    pub(super) stop: Arc<AtomicBool>,
    /// Where virtual time is shown.
    pub(super) virtual_ns: Arc<AtomicU64>,
}

/// Host, clock and streams.
pub(super) struct Machine {
    pub(super) host: Host,
    now_ns: u64,
    began_ns: u64,
    streams: Vec<Stream>,
    neighbour: Option<Neighbour>,
    neighbours: u64,
    /// When a signal comes, ns.
    stop_at_ns: Option<u64>,
    outside: Outside,
    /// Operations that need no I/O: when they end, and their tags.
    made_up: VecDeque<(u64, u64)>,
    arrived: Vec<Completion>,
    own: Option<Result<(), IoError>>,
    pub(super) served: Served,
    /// Where the time of the trial's operations went.
    pub(super) spent: TimeParts,
    /// Processor time of the trial's streams, ns.
    pub(super) processor: Processor,
    /// Bytes of direct reads and writes that were sent to the block layer: of
    /// the trial, and of what runs beside it.
    pub(super) direct: Sent,
    pub(super) direct_beside: Sent,
    /// Single requests since the window opened, where they are kept.
    bursts: Bursts,
}

/// Processor time, ns.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Processor {
    pub(super) user_ns: u64,
    pub(super) system_ns: u64,
}

/// Bytes sent to the block layer.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sent {
    pub(super) read_bytes: u64,
    pub(super) write_bytes: u64,
}

impl Machine {
    pub(super) fn new(
        host: Host,
        neighbour: Option<Neighbour>,
        stop_at_ns: Option<u64>,
    ) -> Box<Self> {
        Box::new(Self {
            host,
            now_ns: 0,
            began_ns: 0,
            streams: Vec::new(),
            neighbour,
            neighbours: 0,
            stop_at_ns,
            outside: Outside::default(),
            made_up: VecDeque::new(),
            arrived: Vec::new(),
            own: None,
            served: Served::default(),
            spent: TimeParts::default(),
            processor: Processor::default(),
            direct: Sent::default(),
            direct_beside: Sent::default(),
            bursts: Bursts::default(),
        })
    }

    /// Whether single requests of the trials from now on are kept.
    pub(super) fn keep_bursts(&mut self, whether: bool) {
        self.host.tell_requests(whether);
        self.bursts.whether = whether;
    }

    /// The requests of the trial that were kept, of a disk of this name.
    pub(super) fn take_bursts(&mut self, disk: &str) -> Option<PackedBursts> {
        self.bursts.take(disk)
    }

    /// Virtual time, ns.
    #[inline]
    pub(super) fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// A trial whose streams are open like this is to begin, or to be prepared.
    pub(super) fn begin_trial(&mut self, streams: &[Access], outside: Outside) {
        self.outside = outside;
        self.began_ns = self.now_ns;
        let (mut of_trial, mut beside) = (0, BESIDE);
        let mut number = |access: &Access| {
            let next = if access.role == Role::Beside {
                &mut beside
            } else {
                &mut of_trial
            };
            *next += 1;
            *next - 1
        };
        self.streams = streams
            .iter()
            .map(|access| Stream {
                access: *access,
                number: number(access),
                begun: 0,
                waiting: Waiting::Nothing,
                ready: Vec::new(),
                synced: None,
                places: Vec::new(),
                processor_ns: 0,
            })
            .collect();
        if let Some(neighbour) = &mut self.neighbour {
            neighbour.begin(self.now_ns);
        }
    }

    /// The window of the observers opens, when what was under way has ended
    /// (read-ahead mostly), or after a while (write-back).
    pub(super) fn open_window(&mut self) {
        let until_ns = self.now_ns + REST_NS;
        while self.host.block_statistics(self.now_ns).in_flight > 0
            && let Some(next_ns) = self.host.next_event().filter(|ns| *ns <= until_ns)
        {
            self.step_to(next_ns);
        }
        self.host.begin_window();
        self.host.count_apart(BESIDE);
        self.served = Served::default();
        self.spent = TimeParts::default();
        self.processor = Processor::default();
        self.direct = Sent::default();
        self.direct_beside = Sent::default();
        self.bursts.open(self.now_ns);
    }

    /// A stream's thread spends processor time. What the kernel spends on an
    /// operation is a part of its time.
    pub(super) fn count_processor(&mut self, stream: usize, user_ns: u64, system_ns: u64) {
        let stream = &mut self.streams[stream];
        stream.processor_ns += user_ns + system_ns;
        if stream.access.role == Role::Trial {
            self.processor.user_ns += user_ns;
            self.processor.system_ns += system_ns;
            self.spent.host_ns += system_ns;
        }
    }

    /// The copy of a stream's thread took so long; that is in the time of its operation
    /// already. Of direct operations the call is what [`count_processor`](Self::count_processor)
    /// is told, because several in flight are begun one after the other.
    fn copied(&mut self, stream: usize, ns: u64) {
        let stream = &mut self.streams[stream];
        if stream.access.direct {
            return;
        }
        stream.processor_ns += ns;
        if stream.access.role == Role::Trial {
            self.processor.system_ns += ns;
        }
    }

    /// Processor time of a stream's thread so far, ns.
    pub(super) fn processor_ns(&self, stream: usize) -> u64 {
        self.streams[stream].processor_ns
    }

    /// A stream starts an operation.
    pub(super) fn begin(&mut self, stream: usize, op: &Op) {
        let tag = (stream as u64) << STREAM_SHIFT | u64::from(op.slot) << SLOT_SHIFT;
        let of = &mut self.streams[stream];
        of.begun += 1;
        if op.write && of.access.modify {
            let slot = op.slot as usize;
            if of.places.len() <= slot {
                of.places.resize(slot + 1, 0);
            }
            of.places[slot] = op.offset;
            self.transfer(tag | READ_FIRST, op.offset, false);
        } else {
            self.transfer(tag | TRANSFER, op.offset, op.write);
        }
    }

    /// Reads or writes the block at an offset, for the stream in the tag.
    fn transfer(&mut self, tag: u64, at: u64, write: bool) {
        // It fits: the tag was made of it.
        let Stream {
            access,
            number,
            begun,
            ..
        } = &self.streams[(tag >> STREAM_SHIFT) as usize];
        let (access, number) = (*access, *number);
        // Below the number of contexts.
        let turn = (*begun % u64::from(access.contexts.max(1))) as u32;
        let (mut offset, mut len) = (at, access.block);
        if !write {
            let range = Extent {
                start: offset,
                end: offset.saturating_add(len),
            };
            if access
                .hole
                .is_some_and(|hole| hole.start <= range.start && range.end <= hole.end)
            {
                self.made_up.push_back((self.now_ns + access.call_ns, tag));
                return;
            }
            if range.end <= self.host.capacity() {
                offset = range.start / access.reads_in * access.reads_in;
                let end = range.end.next_multiple_of(access.reads_in);
                len = end.min(self.host.capacity()) - offset;
            }
        }
        let request = Request {
            tag,
            kind: if write { Kind::Write } else { Kind::Read },
            offset,
            len,
            flags: Flags {
                fua: access.fua && write,
                preflush: false,
                direct: access.direct,
            },
            stream: number,
            context: number.wrapping_mul(CONTEXTS).wrapping_add(turn),
        };
        if access.direct && request.end() <= self.host.capacity() {
            let sent = if access.role == Role::Beside {
                &mut self.direct_beside
            } else {
                &mut self.direct
            };
            if write {
                sent.write_bytes += len;
            } else {
                sent.read_bytes += len;
            }
        }
        self.submit(&request);
    }

    /// A stream makes everything written durable, once.
    pub(super) fn begin_final_sync(&mut self, stream: usize) {
        self.flush((stream as u64) << STREAM_SHIFT | FINAL_SYNC, stream);
    }

    /// How the sync of a stream ended, when it has.
    pub(super) fn take_synced(&mut self, stream: usize) -> Option<Result<(), IoError>> {
        self.streams[stream].synced.take()
    }

    fn flush(&mut self, tag: u64, stream: usize) {
        let Stream { access, number, .. } = &self.streams[stream];
        let mut request = Request::flush(tag)
            .of_stream(*number)
            .in_context(number.wrapping_mul(CONTEXTS));
        request.flags.direct = access.direct;
        self.submit(&request);
    }

    /// Gives the host a request, once it has done what is due by now.
    fn submit(&mut self, request: &Request) {
        if self.is_due() {
            self.host.advance(self.now_ns, &mut self.arrived);
        }
        self.host.submit(self.now_ns, request);
    }

    fn is_due(&self) -> bool {
        self.host.next_event().is_some_and(|due| due <= self.now_ns)
    }

    /// Completions of a stream, appended by `push`.
    pub(super) fn take_ready(&mut self, stream: usize, mut push: impl FnMut(Done)) {
        for done in self.streams[stream].ready.drain(..) {
            push(done);
        }
    }

    /// Lets the host do what is due by now; no time passes.
    pub(super) fn catch_up(&mut self) {
        loop {
            if self.is_due() {
                self.host.advance(self.now_ns, &mut self.arrived);
            }
            self.take_in();
            if !self.is_due() {
                return;
            }
        }
    }

    /// A stream waits for this, or has ended.
    pub(super) fn set_waiting(&mut self, stream: usize, waiting: Waiting) {
        self.streams[stream].waiting = waiting;
    }

    /// Which stream goes on; time passes until one can. `None` when all have
    /// ended.
    pub(super) fn next_to_run(&mut self) -> Option<usize> {
        loop {
            self.take_in();
            let can_go_on = |stream: &Stream| match stream.waiting {
                Waiting::Nothing => true,
                Waiting::Completion(until_ns) => {
                    !stream.ready.is_empty() || until_ns <= self.now_ns
                }
                Waiting::Time(until_ns) => until_ns <= self.now_ns,
                Waiting::FinalSync => stream.synced.is_some(),
                Waiting::Ended => false,
            };
            if let Some(next) = self.streams.iter().position(can_go_on) {
                self.streams[next].waiting = Waiting::Nothing;
                return Some(next);
            }
            let all_ended = self
                .streams
                .iter()
                .all(|stream| stream.waiting == Waiting::Ended);
            if all_ended {
                return None;
            }
            self.pass_time();
        }
    }

    /// Lets time pass to the next event.
    fn pass_time(&mut self) {
        let mut next_ns = self.host.next_event().unwrap_or(u64::MAX);
        if let Some((due_ns, _)) = self.made_up.front() {
            next_ns = next_ns.min(*due_ns);
        }
        if let Some(neighbour) = &self.neighbour {
            next_ns = next_ns.min(neighbour.next_ns);
        }
        for stream in &self.streams {
            if let Waiting::Completion(until_ns) | Waiting::Time(until_ns) = stream.waiting {
                next_ns = next_ns.min(until_ns);
            }
        }
        assert!(
            next_ns != u64::MAX,
            "who waits for an operation in flight waits for an event"
        );
        self.step_to(next_ns);
    }

    fn step_to(&mut self, now_ns: u64) {
        self.now_ns = self.now_ns.max(now_ns);
        self.outside
            .virtual_ns
            .store(self.now_ns - self.began_ns, Ordering::Relaxed);
        self.host.advance(self.now_ns, &mut self.arrived);
        self.take_in();
        while let Some((due_ns, tag)) = self.made_up.front().copied()
            && due_ns <= self.now_ns
        {
            self.made_up.pop_front();
            // It fits: the tag was made of it.
            let access = self.streams[(tag >> STREAM_SHIFT) as usize].access;
            if access.role == Role::Trial {
                self.spent.host_ns += access.call_ns;
            }
            self.copied((tag >> STREAM_SHIFT) as usize, access.call_ns);
            self.answer(tag, Ok(()));
        }
        let capacity = self.host.capacity();
        if let Some(neighbour) = &mut self.neighbour
            && neighbour.next_ns <= self.now_ns
        {
            self.neighbours += 1;
            let request = neighbour.request(self.now_ns, NEIGHBOUR | self.neighbours, capacity);
            self.submit(&request);
        }
        if self.stop_at_ns.is_some_and(|at_ns| at_ns <= self.now_ns) {
            self.outside.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Hands on what came back from the host.
    fn take_in(&mut self) {
        if self.bursts.whether {
            for served in self.host.take_served() {
                self.bursts.served(&served);
            }
        }
        while !self.arrived.is_empty() {
            let mut batch = std::mem::take(&mut self.arrived);
            for completion in &batch {
                self.came_back(completion);
            }
            batch.clear();
            if self.arrived.is_empty() {
                self.arrived = batch;
            }
        }
    }

    fn came_back(&mut self, completion: &Completion) {
        if completion.tag >= NEIGHBOUR {
            return;
        }
        if completion.tag >= OWN {
            self.own = Some(completion.result);
            return;
        }
        // It fits: the tag was made of it.
        let stream = (completion.tag >> STREAM_SHIFT) as usize;
        let access = self.streams[stream].access;
        if completion.tag & 3 != FINAL_SYNC && access.role == Role::Trial {
            spend(&mut self.spent, &completion.breakdown);
        }
        self.copied(stream, completion.breakdown.host_ns);
        let is_transfer = matches!(completion.tag & 3, TRANSFER | READ_FIRST);
        if is_transfer && completion.result.is_ok() {
            let write = completion.kind == Kind::Write;
            if access.direct && access.role == Role::Trial {
                self.count(write, access.block, &completion.breakdown);
            }
            if write && access.flush_each {
                self.flush(completion.tag | SYNC, stream);
                return;
            }
        }
        self.answer(completion.tag, completion.result);
    }

    fn count(&mut self, write: bool, bytes: u64, breakdown: &Breakdown) {
        if write {
            self.served.written += bytes;
        } else {
            self.served.read(breakdown.layer, bytes);
        }
    }

    /// An operation of a stream has ended.
    fn answer(&mut self, tag: u64, result: Result<(), IoError>) {
        // Both fit: the tag was made of them.
        let stream = &mut self.streams[(tag >> STREAM_SHIFT) as usize];
        let slot = (tag >> SLOT_SHIFT) as u32;
        if tag & 3 == READ_FIRST && result.is_ok() {
            let place = stream.places[slot as usize];
            self.transfer(tag & !3 | TRANSFER, place, true);
            return;
        }
        if tag & 3 == FINAL_SYNC {
            stream.synced = Some(result);
            return;
        }
        self.spent.operations += 1;
        stream.ready.push(Done {
            slot,
            // Blocks are at most 1 GiB.
            result: match result {
                Ok(()) => i32::try_from(stream.access.block).unwrap_or(i32::MAX),
                Err(error) => -errno(error).raw_os_error(),
            },
            failed_in: match tag & 3 {
                SYNC => FailedIn::Sync,
                READ_FIRST => FailedIn::ReadFirst,
                _ => FailedIn::Transfer,
            },
        });
    }

    /// Reads a span into the page cache, a piece at a time, until told to stop.
    pub(super) fn warm(&mut self, span: Extent) -> Result<(), IoError> {
        let mut offset = span.start;
        while offset < span.end && !self.outside.stop.load(Ordering::Relaxed) {
            let len = WARM_BYTES.min(span.end - offset);
            let request = Request::read(OWN, offset, len)
                .buffered()
                .of_stream(OWN_STREAM);
            self.run_own(&request)?;
            offset += len;
        }
        Ok(())
    }

    /// Makes durable what was written before.
    pub(super) fn settle(&mut self) -> Result<(), IoError> {
        self.run_own(&Request::flush(OWN).buffered().of_stream(OWN_STREAM))
    }

    /// Writes what is dirty, and drops a span from the page cache.
    pub(super) fn drop_cache(&mut self, span: Extent) -> Result<(), IoError> {
        self.settle()?;
        self.host.forget(span);
        Ok(())
    }

    fn run_own(&mut self, request: &Request) -> Result<(), IoError> {
        self.own = None;
        self.submit(request);
        loop {
            self.take_in();
            if let Some(result) = self.own.take() {
                return result;
            }
            self.pass_time();
        }
    }
}

/// What the kernel would say.
pub(super) fn errno(error: IoError) -> Errno {
    match error {
        IoError::Misaligned { .. } => Errno::INVAL,
        IoError::BeyondEnd { .. } | IoError::Unrecoverable { .. } => Errno::IO,
    }
}
