//! From trace events to what became of each device's requests. Pure: it knows no
//! kernel, only events in order of time.

use super::buckets;
use super::depth::Depth;
use super::pending::{Key, Pending, Request};
use super::request_event::{RequestEvent, Step};
use super::sample::Sample;
use super::slowest::Slowest;
use diskfacts_record::evidence::{
    DeviceRequests, OperationRequests, RequestKind, Seeks, SlowestRequests, SlowestSyncs,
};
use diskfacts_record::{BurstKeeper, BurstRequest, Bursts, Histogram, Latency};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

const SECTOR_BYTES: u64 = 512;

/// A device whose requests are followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Followed {
    /// Name in the kernel.
    pub name: String,
    /// Its number, as of [`device_number`](crate::trace::device_number), and those of
    /// its partitions, which I/Os name before they are requests.
    pub numbers: Vec<u64>,
}

/// The kernel's numbers of the threads of this process, in rising order, once they are known.
pub type OwnThreads = Arc<OnceLock<Vec<u32>>>;

/// Follows requests through the block layer.
#[derive(Debug)]
pub struct Requests {
    devices: Vec<Device>,
    /// Which device a number is of.
    by_number: Vec<(u64, usize)>,
    /// Until then events are missing: what began before may have ended unseen.
    blind_until_ns: Option<u64>,
    lost: bool,
    /// Single requests, where some are kept.
    bursts: Option<(BurstKeeper, OwnThreads)>,
}

#[derive(Debug)]
struct Device {
    name: String,
    waiting: Pending,
    in_flight: Pending,
    depth: Depth,
    /// Where the last issued request ended.
    end: Option<u64>,
    in_order: u64,
    forward: Histogram,
    backward: Histogram,
    kinds: BTreeMap<RequestKind, Counts>,
    /// Reads and writes by their time in the scheduler and at the device.
    slowest: Slowest<2>,
    /// Reads and writes by their time at the device and where they lie.
    sample: Sample,
    /// From one flush to the next.
    stretch: Stretch,
    /// Stretches by the times of their requests in the scheduler and at the device, and of
    /// the flush.
    slowest_syncs: Slowest<3>,
    /// Writes with a flush that the device has done: their completion is told twice
    /// (`blk_flush_complete_seq` in `block/blk-flush.c`).
    told_again: HashSet<Key>,
}

#[derive(Debug, Default)]
struct Counts {
    issued: u64,
    completed: u64,
    sectors: u64,
    readahead: u64,
    metadata: u64,
    errors: u64,
    back_merges: u64,
    front_merges: u64,
    request_merges: u64,
    requeues: u64,
    unfinished: u64,
    waiting: u64,
    issue_unseen: u64,
    queued: Histogram,
    device: Histogram,
    sizes: HashMap<u64, u64>,
}

impl Requests {
    /// Of these devices.
    pub fn new(devices: &[Followed]) -> Self {
        let numbers = devices.iter().enumerate();
        let by_number = numbers.flat_map(|(index, device)| {
            let numbers = device.numbers.iter();
            numbers.map(move |number| (*number, index))
        });
        Self {
            by_number: by_number.collect(),
            devices: devices.iter().map(|d| Device::new(&d.name)).collect(),
            blind_until_ns: None,
            lost: false,
            bursts: None,
        }
    }

    /// From here on keeps single requests of a few moments, and whether they were made by one of
    /// these threads.
    #[must_use]
    pub fn keeping_bursts(mut self, own: OwnThreads) -> Self {
        self.bursts = Some((BurstKeeper::default(), own));
        self
    }

    /// The single requests that were kept, of a window that opened then; `None` where there are
    /// none.
    pub fn take_bursts(&mut self, opened_ns: u64) -> Option<Bursts> {
        let (keeper, _) = self.bursts.take()?;
        let names = self.devices.iter().map(|device| device.name.clone());
        keeper.finish(opened_ns, names.collect())
    }

    /// Events before `before_ns` are missing.
    pub fn lost(&mut self, before_ns: u64) {
        self.lost = true;
        let until_ns = self
            .blind_until_ns
            .map_or(before_ns, |until| until.max(before_ns));
        self.blind_until_ns = Some(until_ns);
        if let Some((keeper, _)) = &mut self.bursts {
            keeper.pause();
        }
    }

    /// Takes the next event.
    pub fn event(&mut self, time_ns: u64, event: &RequestEvent) {
        let blind = self.blind_until_ns.is_some_and(|until_ns| {
            let sees_again = time_ns >= until_ns;
            if sees_again {
                // What began before may have ended unseen, and would be taken for
                // something that begins at the same place later.
                for device in &mut self.devices {
                    device.forget();
                }
                self.blind_until_ns = None;
            }
            !sees_again
        });
        let mut numbers = self.by_number.iter();
        let Some((_, index)) = numbers.find(|(number, _)| *number == event.device) else {
            return;
        };
        let done = self.devices[*index].event(time_ns, event, blind);
        if let Some((keeper, own)) = &mut self.bursts
            && let Some(request) = done
        {
            keeper.completed(of_burst(&request, own, (time_ns, event, *index)));
        }
    }

    /// What became of the requests of a part of the window, which ends now. What is
    /// under way goes on into the next part; `unfinished` and `waiting` are what is in
    /// the device, and in front of it, at this end.
    pub fn part(&mut self, from_ns: u64, until_ns: u64) -> Vec<DeviceRequests> {
        let known = !std::mem::take(&mut self.lost);
        let devices = self.devices.iter_mut();
        devices
            .map(|device| {
                let mut part = device.part(until_ns);
                part.burst(from_ns, until_ns);
                part.end(known)
            })
            .collect()
    }

    /// All events from `from_ns` to `until_ns` were given, and none of those that happen
    /// until the next one: `unfinished` and `waiting` are what is in the device, and in
    /// front of it, at this end; what becomes of them nobody will know.
    pub fn burst(&mut self, from_ns: u64, until_ns: u64) {
        for device in &mut self.devices {
            device.burst(from_ns, until_ns);
        }
        if let Some((keeper, _)) = &mut self.bursts {
            keeper.pause();
        }
    }

    /// What became of the requests of all [bursts](Self::burst).
    pub fn end(self) -> Vec<DeviceRequests> {
        let known = !self.lost;
        let devices = self.devices.into_iter();
        devices.map(|device| device.end(known)).collect()
    }

    /// What became of the requests of a window, of which all events were given.
    pub fn finish(mut self, from_ns: u64, until_ns: u64) -> Vec<DeviceRequests> {
        self.burst(from_ns, until_ns);
        self.end()
    }
}

impl Device {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            waiting: Pending::default(),
            in_flight: Pending::default(),
            depth: Depth::default(),
            end: None,
            in_order: 0,
            forward: Histogram::new(),
            backward: Histogram::new(),
            kinds: BTreeMap::new(),
            slowest: Slowest::default(),
            sample: Sample::default(),
            stretch: Stretch::default(),
            slowest_syncs: Slowest::default(),
            told_again: HashSet::new(),
        }
    }

    /// What was counted until now, taken out of this.
    fn part(&mut self, until_ns: u64) -> Self {
        let mut part = Self {
            depth: self.depth.part(until_ns),
            in_order: std::mem::take(&mut self.in_order),
            forward: std::mem::take(&mut self.forward),
            backward: std::mem::take(&mut self.backward),
            kinds: std::mem::take(&mut self.kinds),
            slowest: std::mem::take(&mut self.slowest),
            sample: std::mem::take(&mut self.sample),
            slowest_syncs: std::mem::take(&mut self.slowest_syncs),
            ..Self::new(&self.name)
        };
        for (kind, number) in self.waiting.numbers() {
            part.counts(kind).waiting += number;
        }
        for (kind, number) in self.in_flight.numbers() {
            part.counts(kind).unfinished += number;
        }
        part
    }

    /// What is under way will not be understood any more.
    fn forget(&mut self) {
        for (kind, number) in self.waiting.forget() {
            self.counts(kind).waiting += number;
        }
        for (kind, number) in self.in_flight.forget() {
            self.counts(kind).unfinished += number;
        }
        self.told_again.clear();
        self.stretch = Stretch::default();
    }

    fn counts(&mut self, kind: RequestKind) -> &mut Counts {
        self.kinds.entry(kind).or_default()
    }

    /// Takes an event; answers which request it completes, if it was seen from its issue on.
    fn event(&mut self, time_ns: u64, event: &RequestEvent, blind: bool) -> Option<Request> {
        let key = Key::new(event.sector, event.kind);
        match event.step {
            Step::Start => self.wait(key, time_ns, event),
            Step::Insert => {
                // One that came back from the device is inserted again.
                if !self.waiting.first(key).is_some_and(|first| first.came_back) {
                    self.wait(key, time_ns, event);
                }
            }
            Step::Issue => self.issue(key, time_ns, event),
            Step::Complete => return self.complete(key, time_ns, event, blind),
            Step::Merge => {
                self.waiting.take(key);
                self.counts(event.kind).request_merges += 1;
            }
            Step::Requeue => {
                self.counts(event.kind).requeues += 1;
                let request = self.in_flight.take_of_length(key, event.sectors);
                if request.is_some() {
                    self.depth.leave(time_ns);
                } else {
                    self.depth.leave_from_before(time_ns);
                }
                let request = Request {
                    came_back: true,
                    ..request.unwrap_or(Request::made(None, event))
                };
                self.waiting.put(key, request);
            }
            Step::BackMerge => self.counts(event.kind).back_merges += 1,
            Step::FrontMerge => {
                self.counts(event.kind).front_merges += 1;
                // The waiting request begins where the I/O does now.
                let before = Key::new(event.sector.saturating_add(event.sectors), event.kind);
                if let Some(request) = self.waiting.take(before) {
                    self.waiting.put(key, request);
                }
            }
        }
        None
    }

    fn wait(&mut self, key: Key, time_ns: u64, event: &RequestEvent) {
        self.waiting.put(key, Request::made(Some(time_ns), event));
    }

    fn issue(&mut self, key: Key, time_ns: u64, event: &RequestEvent) {
        let waiting = self.waiting.take(key);
        let request = waiting.unwrap_or(Request::made(None, event));
        if !request.came_back {
            let counts = self.counts(event.kind);
            counts.issued += 1;
            counts.sectors += event.sectors;
            counts.readahead += u64::from(event.readahead);
            counts.metadata += u64::from(event.metadata);
            *counts.sizes.entry(event.sectors).or_default() += 1;
            self.seek(event);
        }
        self.depth.enter(time_ns);
        let request = Request {
            issued_ns: time_ns,
            sectors: event.sectors,
            issued: (event.sector, event.sectors),
            ..request
        };
        self.in_flight.put(key, request);
    }

    fn seek(&mut self, event: &RequestEvent) {
        if event.sectors == 0 {
            return;
        }
        let end = event.sector.saturating_add(event.sectors);
        let Some(before) = self.end.replace(end) else {
            return;
        };
        match event.sector.cmp(&before) {
            std::cmp::Ordering::Equal => self.in_order += 1,
            std::cmp::Ordering::Greater => self.forward.record(event.sector - before),
            std::cmp::Ordering::Less => self.backward.record(before - event.sector),
        }
    }

    /// All or a part of a request is done; answers which, where it is all.
    fn complete(
        &mut self,
        key: Key,
        time_ns: u64,
        event: &RequestEvent,
        blind: bool,
    ) -> Option<Request> {
        self.counts(event.kind).errors += u64::from(event.failed);
        let Some(request) = self.in_flight.take_of_length(key, event.sectors) else {
            self.complete_unseen(key, time_ns, event);
            return None;
        };
        if event.sectors < request.sectors {
            // A part; the rest begins behind it.
            let rest = Request {
                sectors: request.sectors - event.sectors,
                ..request
            };
            let behind = Key::new(event.sector.saturating_add(event.sectors), event.kind);
            self.in_flight.put(behind, rest);
            return None;
        }
        self.depth.leave(time_ns);
        if request.flushes {
            self.told_again.insert(key);
        }
        let counts = self.counts(event.kind);
        counts.completed += 1;
        if blind {
            return None;
        }
        let device_ns = time_ns.saturating_sub(request.issued_ns);
        counts.device.record(device_ns);
        let queued_ns = request
            .since_ns
            .map(|since_ns| request.issued_ns.saturating_sub(since_ns));
        if let Some(queued_ns) = queued_ns {
            counts.queued.record(queued_ns);
        }
        if matches!(event.kind, RequestKind::Read | RequestKind::Write) {
            self.sample.record(event.sector, device_ns);
        }
        match (event.kind, queued_ns) {
            (RequestKind::Read | RequestKind::Write, Some(queued_ns)) => {
                let whole_ns = queued_ns.saturating_add(device_ns);
                self.slowest.record(whole_ns, [queued_ns, device_ns]);
                self.stretch.add(queued_ns, device_ns);
            }
            (RequestKind::Flush, _) => {
                if let Some((whole_ns, [queued_ns, served_ns])) = self.stretch.end(time_ns) {
                    let parts_ns = [queued_ns, served_ns, device_ns];
                    self.slowest_syncs.record(whole_ns, parts_ns);
                }
            }
            _ => {}
        }
        Some(request)
    }

    /// One that is not known to be in the device is done.
    fn complete_unseen(&mut self, key: Key, time_ns: u64, event: &RequestEvent) {
        if self.told_again.remove(&key) {
            return;
        }
        self.counts(event.kind).issue_unseen += 1;
        // A flush, for the one who asked for it, is over without having been issued.
        let never_issued = self.waiting.take(key).is_some();
        if !never_issued && event.kind != RequestKind::Flush {
            self.depth.leave_from_before(time_ns);
        }
    }

    fn burst(&mut self, from_ns: u64, until_ns: u64) {
        self.forget();
        self.depth.burst(from_ns, until_ns);
        // Where the device went meanwhile is not known.
        self.end = None;
    }

    fn end(self, known: bool) -> DeviceRequests {
        let (mean, most) = self.depth.over();
        let operations = self.kinds.into_iter();
        DeviceRequests {
            name: self.name,
            operations: operations
                .map(|(kind, counts)| counts.finish(kind))
                .collect(),
            seeks: Seeks {
                in_order: self.in_order,
                forward: self.forward.count(),
                backward: self.backward.count(),
                forward_p50_sectors: self.forward.quantile(0.5),
                backward_p50_sectors: self.backward.quantile(0.5),
                forward_sectors: buckets::powers_of_two(&self.forward),
                backward_sectors: buckets::powers_of_two(&self.backward),
            },
            slowest: self
                .slowest
                .hundredth()
                .map(|(requests, [queued_ns, device_ns])| SlowestRequests {
                    requests,
                    queued_ns,
                    device_ns,
                }),
            outliers: self.sample.outliers(),
            slowest_syncs: self.slowest_syncs.hundredth().map(
                |(syncs, [queued_ns, device_ns, flush_ns])| SlowestSyncs {
                    syncs,
                    queued_ns,
                    device_ns,
                    flush_ns,
                },
            ),
            in_flight_mean: known.then_some(mean),
            in_flight_max: known.then_some(most),
        }
    }
}

/// What is done from the end of one flush to the end of the next: where each write is synced,
/// and one is under way at a time, that is one of them.
#[derive(Debug, Default)]
struct Stretch {
    /// When the flush before was done; not known of the first.
    from_ns: Option<u64>,
    queued_ns: u64,
    device_ns: u64,
}

impl Stretch {
    fn add(&mut self, queued_ns: u64, device_ns: u64) {
        self.queued_ns = self.queued_ns.saturating_add(queued_ns);
        self.device_ns = self.device_ns.saturating_add(device_ns);
    }

    /// How long it was, and what its requests took, if its beginning was seen; the next one
    /// begins.
    fn end(&mut self, time_ns: u64) -> Option<(u64, [u64; 2])> {
        let next = Self {
            from_ns: Some(time_ns),
            ..Self::default()
        };
        let over = std::mem::replace(self, next);
        let whole_ns = time_ns.saturating_sub(over.from_ns?);
        Some((whole_ns, [over.queued_ns, over.device_ns]))
    }
}

impl Request {
    fn made(since_ns: Option<u64>, event: &RequestEvent) -> Self {
        Self {
            since_ns,
            issued_ns: 0,
            sectors: event.sectors,
            came_back: false,
            flushes: event.flushes,
            issued: (event.sector, event.sectors),
            maker: event.thread,
        }
    }
}

/// A request that is done, of a device by its place, with the times of the trace.
fn of_burst(
    request: &Request,
    own: &OwnThreads,
    (time_ns, event, device): (u64, &RequestEvent, usize),
) -> BurstRequest {
    let (sector, sectors) = request.issued;
    let own = own.get().map(Vec::as_slice).unwrap_or_default();
    let ours = match own.binary_search(&request.maker) {
        Ok(_) => Some(true),
        // It may have been issued by another thread than the one that made it.
        Err(_) if own.is_empty() || request.since_ns.is_none() => None,
        Err(_) => Some(false),
    };
    BurstRequest {
        device,
        operation: event.kind,
        offset_bytes: sector.saturating_mul(SECTOR_BYTES),
        bytes: sectors.saturating_mul(SECTOR_BYTES),
        queued_ns: request.since_ns,
        issued_ns: request.issued_ns,
        completed_ns: time_ns,
        ours,
        failed: event.failed,
    }
}

impl Counts {
    fn finish(self, operation: RequestKind) -> OperationRequests {
        let mut sizes: Vec<(u64, u64)> = self.sizes.into_iter().collect();
        sizes.sort_unstable();
        OperationRequests {
            operation,
            issued: self.issued,
            completed: self.completed,
            bytes: self.sectors.saturating_mul(SECTOR_BYTES),
            readahead: self.readahead,
            metadata: self.metadata,
            errors: self.errors,
            back_merges: self.back_merges,
            front_merges: self.front_merges,
            request_merges: self.request_merges,
            requeues: self.requeues,
            unfinished: self.unfinished,
            waiting: self.waiting,
            issue_unseen: self.issue_unseen,
            queued_ns: Latency::from(&self.queued),
            device_ns: Latency::from(&self.device),
            queued_histogram: buckets::latencies(&self.queued),
            device_histogram: buckets::latencies(&self.device),
            sizes: buckets::sizes(&sizes),
        }
    }
}
