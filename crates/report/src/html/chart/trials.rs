//! Was it stable: the trials of each stage in the order in which they were made, against the
//! median and its interval of 95 %.
//!
//! All stages share both scales: the order of trials in the run, so that what disturbed several
//! stages at one time is seen, and the distance from the median, so that stages can be told
//! steady from unsteady.

use crate::html::figure::{Drawing, Figure};
use crate::html::plot;
use crate::html::scale::{Scale, Unit};
use crate::html::svg::{self, Anchor, TEXT, WIDTH, number};
use crate::html::table::{Cell, Table};
use crate::text::over_time;
use crate::text::stages::name;
use diskfacts_record::{Figure as Rate, Run, StageFigures, Trial};
use maud::{Markup, html};

/// Units of a row's drawing, and between two rows.
const ROW: f64 = 30.0;
const BETWEEN: f64 = 8.0;
/// The least distance from the median that fills a row's half.
const LEAST: f64 = 0.02;

/// The trials of a stage.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// What the rates are of.
    pub(crate) unit: Unit,
    /// Their median.
    pub(crate) median: f64,
    /// Its interval of 95 %, where there are trials enough.
    pub(crate) interval: Option<[f64; 2]>,
    /// In order.
    pub(crate) trials: Vec<Point>,
}

/// A trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    /// Which of the run, from 1.
    pub(crate) order: u32,
    /// Which of its stage, from 1.
    pub(crate) number: u32,
    pub(crate) rate: f64,
    /// Whether it stands apart from the others.
    pub(crate) apart: bool,
}

/// The stages of more than one trial.
pub(crate) fn rows(run: &Run, stages: &[&StageFigures]) -> Vec<Row> {
    let of = |figures: &&StageFigures| {
        let of_iops = figures.iops.trials > 0;
        let (unit, figure, rate): (Unit, &Rate, fn(&Trial) -> f64) = if of_iops {
            (Unit::PerS, &figures.iops, |trial| trial.iops)
        } else {
            let figure = &figures.throughput_bytes_per_s;
            (Unit::BytesPerS, figure, |trial| {
                trial.throughput_bytes_per_s
            })
        };
        let trials = over_time::trials(run, figures).into_iter();
        let trials = trials.map(|trial| Point {
            order: trial.order,
            number: trial.number,
            rate: rate(trial),
            apart: figures.outliers.contains(&trial.number),
        });
        let trials: Vec<Point> = trials.filter(|point| point.rate.is_finite()).collect();
        (trials.len() > 1 && figure.median > 0.0).then(|| Row {
            name: name(figures),
            unit,
            median: figure.median,
            interval: figure.ci95,
            trials,
        })
    };
    stages.iter().filter_map(of).collect()
}

/// How far from the median the row with the widest range goes, as a share of it.
fn widest(rows: &[Row]) -> f64 {
    let distance = |row: &Row, rate: f64| (rate / row.median - 1.0).abs();
    let all = rows.iter().flat_map(|row| {
        let ends = row.interval.into_iter().flatten();
        let rates = row.trials.iter().map(|point| point.rate).chain(ends);
        rates.map(move |rate| distance(row, rate))
    });
    all.fold(LEAST, f64::max)
}

/// `None` where no stage has two trials.
pub(crate) fn figure(id: String, run: &Run, stages: &[&StageFigures]) -> Option<Figure> {
    let all = rows(run, stages);
    let last = all
        .iter()
        .flat_map(|row| &row.trials)
        .map(|point| point.order)
        .max()?;
    let x = Scale::linear(1.0, f64::from(last.max(2))).onto(8.0, WIDTH - 8.0);
    let far = widest(&all);
    let height = all.len() as f64 * (TEXT + 4.0 + ROW + BETWEEN);
    let drawing = html! {
        @for (place, row) in all.iter().enumerate() {
            (drawn(row, place as f64 * (TEXT + 4.0 + ROW + BETWEEN), &x, far))
        }
        (svg::text((0.0, height + TEXT), Anchor::Start, "soft", "first trial of the run"))
        (svg::text((WIDTH, height + TEXT), Anchor::End, "soft", &format!("trial {last}")))
    };
    Some(Figure {
        id,
        title: "Was it stable: trials in their order".to_owned(),
        seen: seen(&all, far),
        drawing: Drawing::Svg(height + TEXT + 6.0, drawing),
        legend: Vec::new(),
        numbers: numbers(&all),
    })
}

/// The place of a rate in a row of this height, in which the median is in the middle.
fn up(row: &Row, y: f64, far: f64) -> Scale {
    let (low, high) = (row.median * (1.0 - far), row.median * (1.0 + far));
    Scale::linear(low, high).onto(y + TEXT + 4.0 + ROW - 3.0, y + TEXT + 4.0 + 3.0)
}

fn drawn(row: &Row, y: f64, x: &Scale, far: f64) -> Markup {
    let scale = up(row, y, far);
    let top = y + TEXT + 4.0;
    let median = format!("{} {}", row.unit.show(row.median), row.unit.name());
    let room = WIDTH - svg::text_width(&median) - 10.0;
    let middle = scale.at(row.median);
    html! {
        (svg::text((0.0, y + TEXT), Anchor::Start, "", &svg::fitted(&row.name, room)))
        (svg::text((WIDTH, y + TEXT), Anchor::End, "soft", &median))
        (svg::rectangle((0.0, top), (WIDTH, ROW), "rest", ""))
        @if let Some([low, high]) = row.interval {
            @let (low, high) = (scale.at(low), scale.at(high));
            @let said = format!("95 % interval of the median of {}", row.name);
            (svg::rectangle((0.0, high), (WIDTH, (low - high).max(1.0)), "band s0", &said))
        }
        path class="axis" d=(svg::line([(0.0, middle), (WIDTH, middle)])) {}
        @for point in &row.trials {
            @let at = (x.at(f64::from(point.order)), scale.at(point.rate));
            @let said = said(row, point);
            @if point.apart {
                (plot::mark(1, at, &said))
            } @else {
                circle class="mark s0" cx=(number(at.0)) cy=(number(at.1)) r="2.5" { title { (said) } }
            }
        }
    }
}

fn said(row: &Row, point: &Point) -> String {
    let apart = if point.apart { ", stands apart" } else { "" };
    let (rate, unit) = (row.unit.show(point.rate), row.unit.name());
    format!("{}, trial {}: {rate} {unit}{apart}", row.name, point.number)
}

/// How far trials lie from their medians, and of which stage farthest.
fn seen(rows: &[Row], far: f64) -> String {
    let range = |row: &Row| {
        let rates = row.trials.iter().map(|point| point.rate / row.median);
        rates.fold(0.0_f64, |most, rate| most.max((rate - 1.0).abs()))
    };
    let most = rows.iter().max_by(|a, b| range(a).total_cmp(&range(b)));
    let most = most.map_or_else(String::new, |row| {
        format!(
            "Trials of {} lie up to {} from their median",
            row.name,
            Unit::Share.show(range(row))
        )
    });
    let least = rows.iter().min_by(|a, b| range(a).total_cmp(&range(b)));
    let least = least
        .filter(|_| rows.len() > 1)
        .map_or_else(String::new, |row| {
            format!(
                ", those of {} up to {}",
                row.name,
                Unit::Share.show(range(row))
            )
        });
    let apart: usize = rows
        .iter()
        .map(|row| row.trials.iter().filter(|point| point.apart).count())
        .sum();
    let apart = match apart {
        0 => String::new(),
        1 => "; a square stands apart from the others of its stage".to_owned(),
        many => format!("; {many} squares stand apart from the others of their stages"),
    };
    format!(
        "{most}{least}. The line is the median, the band its 95 % interval, and each row is {} \
         of the median to both sides{apart}.",
        Unit::Share.show(far)
    )
}

fn numbers(rows: &[Row]) -> Table {
    let heads = ["stage", "trial", "of the run", "MB/s", "IOPS", "apart"];
    let mut table = Table::new("Trials in their order", &heads);
    for row in rows {
        for point in &row.trials {
            let rate = |unit: Unit| (row.unit == unit).then(|| unit.show(point.rate));
            table.push(vec![
                Cell::Text(row.name.clone()),
                Cell::Number(point.number.to_string()),
                Cell::Number(point.order.to_string()),
                Cell::known(rate(Unit::BytesPerS)),
                Cell::known(rate(Unit::PerS)),
                Cell::Text(if point.apart { "apart" } else { "" }.to_owned()),
            ]);
        }
    }
    table.without_empty_columns()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        let point = |order: u32, rate: f64| Point {
            order,
            number: order,
            rate,
            apart: false,
        };
        Row {
            name: "a".into(),
            unit: Unit::PerS,
            median: 100.0,
            interval: Some([95.0, 110.0]),
            trials: vec![point(1, 90.0), point(2, 100.0), point(9, 120.0)],
        }
    }

    #[test]
    fn each_trial_lies_at_its_order_and_rate_and_the_band_at_the_interval() {
        let row = row();
        let far = widest(std::slice::from_ref(&row));
        assert!((far - 0.2).abs() < 1e-9);
        let x = Scale::linear(1.0, 9.0).onto(8.0, WIDTH - 8.0);
        let markup = drawn(&row, 0.0, &x, far).into_string();
        let of = |class: &str, attribute: &str| -> Vec<f64> {
            let values = svg::attributes(&markup, class, attribute);
            values.iter().map(|value| value.parse().unwrap()).collect()
        };
        let scale = up(&row, 0.0, far);
        let orders: Vec<f64> = of("mark", "cx")
            .into_iter()
            .map(|at| x.value(at).round())
            .collect();
        assert_eq!(orders, [1.0, 2.0, 9.0]);
        let rates: Vec<f64> = of("mark", "cy")
            .into_iter()
            .map(|at| scale.value(at).round())
            .collect();
        assert_eq!(rates, [90.0, 100.0, 120.0]);
        let (top, high) = (of("band", "y")[0], of("band", "height")[0]);
        assert_eq!(scale.value(top).round() as u32, 110);
        assert_eq!(scale.value(top + high).round() as u32, 95);
    }

    #[test]
    fn what_is_seen_names_the_least_steady_stage() {
        let text = seen(&[row()], 0.2);
        assert!(
            text.starts_with("Trials of a lie up to 20 % from their median. The line"),
            "{text}"
        );
    }
}
