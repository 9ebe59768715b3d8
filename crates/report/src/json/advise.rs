//! The document of `advise --json`.

use super::document;
use diskfacts_facts::advise::{Advice, Advised, Dimension, Ranking, Test, Unit};
use diskfacts_record::{Finding, SCHEMA};
use serde::Serialize;
use std::collections::BTreeMap;

/// The document of `advise --json`; `docs/reference/advise.md` describes every key.
///
/// # Panics
/// Never, as [`run`](super::run).
pub fn advice(advice: &Advice) -> String {
    let weights = advice.weights.as_ref();
    document(&Document {
        schema: SCHEMA,
        runs: &advice.runs,
        usage: weights.and_then(|weights| weights.usage),
        weights: weights.map(|weights| named(&weights.of)),
        sources: weights.map_or(&[], |weights| &weights.sources),
        groups: advice.groups.iter().map(group).collect(),
        needs: &advice.needs,
        of_one_only: &advice.alone,
        unmeasured: advice.unmeasured.iter().map(|d| d.name()).collect(),
        left_out: &advice.left_out,
        findings: &advice.findings,
    })
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    runs: &'a [String],
    #[serde(rename = "use")]
    usage: Option<&'a str>,
    weights: Option<BTreeMap<&'a str, f64>>,
    sources: &'a [String],
    groups: Vec<Group<'a>>,
    needs: &'a [String],
    of_one_only: &'a [String],
    unmeasured: Vec<&'a str>,
    left_out: &'a [String],
    findings: &'a [Finding],
}

#[derive(Serialize)]
struct Group<'a> {
    options: Vec<Choice<'a>>,
    tests: Vec<Measurements<'a>>,
    ranking: Option<Order<'a>>,
    dimensions: BTreeMap<&'a str, Order<'a>>,
    picks: &'a [String],
    costs: &'a [String],
    uncertain: &'a [String],
}

#[derive(Serialize)]
struct Choice<'a> {
    name: &'a str,
    settings: &'a BTreeMap<String, String>,
    runs: &'a [String],
}

#[derive(Serialize)]
struct Measurements<'a> {
    dimension: &'a str,
    stage: &'a str,
    unit: &'static str,
    more_is_better: bool,
    options: Vec<Value<'a>>,
}

#[derive(Serialize)]
struct Value<'a> {
    option: &'a str,
    value: f64,
    low: f64,
    high: f64,
    trials: usize,
    assumed: bool,
}

#[derive(Serialize)]
struct Order<'a> {
    weights: BTreeMap<&'a str, f64>,
    missing: Vec<&'a str>,
    order: Vec<Place<'a>>,
    without_place: Vec<Without<'a>>,
}

#[derive(Serialize)]
struct Place<'a> {
    option: &'a str,
    place_from: usize,
    place_to: usize,
    share: f64,
    share_low: f64,
    share_high: f64,
}

#[derive(Serialize)]
struct Without<'a> {
    option: &'a str,
    unmeasured: Vec<&'a str>,
}

fn named(of: &[(Dimension, f64)]) -> BTreeMap<&'static str, f64> {
    of.iter().map(|(d, weight)| (d.name(), *weight)).collect()
}

fn group(advised: &Advised) -> Group<'_> {
    let options = &advised.group.options;
    Group {
        options: options
            .iter()
            .map(|option| Choice {
                name: &option.name,
                settings: &option.settings,
                runs: &option.runs,
            })
            .collect(),
        tests: advised
            .group
            .tests
            .iter()
            .map(|t| test(advised, t))
            .collect(),
        ranking: advised.ranking.as_ref().map(|r| order(advised, r)),
        dimensions: advised
            .dimensions
            .iter()
            .map(|(dimension, ranking)| (dimension.name(), order(advised, ranking)))
            .collect(),
        picks: &advised.picks,
        costs: &advised.costs,
        uncertain: &advised.uncertain,
    }
}

fn name(advised: &Advised, option: usize) -> &str {
    &advised.group.options[option].name
}

fn test<'a>(advised: &'a Advised, test: &'a Test) -> Measurements<'a> {
    let measured = test.measured.iter().enumerate();
    Measurements {
        dimension: test.dimension.name(),
        stage: &test.stage,
        unit: match test.unit {
            Unit::BytesPerSecond => "bytes_per_s",
            Unit::OperationsPerSecond => "operations_per_s",
            Unit::Nanoseconds => "ns",
            Unit::CpuPerByte => "cpu_ns_per_byte",
            Unit::CpuPerOperation => "cpu_ns_per_operation",
        },
        more_is_better: test.unit.more_is_better(),
        options: measured
            .filter_map(|(option, measured)| {
                let measured = measured.as_ref()?;
                Some(Value {
                    option: name(advised, option),
                    value: measured.value,
                    low: measured.low,
                    high: measured.high,
                    trials: measured.trials,
                    assumed: measured.assumed,
                })
            })
            .collect(),
    }
}

fn order<'a>(advised: &'a Advised, ranking: &'a Ranking) -> Order<'a> {
    Order {
        weights: named(&ranking.by),
        missing: ranking.missing.iter().map(|d| d.name()).collect(),
        order: ranking
            .ranked
            .iter()
            .map(|ranked| Place {
                option: name(advised, ranked.option),
                place_from: ranked.place_from,
                place_to: ranked.place_to,
                share: ranked.share,
                share_low: ranked.low,
                share_high: ranked.high,
            })
            .collect(),
        without_place: ranking
            .unranked
            .iter()
            .map(|(option, lacking)| Without {
                option: name(advised, *option),
                unmeasured: lacking.iter().map(|d| d.name()).collect(),
            })
            .collect(),
    }
}
