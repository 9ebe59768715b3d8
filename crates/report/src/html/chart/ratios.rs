//! What changed: for each stage B over A with its interval, on a logarithmic axis, beside the
//! band within which a difference counts as none.

use super::forest::{Forest, Kind, Row};
use crate::html::LOOK;
use crate::html::figure::{Figure, Key};
use crate::html::plot::Axis;
use crate::html::scale::{Scale, Unit};
use crate::html::table::{Cell, Table};
use crate::text::compare::{name, observed, signed, values_of};
use crate::text::words::{count, percent};
use diskfacts_record::comparison::{Change, Comparison, Difference};

/// Rows of a drawing; its table has all.
const ROWS_MAX: usize = 60;
/// Times that an axis reaches at most in either direction, and the share that it reaches at least.
const TIMES_MAX: f64 = 1000.0;
const REACH_MIN: f64 = 0.05;
/// Reach below which an axis is labelled in percent, and above it in times.
const PERCENT_BELOW: f64 = 2.1;

/// Ratios that are drawn on one axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ratios {
    /// Those that differ most, where there are too many, in the order of the stages.
    pub(crate) rows: Vec<Row>,
    /// How many are in the table only.
    pub(crate) left_out: usize,
    /// The ratios that count as none, where some do.
    pub(crate) same: Option<[f64; 2]>,
    /// How far the axis reaches: from one over this to this; above 1.
    pub(crate) reach: f64,
}

/// How the speed of each stage compares; `None` without stages.
pub(crate) fn speeds(comparison: &Comparison) -> Option<Ratios> {
    let stages = comparison.stages.iter();
    let rows = stages.map(|stage| match &stage.speed {
        Some(speed) => row(stage.stage.clone(), speed),
        None => Row {
            name: stage.stage.clone(),
            said: "not comparable".to_owned(),
            at: None,
            ends: None,
            kind: Kind::Unclear,
        },
    });
    ratios(rows.collect(), Some(comparison.same_within))
}

/// How the percentiles of the latency of each stage compare; `None` where none was compared.
pub(crate) fn latencies(comparison: &Comparison) -> Option<Ratios> {
    let rows = comparison.stages.iter().flat_map(|stage| {
        let differences = stage.latency.iter();
        differences.map(|difference| {
            let (percentile, _) = name(difference.measure);
            row(
                format!("{} {}", stage.stage, percentile.trim_end()),
                difference,
            )
        })
    });
    ratios(rows.collect(), Some(comparison.same_within))
}

fn row(name: String, difference: &Difference) -> Row {
    let ratio = |change: f64| Some(1.0 + change).filter(|ratio| *ratio > 0.0);
    let ends = difference.interval.map(|ends| ends.map(|end| 1.0 + end));
    Row {
        name,
        said: match difference.interval {
            Some([low, high]) => {
                format!("{} to {}, {}", signed(low), signed(high), word(difference))
            }
            None => format!("{}, no spread known", signed(difference.change)),
        },
        at: ratio(difference.change),
        ends: ends.filter(|[low, high]| *low > 0.0 && high.is_finite()),
        kind: kind(difference),
    }
}

/// A change as people call it: of a latency, too, what is worse is slower.
fn word(difference: &Difference) -> &'static str {
    match (difference.outcome, difference.measure.more_is_better()) {
        (Change::Same, _) => "the same",
        (Change::Faster, true) => "faster",
        (Change::Slower, true) => "slower",
        (Change::Faster, false) => "shorter",
        (Change::Slower, false) => "longer",
        (Change::Unclear | Change::NotComparable, _) => "not told apart",
    }
}

fn kind(difference: &Difference) -> Kind {
    match difference.outcome {
        Change::Same => Kind::Same,
        // Marks point where the value went.
        Change::Faster | Change::Slower => {
            let better = difference.outcome == Change::Faster;
            if better { Kind::Good } else { Kind::Bad }
        }
        Change::Unclear | Change::NotComparable => Kind::Unclear,
    }
}

/// Rows of ratios on one axis; differences within a share count as none. `None` without rows.
pub(crate) fn ratios(mut rows: Vec<Row>, same_within: Option<f64>) -> Option<Ratios> {
    if rows.is_empty() {
        return None;
    }
    let left_out = rows.len().saturating_sub(ROWS_MAX);
    if left_out > 0 {
        let size = |row: &Row| row.at.map_or(0.0, |at| at.ln().abs());
        let mut sizes: Vec<f64> = rows.iter().map(size).collect();
        sizes.sort_by(|a, b| b.total_cmp(a));
        let least = sizes[ROWS_MAX - 1];
        rows.retain(|row| size(row) >= least);
        rows.truncate(ROWS_MAX);
    }
    let values = rows
        .iter()
        .flat_map(|row| row.at.into_iter().chain(row.ends.into_iter().flatten()));
    let furthest = values.map(|ratio| ratio.ln().abs()).fold(0.0, f64::max);
    let high = 1.0 + same_within.unwrap_or(REACH_MIN);
    let reach = (furthest.max(high.ln()) * 1.1).exp().min(TIMES_MAX);
    Some(Ratios {
        rows,
        left_out,
        same: same_within.map(|_| [1.0 / high, high]),
        reach,
    })
}

impl Ratios {
    /// What is shaded.
    fn legend(&self) -> Vec<Key> {
        let key = |[_, high]: [f64; 2]| {
            let name = format!("within {}: counts as the same", percent(high - 1.0));
            Key::area("same", "", name)
        };
        self.same.map(key).into_iter().collect()
    }

    /// The drawing's rows and axis.
    pub(crate) fn forest(&self, title: &str) -> Forest<'_> {
        let scale = Scale::logarithmic(1.0 / self.reach, self.reach);
        let axis = Axis::of(title, Unit::Plain, scale).with_ticks(ticks(self.reach));
        Forest {
            axis,
            rows: &self.rows,
            band: self.same,
            line: Some(1.0),
        }
    }

    /// `60 of 294 are drawn, those that differ most.`; empty where all are.
    fn left_out(&self) -> String {
        if self.left_out == 0 {
            return String::new();
        }
        let all = self.rows.len() + self.left_out;
        format!(
            " {} of {} are drawn, those that differ most.",
            self.rows.len(),
            count(all as u64, "figure")
        )
    }
}

/// Round ratios up to this and from one over it, with labels.
fn ticks(reach: f64) -> Vec<(f64, String)> {
    let steps: &[f64] = match reach {
        near if near < 1.13 => &[1.05, 1.1],
        near if near < 1.6 => &[1.1, 1.25, 1.5],
        near if near < PERCENT_BELOW => &[1.25, 1.5, 2.0],
        near if near < 12.0 => &[2.0, 5.0, 10.0],
        _ => &[10.0, 100.0, 1000.0],
    };
    let within = steps.iter().filter(|step| **step <= reach);
    let mut ticks = vec![(1.0, "equal".to_owned())];
    for step in within {
        for ratio in [*step, 1.0 / step] {
            let label = if reach < PERCENT_BELOW {
                let sign = if ratio > 1.0 { "+" } else { "-" };
                format!("{sign}{}", percent((ratio - 1.0).abs()))
            } else if ratio > 1.0 {
                format!("× {ratio}")
            } else {
                format!("÷ {step}")
            };
            ticks.push((ratio, label));
        }
    }
    ticks.sort_by(|a, b| a.0.total_cmp(&b.0));
    ticks
}

/// The speeds as a figure.
pub(crate) fn figure_of_speeds(comparison: &Comparison, id: String) -> Option<Figure> {
    let ratios = speeds(comparison)?;
    let mut numbers = table();
    for stage in &comparison.stages {
        if let Some(speed) = &stage.speed {
            push(&mut numbers, &stage.stage, "", speed);
        }
    }
    Some(Figure {
        id,
        title: "Speed: B over A".to_owned(),
        seen: format!("{}{}", comparison.summary, ratios.left_out()),
        drawing: ratios.forest(further_right(comparison)).draw(),
        legend: ratios.legend(),
        numbers,
    })
}

/// What the axis of speeds means, by what they are.
fn further_right(comparison: &Comparison) -> &'static str {
    let speeds = comparison.stages.iter().filter_map(|s| s.speed.as_ref());
    let (rates, latencies): (Vec<&Difference>, Vec<&Difference>) =
        speeds.partition(|speed| speed.measure.more_is_better());
    match (rates.is_empty(), latencies.is_empty()) {
        (_, true) => "further right is faster",
        (true, false) => "further right is slower",
        (false, false) => "further right is faster, of a latency slower",
    }
}

/// The percentiles as a figure.
pub(crate) fn figure_of_latencies(comparison: &Comparison, id: String) -> Option<Figure> {
    let ratios = latencies(comparison)?;
    let mut numbers = table();
    let mut told = [0_u64; 3];
    for stage in &comparison.stages {
        for difference in &stage.latency {
            let (percentile, _) = name(difference.measure);
            push(
                &mut numbers,
                &stage.stage,
                percentile.trim_end(),
                difference,
            );
            match difference.outcome {
                Change::Faster => told[0] += 1,
                Change::Slower => told[1] += 1,
                Change::Same => told[2] += 1,
                Change::Unclear | Change::NotComparable => {}
            }
        }
    }
    let all = ratios.rows.len() + ratios.left_out;
    let [shorter, longer, same] = told;
    Some(Figure {
        id,
        title: "Percentiles of the latency: B over A".to_owned(),
        seen: format!(
            "Of {}, {shorter} are shorter, {longer} longer, {same} the same, and the others \
             cannot be told apart.{}",
            count(all as u64, "percentile"),
            ratios.left_out()
        ),
        drawing: ratios.forest("further right is longer").draw(),
        legend: ratios.legend(),
        numbers,
    })
}

fn table() -> Table {
    Table::new(
        "differences",
        &[
            "stage",
            "figure",
            "A → B",
            "from",
            "to",
            "confidence",
            "p, corrected",
            "over",
            "outcome",
        ],
    )
}

fn push(table: &mut Table, stage: &str, figure: &str, difference: &Difference) {
    let end = |place: usize| difference.interval.map(|ends| signed(ends[place]));
    table.push(vec![
        Cell::Text(stage.to_owned()),
        Cell::Text(figure.to_owned()),
        Cell::Text(values_of(difference, &LOOK)),
        Cell::known(end(0)),
        Cell::known(end(1)),
        Cell::known(difference.confidence.map(percent)),
        Cell::known(difference.p_adjusted.map(|p| format!("{p:.3}"))),
        Cell::Text(observed(difference)),
        Cell::Text(match difference.interval {
            Some(_) => word(difference).to_owned(),
            None => "no spread known".to_owned(),
        }),
    ]);
}

#[cfg(test)]
mod tests {
    use super::super::forest;
    use super::*;
    use crate::fixtures;
    use crate::html::figure::Drawing;
    use diskfacts_facts::compare::{Part, SAME_WITHIN, Selection};
    use diskfacts_record::Run;
    use std::collections::BTreeMap;

    fn side(run: &Run) -> Selection<'_> {
        Selection {
            given: "given".into(),
            parts: vec![Part {
                run,
                only: BTreeMap::new(),
            }],
        }
    }

    /// A run against itself, of which one stage is slower by a third and one faster by a half.
    fn comparison() -> Comparison {
        let a = fixtures::healthy();
        let mut b = a.clone();
        let names: Vec<String> = a.figures.iter().map(|f| f.stage.clone()).collect();
        for trial in &mut b.trials {
            let factor = match names.iter().position(|name| *name == trial.stage) {
                Some(0) => 0.67,
                Some(1) => 1.5,
                _ => 1.0,
            };
            trial.throughput_bytes_per_s *= factor;
            trial.iops *= factor;
        }
        diskfacts_facts::compare(&side(&a), &side(&b), SAME_WITHIN, &[])
    }

    #[test]
    fn marks_and_whiskers_stand_at_the_ratios_of_the_comparison() {
        let comparison = comparison();
        let ratios = speeds(&comparison).unwrap();
        let forest = ratios.forest("");
        let Drawing::Svg(_, drawn) = forest.draw() else {
            panic!("a drawing");
        };
        let (at, ends) = forest::read(&drawn.into_string(), forest.scale());
        let speeds: Vec<&Difference> = comparison
            .stages
            .iter()
            .filter_map(|s| s.speed.as_ref())
            .collect();
        assert_eq!(at.len(), speeds.len());
        let known: Vec<[f64; 2]> = speeds.iter().filter_map(|speed| speed.interval).collect();
        assert_eq!(ends.len(), known.len());
        for (at, speed) in at.iter().zip(&speeds) {
            assert!(
                (at / (1.0 + speed.change) - 1.0).abs() < 1e-3,
                "{at} {speed:?}"
            );
        }
        for (drawn, known) in ends.iter().zip(&known) {
            for (end, change) in drawn.iter().zip(known) {
                assert!(
                    (end / (1.0 + change) - 1.0).abs() < 1e-3,
                    "{drawn:?} {known:?}"
                );
            }
        }
    }

    #[test]
    fn what_is_slower_or_faster_has_a_mark_of_its_own_and_no_value_none() {
        let comparison = comparison();
        let ratios = speeds(&comparison).unwrap();
        assert_eq!(ratios.rows[0].kind, Kind::Bad, "{:?}", ratios.rows[0]);
        assert_eq!(ratios.rows[1].kind, Kind::Good, "{:?}", ratios.rows[1]);
        let mut none = comparison.clone();
        none.stages[0].speed = None;
        let rows = speeds(&none).unwrap().rows;
        assert_eq!(
            (rows[0].at, rows[0].said.as_str()),
            (None, "not comparable")
        );
        none.stages.clear();
        assert_eq!(speeds(&none), None);
    }

    #[test]
    fn the_axis_holds_all_values_and_the_band_and_is_labelled_with_round_ratios() {
        let ratios = speeds(&comparison()).unwrap();
        for row in &ratios.rows {
            for value in row.at.into_iter().chain(row.ends.into_iter().flatten()) {
                assert!(value.ln().abs() <= ratios.reach.ln(), "{row:?}");
            }
        }
        assert!((ratios.same.unwrap()[1] - 1.05).abs() < 1e-12);
        let labels =
            |reach| -> Vec<String> { ticks(reach).into_iter().map(|(_, label)| label).collect() };
        assert_eq!(labels(1.06), ["-4.8 %", "equal", "+5 %"]);
        assert_eq!(labels(1.9), ["-33 %", "-20 %", "equal", "+25 %", "+50 %"]);
        assert_eq!(labels(6.0), ["÷ 5", "÷ 2", "equal", "× 2", "× 5"]);
    }

    #[test]
    fn of_too_many_those_that_differ_most_are_drawn() {
        let row = |i: usize| Row {
            name: i.to_string(),
            said: String::new(),
            at: Some(1.0 + i as f64 / 1000.0),
            ends: None,
            kind: Kind::Unclear,
        };
        let ratios = ratios((0..100).map(row).collect(), Some(0.05)).unwrap();
        assert_eq!((ratios.rows.len(), ratios.left_out), (ROWS_MAX, 40));
        assert_eq!(ratios.rows[0].name, "40");
        assert!(ratios.left_out().contains("60 of 100 figures"));
    }
}
