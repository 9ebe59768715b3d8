//! Whether a synced write waits for the platter to come round.
//!
//! What is left of a write without the time of its bytes is a whole number of
//! revolutions; and it is the same for blocks of 4 KiB and of 64 KiB, which the
//! cost of a flash cell or of a network is not.

use super::{Cell, Matrix, SMALL_MAX, rising, span_of_sizes};
use crate::revolution::{NEAR, RATE_MAX, SPEEDS, Turns, turn_ns, whole};
use crate::stats;
use crate::words::{duration, list, percent, ratio};
use crate::words::{if_any, lines_behind};
use diskfacts_plan::units::show_size;
use diskfacts_record::{Run, TargetKind};

/// How near the waits of single cells must be to their median, and which share
/// of the cells must be.
const ALIKE: f64 = 0.05;
const ALIKE_SHARE: f64 = 0.8;
/// Fewest cells and fewest sizes that show it.
const CELLS_MIN: usize = 6;
const SIZES_MIN: usize = 3;

/// How near the wait of a larger size must be to whole revolutions, as a part of one.
const NEAR_OF_SIZE: f64 = 0.125;
/// The rate of a stream is known to some hundredths, so what bytes take is too: of more
/// revolutions than this, it says nothing of one.
const BYTES_MAX: f64 = 4.5;

/// From here on, slow writes beside the usual ones, the median does not stand for what a write
/// costs: the 90th percentile over the median.
const NARROW: f64 = 1.25;

/// A wait of whole revolutions.
#[derive(Debug, Clone)]
pub(crate) struct Revolution {
    /// Revolutions per minute.
    pub(crate) rpm: u32,
    /// Revolutions that a write waits.
    pub(crate) revolutions: u32,
    /// What a write waits, nanoseconds, without the time of its bytes: the
    /// median over the cells.
    pub(crate) wait_ns: f64,
    /// Cells that agree, and all cells of small synced writes.
    agree: (usize, usize),
    /// Other speeds and revolutions that fit as well.
    others: Vec<Turns>,
}

/// What the synced writes of one size wait for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WaitOfSize {
    /// Bytes of a write.
    size: u64,
    /// Revolutions beside the time of the bytes: the median of the cells.
    waited: f64,
}

impl WaitOfSize {
    /// The whole number that it is near, if it is.
    fn whole(&self) -> Option<u32> {
        let whole = self.waited.round();
        ((self.waited - whole).abs() <= NEAR_OF_SIZE && whole >= 1.0).then_some(whole as u32)
    }
}

impl Revolution {
    /// What the small synced writes of a matrix wait for, where they stream no faster than so many
    /// disks that rotate do.
    pub(crate) fn of(matrix: &Matrix<'_>, disks: usize) -> Option<Self> {
        let most = disks as f64 * RATE_MAX;
        let (_, streaming) = matrix.streaming().filter(|(_, rate)| *rate <= most)?;
        let wait = |cell: &Cell<'_>| cell.write_ns() - cell.block_size as f64 / streaming * 1e9;
        let cells: Vec<&Cell<'_>> = matrix.small_synced().collect();
        let waits: Vec<f64> = cells.iter().map(|cell| wait(cell)).collect();
        let wait_ns = stats::median(&waits)?;
        let alike: Vec<&Cell<'_>> = cells
            .iter()
            .zip(&waits)
            .filter(|(_, wait)| (*wait / wait_ns - 1.0).abs() <= ALIKE)
            .map(|(cell, _)| *cell)
            .collect();
        let sizes = rising(alike.iter().map(|cell| cell.block_size));
        let enough = alike.len() >= CELLS_MIN
            && sizes.len() >= SIZES_MIN
            && alike.len() as f64 >= ALIKE_SHARE * cells.len() as f64;
        let mut fits = whole(&SPEEDS, wait_ns, NEAR).into_iter();
        let Turns { rpm, revolutions } = fits.next().filter(|_| enough)?;
        Some(Self {
            rpm,
            revolutions,
            wait_ns,
            agree: (alike.len(), cells.len()),
            others: fits.collect(),
        })
    }

    /// Whether a wait is surely one of revolutions: no other speed fits, and the kernel can know
    /// that the disk rotates. What a hypervisor shows as rotating may be anything, and so may
    /// what a document is of.
    pub(crate) fn is_sure(&self, run: &Run) -> bool {
        let known = match run.target.kind {
            TargetKind::Simulated => true,
            TargetKind::Imported => false,
            _ => run.machine.virtualization.is_none(),
        };
        known && self.others.is_empty()
    }

    /// The waits of each size whose bytes leave them to be seen, by rising size.
    pub(crate) fn by_size(&self, matrix: &Matrix<'_>) -> Vec<WaitOfSize> {
        let Some((_, rate)) = matrix.streaming() else {
            return Vec::new();
        };
        let turn_ns = turn_ns(self.rpm);
        let of_size = |size: u64| {
            let bytes = size as f64 / rate * 1e9 / turn_ns;
            let synced = matrix.synced().filter(|cell| cell.block_size == size);
            let waited = stats::median_of(synced.map(|cell| cell.write_ns() / turn_ns - bytes));
            let waited = waited.filter(|_| bytes <= BYTES_MAX)?;
            Some(WaitOfSize { size, waited })
        };
        matrix.sizes().into_iter().filter_map(of_size).collect()
    }

    /// The largest of the sizes above the small ones up to which all wait as these do, and those
    /// behind it that wait for another whole number of revolutions.
    pub(crate) fn steps(&self, sizes: &[WaitOfSize]) -> (Option<u64>, Option<(u32, Vec<u64>)>) {
        let larger = sizes.iter().skip_while(|of| of.size <= SMALL_MAX);
        let mut behind = larger.peekable();
        let mut last = None;
        while let Some(of) = behind.next_if(|of| of.whole() == Some(self.revolutions)) {
            last = Some(of.size);
        }
        let next = behind.peek().and_then(|of| of.whole());
        let more = next.map(|whole| {
            let same = behind.take_while(|of| of.whole() == Some(whole));
            (whole, same.map(|of| of.size).collect())
        });
        (last, more)
    }

    /// What small writes wait, a sentence each.
    pub(crate) fn of_small(&self, matrix: &Matrix<'_>) -> Vec<String> {
        let (rpm, revolutions, wait_ns) = (self.rpm, self.revolutions, self.wait_ns);
        let (agree, cells) = self.agree;
        let exact = f64::from(revolutions) * turn_ns(rpm);
        let mut said = vec![
            format!(
                "Without the time of its bytes a write of {} takes {} in the median of {cells} cells; \
                 {revolutions} x 60 s / {rpm} is {}, {} off.",
                span_of_sizes(matrix.small_synced().map(|cell| cell.block_size)),
                duration(wait_ns),
                duration(exact),
                percent((wait_ns / exact - 1.0).abs())
            ),
            format!(
                "{agree} of these {cells} cells are within 5 % of it, whatever their size and mode."
            ),
        ];
        let others = self.others.iter();
        said.extend(others.map(|Turns { rpm, revolutions }| {
            format!("It could also be {revolutions} revolutions at {rpm} per minute.")
        }));
        said
    }
}

impl Matrix<'_> {
    /// Whether some small synced writes take much longer than the median, so that it does not
    /// stand for what a write costs.
    pub(crate) fn has_slow_syncs(&self) -> bool {
        self.small_synced().any(|cell| {
            let ends = cell.latency.p50.zip(cell.latency.p90);
            ends.is_some_and(|(p50, p90)| p90 as f64 > NARROW * p50 as f64)
        })
    }

    /// What larger writes wait, and the lines of all, a sentence each.
    pub(crate) fn of_larger(&self, of_sizes: &[WaitOfSize]) -> Vec<String> {
        let larger = of_sizes.iter().filter(|of| of.size > SMALL_MAX);
        let larger = larger.map(|of| format!("{} at {}", ratio(of.waited), show_size(of.size)));
        let waits = if_any(list(larger), |waits| {
            format!("Larger ones wait, beside their bytes, revolutions: {waits}.")
        });
        let untold = (of_sizes.len() < self.sizes().len()).then(|| {
            format!(
                "The bytes of larger ones take more than {BYTES_MAX} revolutions, and the rest cannot \
                 be told."
            )
        });
        let lines = lines_behind("", self.synced().flat_map(|cell| &cell.lines));
        let lines = if_any(lines, |lines| format!("Synced writes: {lines}."));
        [waits, untold, lines].into_iter().flatten().collect()
    }
}
