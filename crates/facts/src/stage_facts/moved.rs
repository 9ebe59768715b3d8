//! Bytes that devices moved beside those that were issued, or that came in above them.
//!
//! More: read-ahead fetched what was not asked for; the filesystem wrote its
//! journal beside the data; a RAID wrote copies or parity. Fewer: compression,
//! or holes below a loop device, or a mapping that answered by itself.

use super::StageFacts;
use crate::journal::beyond_own;
use crate::layers::answered::may_count_twice;
use crate::layers::copies;
use crate::layers::counted::{Direction, below, count, roots};
use crate::layers::reach::Reach;
use crate::prelude::{list, ratio, show_size};
use crate::words::{device_list, names};
use diskfacts_record::{BlockDevice, DeviceKind, Evidence, Stack};

/// Bytes at one level, at least one, and what became of them below it: sums over the trials.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moved {
    pub(crate) above: u64,
    pub(crate) below: u64,
}

impl Moved {
    fn of(above: u64, below: u64) -> Option<Self> {
        (above > 0).then_some(Self { above, below })
    }

    /// Bytes below for each byte above.
    pub(crate) fn times(self) -> f64 {
        self.below as f64 / self.above as f64
    }
}

/// The devices that answered by themselves, each once, and the bytes that came in at them and that
/// went on below.
pub(crate) fn answered(facts: &StageFacts<'_>) -> (Vec<String>, [u64; 2]) {
    let stack = &facts.run().stack;
    let reaches = facts.trials().iter().flat_map(|t| Reach::both(t, stack));
    let (mut by, mut above, mut below) = (Vec::<String>::new(), 0_u64, 0_u64);
    for answered in reaches.flat_map(|reach| reach.answered).flatten() {
        above = above.saturating_add(answered.above);
        below = below.saturating_add(answered.below);
        by.extend(answered.names);
    }
    (names(by.iter().map(String::as_str)), [above, below])
}

/// Share of the bytes that neither the devices counted nor a page cache or a mapping kept; `None`
/// where the devices did not count.
pub(crate) fn lost(facts: &StageFacts<'_>) -> Option<f64> {
    let layers = facts.figures.layers;
    Some(1.0 - layers.device? - layers.page_cache - layers.mapping)
}

/// Bytes read, and fetched for them by read-ahead or by other reads of this process; both witnesses
/// must see them, for the device alone may count the I/O of others.
pub(crate) fn fetched(facts: &StageFacts<'_>) -> Option<Moved> {
    let (stage, stack) = (facts.stage, &facts.run().stack);
    let tops: Vec<&BlockDevice> = roots(stack).collect();
    let issued = stage.sum(|t| t.evidence.issued.read_bytes);
    let process = stage.known(|t| t.evidence.process_io.map(|io| io.read_bytes))?;
    let counted = stage.known(|t| read(&tops, stack, &t.evidence));
    let fetched = counted.map_or(process, |device| device.min(process));
    Moved::of(issued, fetched)
}

/// Bytes that the trials may fetch beyond their ends: of each a window of read-ahead that is being
/// read, and the next one that is asked for meanwhile.
pub(crate) fn beyond_ends(facts: &StageFacts<'_>) -> u64 {
    let windows = roots(facts.stack()).filter_map(|top| top.read_ahead_bytes);
    let each = 2 * windows.max().unwrap_or(0);
    each.saturating_mul(facts.trials().len() as u64)
}

/// Bytes that the devices read. One that may count what it cuts twice is held against what
/// went on below it.
fn read(tops: &[&BlockDevice], stack: &Stack, evidence: &Evidence) -> Option<u64> {
    let counted = count(tops, Direction::Read, evidence)?;
    if !tops.iter().all(|top| may_count_twice(top)) {
        return Some(counted);
    }
    let on = count(&below(tops, stack), Direction::Read, evidence);
    let on = on.filter(|bytes| *bytes > 0);
    Some(on.map_or(counted, |on| on.min(counted)))
}

/// Bytes written, and those that the filesystem added for its own needs. A trial of which it is
/// not known is no evidence for the others.
pub(crate) fn added_by_journal(facts: &StageFacts<'_>) -> Option<Moved> {
    let (stage, stack) = (facts.stage, &facts.run().stack);
    let issued = stage.sum(|t| t.evidence.issued.write_bytes);
    let added = stage.known(|t| Some(beyond_own(t, stack)?.journal_bytes))?;
    Moved::of(issued, added)
}

/// Bytes on the disks for each byte of a RAID or mapping, and the figures, a sentence.
pub(crate) fn below_array(facts: &StageFacts<'_>) -> Option<(f64, String)> {
    let stack = &facts.run().stack;
    let has = |kind| stack.devices.iter().any(|d| d.kind == kind);
    let multiplies = has(DeviceKind::SoftwareRaid) || has(DeviceKind::DeviceMapper);
    if !multiplies || has(DeviceKind::Loop) {
        return None;
    }
    let both = |devices: Vec<&BlockDevice>| {
        facts.stage.known(|t| {
            let read = count(&devices, Direction::Read, &t.evidence)?;
            Some(read.saturating_add(count(&devices, Direction::Write, &t.evidence)?))
        })
    };
    let moved = Moved::of(
        both(roots(stack).collect())?,
        both(stack.leaves().collect())?,
    )?;
    let line = format!(
        "{} on {}, {} on {} together, {} bytes for each byte.",
        show_size(moved.above),
        device_list(roots(stack)),
        show_size(moved.below),
        device_list(stack.leaves()),
        ratio(moved.times())
    );
    Some((moved.times(), line))
}

/// The same for each byte that was written to a filesystem that keeps copies.
pub(crate) fn below_filesystem(facts: &StageFacts<'_>) -> Option<(f64, String)> {
    let (stage, stack) = (facts.stage, &facts.run().stack);
    let filesystem = stack.filesystem.as_ref()?;
    let copies = copies::of_filesystem(stack)
        .most
        .filter(|copies| *copies > 1)?;
    let tops: Vec<&BlockDevice> = roots(stack).collect();
    let issued = stage.sum(|t| t.evidence.issued.write_bytes);
    let counted = stage.known(|t| count(&tops, Direction::Write, &t.evidence))?;
    let moved = Moved::of(issued, counted)?;
    let line = format!(
        "{} written, {} on the disks together; {} keeps {copies} copies of data ({}).",
        show_size(moved.above),
        show_size(moved.below),
        filesystem.kind,
        list(&filesystem.data_profiles)
    );
    Some((moved.times(), line))
}
