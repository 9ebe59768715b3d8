//! What a device wrote beyond what it was given, during writes that are synced:
//! the journal of the filesystem, or others.

use crate::layers::copies;
use crate::layers::reach::{Direction, count, dirty_before, roots};
use diskfacts_plan::SyncMode;
use diskfacts_record::{BlockDevice, Stack, Trial};

/// Most that one sync adds by itself, bytes. ext4 writes a descriptor, a commit
/// and a few metadata blocks of 4 KiB, XFS a log record of up to 32 KiB; Btrfs
/// writes some nodes of 16 KiB of its log tree twice, and its superblocks.
const COMMIT_BYTES: u64 = 256 << 10;

/// Requests that a sync adds at least, if it adds any: half of the syncs may
/// have found that another one had done their work.
const REQUESTS_PER_SYNC: f64 = 0.5;

/// Bytes that the devices under the filesystem wrote beyond this trial's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct BeyondOwn {
    /// Bytes that the filesystem can have added to the syncs.
    pub(crate) journal_bytes: u64,
    /// Bytes that it cannot: too many, or in too few requests.
    pub(crate) others_bytes: u64,
}

/// Shares out what was written beyond; `None` where nothing is synced, there is no
/// filesystem, the devices did not count, or the filesystem writes parity, of which nobody
/// can say how much is its own.
///
/// A journal grows with the syncs: each one writes at least one request and a
/// few blocks. Who writes beside us takes no notice of our syncs.
pub(crate) fn beyond_own(trial: &Trial, stack: &Stack) -> Option<BeyondOwn> {
    stack.filesystem.as_ref()?;
    let evidence = &trial.evidence;
    let syncs = match trial.workload.sync {
        SyncMode::None => return None,
        SyncMode::ODsync | SyncMode::OSync => evidence.issued.writes,
        SyncMode::Fdatasync | SyncMode::Fsync | SyncMode::AtEnd | SyncMode::FdatasyncAtEnd => {
            evidence.issued.syncs
        }
    };
    let tops: Vec<&BlockDevice> = roots(stack).collect();
    let counted = count(&tops, Direction::Write, evidence)?;
    // Small writes through the page cache go down as whole pages.
    let in_pages = evidence.process_io.map_or(0, |io| io.write_bytes);
    // The copies that the filesystem keeps are its own, those of its journal, too.
    let copies = copies::of_filesystem(stack).most?;
    let own = evidence.issued.write_bytes.max(in_pages);
    let own = own.saturating_mul(copies);
    // What an earlier trial left dirty goes to the device with the first sync.
    let beyond = counted
        .saturating_sub(own)
        .saturating_sub(dirty_before(evidence));
    let requests: u64 = evidence
        .devices
        .iter()
        .filter(|device| tops.iter().any(|top| top.name == device.name))
        .map(|device| device.writes)
        .sum();
    let requests_beyond = requests.saturating_sub(evidence.issued.writes.saturating_mul(copies));
    let grows_with_syncs = requests_beyond as f64 >= syncs as f64 * REQUESTS_PER_SYNC
        && beyond <= syncs.saturating_mul(COMMIT_BYTES).saturating_mul(copies);
    Some(if grows_with_syncs {
        BeyondOwn {
            journal_bytes: beyond,
            others_bytes: 0,
        }
    } else {
        BeyondOwn {
            journal_bytes: 0,
            others_bytes: beyond,
        }
    })
}
