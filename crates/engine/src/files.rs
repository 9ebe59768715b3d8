//! Trials on the files of a folder: create, stat and delete.
//!
//! Each trial is complete in itself: it works in a folder of its own
//! (`folder`), makes beforehand what it will look up or delete, and takes all
//! of it away in the end; none of that is in its time. Names are drawn and
//! sizes are worked out before the first operation.
//!
//! # What an operation is
//! * create: `openat(O_CREAT | O_EXCL)`, the bytes of the file if it has any, in
//!   blocks, and `close`. With `fsync`, the file and then its folder are synced
//!   before `close`, as `bonnie++ -b` does.
//! * stat: `fstatat`; a file that is not empty is also opened, read to its end
//!   and closed.
//! * delete: `unlinkat`, and with `fsync` a sync of the folder.
//!
//! The files of several streams are adjacent parts of the same list, so no two
//! streams meet at a file, and they do meet in the folders.

mod engine;
mod folder;
mod leftovers;
mod names;
mod whose;

pub use engine::FileOps;
pub use folder::{FolderError, remove_leftovers};
pub use leftovers::{Leftovers, Swept};
pub use whose::{Mark, Whose, mark_in, unused_for};

use crate::clock::{Clock, Monotonic, Source, Ticks};
use crate::crew::Start;
use crate::engine::SyncEach;
use crate::error::TrialError;
use crate::io_priority;
use crate::measure::{Job, measure};
use crate::outcome::{StreamRecord, TrialOutcome};
use crate::stream::go;
use crate::trial::{Prepare, Progress, on_threads};
use diskfacts_plan::arrivals::Intended;
use diskfacts_plan::pattern::{Range, Steps};
use diskfacts_plan::rng::Rng;
use diskfacts_plan::{Operation, Pattern, SyncMode, Workload};
use folder::OwnFolder;
use names::Names;
use std::path::Path;
use std::sync::atomic::Ordering;

/// The files of a trial, as all its streams see them.
pub struct FileSet {
    folder: OwnFolder,
    names: Names,
    /// Which file is visited when.
    order: Vec<u32>,
    files: diskfacts_plan::Files,
    /// Of the sizes.
    seed: u64,
}

impl FileSet {
    /// Makes the folder and draws the names; for `stat` and `delete` makes the
    /// files too, until `progress` says that the trial is to be given up.
    ///
    /// # Errors
    /// What could not be made, and where. Nothing is left behind then.
    pub fn make(
        parent: &Path,
        workload: &Workload,
        seed: u64,
        progress: &Progress,
    ) -> Result<Self, TrialError> {
        let files = workload.files.unwrap_or_default();
        let random = workload.pattern == Pattern::Random;
        let mut seeds = Rng::new(seed);
        let names = Names::new(files.count, !random, seeds.next_u64());
        // Made in the order of the list, in which the names rise or do not.
        let shuffled = random && workload.operation != Operation::Create;
        let order = files.order(shuffled, seeds.next_u64());
        let set = Self {
            folder: OwnFolder::make(parent, files.folders)?,
            names,
            order,
            files,
            seed: seeds.next_u64(),
        };
        if workload.operation != Operation::Create {
            set.fill(workload, seeds.next_u64(), progress)?;
        }
        Ok(set)
    }

    /// Makes every file.
    fn fill(&self, workload: &Workload, seed: u64, progress: &Progress) -> Result<(), TrialError> {
        /// How often it is looked whether to give up.
        const LOOK_EVERY: u32 = 64;
        let making = Workload {
            operation: Operation::Create,
            sync: SyncMode::None,
            ..workload.clone()
        };
        let mut maker = engine::Doer::new(self, &making, seed)?;
        for index in 0..self.files.count as u32 {
            if index.is_multiple_of(LOOK_EVERY) && progress.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            maker.create(index).map_err(|failure| {
                FolderError::new("making the files", self.folder.path(), failure.errno)
            })?;
        }
        Ok(())
    }

    /// Takes the files and their folder away. Dropping does it too, and tells
    /// nobody when it fails.
    ///
    /// # Errors
    /// What could not be removed.
    pub fn remove(self) -> Result<(), FolderError> {
        self.folder.remove()
    }
}

/// Runs one trial on files inside the folder `parent`. `prepare` brackets the
/// measurement on this thread; making and removing the files is outside of it.
///
/// # Errors
/// When it could not be run; nothing is measured then. Files that could not be
/// removed afterwards are an error too.
pub fn run_file_trial(
    parent: &Path,
    workload: &Workload,
    seed: u64,
    progress: &Progress,
    prepare: &mut dyn Prepare,
) -> Result<TrialOutcome, TrialError> {
    let mut seeds = Rng::new(seed);
    let set = FileSet::make(parent, workload, seeds.next_u64(), progress)?;
    let whole = Range {
        start: 0,
        block_size: 1,
        count: set.files.count,
    };
    let streams = workload.streams;
    let shares = (0..streams).map(|stream| Share {
        set: &set,
        workload,
        files: whole.piece(stream, streams),
        stream,
        seed: seeds.next_u64(),
        trial_seed: seed,
    });
    let run = |share: Share<'_>, start: &Start| share.run(progress, start);
    let outcome = on_threads(workload, &[], shares, &run, prepare);
    // Of two failures the first says more.
    match (outcome, set.remove()) {
        (Ok(outcome), Ok(())) => Ok(outcome),
        (Err(error), _) => Err(error),
        (Ok(_), Err(error)) => Err(error.into()),
    }
}

/// One stream's part of a trial.
struct Share<'a> {
    set: &'a FileSet,
    workload: &'a Workload,
    /// Places in the order of visits.
    files: Range,
    stream: u32,
    seed: u64,
    trial_seed: u64,
}

impl Share<'_> {
    fn run(&self, progress: &Progress, start: &Start) -> Result<StreamRecord, TrialError> {
        io_priority::enter(self.workload.io_priority)?;
        let clock = Clock::get();
        match clock.source() {
            #[cfg(target_arch = "x86_64")]
            Source::Tsc => self.run_on(crate::clock::Tsc, clock, progress, start),
            _ => self.run_on(Monotonic, clock, progress, start),
        }
    }

    fn run_on<T: Ticks>(
        &self,
        ticks: T,
        clock: Clock,
        progress: &Progress,
        start: &Start,
    ) -> Result<StreamRecord, TrialError> {
        let mut engine = FileOps::new((ticks, clock.scale()), self.set, self.workload, self.seed)?;
        let mut stream = go(
            &mut engine,
            &mut self.job(progress),
            measure,
            (false, None),
            (clock, start),
        )?;
        // The loop counts blocks of one size, and files have many.
        stream.record.read_bytes = engine.read_bytes();
        stream.record.write_bytes = engine.written_bytes();
        Ok(stream)
    }

    fn job<'p>(&self, progress: &'p Progress) -> Job<'p> {
        let workload = self.workload;
        let streams = u64::from(workload.streams);
        let asked = workload.stop.operations.map(|all| {
            let rest = u64::from(u64::from(self.stream) < all % streams);
            all / streams + rest
        });
        Job {
            steps: Steps::new(
                workload.operation,
                Pattern::Sequential,
                self.files,
                self.seed,
                0,
                1,
            ),
            // An operation that succeeded answers 0.
            block_size: 0,
            modify: false,
            depth: 1,
            time_ns: workload.stop.time_ns,
            operations: Some(asked.unwrap_or(u64::MAX).min(self.files.count)),
            intended: workload
                .rate
                .map(|rate| Intended::new(rate, self.stream, workload.streams, self.trial_seed)),
            sync_at_end: SyncEach::None,
            intervals_from: None,
            time_from: None,
            stop: &progress.stop,
            progress,
        }
    }
}
