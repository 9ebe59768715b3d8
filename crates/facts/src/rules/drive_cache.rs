//! How much the cache of a drive keeps: the same direct writes take less time
//! when nothing syncs them at the end, because the last of them are then still in
//! the drive.
//!
//! The medium writes at one rate in both, so the time that is missing, times that
//! rate, are the bytes that are not on it yet: `S` bytes at `d` bytes per second
//! without the sync and at `a` with it leave `S (1 - a / d)`. Like is compared with
//! like: of the simulated drive of seed 003, which keeps 9.4 MB, that finds 9.3.

use super::{Context, names, whole_revolutions};
use crate::stats;
use crate::words::{lines, percent};
use crate::write_matrix::{Cell, Matrix};
use diskfacts_plan::units::{show_size, show_throughput};
use diskfacts_plan::write_mode::Variant;
use diskfacts_plan::{SyncMode, WriteMode};
use diskfacts_record::{Confidence, Finding, Run, Severity, TargetKind};

pub(super) const NAME: &str = "drive-cache";

/// Blocks at which the direct writes reach this share of the fastest ones: below,
/// they wait for the host, and the drive writes meanwhile.
const STREAMS: f64 = 0.9;
/// Fewest sizes, and fewest pairs, for a median.
const SIZES_MIN: usize = 4;
const PAIRS_MIN: usize = 6;
/// Confidence of its interval.
const CONFIDENCE: f64 = 0.95;

/// A direct cell without a sync, the same size with one at its end, and the bytes
/// that only the latter has on the medium.
type Pair<'m, 'a> = (&'m Cell<'a>, &'m Cell<'a>, f64);

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let Some(matrix) = Matrix::of(context) else {
        return Vec::new();
    };
    // Elsewhere a sync may take its time for other things than bytes.
    let turns = if context.run.target.kind == TargetKind::Imported {
        whole_revolutions::on_disks(&matrix, 1)
    } else {
        whole_revolutions::of(&matrix, context)
    };
    let Some((total, source)) = turns.and_then(|_| total(context.run, &matrix)) else {
        return Vec::new();
    };
    let (direct, through): (Vec<_>, Vec<_>) = pairs(&matrix, total)
        .into_iter()
        .partition(|(_, synced, _)| synced.mode.variant == Variant::Direct);
    finding(context, total, source, &direct, &through)
        .into_iter()
        .collect()
}

fn pairs<'m, 'a>(matrix: &'m Matrix<'a>, total: u64) -> Vec<Pair<'m, 'a>> {
    let plain: Vec<&Cell<'_>> = matrix
        .of_mode(WriteMode {
            sync: SyncMode::None,
            variant: Variant::Direct,
        })
        .collect();
    let fastest = plain.iter().map(|cell| cell.throughput).fold(0.0, f64::max);
    let mut pairs = Vec::new();
    for cell in plain {
        if cell.throughput < STREAMS * fastest {
            continue;
        }
        let synced = matrix
            .cells
            .iter()
            .filter(|other| other.mode.sync.at_end() && other.block_size == cell.block_size);
        pairs.extend(synced.map(|other| {
            let left = total as f64 * (1.0 - other.throughput / cell.throughput);
            (cell, other, left)
        }));
    }
    pairs
}

fn left(pairs: &[Pair<'_, '_>]) -> Vec<f64> {
    let left: Vec<f64> = pairs.iter().map(|(_, _, left)| *left).collect();
    stats::finite_sorted(&left)
}

/// Megabytes: two digits are all that they are known to.
fn mb(bytes: f64) -> String {
    let decimals = usize::from(bytes < 9.95e6);
    format!("{:.decimals$}", bytes / 1e6)
}

fn finding(
    context: &Context<'_>,
    total: u64,
    source: String,
    direct: &[Pair<'_, '_>],
    through: &[Pair<'_, '_>],
) -> Option<Finding> {
    let mut sizes: Vec<u64> = direct.iter().map(|(cell, _, _)| cell.block_size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let kept = left(direct);
    let enough = sizes.len() >= SIZES_MIN && kept.len() >= PAIRS_MIN;
    let interval = stats::median_interval(kept.len(), CONFIDENCE).filter(|_| enough)?;
    let (low, high) = (kept[interval.lower - 1], kept[interval.upper - 1]);
    let median = stats::median(&kept).filter(|_| low > 0.0)?;
    let most = stats::median(&left(through)).filter(|most| *most > median);
    let rate = |of: &dyn Fn(&Pair<'_, '_>) -> f64| {
        let rates: Vec<f64> = direct.iter().map(of).collect();
        stats::median(&rates).unwrap_or(f64::NAN)
    };
    let unsynced = rate(&|(cell, _, _)| cell.throughput);
    let synced = rate(&|(_, other, _)| other.throughput);
    let numbers = plain_lines(context, &sizes);
    let at = if numbers.is_empty() {
        String::new()
    } else {
        format!(" ({})", lines(&numbers))
    };
    let mut evidence = vec![
        format!(
            "With blocks of {} and more direct writes go at {}{at}, and with one sync at the end \
             at {}: {} less.",
            show_size(sizes[0]),
            show_throughput(unsynced),
            show_throughput(synced),
            percent(1.0 - synced / unsynced)
        ),
        format!(
            "Of {} that is {} MB in the median of {} pairs over {} sizes, {} to {} with 95 % \
             confidence: what the medium writes in the time that the sync adds.",
            show_size(total),
            mb(median),
            kept.len(),
            sizes.len(),
            mb(low),
            mb(high)
        ),
    ];
    evidence.extend(most.map(|most| {
        format!(
            "Beside the ways through the page cache with one sync at the end it is {} MB in the \
             median of {}; what the kernel adds to their time is in it, so it is no less.",
            mb(most),
            through.len()
        )
    }));
    evidence.push(source);
    let upper = most.map_or_else(String::new, |most| format!(" to {}", mb(most)));
    Some(Finding {
        rule: NAME.into(),
        severity: Severity::Note,
        headline: format!("the drive's cache keeps about {}{upper} MB", mb(median)),
        claim: format!(
            "The drive's cache keeps about {}{upper} MB: so much of direct writes is not on the \
             medium when the last of them comes back.",
            mb(median)
        ),
        evidence,
        confidence: Confidence::Possible,
        refuted_by: "The same difference with the drive's write cache switched off, or one that \
                     grows with the bytes that are written."
            .into(),
        remedy:
            "Sync at the end what is measured, or write many times as much: else so many bytes \
                 are counted that a power cut would lose."
                .into(),
        stages: names(direct.iter().flat_map(|(a, b, _)| [a.stage, b.stage])),
    })
}

/// The lines of a document with the direct writes without a sync.
fn plain_lines(context: &Context<'_>, sizes: &[u64]) -> Vec<u64> {
    let plain = context.each().filter(|(stage, _)| {
        let workload = stage.workload();
        let mode = WriteMode::of(workload);
        let direct =
            |mode: WriteMode| mode.sync == SyncMode::None && mode.variant == Variant::Direct;
        mode.is_some_and(direct) && sizes.contains(&workload.block_size)
    });
    plain.flat_map(|(stage, _)| stage.lines()).collect()
}

/// The bytes that each cell wrote, and how it is known.
fn total(run: &Run, matrix: &Matrix<'_>) -> Option<(u64, String)> {
    let streams = |mode: WriteMode| !mode.sync.each_write();
    let mut known: Vec<u64> = run
        .trials
        .iter()
        .filter(|trial| WriteMode::of(&trial.workload).is_some_and(streams))
        .map(|trial| trial.bytes)
        .collect();
    known.sort_unstable();
    known.dedup();
    match known.as_slice() {
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
    let streaming = || {
        matrix
            .cells
            .iter()
            .filter(|cell| !cell.mode.sync.each_write())
    };
    let bytes = (20..=34).map(|power| 1_u64 << power).find_map(|bytes| {
        let times = streaming().map(|cell| {
            let ms = bytes as f64 / cell.throughput * 1e3;
            (ms, ms * HALF_DIGIT / cell.throughput)
        });
        let sharp: Vec<(f64, f64)> = times.filter(|(_, rounding)| *rounding <= SHARP).collect();
        let whole = |(ms, rounding): &(f64, f64)| (ms - ms.round()).abs() <= rounding * 1.01;
        (sharp.len() >= SHARP_MIN && sharp.iter().all(whole)).then_some((bytes, sharp.len()))
    });
    bytes.map(|(bytes, cells)| {
        let said = format!(
            "The rates of the {cells} fastest cells are {} in whole milliseconds, to the printed \
             digit, and of no smaller power of two.",
            show_size(bytes)
        );
        (bytes, said)
    })
}
