//! What trials left in the page cache is written back before the next one begins, and
//! after the last. An error of that belongs to the trial that wrote: its data did not get
//! to the device. The kernel tells such an error once for each time that a file is open,
//! so it is counted there, or never.

use super::measure::{How, Kept, Trials};
use super::schedule::grace_ns;
use crate::exit::Failure;
use crate::target::{Measured, Medium, OpenFile};
use diskfacts_engine::error_said;
use diskfacts_host::write_back;
use diskfacts_plan::{CacheMode, On, Stage, Workload};
use diskfacts_record::evidence::ErrorCount;
use diskfacts_record::{Trial, Unseen};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Written back between two looks at the time and at signals: a disk that turns may need
/// two seconds for as many pages that lie anywhere.
const PIECE_BYTES: u64 = 1 << 20;
/// Pieces are larger where there would be more of them than this.
const PIECES_MAX: u64 = 1 << 14;

/// What came of writing back.
enum Settled {
    Done,
    /// The file cannot be synced: a folder of some filesystems.
    Unseen(Unseen),
    /// Data was lost.
    Lost(ErrorCount),
}

impl Settled {
    fn of(result: io::Result<()>) -> Self {
        let Err(error) = result else {
            return Self::Done;
        };
        match error.kind() {
            io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported => {
                Self::Unseen(unseen(&error))
            }
            _ => Self::Lost(count(&error)),
        }
    }
}

fn unseen(error: &io::Error) -> Unseen {
    Unseen {
        what: "write-back of earlier trials".to_owned(),
        why: format!("syncing the target beforehand failed: {error}"),
    }
}

fn count(error: &io::Error) -> ErrorCount {
    let errno = error.raw_os_error().unwrap_or(0);
    ErrorCount {
        operation: ErrorCount::WRITE_BACK.to_owned(),
        errno,
        message: error_said(errno),
        count: 1,
        first_offset: 0,
        lowest_offset: None,
        highest_offset: None,
    }
}

/// What is written to where, and how long that is: a part of the file, where other hosts use the
/// rest.
fn file_of(measured: &Measured, on: On) -> Option<(&OpenFile, u64)> {
    match (on, &measured.beside, &measured.medium) {
        (On::File, Some(beside), _) => Some((&beside.file, beside.size_bytes)),
        (_, _, Medium::File(file)) => Some((file, measured.target.size_bytes)),
        (_, _, Medium::Simulated(_)) => None,
    }
}

fn settle(measured: &Measured, on: On) -> Settled {
    let file = file_of(measured, on);
    Settled::of(file.map_or(Ok(()), |(open, _)| open.file.sync_data()))
}

/// Counts the error in the trial that wrote, unless a sync of its own has told it.
fn add(trial: &mut Trial, error: ErrorCount) {
    let errors = &mut trial.evidence.errors;
    if !errors.iter().any(|known| known.operation == "sync") {
        trial.errors += error.count;
        errors.push(error);
    }
}

/// Writes back what a round before the trials has left.
pub(super) fn settle_round(round: &mut Trial, measured: &Measured) {
    match settle(measured, round.workload.on) {
        Settled::Done => {}
        Settled::Unseen(unseen) => round.evidence.unseen.push(unseen),
        Settled::Lost(error) => add(round, error),
    }
}

/// Writes back what others have left in the file of a copy; it is not at its expense, and
/// neither is their error.
pub(super) fn before_copy(writable: bool, file: &File) -> Vec<Unseen> {
    let error = if writable {
        file.sync_data().err()
    } else {
        None
    };
    error.iter().map(unseen).collect()
}

fn writes(trial: &Trial, on: On) -> bool {
    trial.workload.on == on && trial.workload.writes_anything()
}

/// The bytes that a workload may write in a file of this length.
fn span(workload: &Workload, size: u64) -> Range<u64> {
    if workload.operation.on_files() {
        return 0..0;
    }
    let of = |workload: &Workload| {
        let end = workload
            .span
            .map_or(size, |span| workload.offset.saturating_add(span));
        workload.offset.min(size)..end.min(size)
    };
    let own = of(workload);
    match workload.beside.as_deref().map(of) {
        Some(beside) => own.start.min(beside.start)..own.end.max(beside.end),
        None => own,
    }
}

/// The bytes of the file that these workloads may have written; none where there are none.
fn written<'a>(
    workloads: impl Iterator<Item = &'a Workload>,
    (open, size): (&OpenFile, u64),
) -> Option<Range<u64>> {
    let spans = workloads.map(|workload| open.in_file(span(workload, size)));
    spans.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end))
}

impl Trials<'_> {
    /// Writes back what others left, so that an error of it is nobody else's.
    pub(super) fn settle_the_first(&mut self, how: &mut How) {
        for on in [On::Target, On::File] {
            if self.measured.target.writable
                && let Settled::Lost(error) = settle(self.measured, on)
            {
                how.broken = self.lost(on, error, how).err();
            }
        }
    }

    /// Writes back what earlier trials left in the memories of this machine and of the disk:
    /// it must not be written at the expense of the next one, which is of this stage.
    pub(super) fn settle_before(
        &mut self,
        stage: &Stage,
        how: &mut How,
    ) -> Result<Option<Unseen>, Failure> {
        let workload = &stage.workload;
        if !self.measured.target.writable || workload.cache == CacheMode::Warm {
            return Ok(None);
        }
        match settle(self.measured, workload.on) {
            Settled::Done => Ok(None),
            Settled::Unseen(unseen) => Ok(Some(unseen)),
            Settled::Lost(error) => self.lost(workload.on, error, how).map(|()| None),
        }
    }

    /// Writes back what the last trials that wrote have left, in the time that there is and
    /// until a signal comes. It is excluded from the results.
    pub(super) fn settle_the_last(&mut self, elapsed_ns: u64, how: &mut How) {
        let total_ns = self.run.run.budget_ns.unwrap_or(0);
        let left_ns = total_ns.saturating_sub(elapsed_ns);
        let left_ns = left_ns.saturating_add(grace_ns(total_ns));
        // So much that no clock shows its end is no limit.
        let until = Instant::now().checked_add(Duration::from_nanos(left_ns));
        for on in [On::Target, On::File] {
            if how.broken.is_some() || self.signals.came().is_some() {
                return;
            }
            let Some((open, size)) = file_of(self.measured, on) else {
                continue;
            };
            let trials = self.run.trials.iter().filter(|trial| writes(trial, on));
            let workloads = trials.map(|trial| &trial.workload);
            let Some(written) = written(workloads, (open, size)) else {
                continue;
            };
            match self.write_back_until(&open.file, written, until) {
                Ok(true) => {}
                Ok(false) => self.run.run.notes.push(
                    "What the trials wrote was not all written back when the time was over, so \
                     that an error of it is not known: give it more with --time."
                        .to_owned(),
                ),
                Err(error) => {
                    if let Settled::Lost(error) = Settled::of(Err(error)) {
                        how.broken = self.lost(on, error, how).err();
                    }
                }
            }
        }
    }

    /// Whether all of it was written back before then; true also where a signal ended it.
    fn write_back_until(
        &self,
        file: &File,
        span: Range<u64>,
        until: Option<Instant>,
    ) -> io::Result<bool> {
        let stop = self.signals.stop();
        let length = span.end - span.start;
        let piece = PIECE_BYTES.max(length.div_ceil(PIECES_MAX));
        let mut at = span.start;
        while at < span.end {
            if stop.load(Ordering::Relaxed) {
                return Ok(true);
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                return Ok(false);
            }
            let now = piece.min(span.end - at);
            write_back(file, at, now)?;
            at += now;
        }
        // What is left is metadata, and the drive's own cache.
        file.sync_data().map(|()| true)
    }

    /// Data of the last trial that wrote there was lost; where none has written yet, data of
    /// somebody else, whom the kernel had not told of it.
    fn lost(&mut self, on: On, error: ErrorCount, how: &mut How) -> Result<(), Failure> {
        let trials = &mut self.run.trials;
        let Some(place) = trials.iter().rposition(|trial| writes(trial, on)) else {
            self.run.run.notes.push(format!(
                "Writing back what lay in the page cache of {} before the first trial failed: {}. \
                 Others wrote it; the kernel log (`dmesg`) says more.",
                self.run.target.given, error.message
            ));
            return Ok(());
        };
        add(&mut trials[place], error);
        how.failed = true;
        let run = &*self.run;
        (self.keep)(run, Kept::ChangedTrial(&run.trials[place]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a host wrote in its slice lies there, and not in that of rank 0.
    #[test]
    fn what_was_written_in_a_slice_is_written_back_in_that_slice() {
        const SLICE: u64 = 1 << 20;
        let file = || File::open("/dev/null").expect("it is there");
        let slice = OpenFile::part_of(file(), 2 * SLICE, 3 * SLICE);
        let workload = |offset, span| Workload {
            operation: diskfacts_plan::Operation::Write,
            offset,
            span,
            ..Workload::default()
        };
        let workloads = [workload(4096, Some(4096)), workload(65_536, None)];
        let in_slice = written(workloads.iter(), (&slice, SLICE));
        assert_eq!(in_slice, Some(2 * SLICE + 4096..3 * SLICE));
        assert_eq!(written([].iter(), (&slice, SLICE)), None);
        let whole = OpenFile::part_of(file(), 0, SLICE);
        assert_eq!(
            written(workloads[..1].iter(), (&whole, SLICE)),
            Some(4096..8192)
        );
    }
}
