//! Whether a synced write waits for the platter to come round.
//!
//! A drive that keeps nothing back writes a block when its place comes under the
//! head. When the next block of a sequence is handed over, its place has just
//! gone by, so it waits for one whole revolution, and then takes the time of its
//! bytes. What is left of a write without that time is a whole number of
//! revolutions; and it is the same for blocks of 4 KiB and of 64 KiB, which the
//! cost of a flash cell or of a network is not.

use super::{Cell, Matrix};
use crate::stats;

/// Speeds of disks, revolutions per minute.
const SPEEDS: [u32; 4] = [5400, 7200, 10_000, 15_000];
/// Most revolutions that a write is taken to wait: a write, a flush and a
/// journal block each may cost one.
const REVOLUTIONS_MAX: u32 = 4;
/// How near the wait must be to whole revolutions. Drives keep their speed
/// within 0.5 %; the rest is for the host's part of a write.
const NEAR: f64 = 0.025;
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
    pub(crate) others: Vec<(u32, u32)>,
}

impl Revolution {
    /// One revolution at this speed, nanoseconds.
    pub(crate) fn ns(rpm: u32) -> f64 {
        60e9 / f64::from(rpm)
    }

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
        let mut sizes: Vec<u64> = alike.iter().map(|cell| cell.block_size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let enough = alike.len() >= CELLS_MIN
            && sizes.len() >= SIZES_MIN
            && alike.len() as f64 >= ALIKE_SHARE * cells.len() as f64;
        let mut fits = whole(wait_ns).into_iter();
        let (rpm, revolutions) = fits.next().filter(|_| enough)?;
        Some(Self {
            rpm,
            revolutions,
            wait_ns,
            agree: (alike.len(), cells.len()),
            others: fits.collect(),
        })
    }
}

/// The speeds and numbers of revolutions that are this near to a wait, fewest
/// revolutions first.
fn whole(wait_ns: f64) -> Vec<(u32, u32)> {
    let mut fits = Vec::new();
    for revolutions in 1..=REVOLUTIONS_MAX {
        for rpm in SPEEDS {
            let exact = f64::from(revolutions) * Revolution::ns(rpm);
            if (wait_ns / exact - 1.0).abs() <= NEAR {
                fits.push((rpm, revolutions));
            }
        }
    }
    fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_named_by_the_fewest_revolutions_that_fit() {
        assert_eq!(whole(8.31e6), [(7200, 1)]);
        assert_eq!(whole(16.7e6), [(7200, 2)]);
        // Two at 10 000 or three at 15 000 rpm.
        assert_eq!(whole(12.0e6), [(10_000, 2), (15_000, 3)]);
        assert_eq!(whole(11.1e6), [(5400, 1)]);
        assert_eq!(whole(9.5e6), []);
        assert_eq!(whole(0.1e6), []);
        assert_eq!(whole(f64::NAN), []);
    }
}
