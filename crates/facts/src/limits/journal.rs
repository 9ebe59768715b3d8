//! The journal of the filesystem: a sync writes more than the data that it is for.

use super::prelude::*;
use crate::blocked::By;
use crate::journal::Commits;
use crate::stage_facts::scheduler_idle::IdleAtSyncs;
use crate::stage_facts::shared_device::SharedDevice;
use crate::stage_facts::sync_writes::SyncWrites;

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

fn journal_writes_more(facts: &StageFacts<'_>) -> Option<Candidate> {
    let added = SyncWrites::of(facts)?;
    let per_sync = added.for_each();
    // Where the journal counts, it has to have been it.
    let is_much = |commits: f64| commits >= PER_SYNC * added.syncs;
    unless(!per_sync.is_finite() || per_sync < PER_SYNC || !added.commits.is_none_or(is_much))?;
    // What others wrote meanwhile cannot be told from what the journal did.
    unless(
        SharedDevice::of(facts).is_some()
            || Commits::beside(facts.trials(), facts.run()).is_some()
            || facts
                .looks()
                .is_some_and(|looks| looks.often(By::LogOfOthers)),
    )?;
    // What its scheduler idles is in the time of the requests, and would be without a journal.
    let idle_ns = IdleAtSyncs::of(facts).map_or(0.0, |idle| idle.each_ns());
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
        .evidence([times(&added)])
        .settled_by(stages)
        .remedy_if(is_simulated(facts.run()).then_some(key));
    Some(found)
}

/// How long writes and flushes took.
fn times(added: &SyncWrites) -> String {
    let write = duration(added.write_s / added.writes * 1e9);
    if added.flushes <= 0.0 {
        return format!("A write took {write}.");
    }
    let flush = duration(added.flush_s / added.flushes * 1e9);
    let each = ratio_of(added.flushes / added.syncs, "flush", "flushes");
    format!("A write took {write} and a flush {flush}; {each} per sync.")
}
