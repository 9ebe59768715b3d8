//! What the threads of a stage were blocked by, as their sleep in the kernel tells: an
//! operation that waits for its own requests sleeps in other functions than one that waits
//! for a lock, for memory or for another program.
//!
//! Names of functions are those of the kernel (6.1 to 6.18), of which `/proc/PID/wchan` gives
//! the first outside of the scheduler and of the locks themselves: who sleeps for the lock of
//! an inode is seen in the function that asked for it.

use crate::prelude::DETAIL;
use diskfacts_record::{Spent, Trial};

/// Looks that have to have seen it: of so many the share is known within its half, with 95 %
/// (the relative error of a count of n is 1.96 / sqrt(n)).
pub(crate) const SEEN_MIN: u64 = 15;

/// Something that blocks a thread in front of its requests, or without any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum By {
    /// The lock of a file: one writes at a time.
    FileLock,
    /// A program that allows or forbids each access (fanotify(7), `seccomp_unotify(2)`).
    Permission,
    /// A debugger or tracer.
    Tracer,
    /// Memory: the limit of a group, or reclaim.
    Memory,
    /// The throttling of writes behind the block layer (`wbt_lat_usec`), or the cost model of
    /// control groups (`io.cost`, `io.latency`).
    Throttle,
    /// The queue of the device is full.
    Tags,
    /// The log of btrfs, which is being written for the sync of somebody else.
    LogOfOthers,
    /// The journal of the filesystem: it is full, or is being committed.
    Journal,
    /// The filesystem is frozen (fsfreeze(8), a snapshot).
    Freeze,
    /// The queue of the device is frozen, while a setting of it is changed.
    QueueFrozen,
}

impl By {
    pub(crate) const ALL: [Self; 10] = [
        Self::FileLock,
        Self::Permission,
        Self::Tracer,
        Self::Memory,
        Self::Throttle,
        Self::Tags,
        Self::LogOfOthers,
        Self::Journal,
        Self::Freeze,
        Self::QueueFrozen,
    ];

    /// Beginnings of the functions in which a thread sleeps then.
    fn functions(self) -> &'static [&'static str] {
        match self {
            // inode_lock and xfs_ilock, whoever asks; iomap's own sleep has a function of its own.
            Self::FileLock => &[
                "ext4_buffered_write_iter",
                "ext4_dio_write_iter",
                "ext4_dio_read_iter",
                "ext4_file_write_iter",
                "ext4_file_read_iter",
                "xfs_ilock",
                "xfs_file_buffered_write",
                "xfs_file_dio_write",
                "btrfs_inode_lock",
                "btrfs_buffered_write",
                "btrfs_direct_write",
                "f2fs_file_write_iter",
                "generic_file_write_iter",
                "blkdev_write_iter",
                "nfs_start_io",
                "fuse_cache_write_iter",
                "fuse_direct_write_iter",
                "inode_dio_wait",
                "__inode_dio_wait",
            ],
            Self::Permission => &["fanotify_handle_event", "seccomp_do_user_notification"],
            Self::Tracer => &["ptrace_stop", "ptrace_do_notify"],
            Self::Memory => &[
                "mem_cgroup_handle_over_high",
                "__mem_cgroup_handle_over_high",
                "try_charge",
                "reclaim_throttle",
                "throttle_direct_reclaim",
                "shrink_",
            ],
            Self::Throttle => &["rq_qos_wait", "blkcg_maybe_throttle_current"],
            Self::Tags => &["blk_mq_get_tag", "__blk_mq_get_tag"],
            // Who syncs alone writes the log itself (`btrfs_sync_log`, fs/btrfs/tree-log.c).
            Self::LogOfOthers => &["wait_log_commit"],
            // In front of a change, while there is no room in the log for it or the running
            // transaction is closed.
            Self::Journal => &[
                "jbd2_log_do_checkpoint",
                "jbd2_write_superblock",
                "__jbd2_log_wait_for_space",
                "wait_transaction_locked",
                "add_transaction_credits",
                "do_get_write_access",
                WAITS_FOR_COMMIT,
                "xlog_grant_head_wait",
                "wait_current_trans",
            ],
            // sb_start_write.
            Self::Freeze => &["percpu_rwsem_wait", "__percpu_down_read"],
            Self::QueueFrozen => &["__bio_queue_enter", "blk_queue_enter"],
        }
    }

    /// In which part of an operation's time it lies.
    pub(crate) fn part(self) -> Spent {
        match self {
            Self::Throttle | Self::Tags | Self::QueueFrozen => Spent::Admission,
            Self::Journal | Self::LogOfOthers => Spent::Journal,
            _ => Spent::Blocked,
        }
    }
}

/// Where a sync sleeps for what it asked for; who asked for none waits for room in the log.
const WAITS_FOR_COMMIT: &str = "jbd2_log_wait_commit";

/// The looks at the threads of some trials.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Looks {
    /// All of them.
    pub(crate) number: u64,
    /// What blocked a thread, its function, and how many looks saw it there; most first.
    pub(crate) blocked: Vec<(By, String, u64)>,
}

impl Looks {
    /// Of these trials; `None` where nobody looked, and of open loops, whose threads sleep
    /// between operations.
    pub(crate) fn of<'a>(trials: impl Iterator<Item = &'a Trial>) -> Option<Self> {
        let mut looks = Self::default();
        for trial in trials.filter(|trial| trial.workload.rate.is_none()) {
            let Some(asleep) = &trial.evidence.engine.asleep else {
                continue;
            };
            looks.number += asleep.looks;
            for (function, seen) in &asleep.functions {
                let streams = trial.workload.streams;
                let begins = |by: &By| {
                    let ours = *by == By::LogOfOthers && streams > 1;
                    !ours && by.functions().iter().any(|one| function.starts_with(one))
                };
                let own_sync = function == WAITS_FOR_COMMIT && trial.workload.sync.each_write();
                let Some(by) = By::ALL.into_iter().find(begins).filter(|_| !own_sync) else {
                    continue;
                };
                let mut known = looks.blocked.iter_mut();
                match known.find(|one| one.1 == *function) {
                    Some(one) => one.2 += seen,
                    None => looks.blocked.push((by, function.clone(), *seen)),
                }
            }
        }
        looks.blocked.sort_by_key(|one| std::cmp::Reverse(one.2));
        (looks.number > 0).then_some(looks)
    }

    /// That so many looks saw a thread do this, the beginning of a sentence.
    pub(crate) fn saw(&self, seen: u64, what: &str) -> String {
        let number = self.number;
        format!("Of {number} looks at the threads, one each 10 ms, {seen} saw one {what}")
    }

    /// Looks that saw a thread blocked by this.
    pub(crate) fn by(&self, by: By) -> u64 {
        let same = self.blocked.iter().filter(|one| one.0 == by);
        same.map(|one| one.2).sum()
    }

    /// Whether a thread was blocked by this so often that the share is known, and matters.
    pub(crate) fn often(&self, by: By) -> bool {
        self.by(by) >= SEEN_MIN && self.share(by) >= DETAIL
    }

    /// Share of the threads' time in which they were blocked by any of them.
    pub(crate) fn share_of_all(&self) -> f64 {
        let all: u64 = self.blocked.iter().map(|one| one.2).sum();
        all as f64 / self.number as f64
    }

    /// Share of the threads' time in which they were blocked by this.
    pub(crate) fn share(&self, by: By) -> f64 {
        self.by(by) as f64 / self.number as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use diskfacts_plan::{Arrivals, Rate, SyncMode};
    use diskfacts_record::evidence::Asleep;

    fn trial(looks: u64, functions: &[(&str, u64)]) -> Trial {
        let mut trial = testing::healthy().trials[0].clone();
        let functions = functions.iter().map(|one| (one.0.to_owned(), one.1));
        trial.evidence.engine.asleep = Some(Asleep {
            looks,
            functions: functions.collect(),
        });
        trial
    }

    #[test]
    fn what_blocks_is_told_from_what_waits_for_its_own_request() {
        let trials = [
            trial(
                60,
                &[("io_cqring_wait", 40), ("ext4_buffered_write_iter", 20)],
            ),
            trial(40, &[("__iomap_dio_rw", 30), ("rq_qos_wait", 5)]),
        ];
        let looks = Looks::of(trials.iter()).expect("looks");
        assert_eq!((looks.number, looks.blocked.len()), (100, 2));
        assert_eq!(looks.blocked[0].0, By::FileLock);
        assert_eq!(looks.by(By::FileLock), 20);
        assert_eq!(looks.by(By::Throttle), 5);
        assert_eq!(looks.by(By::Permission), 0);
    }

    #[test]
    fn a_commit_blocks_who_did_not_ask_for_it() {
        let mut writes = trial(
            50,
            &[(WAITS_FOR_COMMIT, 30), ("jbd2_log_do_checkpoint", 10)],
        );
        writes.workload.sync = SyncMode::None;
        let journal = |trial: &Trial| Looks::of([trial].into_iter()).map(|l| l.by(By::Journal));
        assert_eq!(journal(&writes), Some(40));
        writes.workload.sync = SyncMode::Fsync;
        assert_eq!(journal(&writes), Some(10));
    }

    #[test]
    fn without_looks_and_of_open_loops_nothing_is_said() {
        let mut open = trial(50, &[("fanotify_handle_event", 50)]);
        assert!(Looks::of([&open].into_iter()).is_some());
        open.workload.rate = Some(Rate {
            operations_per_s: 100,
            arrivals: Arrivals::Fixed,
        });
        assert_eq!(Looks::of([&open].into_iter()), None);
        open.evidence.engine.asleep = None;
        open.workload.rate = None;
        assert_eq!(Looks::of([&open].into_iter()), None);
    }
}
