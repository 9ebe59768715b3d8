//! Whether a synced write waits for the platter to come round.
//!
//! What is left of a write without the time of its bytes is a whole number of
//! revolutions; and it is the same for blocks of 4 KiB and of 64 KiB, which the
//! cost of a flash cell or of a network is not.

use super::{Cell, Matrix, rising};
use crate::revolution::{NEAR, SPEEDS, Turns, whole};
use crate::stats;

/// How near the waits of single cells must be to their median, and which share
/// of the cells must be.
const ALIKE: f64 = 0.05;
const ALIKE_SHARE: f64 = 0.8;
/// Fewest cells and fewest sizes that show it.
const CELLS_MIN: usize = 6;
const SIZES_MIN: usize = 3;

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
    pub(crate) agree: (usize, usize),
    /// Other speeds and revolutions that fit as well.
    pub(crate) others: Vec<Turns>,
}

impl Revolution {
    /// What the small synced writes of a matrix wait for; `None` when that is
    /// not a whole number of revolutions of a usual speed.
    pub(crate) fn of(matrix: &Matrix<'_>) -> Option<Self> {
        let (_, streaming) = matrix.streaming()?;
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
}
