//! A stage from run to run: a value for each, the levels, and where these changed.

use super::ends::{Ends, meaning};
use crate::html::figure::{Drawing, Figure, Key};
use crate::html::plot::{Axis, Plot};
use crate::html::scale::{Scale, Unit};
use crate::html::svg::{self, Anchor};
use crate::html::table::{Cell, Table};
use crate::text::compare::signed;
use crate::text::words::count;
use diskfacts_facts::trends::Series;
use diskfacts_record::comparison::Measure;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Unit as Every};
use maud::html;
use std::fmt::Write as _;

/// Labels of the axis of time.
const DATES: usize = 4;

/// The values of a series over time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Trend {
    pub(crate) unit: Unit,
    /// Seconds since 1970 and the value, by rising time.
    pub(crate) points: Vec<(f64, f64)>,
    /// Around each.
    pub(crate) ends: Vec<Option<[f64; 2]>>,
    /// From when to when a level holds, and the level.
    pub(crate) levels: Vec<(f64, f64, f64)>,
    /// When a level began, between two runs.
    pub(crate) changes: Vec<f64>,
}

/// What is drawn of a series; `None` where a run does not say when it was.
pub(crate) fn trend(series: &Series) -> Option<Trend> {
    let at = |place: usize| -> Option<f64> {
        let begun: Timestamp = series.points.get(place)?.started.parse().ok()?;
        Some(begun.as_second() as f64)
    };
    let points: Option<Vec<(f64, f64)>> = series
        .points
        .iter()
        .enumerate()
        .map(|(place, point)| Some((at(place)?, point.value)))
        .collect();
    let points = points?;
    let firsts = series.changes.iter().map(|step| step.first);
    let begins: Vec<usize> = std::iter::once(0).chain(firsts.clone()).collect();
    let lasts = firsts.clone().map(|first| first - 1);
    let ends = lasts.chain([points.len() - 1]);
    let levels = begins
        .iter()
        .zip(ends)
        .zip(&series.levels)
        .map(|((from, to), level)| (points[*from].0, points[to].0, *level))
        .collect();
    let changes = firsts.map(|first| f64::midpoint(points[first - 1].0, points[first].0));
    Some(Trend {
        unit: match series.measure {
            Measure::ThroughputBytesPerS => Unit::BytesPerS,
            Measure::Iops => Unit::PerS,
            _ => Unit::Ns,
        },
        changes: changes.collect(),
        ends: series.points.iter().map(|point| point.interval).collect(),
        levels,
        points,
    })
}

impl Trend {
    /// The axes: time, and the values from 0 on, so that no change looks larger than it is.
    pub(crate) fn plot(&self) -> Option<Plot> {
        let (first, last) = (self.points.first()?.0, self.points.last()?.0);
        let values = self.points.iter().map(|(_, value)| *value);
        let ends = self.ends.iter().flatten().map(|[_, high]| *high);
        let high = values.chain(ends).fold(0.0, f64::max);
        let room = ((last - first) * 0.03).max(1.0);
        let time = Scale::linear(first - room, last + room);
        let x = Axis::of("begun, UTC", Unit::Plain, time).with_ticks(dates(first, last));
        let title = if self.unit == Unit::Ns {
            "median latency"
        } else {
            ""
        };
        Some(Plot::new(x, Axis::linear(title, self.unit, 0.0, high)))
    }
}

/// A moment without what is shorter than a second; as it is where it is none.
pub(crate) fn second(moment: &str) -> String {
    let known: Result<Timestamp, _> = moment.parse();
    known.map_or_else(|_| moment.to_owned(), |at| format!("{at:.0}"))
}

/// Round moments between two, at most a few, with their names.
fn dates(first: f64, last: f64) -> Vec<(f64, String)> {
    const DAY: f64 = 86_400.0;
    let utc = |second: f64| {
        let moment = Timestamp::from_second(second as i64).ok()?;
        Some(moment.to_zoned(TimeZone::UTC).datetime())
    };
    let whole_days = last - first >= 2.0 * DAY;
    let every = if whole_days {
        let days = (last - first) / DAY / DATES as f64;
        [1.0, 2.0, 7.0, 14.0, 30.0, 90.0, 365.0]
            .into_iter()
            .find(|step| *step >= days)
            .unwrap_or(730.0)
            * DAY
    } else {
        let hours = (last - first) / 3600.0 / DATES as f64;
        [0.25, 1.0, 3.0, 6.0, 12.0]
            .into_iter()
            .find(|step| *step >= hours)
            .unwrap_or(12.0)
            * 3600.0
    };
    let from = (first / every).ceil() as i64;
    let to = (last / every).floor() as i64;
    let named = |date: DateTime| {
        if whole_days {
            date.date().to_string()
        } else {
            date.strftime("%m-%d %H:%M").to_string()
        }
    };
    let round = (from..=to).map(|n| n as f64 * every);
    let mut ticks: Vec<(f64, String)> =
        round.filter_map(|at| Some((at, named(utc(at)?)))).collect();
    if ticks.is_empty() {
        let exact = |at: f64| {
            let date = utc(at)?.round(Every::Minute).ok()?;
            Some((at, date.strftime("%Y-%m-%d %H:%M").to_string()))
        };
        ticks.extend(exact(first));
    }
    ticks
}

/// A series as a figure; `None` as of [`trend`].
pub(crate) fn figure(series: &Series, id: String) -> Option<Figure> {
    let trend = trend(series)?;
    let plot = trend.plot()?;
    let unit = trend.unit;
    let (_, y) = plot.scales();
    let (bottom, top) = y.range;
    let known = trend.ends.iter().flatten();
    let whiskers = meaning(known.map(|[low, high]| Ends {
        low: *low,
        high: *high,
        interval: true,
    }));
    let elements = html! {
        (plot.frame())
        @for at in &trend.changes {
            @let x = plot.at((*at, 0.0)).0;
            path class="change" d=(svg::line([(x, bottom), (x, top)])) {}
        }
        @for (from, to, level) in &trend.levels {
            (plot.line(0, &[(*from, *level), (*to, *level)]))
        }
        @for (((time, value), ends), point) in
            trend.points.iter().zip(&trend.ends).zip(&series.points)
        {
            @if let Some([low, high]) = ends { (plot.interval(0, (*time, *low, *high))) }
            (plot.mark(0, (*time, *value), &format!(
                "{}, {}: {} {}", second(&point.started), point.run, unit.show(*value), unit.name(),
            )))
        }
        @for (at, step) in trend.changes.iter().zip(&series.changes) {
            @let x = plot.at((*at, 0.0)).0;
            (svg::text((x, top - 3.0), Anchor::Middle, "soft", &signed(step.change)))
        }
    };
    let mut legend = vec![Key::line(0, "level: the median of its runs")];
    if let Some(whiskers) = whiskers {
        legend[0].name = format!("{}. {whiskers}", legend[0].name);
    }
    Some(Figure {
        id,
        title: format!("{}: {} of {}", series.stage, series.plan, series.target),
        seen: seen(series, unit),
        drawing: Drawing::Svg(plot.height, elements),
        legend,
        numbers: numbers(series, unit),
    })
}

/// `9 runs, last 98 MB/s. 196 to 98 MB/s (-50 %) from 2026-11-06 on.`
fn seen(series: &Series, unit: Unit) -> String {
    let value = |value: f64| {
        format!("{} {}", unit.show(value), unit.name())
            .trim_end()
            .to_owned()
    };
    let last = series.points.last().map_or(f64::NAN, |point| point.value);
    let mut text = format!(
        "{}, the last {}.",
        count(series.points.len() as u64, "run"),
        value(last)
    );
    for (step, level) in series.changes.iter().zip(series.levels.windows(2)) {
        let begun = second(&series.points[step.first].started);
        let better = if step.better { "better" } else { "worse" };
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            " From {begun} on {better}: {} to {} ({}).",
            value(level[0]),
            value(level[1]),
            signed(step.change)
        );
    }
    if series.changes.is_empty() {
        text.push_str(if series.points.len() < diskfacts_facts::trends::RUNS_MIN {
            " Too few runs to look for a change of level."
        } else {
            " No change of level."
        });
    }
    text
}

fn numbers(series: &Series, unit: Unit) -> Table {
    let name = if unit == Unit::Ns {
        "median"
    } else {
        unit.name()
    };
    let heads = ["begun", "run", name, "from", "to", "trials"];
    let mut table = Table::new("runs", &heads);
    for point in &series.points {
        let end = |place: usize| point.interval.map(|ends| unit.show(ends[place]));
        table.push(vec![
            Cell::Text(second(&point.started)),
            Cell::Text(point.run.clone()),
            Cell::Number(unit.show(point.value)),
            Cell::known(end(0)),
            Cell::known(end(1)),
            Cell::Number(point.trials.to_string()),
        ]);
    }
    table.without_empty_columns()
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_facts::trends::{Point, Step};

    fn series() -> Series {
        let values = [200e6, 202e6, 198e6, 201e6, 100e6, 101e6, 99e6];
        let points = values.iter().enumerate().map(|(i, value)| Point {
            run: format!("run{i}"),
            started: format!("2026-11-{:02}T06:00:00Z", 2 * i + 1),
            value: *value,
            interval: (i != 2).then_some([value * 0.98, value * 1.02]),
            trials: 5,
        });
        Series {
            target: "/srv".into(),
            plan: "survey".into(),
            stage: "sequential-read".into(),
            measure: Measure::ThroughputBytesPerS,
            points: points.collect(),
            levels: vec![200.5e6, 100e6],
            changes: vec![Step {
                first: 4,
                change: -0.501,
                better: false,
                conditions: Vec::new(),
            }],
        }
    }

    fn drawn(figure: Figure) -> String {
        let Drawing::Svg(_, elements) = figure.drawing else {
            panic!("a drawing");
        };
        elements.into_string()
    }

    #[test]
    fn marks_levels_and_intervals_are_where_the_figures_are() {
        let series = series();
        let trend = trend(&series).unwrap();
        let plot = trend.plot().unwrap();
        let (x, y) = plot.scales();
        let markup = drawn(figure(&series, "t".into()).unwrap());
        let marks = svg::attributes(&markup, "mark", "transform");
        assert_eq!(marks.len(), series.points.len());
        for (mark, point) in marks.iter().zip(&series.points) {
            let inner = mark.trim_start_matches("translate(").trim_end_matches(')');
            let (at, value) = inner.split_once(' ').unwrap();
            let begun: Timestamp = point.started.parse().unwrap();
            let second = x.value(at.parse().unwrap());
            assert!(
                (second - begun.as_second() as f64).abs() < 3600.0,
                "{point:?}"
            );
            let value = y.value(value.parse().unwrap());
            assert!(
                (value / point.value - 1.0).abs() < 5e-3,
                "{value} {point:?}"
            );
        }
        let levels = svg::attributes(&markup, "line", "d");
        assert_eq!(levels.len(), 2);
        for (path, level) in levels.iter().zip(&series.levels) {
            for (_, value) in svg::points(path) {
                assert!((y.value(value) / level - 1.0).abs() < 5e-3);
            }
        }
        assert_eq!(svg::attributes(&markup, "interval", "d").len(), 6);
        // The change lies between the last run before and the first after.
        let change = svg::points(&svg::attributes(&markup, "change", "d")[0])[0].0;
        let second = x.value(change);
        assert!(trend.points[3].0 < second && second < trend.points[4].0);
    }

    #[test]
    fn the_sentence_dates_the_change_and_counts_the_runs() {
        let series = series();
        let seen = seen(&series, Unit::BytesPerS);
        assert_eq!(
            seen,
            "7 runs, the last 99 MB/s. From 2026-11-09T06:00:00Z on worse: 200 MB/s to 100 MB/s \
             (-50 %)."
        );
    }

    #[test]
    fn dates_are_round_and_few() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap().as_second() as f64;
        let names = |from: &str, to: &str| -> Vec<String> {
            dates(at(from), at(to))
                .into_iter()
                .map(|(_, name)| name)
                .collect()
        };
        assert_eq!(
            names("2026-11-01T05:00:00Z", "2026-11-05T05:00:00Z"),
            ["2026-11-02", "2026-11-03", "2026-11-04", "2026-11-05"]
        );
        assert_eq!(
            names("2026-11-01T05:10:00Z", "2026-11-01T14:00:00Z"),
            ["11-01 06:00", "11-01 09:00", "11-01 12:00"]
        );
        let many = names("2020-01-01T00:00:00Z", "2026-11-01T00:00:00Z");
        assert!((1..=DATES + 1).contains(&many.len()), "{many:?}");
        assert_eq!(
            names("2026-11-01T05:01:00Z", "2026-11-01T05:02:00Z").len(),
            1
        );
    }

    #[test]
    fn a_run_that_does_not_say_when_it_was_has_no_trend() {
        let mut series = series();
        series.points[1].started = "yesterday".into();
        assert_eq!(trend(&series), None);
    }
}
