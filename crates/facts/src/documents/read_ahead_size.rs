//! What the size of the read-ahead does to reading in order, alone and beside others.
//!
//! Stages are compared that differ in the size of the read-ahead and in nothing else.
//! A size is large enough where no larger one gives much more. Of what was measured the effects of
//! a matrix say it.

use crate::advise::{Dimension, Measured, Ratio, intervals};
use crate::rules::prelude::*;
use crate::words::lines;
use diskfacts_plan::units::parse_size;
use std::collections::BTreeMap;

pub(super) const RULE: Rule = Rule {
    name: "read-ahead-size",
    needs: &[Document],
    check: Check::One(check),
    ..Rule::NOTE
};

/// The names of the setting, and the bytes of a bare number.
const KEYS: [(&str, u64); 3] = [
    ("read_ahead", 1),
    ("read_ahead_kb", 1024),
    ("read-ahead", 1),
];
/// How much more the best size must give than the smallest to be worth a word, at the
/// lower end of the interval.
const TIMES: f64 = 1.1;
/// A larger size that gives less than this share more is not worth its memory.
const GAIN: f64 = 0.1;

/// A size and what was measured with it.
struct Sized<'c, 'a> {
    stage: &'c Stage<'a>,
    /// As it is written: `1024K`, `default`.
    said: &'c str,
    /// Bytes; 0 for what is not said, as `default`, which stands before all.
    bytes: u64,
    measured: Measured,
}

/// Stages that differ in the size of the read-ahead only, the smallest first.
struct Series<'c, 'a> {
    dimension: Dimension,
    sizes: Vec<Sized<'c, 'a>>,
    /// The place of the best among them.
    best: usize,
    /// What the best gives over the smallest.
    gain: Ratio,
}

impl<'c, 'a> Series<'c, 'a> {
    /// `None` of less than two sizes.
    fn of(dimension: Dimension, sizes: Vec<Sized<'c, 'a>>) -> Option<Self> {
        let rate = |i: &usize| sizes[*i].measured.value;
        let best = (0..sizes.len()).max_by(|a, b| rate(a).total_cmp(&rate(b)))?;
        let gain = Ratio::of(&sizes[best].measured, &sizes[0].measured);
        (sizes.len() > 1).then_some(Self {
            dimension,
            sizes,
            best,
            gain,
        })
    }

    fn matters(&self) -> bool {
        self.gain.low >= TIMES
    }

    /// The smallest size from which on no larger one gives a tenth more than the one
    /// before it.
    fn enough(&self) -> &Sized<'_, '_> {
        let gains =
            |pair: &[Sized<'_, '_>]| pair[1].measured.value > pair[0].measured.value * (1.0 + GAIN);
        let last = self.sizes.windows(2).rposition(gains);
        &self.sizes[last.map_or(0, |before| before + 1)]
    }

    fn sentence(&self) -> String {
        let (first, last) = (&self.sizes[0], &self.sizes[self.sizes.len() - 1]);
        let other = first.stage.settings.iter().filter(|(key, _)| {
            !is_size(key) && !["beside", "target", "bs"].contains(&key.as_str())
        });
        let other: Vec<String> = other.map(|(key, value)| format!("{key}={value}")).collect();
        let others = if_any(other.join(", "), |other| format!(" ({other})")).unwrap_or_default();
        let rates = self.sizes.iter().map(|s| {
            let rate = rate_digits(s.measured.value / 1e6);
            format!("{} {rate}", s.said)
        });
        let rates = list(rates);
        let numbers = || self.sizes.iter().flat_map(|sized| sized.stage.lines());
        let ends = numbers().min().zip(numbers().max());
        let of_lines = ends.map_or_else(String::new, |(first, last)| {
            format!(", between {}", lines([first, last]))
        });
        let gain = if self.best == 0 {
            format!(
                "none does more than {}, and {} over it is {}",
                first.said,
                last.said,
                Ratio::of(&last.measured, &first.measured).said()
            )
        } else {
            let best = self.sizes[self.best].said;
            format!("{best} over {} is {}", first.said, self.gain.said())
        };
        let name = self.dimension.name();
        format!("{name}{others}: {rates} MB/s; {gain}{of_lines}.")
    }
}

fn check(context: &Context<'_>) -> Option<Found> {
    // Where the size does nothing or harms, that is a part of the effect.
    let (matter, others): (Vec<_>, Vec<_>) = series(context).into_iter().partition(Series::matters);
    if matter.is_empty() {
        return None;
    }
    let of = |dimension| matter.iter().filter(move |s| s.dimension == dimension);
    let claims = [
        (Dimension::SequentialRead, "a reader alone"),
        (Dimension::SharedRead, "one beside another"),
    ];
    let claims = claims.into_iter().filter_map(|(dimension, what)| {
        let most = of(dimension).max_by(|a, b| a.gain.value.total_cmp(&b.gain.value))?;
        Some(format!(
            "{what} gets up to {} times as much ({} over {})",
            ratio(most.gain.value),
            most.sizes[most.best].said,
            most.sizes[0].said
        ))
    });
    let claims: Vec<String> = claims.collect();
    let sized = matter.iter().flat_map(|s| &s.sizes);
    let stages = names(sized.map(|sized| sized.stage.name));
    let evidence = matter.iter().chain(&others).map(Series::sentence);
    Some(
        RULE.claim(format!(
            "The size of the read-ahead decides: {}.",
            claims.join(", ")
        ))
        .headline("the size of the read-ahead decides the rate")
        .remedy(enough(&matter))
        .stages(stages)
        .evidence(evidence),
    )
}

/// The size that is enough, for each way of reading: the largest that any of the
/// series asks for.
fn enough(matter: &[Series<'_, '_>]) -> String {
    let ways = [
        (Dimension::SequentialRead, "for a reader alone"),
        (Dimension::SharedRead, "for readers beside each other"),
    ];
    let said = ways.into_iter().filter_map(|(dimension, what)| {
        let of = matter.iter().filter(|series| series.dimension == dimension);
        let series = of.max_by_key(|series| series.enough().bytes)?;
        let Sized { said, bytes, .. } = series.enough();
        Some(if series.sizes.last()?.bytes == *bytes {
            format!("{what} the largest that was measured, {said}, still gains")
        } else {
            format!("{what} {said} is enough")
        })
    });
    format!(
        "Where a larger size gives less than {} more, {}. Set it on every device of the stack \
         (`blockdev --setra`, in units of 512 bytes).",
        percent(GAIN),
        said.collect::<Vec<String>>().join("; ")
    )
}

/// For another rule: what larger windows gave, in a sentence; `None` where sizes were
/// not measured, or do not matter.
pub(crate) fn best(context: &Context<'_>) -> Option<String> {
    let all = series(context).into_iter();
    let alone = all.filter(|s| s.dimension == Dimension::SequentialRead);
    let most = alone.max_by(|a, b| a.gain.low.total_cmp(&b.gain.low))?;
    most.matters()
        .then(|| format!("Measured with larger ones: {}", most.sentence()))
}

fn is_size(key: &str) -> bool {
    KEYS.iter().any(|(known, _)| *known == key)
}

/// `1024K`, or `default`, which is 0 here: the document does not say how much it is.
fn bytes(key: &str, value: &str) -> Option<u64> {
    if value == "default" {
        return Some(0);
    }
    let (_, unit) = KEYS.iter().find(|(known, _)| *known == key)?;
    let bare: Option<u64> = value.parse().ok();
    match bare {
        Some(number) => number.checked_mul(*unit),
        None => parse_size(value).ok(),
    }
}

/// The series of a run.
fn series<'c, 'a>(context: &'c Context<'a>) -> Vec<Series<'c, 'a>> {
    let mut groups = Vec::new();
    for (stage, figures) in context.doing_io() {
        let Some(dimension @ (Dimension::SequentialRead | Dimension::SharedRead)) =
            Dimension::measured_by(stage)
        else {
            continue;
        };
        let size = stage.settings.iter().find(|(key, _)| is_size(key));
        let size = size.and_then(|(key, said)| Some((bytes(key, said)?, said.as_str())));
        let Some((bytes, said)) = size.filter(|_| figures.errors == 0) else {
            continue;
        };
        let bare = Workload {
            stop: Stop::default(),
            ..stage.workload().clone()
        };
        let others = stage.settings.iter().filter(|(key, _)| !is_size(key));
        let others: BTreeMap<&String, &String> = others.collect();
        join(&mut groups, (dimension, bare, others), (stage, bytes, said));
    }
    let found = groups
        .into_iter()
        .filter_map(|((dimension, ..), mut members)| {
            members.sort_by_key(|(_, bytes, _)| *bytes);
            let rates: Vec<Vec<f64>> = members.iter().map(|(stage, ..)| stage.rates()).collect();
            let measured = members.into_iter().zip(intervals(&rates));
            // What is assumed of single trials shows no effect.
            let sizes = measured.filter_map(|((stage, bytes, said), measured)| {
                Some(Sized {
                    stage,
                    said,
                    bytes,
                    measured: measured.filter(|measured| !measured.assumed)?,
                })
            });
            Series::of(dimension, sizes.collect())
        });
    found.collect()
}
