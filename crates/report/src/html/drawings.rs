//! Which drawings a run has, in the order in which somebody asks.

use super::chart::{budget, depth, heat, layers, percentiles, timeline, trials};
use super::figure::Figure;
use super::links::anchor;
use super::plot::SERIES;
use super::sweeps;
use crate::text::stages::{listed, name};
use crate::text::summary::rows::sections;
use diskfacts_plan::Operation;
use diskfacts_record::{Run, StageFigures};

/// Maps of latency over time: of more stages the first ones.
const MAPS: usize = 12;
/// Stages that have a row in a drawing with a row for each: of more the first ones.
const ROWS: usize = 40;

/// The drawings of a run. `place` is its place in a file of several, from 0.
pub(crate) fn of_run(run: &Run, place: usize) -> Vec<Figure> {
    let id = |name: &str| anchor(place, name);
    let stages = listed(run);
    let shown = &stages[..stages.len().min(ROWS)];
    let mut all = sweeps::figures(run, place);
    all.extend(latencies(run, shown, place));
    all.extend(budget::figure(id("budget"), shown));
    all.extend(trials::figure(id("trials"), run, shown));
    all.extend(depth::figure(id("depth"), run));
    all.extend(layers::figure(id("layers"), run, shown));
    let maps = shown.iter().filter_map(|figures| heat::map(run, figures));
    for (number, map) in maps.take(MAPS).enumerate() {
        all.push(heat::figure(id(&format!("heat-{}", number + 1)), &map));
    }
    let timelines = timeline::timelines(run).into_iter().enumerate();
    all.extend(timelines.map(|(number, timeline)| {
        timeline::figure(&timeline, id(&format!("requests-{}", number + 1)))
    }));
    all
}

/// Percentiles: what memory answered, reads and writes apart, as many in one drawing as can be
/// told apart.
fn latencies(run: &Run, stages: &[&StageFigures], place: usize) -> Vec<Figure> {
    let reads = |figures: &&StageFigures| {
        let stage = run.plan.stage(&figures.stage);
        stage.is_some_and(|stage| stage.workload.operation == Operation::Read)
    };
    let mut titled: Vec<(String, Vec<&StageFigures>)> = Vec::new();
    for section in sections(run, stages) {
        let from = section.title.map(|(from, _)| format!(" {from}"));
        let from = from.unwrap_or_default();
        let (reading, others): (Vec<_>, Vec<_>) = section.figures.into_iter().partition(reads);
        if reading.is_empty() || others.is_empty() {
            let all = reading.into_iter().chain(others).collect();
            titled.push((format!("How long operations take{from}"), all));
        } else {
            titled.push((format!("How long reads take{from}"), reading));
            titled.push((format!("How long the others take{from}"), others));
        }
    }
    let mut all = Vec::new();
    for (title, stages) in titled {
        let curves = stages.iter();
        let curves = curves.filter_map(|figures| percentiles::curve(run, figures, name(figures)));
        let curves: Vec<percentiles::Curve> = curves.collect();
        for curves in curves.chunks(SERIES) {
            let id = anchor(place, &format!("percentiles-{}", all.len() + 1));
            all.extend(percentiles::figure(id, &title, curves));
        }
    }
    all
}

/// The percentiles of several runs over each other, for each stage that two or more of them
/// have; each run with what it is called.
pub(crate) fn of_runs(runs: &[(String, &Run)]) -> Vec<Figure> {
    let mut names: Vec<String> = Vec::new();
    for figures in runs.iter().flat_map(|(_, run)| listed(run)) {
        let name = name(figures);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut all = Vec::new();
    for stage in names {
        let curves = runs.iter().filter_map(|(called, run)| {
            let figures = run.figures.iter().find(|figures| name(figures) == stage)?;
            percentiles::curve(run, figures, called.clone())
        });
        let curves: Vec<percentiles::Curve> = curves.take(SERIES).collect();
        if curves.len() < 2 || all.len() == ROWS {
            continue;
        }
        let id = format!("percentiles-{}", all.len() + 1);
        all.extend(percentiles::figure(
            id,
            &format!("How long it takes: {stage}"),
            &curves,
        ));
    }
    all
}

/// A run among others: by its name, or by its id where another has that name.
pub(crate) fn called(run: &Run, runs: &[&Run]) -> String {
    let name = run.run.labels.name.as_ref();
    let named = runs
        .iter()
        .filter(|one| one.run.labels.name.as_ref() == name);
    match name {
        Some(name) if named.count() == 1 => name.clone(),
        _ => run.run.id.clone(),
    }
}
