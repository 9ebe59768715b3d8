//! Which way to write suits a log, a database's pages and bulk data.
//!
//! Only ways that make data durable are candidates: a log needs each write
//! durable, pages and bulk data need it once, at a checkpoint or at the end.
//! Ways are compared at a size and its two neighbours, by the median, so that one
//! odd cell does not decide. Those within 5 % of the fastest are as good; among
//! them the first is taken, or the first that spares the page cache.

use super::{Cell, Matrix, span_of_sizes};
use crate::spread::NOISE;
use crate::stats::median_of;
use crate::words::{count, percent};
use diskfacts_plan::units::show_size;
use diskfacts_plan::write_mode::Variant;

/// A way this near to the fastest is as good.
const AS_GOOD: f64 = 0.95;
/// What a commit writes: one page, mostly.
const LOG_BYTES: u64 = 4 << 10;
/// The page of the databases: 4 KiB to 16 KiB, mostly 8.
const PAGE_BYTES: u64 = 8 << 10;

/// What data needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Durable {
    /// A log takes the first mode that does.
    EachWrite,
    /// What is large need not fill the page cache.
    InTheEnd,
}

/// What was chosen for a use.
#[derive(Debug)]
pub(crate) struct Choice<'m, 'a> {
    /// The way to write, at a size.
    pub(crate) chosen: &'m Cell<'a>,
    /// What was compared at which sizes, the end of a sentence.
    pub(crate) compared: String,
}

impl<'m, 'a> Choice<'m, 'a> {
    /// The choices for a log, for the pages of a database and for bulk data.
    pub(crate) fn of(matrix: &'m Matrix<'a>) -> Option<[Self; 3]> {
        let sizes = matrix.sizes();
        let near = |wanted: u64| {
            let distance = |size: &u64| size.max(&wanted) / size.min(&wanted).max(&1);
            sizes.iter().copied().min_by_key(distance)
        };
        let log = choose(matrix, near(LOG_BYTES)?, Durable::EachWrite)?;
        let pages = choose(matrix, near(PAGE_BYTES)?, Durable::InTheEnd)?;
        Some([log, pages, bulk(matrix)?])
    }
}

/// The best of some modes at a size; of those as good, the first that spares the page cache
/// where that matters, then by the order of the modes.
fn choose<'m, 'a>(
    matrix: &'m Matrix<'a>,
    block_size: u64,
    durable: Durable,
) -> Option<Choice<'m, 'a>> {
    let cells = matrix.cells.iter();
    let candidates: Vec<&Cell<'a>> = cells
        .filter(|cell| cell.block_size == block_size)
        .filter(|cell| match durable {
            Durable::EachWrite => cell.mode.sync.each_write(),
            Durable::InTheEnd => cell.mode.sync.at_end(),
        })
        .collect();
    let sizes = nearest(matrix, block_size);
    let scored: Vec<(f64, &Cell<'a>)> = candidates
        .iter()
        .map(|cell| (score(matrix, &candidates, cell, &sizes), *cell))
        .collect();
    let by_score = |a: &&(f64, &Cell<'a>), b: &&(f64, &Cell<'a>)| a.0.total_cmp(&b.0);
    let &(best, fastest) = scored.iter().max_by(by_score)?;
    let &(worst, slowest) = scored.iter().min_by(by_score)?;
    let good = scored.iter().filter(|(score, _)| *score >= AS_GOOD * best);
    // One whose own figure at this size is an odd one is not shown as the best.
    let usual = median_of(good.clone().map(|(_, cell)| cell.throughput))?;
    let order = |cell: &Cell<'_>| {
        let fills_cache = cell.mode.variant != Variant::Direct;
        (
            durable == Durable::InTheEnd && fills_cache,
            cell.mode.rank(),
        )
    };
    let &(_, chosen) = good
        .clone()
        .filter(|(_, cell)| cell.throughput >= (1.0 - NOISE) * usual)
        .min_by_key(|(_, cell)| order(cell))?;
    let rest = if worst / best >= AS_GOOD {
        ", all within 5 %".to_owned()
    } else {
        let others = match good.count().saturating_sub(1) {
            0 => "no other".to_owned(),
            others => count(others as u64, "other"),
        };
        format!(
            ": {} is the fastest, {} the slowest with {} of its rate; within 5 % of the fastest: \
             {} and {others}",
            fastest.mode,
            slowest.mode,
            percent(worst / best),
            chosen.mode
        )
    };
    let ways = count(candidates.len() as u64, "way");
    let compared = format!(
        "{}: {ways} compared over blocks of {}{rest}.",
        show_size(block_size),
        span_of_sizes(sizes)
    );
    Some(Choice { chosen, compared })
}

/// A size and its two neighbours, as far as there are any.
fn nearest(matrix: &Matrix<'_>, block_size: u64) -> Vec<u64> {
    let sizes = matrix.sizes();
    let place = sizes.partition_point(|size| *size < block_size);
    // At the ends the two on the one side are the neighbours.
    let first = place.saturating_sub(1).min(sizes.len().saturating_sub(3));
    sizes.into_iter().skip(first).take(3).collect()
}

/// The rate of a mode over the best of the candidates' modes: the median over the
/// sizes.
fn score(matrix: &Matrix<'_>, candidates: &[&Cell<'_>], cell: &Cell<'_>, sizes: &[u64]) -> f64 {
    let ratios = sizes.iter().filter_map(|size| {
        let rates = candidates.iter().filter_map(|c| matrix.cell(c.mode, *size));
        let best = rates.map(|c| c.throughput).fold(0.0, f64::max);
        Some(matrix.cell(cell.mode, *size)?.throughput / best)
    });
    median_of(ratios).unwrap_or(0.0)
}

/// The smallest block with which much can be written about as fast as with any;
/// where one odd cell is faster than all that is chosen, the fastest of those.
fn bulk<'m, 'a>(matrix: &'m Matrix<'a>) -> Option<Choice<'m, 'a>> {
    let (_, rate) = matrix.streaming()?;
    let at = |size| choose(matrix, size, Durable::InTheEnd);
    let choices = || matrix.sizes().into_iter().filter_map(at);
    let reached = |choice: &Choice<'_, '_>| choice.chosen.throughput;
    let by_rate = |a: &Choice<'_, '_>, b: &Choice<'_, '_>| reached(a).total_cmp(&reached(b));
    let fast = choices().find(|choice| reached(choice) >= AS_GOOD * rate);
    fast.or_else(|| choices().max_by(by_rate))
}
