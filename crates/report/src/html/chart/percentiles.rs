//! How long operations take: latency by percentile, each stage or run a line with its band of
//! 95 %.
//!
//! The horizontal axis is 1 / (1 - q), logarithmic: the tail has as much room as the middle. A
//! line ends where the sample does: the last percentile is the one that its greatest value
//! bounds with 95 % confidence (Wilks, "Determination of sample sizes for setting tolerance
//! limits", Annals of Mathematical Statistics 12, 1941). The band is that of the percentiles in
//! the figures: by rank, widened to the range of the trials.

use crate::html::figure::{Drawing, Figure, Key};
use crate::html::plot::{Axis, Plot};
use crate::html::scale::{Scale, Unit};
use crate::html::table::{Cell, Table};
use crate::text::over_time;
use diskfacts_facts::stats::percentile_shares;
use diskfacts_record::{Histogram, Run, StageFigures};
use maud::html;

/// Points of a decade of the horizontal axis.
const EACH_DECADE: usize = 8;
/// Chance that a percentile is not bounded by the greatest value, where a line ends.
const CHANCE: f64 = 0.05;
/// Percentiles that stand in the table, and are labelled.
const NAMED: [(f64, &str); 7] = [
    (0.0, "least"),
    (0.5, "50 %"),
    (0.9, "90 %"),
    (0.99, "99 %"),
    (0.999, "99.9 %"),
    (0.9999, "99.99 %"),
    (0.99999, "99.999 %"),
];

/// The latencies of a stage.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curve {
    /// What it is called.
    pub(crate) name: String,
    /// By rising percentile.
    pub(crate) points: Vec<Point>,
    /// The greatest, ns.
    pub(crate) max: u64,
}

/// A percentile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    /// From 0 to below 1.
    pub(crate) quantile: f64,
    /// The latency that so many do not exceed, ns.
    pub(crate) ns: u64,
    /// Its interval of 95 %, ns.
    pub(crate) interval: [u64; 2],
}

/// The place of a percentile on the horizontal axis.
fn place(quantile: f64) -> f64 {
    1.0 / (1.0 - quantile)
}

/// The last percentile that so many values bound.
fn last(count: u64) -> f64 {
    CHANCE.powf(1.0 / count as f64)
}

/// The percentiles that are drawn of so many values, rising.
fn quantiles(count: u64) -> Vec<f64> {
    let last = last(count);
    let steps = (place(last).log10() * EACH_DECADE as f64).floor() as usize;
    let drawn = (0..=steps).map(|step| 1.0 - 10_f64.powf(-(step as f64) / EACH_DECADE as f64));
    let named = NAMED.iter().map(|(quantile, _)| *quantile);
    let mut all: Vec<f64> = drawn.chain(named).filter(|q| *q < last).collect();
    all.push(last);
    all.sort_by(f64::total_cmp);
    all.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
    all
}

/// The latencies of a stage over all its trials; `None` where no whole distribution is kept.
pub(crate) fn curve(run: &Run, figures: &StageFigures, name: String) -> Option<Curve> {
    let mut all = Histogram::new();
    let mut each: Vec<Histogram> = Vec::new();
    for trial in over_time::trials(run, figures) {
        let mut own = Histogram::new();
        for part in trial.histograms.measured(&trial.workload) {
            part.add_to(&mut own);
        }
        all.add(&own);
        each.push(own);
    }
    let max = all.max()?;
    let quantiles = quantiles(all.count());
    let ends = quantiles.iter().map(|q| percentile_shares(all.count(), *q));
    let (lows, highs): (Vec<f64>, Vec<f64>) = ends.map(|[low, high]| (low, high)).unzip();
    let [values, lows, highs] = [&quantiles, &lows, &highs].map(|shares| all.quantiles(shares));
    // A trial has part in the band as far as its own sample goes.
    let each: Vec<Vec<u64>> = each
        .iter()
        .map(|own| {
            let supported = quantiles.partition_point(|q| *q <= last(own.count()));
            own.quantiles(&quantiles[..supported])
        })
        .collect();
    let point = |(place, quantile): (usize, &f64)| {
        let trials = each.iter().filter_map(|own| own.get(place));
        let (low, high) = trials.fold((lows[place], highs[place]), |(low, high), ns| {
            (low.min(*ns), high.max(*ns))
        });
        Point {
            quantile: *quantile,
            ns: values[place],
            interval: [low, high],
        }
    };
    Some(Curve {
        name,
        points: quantiles.iter().enumerate().map(point).collect(),
        max,
    })
}

/// The curves in one drawing; `None` of none.
pub(crate) fn figure(id: String, title: &str, curves: &[Curve]) -> Option<Figure> {
    let all = || curves.iter().flat_map(|curve| &curve.points);
    let low = all().map(|point| point.interval[0]).min()?;
    let high = all().map(|point| point.interval[1]).max()?;
    let last = all().map(|point| point.quantile).fold(0.0, f64::max);
    // Where the axis begins is the least.
    let ticks = NAMED[1..].iter().filter(|(quantile, _)| *quantile <= last);
    let ticks = ticks.map(|(quantile, label)| (place(*quantile), (*label).to_owned()));
    let x = Scale::logarithmic(1.0, place(last).max(2.5));
    let x =
        Axis::of("of the operations take no longer", Unit::Plain, x).with_ticks(ticks.collect());
    let y = Axis::logarithmic("latency", Unit::Ns, low.max(1) as f64, high as f64);
    let plot = Plot::new(x, y);
    let drawing = html! {
        (plot.frame())
        @for (i, curve) in curves.iter().enumerate() {
            (plot.band(i, &band(curve)))
        }
        @for (i, curve) in curves.iter().enumerate() {
            (plot.line(i, &line(curve)))
            @for (point, label) in curve.points.iter().filter_map(|point| Some((point, label(point)?))) {
                (plot.mark(i, (place(point.quantile), point.ns as f64), &said(curve, point, label)))
            }
        }
    };
    Some(Figure {
        id,
        title: title.to_owned(),
        seen: seen(curves),
        drawing: Drawing::Svg(plot.height, drawing),
        legend: curves
            .iter()
            .enumerate()
            .map(|(i, curve)| Key::line(i, &curve.name))
            .collect(),
        numbers: numbers(curves),
    })
}

/// What a percentile that is marked is called; the first of the table is the least of all.
fn label(point: &Point) -> Option<&'static str> {
    let mut named = NAMED[1..].iter();
    let found = named.find(|(quantile, _)| is(point, *quantile));
    found.map(|(_, label)| *label)
}

fn is(point: &Point, quantile: f64) -> bool {
    (point.quantile - quantile).abs() < 1e-9
}

fn line(curve: &Curve) -> Vec<(f64, f64)> {
    let points = curve.points.iter();
    let point = |point: &Point| (place(point.quantile), point.ns as f64);
    points.map(point).collect()
}

fn band(curve: &Curve) -> Vec<(f64, f64, f64)> {
    let points = curve.points.iter();
    let interval = |point: &Point| {
        let [low, high] = point.interval;
        (place(point.quantile), low as f64, high as f64)
    };
    points.map(interval).collect()
}

/// `random-read-qd1: 99 % within 94 µs (91 µs to 97 µs)`.
fn said(curve: &Curve, point: &Point, label: &str) -> String {
    let show = |ns: u64| Unit::Ns.show(ns as f64);
    let [low, high] = point.interval.map(show);
    let (name, ns) = (&curve.name, show(point.ns));
    format!("{name}: {label} within {ns} ({low} to {high})")
}

fn at(curve: &Curve, quantile: f64) -> Option<&Point> {
    curve.points.iter().find(|point| is(point, quantile))
}

/// From the quickest to the slowest at the median and in the tail.
fn seen(curves: &[Curve]) -> String {
    let show = |ns: u64| Unit::Ns.show(ns as f64);
    let of = |quantile: f64| {
        let known = curves
            .iter()
            .filter_map(|curve| Some((curve, at(curve, quantile)?.ns)));
        let low = known.clone().min_by_key(|(_, ns)| *ns)?;
        let high = known.max_by_key(|(_, ns)| *ns)?;
        let said = |(curve, ns): (&Curve, u64)| format!("{} ({})", show(ns), curve.name);
        Some(if curves.len() == 1 {
            show(low.1)
        } else if low.1 == high.1 {
            said(low)
        } else {
            format!("{} to {}", said(low), said(high))
        })
    };
    let parts = [
        ("Half take up to ", 0.5),
        ("99 % up to ", 0.99),
        ("99.9 % up to ", 0.999),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter_map(|(before, quantile)| Some(format!("{before}{}", of(quantile)?)))
        .collect();
    format!("{}.", parts.join("; "))
}

fn numbers(curves: &[Curve]) -> Table {
    let mut heads = vec!["stage"];
    heads.extend(NAMED.iter().map(|(_, label)| *label));
    heads.push("most");
    let mut table = Table::new("Latencies by percentile", &heads);
    for curve in curves {
        let cell = |(quantile, _): &(f64, &str)| {
            Cell::known(at(curve, *quantile).map(|point| {
                let show = |ns: u64| Unit::Ns.show(ns as f64);
                let [low, high] = point.interval;
                if low < point.ns || high > point.ns {
                    format!("{} [{}, {}]", show(point.ns), show(low), show(high))
                } else {
                    show(point.ns)
                }
            }))
        };
        let mut row = vec![Cell::Text(curve.name.clone())];
        row.extend(NAMED.iter().map(cell));
        row.push(Cell::Number(Unit::Ns.show(curve.max as f64)));
        table.push(row);
    }
    table.without_empty_columns()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::svg;
    use diskfacts_facts::stats::percentile_interval;
    use maud::Render as _;

    fn curve() -> Curve {
        let mut histogram = Histogram::new();
        for i in 0..10_000_u64 {
            histogram.record(50_000 + i * 10);
        }
        let points = quantiles(histogram.count()).into_iter();
        Curve {
            name: "a".into(),
            points: points
                .map(|quantile| Point {
                    quantile,
                    ns: histogram.quantile(quantile).expect("it has values"),
                    interval: percentile_interval(&histogram, quantile)
                        .unwrap_or([histogram.quantile(quantile).expect("it has values"); 2]),
                })
                .collect(),
            max: 150_000,
        }
    }

    #[test]
    fn the_line_has_the_latency_of_each_percentile() {
        let curve = curve();
        let figure = figure("r1-p".into(), "How long", std::slice::from_ref(&curve));
        let markup = figure.expect("a curve").render().into_string();
        let paths = svg::attributes(&markup, "line", "d");
        let x = Scale::logarithmic(1.0, place(curve.points.last().unwrap().quantile));
        let drawn = svg::points(&paths[0]);
        assert_eq!(drawn.len(), curve.points.len());
        // The axes go from the place of the first point to that of the last, and from 50 to
        // 200 µs: read back from where the grid begins and ends.
        let (left, right) = (drawn[0].0, drawn[drawn.len() - 1].0);
        let x = x.onto(left, right);
        let axis = svg::points(&svg::attributes(&markup, "axis", "d")[0]);
        let y = Scale::logarithmic(50e3, 200e3).onto(axis[1].1, axis[0].1);
        for ((at_x, at_y), point) in drawn.into_iter().zip(&curve.points) {
            let (across, ns) = (x.value(at_x), y.value(at_y));
            assert!(
                (across / place(point.quantile) - 1.0).abs() < 1e-2,
                "{across} {point:?}"
            );
            assert!((ns / point.ns as f64 - 1.0).abs() < 1e-3, "{ns} {point:?}");
        }
    }

    #[test]
    fn a_line_ends_where_the_sample_does() {
        // 299 values bound p99 with 95 % confidence, 2995 bound p99.9.
        assert!(*quantiles(299).last().unwrap() >= 0.99);
        assert!(*quantiles(298).last().unwrap() < 0.99);
        assert!(quantiles(2995).contains(&0.999));
        assert!(!quantiles(2990).contains(&0.999));
    }

    #[test]
    fn what_is_seen_is_said_with_figures() {
        let quick = curve();
        let mut slow = curve();
        slow.name = "b".into();
        for point in &mut slow.points {
            point.ns *= 10;
        }
        assert!(
            seen(std::slice::from_ref(&quick))
                .starts_with("Half take up to 100 µs; 99 % up to 149 µs"),
            "{}",
            seen(&[quick])
        );
        let both = seen(&[curve(), slow]);
        assert!(both.contains("100 µs (a) to 1 ms (b)"), "{both}");
    }
}
