//! What the requests of a trial took: means of those under the target, by the kernel's
//! trace events or by its counters.

use crate::layers::counted::roots;
use crate::layers::flush_counters;
use diskfacts_record::evidence::{
    DeviceCounters, DeviceRequests, RequestKind, SlowestRequests, SlowestSyncs,
};
use diskfacts_record::{BlockDevice, DeviceKind, Latency, Stack, Trial};

/// Flushes for each operation from which on they are the operations' own: one for two of them,
/// as where each second shares the sync of another.
const SYNCS: f64 = 0.5;

/// Share of the requests of a device that it has to hand on to the one below it: what that one
/// did then is in its time.
const HANDED_ON: f64 = 0.5;

/// Requests of a trial, and what they took on average.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Requests {
    /// Reads and writes that the devices right under the target completed, for each
    /// operation.
    pub(super) per_operation: f64,
    /// Of these, reads.
    pub(super) reads_per_operation: f64,
    /// Time of a read, in the scheduler and with the device, ns.
    pub(super) read_ns: f64,
    /// Writes with data for each operation; of counters the fewest that these can have been.
    pub(super) data_writes_per_operation: f64,
    /// Share of the time of all requests that is the writes'.
    pub(super) writes_share: f64,
    /// Flushes for each operation.
    pub(super) flushes_per_operation: f64,
    /// Time of a read or write in the scheduler, ns; `None` where only the sum with
    /// `device_ns` is known, which then is there.
    pub(super) queued_ns: Option<f64>,
    /// Time of a read or write at the device, ns.
    pub(super) device_ns: f64,
    /// Time of a read or write in the mappings above the devices that were followed, and in front
    /// of the disk below a device that hands its requests on, ns.
    pub(super) mapping_ns: f64,
    /// Time of a flush, ns.
    pub(super) flush_ns: f64,
    /// Time in which the device had anything, for each operation, ns; 0 where that was not
    /// counted.
    pub(super) busy_ns: f64,
    /// Whether all of them were followed, and not those of a part of the time.
    pub(super) whole: bool,
    /// The slowest hundredth, of one device under the target whose requests were followed.
    pub(super) slowest: Option<SlowestRequests>,
    /// The same of writes that are synced one by one.
    pub(super) slowest_syncs: Option<SlowestSyncs>,
}

impl Requests {
    /// By the events of the block layer; `None` where it was not followed, nothing came
    /// by, or nothing told when a request was made.
    pub(super) fn followed(trial: &Trial, stack: &Stack) -> Option<Self> {
        let layer = trial.evidence.block_layer.as_ref()?;
        layer.queued_from?;
        let find = |device: &BlockDevice| {
            let of_disk = match device.kind {
                // Seen as its whole disk.
                DeviceKind::Partition => device.below.first()?,
                _ => &device.name,
            };
            let mut seen = layer.devices.iter();
            seen.find(|one| one.name == *of_disk && has_data(one))
        };
        // A mapping hands on what it gets without a queue of its own.
        let mut devices: Vec<&BlockDevice> = roots(stack).collect();
        let mut seen: Vec<&DeviceRequests> = Vec::new();
        let mut handed_on = false;
        while let Some(device) = devices.pop() {
            if let Some(requests) = find(device) {
                seen.push(requests);
            } else {
                handed_on = true;
                devices.extend(device.below.iter().filter_map(|name| stack.device(name)));
            }
        }
        let mean = |kinds: &[RequestKind], of: fn(&_) -> &Latency| {
            let all = seen.iter().flat_map(|device| &device.operations);
            weighted(
                all.filter(|requests| kinds.contains(&requests.operation))
                    .map(of),
            )
        };
        let data = [RequestKind::Read, RequestKind::Write];
        let completed = |kinds: &[RequestKind]| -> f64 {
            let all = seen.iter().flat_map(|device| &device.operations);
            let all = all.filter(|requests| kinds.contains(&requests.operation));
            all.map(|requests| requests.completed as f64).sum()
        };
        let whole = layer.followed_ns >= layer.window_ns && trial.ops > 0;
        // Who asks for the events alone has no counters.
        let from_events = || {
            let of_kind = |kind: RequestKind| {
                let of = |one: fn(&_) -> &Latency| mean(&[kind], one).unwrap_or(0.0);
                let each_ns = of(|one| &one.queued_ns) + of(|one| &one.device_ns);
                completed(&[kind]) * each_ns
            };
            let written_ns = of_kind(RequestKind::Write);
            let all_ns = written_ns + of_kind(RequestKind::Read);
            whole.then(|| Self {
                per_operation: completed(&data) / trial.ops as f64,
                reads_per_operation: completed(&[RequestKind::Read]) / trial.ops as f64,
                data_writes_per_operation: completed(&[RequestKind::Write]) / trial.ops as f64,
                writes_share: written_ns / all_ns.max(1.0),
                flushes_per_operation: completed(&[RequestKind::Flush]) / trial.ops as f64,
                ..Self::default()
            })
        };
        let counted = Self::counted(trial, stack).or_else(from_events)?;
        let queued_ns = mean(&data, |requests| &requests.queued_ns).unwrap_or(0.0);
        let within_ns = mean(&data, |requests| &requests.device_ns)?;
        let (device_ns, mapping_ns) = if handed_on {
            let above_ns = counted.device_ns + counted.mapping_ns - queued_ns - within_ns;
            (within_ns, above_ns.max(0.0))
        } else {
            let below_ns = below_ns(trial, stack).map_or(within_ns, |ns| ns.min(within_ns));
            (below_ns, within_ns - below_ns)
        };
        let alone = match seen.as_slice() {
            [only] if !handed_on => Some(only),
            _ => None,
        };
        // What asks for a flush has no data, and is counted as a write. A few flushes are of
        // others, and say nothing of how many there were while nobody followed.
        let flushes = completed(&[RequestKind::Flush]);
        let syncs = counted.flushes_per_operation >= SYNCS;
        let (per_operation, data_writes_per_operation) =
            if alone.is_some() && flushes > 0.0 && syncs {
                let each = |kinds| completed(kinds) / flushes * counted.flushes_per_operation;
                (each(&data), each(&[RequestKind::Write]))
            } else {
                (counted.per_operation, counted.data_writes_per_operation)
            };
        Some(Self {
            per_operation,
            data_writes_per_operation,
            queued_ns: Some(queued_ns),
            device_ns,
            mapping_ns,
            flush_ns: mean(&[RequestKind::Flush], |requests| &requests.device_ns)
                .unwrap_or(counted.flush_ns),
            whole: layer.followed_ns >= layer.window_ns && layer.lost_events == 0,
            // Several devices have slow ones each, which need not be the slow ones of all; and
            // what the mappings above them add is known as a mean.
            slowest: alone.and_then(|device| device.slowest),
            slowest_syncs: alone.and_then(|device| device.slowest_syncs),
            ..counted
        })
    }

    /// Time of all reads and writes of an operation, in the mappings, the scheduler and with the
    /// device, ns.
    pub(super) fn all_ns(&self) -> f64 {
        let each_ns = self.device_ns + self.queued_ns.unwrap_or(0.0) + self.mapping_ns;
        self.per_operation * each_ns
    }

    /// With the scheduler's share of its time, which lies in front of all that is below.
    pub(super) fn split(self, queued_share: Option<f64>) -> Self {
        let Some(share) = queued_share else {
            return self;
        };
        let queued_ns = (self.device_ns + self.mapping_ns) * share;
        let of_mapping_ns = queued_ns.min(self.mapping_ns);
        Self {
            queued_ns: Some(queued_ns),
            mapping_ns: self.mapping_ns - of_mapping_ns,
            device_ns: self.device_ns - (queued_ns - of_mapping_ns),
            ..self
        }
    }

    /// By the counters of the devices; `None` where they count nothing, or nothing moved.
    pub(super) fn counted(trial: &Trial, stack: &Stack) -> Option<Self> {
        let evidence = &trial.evidence;
        let ops = trial.ops as f64;
        let counters: Option<Vec<&DeviceCounters>> = roots(stack)
            .map(|root| evidence.device(&root.name))
            .collect();
        let counters = counters.filter(|all| !all.is_empty())?;
        let sum = |of: fn(&DeviceCounters) -> u64| -> f64 {
            counters.iter().map(|one| of(one) as f64).sum()
        };
        let requests = sum(|one| one.reads + one.writes);
        let counted = flush_counters(evidence, stack).unwrap_or_default();
        let of_flushes = |of: fn(&DeviceCounters) -> Option<u64>| -> f64 {
            counted.iter().map(|one| of(one).unwrap_or(0) as f64).sum()
        };
        let flushes = of_flushes(|one| one.flushes);
        let flush_ms = of_flushes(|one| one.flush_ms);
        // What asks for a flush counts as a write, and the time of the flush as its own
        // (kernel, `blk_account_io_done` in block/blk-mq.c).
        let worked_ms = (sum(|one| one.read_ms + one.write_ms) - flush_ms).max(0.0);
        let within_ns = worked_ms * 1e6 / requests;
        let device_ns = below_ns(trial, stack).map_or(within_ns, |ns| ns.min(within_ns));
        let writes = sum(|one| one.writes);
        let without_data = (flushes - commits_with_data(trial)).max(0.0);
        let read_ms = sum(|one| one.read_ms);
        (ops > 0.0 && requests > 0.0).then(|| Self {
            per_operation: requests / ops,
            data_writes_per_operation: (writes - without_data).max(0.0) / ops,
            writes_share: 1.0 - (read_ms / worked_ms.max(1.0)).min(1.0),
            reads_per_operation: sum(|one| one.reads) / ops,
            read_ns: sum(|one| one.read_ms) * 1e6 / sum(|one| one.reads).max(1.0),
            flushes_per_operation: flushes / ops,
            queued_ns: None,
            mapping_ns: within_ns - device_ns,
            device_ns,
            flush_ns: flush_ms * 1e6 / flushes.max(1.0),
            busy_ns: counters.iter().map(|one| one.busy_ms).max().unwrap_or(0) as f64 * 1e6 / ops,
            whole: false,
            slowest: None,
            slowest_syncs: None,
        })
    }
}

/// Commits of which each asks for a flush with its last block (`journal_submit_commit_record` in
/// fs/jbd2/commit.c): of so many flushes it is known that they came with data.
fn commits_with_data(trial: &Trial) -> f64 {
    let journal = trial.evidence.journal.iter();
    let jbd2 = journal.filter(|one| one.kind == "jbd2");
    jbd2.map(|one| one.commits as f64).sum()
}

/// Of the time of a request to the only device under the target, what the disk had it that this
/// device hands it on to, ns: that of a loop device's file. `None` where it hands nothing on.
fn below_ns(trial: &Trial, stack: &Stack) -> Option<f64> {
    let mut roots = roots(stack);
    let (root, None) = (roots.next()?, roots.next()) else {
        return None;
    };
    let mut disk = root;
    while let [below] = disk.below.as_slice() {
        disk = stack.device(below)?;
    }
    let evidence = &trial.evidence;
    let (above, below) = (evidence.device(&root.name)?, evidence.device(&disk.name)?);
    let [handed_over, handed_on] = [above, below].map(|one| (one.reads + one.writes) as f64);
    let worked_ms = (below.read_ms + below.write_ms).saturating_sub(below.flush_ms.unwrap_or(0));
    let hands_on = disk.name != root.name && handed_on >= HANDED_ON * handed_over;
    hands_on.then(|| worked_ms as f64 * 1e6 / handed_over)
}

/// Share of a request's time that it was in the scheduler, over all of these; `None` without
/// any.
pub(super) fn queued_share<'a>(followed: impl Iterator<Item = &'a Requests>) -> Option<f64> {
    let (mut queued, mut all) = (0.0, 0.0);
    for requests in followed {
        queued += requests.queued_ns?;
        all += requests.queued_ns? + requests.mapping_ns + requests.device_ns;
    }
    (all > 0.0).then(|| queued / all)
}

fn has_data(device: &DeviceRequests) -> bool {
    let data = |kind| matches!(kind, RequestKind::Read | RequestKind::Write);
    let mut operations = device.operations.iter();
    operations.any(|one| data(one.operation) && one.device_ns.samples > 0)
}

/// Mean of several latencies, each for as much as it has samples.
fn weighted<'a>(latencies: impl Iterator<Item = &'a Latency>) -> Option<f64> {
    let (mut sum, mut samples) = (0.0, 0.0);
    for latency in latencies {
        if let Some(mean) = latency.mean {
            sum += mean * latency.samples as f64;
            samples += latency.samples as f64;
        }
    }
    (samples > 0.0).then(|| sum / samples)
}
