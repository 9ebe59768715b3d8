//! Lines of a document whose label cannot be right: the same work at the same
//! distances took so many times less in a group of lines than in all others, and
//! the factor is that between two fractions that the document works with.
//!
//! A strided line says which fraction of the blocks was done, and its rates follow
//! from it. A line with the wrong fraction agrees with itself; only what the disk
//! does at that distance elsewhere tells. A page cache makes lines faster too, but
//! not by one factor at every distance.

use crate::rules::{Context, names};
use crate::stats;
use crate::words::{lines, list, percent, ratio};
use diskfacts_plan::units::{show_size, three_digits};
use diskfacts_plan::{Operation, Pattern};
use diskfacts_record::{Confidence, Finding, Severity, Trial};
use std::collections::BTreeSet;

pub(super) const NAME: &str = "mislabelled";

/// Fewest lines at one distance, so that an odd one is not the median.
const AT_A_DISTANCE: usize = 3;
/// Fewest lines, at distances of their own, that are off by the same factor.
const LINES_MIN: usize = 3;
/// How near each must be to the factor: repeats and zones of a disk differ by
/// less.
const NEAR: f64 = 0.125;
/// Smallest factor that is one of labels and not of a disk's zones.
const FACTOR_MIN: f64 = 2.0;

/// Most lines that are shown as evidence.
const SHOWN: usize = 8;

/// A strided line.
#[derive(Debug, Clone, Copy)]
struct Line<'a> {
    number: u64,
    stage: &'a str,
    operation: Operation,
    block_size: u64,
    skip_blocks: u64,
    fraction: u64,
    iops: f64,
}

/// A line that is off, the median of all at its distance, and the factor between
/// fractions that is near it.
#[derive(Debug, Clone, Copy)]
struct Odd<'a> {
    line: Line<'a>,
    usual: f64,
    /// Of the others at its distance.
    fraction: u64,
}

impl Odd<'_> {
    /// The other lines at its distance.
    fn others(&self, all: &[Line<'_>]) -> Vec<u64> {
        let alike = all.iter().filter(|other| {
            other.operation == self.line.operation
                && other.block_size == self.line.block_size
                && other.skip_blocks == self.line.skip_blocks
                && other.number != self.line.number
        });
        alike.map(|other| other.number).collect()
    }

    fn times(&self) -> f64 {
        self.line.iops / self.usual
    }

    /// By which its figures are multiplied if it is labelled by its own fraction
    /// in place of the other one.
    fn factor(&self) -> f64 {
        self.fraction as f64 / self.line.fraction as f64
    }
}

pub(super) fn wrong_fractions(context: &Context<'_>) -> Vec<Finding> {
    let all: Vec<Line<'_>> = context.run.trials.iter().filter_map(line).collect();
    let fractions: BTreeSet<u64> = all.iter().map(|line| line.fraction).collect();
    let mut sorted = all.clone();
    let key = |line: &Line<'_>| {
        (
            line.block_size,
            line.skip_blocks,
            format!("{:?}", line.operation),
        )
    };
    sorted.sort_by_cached_key(key);
    let at_a_distance = sorted.chunk_by(|a, b| {
        (a.operation, a.block_size, a.skip_blocks) == (b.operation, b.block_size, b.skip_blocks)
    });
    let mut odd: Vec<Odd<'_>> = at_a_distance
        .flat_map(|alike| odd_at(alike, &fractions))
        .collect();
    odd.sort_by_key(|odd| (odd.line.fraction, odd.fraction, odd.line.number));
    let groups =
        odd.chunk_by(|a, b| (a.line.fraction, a.fraction) == (b.line.fraction, b.fraction));
    groups
        .filter(|group| {
            let mut distances: Vec<u64> = group.iter().map(|odd| odd.line.skip_blocks).collect();
            distances.sort_unstable();
            distances.dedup();
            distances.len() >= LINES_MIN
        })
        .map(|group| finding(group, &all))
        .collect()
}

fn line(trial: &Trial) -> Option<Line<'_>> {
    let Pattern::Stride { skip_blocks, .. } = trial.workload.pattern else {
        return None;
    };
    let usable = trial.iops.is_finite() && trial.iops > 0.0;
    Some(Line {
        number: trial.line?,
        stage: &trial.stage,
        operation: trial.workload.operation,
        block_size: trial.workload.block_size,
        skip_blocks,
        fraction: trial.workload.stop.fraction.filter(|_| usable)?,
        iops: trial.iops,
    })
}

/// The lines at one distance that are off by the factor between their fraction
/// and another one of the document.
fn odd_at<'a>(alike: &[Line<'a>], fractions: &BTreeSet<u64>) -> Vec<Odd<'a>> {
    let rates: Vec<f64> = alike.iter().map(|line| line.iops).collect();
    let Some(usual) = stats::median(&rates).filter(|_| rates.len() >= AT_A_DISTANCE) else {
        return Vec::new();
    };
    let odd = alike.iter().filter_map(|line| {
        let times = line.iops / usual;
        let fraction = fractions.iter().find(|fraction| {
            let factor = **fraction as f64 / line.fraction as f64;
            let large = factor.max(1.0 / factor) >= FACTOR_MIN;
            large && (times / factor - 1.0).abs() <= NEAR
        })?;
        Some(Odd {
            line: *line,
            usual,
            fraction: *fraction,
        })
    });
    odd.collect()
}

fn finding(group: &[Odd<'_>], all: &[Line<'_>]) -> Finding {
    let numbers: Vec<u64> = group.iter().map(|odd| odd.line.number).collect();
    let said = lines(&numbers);
    let (own, other) = (group[0].line.fraction, group[0].fraction);
    let factor = group[0].factor();
    let direction = if factor > 1.0 { "high" } else { "low" };
    let times = ratio(factor.max(1.0 / factor));
    let furthest = group
        .iter()
        .map(|odd| (odd.times() / factor - 1.0).abs())
        .fold(0.0, f64::max);
    let mut evidence: Vec<String> = group
        .iter()
        .take(SHOWN)
        .map(|odd| {
            format!(
                "Line {}: {} operations per second at {}; {} have {} in the median. With 1/{other} \
                 in place of 1/{own} it is {}.",
                odd.line.number,
                three_digits(odd.line.iops),
                show_size(odd.line.skip_blocks.saturating_mul(odd.line.block_size)),
                lines(&odd.others(all)),
                three_digits(odd.usual),
                three_digits(odd.line.iops / factor)
            )
        })
        .collect();
    // In order nothing is passed by: no distance can go by faster.
    let sequential = all
        .iter()
        .filter(|line| line.skip_blocks == 1 && line.operation == group[0].line.operation)
        .max_by(|a, b| (a.iops * a.block_size as f64).total_cmp(&(b.iops * b.block_size as f64)));
    let nearest = group.iter().min_by_key(|odd| odd.line.skip_blocks);
    if let (Some(sequential), Some(nearest), true) = (sequential, nearest, factor > 1.0) {
        let span =
            nearest.line.iops * nearest.line.block_size as f64 * nearest.line.skip_blocks as f64;
        let rate = sequential.iops * sequential.block_size as f64;
        evidence.push(format!(
            "At line {} the span would go by with {} MB/s; read in order it does {} (line {}).",
            nearest.line.number,
            three_digits(span / 1e6),
            three_digits(rate / 1e6),
            sequential.number
        ));
    }
    evidence.push(format!(
        "All are off by {times} times within {}; memory that served a part of them would not be by \
         one factor at every distance, and each line agrees with itself.",
        percent(furthest)
    ));
    let distances: Vec<String> = group
        .iter()
        .map(|odd| odd.line.skip_blocks.to_string())
        .collect();
    Finding {
        rule: NAME.into(),
        severity: Severity::Warning,
        claim: format!(
            "{} are mislabelled, {times} times too {direction}: their figures are those of 1/{other} \
             of the blocks, and they say 1/{own}.",
            capital(&said)
        ),
        evidence,
        confidence: Confidence::Likely,
        refuted_by: format!(
            "A repeat with 1/{own} of the blocks and skips of {} that gives these rates.",
            list(&distances)
        ),
        remedy: format!(
            "Divide the rates of {said} by {}, or leave them out.",
            ratio(factor)
        ),
        stages: names(group.iter().map(|odd| odd.line.stage)),
    }
}

fn capital(text: &str) -> String {
    let (first, rest) = text.split_at(1);
    first.to_uppercase() + rest
}
