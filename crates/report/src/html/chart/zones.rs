//! The rate by the place on the target: outer and inner tracks, and places that are slow.

use super::binary;
use super::cells::measured;
use super::ends::{Ends, meaning};
use crate::html::figure::{Drawing, Figure, Key};
use crate::html::plot::{Axis, Plot};
use crate::html::scale::{Scale, Unit};
use crate::html::table::{Cell, Table};
use crate::text::words::percent;
use diskfacts_plan::units::show_size;
use diskfacts_plan::{Stop, Workload};
use diskfacts_record::Run;
use maud::html;

/// Fewest places that make a drawing.
const PLACES_MIN: usize = 3;

/// One stage at several places that differ in nothing else.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Zones {
    /// Name of the stage.
    pub(crate) stage: String,
    /// By rising offset.
    pub(crate) places: Vec<Place>,
    /// Bytes of the target.
    pub(crate) size: u64,
}

/// A place, and the rate there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Place {
    /// First byte.
    pub(crate) from: u64,
    /// Behind the last byte.
    pub(crate) to: u64,
    /// Bytes per second.
    pub(crate) rate: f64,
    /// Around the rate.
    pub(crate) ends: Option<Ends>,
}

impl Zones {
    pub(crate) fn fastest(&self) -> Option<&Place> {
        self.places.iter().max_by(|a, b| a.rate.total_cmp(&b.rate))
    }

    pub(crate) fn slowest(&self) -> Option<&Place> {
        self.places.iter().min_by(|a, b| a.rate.total_cmp(&b.rate))
    }
}

/// The stages of a run that are measured at several places.
pub(crate) fn zones(run: &Run) -> Vec<Zones> {
    let size = run.target.size_bytes;
    let mut all: Vec<(Workload, Zones)> = Vec::new();
    for (asked, figures) in measured(run) {
        let rate = &figures.throughput_bytes_per_s;
        let known = figures.errors == 0 && rate.trials > 0 && rate.median.is_finite();
        let whole = asked.span.is_none() && asked.span_share.is_none();
        if size == 0 || !known || rate.median <= 0.0 || whole {
            continue;
        }
        let mut workload = asked.clone();
        workload.resolve(size);
        let place = Place {
            from: workload.offset,
            to: workload
                .offset
                .saturating_add(workload.span.unwrap_or(0))
                .min(size),
            rate: rate.median,
            ends: Ends::of(rate),
        };
        let elsewhere = elsewhere(asked);
        let same = |(known, zones): &&mut (Workload, Zones)| {
            *known == elsewhere && zones.stage == figures.stage
        };
        match all.iter_mut().find(same) {
            Some((_, zones)) => zones.places.push(place),
            None => all.push((
                elsewhere,
                Zones {
                    stage: figures.stage.clone(),
                    places: vec![place],
                    size,
                },
            )),
        }
    }
    let zones = all.into_iter().map(|(_, mut zones)| {
        zones.places.sort_by_key(|place| place.from);
        zones
    });
    // Each has to be a place of its own: else the cells differ in the settings of the kernel.
    let apart = |zones: &Zones| zones.places.windows(2).all(|p| p[0].from < p[1].from);
    zones
        .filter(|zones| zones.places.len() >= PLACES_MIN && apart(zones))
        .collect()
}

/// What was asked for, wherever it was to be done.
fn elsewhere(asked: &Workload) -> Workload {
    Workload {
        offset: 0,
        span: None,
        offset_share: None,
        span_share: None,
        stop: Stop::default(),
        ..asked.clone()
    }
}

/// Places that lie side by side, without a gap between them.
fn stretches(places: &[Place]) -> impl Iterator<Item = &[Place]> {
    // What a plan gives in shares is rounded to whole blocks.
    places.chunk_by(|a, b| b.from.saturating_sub(a.to) <= (a.to - a.from) / 8)
}

impl Zones {
    /// The axes: the place on the target, and the rate from 0 on.
    pub(crate) fn plot(&self) -> Plot {
        let rates = self.places.iter().map(|place| place.rate);
        let ends = self.places.iter().filter_map(|place| place.ends);
        let high = rates.chain(ends.map(|ends| ends.high)).fold(0.0, f64::max);
        let place = Scale::linear(0.0, self.size as f64);
        let x = Axis::of("place on the target", Unit::Bytes, place);
        let x = x.with_ticks(binary::linear(self.size));
        Plot::new(x, Axis::linear("", Unit::BytesPerS, 0.0, high))
    }
}

/// The zones as a figure.
pub(crate) fn figure(zones: &Zones, id: String) -> Figure {
    let plot = zones.plot();
    let elements = html! {
        (plot.frame())
        @for stretch in stretches(&zones.places) {
            @let ends: Vec<(f64, f64, f64)> = stretch
                .iter()
                .filter_map(|place| Some((place, place.ends?)))
                .flat_map(|(place, ends)| {
                    [place.from, place.to].map(|at| (at as f64, ends.low, ends.high))
                })
                .collect();
            @if !ends.is_empty() { (plot.band(0, &ends)) }
            @let steps: Vec<(f64, f64)> = stretch
                .iter()
                .flat_map(|place| [place.from, place.to].map(|at| (at as f64, place.rate)))
                .collect();
            (plot.line(0, &steps))
        }
    };
    let spread = meaning(zones.places.iter().filter_map(|place| place.ends));
    let legend = spread.map(|spread| Key::line(0, spread.replace("Whiskers", "Bands")));
    Figure {
        id,
        title: format!("{}: rate by place", zones.stage),
        seen: seen(zones),
        drawing: Drawing::Svg(plot.height, elements),
        legend: legend.into_iter().collect(),
        numbers: numbers(zones),
    }
}

/// `150 MB/s at 0 B, 101 MB/s at 866 GiB: the slowest of 31 places is 32 % below the fastest.`
fn seen(zones: &Zones) -> String {
    let (Some(fastest), Some(slowest)) = (zones.fastest(), zones.slowest()) else {
        return String::new();
    };
    let at = |place: &Place| {
        format!(
            "{} MB/s at {}",
            Unit::BytesPerS.show(place.rate),
            show_size(place.from)
        )
    };
    format!(
        "{}, {}: the slowest of {} places is {} below the fastest.",
        at(fastest),
        at(slowest),
        zones.places.len(),
        percent(1.0 - slowest.rate / fastest.rate)
    )
}

fn numbers(zones: &Zones) -> Table {
    let mut table = Table::new("places", &["from", "to", "MB/s", "low", "high"]);
    let rate = |value: f64| Unit::BytesPerS.show(value);
    for place in &zones.places {
        table.push(vec![
            Cell::Number(show_size(place.from)),
            Cell::Number(show_size(place.to)),
            Cell::Number(rate(place.rate)),
            Cell::known(place.ends.map(|ends| rate(ends.low))),
            Cell::known(place.ends.map(|ends| rate(ends.high))),
        ]);
    }
    table.without_empty_columns()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use crate::html::svg;

    #[test]
    fn places_stand_where_the_plan_puts_them_with_the_rates_of_the_figures() {
        let run = fixtures::zones();
        let all = zones(&run);
        let [zones] = all.as_slice() else {
            panic!("{all:?}");
        };
        // One of 32 positions was not measured.
        assert_eq!(zones.places.len(), 31);
        let size = run.target.size_bytes;
        for (place, figures) in zones.places.iter().zip(&run.figures) {
            let position = figures.settings["position"].trim_end_matches('%');
            let share: f64 = position.parse::<f64>().unwrap() / 100.0;
            assert!((place.from as f64 - share * size as f64).abs() < f64::from(1 << 20));
            assert!((place.to - place.from) as f64 <= size as f64 / 32.0);
            let rate = figures.throughput_bytes_per_s;
            assert!((place.rate - rate.median).abs() < 1e-6);
            assert!((place.ends.unwrap().high - rate.max).abs() < 1e-6);
        }
        assert_eq!(zones.fastest().unwrap().from, 0);
        assert_eq!(zones.slowest(), zones.places.last());
    }

    #[test]
    fn the_line_has_a_step_for_each_place_at_its_rate_and_a_gap_where_none_was_measured() {
        let all = zones(&fixtures::zones());
        let plot = all[0].plot();
        let (x, y) = plot.scales();
        let Drawing::Svg(_, markup) = figure(&all[0], "z".into()).drawing else {
            panic!("a drawing");
        };
        let lines = svg::attributes(&markup.into_string(), "line", "d");
        assert_eq!(lines.len(), 2);
        let points: Vec<(f64, f64)> = lines.iter().flat_map(|path| svg::points(path)).collect();
        assert_eq!(points.len(), 2 * all[0].places.len());
        let size = all[0].size as f64;
        for (pair, place) in points.chunks(2).zip(&all[0].places) {
            assert!((x.value(pair[0].0) - place.from as f64).abs() < size / 1000.0);
            assert!((x.value(pair[1].0) - place.to as f64).abs() < size / 1000.0);
            assert!((y.value(pair[0].1) / place.rate - 1.0).abs() < 5e-3);
        }
        assert_eq!(
            seen(&all[0]),
            "150 MB/s at 0 B, 102 MB/s at 992 MiB: the slowest of 31 places is 32 % below the \
             fastest."
        );
    }

    #[test]
    fn other_matrices_and_few_places_are_no_zones() {
        assert!(zones(&fixtures::stride()).is_empty());
        assert!(zones(&fixtures::tuned()).is_empty());
        assert!(zones(&fixtures::healthy()).is_empty());
        let mut few = fixtures::zones();
        few.figures.truncate(2);
        assert!(zones(&few).is_empty());
    }
}
