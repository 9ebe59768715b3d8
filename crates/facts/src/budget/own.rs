//! Which of the requests of synced writes on a filesystem are the operations' own.
//!
//! A journal commits for all who sync, one commit after the other. So an operation waits for
//! its own data, then for its commit, and where others sync, too, for the commit that is under
//! way and the data that it waits for. The device serves all of them, and only the first are
//! time that the operation was with it. Their times are not recorded by size: where large
//! writes take as long as small ones each counts with the mean, and else the own ones, which
//! are the larger, are those that took longest.

use super::requests::Requests;
use crate::journal::beyond_own;
use crate::layers::copies;
use crate::layers::counted::{Direction, count, roots};
use crate::others::by_others;
use crate::stage_facts::queue::pieces;
use diskfacts_record::evidence::{Bucket, RequestKind};
use diskfacts_record::{BlockDevice, Run, Stack, Trial};
use std::cmp::Reverse;

/// Commits for each synced write up to which the journal had no part in them: its timer makes
/// one every five seconds.
const NO_COMMITS: f64 = 0.05;

/// Fewest bytes of a request: a sector of the block layer.
const SECTOR: f64 = 512.0;

/// Times that those that are taken for others take longer than the median of the rest, and how
/// many of them have to: as of [`Outliers`](diskfacts_record::evidence::Outliers). The slowest few
/// of requests that a busy machine delays have no such gap to the rest.
const APART: f64 = 4.0;
const NINE_OF_TEN: f64 = 0.9;

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
    /// Of the writes as many are their own as their blocks are cut into; and of a file that lies
    /// in many places, whose blocks are cut further, all but one for each sector that was written
    /// beyond its bytes.
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
        let tops: Vec<&BlockDevice> = roots(&stack).collect();
        let cut = |device: &&BlockDevice| pieces(device, trial.workload.block_size);
        let cut_into = tops.iter().map(cut).max()?;
        let copies = copies::of_filesystem(&stack).most?;
        let blocks = trial.evidence.issued.writes as f64 / operations;
        let by_blocks = blocks * cut_into.saturating_mul(copies) as f64;
        let bytes_beyond = beyond.journal_bytes.saturating_add(beyond.others_bytes) as f64;
        let by_bytes = writes - bytes_beyond / SECTOR / operations;
        let of_number = by_blocks.max(by_bytes).min(writes) / writes;
        let written = count(&tops, Direction::Write, &trial.evidence)?;
        let of_bytes = 1.0 - (bytes_beyond / written as f64).min(1.0);
        let of_writes = share_of_time(run, trial, of_number, of_bytes);
        let of_reads = own_share_of_reads(trial, &stack);
        let all_writes = requests.writes_share;
        // Who writes without regard to our syncs holds no commit of ours.
        let is_filesystems = beyond.others_bytes == 0;
        Some(Self {
            own: all_writes * of_writes + (1.0 - all_writes) * of_reads,
            filesystem: if is_filesystems {
                all_writes * (1.0 - of_writes)
            } else {
                0.0
            },
        })
    }
}

/// Share of the time of all writes that is of those that have so much of their number and of
/// their bytes.
///
/// No write is quicker than a smaller one: so it is the share of their number at least. Nobody
/// without the events knows whether it is more; then it is that of their bytes, as on a device
/// that is limited by its rate, and the journal has what is left for certain.
fn share_of_time(run: &Run, trial: &Trial, of_number: f64, of_bytes: f64) -> f64 {
    if of_bytes <= of_number || of_number >= 1.0 {
        return of_number;
    }
    let is_alike = |one: &&Trial| one.stage == trial.stage && one.settings == trial.settings;
    let mut alike = run.trials.iter().filter(is_alike);
    let Some(slowest) = alike.find_map(|one| Slowest::of(one, of_number)) else {
        return of_bytes;
    };
    if slowest.are_apart {
        slowest.of_time
    } else {
        of_number
    }
}

/// The slowest writes of a trial, so large a share of them.
struct Slowest {
    /// Their share of the time of all writes with the devices.
    of_time: f64,
    /// Whether nearly all of them took much longer than the rest.
    are_apart: bool,
}

impl Slowest {
    /// `None` where the requests were not followed.
    fn of(trial: &Trial, share: f64) -> Option<Self> {
        let layer = trial.evidence.block_layer.as_ref()?;
        let all = layer.devices.iter().flat_map(|device| &device.operations);
        let writes = all.filter(|one| one.operation == RequestKind::Write);
        let mut buckets: Vec<&Bucket> = writes.flat_map(|one| &one.device_histogram).collect();
        buckets.sort_by_key(|bucket| Reverse(bucket.from));
        let all: f64 = buckets.iter().map(|bucket| bucket.count as f64).sum();
        let slowest = share * all;
        let ranks = [NINE_OF_TEN * slowest, f64::midpoint(slowest, all)];
        let mut at_ranks = [0.0; 2];
        let (mut seen, mut slowest_ns, mut all_ns) = (0.0, 0.0, 0.0);
        for bucket in buckets {
            let each_ns = f64::midpoint(bucket.from as f64, bucket.to as f64);
            let count = bucket.count as f64;
            for (at_rank, rank) in at_ranks.iter_mut().zip(ranks) {
                if seen < rank {
                    *at_rank = each_ns;
                }
            }
            slowest_ns += count.min((slowest - seen).max(0.0)) * each_ns;
            all_ns += count * each_ns;
            seen += count;
        }
        let [nearly_all_ns, rest_ns] = at_ranks;
        (all_ns > 0.0).then(|| Self {
            of_time: slowest_ns / all_ns,
            are_apart: nearly_all_ns >= APART * rest_ns,
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
