//! How deep, how much: latency against rate of stages that differ in the number of operations in
//! flight only, with the depths that were measured, and the knee where there is one.
//!
//! Nothing is fitted: the line joins the points. The knee is the fewest in flight that do as
//! much as the best, within what no depth is chosen for; two points have none.

use crate::html::figure::{Drawing, Figure, Key};
use crate::html::plot::{Axis, Plot};
use crate::html::scale::Unit;
use crate::html::svg::{self, Anchor};
use crate::html::table::{Cell, Table};
use diskfacts_plan::Workload;
use diskfacts_record::{Run, StageFigures};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Share of the best rate from which on a depth is as good.
const ENOUGH: f64 = diskfacts_facts::limits::ENOUGH_OF_BEST;
/// How many times the least rate the most may be on a linear axis.
const LINEAR: f64 = 10.0;
/// Ladders of one drawing.
const LADDERS: usize = 6;

/// Depths that were measured of one workload.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ladder {
    /// What they have in common: `random-read`.
    pub(crate) name: String,
    /// By rising depth.
    pub(crate) rungs: Vec<Rung>,
}

/// A depth.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rung {
    /// Operations in flight.
    pub(crate) depth: u64,
    /// Operations per second: the median, and its interval of 95 % or the range of few trials.
    pub(crate) iops: f64,
    pub(crate) interval: [f64; 2],
    /// Median latency, ns.
    pub(crate) p50: u64,
    /// The 99th percentile, ns, where it is known.
    pub(crate) p99: Option<u64>,
}

impl Ladder {
    /// The fewest in flight that do as much as the best, of three depths or more: where the
    /// deepest is the first to, whether it is a knee is not known.
    pub(crate) fn knee(&self) -> Option<&Rung> {
        let best = self.rungs.iter().map(|rung| rung.iops).fold(0.0, f64::max);
        let knee = self.rungs.iter().find(|rung| rung.iops >= ENOUGH * best)?;
        let deepest = self.rungs.last()?;
        (self.rungs.len() >= 3 && knee.depth < deepest.depth).then_some(knee)
    }
}

/// Workloads of two depths or more, each with its depths.
pub(crate) fn ladders(run: &Run) -> Vec<Ladder> {
    let mut found: Vec<(Common, Vec<(&StageFigures, Rung)>)> = Vec::new();
    for figures in &run.figures {
        let trial = run.trials.iter();
        let mut trial = trial
            .filter(|trial| trial.stage == figures.stage && trial.settings == figures.settings);
        let Some(trial) = trial.next() else { continue };
        let Some(rung) = rung(figures, &trial.workload) else {
            continue;
        };
        // An open loop has as many in flight as come.
        if trial.workload.rate.is_some() || run.is_test(&figures.stage) {
            continue;
        }
        let common = common(&trial.workload, &figures.settings);
        match found.iter_mut().find(|(known, _)| *known == common) {
            Some((_, rungs)) => rungs.push((figures, rung)),
            None => found.push((common, vec![(figures, rung)])),
        }
    }
    let ladders = found.into_iter().filter_map(|(_, mut rungs)| {
        rungs.sort_by_key(|(_, rung)| rung.depth);
        rungs.dedup_by(|a, b| a.1.depth == b.1.depth);
        (rungs.len() > 1).then(|| Ladder {
            name: common_name(&rungs),
            rungs: rungs.into_iter().map(|(_, rung)| rung).collect(),
        })
    });
    ladders.take(LADDERS).collect()
}

/// What stages of a ladder have in common: all but the depth, and how long it took.
type Common = (Workload, BTreeMap<String, String>);

fn common(workload: &Workload, settings: &BTreeMap<String, String>) -> Common {
    let workload = Workload {
        queue_depth: 1,
        streams: 1,
        stop: Workload::default().stop,
        ..workload.clone()
    };
    let others = settings.iter();
    let others = others.filter(|(key, _)| !["queue_depth", "streams"].contains(&key.as_str()));
    let others = others.map(|(key, value)| (key.clone(), value.clone()));
    (workload, others.collect())
}

fn rung(figures: &StageFigures, workload: &Workload) -> Option<Rung> {
    let rate = &figures.iops;
    Some(Rung {
        depth: u64::from(workload.queue_depth) * u64::from(workload.streams),
        iops: (rate.trials > 0).then_some(rate.median)?,
        interval: rate.ci95.unwrap_or([rate.min, rate.max]),
        p50: figures.latency_ns.p50?,
        p99: figures.latency_ns.p99,
    })
}

/// What their names begin with alike, without the depth: `random-read` of `random-read-qd1` and
/// `random-read-qd32`.
fn common_name(rungs: &[(&StageFigures, Rung)]) -> String {
    let first = rungs[0].0.stage.as_str();
    let alike = |name: &str| {
        let pairs = first.chars().zip(name.chars());
        pairs
            .take_while(|(a, b)| a == b)
            .map(|(a, _)| a.len_utf8())
            .sum::<usize>()
    };
    let length = rungs.iter().map(|(figures, _)| alike(&figures.stage)).min();
    let common = &first[..length.unwrap_or(0)];
    if common.len() == first.len() {
        return common.to_owned();
    }
    let common = common.trim_end_matches(|c: char| c.is_ascii_digit());
    let common = common.strip_suffix("qd").unwrap_or(common);
    let common = common.trim_end_matches(['-', '_', ' ']);
    if common.is_empty() {
        first.to_owned()
    } else {
        common.to_owned()
    }
}

/// `None` where no workload was measured at two depths.
pub(crate) fn figure(id: String, run: &Run) -> Option<Figure> {
    let ladders = ladders(run);
    let rungs = || ladders.iter().flat_map(|ladder| &ladder.rungs);
    let most = rungs().map(|rung| rung.interval[1]).reduce(f64::max)?;
    let least = rungs().map(|rung| rung.interval[0]).reduce(f64::min)?;
    let low = rungs().map(|rung| rung.p50).min()?;
    let high = rungs().map(|rung| rung.p99.unwrap_or(rung.p50)).max()?;
    // Linear where that leaves room for all of them.
    let x = if most < LINEAR * least {
        Axis::linear("rate", Unit::PerS, 0.0, most)
    } else {
        Axis::logarithmic("rate", Unit::PerS, least, most)
    };
    let y = Axis::logarithmic("latency", Unit::Ns, low.max(1) as f64, high as f64);
    let plot = Plot::new(x, y);
    let drawing = html! {
        (plot.frame())
        @for (place, ladder) in ladders.iter().enumerate() {
            (drawn(&plot, place, ladder))
        }
    };
    let legend = ladders.iter().enumerate();
    Some(Figure {
        id,
        title: "How deep, how much: latency against rate".to_owned(),
        seen: seen(&ladders),
        drawing: Drawing::Svg(plot.height, drawing),
        legend: legend
            .map(|(place, ladder)| Key::line(place, &ladder.name))
            .collect(),
        numbers: numbers(&ladders),
    })
}

fn drawn(plot: &Plot, place: usize, ladder: &Ladder) -> Markup {
    let line: Vec<(f64, f64)> = ladder.rungs.iter().map(point).collect();
    let knee = ladder.knee();
    html! {
        @for rung in &ladder.rungs {
            @if let Some(p99) = rung.p99 {
                (plot.interval(place, (rung.iops, rung.p50 as f64, p99 as f64)))
            }
        }
        (plot.line(place, &line))
        @for rung in &ladder.rungs {
            @let is_knee = knee == Some(rung);
            (plot.mark(place, point(rung), &said(ladder, rung)))
            @let (x, y) = plot.at(point(rung));
            @let label = if is_knee { format!("{} knee", rung.depth) } else { rung.depth.to_string() };
            @let right = x + 6.0 + svg::text_width(&label) > svg::WIDTH;
            @let (x, anchor) = if right { (x - 6.0, Anchor::End) } else { (x + 6.0, Anchor::Start) };
            (svg::text((x, y + 12.0), anchor, "soft", &label))
        }
    }
}

fn point(rung: &Rung) -> (f64, f64) {
    (rung.iops, rung.p50 as f64)
}

fn said(ladder: &Ladder, rung: &Rung) -> String {
    let p99 = rung
        .p99
        .map(|ns| format!(", p99 {}", Unit::Ns.show(ns as f64)));
    format!(
        "{}, {} in flight: {} IOPS, p50 {}{}",
        ladder.name,
        rung.depth,
        Unit::PerS.show(rung.iops),
        Unit::Ns.show(rung.p50 as f64),
        p99.unwrap_or_default()
    )
}

/// What more in flight gives, and what it costs.
fn seen(ladders: &[Ladder]) -> String {
    let said: Vec<String> = ladders
        .iter()
        .map(|ladder| {
            let (first, last) = (&ladder.rungs[0], &ladder.rungs[ladder.rungs.len() - 1]);
            let times = |a: f64, b: f64| Unit::Plain.show(b / a);
            let knee = ladder.knee().map_or_else(String::new, |knee| {
                let best = ladder.rungs.iter().map(|rung| rung.iops).fold(0.0, f64::max);
                let share = Unit::Share.show(knee.iops / best);
                format!(", and {} in flight reach {share} of the best rate", knee.depth)
            });
            format!(
                "{}: {} instead of {} in flight give {} times the rate at {} times the latency{knee}",
                ladder.name,
                last.depth,
                first.depth,
                times(first.iops, last.iops),
                times(first.p50 as f64, last.p50 as f64),
            )
        })
        .collect();
    format!(
        "{}. Numbers at the marks are operations in flight; lines go from the median up to p99.",
        said.join("; ")
    )
}

fn numbers(ladders: &[Ladder]) -> Table {
    let heads = ["workload", "in flight", "IOPS", "from", "to", "p50", "p99"];
    let mut table = Table::new("Latency and rate by depth", &heads);
    for ladder in ladders {
        for rung in &ladder.rungs {
            table.push(vec![
                Cell::Text(ladder.name.clone()),
                Cell::Number(rung.depth.to_string()),
                Cell::Number(Unit::PerS.show(rung.iops)),
                Cell::Number(Unit::PerS.show(rung.interval[0])),
                Cell::Number(Unit::PerS.show(rung.interval[1])),
                Cell::Number(Unit::Ns.show(rung.p50 as f64)),
                Cell::known(rung.p99.map(|ns| Unit::Ns.show(ns as f64))),
            ]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rung(depth: u64, iops: f64, p50: u64) -> Rung {
        Rung {
            depth,
            iops,
            interval: [iops * 0.98, iops * 1.02],
            p50,
            p99: Some(p50 * 2),
        }
    }

    fn ladder() -> Ladder {
        Ladder {
            name: "random-read".into(),
            rungs: vec![
                rung(1, 10_000.0, 100_000),
                rung(8, 57_000.0, 140_000),
                rung(32, 60_000.0, 533_000),
            ],
        }
    }

    #[test]
    fn marks_and_lines_lie_at_rate_and_latency() {
        let ladder = ladder();
        let x = Axis::linear("rate", Unit::PerS, 0.0, 61_200.0);
        let plot = Plot::new(x, Axis::logarithmic("latency", Unit::Ns, 1e5, 1.1e6));
        let markup = drawn(&plot, 0, &ladder).into_string();
        let line = svg::points(&svg::attributes(&markup, "line", "d")[0]);
        let (x, y) = plot.scales();
        for ((at_x, at_y), rung) in line.into_iter().zip(&ladder.rungs) {
            assert!((x.value(at_x) / rung.iops - 1.0).abs() < 1e-2);
            assert!((y.value(at_y) / rung.p50 as f64 - 1.0).abs() < 1e-2);
        }
        assert_eq!(svg::attributes(&markup, "mark", "d").len(), 3);
        assert!(markup.contains(">8 knee</text>"), "{markup}");
    }

    #[test]
    fn the_knee_is_the_fewest_that_do_as_much_and_two_depths_have_none() {
        let mut ladder = ladder();
        assert_eq!(ladder.knee().map(|rung| rung.depth), Some(8));
        ladder.rungs[1].iops = 50_000.0;
        assert_eq!(ladder.knee(), None);
        ladder.rungs.remove(1);
        ladder.rungs[0].iops = 59_000.0;
        assert_eq!(ladder.knee(), None);
    }

    #[test]
    fn what_is_seen_says_what_more_in_flight_gives() {
        assert!(
            seen(&[ladder()]).starts_with(
                "random-read: 32 instead of 1 in flight give 6 times the rate at 5.33 times the \
                 latency, and 8 in flight reach 95 % of the best rate. Numbers"
            ),
            "{}",
            seen(&[ladder()])
        );
    }
}
