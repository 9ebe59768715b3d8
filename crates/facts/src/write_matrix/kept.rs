//! How much the cache of a drive keeps: the same direct writes take less time
//! when nothing syncs them at the end, because the last of them are then still in
//! the drive.
//!
//! The medium writes at one rate in both, so the time that is missing, times that
//! rate, are the bytes that are not on it yet: `S` bytes at `d` bytes per second
//! without the sync and at `a` with it leave `S (1 - a / d)`. Like is compared with
//! like: of the simulated drive of seed 003, which keeps 9.4 MB, that finds 9.3.

use super::{CONFIDENCE, Cell, Matrix, PLAIN, rising};
use crate::stats::{self, median, median_of};
use crate::words::in_lines;
use crate::words::percent;
use diskfacts_plan::WriteMode;
use diskfacts_plan::units::{show_size, show_throughput};
use diskfacts_plan::write_mode::Variant;
use diskfacts_record::Run;

/// Blocks at which the direct writes reach this share of the fastest ones: below,
/// they wait for the host, and the drive writes meanwhile.
const STREAMS: f64 = 0.9;
/// Fewest sizes, and fewest pairs, for a median.
const SIZES_MIN: usize = 4;
const PAIRS_MIN: usize = 6;

/// A direct cell without a sync, and the same size with one at its end.
type Pair<'m, 'a> = (&'m Cell<'a>, &'m Cell<'a>);

/// The bytes that only writes with a sync at the end have on the medium.
#[derive(Debug)]
pub(crate) struct Kept<'a> {
    /// Beside direct writes with a sync at the end: the median over the pairs, bytes.
    pub(crate) bytes: f64,
    /// Beside those through the page cache, bytes, where it is more.
    pub(crate) most: Option<f64>,
    /// The names of the stages.
    pub(crate) stages: Vec<&'a str>,
    /// The figures and how they follow, a sentence each.
    pub(crate) evidence: Vec<String>,
}

impl<'a> Kept<'a> {
    /// Of the matrix of a run.
    pub(crate) fn of(run: &Run, matrix: &Matrix<'a>) -> Option<Self> {
        let (total, source) = total(run, matrix)?;
        let left = |pairs: &[Pair<'_, '_>]| {
            let pairs = pairs.iter();
            let left = pairs.map(|(plain, synced)| 1.0 - synced.throughput / plain.throughput);
            stats::finite_sorted(&left.map(|share| total as f64 * share).collect::<Vec<f64>>())
        };
        let (direct, through): (Vec<_>, Vec<_>) = pairs(matrix)
            .into_iter()
            .partition(|(_, synced)| synced.mode.variant == Variant::Direct);
        let sizes = rising(direct.iter().map(|(plain, _)| plain.block_size));
        let kept = left(&direct);
        let enough = sizes.len() >= SIZES_MIN && kept.len() >= PAIRS_MIN;
        let interval = stats::median_interval(kept.len(), CONFIDENCE).filter(|_| enough)?;
        let (low, high) = (kept[interval.lower - 1], kept[interval.upper - 1]);
        let bytes = median(&kept).filter(|_| low > 0.0)?;
        let most = median(&left(&through)).filter(|most| *most > bytes);
        let unsynced = median_of(direct.iter().map(|(plain, _)| plain.throughput))?;
        let synced = median_of(direct.iter().map(|(_, synced)| synced.throughput))?;
        let mut evidence = vec![
            format!(
                "With blocks of {} and more direct writes go at {}{}, and with one sync at the end \
                 at {}: {} less.",
                show_size(sizes[0]),
                show_throughput(unsynced),
                in_lines(direct.iter().flat_map(|(plain, _)| &plain.lines)),
                show_throughput(synced),
                percent(1.0 - synced / unsynced)
            ),
            format!(
                "Of {} that is {} MB in the median of {} pairs over {} sizes, {} to {} with 95 % \
                 confidence: what the medium writes in the time that the sync adds.",
                show_size(total),
                mb(bytes),
                kept.len(),
                sizes.len(),
                mb(low),
                mb(high)
            ),
        ];
        evidence.extend(most.map(|most| {
            format!(
                "Beside the ways through the page cache with one sync at the end it is {} MB in \
                 the median of {}; what the kernel adds to their time is in it, so it is no less.",
                mb(most),
                through.len()
            )
        }));
        evidence.push(source);
        Some(Self {
            bytes,
            most,
            stages: direct
                .iter()
                .flat_map(|(a, b)| [a.stage, b.stage])
                .collect(),
            evidence,
        })
    }
}

/// Megabytes: two digits are all that they are known to.
pub(crate) fn mb(bytes: f64) -> String {
    let decimals = usize::from(bytes < 9.95e6);
    format!("{:.decimals$}", bytes / 1e6)
}

fn pairs<'m, 'a>(matrix: &'m Matrix<'a>) -> Vec<Pair<'m, 'a>> {
    let plain = || matrix.of_mode(PLAIN);
    let fastest = plain().map(|cell| cell.throughput).fold(0.0, f64::max);
    let fast = plain().filter(|cell| cell.throughput >= STREAMS * fastest);
    let paired = fast.flat_map(|cell| {
        let at_end = matrix.cells.iter().filter(|other| other.mode.sync.at_end());
        let same = at_end.filter(|other| other.block_size == cell.block_size);
        same.map(move |other| (cell, other))
    });
    paired.collect()
}

/// The bytes that each cell wrote, and how it is known.
fn total(run: &Run, matrix: &Matrix<'_>) -> Option<(u64, String)> {
    let streams = |mode: WriteMode| !mode.sync.each_write();
    let trials = run.trials.iter();
    let known = trials.filter(|trial| WriteMode::of(&trial.workload).is_some_and(streams));
    match rising(known.map(|trial| trial.bytes)).as_slice() {
        [0] => by_rounding(run, matrix),
        // Trials that ended by their time did not write the same.
        [all] => Some((*all, format!("Each trial wrote {}.", show_size(*all)))),
        _ => None,
    }
}

/// Half of the last digit of a rate of the write benchmark, bytes per second.
const HALF_DIGIT: f64 = 0.005 * 1_048_576.0;
/// Rates whose time is known to this part of a millisecond tell whether it is a
/// whole one.
const SHARP: f64 = 0.05;
const SHARP_MIN: usize = 8;

/// The write benchmark takes its time in whole milliseconds, so its rates tell how
/// many bytes they are of: the smallest power of two with which the times of all
/// fast cells are whole.
fn by_rounding(run: &Run, matrix: &Matrix<'_>) -> Option<(u64, String)> {
    let source = run.run.source.as_ref()?;
    if source.format != "write-matrix" {
        return None;
    }
    (20..=34).map(|power| 1_u64 << power).find_map(|bytes| {
        let cells = matrix.cells.iter();
        let streaming = cells.filter(|cell| !cell.mode.sync.each_write());
        let times = streaming.map(|cell| {
            let ms = bytes as f64 / cell.throughput * 1e3;
            (ms, ms * HALF_DIGIT / cell.throughput)
        });
        let sharp: Vec<(f64, f64)> = times.filter(|(_, rounding)| *rounding <= SHARP).collect();
        let whole = |(ms, rounding): &(f64, f64)| (ms - ms.round()).abs() <= rounding * 1.01;
        let said = format!(
            "The rates of the {} fastest cells are {} in whole milliseconds, to the printed digit, \
             and of no smaller power of two.",
            sharp.len(),
            show_size(bytes)
        );
        (sharp.len() >= SHARP_MIN && sharp.iter().all(whole)).then_some((bytes, said))
    })
}
