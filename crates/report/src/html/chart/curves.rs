//! The rate by the size of something: a line for each way, over block sizes, say.

use super::binary;
use super::ends::{Ends, meaning};
use crate::html::figure::{Drawing, Figure, Key};
use crate::html::plot::{Axis, Plot, SERIES};
use crate::html::scale::{Scale, Unit};
use crate::html::table::{Cell, Table};
use crate::notes::direct_refused;
use crate::text::list;
use crate::text::matrix::{Grid, grids};
use diskfacts_plan::Pattern;
use diskfacts_plan::units::parse_size;
use diskfacts_record::Run;
use maud::html;

/// Sizes from which on a line says more than a table.
const SIZES_MIN: usize = 4;
/// From how many times the least on the greatest would hide what is small.
const WIDE: f64 = 20.0;

/// Lines of one drawing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curves {
    /// Name of the stage.
    pub(crate) stage: String,
    /// What the sizes are of.
    pub(crate) axis: String,
    /// One for each way.
    pub(crate) lines: Vec<Line>,
}

/// One way.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    pub(crate) name: String,
    /// By rising size.
    pub(crate) points: Vec<Point>,
}

/// One size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    /// In bytes, or of whatever is counted; above 0.
    pub(crate) size: f64,
    /// Bytes per second.
    pub(crate) rate: f64,
    /// Around the rate.
    pub(crate) ends: Option<Ends>,
}

/// The curves of a run, as many lines in each as can be told apart.
pub(crate) fn curves(run: &Run) -> Vec<Curves> {
    let mut all = Vec::new();
    for grid in grids(run) {
        // Distances have a drawing of their own.
        let strided = |pattern| matches!(pattern, Pattern::Stride { .. });
        if grid
            .cells()
            .any(|(stage, _)| strided(stage.workload.pattern))
        {
            continue;
        }
        let Some(sizes) = sizes(&grid) else {
            continue;
        };
        let lines: Vec<Line> = grid
            .heads
            .iter()
            .map(|head| line(run, &grid, head, &sizes))
            .filter(|line| line.points.len() >= SIZES_MIN)
            .collect();
        let parts = lines.len().div_ceil(SERIES).max(1);
        let each = lines.len().div_ceil(parts).max(1);
        all.extend(lines.chunks(each).map(|lines| Curves {
            stage: grid.name().to_owned(),
            axis: grid.shown().to_owned(),
            lines: lines.to_vec(),
        }));
    }
    all
}

/// What stands down as rising numbers; `None` where that is something else.
fn sizes(grid: &Grid<'_>) -> Option<Vec<f64>> {
    let size = |row: &String| {
        let row = row.replace(' ', "");
        let size = row.parse::<u64>().ok().or_else(|| parse_size(&row).ok())?;
        (size > 0).then_some(size as f64)
    };
    let sizes: Vec<f64> = grid.rows.iter().map(size).collect::<Option<_>>()?;
    let rise = sizes.windows(2).all(|pair| pair[0] < pair[1]);
    (rise && sizes.len() >= SIZES_MIN).then_some(sizes)
}

fn line(run: &Run, grid: &Grid<'_>, head: &str, sizes: &[f64]) -> Line {
    let points = grid.rows.iter().zip(sizes).filter_map(|(row, size)| {
        let figures = grid.at(row, head)?;
        let rate = &figures.throughput_bytes_per_s;
        let done = figures.errors == 0 && direct_refused(run, figures).is_none();
        let known = rate.trials > 0 && rate.median.is_finite() && rate.median > 0.0;
        (done && known).then(|| Point {
            size: *size,
            rate: rate.median,
            ends: Ends::of(rate),
        })
    });
    Line {
        name: head.to_owned(),
        points: points.collect(),
    }
}

impl Curves {
    fn points(&self) -> impl Iterator<Item = &Point> {
        self.lines.iter().flat_map(|line| &line.points)
    }

    /// Whether the sizes are bytes.
    fn of_bytes(&self) -> bool {
        self.axis == "size"
    }

    /// The axes; `None` without points.
    pub(crate) fn plot(&self) -> Option<Plot> {
        let sizes = || self.points().map(|point| point.size);
        let (least, most) = (
            sizes().min_by(f64::total_cmp)?,
            sizes().max_by(f64::total_cmp)?,
        );
        let rates = self.points().map(|point| point.rate);
        let ends = self.points().filter_map(|point| point.ends);
        let all: Vec<f64> = rates
            .chain(ends.flat_map(|ends| [ends.low, ends.high]))
            .filter(|v| *v > 0.0)
            .collect();
        let low = all.iter().copied().min_by(f64::total_cmp)?;
        let high = all.iter().copied().max_by(f64::total_cmp)?;
        let unit = if self.of_bytes() {
            Unit::Bytes
        } else {
            Unit::Plain
        };
        let size = Scale::logarithmic(least / 1.2, most * 1.2);
        let mut x = Axis::of(&self.axis, unit, size);
        if self.of_bytes() {
            x = x.with_ticks(binary::logarithmic(least as u64, most as u64));
        }
        let y = if high > WIDE * low {
            Axis::logarithmic("", Unit::BytesPerS, low, high)
        } else {
            Axis::linear("", Unit::BytesPerS, 0.0, high)
        };
        Some(Plot::new(x, y))
    }
}

/// Curves as a figure; `None` without points.
pub(crate) fn figure(curves: &Curves, id: String) -> Option<Figure> {
    let plot = curves.plot()?;
    let shown = |point: &Point| {
        let unit = if curves.of_bytes() {
            Unit::Bytes
        } else {
            Unit::Plain
        };
        let (rate, size) = (Unit::BytesPerS.show(point.rate), unit.show(point.size));
        format!("{rate} MB/s at {size}")
    };
    let elements = html! {
        (plot.frame())
        @for (place, line) in curves.lines.iter().enumerate() {
            (plot.line(place, &line.points.iter().map(|p| (p.size, p.rate)).collect::<Vec<_>>()))
            @for point in &line.points {
                @if let Some(ends) = point.ends {
                    (plot.interval(place, (point.size, ends.low, ends.high)))
                }
                (plot.mark(
                    place,
                    (point.size, point.rate),
                    &format!("{}: {}", line.name, shown(point)),
                ))
            }
        }
    };
    let named = curves
        .lines
        .iter()
        .enumerate()
        .filter(|(_, line)| !line.name.is_empty());
    let mut legend: Vec<Key> = named
        .map(|(place, line)| Key::line(place, &line.name))
        .collect();
    let spread = meaning(curves.points().filter_map(|point| point.ends));
    if let (Some(last), Some(spread)) = (legend.last_mut(), spread) {
        last.name = format!("{}. {spread}", last.name);
    }
    let mut numbers = Table::new("rates", &["way", &curves.axis, "MB/s", "low", "high"]);
    for line in &curves.lines {
        for point in &line.points {
            let rate = |value: f64| Unit::BytesPerS.show(value);
            let unit = if curves.of_bytes() {
                Unit::Bytes
            } else {
                Unit::Plain
            };
            numbers.push(vec![
                Cell::Text(line.name.clone()),
                Cell::Number(unit.show(point.size)),
                Cell::Number(rate(point.rate)),
                Cell::known(point.ends.map(|ends| rate(ends.low))),
                Cell::known(point.ends.map(|ends| rate(ends.high))),
            ]);
        }
    }
    let by_rate = |a: &&(&Line, &Point), b: &&(&Line, &Point)| a.1.rate.total_cmp(&b.1.rate);
    let all: Vec<(&Line, &Point)> = curves
        .lines
        .iter()
        .flat_map(|line| line.points.iter().map(move |point| (line, point)))
        .collect();
    let ends = [all.iter().max_by(by_rate)?, all.iter().min_by(by_rate)?];
    let ends = ends.map(|(line, point)| format!("{} ({})", shown(point), line.name));
    Some(Figure {
        id,
        title: format!("{}: rate by {}", curves.stage, curves.axis),
        seen: format!("From the highest to the lowest: {}.", list(&ends)),
        drawing: Drawing::Svg(plot.height, elements),
        legend,
        numbers: numbers.without_empty_columns(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use crate::html::svg;

    #[test]
    fn each_line_is_read_back_as_the_rates_of_its_figures() {
        let run = fixtures::write_matrix();
        let all = curves(&run);
        // Nine ways and twelve, at most eight in a drawing.
        let lines: Vec<usize> = all.iter().map(|curves| curves.lines.len()).collect();
        assert_eq!(lines, [5, 4, 6, 6]);
        for curves in &all {
            let plot = curves.plot().unwrap();
            let (x, y) = plot.scales();
            let Drawing::Svg(_, markup) = figure(curves, "c".into()).unwrap().drawing else {
                panic!("a drawing");
            };
            let paths = svg::attributes(&markup.into_string(), "line", "d");
            assert_eq!(paths.len(), curves.lines.len());
            for (path, line) in paths.iter().zip(&curves.lines) {
                let points = svg::points(path);
                assert_eq!(points.len(), 14);
                for ((a, b), point) in points.into_iter().zip(&line.points) {
                    let figures = run.figures.iter().find(|figures| {
                        figures.stage == curves.stage
                            && figures.settings["mode"] == line.name
                            && (figures.throughput_bytes_per_s.median - point.rate).abs() < 1e-6
                    });
                    assert!(figures.is_some(), "{} {point:?}", line.name);
                    assert!((x.value(a) / point.size - 1.0).abs() < 1e-2, "{point:?}");
                    assert!((y.value(b) / point.rate - 1.0).abs() < 2e-2, "{point:?}");
                }
            }
        }
    }

    #[test]
    fn positions_distances_and_names_are_no_sizes() {
        assert!(curves(&fixtures::zones()).is_empty());
        assert!(curves(&fixtures::stride()).is_empty());
        assert!(curves(&fixtures::tuned()).is_empty());
        assert!(curves(&fixtures::streams()).is_empty());
        assert!(curves(&fixtures::healthy()).is_empty());
    }

    #[test]
    fn what_was_refused_has_no_point() {
        let mut run = fixtures::write_matrix();
        fixtures::refuse_direct(&mut run, |trial| trial.workload.block_size < 8192);
        let direct = |line: &&Line| line.name.contains("DIRECT");
        let all = curves(&run);
        let mut lines = all.iter().flat_map(|curves| &curves.lines).filter(direct);
        assert!(lines.all(|line| line.points.len() == 13 && line.points[0].size > 8000.0));
    }
}
