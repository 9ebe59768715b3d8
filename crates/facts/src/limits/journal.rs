//! The journal of the filesystem: a sync writes more than the data that it is for.

use super::prelude::*;
use super::scheduler_idle::Idle;
use super::{other_process, queue};
use crate::journal::beyond_own;

pub(super) const LIMITER: Limiter = Limiter {
    name: "journal",
    // The work for a journal is the kernel's.
    not_in: &[
        Spent::User,
        Spent::Processor,
        Spent::Admission,
        Spent::Scheduler,
    ],
    needs: &[NoDocument, Blocks, OnlyWrites, EachSynced],
    find: journal_writes_more,
    ..Limiter::ANY
};

/// Requests of the journal for each sync from which on it takes part in the syncs;
/// a commit every five seconds (ext4's `commit=`) does not.
const PER_SYNC: f64 = 0.5;

/// What syncs added to the writes of a stage, sums over its trials.
#[derive(Debug, Clone, Copy, Default)]
struct Added {
    syncs: f64,
    /// Writes that the device under the filesystem completed, and of these those
    /// that were not the stage's.
    writes: f64,
    extra: f64,
    write_s: f64,
    flushes: f64,
    flush_s: f64,
    /// Bytes beyond those of the stage.
    bytes: f64,
    /// Commits that the journal counted, where it counts.
    commits: Option<f64>,
}

fn journal_writes_more(facts: &StageFacts<'_>) -> Option<Candidate> {
    let mut added = Added {
        commits: Some(0.0),
        ..Added::default()
    };
    for trial in facts.trials() {
        added.add(facts, trial)?;
    }
    let per_sync = added.extra / added.syncs;
    let is_much = |requests: f64| requests >= PER_SYNC * added.syncs;
    // Where the journal counts, it has to have been it. What others wrote meanwhile cannot be
    // told from what the journal did.
    unless(
        !per_sync.is_finite()
            || per_sync < PER_SYNC
            || !added.commits.is_none_or(is_much)
            || other_process::takes_part(facts)
            || other_process::sync_too(facts),
    )?;
    // What its scheduler idles is in the time of the requests, and would be without a journal.
    let idle_ns = Idle::of(facts).map_or(0.0, |idle| idle.each_ns());
    let share = added.share(idle_ns * facts.ops() / 1e9);
    let filesystem = facts.run().stack.filesystem.as_ref();
    let name = filesystem.map_or("the filesystem", |filesystem| &filesystem.kind);
    let extra = added.extra.round();
    let requests = ratio_of(per_sync, "request", "requests");
    let writes = format!(
        "{} writes were the stage's and {extra} more were done, {requests} for each sync, with {} \
         more: {extra} / {} of the writes.",
        (added.writes - added.extra).round(),
        size(added.bytes.max(0.0)),
        added.writes
    );
    let commits = added.commits.map(|commits| {
        let syncs = added.syncs;
        format!("The journal counted {commits} commits for {syncs} syncs.")
    });
    let claim = format!(
        "The journal of {name} writes {requests} more for each sync: {} of the time.",
        percent(share)
    );
    let stages = facts
        .stages()
        .and("fdatasync", |w| w.sync = SyncMode::Fdatasync)
        .and("fsync", |w| w.sync = SyncMode::Fsync);
    let key = "Set journal = \"0\" under [host] in the profile of the disk.";
    let found = cause(share, certain_if(commits.is_some()), claim)
        .evidence([writes])
        .evidence(commits)
        .evidence([added.time()])
        .settled_by(stages)
        .remedy_if(is_simulated(facts.run()).then_some(key));
    Some(found)
}

impl Added {
    /// Adds a trial; `None` where what is needed was not counted.
    fn add(&mut self, facts: &StageFacts<'_>, trial: &Trial) -> Option<()> {
        let evidence = &trial.evidence;
        let stack = facts.stack();
        let top = stack.top()?;
        let mut devices = evidence.devices.iter();
        let counted = devices.find(|device| device.name == top.name)?;
        // Transactions of btrfs are not what its syncs write.
        let journal = evidence.journal.as_ref().filter(|one| one.kind != "btrfs");
        match (&stack.filesystem, journal) {
            (_, Some(_)) => {}
            // These count what their journal does, when they have one.
            (Some(filesystem), None) if ["ext3", "ext4", "xfs"].contains(&&*filesystem.kind) => {
                return None;
            }
            // Of others it has to grow with the syncs, and to be no more than they add.
            (Some(_), None) if beyond_own(trial, stack)?.journal_bytes > 0 => {}
            (Some(_) | None, None) => return None,
        }
        let issued = &evidence.issued;
        let pieces = queue::pieces(top, trial.workload.block_size);
        let own = issued.writes.saturating_mul(pieces);
        self.syncs += match trial.workload.sync {
            SyncMode::ODsync | SyncMode::OSync => issued.writes,
            _ => issued.syncs,
        } as f64;
        self.writes += counted.writes as f64;
        self.extra += counted.writes.saturating_sub(own) as f64;
        self.write_s += counted.write_ms as f64 / 1e3;
        self.flushes += counted.flushes.unwrap_or(0) as f64;
        self.flush_s += counted.flush_ms.unwrap_or(0) as f64 / 1e3;
        self.bytes += counted.write_bytes as f64 - issued.write_bytes as f64;
        let commits = journal.map(|journal| journal.commits);
        let both = self.commits.zip(commits);
        self.commits = both.map(|(sum, more)| sum + more as f64);
        Some(())
    }

    /// Share of the time that goes to the journal: its part of the writes, less the seconds for
    /// which their scheduler idled, and of the flushes those beyond one for each sync.
    fn share(&self, idle_s: f64) -> f64 {
        let writes = self.extra / self.writes;
        let flushes = (self.flushes - self.syncs).max(0.0) / self.flushes;
        let all = self.write_s + self.flush_s;
        if all > 0.0 && flushes.is_finite() {
            let worked_s = (self.write_s - idle_s).max(0.0);
            (worked_s * writes + self.flush_s * flushes) / all
        } else {
            writes
        }
    }

    fn time(&self) -> String {
        let write = duration(self.write_s / self.writes * 1e9);
        if self.flushes <= 0.0 {
            return format!("A write took {write}.");
        }
        let flush = duration(self.flush_s / self.flushes * 1e9);
        let each = ratio_of(self.flushes / self.syncs, "flush", "flushes");
        format!("A write took {write} and a flush {flush}; {each} per sync.")
    }
}
