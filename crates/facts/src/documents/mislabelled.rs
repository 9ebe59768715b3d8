//! Lines of a document whose label cannot be right: the same work at the same
//! distances took so many times less in a group of lines than in all others, and
//! the factor is that between two fractions that the document works with.
//!
//! A strided line says which fraction of the blocks was done, and its rates follow
//! from it. A line with the wrong fraction agrees with itself; only what the disk
//! does at that distance elsewhere tells. A page cache makes lines faster too, but
//! not by one factor at every distance.

use crate::rules::prelude::*;
use crate::stats::median_of;
use crate::words::lines;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const RULE: Rule = Rule {
    name: "mislabelled",
    case: "finding",
    needs: &[Document],
    confidence: Confidence::Likely,
    check: Check::Several(check),
    ..Rule::WARNING
};

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

impl<'a> Line<'a> {
    fn of(trial: &'a Trial) -> Option<Self> {
        let Pattern::Stride { skip_blocks, .. } = trial.workload.pattern else {
            return None;
        };
        let usable = trial.iops.is_finite() && trial.iops > 0.0;
        Some(Self {
            number: trial.line?,
            stage: &trial.stage,
            operation: trial.workload.operation,
            block_size: trial.workload.block_size,
            skip_blocks,
            fraction: trial.workload.stop.fraction.filter(|_| usable)?,
            iops: trial.iops,
        })
    }

    /// Bytes per second of what was done, and of what was passed by with it.
    fn rate(&self) -> f64 {
        self.iops * self.block_size as f64
    }

    fn span_rate(&self) -> f64 {
        self.rate() * self.skip_blocks as f64
    }
}

/// A line that is off, and the fraction of the document that would explain it.
#[derive(Debug, Clone, Copy)]
struct Odd<'l, 'a> {
    line: Line<'a>,
    fraction: u64,
    /// All lines at its distance, and their median.
    alike: &'l [Line<'a>],
    usual: f64,
}

impl<'l, 'a> Odd<'l, 'a> {
    /// Those of the lines at one distance.
    fn among(alike: &'l [Line<'a>], fractions: &BTreeSet<u64>) -> Vec<Self> {
        let usual = median_of(alike.iter().map(|line| line.iops));
        let Some(usual) = usual.filter(|_| alike.len() >= AT_A_DISTANCE) else {
            return Vec::new();
        };
        let odd = |line: &Line<'a>| {
            let mut of_fractions = fractions.iter().map(|fraction| Self {
                line: *line,
                fraction: *fraction,
                alike,
                usual,
            });
            of_fractions.find(|odd| odd.times() >= FACTOR_MIN && odd.off() <= NEAR)
        };
        alike.iter().filter_map(odd).collect()
    }

    /// By which its figures are multiplied if it is labelled by its own fraction in place
    /// of the other one.
    fn factor(&self) -> f64 {
        self.fraction as f64 / self.line.fraction as f64
    }

    /// The same as a number above 1.
    fn times(&self) -> f64 {
        self.factor().max(1.0 / self.factor())
    }

    /// How far it is from that, as a share.
    fn off(&self) -> f64 {
        (self.line.iops / self.usual / self.factor() - 1.0).abs()
    }

    fn sentence(&self) -> String {
        let others = self.alike.iter().map(|line| line.number);
        let others = others.filter(|n| *n != self.line.number);
        let Line {
            number,
            block_size,
            skip_blocks,
            fraction,
            iops,
            ..
        } = self.line;
        let [iops, usual, then] = [iops, self.usual, iops / self.factor()].map(three_digits);
        format!(
            "Line {number}: {iops} operations per second at {}; {} have {usual} in the median. \
             With 1/{} in place of 1/{fraction} it is {then}.",
            show_size(skip_blocks.saturating_mul(block_size)),
            lines(others),
            self.fraction
        )
    }
}

fn check(context: &Context<'_>) -> Vec<Found> {
    let all: Vec<Line<'_>> = context.run.trials.iter().filter_map(Line::of).collect();
    let fractions: BTreeSet<u64> = all.iter().map(|line| line.fraction).collect();
    let mut distances: BTreeMap<_, Vec<Line<'_>>> = BTreeMap::new();
    for line in &all {
        let operation = format!("{:?}", line.operation);
        let distance = (line.block_size, line.skip_blocks, operation);
        distances.entry(distance).or_default().push(*line);
    }
    let mut odd: Vec<Odd<'_, '_>> = distances
        .values()
        .flat_map(|alike| Odd::among(alike, &fractions))
        .collect();
    let fractions = |odd: &Odd<'_, '_>| (odd.line.fraction, odd.fraction);
    odd.sort_by_key(|odd| (fractions(odd), odd.line.number));
    let groups = odd.chunk_by(|a, b| fractions(a) == fractions(b));
    let groups = groups.filter(|group| {
        let distances = group.iter().map(|odd| odd.line.skip_blocks);
        distances.collect::<BTreeSet<u64>>().len() >= LINES_MIN
    });
    groups.filter_map(|group| finding(group, &all)).collect()
}

/// Of lines that say one fraction and show another one.
fn finding(group: &[Odd<'_, '_>], all: &[Line<'_>]) -> Option<Found> {
    let said = lines(group.iter().map(|odd| odd.line.number));
    let first = group.first()?;
    let (own, other, factor) = (first.line.fraction, first.fraction, first.factor());
    let direction = if factor > 1.0 { "high" } else { "low" };
    let times = ratio(first.times());
    let mut evidence: Vec<String> = group.iter().take(SHOWN).map(Odd::sentence).collect();
    // In order nothing is passed by: no distance can go by faster.
    let sequential = all
        .iter()
        .filter(|line| line.skip_blocks == 1 && line.operation == first.line.operation)
        .max_by(|a, b| a.rate().total_cmp(&b.rate()));
    let nearest = group.iter().min_by_key(|odd| odd.line.skip_blocks)?.line;
    if let Some(sequential) = sequential.filter(|_| factor > 1.0) {
        evidence.push(format!(
            "At line {} the span would go by with {} MB/s; read in order it does {} (line {}).",
            nearest.number,
            three_digits(nearest.span_rate() / 1e6),
            three_digits(sequential.rate() / 1e6),
            sequential.number
        ));
    }
    evidence.push(format!(
        "All are off by {times} times within {}; memory that served a part of them would not be by \
         one factor at every distance, and each line agrees with itself.",
        percent(group.iter().map(Odd::off).fold(0.0, f64::max))
    ));
    let skips = group.iter().map(|odd| odd.line.skip_blocks.to_string());
    Some(
        RULE.claim(format!(
            "{said} are mislabelled, {times} times too {direction}: their figures are those of \
             1/{other} of the blocks, and they say 1/{own}."
        ))
        .headline(format!(
            "rows are labelled with another stride, {times} times too {direction}"
        ))
        .refuted_by(format!(
            "A repeat with 1/{own} of the blocks and skips of {} that gives these rates.",
            list(skips)
        ))
        .remedy(format!(
            "Divide the rates of {said} by {}, or leave them out.",
            ratio(factor)
        ))
        .stages(names(group.iter().map(|odd| odd.line.stage)))
        .evidence(evidence),
    )
}
