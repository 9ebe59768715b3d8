//! What a device wrote beyond what it was given, during writes that are synced:
//! the journal of the filesystem, or others.

use crate::layers::copies;
use crate::layers::counted::{Direction, count, roots};
use crate::layers::reach::dirty_before;
use crate::words::count as count_of;
use diskfacts_plan::SyncMode;
use diskfacts_record::{BlockDevice, Run, Stack, Trial};

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

/// Syncs of a trial: with `O_DSYNC` and `O_SYNC` each write is one.
pub(crate) fn syncs(trial: &Trial) -> u64 {
    let issued = &trial.evidence.issued;
    match trial.workload.sync {
        SyncMode::ODsync | SyncMode::OSync => issued.writes,
        _ => issued.syncs,
    }
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
    let syncs = (trial.workload.sync != SyncMode::None).then(|| syncs(trial))?;
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
    let counted_tops = tops.iter().filter_map(|top| evidence.device(&top.name));
    let requests: u64 = counted_tops.map(|device| device.writes).sum();
    let requests_beyond = requests.saturating_sub(evidence.issued.writes.saturating_mul(copies));
    let grows_with_syncs = requests_beyond as f64 >= syncs as f64 * REQUESTS_PER_SYNC
        && beyond <= syncs.saturating_mul(COMMIT_BYTES).saturating_mul(copies);
    let (journal_bytes, others_bytes) = if grows_with_syncs {
        (beyond, 0)
    } else {
        (0, beyond)
    };
    Some(BeyondOwn {
        journal_bytes,
        others_bytes,
    })
}

/// Share of the commits of a journal that were for others, from which on it is worth a word, and
/// fewest of them in a trial.
const COMMITS_SHARE: f64 = 0.1;
const COMMITS_MIN: u64 = 10;
/// Commits that a journal makes by itself in a second, at most: mounts with `commit=1`.
const BY_TIMER_PER_S: f64 = 1.0;

/// Commits of a journal while each write of a stage was synced: sums over its trials.
///
/// * Of jbd2 a sync of ours asks for one at most, and the timer for one in five seconds
///   (`JBD2_DEFAULT_MAX_COMMIT_AGE`).
/// * Of XFS a sync forces one checkpoint, which may end in the log buffer behind the one that it
///   began in (`xlog_cil_push_work` in `fs/xfs/xfs_log_cil.c`): two writes.
/// * btrfs writes a tree of its own for syncs, and commits for none of them; where it must all
///   the same (new block groups, renames: `btrfs_sync_log` in fs/btrfs/tree-log.c), once.
///
/// Who asks for the data alone (`fdatasync`, `O_DSYNC`) and writes over blocks that the file has
/// asks for none: times do not have to be kept then (`i_datasync_tid`, `ext4_sync_file` in
/// fs/ext4/fsync.c; `XFS_ILOG_TIMESTAMP` in `fs/xfs/xfs_file.c`).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Commits {
    pub(crate) all: u64,
    /// Share of the time in which one was under way, where the filesystem tells.
    pub(crate) of_time: Option<f64>,
    /// Most of them that were for the stage.
    pub(crate) own_max: u64,
    /// Its syncs.
    pub(crate) syncs: u64,
    trials: u64,
}

impl Commits {
    /// `None` of what is not synced, where no journal counted, and where data go through the
    /// journal: they fill it, and are committed unasked.
    pub(crate) fn of(trials: &[&Trial], run: &Run) -> Option<Self> {
        let filesystem = run.stack.filesystem.as_ref()?;
        let is_mounted_with = |option: &str| filesystem.options.iter().any(|of| of == option);
        let journals_data = is_mounted_with("data=journal");
        let for_a_sync = |kind: &str| match kind {
            "jbd2" => Some(1),
            "xfs" => Some(2),
            "btrfs" => Some(u64::from(is_mounted_with("notreelog"))),
            _ => None,
        };
        let (mut seconds, mut commit_ms) = (0.0, None);
        let mut sum = Self {
            trials: trials.len() as u64,
            ..Self::default()
        };
        for trial in trials {
            let journal = trial.evidence.journal.as_ref()?;
            if journals_data || !trial.workload.sync.each_write() {
                return None;
            }
            let for_a_sync = for_a_sync(&journal.kind)?;
            seconds += trial.seconds;
            commit_ms = journal.commit_ms.map(|ms| ms + commit_ms.unwrap_or(0));
            let issued = &trial.evidence.issued;
            // O_DSYNC and O_SYNC sync with each write.
            let syncs = issued.syncs.max(issued.writes);
            let asked = if syncs_data_alone(run, trial) {
                0
            } else {
                syncs.saturating_mul(for_a_sync)
            };
            let by_timer = (trial.seconds * BY_TIMER_PER_S).ceil().max(0.0) as u64;
            sum.all = sum.all.saturating_add(journal.commits);
            sum.own_max = sum.own_max.saturating_add(asked).saturating_add(by_timer);
            sum.syncs = sum.syncs.saturating_add(syncs);
        }
        sum.of_time = commit_ms.map(|ms| (ms as f64 / 1e3 / seconds).min(1.0));
        Some(sum)
    }

    /// Those of which others asked for a good part.
    pub(crate) fn beside(trials: &[&Trial], run: &Run) -> Option<Self> {
        let commits = Self::of(trials, run)?;
        let others = commits.others();
        let share = others as f64 / commits.all as f64;
        (share > COMMITS_SHARE && others >= COMMITS_MIN * commits.trials).then_some(commits)
    }

    pub(crate) fn others(&self) -> u64 {
        self.all.saturating_sub(self.own_max)
    }

    /// How many there were, and how many were for the stage, a sentence.
    pub(crate) fn said(&self) -> String {
        format!(
            "the journal committed {}, of which our syncs and its timer asked for {} at most.",
            count_of(self.all, "time"),
            self.own_max
        )
    }
}

/// Whether the syncs of a trial are for data in blocks that the file had, all of them written,
/// when the run began.
fn syncs_data_alone(run: &Run, trial: &Trial) -> bool {
    let data = [SyncMode::Fdatasync, SyncMode::ODsync].contains(&trial.workload.sync);
    let extents = run.target.extents.as_ref();
    let written =
        |one: &diskfacts_record::Extents| one.hole_bytes == 0 && one.unwritten_bytes == Some(0);
    data && extents.is_some_and(written)
}
