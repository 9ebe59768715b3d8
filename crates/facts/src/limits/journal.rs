//! The journal of the filesystem: a sync writes more than the data that it is for.

use super::{Candidate, Standing, Subject};
use crate::journal::beyond_own;
use crate::simulated::is_simulated;
use crate::words::{percent, ratio};
use diskfacts_plan::units::{show_duration, show_size};
use diskfacts_plan::{SyncMode, Workload};
use diskfacts_record::{Confidence, Trial};

pub(super) const NAME: &str = "journal";

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

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    if subject.imported() || !subject.moves_blocks() || !subject.only_writes() {
        return None;
    }
    if !subject.workload().sync.each_write() {
        return None;
    }
    let mut added = Added {
        commits: Some(0.0),
        ..Added::default()
    };
    for trial in subject.trials() {
        add(subject, trial, &mut added)?;
    }
    // What others wrote meanwhile cannot be told from what the journal did.
    if super::other_process::takes_part(subject) {
        return None;
    }
    let per_sync = added.extra / added.syncs;
    if !per_sync.is_finite() || per_sync < PER_SYNC {
        return None;
    }
    // Where the journal counts, it has to have been it.
    if added
        .commits
        .is_some_and(|commits| commits < PER_SYNC * added.syncs)
    {
        return None;
    }
    let share = added.share();
    let filesystem = subject.run().stack.filesystem.as_ref();
    let name = filesystem.map_or("the filesystem", |filesystem| &filesystem.kind);
    let (own, extra) = (added.writes - added.extra, added.extra);
    let mut evidence = vec![format!(
        "{} writes were the stage's and {} more were done, {} for each sync, with {} more: {} / \
         {} of the writes.",
        own.round(),
        extra.round(),
        ratio(per_sync),
        show_size(added.bytes.max(0.0) as u64),
        extra.round(),
        added.writes
    )];
    if let Some(commits) = added.commits {
        evidence.push(format!(
            "The journal counted {commits} commits for {} syncs.",
            added.syncs
        ));
    }
    evidence.push(added.time());
    let mut overwrite = subject.workload().clone();
    overwrite.sync = SyncMode::Fdatasync;
    let direct = Workload {
        sync: SyncMode::Fsync,
        ..overwrite.clone()
    };
    Some(Candidate {
        standing: Standing::cause(share),
        claim: format!(
            "The journal of {name} writes {} requests more for each sync: {} of the time.",
            ratio(per_sync),
            percent(share)
        ),
        evidence,
        share: Some(share),
        confidence: if added.commits.is_some() {
            Confidence::Certain
        } else {
            Confidence::Likely
        },
        refuted_by: "The same rate on a file whose blocks are all written already, with fdatasync."
            .into(),
        experiment: subject.experiment(
            "Over blocks that are written already, fdatasync has nothing to put into the journal \
             and fsync only the time of the change: a higher rate of the first speaks for it.",
            &[("fdatasync", overwrite), ("fsync", direct)],
        ),
        remedy: if is_simulated(subject.run()) {
            "Set journal = \"0\" under [host] in the profile of the disk.".into()
        } else {
            "Write over a file that has its length and its blocks already, and use fdatasync \
             (or O_DSYNC) instead of fsync; let several writes share a sync; or put the journal \
             on a device of its own (`mkfs.ext4 -J device=DEVICE`, `mkfs.xfs -l logdev=DEVICE`)."
                .into()
        },
    })
}

/// Adds a trial; `None` where what is needed was not counted.
fn add(subject: &Subject<'_>, trial: &Trial, added: &mut Added) -> Option<()> {
    let evidence = &trial.evidence;
    let stack = subject.stack();
    let top = stack.top()?;
    let counted = evidence
        .devices
        .iter()
        .find(|device| device.name == top.name)?;
    match (&stack.filesystem, &evidence.journal) {
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
    let pieces = top
        .max_request_bytes
        .filter(|bytes| *bytes > 0)
        .map_or(1, |largest| trial.workload.block_size.div_ceil(largest));
    let own = issued.writes.saturating_mul(pieces);
    added.syncs += match trial.workload.sync {
        SyncMode::ODsync | SyncMode::OSync => issued.writes,
        _ => issued.syncs,
    } as f64;
    let extra = counted.writes.saturating_sub(own);
    added.writes += counted.writes as f64;
    added.extra += extra as f64;
    added.write_s += counted.write_ms as f64 / 1e3;
    added.flushes += counted.flushes.unwrap_or(0) as f64;
    added.flush_s += counted.flush_ms.unwrap_or(0) as f64 / 1e3;
    added.bytes += counted.write_bytes as f64 - issued.write_bytes as f64;
    let commits = evidence
        .journal
        .as_ref()
        .map(|journal| journal.commits as f64);
    added.commits = added.commits.zip(commits).map(|(sum, more)| sum + more);
    Some(())
}

impl Added {
    /// Share of the time that goes to the journal: its part of the writes, and of
    /// the flushes those beyond one for each sync.
    fn share(&self) -> f64 {
        let writes = self.extra / self.writes;
        let flushes = (self.flushes - self.syncs).max(0.0) / self.flushes;
        let all = self.write_s + self.flush_s;
        if all > 0.0 && flushes.is_finite() {
            (self.write_s * writes + self.flush_s * flushes) / all
        } else {
            writes
        }
    }

    fn time(&self) -> String {
        let each = |sum_s: f64, count: f64| show_duration((sum_s / count * 1e9) as u64);
        if self.flushes > 0.0 {
            format!(
                "A write took {} and a flush {}; {} flushes for each sync.",
                each(self.write_s, self.writes),
                each(self.flush_s, self.flushes),
                ratio(self.flushes / self.syncs)
            )
        } else {
            format!("A write took {}.", each(self.write_s, self.writes))
        }
    }
}
