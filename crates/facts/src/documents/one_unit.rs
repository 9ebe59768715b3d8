//! Two programs of one document whose figures seem to differ, and do not once they have
//! the same unit.
//!
//! `MB` is 10^6 bytes in some programs and 2^20 in others, 4.9 % more. Where two of them
//! did the same at the same places, their figures in bytes per second tell whether the
//! programs agree.

use super::streams::{Stream, streams};
use crate::places::Place;
use crate::rules::prelude::*;
use crate::rules::{Part, Shared};
use crate::words::lines;

pub(super) const RULE: Rule = Rule {
    name: "one-unit",
    needs: &[Document],
    check: Check::Beside(check),
    ..Rule::NOTE
};

/// Most that both figures of a place may be apart, in bytes per second: less than the
/// units are, and as much as repeats of a program are.
const AGREE: f64 = 0.03;
/// Fewest places that both have: one may agree by chance.
const PAIRS_MIN: usize = 2;

/// What the `MB` of a program is.
struct Unit {
    format: &'static str,
    program: &'static str,
    bytes: f64,
    said: &'static str,
}

const fn unit(format: &'static str, program: &'static str, bytes: f64, said: &'static str) -> Unit {
    Unit {
        format,
        program,
        bytes,
        said,
    }
}

/// The formats that print `MB/s`.
const UNITS: [Unit; 3] = [
    unit("dd", "dd", 1e6, "10^6"),
    unit("stride", "the strided lines", 1_048_576.0, "2^20"),
    unit("hdparm", "hdparm", 1_048_576.0, "2^20"),
];

fn unit_of(context: &Context<'_>) -> Option<&'static Unit> {
    let source = context.run.run.source.as_ref()?;
    UNITS.iter().find(|unit| unit.format == source.format)
}

/// What two programs did of the same, each by its own unit.
type Pair<'a> = [Stream<'a>; 2];

/// How far apart the rates are, as a share.
fn apart([a, b]: &Pair<'_>) -> f64 {
    a.times(b) - 1.0
}

fn check(part: &Part<'_, '_>) -> Vec<Shared> {
    // Each pair of programs once.
    let later = part.others().filter(|(place, _)| *place > part.place);
    let found = later.filter_map(|(place, other)| {
        let units = [unit_of(part.run())?, unit_of(other)?];
        let all = [streams(part.run()), streams(other)];
        let pairs = pairs(&all[0], &all[1]);
        let agree = pairs.iter().all(|pair| apart(pair) <= AGREE);
        let shown = units[0].said != units[1].said && pairs.len() >= PAIRS_MIN && agree;
        let stages = names(all.iter().flatten().flat_map(|s| s.stages.iter().copied()));
        shown.then(|| (finding(units, &pairs, stages), vec![place]))
    });
    found.collect()
}

/// What both did, at the places of the first.
fn pairs<'a>(one: &[Stream<'a>], other: &[Stream<'a>]) -> Vec<Pair<'a>> {
    let pair = |mine: &Stream<'a>| {
        // What the first tells apart by its path is not the place without one.
        let better = |place: &Place<'_>| {
            let mut known = one.iter().map(|stream| stream.place);
            mine.place.path.is_none() && known.any(|p| p.path.is_some() && p.may_be(place))
        };
        let theirs = other.iter().filter(|theirs| {
            theirs.operation == mine.operation
                && theirs.place.may_be(&mine.place)
                && !better(&theirs.place)
        });
        Some([mine.clone(), Stream::sum(theirs)?])
    };
    one.iter().filter_map(pair).collect()
}

fn finding(units: [&Unit; 2], pairs: &[Pair<'_>], stages: Vec<String>) -> Found {
    let [a, b] = units;
    let (large, small) = if a.bytes > b.bytes { (a, b) } else { (b, a) };
    let evidence = pairs.iter().map(|pair| {
        let what = match pair[0].operation {
            Operation::Write => "Writing",
            _ => "Reading",
        };
        let [one, other] = [0, 1].map(|i| {
            let rate = three_digits(pair[i].rate() / units[i].bytes);
            let (program, lines) = (units[i].program, lines(&pair[i].lines));
            format!("{program}: {rate} MB/s ({lines})")
        });
        let [in_one, in_other] = [0, 1].map(|i| three_digits(pair[i].rate() / 1e6));
        format!(
            "{what} in order, {}: {one}, {other}; in 10^6 bytes per second {in_one} and {in_other}, \
             {} apart.",
            pair[0].place,
            percent(apart(pair))
        )
    });
    let [first, second, large_of, small_of] = [a, b, large, small].map(|unit| unit.program);
    let times = large.bytes / small.bytes;
    let most = percent(pairs.iter().map(apart).fold(0.0, f64::max));
    RULE.claim(format!(
        "{first} and {second} agree within {most} once their figures have one unit; as printed \
             they differ by {} more, because MB of {large_of} are {} bytes and those of {small_of} \
             {}.",
        percent(times - 1.0),
        large.said,
        small.said
    ))
    .headline(format!(
        "{first} and {second} agree once their MB are the same"
    ))
    .refuted_by(format!(
        "A place that both read or wrote in order, with rates more than {} apart in bytes per \
             second.",
        percent(AGREE)
    ))
    .remedy(format!(
        "Compare bytes per second, as the figures of both runs are here: MB/s of {large_of} \
             times {times:.6} are those of {small_of}."
    ))
    .stages(stages)
    .evidence(evidence)
}
