//! What a sync after each small write adds to its time.

use super::{Cell, Matrix, rising, span_of_sizes};
use crate::stats::median_of;
use crate::words::{duration, ratio};

/// Fewest sizes at which both were measured.
const SIZES_MIN: usize = 3;

/// The small synced cells of a matrix, each with the same size written directly without a
/// sync.
#[derive(Debug)]
pub(crate) struct SyncCost<'m, 'a> {
    pairs: Vec<(&'m Cell<'a>, &'m Cell<'a>)>,
    /// What a write takes with a sync, and without one, medians over the pairs, nanoseconds.
    synced_ns: f64,
    pub(crate) plain_ns: f64,
    /// How many times as long the synced one of a pair takes, in the median.
    pub(crate) times: f64,
}

impl<'m, 'a> SyncCost<'m, 'a> {
    pub(crate) fn of(matrix: &'m Matrix<'a>) -> Option<Self> {
        let synced = matrix.small_synced();
        let paired = synced.filter_map(|cell| Some((cell, matrix.unsynced(cell.block_size)?)));
        let pairs: Vec<(&Cell<'a>, &Cell<'a>)> = paired.collect();
        let each = || pairs.iter().map(|(a, b)| (a.write_ns(), b.write_ns()));
        let cost = Self {
            synced_ns: median_of(each().map(|(synced, _)| synced))?,
            plain_ns: median_of(each().map(|(_, plain)| plain))?,
            times: median_of(each().map(|(synced, plain)| synced / plain))?,
            pairs,
        };
        (rising(cost.sizes()).len() >= SIZES_MIN).then_some(cost)
    }

    /// The block sizes of the pairs, bytes.
    fn sizes(&self) -> impl Iterator<Item = u64> {
        self.pairs.iter().map(|(cell, _)| cell.block_size)
    }

    /// The stages of the pairs.
    pub(crate) fn stages(&self) -> impl Iterator<Item = &'a str> {
        self.pairs.iter().flat_map(|(a, b)| [a.stage, b.stage])
    }

    /// What it costs, a sentence.
    pub(crate) fn said(&self) -> String {
        format!(
            "Direct writes of {} take {} in the median, and {} with a sync: {} times as long.",
            span_of_sizes(self.sizes()),
            duration(self.plain_ns),
            duration(self.synced_ns),
            ratio(self.times)
        )
    }
}
