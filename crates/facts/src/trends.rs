//! How the stages of many runs went over time, where their level changed, and what else
//! changed there.
//!
//! A series is one stage of one plan on one target, with a value for each run: its median over
//! the trials, because trials of one run are alike. Levels are looked for on a logarithmic
//! scale ([`stats::change_points`], which says of the method and how often it errs: 1 % of
//! series without a change are given one), from three runs on either side; what the last two
//! runs did is a question for [`compare`](crate::compare::compare). A step within
//! [`SAME_WITHIN`] is none.
//!
//! A condition that changed with the level need not be its cause. Those that were one thing in
//! all runs before and another in all after are told first.

use crate::compare::{self, SAME_WITHIN};
use crate::{stages, stats};
use diskfacts_plan::plan::stage_label;
use diskfacts_plan::{Pattern, Workload};
use diskfacts_record::comparison::{Condition, Measure};
use diskfacts_record::{Figure, Run, StageFigures, TargetKind};

/// Runs from which on levels are looked for.
pub const RUNS_MIN: usize = 6;

/// All series of some runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Trends {
    /// Those of two runs or more, in the order in which they were first met.
    pub series: Vec<Series>,
    /// Stages that only one run has a figure of.
    pub alone: usize,
    /// Ids of the runs that take no part: imported ones do not say when they were measured.
    pub left_out: Vec<String>,
}

/// One stage of one plan on one target, run by run.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The target's real path, or the name of a simulated disk.
    pub target: String,
    /// Name of the plan.
    pub plan: String,
    /// Name of the stage, with its settings where there are any.
    pub stage: String,
    /// What its values are: throughput of sequential stages, else operations per second;
    /// the median latency where the rate was set.
    pub measure: Measure,
    /// The runs, the oldest first; two at least.
    pub points: Vec<Point>,
    /// Medians of the levels, one more than there are changes; one for a series that is too
    /// short to have any.
    pub levels: Vec<f64>,
    /// Where the level changed, the oldest first.
    pub changes: Vec<Step>,
}

/// What a run came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Id of the run.
    pub run: String,
    /// When it began, RFC 3339, UTC.
    pub started: String,
    /// The median of its trials, bytes or operations per second, or nanoseconds; more than 0.
    pub value: f64,
    /// Its 95 % interval, where there are trials enough.
    pub interval: Option<[f64; 2]>,
    /// Trials it is over.
    pub trials: u32,
}

/// A change of the level.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Place of the first run of the new level among the points.
    pub first: usize,
    /// The new level over the old one, less 1.
    pub change: f64,
    /// Whether it is one for the better.
    pub better: bool,
    /// What was not the same in the last run before and the first after.
    pub conditions: Vec<Changed>,
}

/// A condition that changed with the level.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// The condition; `a` is before, `b` after.
    pub condition: Condition,
    /// Whether it had the one value in all runs of the level before, and the other in all of
    /// the level after.
    pub throughout: bool,
}

/// What makes values one series.
struct Key<'a> {
    target: &'a str,
    plan: &'a str,
    stage: String,
    workload: &'a Workload,
}

/// A series that is being put together: the runs that it is of.
struct Collected<'a> {
    key: Key<'a>,
    measure: Measure,
    points: Vec<(&'a Run, Point)>,
}

/// The series of these explained runs, in whatever order they are given.
pub fn trends(runs: &[Run]) -> Trends {
    let imported = |run: &&Run| run.target.kind == TargetKind::Imported;
    let (left_out, mut runs): (Vec<&Run>, Vec<&Run>) = runs.iter().partition(imported);
    // RFC 3339 in UTC sorts as text, as far as seconds: two runs do not begin at once.
    runs.sort_by(|a, b| (&a.run.started, &a.run.id).cmp(&(&b.run.started, &b.run.id)));
    let mut collected: Vec<Collected<'_>> = Vec::new();
    for run in runs {
        for stage in stages::of(run) {
            let is_of = |figures: &&StageFigures| {
                figures.stage == stage.name && figures.settings == *stage.settings
            };
            let Some(figures) = run.figures.iter().find(is_of) else {
                continue;
            };
            let key = Key {
                target: target(run),
                plan: &run.plan.name,
                stage: stage_label(stage.name, stage.settings),
                workload: stage.workload(),
            };
            add(&mut collected, key, run, figures);
        }
    }
    let alone = collected.iter().filter(|one| one.points.len() < 2).count();
    let several = collected.into_iter().filter(|one| one.points.len() > 1);
    Trends {
        series: several.map(series).collect(),
        alone,
        left_out: left_out.iter().map(|run| run.run.id.clone()).collect(),
    }
}

/// What a target is known by: where one stood does not tell what `.` was.
fn target(run: &Run) -> &str {
    if run.target.kind == TargetKind::Simulated {
        &run.target.given
    } else {
        &run.target.path
    }
}

fn add<'a>(collected: &mut Vec<Collected<'a>>, key: Key<'a>, run: &'a Run, figures: &StageFigures) {
    let measure = measure(key.workload);
    let Some(point) = point(run, figures, measure) else {
        return;
    };
    let same = |known: &&mut Collected<'_>| {
        let other = &known.key;
        (other.target, other.plan, &other.stage) == (key.target, key.plan, &key.stage)
            && compare::is_same_workload(other.workload, key.workload)
    };
    match collected.iter_mut().find(same) {
        Some(known) => known.points.push((run, point)),
        None => collected.push(Collected {
            key,
            measure,
            points: vec![(run, point)],
        }),
    }
}

/// What stands for the speed of a workload over time.
pub(crate) fn measure(workload: &Workload) -> Measure {
    if workload.rate.is_some() {
        Measure::LatencyP50Ns
    } else if workload.operation.on_files() || workload.pattern != Pattern::Sequential {
        Measure::Iops
    } else {
        Measure::ThroughputBytesPerS
    }
}

/// `None` where there is no value: all trials failed, or nothing was done.
fn point(run: &Run, figures: &StageFigures, measure: Measure) -> Option<Point> {
    let of = |figure: &Figure| (figure.median, figure.ci95, figure.trials);
    let (value, interval, trials) = match measure {
        Measure::ThroughputBytesPerS => of(&figures.throughput_bytes_per_s),
        Measure::Iops => of(&figures.iops),
        _ => (
            figures.latency_ns.p50? as f64,
            figures
                .latency_ci95_ns
                .p50
                .map(|ends| ends.map(|ns| ns as f64)),
            figures.iops.trials,
        ),
    };
    (value.is_finite() && value > 0.0 && trials > 0).then(|| Point {
        run: run.run.id.clone(),
        started: run.run.started.clone(),
        value,
        interval,
        trials,
    })
}

fn series(collected: Collected<'_>) -> Series {
    let Collected {
        key,
        measure,
        points,
    } = collected;
    let values: Vec<f64> = points.iter().map(|(_, point)| point.value).collect();
    let firsts = steps(&values);
    let levels = stats::levels(&values, &firsts);
    let runs: Vec<&Run> = points.iter().map(|(run, _)| *run).collect();
    let begins = std::iter::once(0).chain(firsts.iter().copied());
    let ends = firsts.iter().skip(1).copied().chain([values.len()]);
    let changes = begins
        .zip(&firsts)
        .zip(ends)
        .zip(levels.windows(2))
        .map(|(((from, first), to), level)| {
            let change = level[1] / level[0] - 1.0;
            Step {
                first: *first,
                change,
                better: (change > 0.0) == measure.more_is_better(),
                conditions: changed(&runs[from..*first], &runs[*first..to], &key.stage),
            }
        })
        .collect();
    Series {
        target: key.target.to_owned(),
        plan: key.plan.to_owned(),
        stage: key.stage,
        measure,
        points: points.into_iter().map(|(_, point)| point).collect(),
        levels,
        changes,
    }
}

/// The first places of new levels, without steps that are as good as none: the least of these
/// is taken away first, because that moves the levels on either side of it.
pub(crate) fn steps(values: &[f64]) -> Vec<usize> {
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let mut firsts = stats::change_points(&logarithms);
    loop {
        let levels = stats::levels(&logarithms, &firsts);
        let sizes = levels.windows(2).map(|pair| (pair[1] - pair[0]).abs());
        let least = sizes.enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
        match least {
            Some((place, size)) if size <= SAME_WITHIN.ln_1p() => {
                firsts.remove(place);
            }
            _ => return firsts,
        }
    }
}

/// What changed between two levels, what held throughout them first.
fn changed(before: &[&Run], after: &[&Run], stage: &str) -> Vec<Changed> {
    let (Some(last), Some(first)) = (before.last(), after.first()) else {
        return Vec::new();
    };
    let throughout = compare::conditions(before, after, stage);
    let mut all: Vec<Changed> = compare::conditions(&[last], &[first], stage)
        .into_iter()
        .map(|condition| Changed {
            throughout: throughout
                .iter()
                .any(|known| known.what == condition.what && alike(known, &condition)),
            condition,
        })
        .collect();
    all.sort_by_key(|changed| !changed.throughout);
    all
}

fn alike(one: &Condition, other: &Condition) -> bool {
    one.a == other.a && one.b == other.b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// A run of a survey on a day of November, of which all rates are multiplied.
    fn run(day: u32, factor: f64) -> Run {
        let mut run = testing::healthy();
        run.run.id = format!("202611{day:02}-000000-0000");
        run.run.started = format!("2026-11-{day:02}T00:00:00Z");
        for trial in &mut run.trials {
            testing::set_rate(trial, factor);
        }
        run.figures = crate::figures(&run);
        run
    }

    /// Nine runs with a wobble of a percent, halved from the sixth day on.
    fn halved() -> Vec<Run> {
        let wobble = [1.0, 1.01, 0.99, 1.005, 0.995, 0.5, 0.506, 0.494, 0.502];
        let days = wobble.iter().zip(1..);
        days.map(|(factor, day)| run(day, *factor)).collect()
    }

    fn of<'t>(trends: &'t Trends, stage: &str) -> &'t Series {
        let mut series = trends.series.iter();
        series.find(|series| series.stage == stage).unwrap()
    }

    #[test]
    fn a_change_of_the_level_is_dated_and_named_with_what_changed_there() {
        let mut runs = halved();
        for (i, run) in runs.iter_mut().enumerate() {
            run.machine.kernel = Some(if i < 5 { "6.1.0" } else { "6.12.0" }.to_owned());
        }
        // One run alone was made by another version, at the very change.
        runs[5].run.tool_version = "0.0.9".to_owned();
        // The order in which runs are given is none.
        runs.reverse();
        let trends = trends(&runs);
        let series = of(&trends, "random-read-qd1");
        assert_eq!(series.measure, Measure::Iops);
        assert_eq!(series.points.len(), 9);
        assert_eq!(series.points[0].started, "2026-11-01T00:00:00Z");
        let [step] = series.changes.as_slice() else {
            panic!("{:?}", series.changes);
        };
        assert_eq!(step.first, 5);
        assert!(!step.better);
        assert!((step.change + 0.5).abs() < 0.01, "{}", step.change);
        assert!((series.levels[1] / series.levels[0] - 0.5).abs() < 0.01);
        let told: Vec<(&str, bool)> = step
            .conditions
            .iter()
            .map(|changed| (changed.condition.what.as_str(), changed.throughout))
            .collect();
        assert_eq!(told, [("kernel", true), ("version of diskfacts", false)]);
        assert_eq!(step.conditions[0].condition.a, ["6.1.0"]);
        assert_eq!(step.conditions[0].condition.b, ["6.12.0"]);
    }

    #[test]
    fn a_step_of_less_than_five_percent_and_noise_are_no_change() {
        let small: Vec<Run> = (1..=10)
            .map(|day| run(day, if day <= 5 { 1.0 } else { 1.03 }))
            .collect();
        let found = trends(&small);
        let series = of(&found, "random-read-qd1");
        assert!(series.changes.is_empty(), "{:?}", series.changes);
        assert_eq!(series.levels.len(), 1);
        // The same step is one where it is large.
        let large: Vec<Run> = (1..=10)
            .map(|day| run(day, if day <= 5 { 1.0 } else { 1.1 }))
            .collect();
        let found = trends(&large);
        assert_eq!(of(&found, "random-read-qd1").changes.len(), 1);
        assert!(of(&found, "random-read-qd1").changes[0].better);
    }

    #[test]
    fn other_targets_plans_and_workloads_are_other_series() {
        let mut runs: Vec<Run> = (1..=3).map(|day| run(day, 1.0)).collect();
        let all = trends(&runs).series.len();
        runs[2].target.path = "/srv/other".into();
        let apart = trends(&runs);
        assert_eq!(apart.series.len(), all);
        assert_eq!(apart.alone, all);
        assert!(apart.series.iter().all(|series| series.points.len() == 2));
        runs[2].target.path = "/srv/data".into();
        testing::each(&mut runs[2], "random-read-qd1", |trial| {
            trial.workload.block_size *= 2;
        });
        let apart = trends(&runs);
        assert_eq!(of(&apart, "random-read-qd1").points.len(), 2);
        assert_eq!(apart.alone, 1);
    }

    #[test]
    fn imported_runs_are_left_out_and_named() {
        let mut runs: Vec<Run> = (1..=3).map(|day| run(day, 1.0)).collect();
        runs[1].target.kind = TargetKind::Imported;
        let found = trends(&runs);
        assert_eq!(found.left_out, ["20261102-000000-0000"]);
        assert!(found.series.iter().all(|series| series.points.len() == 2));
    }

    #[test]
    fn where_the_rate_was_set_longer_is_worse() {
        let mut runs = halved();
        for run in &mut runs {
            let stage = "random-read-qd1";
            testing::each(run, stage, |trial| {
                trial.workload.rate = Some(diskfacts_plan::Rate {
                    operations_per_s: 100,
                    arrivals: diskfacts_plan::Arrivals::Fixed,
                });
            });
            for figures in run.figures.iter_mut().filter(|f| f.stage == stage) {
                // As long as the rate is low.
                figures.latency_ns.p50 = Some((1e12 / figures.iops.median) as u64);
            }
        }
        let found = trends(&runs);
        let series = of(&found, "random-read-qd1");
        assert_eq!(series.measure, Measure::LatencyP50Ns);
        assert!(!series.changes[0].better);
        assert!(series.changes[0].change > 0.9);
    }

    #[test]
    fn without_runs_there_is_nothing() {
        let found = trends(&[]);
        assert!(found.series.is_empty() && found.left_out.is_empty());
        assert_eq!(found.alone, 0);
    }
}
