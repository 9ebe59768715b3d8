//! Two programs of one document whose figures seem to differ, and do not once
//! they have the same unit.
//!
//! `MB` is 10^6 bytes in some programs and 2^20 in others, 4.9 % more. Where two
//! of them did the same at the same places, their figures in bytes per second
//! tell whether the programs agree.

use super::{Part, Shared};
use crate::places::{self, Place, Streaming};
use crate::rules::{Context, names};
use crate::stats;
use crate::words::{lines, percent};
use diskfacts_plan::Operation;
use diskfacts_plan::units::three_digits;
use diskfacts_record::{Confidence, Finding, Severity};

pub(super) const NAME: &str = "one-unit";

/// Most that both figures of a place may be apart, in bytes per second: less than
/// the units are, and as much as repeats of a program are.
const AGREE: f64 = 0.03;
/// Fewest places that both have: one may agree by chance.
const PAIRS_MIN: usize = 2;

/// What a program's `MB` is.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Unit {
    program: &'static str,
    bytes: f64,
    said: &'static str,
}

const DECIMAL: (f64, &str) = (1e6, "10^6");
const BINARY: (f64, &str) = (1_048_576.0, "2^20");

/// Of the formats that print `MB/s`.
fn unit(context: &Context<'_>) -> Option<Unit> {
    let source = context.run.run.source.as_ref()?;
    let (program, (bytes, said)) = match source.format.as_str() {
        "dd" => ("dd", DECIMAL),
        "stride" => ("the strided lines", BINARY),
        "hdparm" => ("hdparm", BINARY),
        _ => return None,
    };
    Some(Unit {
        program,
        bytes,
        said,
    })
}

/// What both did.
struct Pair<'a> {
    place: Place<'a>,
    operation: Operation,
    /// Bytes per second of each, and the lines of the document.
    rates: [f64; 2],
    lines: [Vec<u64>; 2],
}

impl Pair<'_> {
    fn apart(&self) -> f64 {
        (self.rates[0] / self.rates[1]).max(self.rates[1] / self.rates[0]) - 1.0
    }
}

pub(super) fn programs_of_two_units(part: &Part<'_, '_>) -> Vec<Shared> {
    // Each pair once.
    let later = part.others().filter(|(place, _)| *place > part.place);
    let found = later.filter_map(|(place, other)| {
        let (a, b) = (unit(part.run)?, unit(other)?);
        let (of_one, of_other) = (places::streaming(part.run), places::streaming(other));
        let pairs = pairs(&of_one, &of_other);
        let agree = pairs.iter().all(|pair| pair.apart() <= AGREE);
        let shown = a.said != b.said && pairs.len() >= PAIRS_MIN && agree;
        let stages = of_one.iter().chain(&of_other).map(|each| each.stage);
        shown.then(|| (finding([a, b], &pairs, names(stages)), vec![place]))
    });
    found.collect()
}

/// The places where both did the same, by the words of the first.
fn pairs<'a>(one: &[Streaming<'a>], other: &[Streaming<'a>]) -> Vec<Pair<'a>> {
    let mut pairs: Vec<Pair<'a>> = Vec::new();
    for each in one {
        let done = |pair: &Pair<'_>| pair.place == each.place && pair.operation == each.operation;
        if pairs.iter().any(done) {
            continue;
        }
        // What the first tells apart by its path is not the place without one.
        let better = |place: &Place<'_>| {
            let mut known = one.iter().map(|known| known.place);
            each.place.path.is_none() && known.any(|p| p.path.is_some() && p.may_be(place))
        };
        let mine = one
            .iter()
            .filter(|s| s.place == each.place && s.operation == each.operation);
        let theirs = other.iter().filter(|s| {
            s.operation == each.operation && s.place.may_be(&each.place) && !better(&s.place)
        });
        let (Some(a), Some(b)) = (together(mine), together(theirs)) else {
            continue;
        };
        pairs.push(Pair {
            place: each.place,
            operation: each.operation,
            rates: [a.0, b.0],
            lines: [a.1, b.1],
        });
    }
    pairs
}

/// The median of some rates, and all their lines.
fn together<'s, 'a: 's>(of: impl Iterator<Item = &'s Streaming<'a>>) -> Option<(f64, Vec<u64>)> {
    let (mut rates, mut lines) = (Vec::new(), Vec::new());
    for each in of {
        rates.push(each.rate);
        lines.extend_from_slice(&each.lines);
    }
    Some((stats::median(&rates)?, lines))
}

fn finding([a, b]: [Unit; 2], pairs: &[Pair<'_>], stages: Vec<String>) -> Finding {
    let furthest = pairs.iter().map(Pair::apart).fold(0.0, f64::max);
    let units = (a.bytes / b.bytes).max(b.bytes / a.bytes);
    let (large, small) = if a.bytes > b.bytes { (a, b) } else { (b, a) };
    let evidence = pairs.iter().map(|pair| {
        let what = match pair.operation {
            Operation::Write => "Writing",
            _ => "Reading",
        };
        let one = |unit: Unit, i: usize| {
            format!(
                "{}: {} MB/s ({})",
                unit.program,
                three_digits(pair.rates[i] / unit.bytes),
                lines(&pair.lines[i])
            )
        };
        let in_one = |i: usize| three_digits(pair.rates[i] / 1e6);
        format!(
            "{what} in order, {}: {}, {}; in 10^6 bytes per second {} and {}, {} apart.",
            pair.place,
            one(a, 0),
            one(b, 1),
            in_one(0),
            in_one(1),
            percent(pair.apart())
        )
    });
    Finding {
        rule: NAME.into(),
        severity: Severity::Note,
        claim: format!(
            "{} and {} agree within {} once their figures have one unit; as printed they differ by \
             {} more, because MB of {} are {} bytes and those of {} {}.",
            capital(a.program),
            b.program,
            percent(furthest),
            percent(units - 1.0),
            large.program,
            large.said,
            small.program,
            small.said
        ),
        evidence: evidence.collect(),
        confidence: Confidence::Likely,
        refuted_by: format!(
            "A place that both read or wrote in order, with rates more than {} apart in bytes per \
             second.",
            percent(AGREE)
        ),
        remedy: format!(
            "Compare bytes per second, as the figures of both runs are here: MB/s of {} times \
             {:.6} are those of {}.",
            large.program, units, small.program
        ),
        stages,
    }
}

fn capital(text: &str) -> String {
    // `dd` and `hdparm` are names of programs, and stay as they are.
    match text.strip_prefix("the ") {
        Some(rest) => format!("The {rest}"),
        None => text.to_owned(),
    }
}
