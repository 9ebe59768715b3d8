//! What the syncs of a stage added to its writes: those of the journal of its filesystem.

use super::StageFacts;
use super::queue::pieces;
use crate::journal::{beyond_own, syncs};
use diskfacts_record::Trial;

/// Filesystems that count what their journal does, when they have one.
const COUNTING: [&str; 3] = ["ext3", "ext4", "xfs"];

/// Writes and flushes of the device under the filesystem while each write is synced: sums over the
/// trials.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SyncWrites {
    pub(crate) syncs: f64,
    /// Writes that the device completed, and of these those that were not the stage's.
    pub(crate) writes: f64,
    pub(crate) extra: f64,
    /// Time of the writes, s.
    pub(crate) write_s: f64,
    pub(crate) flushes: f64,
    /// Time of the flushes, s.
    pub(crate) flush_s: f64,
    /// Bytes beyond those of the stage.
    pub(crate) bytes: f64,
    /// Commits that the journal counted, where it counts.
    pub(crate) commits: Option<f64>,
}

impl SyncWrites {
    /// `None` where what is needed was not counted in some trial, or what was written beyond the
    /// stage's own does not grow with the syncs.
    pub(crate) fn of(facts: &StageFacts<'_>) -> Option<Self> {
        let mut sum = Self {
            commits: Some(0.0),
            ..Self::default()
        };
        for trial in facts.trials() {
            sum.add(facts, trial)?;
        }
        Some(sum)
    }

    fn add(&mut self, facts: &StageFacts<'_>, trial: &Trial) -> Option<()> {
        let evidence = &trial.evidence;
        let stack = facts.stack();
        let top = stack.top()?;
        let counted = evidence.device(&top.name)?;
        // Transactions of btrfs are not what its syncs write.
        let journal = evidence.journal.as_ref().filter(|one| one.kind != "btrfs");
        if journal.is_none() {
            let kind = stack.filesystem.as_ref()?.kind.as_str();
            // Of others it has to grow with the syncs, and to be no more than they add.
            let grows = !COUNTING.contains(&kind) && beyond_own(trial, stack)?.journal_bytes > 0;
            grows.then_some(())?;
        }
        let issued = &evidence.issued;
        let pieces = pieces(top, trial.workload.block_size);
        let own = issued.writes.saturating_mul(pieces);
        self.syncs += syncs(trial) as f64;
        self.writes += counted.writes as f64;
        self.extra += counted.writes.saturating_sub(own) as f64;
        self.write_s += counted.write_ms as f64 / 1e3;
        self.flushes += counted.flushes.unwrap_or(0) as f64;
        self.flush_s += counted.flush_ms.unwrap_or(0) as f64 / 1e3;
        self.bytes += counted.write_bytes as f64 - issued.write_bytes as f64;
        let commits = self.commits.zip(journal);
        self.commits = commits.map(|(sum, journal)| sum + journal.commits as f64);
        Some(())
    }

    /// Writes beyond the stage's own for each sync.
    pub(crate) fn for_each(&self) -> f64 {
        self.extra / self.syncs
    }

    /// Share of the time that goes to what syncs add: their part of the writes, less the seconds
    /// for which their scheduler idled, and of the flushes those beyond one for each sync.
    pub(crate) fn share(&self, idle_s: f64) -> f64 {
        let writes = self.extra / self.writes;
        let flushes = (self.flushes - self.syncs).max(0.0) / self.flushes;
        let all_s = self.write_s + self.flush_s;
        if all_s > 0.0 && flushes.is_finite() {
            let worked_s = (self.write_s - idle_s).max(0.0);
            (worked_s * writes + self.flush_s * flushes) / all_s
        } else {
            writes
        }
    }
}
