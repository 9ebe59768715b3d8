//! The stages of a run that write from front to back, one block at a time, as a
//! matrix: ways to write across, block sizes down.
//!
//! Any plan may have such stages; `write-matrix` has nothing else. What is asked
//! of the matrix compares many cells, so one odd cell does not decide.

mod alike;
mod choice;
mod kept;
mod revolution;
mod sync_cost;

use crate::figures::rate;
use crate::layers::SERVED_FROM_CACHE;
use crate::layers::in_memory;
use crate::stages::Stage;
use crate::stages::join;
use crate::stats;
pub(crate) use alike::Alike;
pub(crate) use choice::Choice;
use diskfacts_plan::WriteMode;
use diskfacts_plan::write_mode::Variant;
use diskfacts_plan::{SyncMode, units};
use diskfacts_record::{Latency, Run, StageFigures};
pub(crate) use kept::{Kept, mb};
pub(crate) use revolution::Revolution;
use std::collections::BTreeSet;
pub(crate) use sync_cost::SyncCost;

/// Blocks up to this are small: even a slow disk moves them in half a
/// millisecond, so what they take is what each write costs, not its bytes.
pub(crate) const SMALL_MAX: u64 = 64 << 10;

/// Blocks from this on, or the largest there are, are large: what they take is
/// their bytes.
const LARGE_MIN: u64 = 1 << 20;

/// Confidence of the interval of a median over cells.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// Fewest sizes, and fewest modes, that make a matrix.
const SIZES_MIN: usize = 3;
const MODES_MIN: usize = 2;

/// Written directly, and never synced.
pub(crate) const PLAIN: WriteMode = WriteMode {
    sync: SyncMode::None,
    variant: Variant::Direct,
};

/// One way to write, at one block size.
#[derive(Debug, Clone)]
pub(crate) struct Cell<'a> {
    pub(crate) mode: WriteMode,
    /// Bytes per write.
    pub(crate) block_size: u64,
    /// Median of the trials, bytes per second; more than 0.
    pub(crate) throughput: f64,
    /// Latencies of all trials; without percentiles when there are few writes.
    pub(crate) latency: Latency,
    /// Share of its bytes that stayed in a page cache.
    pub(crate) page_cache: f64,
    /// Name of its stage.
    pub(crate) stage: &'a str,
    /// Lines of a document that it was read from.
    pub(crate) lines: Vec<u64>,
    /// Number of trials.
    pub(crate) trials: usize,
}

impl Cell<'_> {
    /// What a write takes, nanoseconds: the median, or the mean where the median
    /// is not known.
    pub(crate) fn write_ns(&self) -> f64 {
        match self.latency.p50 {
            Some(p50) if p50 > 0 => p50 as f64,
            _ => self.block_size as f64 / self.throughput * 1e9,
        }
    }
}

/// The matrix of a run.
#[derive(Debug)]
pub(crate) struct Matrix<'a> {
    /// By mode in the order of [`WriteMode::all`], then by size.
    pub(crate) cells: Vec<Cell<'a>>,
}

impl<'a> Matrix<'a> {
    /// The matrix of a run; `None` when it has not sizes and modes enough, or when
    /// all of it stays in memory, where nothing becomes durable in any way.
    pub(crate) fn of<'s>(
        run: &Run,
        stages: impl Iterator<Item = (&'s Stage<'a>, &'s StageFigures)>,
    ) -> Option<Self>
    where
        'a: 's,
    {
        if in_memory(&run.stack) {
            return None;
        }
        let mut cells: Vec<Cell<'a>> = Vec::new();
        for (stage, figures) in stages {
            let workload = stage.workload();
            let Some((mode, throughput)) = WriteMode::of(workload).zip(rate(figures)) else {
                continue;
            };
            // An import does not know its engine, and is believed.
            let refused = mode.variant == Variant::Direct
                && stage.trials.iter().any(|trial| {
                    let engine = &trial.evidence.engine;
                    !engine.direct && !engine.name.is_empty()
                });
            if stage.is_null() || refused {
                continue;
            }
            let known = cells
                .iter()
                .any(|c| c.mode == mode && c.block_size == workload.block_size);
            if known {
                // The same under other kernel settings is another matrix.
                return None;
            }
            cells.push(Cell {
                mode,
                block_size: workload.block_size,
                throughput,
                latency: figures.latency_ns,
                page_cache: figures.layers.page_cache,
                stage: stage.name,
                lines: stage.lines(),
                trials: stage.trials.len(),
            });
        }
        cells.sort_by_key(|cell| (cell.mode.rank(), cell.block_size));
        let matrix = Self { cells };
        (matrix.sizes().len() >= SIZES_MIN && matrix.modes().len() >= MODES_MIN).then_some(matrix)
    }

    /// The block sizes, rising.
    pub(crate) fn sizes(&self) -> Vec<u64> {
        rising(self.cells.iter().map(|cell| cell.block_size))
    }

    /// The modes, in the order of [`WriteMode::all`].
    pub(crate) fn modes(&self) -> Vec<WriteMode> {
        let mut modes: Vec<WriteMode> = self.cells.iter().map(|cell| cell.mode).collect();
        modes.dedup();
        modes
    }

    /// The cells of a mode, by rising size.
    pub(crate) fn of_mode(&self, mode: WriteMode) -> impl Iterator<Item = &Cell<'a>> {
        self.cells.iter().filter(move |cell| cell.mode == mode)
    }

    /// The cell of a mode at a size.
    pub(crate) fn cell(&self, mode: WriteMode, block_size: u64) -> Option<&Cell<'a>> {
        self.of_mode(mode).find(|c| c.block_size == block_size)
    }

    /// Writes of which each was durable before the next.
    pub(crate) fn synced(&self) -> impl Iterator<Item = &Cell<'a>> {
        let cells = self.cells.iter();
        cells.filter(|cell| cell.mode.sync.each_write())
    }

    /// Small ones of these.
    pub(crate) fn small_synced(&self) -> impl Iterator<Item = &Cell<'a>> {
        self.synced().filter(|cell| cell.block_size <= SMALL_MAX)
    }

    /// The same size written directly, and never synced; `None` where a page cache
    /// below, as of the file behind a loop device, kept it from the device.
    pub(crate) fn unsynced(&self, block_size: u64) -> Option<&Cell<'a>> {
        self.cell(PLAIN, block_size)
            .filter(|cell| cell.page_cache <= SERVED_FROM_CACHE)
    }

    /// The smallest block that is large.
    pub(crate) fn large_from(&self) -> u64 {
        self.sizes()
            .last()
            .map_or(LARGE_MIN, |largest| LARGE_MIN.min(*largest))
    }

    /// The fastest way to write much, and its rate in bytes per second: the
    /// median over its large blocks. Of the modes with one sync at the end,
    /// because that makes the same promise in the end as a sync after each; of
    /// direct writes where there are none.
    pub(crate) fn streaming(&self) -> Option<(WriteMode, f64)> {
        let large_from = self.large_from();
        let rate = |mode: WriteMode| {
            let large = self.of_mode(mode).filter(|c| c.block_size >= large_from);
            let rate = stats::median_of(large.map(|cell| cell.throughput));
            rate.map(|rate| (mode, rate))
        };
        let fastest = |wanted: &dyn Fn(WriteMode) -> bool| {
            let modes = self.modes().into_iter().filter(|mode| wanted(*mode));
            modes.filter_map(rate).max_by(|a, b| a.1.total_cmp(&b.1))
        };
        fastest(&|mode| mode.sync.at_end()).or_else(|| fastest(&|mode| mode == PLAIN))
    }

    /// The sizes that ways to sync each write need for this rate, rising, with the names of those
    /// ways; `None` where they do not reach it.
    pub(crate) fn sync_sizes(&self, rate: f64) -> Vec<(Option<u64>, Vec<String>)> {
        let mut needed = Vec::new();
        let modes = self.modes().into_iter();
        for mode in modes.filter(|mode| mode.sync.each_write()) {
            join(&mut needed, self.reaches(mode, rate), mode.to_string());
        }
        needed.sort_by_key(|(size, _)| size.unwrap_or(u64::MAX));
        needed
    }

    /// The smallest size at which a mode has this rate, and has it still in the
    /// median of the larger ones: one lucky cell is no answer.
    fn reaches(&self, mode: WriteMode, rate: f64) -> Option<u64> {
        let cells: Vec<_> = self.of_mode(mode).collect();
        let mut from = (0..cells.len()).map(|i| &cells[i..]);
        let first = from.find(|larger| {
            let median = stats::median_of(larger.iter().map(|cell| cell.throughput));
            larger[0].throughput >= rate && median.is_some_and(|median| median >= rate)
        });
        first.map(|larger| larger[0].block_size)
    }
}

/// Sizes, each once, rising.
pub(crate) fn rising(sizes: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let sizes: BTreeSet<u64> = sizes.into_iter().collect();
    sizes.into_iter().collect()
}

/// `4 KiB`, or `4 KiB to 64 KiB`.
pub(crate) fn span_of_sizes(sizes: impl IntoIterator<Item = u64>) -> String {
    let shown: Vec<String> = rising(sizes).into_iter().map(units::show_size).collect();
    match shown.as_slice() {
        [first, .., last] => format!("{first} to {last}"),
        few => few.concat(),
    }
}

#[cfg(test)]
mod tests {

    use crate::context::Context;
    use crate::testing::{each, matrix_run, memory_stack};
    use diskfacts_record::Run;

    fn modes(run: &Run) -> Option<usize> {
        let context = Context::new(run);
        context.matrix.as_ref().map(|matrix| matrix.modes().len())
    }

    #[test]
    fn cells_of_which_nothing_can_be_said_are_left_out() {
        let mut run = matrix_run(|_, _| 1e8);
        assert_eq!(modes(&run), Some(21));
        // Direct I/O was refused: these are not what they are called.
        each(&mut run, "synced", |t| t.evidence.engine.direct = false);
        assert_eq!(modes(&run), Some(17));
        // Operations failed.
        each(&mut run, "streaming", |trial| {
            trial.errors = u64::from(trial.settings["mode"] == "BUFFERED");
        });
        assert_eq!(modes(&run), Some(16));
    }

    #[test]
    fn what_stays_in_memory_is_no_matrix_nor_are_few_sizes_or_one_mode() {
        let mut run = matrix_run(|_, _| 1e8);
        run.stack = memory_stack();
        assert_eq!(modes(&run), None);
        let mut few = matrix_run(|_, _| 1e8);
        few.trials.retain(|t| t.workload.block_size <= 8192);
        assert_eq!(modes(&few), None);
        let mut one = matrix_run(|_, _| 1e8);
        one.trials.retain(|t| t.settings["mode"] == "FSYNC");
        assert_eq!(modes(&one), None);
    }

    #[test]
    fn the_same_under_two_kernel_settings_is_not_one_matrix() {
        let mut run = matrix_run(|_, _| 1e8);
        let mut again = run.trials[0].clone();
        again.settings.insert("scheduler".into(), "none".into());
        run.trials.push(again);
        assert_eq!(modes(&run), None);
    }
}
