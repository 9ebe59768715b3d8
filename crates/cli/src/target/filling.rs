//! Writing content once, before anything is measured, in a time that is given: a slow disk
//! gets less of it, and what was written is synced.

use super::own_file::{LEAST_BYTES, PIECE_BYTES};
use super::{OpenFile, size};
use crate::exit::{Failure, OrFail};
use crate::progress::Display;
use crate::signals::Signals;
use diskfacts_engine::{Progress, Trial, run_trial};
use diskfacts_plan::rng::Rng;
use diskfacts_plan::units::show_duration;
use diskfacts_plan::{CacheMode, Operation, Pattern, Stop, SyncMode, Values, Workload};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// What is written of a file of ours before it is known how fast that goes.
const FIRST_STRETCH_BYTES: u64 = 16 << 20;

/// Writing a file of ours, or the part of it that is this host's.
pub(crate) struct Filling<'a> {
    pub(crate) file: &'a OpenFile,
    /// From where on it is written.
    pub(crate) offset: u64,
    /// How much of it is.
    pub(crate) bytes: u64,
    pub(crate) seed: u64,
    /// Content that can be checked, where a stage does.
    pub(crate) values: Option<Values>,
    /// Nanoseconds that it may take; a slower disk gets a smaller file.
    pub(crate) time_ns: u64,
}

impl Filling<'_> {
    /// Fills the file; answers how many bytes of it there was time for.
    pub(crate) fn run(self, signals: &Signals, display: &Display) -> Result<u64, Failure> {
        let written = Stretches {
            file: self.file,
            what: format!("a file of {} to measure", size(self.bytes)),
            size_bytes: self.offset + self.bytes,
            workload: Workload {
                operation: Operation::Write,
                pattern: Pattern::Sequential,
                block_size: PIECE_BYTES,
                queue_depth: 8,
                cache: CacheMode::Direct,
                sync: SyncMode::AtEnd,
                values: self.values,
                ..Workload::default()
            },
            seed: self.seed,
            first_bytes: FIRST_STRETCH_BYTES,
            time_ns: self.time_ns,
        }
        .write((self.offset, self.bytes), signals, display)
        .map_err(|stopped| stopped.in_filling("the file", ". Nothing is left behind"))?;
        signals.check()?;
        if written < LEAST_BYTES.min(self.bytes) {
            return Err(Failure::failed(format!(
                "only {} could be written in {}: too slow to measure in this time. Give it more with --time, or a smaller file with --size. Nothing is left behind",
                size(written),
                show_duration(self.time_ns)
            )));
        }
        Ok(written)
    }
}

/// Writing a part of a file in stretches, each of which is synced before the next and is as
/// long as a quarter of what is left of the time allows: where the page cache takes it all
/// at once, the time would be over long before it is on the disk.
pub(crate) struct Stretches<'a> {
    pub(crate) file: &'a OpenFile,
    /// What is filled, for people: `40 MiB of /dev/loop0 with values`.
    pub(crate) what: String,
    /// How long the file is.
    pub(crate) size_bytes: u64,
    /// How it is written; where, and when that ends, is put in for each stretch.
    pub(crate) workload: Workload,
    pub(crate) seed: u64,
    /// Bytes of the first stretch, before it is known how fast that goes.
    pub(crate) first_bytes: u64,
    /// Nanoseconds that all of it may take.
    pub(crate) time_ns: u64,
}

/// Why writing could not go on.
pub(crate) enum Stopped {
    /// The operation, its offset, and what the kernel said.
    Refused(String),
    /// It could not even be tried.
    Failed(Failure),
}

impl Stopped {
    /// The failure of filling this, and what is so after it.
    pub(crate) fn in_filling(self, what: &str, after: &str) -> Failure {
        match self {
            Self::Refused(how) => Failure::failed(format!("filling {what} failed in {how}{after}")),
            Self::Failed(failure) => failure,
        }
    }
}

impl Stretches<'_> {
    /// Writes whole blocks from an offset on; answers how many of the bytes there was time
    /// for.
    pub(crate) fn write(
        &self,
        (offset, bytes): (u64, u64),
        signals: &Signals,
        display: &Display,
    ) -> Result<u64, Stopped> {
        let began = Instant::now();
        let left_ns = || {
            let elapsed_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
            self.time_ns.saturating_sub(elapsed_ns)
        };
        let progress = Arc::new(Progress {
            stop: signals.stop_filling(),
            ..Progress::default()
        });
        let stop = signals.stop_filling();
        let block = self.workload.block_size;
        let mut written = 0;
        let mut stretch = (self.first_bytes / block * block).max(block);
        display.watch_filling(
            &self.what,
            bytes,
            block,
            &progress,
            || -> Result<(), Stopped> {
                while written < bytes && left_ns() > 0 && !stop.load(Ordering::SeqCst) {
                    let length = stretch.min(bytes - written);
                    let before_ns = left_ns();
                    let came = self.stretch((offset + written, length), before_ns, &progress)?;
                    written += came;
                    if came < length {
                        break;
                    }
                    let left_ns = left_ns();
                    let took_ns = before_ns.saturating_sub(left_ns).max(1);
                    // A size times a time may be more than 64 bits.
                    let quarter = u128::from(came) * u128::from(left_ns / 4) / u128::from(took_ns);
                    let quarter = u64::try_from(quarter).unwrap_or(u64::MAX);
                    stretch = (quarter / block * block).max(block);
                }
                Ok(())
            },
        )?;
        if signals.is_called_off() {
            return Err(Stopped::Failed(Failure::failed(
                "filling was stopped, because the group has ended",
            )));
        }
        Ok(written)
    }

    /// Writes a stretch of it, offset and bytes, and syncs it; answers how much of it
    /// there was time for.
    fn stretch(
        &self,
        (offset, bytes): (u64, u64),
        time_ns: u64,
        progress: &Progress,
    ) -> Result<u64, Stopped> {
        let workload = Workload {
            offset,
            span: Some(bytes),
            stop: Stop {
                bytes: Some(bytes),
                time_ns: Some(time_ns),
                ..Stop::default()
            },
            ..self.workload.clone()
        };
        let trial = Trial {
            file: self.file.stream_file(self.size_bytes),
            workload: &workload,
            // No two stretches have the same content.
            seed: Rng::for_part(self.seed, offset).next_u64(),
        };
        let outcome = run_trial(trial, progress, &mut ()).or_failed();
        let outcome = outcome.map_err(Stopped::Failed)?;
        if let Some(error) = outcome.error_counts.first() {
            return Err(Stopped::Refused(format!(
                "{} at offset {}: {}",
                error.operation, error.first_offset, error.message
            )));
        }
        Ok((outcome.ops * workload.block_size).min(bytes))
    }
}
