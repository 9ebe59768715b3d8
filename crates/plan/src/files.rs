//! Operations on the files of a folder instead of the blocks of one file: how
//! many files there are, how large, over how many folders they are spread, and
//! in which order they are visited. Pure data, as a workload is.
//!
//! A stage of [`Operation::Create`] makes the files, one of [`Operation::Stat`]
//! asks for their attributes (and reads those that are not empty), one of
//! [`Operation::Delete`] takes them away. Each trial visits each file at most
//! once; what it needs beforehand is made before its time begins.
//!
//! # What a pattern means here
//! `sequential`: the names rise, and the files are visited in the order in
//! which they were made. `random`: the names do not rise with the order of
//! making, and the files are looked up and deleted in an order drawn anew.

use crate::check::Problem;
use crate::rng::Rng;
use crate::units::show_size;
use crate::workload::{
    BufferAlignment, CacheMode, EngineChoice, Operation, Pattern, SyncMode, Workload,
};
use serde::{Deserialize, Serialize};

/// Most files of a trial: 2^22 names take some 100 MB of memory.
pub const FILES_MAX: u64 = 1 << 22;

/// Most folders: each is held open while a trial runs, and 1024 open files are
/// what a process is usually granted.
pub const FOLDERS_MAX: u64 = 512;

/// Largest file: what is to be measured is the making of files, not a stream.
pub const FILE_SIZE_MAX: u64 = 1 << 30;

/// The files that a stage works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    /// How many, in `1..=FILES_MAX`.
    pub count: u64,
    /// Bytes of the smallest, at most those of the largest.
    pub size_min: u64,
    /// Bytes of the largest, at most [`FILE_SIZE_MAX`]. Each size from the
    /// smallest to the largest is equally likely.
    pub size_max: u64,
    /// Folders over which they are spread, adjacent files in the same one; in
    /// `1..=FOLDERS_MAX`, and no more than there are files.
    pub folders: u64,
}

impl Default for Files {
    /// What `bonnie++` does when nothing is said: 16 × 1024 empty files in one
    /// folder.
    fn default() -> Self {
        Self {
            count: 16 * 1024,
            size_min: 0,
            size_max: 0,
            folders: 1,
        }
    }
}

impl Files {
    /// Bytes of the file `index`, when the trial has this seed. The same for
    /// whoever asks, so nothing has to be kept.
    pub fn size_of(&self, seed: u64, index: u64) -> u64 {
        let sizes = self.size_max.saturating_sub(self.size_min) + 1;
        if sizes == 1 {
            return self.size_min;
        }
        self.size_min + Rng::for_part(seed, index).below(sizes)
    }

    /// The folder of the file `index`, from 0: the files of a folder follow each
    /// other.
    pub fn folder_of(&self, index: u64) -> u64 {
        let product = u128::from(index) * u128::from(self.folders);
        // At most `folders`, so it fits.
        (product / u128::from(self.count.max(1))) as u64
    }

    /// The order in which the files are visited: as they were made, or each once
    /// in an order drawn from the seed (Fisher and Yates).
    pub fn order(&self, shuffled: bool, seed: u64) -> Vec<u32> {
        // FILES_MAX fits.
        let mut order: Vec<u32> = (0..self.count as u32).collect();
        if shuffled {
            let mut rng = Rng::new(seed);
            for last in (1..order.len()).rev() {
                let other = rng.below(last as u64 + 1) as usize;
                order.swap(last, other);
            }
        }
        order
    }
}

impl Operation {
    /// Whether it works on the files of a folder, not on blocks.
    pub fn on_files(self) -> bool {
        matches!(self, Self::Create | Self::Stat | Self::Delete)
    }
}

fn problem(key: &'static str, message: impl Into<String>) -> Problem {
    Problem {
        key,
        message: message.into(),
    }
}

/// What is wrong with a workload as far as its files go: those that it has, and
/// those that it lacks.
pub(crate) fn problems(workload: &Workload) -> Vec<Problem> {
    if !workload.operation.on_files() {
        return match workload.files {
            None => Vec::new(),
            Some(_) => vec![problem(
                "files",
                "only operation = \"create\", \"stat\" and \"delete\" work on files",
            )],
        };
    }
    let mut found = amounts(&workload.files.unwrap_or_default());
    if u64::from(workload.streams) > workload.files.unwrap_or_default().count {
        found.push(problem(
            "streams",
            format!("{} are more than there are files", workload.streams),
        ));
    }
    if workload.queue_depth > 1 {
        found.push(problem(
            "queue_depth",
            "one file at a time for each stream; use streams = N for several at once",
        ));
    }
    if matches!(workload.pattern, Pattern::Zipf { .. }) {
        found.push(problem(
            "pattern",
            "each file is visited once, so it is \"sequential\" or \"random\"",
        ));
    }
    if workload.cache != CacheMode::Buffered {
        found.push(problem(
            "cache",
            "names and attributes go through the memory of the kernel; use cache = \"buffered\"",
        ));
    }
    if !matches!(workload.sync, SyncMode::None | SyncMode::Fsync) {
        found.push(problem(
            "sync",
            "with files it is \"none\", or \"fsync\" of each file and its folder",
        ));
    }
    if !matches!(workload.engine, EngineChoice::Auto | EngineChoice::Sync) {
        found.push(problem(
            "engine",
            "files are made, looked up and deleted by system calls only; use engine = \"auto\"",
        ));
    }
    for (key, given) in [
        ("span", workload.span.is_some()),
        ("offset", workload.offset > 0),
        ("bytes", workload.stop.bytes.is_some()),
        ("buffer", workload.buffer != BufferAlignment::Aligned),
    ] {
        if given {
            found.push(problem(key, "it is for blocks, not for files; drop it"));
        }
    }
    found
}

fn amounts(files: &Files) -> Vec<Problem> {
    let mut found = Vec::new();
    if !(1..=FILES_MAX).contains(&files.count) {
        found.push(problem(
            "files",
            format!("{} is not between 1 and {FILES_MAX}", files.count),
        ));
    }
    if files.size_max > FILE_SIZE_MAX {
        found.push(problem(
            "file_size_max",
            format!(
                "{} is more than {}",
                show_size(files.size_max),
                show_size(FILE_SIZE_MAX)
            ),
        ));
    }
    if files.size_min > files.size_max {
        found.push(problem(
            "file_size_min",
            format!(
                "{} is more than the {} of file_size_max",
                show_size(files.size_min),
                show_size(files.size_max)
            ),
        ));
    }
    if !(1..=FOLDERS_MAX).contains(&files.folders) || files.folders > files.count {
        found.push(problem(
            "folders",
            format!(
                "{} is not between 1 and {}, the most for {} files",
                files.folders,
                FOLDERS_MAX.min(files.count.max(1)),
                files.count
            ),
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat() -> Workload {
        Workload {
            operation: Operation::Stat,
            pattern: Pattern::Sequential,
            cache: CacheMode::Buffered,
            files: Some(Files::default()),
            ..Workload::default()
        }
    }

    #[test]
    fn usual_files_have_no_problem_and_each_impossible_value_is_named_by_its_key() {
        assert_eq!(stat().problems(), []);
        let with = |change: fn(&mut Workload, &mut Files)| {
            let (mut workload, mut files) = (stat(), Files::default());
            change(&mut workload, &mut files);
            workload.files = workload.files.map(|_| files);
            let keys: Vec<&str> = workload.problems().iter().map(|p| p.key).collect();
            keys
        };
        for (change, key) in [
            (
                (|_, f| f.count = 0) as fn(&mut Workload, &mut Files),
                "files",
            ),
            (|_, f| f.count = FILES_MAX + 1, "files"),
            (|_, f| f.size_max = FILE_SIZE_MAX + 1, "file_size_max"),
            (|_, f| f.size_min = 1, "file_size_min"),
            (|_, f| f.folders = 0, "folders"),
            (
                |_, f| {
                    f.count = 3;
                    f.folders = 4;
                },
                "folders",
            ),
            (|_, f| f.folders = FOLDERS_MAX + 1, "folders"),
            (
                |w, f| {
                    w.streams = 3;
                    f.count = 2;
                },
                "streams",
            ),
            (|w, _| w.queue_depth = 2, "queue_depth"),
            (|w, _| w.pattern = Pattern::Zipf { theta: 0.9 }, "pattern"),
            (|w, _| w.cache = CacheMode::Cold, "cache"),
            (|w, _| w.engine = EngineChoice::IoUring, "engine"),
            (|w, _| w.span = Some(1 << 20), "span"),
            (|w, _| w.offset = 4096, "offset"),
            (|w, _| w.stop.bytes = Some(1 << 20), "bytes"),
            (|w, _| w.buffer = BufferAlignment::Unaligned, "buffer"),
            (|w, _| w.operation = Operation::Read, "files"),
        ] {
            let keys = with(change);
            assert!(keys.contains(&key), "{key}: {keys:?}");
        }
        assert!(
            with(|w, _| {
                w.operation = Operation::Create;
                w.sync = SyncMode::AtEnd;
            })
            .contains(&"sync")
        );
    }

    #[test]
    fn sizes_lie_in_the_range_reach_both_ends_and_repeat_with_the_seed() {
        let files = Files {
            size_min: 3,
            size_max: 7,
            ..Files::default()
        };
        let sizes: Vec<u64> = (0..1000).map(|i| files.size_of(5, i)).collect();
        assert_eq!(sizes.iter().min(), Some(&3));
        assert_eq!(sizes.iter().max(), Some(&7));
        let again: Vec<u64> = (0..1000).map(|i| files.size_of(5, i)).collect();
        assert_eq!(sizes, again);
        let same = Files {
            size_min: 9,
            size_max: 9,
            ..files
        };
        assert_eq!(same.size_of(5, 17), 9);
    }

    #[test]
    fn each_folder_gets_its_share_of_adjacent_files() {
        let files = Files {
            count: 10,
            folders: 3,
            ..Files::default()
        };
        let folders: Vec<u64> = (0..10).map(|i| files.folder_of(i)).collect();
        assert_eq!(folders, [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]);
        let last = Files {
            count: FILES_MAX,
            folders: FOLDERS_MAX,
            ..files
        };
        assert_eq!(last.folder_of(FILES_MAX - 1), FOLDERS_MAX - 1);
    }

    #[test]
    fn a_shuffled_order_has_each_file_once_and_is_another_with_another_seed() {
        let files = Files {
            count: 1000,
            ..Files::default()
        };
        let made = files.order(false, 1);
        assert!(made.iter().copied().eq(0..1000));
        let drawn = files.order(true, 1);
        assert_ne!(drawn, made);
        assert_ne!(drawn, files.order(true, 2));
        let mut sorted = drawn;
        sorted.sort_unstable();
        assert_eq!(sorted, made);
    }
}
