//! What the size of the read-ahead does to reading in order, alone and beside others.
//!
//! Stages are compared that differ in the size of the read-ahead and in nothing else.
//! A size is large enough where no larger one gives much more.

use super::{Context, names};
use crate::advise::{Dimension, Measured, Ratio, intervals};
use crate::stages::Stage;
use crate::words::{lines, list, percent, ratio};
use diskfacts_plan::units::{parse_size, rate_digits};
use diskfacts_plan::{Stop, Workload};
use diskfacts_record::{Confidence, Finding, Severity};
use std::collections::BTreeMap;

pub(super) const NAME: &str = "read-ahead-size";

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
}

impl Series<'_, '_> {
    fn best(&self) -> &Sized<'_, '_> {
        let all = self.sizes.iter();
        let best = all.max_by(|a, b| a.measured.value.total_cmp(&b.measured.value));
        best.expect("a series has two sizes")
    }

    /// What the best gives over the smallest.
    fn gain(&self) -> Ratio {
        Ratio::of(&self.best().measured, &self.sizes[0].measured)
    }

    /// The smallest size from which on no larger one gives a tenth more than the one
    /// before it.
    fn enough(&self) -> &Sized<'_, '_> {
        let mut enough = self.sizes.len() - 1;
        while enough > 0 {
            let [before, this] = [enough - 1, enough].map(|i| self.sizes[i].measured.value);
            if this > before * (1.0 + GAIN) {
                break;
            }
            enough -= 1;
        }
        &self.sizes[enough]
    }

    fn sentence(&self) -> String {
        let first = &self.sizes[0];
        let other = first.stage.settings.iter().filter(|(key, _)| {
            !is_size(key) && !["beside", "target", "bs"].contains(&key.as_str())
        });
        let other: Vec<String> = other.map(|(key, value)| format!("{key}={value}")).collect();
        let rates: Vec<String> = self
            .sizes
            .iter()
            .map(|s| format!("{} {}", s.said, rate_digits(s.measured.value / 1e6)))
            .collect();
        let trials = self.sizes.iter().flat_map(|sized| &sized.stage.trials);
        let numbers: Vec<u64> = trials.filter_map(|trial| trial.line).collect();
        let of_lines = match (numbers.iter().min(), numbers.iter().max()) {
            (Some(first), Some(last)) => format!(", between {}", lines(&[*first, *last])),
            _ => String::new(),
        };
        let others = if other.is_empty() {
            String::new()
        } else {
            format!(" ({})", other.join(", "))
        };
        let gain = if std::ptr::eq(self.best(), first) {
            let last = self.sizes.last().unwrap_or(first);
            format!(
                "none does more than {}, and {} over it is {}",
                first.said,
                last.said,
                Ratio::of(&last.measured, &first.measured).said()
            )
        } else {
            format!(
                "{} over {} is {}",
                self.best().said,
                first.said,
                self.gain().said()
            )
        };
        format!(
            "{}{others}: {} MB/s; {gain}{of_lines}.",
            self.dimension.name(),
            list(&rates),
        )
    }
}

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let all = series(context);
    let matter: Vec<&Series<'_, '_>> = all.iter().filter(|s| s.gain().low >= TIMES).collect();
    if matter.is_empty() {
        return Vec::new();
    }
    let mut claims = Vec::new();
    for (dimension, what) in [
        (Dimension::SequentialRead, "a reader alone"),
        (Dimension::SharedRead, "one beside another"),
    ] {
        let of = matter.iter().filter(|s| s.dimension == dimension);
        let most = of.max_by(|a, b| a.gain().value.total_cmp(&b.gain().value));
        claims.extend(most.map(|series| {
            format!(
                "{what} gets up to {} times as much ({} over {})",
                ratio(series.gain().value),
                series.best().said,
                series.sizes[0].said
            )
        }));
    }
    let stages = matter
        .iter()
        .flat_map(|s| &s.sizes)
        .map(|sized| sized.stage.name);
    let mut evidence: Vec<String> = matter.iter().map(|series| series.sentence()).collect();
    // Where the size does nothing or harm, that is a part of the effect.
    let others = all.iter().filter(|series| series.gain().low < TIMES);
    let others: Vec<String> = others.map(Series::sentence).collect();
    evidence.extend(others);
    vec![Finding {
        rule: NAME.into(),
        severity: Severity::Note,
        headline: "the size of the read-ahead decides the rate".into(),
        claim: format!("The size of the read-ahead decides: {}.", claims.join(", ")),
        evidence,
        confidence: Confidence::Likely,
        refuted_by: "Trials with the small size that come up to those with the large one.".into(),
        remedy: enough(&matter).map_or_else(
            || "Take the largest size that was measured, and measure larger ones.".to_owned(),
            |said| {
                format!(
                    "{said} Set it on every device of the stack (`blockdev --setra`, in units of \
                     512 bytes)."
                )
            },
        ),
        stages: names(stages),
    }]
}

/// The size that is enough, for each way of reading: the largest that any of the
/// series asks for.
fn enough(matter: &[&Series<'_, '_>]) -> Option<String> {
    let mut said = Vec::new();
    for (dimension, what) in [
        (Dimension::SequentialRead, "for a reader alone"),
        (Dimension::SharedRead, "for readers beside each other"),
    ] {
        let of = matter.iter().filter(|series| series.dimension == dimension);
        let sized = of.max_by_key(|series| series.enough().bytes);
        if let Some(series) = sized {
            let enough = series.enough();
            let last = series.sizes.last().map(|sized| sized.bytes);
            said.push(if last == Some(enough.bytes) {
                format!(
                    "{what} the largest that was measured, {}, still gains",
                    enough.said
                )
            } else {
                format!("{what} {} is enough", enough.said)
            });
        }
    }
    (!said.is_empty()).then(|| {
        format!(
            "Where a larger size gives less than {} more, {}.",
            percent(GAIN),
            said.join("; ")
        )
    })
}

/// For another rule: what larger windows gave, in a sentence; `None` where sizes were
/// not measured, or do not matter.
pub(crate) fn best(context: &Context<'_>) -> Option<String> {
    let all = series(context);
    let alone = all
        .iter()
        .filter(|s| s.dimension == Dimension::SequentialRead);
    let most = alone.max_by(|a, b| a.gain().low.total_cmp(&b.gain().low))?;
    (most.gain().low >= TIMES).then(|| format!("Measured with larger ones: {}", most.sentence()))
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

type Same<'a> = (Dimension, Workload, BTreeMap<&'a str, &'a str>);

/// A stage, its size as it is written, and that in bytes.
type Member<'c, 'a> = (&'c Stage<'a>, &'c str, u64);

/// The series of a run.
fn series<'c, 'a>(context: &'c Context<'a>) -> Vec<Series<'c, 'a>> {
    let mut groups: Vec<(Same<'c>, Vec<Member<'c, 'a>>)> = Vec::new();
    for (stage, figures) in context.doing_io() {
        let Some(dimension @ (Dimension::SequentialRead | Dimension::SharedRead)) =
            Dimension::measured_by(stage)
        else {
            continue;
        };
        let Some((key, said)) = stage.settings.iter().find(|(key, _)| is_size(key)) else {
            continue;
        };
        let Some(bytes) = bytes(key, said).filter(|_| figures.errors == 0) else {
            continue;
        };
        let bare = Workload {
            stop: Stop::default(),
            ..stage.workload().clone()
        };
        let others = stage.settings.iter().filter(|(key, _)| !is_size(key));
        let others = others
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        let same = (dimension, bare, others);
        let member = (stage, said.as_str(), bytes);
        match groups.iter_mut().find(|(known, _)| *known == same) {
            Some((_, members)) => members.push(member),
            None => groups.push((same, vec![member])),
        }
    }
    let found = groups.into_iter().map(|((dimension, ..), mut members)| {
        members.sort_by_key(|(.., bytes)| *bytes);
        let rates: Vec<Vec<f64>> = members.iter().map(|(stage, ..)| stage.rates()).collect();
        let measured = intervals(&rates);
        let sizes = members
            .into_iter()
            .zip(measured)
            .filter_map(|((stage, said, bytes), m)| {
                Some(Sized {
                    stage,
                    said,
                    bytes,
                    // What is assumed of single trials shows no effect.
                    measured: m.filter(|measured| !measured.assumed)?,
                })
            });
        Series {
            dimension,
            sizes: sizes.collect(),
        }
    });
    found.filter(|series| series.sizes.len() > 1).collect()
}
