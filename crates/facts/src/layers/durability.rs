//! Whether written data is on the medium, as far as the devices tell, and where
//! what they tell cannot be.

use super::counted::roots;
use crate::stages::Stage;
use diskfacts_plan::{Operation, SyncMode, Workload};
use diskfacts_record::{BlockDevice, DeviceCounters, Evidence, Stack, Trial};

/// The counters that show the flushes: those of the leaves. A multipath device hands its
/// requests to its paths past their queues' flush machinery, which is what counts
/// (kernel, `blk_insert_cloned_request`), so where it counted some they are in its own.
///
/// `None` when one of them was not counted at all.
pub(crate) fn flush_counters<'a>(
    evidence: &'a Evidence,
    stack: &Stack,
) -> Option<Vec<&'a DeviceCounters>> {
    let of = |device: &BlockDevice| evidence.device(&device.name);
    let mut found = Vec::new();
    let mut open: Vec<&BlockDevice> = roots(stack).collect();
    let mut seen: Vec<&str> = Vec::new();
    while let Some(device) = open.pop() {
        if seen.contains(&device.name.as_str()) {
            continue;
        }
        seen.push(&device.name);
        let counted = of(device).filter(|counted| {
            is_multipath(device) && counted.flushes.is_some_and(|flushes| flushes > 0)
        });
        match counted {
            Some(counted) => found.push(counted),
            None if device.is_leaf() => found.push(of(device)?),
            None => open.extend(device.below.iter().filter_map(|name| stack.device(name))),
        }
    }
    (!found.is_empty()).then_some(found)
}

fn is_multipath(device: &BlockDevice) -> bool {
    let named = device.layout.as_deref() == Some("mpath");
    named || device.targets.iter().any(|kind| kind == "multipath")
}

/// Flushes that reached the disks; `None` when one of them does not count
/// them (before Linux 5.5).
pub(crate) fn flushes(evidence: &Evidence, stack: &Stack) -> Option<u64> {
    let counted = flush_counters(evidence, stack)?.into_iter();
    counted.map(|device| device.flushes).sum()
}

/// Whether every leaf has this kind of write cache.
pub(crate) fn all_leaves(stack: &Stack, write_cache: &str) -> bool {
    stack.leaves().next().is_some()
        && stack
            .leaves()
            .all(|leaf| leaf.write_cache.as_deref() == Some(write_cache))
}

/// One revolution of the fastest disks that were ever sold, 15000 per minute, ns.
pub(crate) const REVOLUTION_NS_MIN: u64 = 4_000_000;

/// A synced write on its own waits for its sector to come round: on average half
/// a revolution when it lies anywhere, nearly a whole one behind the write before
/// it. In a quarter of one nothing of the kind is done, whatever the disk.
const OF_A_REVOLUTION: f64 = 0.25;

/// Time per synced write, ns, where it is shorter than any medium that turns can
/// be: the leaves say that they rotate, that their cache is volatile, and that it
/// was flushed, and one of these is not so. Speaks of trials that do nothing but
/// write, one at a time, each with a sync.
pub(crate) fn faster_than_revolutions(
    workload: &Workload,
    evidence: &Evidence,
    stack: &Stack,
) -> Option<f64> {
    let alone = workload.operation == Operation::Write && workload.outstanding() == 1;
    // What a hypervisor says of a disk of its own is no medium's nature.
    let turns = |leaf: &BlockDevice| leaf.rotational == Some(true) && leaf.virtual_by.is_none();
    let turn = stack.leaves().all(turns);
    if !(workload.sync.each_write() && alone && turn && all_leaves(stack, "write back")) {
        return None;
    }
    if !said_on_medium(workload, evidence, stack) {
        return None;
    }
    // The last interval is counted as a whole: the time is rather too long.
    let intervals = &evidence.intervals;
    let operations: u64 = intervals.operations.iter().sum();
    let time_ns = intervals.length_ns as f64 * intervals.operations.len() as f64;
    let each_ns = time_ns / operations as f64;
    let limit_ns = OF_A_REVOLUTION * REVOLUTION_NS_MIN as f64;
    (operations > 0 && each_ns < limit_ns).then_some(each_ns)
}

/// Whether the bytes that reached the leaves are on their medium: as they say, if
/// it can be.
pub(crate) fn on_medium(workload: &Workload, evidence: &Evidence, stack: &Stack) -> bool {
    said_on_medium(workload, evidence, stack)
        && faster_than_revolutions(workload, evidence, stack).is_none()
}

/// As the leaves say.
fn said_on_medium(workload: &Workload, evidence: &Evidence, stack: &Stack) -> bool {
    if all_leaves(stack, "write through") {
        return true;
    }
    let known =
        stack.leaves().next().is_some() && stack.leaves().all(|leaf| leaf.write_cache.is_some());
    if !known {
        return false;
    }
    let flushed = flushes(evidence, stack).is_some_and(|n| n > 0);
    match workload.sync {
        SyncMode::None => false,
        SyncMode::Fdatasync | SyncMode::Fsync => flushed,
        // Without a final sync (it failed, or the trial was cut short) a flush
        // that was counted belongs to somebody else.
        SyncMode::AtEnd | SyncMode::FdatasyncAtEnd => {
            flushed && evidence.issued.final_sync_ns.is_some()
        }
        SyncMode::ODsync | SyncMode::OSync => {
            let forced = evidence.engine.direct
                && stack.leaves().all(|leaf| {
                    leaf.fua == Some(true) || leaf.write_cache.as_deref() == Some("write through")
                });
            flushed || forced
        }
    }
}

/// Whether syncs of a stage had to flush the volatile caches of its disks, and not one flush was
/// counted.
pub(crate) fn misses_flushes(stage: &Stage<'_>, stack: &Stack) -> bool {
    // A forced write (FUA) does without a flush, so a write opened with O_DSYNC or O_SYNC needs
    // none where the disk can force single writes.
    let by_flush = match stage.workload().sync {
        SyncMode::None => false,
        SyncMode::ODsync | SyncMode::OSync => stack.leaves().all(|leaf| leaf.fua == Some(false)),
        SyncMode::Fdatasync | SyncMode::Fsync | SyncMode::AtEnd | SyncMode::FdatasyncAtEnd => true,
    };
    by_flush
        && all_leaves(stack, "write back")
        && stage.sum(|t| t.evidence.issued.writes) > 0
        && stage.known(|t| flushes(&t.evidence, stack)) == Some(0)
}

/// Whether the filesystem is mounted so that each write is synced, though nobody asks for it.
pub(crate) fn is_mounted_sync(stack: &Stack) -> bool {
    let filesystem = stack.filesystem.as_ref();
    filesystem.is_some_and(|f| f.options.iter().any(|option| option == "sync"))
}

/// Flushes for each write from which on each is synced: two may share one.
const EACH: f64 = 0.5;

/// Whether each write through the page cache is synced, by what the device counted, though nobody
/// asked for it. Who syncs beside a writer whose writes end in memory does it much more seldom.
pub(crate) fn are_flushed(trial: &Trial, stack: &Stack) -> bool {
    let evidence = &trial.evidence;
    let workload = &trial.workload;
    let unasked = workload.operation == Operation::Write && workload.sync == SyncMode::None;
    let counters = flush_counters(evidence, stack);
    let flushes: Option<u64> = counters.map(|all| all.iter().filter_map(|one| one.flushes).sum());
    let each = |flushes| flushes as f64 >= EACH * evidence.issued.writes as f64;
    unasked && !evidence.engine.direct && evidence.issued.writes > 0 && flushes.is_some_and(each)
}
