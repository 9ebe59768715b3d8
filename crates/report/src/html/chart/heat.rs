//! Latency over the time of a trial: columns are times, rows are bands of latency, and a cell is
//! darker the more of its column's operations it has. The bands and shades are those of the
//! drawing in a terminal.

use crate::html::figure::{Drawing, Figure, Key};
use crate::html::plot::{Axis, Plot};
use crate::html::scale::{Scale, Unit};
use crate::html::svg::number;
use crate::html::table::{Cell, Table};
use crate::text::heat::{Axis as Bands, LEVELS, level};
use crate::text::over_time::{chosen, rates, trials, which};
use crate::text::stages::name;
use diskfacts_record::{CoarseHistogram, Run, StageFigures};
use maud::html;
use std::fmt::Write as _;

/// Units of the height of a band, at most and at least, and of the map around them.
const BAND: (f64, f64) = (8.0, 16.0);
const MAP: f64 = 130.0;
const AROUND: f64 = 60.0;

/// A trial, by time and latency.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Map {
    /// `random-read-qd1`.
    pub(crate) stage: String,
    /// `trial 3 of 5, the most unlike the others`.
    pub(crate) which: String,
    /// Seconds of a column.
    pub(crate) length_s: f64,
    /// Where each band of latency begins, ns, rising.
    pub(crate) bands: Vec<u64>,
    /// By time.
    pub(crate) columns: Vec<Column>,
}

/// An interval of a trial.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    /// Operations in each band.
    pub(crate) counts: Vec<u64>,
    /// Operations per second.
    pub(crate) rate: f64,
    /// Median and greatest latency, ns; none where nothing completed.
    pub(crate) latency: Option<(u64, u64)>,
}

/// The trial of a stage that is most unlike the others; `None` where no latencies over time are
/// kept.
pub(crate) fn map(run: &Run, figures: &StageFigures) -> Option<Map> {
    let trials = trials(run, figures);
    let trial = chosen(&trials, None).ok()?;
    let over_time = trial.latency_over_time.as_ref()?.unpack();
    let rows = (0..over_time.rows()).map(|row| over_time.measured(row, &trial.workload));
    let columns: Vec<CoarseHistogram> = rows.collect();
    let mut all = CoarseHistogram::new();
    for column in &columns {
        all.add(column);
    }
    let bands = Bands::of(&all)?;
    let length_s = over_time.length_ns() as f64 / 1e9;
    let rates = rates(&columns, length_s, trial);
    let of = |(column, rate): (&CoarseHistogram, f64)| Column {
        counts: bands.counts(column),
        rate,
        latency: column.quantile(0.5).zip(column.quantile(1.0)),
    };
    let unlike = if trials.len() > 1 {
        ", the most unlike the others"
    } else {
        ""
    };
    Some(Map {
        stage: name(figures),
        which: format!("{}{unlike}", which(trial, &trials)),
        length_s,
        columns: columns.iter().zip(rates).map(of).collect(),
        bands: bands.0,
    })
}

/// The drawing of a map.
pub(crate) fn figure(id: String, map: &Map) -> Figure {
    let many = map.bands.len();
    let band = (MAP / many as f64).clamp(BAND.0, BAND.1);
    let end = map.columns.len() as f64 * map.length_s;
    let x = Axis::of("time in the trial", Unit::Ns, Scale::linear(0.0, end * 1e9));
    // Bands are numbered: their edges are no round numbers of a scale.
    let y = Axis::of("latency", Unit::Plain, Scale::linear(0.0, many as f64));
    let labels = map.bands.iter().enumerate();
    let labels = labels.map(|(place, ns)| (place as f64, Unit::Ns.show(*ns as f64)));
    let y = y.with_ticks(labels.collect());
    let plot = Plot::with_height(x, y, many as f64 * band + AROUND);
    let drawing = html! {
        (plot.frame())
        @for shade in 0..=LEVELS.len() {
            path class={ "heat t" (shade) } d=(cells(map, &plot, shade)) {}
        }
    };
    let shares: Vec<String> = LEVELS
        .iter()
        .map(|share| Unit::Share.show(*share))
        .collect();
    let last = shares.len();
    let of = |place: usize| match place {
        0 => format!("under {}", shares[0]),
        place if place == last => format!("from {} of a column", shares[place - 1]),
        place => format!("from {}", shares[place - 1]),
    };
    let legend = (0..=last).map(|place| Key::area(&format!("heat t{place}"), "", of(place)));
    Figure {
        id,
        title: format!("Latency over time: {}", map.stage),
        seen: seen(map),
        drawing: Drawing::Svg(plot.height, drawing),
        legend: legend.collect(),
        numbers: numbers(map),
    }
}

/// The cells of a shade: of neighbours in a band one rectangle.
fn cells(map: &Map, plot: &Plot, shade: usize) -> String {
    let is_shaded = |column: &Column, band: usize| {
        let all = column.counts.iter().sum();
        level(column.counts[band], all) == Some(shade)
    };
    let mut path = String::new();
    for band in 0..map.bands.len() {
        let mut place = 0;
        while place < map.columns.len() {
            let run = map.columns[place..].iter();
            let run = run.take_while(|column| is_shaded(column, band)).count();
            if run > 0 {
                let at = |place: usize| place as f64 * map.length_s * 1e9;
                let (left, top) = plot.at((at(place), (band + 1) as f64));
                let (right, bottom) = plot.at((at(place + run), band as f64));
                // Writing to a String cannot fail.
                let _ = write!(
                    path,
                    "M{} {}H{}V{}H{}Z",
                    number(left),
                    number(top),
                    number(right),
                    number(bottom),
                    number(left)
                );
            }
            place += run.max(1);
        }
    }
    path
}

/// Which trial, where most operations lie, and when the slowest completed.
fn seen(map: &Map) -> String {
    let slowest = map
        .columns
        .iter()
        .enumerate()
        .filter_map(|(place, column)| Some((place, column.latency?.1)))
        .max_by_key(|(_, ns)| *ns);
    let slowest = slowest.map_or_else(String::new, |(place, ns)| {
        format!(
            " The slowest operation took {} and completed {} to {} after the start.",
            Unit::Ns.show(ns as f64),
            seconds(place as f64 * map.length_s),
            seconds((place + 1) as f64 * map.length_s)
        )
    });
    let medians = map
        .columns
        .iter()
        .filter_map(|column| Some(column.latency?.0));
    let medians =
        medians
            .clone()
            .min()
            .zip(medians.max())
            .map_or_else(String::new, |(low, high)| {
                let (low, high) = (Unit::Ns.show(low as f64), Unit::Ns.show(high as f64));
                if low == high {
                    format!(" The median stays at {low}.")
                } else {
                    format!(" The median of a column goes from {low} to {high}.")
                }
            });
    let mut which = map.which.clone();
    if let Some(first) = which.get(..1).map(str::to_uppercase) {
        which.replace_range(..1, &first);
    }
    format!("{which}.{medians}{slowest}")
}

fn seconds(s: f64) -> String {
    Unit::Ns.show(s * 1e9)
}

fn numbers(map: &Map) -> Table {
    let heads = ["from", "IOPS", "p50", "most"];
    let mut table = Table::new("Latency over time", &heads);
    for (place, column) in map.columns.iter().enumerate() {
        let show = |ns: u64| Unit::Ns.show(ns as f64);
        table.push(vec![
            Cell::Number(seconds(place as f64 * map.length_s)),
            Cell::Number(Unit::PerS.show(column.rate)),
            Cell::known(column.latency.map(|(median, _)| show(median))),
            Cell::known(column.latency.map(|(_, most)| show(most))),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::svg;
    use maud::Render as _;

    fn map() -> Map {
        let column = |counts: [u64; 3]| Column {
            counts: counts.to_vec(),
            rate: 10.0,
            latency: Some((100_000, 3_000_000)),
        };
        Map {
            stage: "a".into(),
            which: "trial 2 of 5, the most unlike the others".into(),
            length_s: 0.5,
            bands: vec![100_000, 1_000_000, 2_000_000],
            columns: vec![column([99, 1, 0]), column([995, 0, 5]), column([0, 0, 0])],
        }
    }

    #[test]
    fn a_cell_lies_at_its_time_and_band_in_the_shade_of_its_share() {
        let markup = figure("r1-heat-1".into(), &map()).render().into_string();
        let path = |shade: &str| svg::attributes(&markup, shade, "d")[0].clone();
        let axis = svg::points(&svg::attributes(&markup, "axis", "d")[0]);
        let ((left, top), (_, bottom), (right, _)) = (axis[0], axis[1], axis[2]);
        let third = (right - left) / 3.0;
        let row = (bottom - top) / 3.0;
        // Both first columns have nearly all in the lowest band: one rectangle.
        let expected = [left, bottom - row, left + 2.0 * third, bottom, left].map(number);
        let [l, t, r, b, _] = &expected;
        assert_eq!(path("t3"), format!("M{l} {t}H{r}V{b}H{l}Z"));
        // A hundredth in the second band of the first column; five in a thousand in the third.
        assert!(path("t1").starts_with(&format!("M{l} {}", number(bottom - 2.0 * row))));
        assert!(path("t0").starts_with(&format!("M{} {}", number(left + third), number(top))));
        assert_eq!(path("t2"), "");
    }

    #[test]
    fn what_is_seen_is_said() {
        assert_eq!(
            seen(&map()),
            "Trial 2 of 5, the most unlike the others. The median stays at 100 µs. The slowest \
             operation took 3 ms and completed 1 s to 1.5 s after the start."
        );
    }
}
