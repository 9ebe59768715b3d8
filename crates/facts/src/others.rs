//! What others moved on the devices of a trial, while it ran.
//!
//! Reads: what the device right under the filesystem counted beyond what this
//! process caused. Writes: beyond what was written, less what earlier trials had
//! left dirty and what the filesystem's journal can have added to the syncs. Copies
//! that the filesystem itself keeps (btrfs, bcachefs) are its own; with parity of its own
//! it reads and writes as much as it likes, and nothing is said of writes. And what a
//! disk counted beyond the partitions that this target uses.

use crate::journal::beyond_own;
use crate::layers::copies;
use crate::layers::counted::{Direction, count, roots};
use crate::layers::reach::dirty_before;
use crate::prelude::{StageFacts, percent, show_size};
use diskfacts_record::{BlockDevice, DeviceKind, Stack, Trial};

/// Bytes of others over those issued, from which on they matter: 1 in 20 is what trials of a quiet
/// disk differ by anyway.
pub(crate) const MATTERS: f64 = 0.05;
/// Bytes of others per trial below which they do not: a commit of the journal now and then.
pub(crate) const MATTER_BYTES: u64 = 64 << 10;

/// Bytes that others moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Others {
    /// Read from the devices right under the filesystem, or from the target.
    pub(crate) read: u64,
    /// Written to them.
    pub(crate) written: u64,
    /// Both, beside the partitions of this stack.
    pub(crate) beside: u64,
}

impl Others {
    pub(crate) fn bytes(self) -> u64 {
        let through = self.read.saturating_add(self.written);
        through.saturating_add(self.beside)
    }
}

/// Bytes that were counted beyond one's own; none where either is not known.
fn beyond(counted: Option<u64>, own: Option<u64>) -> u64 {
    let both = counted.zip(own);
    both.map_or(0, |(counted, own)| counted.saturating_sub(own))
}

/// Bytes that others moved on the devices of this trial, as far as they can be
/// told from its own.
pub(crate) fn by_others(trial: &Trial, stack: &Stack) -> Others {
    let tops: Vec<&BlockDevice> = roots(stack).collect();
    let evidence = &trial.evidence;
    let writes = trial.workload.operation.writes();
    let counted = |direction| count(&tops, direction, evidence);
    let io = evidence.process_io.as_ref();
    let direct = evidence.engine.direct;
    let fetched = io.map(|io| io.read_bytes);
    let Some(copies) = copies::of_filesystem(stack).most else {
        let fetched = fetched.filter(|_| !writes);
        return Others {
            read: beyond(counted(Direction::Read), fetched),
            ..Others::default()
        };
    };
    let own_reads = fetched.or(direct.then_some(evidence.issued.read_bytes));
    let written = if let Some(beyond) = beyond_own(trial, stack) {
        beyond.others_bytes
    } else {
        let process = io.map_or(0, |io| io.write_bytes);
        let own = if writes {
            // What is written through the page cache goes down later.
            direct.then(|| evidence.issued.write_bytes.max(process))
        } else {
            Some(process)
        };
        let own = own.map(|own| own.saturating_mul(copies));
        beyond(counted(Direction::Write), own).saturating_sub(dirty_before(evidence))
    };
    Others {
        read: beyond(counted(Direction::Read), own_reads),
        written,
        beside: beside_partitions(trial, stack).saturating_add(below_loop(trial, stack)),
    }
}

/// Bytes that the disk under a loop device counted beyond what the loop device did, where
/// that passes the page cache of its file: others used the disk. What is written meanwhile
/// may be left from before, and is not counted.
fn below_loop(trial: &Trial, stack: &Stack) -> u64 {
    let mut leaves = stack.leaves();
    let (Some(leaf), None) = (leaves.next(), leaves.next()) else {
        return 0;
    };
    let mut loops = stack.devices.iter().filter(|d| d.kind == DeviceKind::Loop);
    let upper = loops.find(|d| d.backing_direct == Some(true) && d.name != leaf.name);
    let read = |device| count(&[device], Direction::Read, &trial.evidence);
    upper.map_or(0, |upper| beyond(read(leaf), read(upper)))
}

/// Bytes that disks counted beyond the partitions of this stack on them.
fn beside_partitions(trial: &Trial, stack: &Stack) -> u64 {
    let of_disk = |disk: &BlockDevice| {
        let on_it = stack.devices.iter();
        let parts: Vec<&BlockDevice> = on_it.filter(|d| d.below.contains(&disk.name)).collect();
        if parts.is_empty() || parts.iter().any(|d| d.kind != DeviceKind::Partition) {
            return 0;
        }
        let [read, written] = [Direction::Read, Direction::Write].map(|direction| {
            let of = |devices: &[&BlockDevice]| count(devices, direction, &trial.evidence);
            beyond(of(&[disk]), of(&parts))
        });
        read.saturating_add(written)
    };
    let disks = stack.devices.iter();
    disks.map(of_disk).fold(0, u64::saturating_add)
}

/// Operations of others that were under way when trials of a stage began, of each where there
/// were some. What was to run beside a trial has begun before it.
pub(crate) fn in_flight_before(facts: &StageFacts<'_>) -> Vec<u64> {
    let trials = facts.trials().iter();
    let alone = trials.filter(|t| t.workload.beside.is_none());
    let before = alone.map(|t| {
        let leaves = t.evidence.devices.iter().filter(|d| d.leaf);
        leaves.map(|d| d.in_flight_before).sum::<u64>()
    });
    before.filter(|n| *n > 0).collect()
}

/// Bytes that others moved while a stage ran over those issued, and the figures, a sentence; `None`
/// where they do not matter.
pub(crate) fn moved_by_others(facts: &StageFacts<'_>) -> Option<(f64, Vec<String>)> {
    let (stage, stack) = (facts.stage, &facts.run().stack);
    let others = stage.sum(|t| by_others(t, stack).bytes());
    let issued = stage.sum(|t| t.bytes);
    let share = others as f64 / issued as f64;
    let is_worth = share > MATTERS && others / stage.trials.len() as u64 > MATTER_BYTES;
    let ([own, more], part) = ([issued, others].map(show_size), percent(share));
    let line = format!("{own} issued, and {more} more moved by others ({part}).");
    (issued > 0 && is_worth).then_some((share, vec![line]))
}
