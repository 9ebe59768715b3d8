//! How much the cache of a drive keeps: the same direct writes take less time
//! when nothing syncs them at the end, because the last of them are then still in
//! the drive.
//!
//! The medium writes at one rate in both, so the time that is missing, times that
//! rate, are the bytes that are not on it yet: `S` bytes at `d` bytes per second
//! without the sync and at `a` with it leave `S (1 - a / d)`. It is less than the
//! cache holds by what arrives before the drive begins to write.

use super::{Context, names, whole_revolutions};
use crate::stats;
use crate::words::{lines, of_document, percent};
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

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let Some(matrix) = Matrix::of(context) else {
        return Vec::new();
    };
    // Elsewhere a sync may take its time for other things than bytes.
    let turns = if context.run.target.kind == TargetKind::Imported {
        whole_revolutions::on_disks(&matrix, 1)
    } else {
        whole_revolutions::of(&matrix, &context.run.stack)
    };
    let Some((total, source)) = turns.and_then(|_| total(context.run, &matrix)) else {
        return Vec::new();
    };
    let plain: Vec<&Cell<'_>> = matrix
        .of_mode(WriteMode {
            sync: SyncMode::None,
            variant: Variant::Direct,
        })
        .collect();
    let fastest = plain.iter().map(|cell| cell.throughput).fold(0.0, f64::max);
    let mut pairs: Vec<(&Cell<'_>, &Cell<'_>, f64)> = Vec::new();
    for cell in plain
        .iter()
        .filter(|cell| cell.throughput >= STREAMS * fastest)
    {
        let synced = matrix
            .cells
            .iter()
            .filter(|other| other.mode.sync.at_end() && other.block_size == cell.block_size);
        for other in synced {
            let left = total as f64 * (1.0 - other.throughput / cell.throughput);
            pairs.push((cell, other, left));
        }
    }
    let mut sizes: Vec<u64> = pairs.iter().map(|(cell, _, _)| cell.block_size).collect();
    sizes.dedup();
    let left = stats::finite_sorted(&pairs.iter().map(|(_, _, left)| *left).collect::<Vec<_>>());
    let enough = sizes.len() >= SIZES_MIN && left.len() >= PAIRS_MIN;
    let interval = stats::median_interval(left.len(), CONFIDENCE).filter(|_| enough);
    let (Some(median), Some(interval)) = (stats::median(&left), interval) else {
        return Vec::new();
    };
    let (low, high) = (left[interval.lower - 1], left[interval.upper - 1]);
    if low <= 0.0 {
        return Vec::new();
    }
    // Two digits are all that it is known to.
    let mb = |bytes: f64| {
        let decimals = usize::from(bytes < 9.95e6);
        format!("{:.decimals$}", bytes / 1e6)
    };
    let middle = [left[left.len() / 4], left[left.len() - 1 - left.len() / 4]];
    let rate = |of: &dyn Fn(&(&Cell<'_>, &Cell<'_>, f64)) -> f64| {
        let rates: Vec<f64> = pairs.iter().map(of).collect();
        stats::median(&rates).unwrap_or(f64::NAN)
    };
    let (direct, synced) = (
        rate(&|(cell, _, _)| cell.throughput),
        rate(&|(_, other, _)| other.throughput),
    );
    let numbers: Vec<u64> = context
        .each()
        .filter(|(stage, _)| {
            let mode = WriteMode::of(stage.workload());
            let plain = mode
                .is_some_and(|mode| mode.sync == SyncMode::None && mode.variant == Variant::Direct);
            plain && sizes.contains(&stage.workload().block_size)
        })
        .flat_map(|(stage, _)| stage.lines())
        .collect();
    let at = if numbers.is_empty() {
        String::new()
    } else {
        format!(" ({})", lines(&numbers))
    };
    vec![Finding {
        rule: NAME.into(),
        severity: Severity::Note,
        claim: format!(
            "About {} MB of direct writes are still in the drive's cache when they come back \
             ({} to {} MB in the middle half of {} comparisons); it holds that or a little more.",
            mb(median),
            mb(middle[0]),
            mb(middle[1]),
            left.len()
        ),
        evidence: vec![
            format!(
                "With blocks of {} and more direct writes go at {}{at}, and with one sync at the \
                 end at {}: {} less.",
                show_size(sizes[0]),
                show_throughput(direct),
                show_throughput(synced),
                percent(1.0 - synced / direct)
            ),
            format!(
                "Of {} that is {} MB, {} to {} with 95 % confidence, over {} sizes: what the \
                 medium writes in the time that the sync adds.",
                show_size(total),
                mb(median),
                mb(low),
                mb(high),
                sizes.len()
            ),
            source,
            "The cache holds more than this by what arrives before the drive begins to write, \
             and a sync waits for the medium to come round as well."
                .into(),
        ],
        confidence: Confidence::Possible,
        refuted_by: "The same difference with the drive's write cache switched off, or one that \
                     grows with the bytes that are written."
            .into(),
        remedy: of_document(context.run, "write many times as much, or sync at the end")
            .unwrap_or_else(|| {
                "Sync at the end what is measured, or write many times as much: else so many bytes \
                 are counted that a power cut would lose."
                    .into()
            }),
        stages: names(pairs.iter().flat_map(|(a, b, _)| [a.stage, b.stage])),
    }]
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
