//! From tests to an order, and to how sure it is.
//!
//! Rates, operations and latencies have different units, so an option is scored by
//! the weighted geometric mean of its values: the one mean whose order does not
//! depend on which option the values are divided by (Fleming and Wallace, "How not
//! to lie with statistics: the correct way to summarize benchmark results", CACM
//! 29(3), 1986). Of several tests of one dimension each counts the same.
//!
//! The intervals of the values are independent of each other, so that of the score
//! is the root of the sum of their squares, in logarithms. One option is surely
//! before another where their intervals do not overlap; so each has a range of
//! places, from 1 and the number of options surely before it.

use super::dimension::Dimension;
use super::interval::Measured;
use super::options::{Group, Test};
use super::weights::Weights;

/// An option in an order.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// Place of the option among those of the group.
    pub option: usize,
    /// Its score over that of the best: 1 for the best, below for the others.
    pub share: f64,
    /// Where the share lies, from; with respect to the best's score as it is.
    pub low: f64,
    /// And to.
    pub high: f64,
    /// The best place that it may have, from 1.
    pub place_from: usize,
    /// The worst place that it may have.
    pub place_to: usize,
}

/// An order of options.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The dimensions that decide, with their weights.
    pub by: Vec<(Dimension, f64)>,
    /// The dimensions that were to count and were not measured of enough options.
    pub missing: Vec<Dimension>,
    /// The options, the best first.
    pub ranked: Vec<Ranked>,
    /// Options without a place, and what was not measured of them.
    pub unranked: Vec<(usize, Vec<Dimension>)>,
}

/// The order of a group by weights; `None` where nothing that counts was measured of
/// two options.
pub(super) fn by(group: &Group, weights: &Weights) -> Option<Ranking> {
    let mut by = Vec::new();
    let mut missing = Vec::new();
    for (dimension, weight) in &weights.of {
        if group.tests.iter().any(|test| test.dimension == *dimension) {
            by.push((*dimension, *weight));
        } else {
            missing.push(*dimension);
        }
    }
    if by.is_empty() {
        return None;
    }
    let lacks = |option: usize| -> Vec<Dimension> {
        let lacking = by.iter().map(|(dimension, _)| *dimension);
        lacking.filter(|d| !takes_any(group, *d, option)).collect()
    };
    let options = 0..group.options.len();
    let (whole, unranked): (Vec<_>, Vec<_>) = options
        .map(|option| (option, lacks(option)))
        .partition(|(_, lacking)| lacking.is_empty());
    let whole: Vec<usize> = whole.into_iter().map(|(option, _)| option).collect();
    let sum: f64 = by.iter().map(|(_, weight)| weight).sum();
    let mut scored: Vec<(usize, Score)> = whole
        .iter()
        .map(|option| {
            let mut score = Score::default();
            for (dimension, weight) in &by {
                let tests = common(group, *dimension, &whole);
                let each = weight / sum / tests.len() as f64;
                for test in tests {
                    if let Some(measured) = &test.measured[*option] {
                        score.add(measured, each, test.unit.more_is_better());
                    }
                }
            }
            (*option, score)
        })
        .collect();
    // Where no test is common to all, there is no order.
    let comparable = by
        .iter()
        .all(|(d, _)| !common(group, *d, &whole).is_empty());
    if scored.len() < 2 || !comparable {
        return None;
    }
    // The sort is stable: what is equal stays in the order of measuring.
    scored.sort_by(|a, b| b.1.log.total_cmp(&a.1.log));
    Some(Ranking {
        by,
        missing,
        ranked: places(&scored),
        unranked,
    })
}

fn takes_any(group: &Group, dimension: Dimension, option: usize) -> bool {
    let mut tests = group.tests.iter();
    tests.any(|test| test.dimension == dimension && test.measured[option].is_some())
}

/// The tests of a dimension that all of these options took.
fn common<'g>(group: &'g Group, dimension: Dimension, options: &[usize]) -> Vec<&'g Test> {
    let tests = group
        .tests
        .iter()
        .filter(|test| test.dimension == dimension);
    tests
        .filter(|test| options.iter().all(|o| test.measured[*o].is_some()))
        .collect()
}

/// A score in logarithms, and the squares of how far it may be off.
#[derive(Debug, Clone, Copy, Default)]
struct Score {
    log: f64,
    below: f64,
    above: f64,
}

impl Score {
    fn add(&mut self, measured: &Measured, weight: f64, more_is_better: bool) {
        let value = measured.value.ln();
        let (mut below, mut above) = (value - measured.low.ln(), measured.high.ln() - value);
        if !more_is_better {
            std::mem::swap(&mut below, &mut above);
        }
        let sign = if more_is_better { 1.0 } else { -1.0 };
        self.log += sign * weight * value;
        self.below += (weight * below).powi(2);
        self.above += (weight * above).powi(2);
    }

    fn low(&self) -> f64 {
        self.log - self.below.sqrt()
    }

    fn high(&self) -> f64 {
        self.log + self.above.sqrt()
    }

    /// Whether it is better, beyond what both may be off.
    fn is_surely_before(&self, other: &Self) -> bool {
        self.low() > other.high()
    }
}

fn places(scored: &[(usize, Score)]) -> Vec<Ranked> {
    let best = scored.first().map_or(0.0, |(_, score)| score.log);
    let of = |(option, score): &(usize, Score)| {
        let others = || scored.iter().map(|(_, other)| other);
        let before = others()
            .filter(|other| other.is_surely_before(score))
            .count();
        let behind = others()
            .filter(|other| score.is_surely_before(other))
            .count();
        Ranked {
            option: *option,
            share: (score.log - best).exp(),
            low: (score.low() - best).exp(),
            high: (score.high() - best).exp(),
            place_from: before + 1,
            place_to: scored.len() - behind,
        }
    };
    scored.iter().map(of).collect()
}
