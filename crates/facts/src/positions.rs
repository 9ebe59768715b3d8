//! The rate by position: sequential direct stages that differ in nothing but their position.
//!
//! Tracks on the outside of a platter are longer and hold more sectors, and pass
//! under the head in the same time; drives number their sectors from there. So
//! the rate falls from front to back, in steps (Ruemmler and Wilkes, "An
//! introduction to disk drive modeling", IEEE Computer 27(3), 1994).
//!
//! Rates of a sound disk fall from the rim inwards and never rise on the way, so whether a
//! position is a slow spot is told by those inside of it; of the innermost by those before.

use crate::context::Context;
use crate::figures::rate;
use crate::prelude::{join, show_size, show_throughput};
use diskfacts_plan::{CacheMode, Pattern, Stop, Workload};

/// Least rank correlation between position and rate of rates that follow the position.
pub(crate) const CORRELATION: f64 = 0.85;
/// Rates within this share of each other belong to one zone.
const ONE_ZONE: f64 = 0.03;

/// Slower than this share of the neighbours' rate. From one position to the next
/// the zones of a disk differ by some per cent, and all of them by half.
const SLOW: f64 = 0.7;
/// Neighbours that are looked at. The second fastest of them counts, so that one
/// that a cache served makes no other slow.
const NEIGHBOURS: usize = 6;
/// At most this share of the positions is slow: more is noise.
const SPOTS_MAX: f64 = 0.25;

/// The rate at one position.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Position {
    /// Its first byte of the target, and the one behind its last.
    pub(crate) offset: u64,
    pub(crate) end: u64,
    /// Bytes per second.
    pub(crate) rate: f64,
    pub(crate) trials: usize,
}

/// The positions of a stage, rising, each a place of its own.
#[derive(Debug)]
pub(crate) struct Positions<'a> {
    pub(crate) stage: &'a str,
    /// Those without the slow spots.
    pub(crate) usual: Vec<Position>,
    /// Those that are much slower than their neighbours.
    pub(crate) slow: Vec<Position>,
}

/// The positions of each stage of a run.
pub(crate) fn positions<'a>(context: &'a Context<'_>) -> Vec<Positions<'a>> {
    let series = series(context).into_iter();
    let each = series.filter_map(|((stage, _), mut positions)| {
        positions.sort_by_key(|position| position.offset);
        let apart = positions.windows(2).all(|p| p[0].offset != p[1].offset);
        apart.then(|| {
            let (usual, slow) = part(&positions);
            Positions { stage, usual, slow }
        })
    });
    each.collect()
}

/// Those of each stage that differ in nothing else.
fn series<'a>(context: &'a Context<'_>) -> Vec<((&'a str, Workload), Vec<Position>)> {
    let mut series = Vec::new();
    for (stage, figures) in context.doing_io() {
        let workload = stage.workload();
        let usable = stage.trials.iter().all(|t| t.evidence.engine.direct)
            && workload.pattern == Pattern::Sequential
            && workload.cache == CacheMode::Direct
            && workload.streams == 1
            && workload.rate.is_none();
        let Some(rate) = rate(figures).filter(|_| usable) else {
            continue;
        };
        let anywhere = Workload {
            offset: 0,
            span: None,
            offset_share: None,
            span_share: None,
            stop: Stop::default(),
            ..workload.clone()
        };
        let position = Position {
            offset: workload.offset,
            end: workload.offset.saturating_add(workload.span.unwrap_or(0)),
            rate,
            trials: stage.trials.len(),
        };
        join(&mut series, (stage.name, anywhere), position);
    }
    series
}

/// The usual positions and those that are slow spots, both in order.
fn part(positions: &[Position]) -> (Vec<Position>, Vec<Position>) {
    let mut inwards = positions.to_vec();
    // Where the back is the fast end, its neighbours are before it.
    let turned = rank_correlation(positions) > CORRELATION.midpoint(0.0);
    if turned {
        inwards.reverse();
    }
    let slow: Vec<u64> = (0..inwards.len())
        .filter(|i| inwards[*i].rate < SLOW * beside(&inwards, *i))
        .map(|i| inwards[i].offset)
        .collect();
    if slow.len() as f64 > SPOTS_MAX * positions.len() as f64 {
        return (positions.to_vec(), Vec::new());
    }
    let is_slow = |position: &Position| slow.contains(&position.offset);
    positions.iter().partition(|position| !is_slow(position))
}

/// The rate that the position at `i` should have at least, 0 where too few others
/// tell it.
fn beside(inwards: &[Position], i: usize) -> f64 {
    let inside = inwards[i + 1..].iter().take(NEIGHBOURS);
    let mut rates: Vec<f64> = inside.map(|position| position.rate).collect();
    if rates.len() < 2 {
        // Zones fall by little over so few positions.
        let outside = inwards[..i].iter().rev().take(2);
        rates = outside.map(|position| position.rate).collect();
    }
    rates.sort_by(f64::total_cmp);
    let second = rates.len().checked_sub(2).and_then(|at| rates.get(at));
    second.copied().unwrap_or(0.0)
}

/// The zones, positions one after the other that are about as fast as the first of them: where each
/// lies, and its rate, a sentence.
pub(crate) fn zones(positions: &[Position]) -> Vec<String> {
    let mut zones = Vec::new();
    let mut rest = positions;
    while let Some(first) = rest.first() {
        let alike = |position: &&Position| (position.rate / first.rate - 1.0).abs() <= ONE_ZONE;
        let zone;
        (zone, rest) = rest.split_at(rest.iter().take_while(alike).count());
        let rate = zone.iter().map(|position| position.rate).sum::<f64>() / zone.len() as f64;
        let end = zone.last().map_or(first.end, |last| last.end);
        let [from, to] = [first.offset, end].map(show_size);
        zones.push(format!("{from} to {to}: {}.", show_throughput(rate)));
    }
    zones
}

/// Spearman's rank correlation of position and rate, in -1 to 1; equal rates
/// share the mean of their ranks.
pub(crate) fn rank_correlation(positions: &[Position]) -> f64 {
    let n = positions.len() as f64;
    let rank = |rate: f64| {
        let below = positions.iter().filter(|p| p.rate < rate).count() as f64;
        let equal = positions
            .iter()
            .filter(|p| p.rate.total_cmp(&rate).is_eq())
            .count() as f64;
        below + (equal - 1.0) / 2.0
    };
    let mean = (n - 1.0) / 2.0;
    let (mut both, mut of_rates, mut of_places) = (0.0, 0.0, 0.0);
    for (place, position) in positions.iter().enumerate() {
        let (a, b) = (place as f64 - mean, rank(position.rate) - mean);
        both += a * b;
        of_places += a * a;
        of_rates += b * b;
    }
    if of_rates > 0.0 {
        both / (of_places * of_rates).sqrt()
    } else {
        0.0
    }
}
