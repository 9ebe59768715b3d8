//! What makes a comparison void: the figures are of different things.
//!
//! Another kernel, disk or scheduler is a condition, and may be just what is to
//! be found out. Void is a comparison of other work, of another layer, or of
//! another part of a disk that turns.

use super::cells::{Cell, Pair};
use super::workload;
use crate::share;
use crate::words::{count, percent, ratio};
use diskfacts_plan::units::show_size;
use diskfacts_plan::{CacheMode, Pattern};
use diskfacts_record::{Layers, TargetKind};

/// Shares of bytes from memory that differ by more make another measurement: a
/// tenth from memory is 11 % more speed where memory takes no time.
const LAYER: f64 = 0.1;
/// Parts of a turning disk that have less than this in common are other zones,
/// whose rate differs by up to a factor of two.
const OVERLAP: f64 = 0.5;
/// Arms of a turning disk travel over the span; spans that differ by more than
/// this factor have other seeks.
const SPAN: f64 = 2.0;

/// Why the two cannot be compared, a sentence each.
pub(super) fn reasons(pair: &Pair<'_>) -> Vec<String> {
    // What failed has no figures that could be held against anything.
    if let Some(reason) = by_failure(pair) {
        return vec![reason];
    }
    let mut reasons = Vec::new();
    if !pair.meant {
        for (key, a, b) in workload::unlike(pair.a.first(), pair.b.first()) {
            if let (Some(a), Some(b)) = (a, b) {
                reasons.push(format!("another workload: {key} is {a} in A and {b} in B"));
            }
        }
    }
    reasons.extend(by_layer(pair));
    reasons.extend(by_refusal(pair));
    reasons.extend(by_memory(pair));
    reasons.extend(by_place(pair));
    reasons
}

fn by_failure(pair: &Pair<'_>) -> Option<String> {
    let failed = |cell: &Cell<'_>| (!cell.is_sound()).then(|| cell.trials().count() as u64);
    let trials = |failed: u64| count(failed, "trial");
    let each = match (failed(&pair.a), failed(&pair.b)) {
        (Some(a), Some(b)) => format!("each of {} in A and in each of {b} in B", trials(a)),
        (Some(a), None) => format!("each of {} in A", trials(a)),
        (None, Some(b)) => format!("each of {} in B", trials(b)),
        (None, None) => return None,
    };
    let mut without = [&pair.a, &pair.b]
        .into_iter()
        .filter(|cell| !cell.is_sound());
    let has_failed = without.any(Cell::has_failed);
    let why = if has_failed {
        "operations failed"
    } else {
        "no operation was due"
    };
    Some(format!("no valid trial: {why} in {each}"))
}

/// Who served the bytes of a stage.
pub(super) fn layers(cell: &Cell<'_>) -> Layers {
    share::weighted(cell.trials().map(|t| (&t.layers, t.bytes as f64)))
}

/// Whether it was observed how much came from memory.
pub(super) fn is_known(layers: &Layers) -> bool {
    layers.device.is_some() || layers.unknown < 1.0
}

fn by_layer(pair: &Pair<'_>) -> Option<String> {
    let (a, b) = (layers(&pair.a), layers(&pair.b));
    if !is_known(&a) || !is_known(&b) {
        return None;
    }
    for (what, a, b) in [
        ("the page cache", a.page_cache, b.page_cache),
        ("the drive's cache", a.drive_cache, b.drive_cache),
    ] {
        if (a - b).abs() > LAYER {
            return Some(format!(
                "another layer: {what} served {} of the bytes in A and {} in B",
                percent(a),
                percent(b)
            ));
        }
    }
    None
}

fn refused<'a>(cell: &Cell<'a>) -> Option<&'a str> {
    cell.trials().find_map(|trial| trial.direct_refused())
}

fn by_refusal(pair: &Pair<'_>) -> Option<String> {
    let (side, other, reason) = match (refused(&pair.a), refused(&pair.b)) {
        (Some(reason), None) => ("A", "B", reason),
        (None, Some(reason)) => ("B", "A", reason),
        _ => return None,
    };
    Some(format!(
        "another cache state: direct I/O was done in {other} and refused in {side} ({reason})"
    ))
}

/// Bytes of the target that a stage uses; `None` where that is not known.
pub(super) fn span(cell: &Cell<'_>) -> Option<u64> {
    let workload = cell.workload();
    let left = cell.runs[0]
        .0
        .target
        .size_bytes
        .saturating_sub(workload.offset);
    let span = workload.span.unwrap_or(left);
    (span > 0).then_some(span)
}

/// Through the page cache a file that fits in memory and one that does not are
/// unlike, unless it was seen that as much came from memory.
fn by_memory(pair: &Pair<'_>) -> Option<String> {
    if pair.a.workload().cache == CacheMode::Direct
        || (is_known(&layers(&pair.a)) && is_known(&layers(&pair.b)))
    {
        return None;
    }
    let of = |cell: &Cell<'_>| -> Option<(u64, u64)> {
        Some((span(cell)?, cell.runs[0].0.machine.memory_bytes?))
    };
    let ((span_a, memory_a), (span_b, memory_b)) = (of(&pair.a)?, of(&pair.b)?);
    ((span_a <= memory_a) != (span_b <= memory_b)).then(|| {
        format!(
            "another size against memory: {} with {} of memory in A, {} with {} in B",
            show_size(span_a),
            show_size(memory_a),
            show_size(span_b),
            show_size(memory_b)
        )
    })
}

fn turns(cell: &Cell<'_>) -> bool {
    let mut runs = cell.runs.iter();
    runs.any(|(run, _)| run.stack.leaves().any(|leaf| leaf.rotational == Some(true)))
}

/// Where a device's span lies, as shares of the device.
fn region(cell: &Cell<'_>) -> Option<(f64, f64)> {
    let target = &cell.runs[0].0.target;
    let on_device = matches!(
        target.kind,
        TargetKind::Device | TargetKind::Simulated | TargetKind::Loop
    );
    if !on_device || target.size_bytes == 0 {
        return None;
    }
    let size = target.size_bytes as f64;
    let first = cell.workload().offset as f64;
    Some((first / size, (first + span(cell)? as f64) / size))
}

fn by_place(pair: &Pair<'_>) -> Option<String> {
    if !turns(&pair.a) && !turns(&pair.b) {
        return None;
    }
    if let (Some(a), Some(b)) = (region(&pair.a), region(&pair.b)) {
        let common = (a.1.min(b.1) - a.0.max(b.0)).max(0.0);
        let all = a.1.max(b.1) - a.0.min(b.0);
        if all > 0.0 && common / all < OVERLAP {
            return Some(format!(
                "another part of a disk that turns: from {} to {} of it in A, from {} to {} in B",
                percent(a.0),
                percent(a.1),
                percent(b.0),
                percent(b.1)
            ));
        }
        return None;
    }
    if pair.a.workload().pattern == Pattern::Sequential {
        return None;
    }
    let (a, b) = (span(&pair.a)? as f64, span(&pair.b)? as f64);
    let factor = (a / b).max(b / a);
    (factor > SPAN).then(|| {
        format!(
            "other seeks: the arm travels over {} in A and over {} in B, {} times as far on one \
             side",
            show_size(a as u64),
            show_size(b as u64),
            ratio(factor)
        )
    })
}
