//! Positions that are much slower than their neighbours.
//!
//! Rates of a sound disk fall from the rim inwards and never rise on the way, so a
//! position is held against those inside of it; the innermost against those before.

use super::{CORRELATION, Position, RULE, enough, rank_correlation};
use crate::rules::prelude::*;
use crate::words::smartctl;

/// Slower than this share of the neighbours' rate. From one position to the next
/// the zones of a disk differ by some per cent, and all of them by half.
const SLOW: f64 = 0.7;
/// Neighbours that are looked at. The second fastest of them counts, so that one
/// that a cache served makes no other slow.
const NEIGHBOURS: usize = 6;
/// At most this share of the positions is slow: more is noise.
const SPOTS_MAX: f64 = 0.25;

/// The usual positions and those that are slow spots, both in order.
pub(super) fn part(positions: &[Position]) -> (Vec<Position>, Vec<Position>) {
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

pub(super) fn finding(run: &Run, stage: &str, usual: &[Position], slow: &[Position]) -> Found {
    const TOLD: usize = 3;
    let at = |position: &Position| show_size(position.offset);
    let evidence = slow.iter().map(|spot| {
        let distance = |other: &&Position| other.offset.abs_diff(spot.offset);
        let next = usual.iter().min_by_key(distance);
        let next = next.map_or_else(String::new, |next| {
            format!(", {} at {}", show_throughput(next.rate), at(next))
        });
        format!("{}: {}{next}.", at(spot), show_throughput(spot.rate))
    });
    let mut places: Vec<String> = slow.iter().take(TOLD).map(at).collect();
    if slow.len() > TOLD {
        places.push(format!("{} more", slow.len() - TOLD));
    }
    let (is, whose, those) = if slow.len() == 1 {
        ("is", "its", "that")
    } else {
        ("are", "their", "those")
    };
    let of = format!("{} of {} positions", slow.len(), usual.len() + slow.len());
    RULE.claim(format!(
        "{of} {is} much slower than {whose} neighbours: {those} at {}. Zones of a disk are not \
             like this.",
        list(&places)
    ))
    .severity(Severity::Warning)
    .headline(format!("{of} much slower than their neighbours"))
    .confidence(likely_if(enough(slow)))
    .case("slow-spots")
    .remedy(remedy(run))
    .stages(vec![stage.to_owned()])
    .evidence(evidence)
}

fn remedy(run: &Run) -> String {
    if let Some(planted) = planted(run, "[[faults.slow_zone]] or [[faults.weak_sector]]") {
        return format!("{planted}.");
    }
    let disks = smartctl(run.stack.leaves());
    let again = format!(
        "Type `{}` to see whether the same positions are slow again",
        measure(run)
    );
    if disks.is_empty() {
        return format!("{again}.");
    }
    format!(
        "{again}; if so, {disks} for sectors that were replaced or wait to be (reallocated, \
         pending)."
    )
}
