//! Which of the requests of synced writes on a filesystem are the operations' own.
//!
//! A journal commits for all who sync, one commit after the other. So an operation waits for
//! its own data, then for its commit, and where others sync, too, for the commit that is under
//! way and the data that it waits for. The device serves all of them, and only the first are
//! time that the operation was with it. The requests of one size or another are not timed
//! apart: each counts with the mean of its kind.

use super::requests::Requests;
use crate::journal::beyond_own;
use crate::layers::copies;
use crate::layers::counted::roots;
use crate::others::by_others;
use crate::stage_facts::queue::pieces;
use diskfacts_record::{Run, Stack, Trial};

/// Commits for each synced write up to which the journal had no part in them: its timer makes
/// one every five seconds.
const NO_COMMITS: f64 = 0.05;

/// Fewest bytes of a request: a sector of the block layer.
const SECTOR: f64 = 512.0;

/// Shares of the time of all requests of a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shares {
    /// Of the operations' own.
    pub(super) own: f64,
    /// Of writes that the filesystem added, for them or for who else syncs.
    pub(super) filesystem: f64,
}

impl Shares {
    /// Where nothing tells them apart.
    const ALL_OWN: Self = Self {
        own: 1.0,
        filesystem: 0.0,
    };

    /// Of operations each of which is synced; all are their own where the filesystem added
    /// nothing to the syncs, or it is not known what.
    ///
    /// Of the writes as many are their own as their blocks are cut into. And where more bytes
    /// were not written beyond them than some sectors, all but so many: a file that lies in
    /// many places is cut further.
    pub(super) fn of(run: &Run, trial: &Trial, requests: &Requests) -> Self {
        Self::known(run, trial, requests).unwrap_or(Self::ALL_OWN)
    }

    fn known(run: &Run, trial: &Trial, requests: &Requests) -> Option<Self> {
        let stack = run.stack.under(&trial.evidence.settings);
        let beyond = beyond_own(trial, &stack)?;
        let took_part = match journal_is_idle(trial) {
            Some(idle) => !idle,
            // Of what is not counted the bytes have to grow with the syncs.
            None => beyond.journal_bytes > 0,
        };
        let writes = Some(requests.data_writes_per_operation).filter(|writes| *writes > 0.0)?;
        if !took_part || trial.ops == 0 {
            return None;
        }
        let operations = trial.ops as f64;
        let cut = |device| pieces(device, trial.workload.block_size);
        let cut_into = roots(&stack).map(cut).max()?;
        let copies = copies::of_filesystem(&stack).most?;
        let blocks = trial.evidence.issued.writes as f64 / operations;
        let by_blocks = blocks * cut_into.saturating_mul(copies) as f64;
        let bytes_beyond = beyond.journal_bytes.saturating_add(beyond.others_bytes) as f64;
        let by_bytes = writes - bytes_beyond / SECTOR / operations;
        let of_writes = by_blocks.max(by_bytes).min(writes) / writes;
        let of_reads = own_share_of_reads(trial, &stack);
        let written = requests.writes_share;
        // Who writes without regard to our syncs holds no commit of ours.
        let is_filesystems = beyond.others_bytes == 0;
        Some(Self {
            own: written * of_writes + (1.0 - written) * of_reads,
            filesystem: if is_filesystems {
                written * (1.0 - of_writes)
            } else {
                0.0
            },
        })
    }
}

/// Whether the journal wrote next to nothing for the writes of a trial; `None` where it does not
/// count that.
pub(super) fn journal_is_idle(trial: &Trial) -> Option<bool> {
    let writes = NO_COMMITS * trial.evidence.issued.writes as f64;
    // Transactions of btrfs are not what its syncs write.
    let journal = trial.evidence.journal.as_ref();
    let journal = journal.filter(|one| one.kind != "btrfs")?;
    Some(journal.commits as f64 <= writes)
}

/// Share of what was read of the devices that this process caused: through the page cache
/// any number of its reads may need no request, and those of others are none of its.
pub(super) fn own_share_of_reads(trial: &Trial, stack: &Stack) -> f64 {
    let read = roots(stack)
        .filter_map(|root| trial.evidence.device(&root.name))
        .fold(0, |sum: u64, one| sum.saturating_add(one.read_bytes));
    let others = by_others(trial, stack).read;
    if read == 0 {
        return 1.0;
    }
    1.0 - (others as f64 / read as f64).min(1.0)
}
