//! The latency of a trial's operations, divided.
//!
//! Each part takes no more than those before it left. Which come first depends on the way
//! of the operation: a direct one waits for its own requests, so these are certain and the
//! thread's work lies around them; through the page cache the thread's work is certain, and
//! the device may have worked ahead meanwhile.

use super::calls::Calls;
use super::own::{Shares, journal_is_idle, own_share_of_reads};
use super::requests::Requests;
use crate::blocked::{By, Looks};
use crate::dirty_pages;
use crate::layers::{self};
use crate::others::by_others;
use crate::pages;
use crate::processor_wait::SATURATED;
use diskfacts_plan::EngineChoice;
use diskfacts_record::evidence::LimitOf;
use diskfacts_record::{Run, Spent, TargetKind, Trial};

/// Requests for each operation up to which an operation is one request: a few are of the
/// filesystem's own structures.
const WHOLE: f64 = 1.05;
/// Share of a control group's limit that the device must have counted for it to be reached: budget
/// that is not asked for in its slice is lost.
pub(crate) const USED: f64 = 0.9;
/// Share of the operations' time that they are held back from which on a limit is what holds them
/// though the stage does not come to it: others of the group have the rest, or it is charged for
/// twice (Linux 6.18 does so for devices that were used before).
pub(crate) const HELD_BACK: f64 = 0.5;
/// Share of the limit that the stage has then at least: a little less than the half of it that is
/// left where each operation is charged twice.
pub(crate) const PART: f64 = 0.45;

const EVENTS: &str =
    "trace events of the block layer, and where it was not followed its counters divided alike";
const EVENTS_OF_SLOWEST: &str = "trace events of the slowest hundredth of the requests";
const ABOVE: &str = "counters of the mapping, less the requests of the devices below it";
const COUNTERS: &str = "counters of the device";
const BUSY: &str = "time in which the device was busy, by its counters";
const CPU: &str = "processor time of this process";
const RUN_DELAY: &str = "the threads' own account of waiting (run_delay)";
const OWN_CLOCK: &str = "our clock: from when it was due to when it was handed over";
const LOOKS: &str = "looks at what the threads sleep in (/proc/PID/wchan)";
const CALLS: &str = "the NFS client's account of its calls (/proc/self/mountstats)";
const REQUESTS_BEYOND: &str = "requests beyond the operations' own, and the rest";
const REST: &str = "the rest";
const REST_BEHIND: &str = "the rest, behind the block layer";
const REST_ASLEEP: &str = "the rest, for which the thread was asleep";
const REST_FLUSH: &str =
    "the rest, for which the thread was asleep while the journal wrote nothing";
const REST_LIMITED: &str = "the rest, at the limit of the group";
const REST_AT_WORK: &str = "the rest, with the thread at work on other operations all the time";
const REST_TAGS: &str = "the rest, with as many requests in the queue as it holds";

/// A latency and its parts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Division {
    /// Operations that it is the mean of.
    pub(super) samples: f64,
    pub(super) latency_ns: f64,
    /// Each part, its time in ns, and how it was observed.
    pub(super) parts: Vec<(Spent, f64, &'static str)>,
}

impl Division {
    fn new(samples: f64, latency_ns: f64) -> Self {
        Self {
            samples,
            latency_ns,
            parts: Vec::new(),
        }
    }

    /// With what no part explains as its last.
    fn ended(mut self) -> Self {
        let left_ns = self.left_ns();
        self.parts.push((Spent::Unexplained, left_ns, REST));
        self
    }

    /// Time of a part, ns.
    pub(super) fn of(&self, part: Spent) -> f64 {
        let same = self.parts.iter().filter(|one| one.0 == part);
        same.fold(0.0, |sum, one| sum + one.1)
    }

    fn left_ns(&self) -> f64 {
        let taken = self.parts.iter().fold(0.0, |sum, one| sum + one.1);
        (self.latency_ns - taken).max(0.0)
    }

    /// Gives a part what it took, as far as it is there.
    fn take(&mut self, part: Spent, ns: f64, source: &'static str) {
        let ns = ns.min(self.left_ns());
        if ns > 0.0 {
            self.parts.push((part, ns, source));
        }
    }

    fn take_rest(&mut self, part: Spent, source: &'static str) {
        self.take(part, f64::INFINITY, source);
    }

    /// What is left of a direct operation beside its requests and the work of its thread;
    /// where the scheduler and the device were told apart, it lies in front of or behind
    /// them.
    fn take_rest_of_direct(&mut self, run: &Run, trial: &Trial, told_apart: bool) {
        if is_limited(trial, self) {
            self.take_rest(Spent::Admission, REST_LIMITED);
        } else if lacks_tags(run, trial, self) {
            self.take_rest(Spent::Admission, REST_TAGS);
        } else if is_at_work(trial) {
            self.take_rest(Spent::Completion, REST_AT_WORK);
        } else if told_apart && !self.is_held_elsewhere(trial) {
            self.take_rest(Spent::Completion, REST_BEHIND);
        }
    }

    /// Whether most of what is in flight is neither with the devices nor with a thread that is at
    /// work: that is no way back from a device, but a filesystem that keeps it.
    fn is_held_elsewhere(&self, trial: &Trial) -> bool {
        trial.workload.outstanding() > 1 && self.left_ns() >= HELD_BACK * self.latency_ns
    }

    /// The same of one that is followed by a sync.
    fn take_rest_of_synced(&mut self, run: &Run, trial: &Trial) {
        if is_limited(trial, self) {
            self.take_rest(Spent::Admission, REST_LIMITED);
        } else if waits_for_flushes(trial) {
            self.take_rest(Spent::Flush, REST_FLUSH);
        } else if run.stack.filesystem.is_some() && is_synced(run, trial) {
            self.take_rest(Spent::Journal, REST_ASLEEP);
        }
    }
}

/// How operations get their bytes, and what follows from it for their time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Each waits for requests of its own.
    Direct,
    /// Each is followed by a sync, or by the write of what it read.
    OneByOne,
    /// Through the page cache, and nothing waits for a sync.
    Cached,
}

impl Way {
    fn of(run: &Run, trial: &Trial) -> Self {
        let operation = trial.workload.operation;
        if is_synced(run, trial) && operation.writes() || operation.modifies() {
            Self::OneByOne
        } else if trial.evidence.engine.direct {
            Self::Direct
        } else {
            Self::Cached
        }
    }
}

/// Whether each write is synced, because it was asked for or by the mount.
fn is_synced(run: &Run, trial: &Trial) -> bool {
    trial.workload.sync.each_write()
        || layers::is_mounted_sync(&run.stack)
        || layers::are_flushed(trial, &run.stack)
}

/// Divides the mean latency of a trial; `None` where there is none.
pub(super) fn trial(run: &Run, trial: &Trial, requests: Option<Requests>) -> Option<Division> {
    let latency_ns = trial.latency_ns.mean.filter(|mean| *mean > 0.0)?;
    let workload = &trial.workload;
    let mut time = Division::new(trial.latency_ns.samples as f64, latency_ns);
    if let Some(service_ns) = trial.latency_service_ns.and_then(|service| service.mean) {
        time.take(Spent::Due, latency_ns - service_ns, OWN_CLOCK);
    }
    match (Way::of(run, trial), requests) {
        (_, _) if workload.operation.on_files() => of_thread(run, trial, &mut time),
        (Way::Direct, Some(requests)) => {
            let told_apart = direct(trial, &requests, &mut time);
            of_thread(run, trial, &mut time);
            time.take_rest_of_direct(run, trial, told_apart);
        }
        // Which of the requests were its own cannot be told.
        (Way::OneByOne, Some(_)) if are_disturbed(run, trial) => of_thread(run, trial, &mut time),
        (Way::OneByOne, Some(requests)) => {
            let filesystem_ns = one_by_one(run, trial, &requests, &mut time);
            of_thread(run, trial, &mut time);
            time.take(Spent::Journal, filesystem_ns, REQUESTS_BEYOND);
            time.take_rest_of_synced(run, trial);
        }
        (Way::Direct | Way::OneByOne, None) => {
            // Where an operation is several calls, side by side, it is not known how long there
            // was any.
            if let Some(calls) = Calls::of(trial).filter(|calls| calls.of_data <= WHOLE) {
                take_calls(&calls, &mut time);
            }
            of_thread(run, trial, &mut time);
        }
        (Way::Cached, requests) => {
            of_thread(run, trial, &mut time);
            // What was asleep is not known without what was not.
            let known = trial.cpu.system_ns_per_io.is_some();
            if let Some(requests) = requests.filter(|_| known) {
                cached(run, trial, &requests, &mut time);
            } else if let Some(calls) = Calls::of(trial)
                && known
                && !workload.operation.writes()
            {
                // They may be ahead of who reads: no more counts than the thread slept for.
                take_calls(&calls, &mut time);
                time.take_rest(Spent::Cache, REST_ASLEEP);
            }
        }
    }
    Some(time.ended())
}

/// Divides the mean latency of the slowest of a trial's operations, of which these are the
/// requests; `None` where it is not known what of these each of them waited for.
///
/// The requests that took longest are those of the operations that took longest, as far as
/// it was the requests that made them slow: where it was not, these parts are an upper bound.
pub(super) fn slowest(
    run: &Run,
    trial: &Trial,
    requests: &Requests,
    latency_ns: f64,
) -> Option<Division> {
    let workload = &trial.workload;
    let one_each = requests.per_operation <= WHOLE;
    if !one_each || workload.operation.on_files() || trial.latency_service_ns.is_some() {
        return None;
    }
    let way = Way::of(run, trial);
    let (samples, parts) = match way {
        Way::Direct => {
            let slow = requests.slowest?;
            (slow.requests, [slow.device_ns, slow.queued_ns, 0.0])
        }
        Way::OneByOne => {
            let slow = requests.slowest_syncs?;
            let flushed = (1.0 / WHOLE..=WHOLE).contains(&requests.flushes_per_operation);
            let alone = workload.outstanding() == 1 && !are_disturbed(run, trial);
            if !flushed || !alone {
                return None;
            }
            (slow.syncs, [slow.device_ns, slow.queued_ns, slow.flush_ns])
        }
        Way::Cached => return None,
    };
    let mut time = Division::new(samples, latency_ns);
    // What others asked for may have been slower.
    let all_ns: f64 = parts.iter().sum();
    let within = (latency_ns / all_ns).min(1.0);
    let kinds = [Spent::Device, Spent::Scheduler, Spent::Flush];
    for (part, ns) in kinds.into_iter().zip(parts) {
        time.take(part, ns * within, EVENTS_OF_SLOWEST);
    }
    // No more of its thread is known of a slow one than of any.
    time.take(Spent::Kernel, thread_ns(run, trial), CPU);
    if way == Way::Direct {
        // What took long while nobody followed may have been the device.
        time.take_rest_of_direct(run, trial, requests.whole);
    } else if requests.whole {
        time.take_rest_of_synced(run, trial);
    }
    Some(time.ended())
}

/// What the thread of an operation did for it, and what it was blocked by beside its requests.
fn of_thread(run: &Run, trial: &Trial, time: &mut Division) {
    let cpu = &trial.cpu;
    let (user, system) = (
        cpu.user_ns_per_io.unwrap_or(0.0),
        cpu.system_ns_per_io.unwrap_or(0.0),
    );
    if trial.workload.engine == EngineChoice::Mmap {
        time.take(Spent::User, user, CPU);
        time.take(Spent::Kernel, system, CPU);
    } else {
        time.take(Spent::Kernel, thread_ns(run, trial), CPU);
    }
    if let Some(waited) = cpu.wait_ns_per_io {
        // While a thread waits, all that it has in flight does, as far as it is not with
        // the device.
        let in_flight = f64::from(trial.workload.queue_depth.max(1));
        time.take(Spent::Processor, waited * in_flight, RUN_DELAY);
    }
    if let Some(looks) = Looks::of(std::iter::once(trial)) {
        for by in By::ALL {
            time.take(by.part(), looks.share(by) * time.latency_ns, LOOKS);
        }
    }
}

/// Time of an operation's thread on a processor for it, ns.
fn thread_ns(run: &Run, trial: &Trial) -> f64 {
    let system = trial.cpu.system_ns_per_io.unwrap_or(0.0);
    if run.target.kind == TargetKind::Simulated {
        return system;
    }
    // The sum is exact; how the kernel divides it is an estimate by ticks. What the
    // measuring loop needs lies between the operations.
    let own = run.run.overhead_ns_per_io.unwrap_or(0.0);
    trial.cpu.user_ns_per_io.unwrap_or(0.0) + system - own
}

/// Requests that an operation waits for side by side; says whether the scheduler and the
/// device were told apart, so that what is left lies behind them.
fn direct(trial: &Trial, requests: &Requests, time: &mut Division) -> bool {
    if requests.per_operation <= WHOLE {
        take_requests(requests, 1.0, time);
        return requests.queued_ns.is_some();
    }
    // Of pieces, side by side or not, the time in which there is any is known of one
    // operation alone.
    if trial.workload.outstanding() == 1 {
        time.take(Spent::BlockLayer, requests.busy_ns, BUSY);
    }
    false
}

/// Whether others moved as much on the devices as the trial itself.
fn are_disturbed(run: &Run, trial: &Trial) -> bool {
    let others = by_others(trial, &run.stack).bytes();
    others > trial.bytes
}

/// Whether several direct writes that are synced are under way, and the journal wrote next to
/// nothing: beside its own request each of them waits for a flush, which serves all that wait
/// when it begins.
fn waits_for_flushes(trial: &Trial) -> bool {
    let evidence = &trial.evidence;
    let idle = journal_is_idle(trial) == Some(true);
    let flushed = evidence.devices.iter().any(|one| one.flushes > Some(0));
    idle && flushed && evidence.engine.direct && trial.workload.outstanding() > 1
}

/// Requests that an operation waits for one after the other; gives the time, ns, of those that
/// the filesystem adds.
fn one_by_one(run: &Run, trial: &Trial, requests: &Requests, time: &mut Division) -> f64 {
    if waits_for_flushes(trial) {
        take_requests(requests, requests.per_operation.min(1.0), time);
        return 0.0;
    }
    // Of several operations one flush may serve all, and none waits for those of others.
    if trial.workload.outstanding() > 1 && trial.workload.sync.each_write() {
        return 0.0;
    }
    let shares = Shares::of(run, trial, requests);
    take_requests(requests, requests.per_operation * shares.own, time);
    let flushes = requests.flushes_per_operation * requests.flush_ns;
    let source = if requests.queued_ns.is_some() {
        EVENTS
    } else {
        COUNTERS
    };
    time.take(Spent::Flush, flushes, source);
    requests.all_ns() * shares.filesystem
}

/// Requests that the page cache sends: they may be ahead of who reads, or behind who
/// writes, so no more of them counts than the thread was asleep for.
fn cached(run: &Run, trial: &Trial, requests: &Requests, time: &mut Division) {
    let evidence = &trial.evidence;
    if trial.workload.operation.writes() {
        // Of a page that is written in part the rest has to be read first.
        if !trial.workload.operation.reads() && pages::are_partial(&trial.workload) {
            let own = pages::own_reads(trial).unwrap_or(0.0) / trial.ops as f64;
            let read_ns = requests.read_ns * requests.reads_per_operation.min(own);
            time.take(Spent::BlockLayer, read_ns, COUNTERS);
        }
        if writers_were_held(run, trial) {
            time.take_rest(Spent::Dirty, REST_ASLEEP);
        }
        return;
    }
    let own = requests.per_operation * own_share_of_reads(trial, &run.stack);
    take_requests(requests, own, time);
    if evidence.engine.direct || own <= 0.0 {
        return;
    }
    if is_limited(trial, time) {
        time.take_rest(Spent::Admission, REST_LIMITED);
    } else {
        time.take_rest(Spent::Cache, REST_ASLEEP);
    }
}

/// Whether so much was dirty that writers were held back. It is counted before a trial and
/// after it, and a pause of 200 ms may end it with little that is dirty: then a trial of the
/// same stage that was counted there tells it, where this one dirtied enough to come there.
/// What took longer than there may have waited for something else.
fn writers_were_held(run: &Run, trial: &Trial) -> bool {
    let counted = |trial: &Trial| {
        let reached = |dirty| dirty_pages::reached_ceiling(&dirty, trial.workload.sync);
        trial.evidence.write_back.is_some_and(reached)
    };
    let can_reach = |dirty| dirty_pages::can_reach(&dirty);
    let mut alike = run
        .trials
        .iter()
        .filter(|other| other.stage == trial.stage && other.settings == trial.settings)
        .filter(|other| trial.latency_ns.mean <= other.latency_ns.mean);
    counted(trial) || trial.evidence.write_back.is_some_and(can_reach) && alike.any(counted)
}

/// So many requests for each operation.
fn take_requests(requests: &Requests, times: f64, time: &mut Division) {
    if let Some(queued_ns) = requests.queued_ns {
        time.take(Spent::Device, requests.device_ns * times, EVENTS);
        time.take(Spent::Scheduler, queued_ns * times, EVENTS);
        time.take(Spent::Mapping, requests.mapping_ns * times, ABOVE);
    } else {
        let ns = requests.device_ns + requests.mapping_ns;
        time.take(Spent::BlockLayer, ns * times, COUNTERS);
    }
}

/// The call to a server that an operation waits for.
fn take_calls(calls: &Calls, time: &mut Division) {
    time.take(Spent::Server, calls.round_trip_ns, CALLS);
    time.take(Spent::Client, calls.queued_ns, CALLS);
}

/// Whether the thread ran all the time, so that what is done waits for its work on other
/// operations.
fn is_at_work(trial: &Trial) -> bool {
    let busy = trial
        .cpu
        .busiest_thread
        .is_some_and(|busy| busy >= SATURATED);
    busy && trial.workload.queue_depth > 1
}

/// Whether the queue under the target holds fewer requests than are wanted, and was full of
/// them: by Little's law those in it are as many as their part of the latency is of those in
/// flight.
fn lacks_tags(run: &Run, trial: &Trial, time: &Division) -> bool {
    let stack = run.stack.under(&trial.evidence.settings);
    let holds = stack.devices.iter().filter_map(|device| {
        let queues = device.hardware_queues.unwrap_or(1).max(1);
        Some(device.nr_requests?.saturating_mul(queues) as f64)
    });
    let wanted = trial.evidence.engine.mean_depth;
    let requests = [
        Spent::Mapping,
        Spent::Scheduler,
        Spent::Device,
        Spent::BlockLayer,
    ];
    let in_queue: f64 = requests.iter().map(|part| time.of(*part)).sum();
    let in_queue = wanted * in_queue / time.latency_ns;
    let holds = holds.fold(f64::INFINITY, f64::min);
    holds < USED * wanted && in_queue >= USED * holds
}

/// Whether a limit of a control group on what was done is reached, or most of the time is
/// left with a limit there that can have taken it.
fn is_limited(trial: &Trial, time: &Division) -> bool {
    let limits = trial.evidence.io_limits.iter().flatten();
    limits.into_iter().any(|limit| {
        let Some(device) = trial.evidence.device(&limit.device) else {
            return false;
        };
        let counted = match limit.of {
            LimitOf::ReadBytes => device.read_bytes,
            LimitOf::WriteBytes => device.write_bytes,
            LimitOf::Reads => device.reads,
            LimitOf::Writes => device.writes,
        };
        // Others on the device are not held back by the limit of this group.
        let moved = (device.read_bytes + device.write_bytes).max(1);
        let own = (trial.bytes as f64 / moved as f64).min(1.0);
        let used = counted as f64 * own / (limit.per_s as f64 * trial.seconds);
        let left = time.left_ns() / time.latency_ns;
        // What is left is in front of the requests where these are known.
        let known = time.of(Spent::Device) > 0.0;
        used >= USED || (known && used >= PART && left >= HELD_BACK)
    })
}
