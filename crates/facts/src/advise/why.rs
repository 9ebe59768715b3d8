//! What an order means, in sentences.

use super::dimension::{Dimension, Unit};
use super::options::{Group, Test};
use super::rank::{Ranked, Ranking};
use crate::words::{count, list, percent, ratio};
use diskfacts_plan::units::{rate_digits, show_duration};

/// Options that are named before the rest is counted.
const NAMED: usize = 4;

/// A value in the words of its unit: `620.7 MB/s`, `470.4 per second`.
pub fn show(value: f64, unit: Unit) -> String {
    match unit {
        Unit::BytesPerSecond => format!("{} MB/s", rate_digits(value / 1e6)),
        Unit::OperationsPerSecond => format!("{}/s", rate_digits(value)),
        // A nanosecond for a byte is a millisecond for a megabyte.
        Unit::CpuPerByte => format!("{} ms/MB", rate_digits(value)),
        Unit::Nanoseconds | Unit::CpuPerOperation => show_duration(value as u64),
    }
}

fn names(group: &Group, of: &[&Ranked]) -> String {
    let mut names: Vec<String> = of
        .iter()
        .take(NAMED)
        .map(|ranked| group.options[ranked.option].name.clone())
        .collect();
    if of.len() > NAMED {
        names.push(format!("{} more", of.len() - NAMED));
    }
    // Names of several settings have commas of their own.
    if names.iter().any(|name| name.contains(", ")) {
        names.join("; ")
    } else {
        list(&names)
    }
}

/// The options that may have the first place.
pub(crate) fn firsts(ranking: &Ranking) -> Vec<&Ranked> {
    let may = ranking.ranked.iter();
    may.filter(|ranked| ranked.place_from == 1).collect()
}

fn what_counts(by: &[(Dimension, f64)]) -> String {
    let names: Vec<&str> = by.iter().map(|(dimension, _)| dimension.name()).collect();
    list(&names)
}

/// Which option to take: of the order, or of each dimension where there is none.
pub(super) fn picks(
    group: &Group,
    ranking: Option<&Ranking>,
    dimensions: &[(Dimension, Ranking)],
) -> Vec<String> {
    match ranking {
        Some(ranking) => pick(group, ranking),
        None => dimensions
            .iter()
            .flat_map(|(_, ranking)| pick(group, ranking))
            .collect(),
    }
}

fn pick(group: &Group, ranking: &Ranking) -> Vec<String> {
    let firsts = firsts(ranking);
    let what = what_counts(&ranking.by);
    let mut said = Vec::new();
    match firsts[..] {
        [only] => {
            let next = ranking
                .ranked
                .iter()
                .find(|other| other.option != only.option);
            let by = next.map_or_else(String::new, |next| {
                let name = &group.options[next.option].name;
                format!(", {} times {name}", ratio(only.share / next.share))
            });
            said.push(format!("{what}: {}{by}.", group.options[only.option].name));
        }
        _ if firsts.len() == ranking.ranked.len() => said.push(format!(
            "{what}: no order, the intervals of all {} overlap.",
            firsts.len()
        )),
        _ => said.push(format!(
            "{what}: {}; these figures do not tell them apart.",
            names(group, &firsts)
        )),
    }
    // A faster drive is not bought for the processor.
    if ranking.by.iter().any(|(by, _)| *by != Dimension::Cpu) {
        said.extend(cheaper(group, &firsts, &what));
    }
    said
}

/// Of options that share the first place, those without flash hold more for their
/// price: what is faster in principle has not shown it.
fn cheaper(group: &Group, firsts: &[&Ranked], what: &str) -> Option<String> {
    let (flash, others): (Vec<&Ranked>, Vec<&Ranked>) = firsts
        .iter()
        .copied()
        .partition(|ranked| group.options[ranked.option].flash == Some(true));
    (!flash.is_empty() && !others.is_empty()).then(|| {
        format!(
            "{what}: as measured {} not worth the price of flash, {} the same.",
            format_args!(
                "{} {}",
                names(group, &flash),
                if flash.len() == 1 { "is" } else { "are" }
            ),
            format_args!(
                "{} {}",
                names(group, &others),
                if others.len() == 1 { "does" } else { "do" }
            ),
        )
    })
}

/// A group of which nothing was measured that is to count.
pub(super) fn aside(advised: &super::Advised) -> String {
    let all = advised.group.options.iter();
    let names: Vec<&str> = all.take(NAMED).map(|option| option.name.as_str()).collect();
    let dimensions: Vec<&str> = advised.dimensions.iter().map(|(d, _)| d.name()).collect();
    format!(
        "{}: compared with each other in {} only.",
        names.join("; "),
        list(&dimensions)
    )
}

/// What was measured of an option in a dimension: its value in the first test of it.
fn value(group: &Group, dimension: Dimension, option: usize) -> Option<String> {
    let of = |test: &&Test| test.dimension == dimension && test.measured[option].is_some();
    let test = group.tests.iter().find(of)?;
    let measured = test.measured[option].as_ref()?;
    Some(show(measured.value, test.unit))
}

/// What the options in the first place give up in other dimensions.
pub(super) fn costs(
    group: &Group,
    ranking: Option<&Ranking>,
    dimensions: &[(Dimension, Ranking)],
) -> Vec<String> {
    let Some(ranking) = ranking else {
        return Vec::new();
    };
    let mut said = Vec::new();
    for first in firsts(ranking).into_iter().take(NAMED) {
        for (dimension, other) in dimensions {
            let Some(place) = other.ranked.iter().find(|r| r.option == first.option) else {
                continue;
            };
            let best = &other.ranked[0];
            if place.place_from == 1 || best.option == first.option {
                continue;
            }
            let at = |option| {
                let value = value(group, *dimension, option);
                value.map_or_else(String::new, |value| format!(" {value}"))
            };
            said.push(format!(
                "{} gives {} of {}'s {dimension}:{} against{}.",
                group.options[first.option].name,
                percent(place.share),
                group.options[best.option].name,
                at(first.option),
                at(best.option),
            ));
        }
    }
    said
}

/// Where the order is not certain.
pub(super) fn uncertain(
    group: &Group,
    ranking: Option<&Ranking>,
    dimensions: &[(Dimension, Ranking)],
) -> Vec<String> {
    let mut said = Vec::new();
    if let Some(ranking) = ranking {
        let open: Vec<&Ranked> = ranking
            .ranked
            .iter()
            .filter(|ranked| ranked.place_from != ranked.place_to)
            .collect();
        if open.is_empty() {
            said.push("The order is certain: no two intervals overlap.".to_owned());
        } else {
            said.push(format!(
                "{} of {} options share places with others: {}.",
                open.len(),
                ranking.ranked.len(),
                names(group, &open)
            ));
        }
        if !ranking.missing.is_empty() {
            let missing: Vec<&str> = ranking.missing.iter().map(|d| d.name()).collect();
            said.push(format!(
                "{} should count too and was not measured of two options: the order is that of \
                 the rest.",
                list(&missing)
            ));
        }
        for (option, lacking) in &ranking.unranked {
            let lacking: Vec<&str> = lacking.iter().map(|d| d.name()).collect();
            said.push(format!(
                "{} has no place: {} was not measured of it.",
                group.options[*option].name,
                list(&lacking)
            ));
        }
    }
    let counted: Vec<&Test> = group
        .tests
        .iter()
        .filter(|test| {
            ranking
                .map_or(dimensions, |_| &[])
                .iter()
                .any(|(d, _)| *d == test.dimension)
                || ranking.is_some_and(|r| r.by.iter().any(|(d, _)| *d == test.dimension))
        })
        .collect();
    said.extend(trials(&counted));
    said
}

/// What the intervals rest on.
fn trials(tests: &[&Test]) -> Option<String> {
    let measured = || tests.iter().flat_map(|test| test.measured.iter().flatten());
    let (fewest, most) = (
        measured().map(|m| m.trials).min()?,
        measured().map(|m| m.trials).max()?,
    );
    let of = if fewest == most {
        count(fewest as u64, "trial")
    } else {
        format!("{fewest} to {most} trials")
    };
    Some(if measured().any(|m| m.assumed) {
        format!("Intervals rest on {of}: with one of each, 10 % either way is assumed.")
    } else if fewest < 6 {
        format!(
            "Intervals rest on {of} of each; below six, the noise is taken to be the same share \
             of the figure for all options of a test. More trials narrow them."
        )
    } else {
        format!("Intervals rest on {of} of each.")
    })
}
