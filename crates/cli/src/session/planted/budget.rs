//! The budget of every stage, as the host sees it, against where the simulated disk says
//! that the time went.

use super::setup::Setup;
use super::truth;
use diskfacts_disk::profile::profiles;
use diskfacts_record::evidence::TimeParts;
use diskfacts_record::{Run, Spent, StageFigures, Trial};

/// Share of the latency that a part may be off by.
const OFF: f64 = 0.05;
/// The kernel's counters of time have whole milliseconds.
const COUNTED_NS: f64 = 1e6;

#[test]
fn the_parts_are_those_of_the_truth_on_every_disk() {
    let mut wrong = Vec::new();
    let mut stages = 0;
    for name in profiles() {
        let sound = Setup::on(name);
        let mut ways = Setup::on(name);
        ways.plan = truth::plan();
        for setup in [sound, ways] {
            let run = setup.run();
            for figures in &run.figures {
                stages += 1;
                let off = differences(&run, figures);
                wrong.extend(off.into_iter().map(|text| format!("{name} {text}")));
            }
        }
    }
    assert!(stages >= 150, "{stages}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What the budget has otherwise than the truth.
pub(super) fn differences(run: &Run, figures: &StageFigures) -> Vec<String> {
    let truth: TimeParts = trials(run, figures)
        .filter_map(|trial| trial.evidence.truth?.time)
        .reduce(|a, b| a.plus(&b))
        .expect("it is simulated");
    let Some(budget) = &figures.budget else {
        return vec![format!("{}: no budget", figures.stage)];
    };
    if pieces_side_by_side(run, figures) {
        // Nobody can tell from outside how long there was any piece of an operation.
        let known = budget.latency_ns - budget.mean_ns(Spent::Unexplained);
        return if known < OFF * budget.latency_ns {
            Vec::new()
        } else {
            vec![format!("{}: of pieces it knows {budget:?}", figures.stage)]
        };
    }
    let each = |ns: u64| ns as f64 / truth.operations as f64;
    let counted_ns = COUNTED_NS * f64::from(figures.iops.trials) / truth.operations as f64;
    // The call of a direct operation is charged to nobody: several are under way at a time.
    let uncharged_ns = if is_direct(run, figures) {
        each(truth.host_ns) - budget.mean_ns(Spent::Kernel)
    } else {
        0.0
    };
    let all = |parts: &[Spent]| -> f64 { parts.iter().map(|part| budget.mean_ns(*part)).sum() };
    let beyond = [
        Spent::Admission,
        Spent::BlockLayer,
        Spent::Flush,
        Spent::Journal,
        Spent::Cache,
        Spent::Dirty,
    ];
    [
        // What is done waits while the thread is at work on others: of that the disk knows
        // nothing.
        (
            "completion",
            all(&[Spent::Completion]),
            budget.latency_ns - each(truth.total_ns()),
        ),
        (
            "host",
            all(&[Spent::Kernel, Spent::Unexplained]),
            each(truth.host_ns),
        ),
        (
            "beyond",
            all(&beyond),
            each(truth.total_ns() - truth.host_ns),
        ),
        ("unexplained", all(&[Spent::Unexplained]), uncharged_ns),
    ]
    .into_iter()
    .filter(|(_, seen, so)| (seen - so).abs() > OFF * budget.latency_ns + counted_ns)
    .map(|(what, seen, so)| {
        format!(
            "{}: {what} is {seen:.0} ns, in truth {so:.0}: {budget:?}",
            figures.stage
        )
    })
    .collect()
}

fn trials<'a>(run: &'a Run, figures: &StageFigures) -> impl Iterator<Item = &'a Trial> {
    let of = |trial: &&Trial| trial.stage == figures.stage && trial.settings == figures.settings;
    run.trials.iter().filter(of)
}

fn is_direct(run: &Run, figures: &StageFigures) -> bool {
    trials(run, figures).all(|trial| trial.evidence.engine.direct)
}

/// Whether several operations at a time were cut into requests.
fn pieces_side_by_side(run: &Run, figures: &StageFigures) -> bool {
    let (mut requests, mut operations, mut outstanding) = (0, 0, 1);
    for trial in trials(run, figures) {
        let direct = trial.evidence.engine.direct && !trial.workload.operation.modifies();
        outstanding = outstanding.max(if direct {
            trial.workload.outstanding()
        } else {
            1
        });
        let top = trial.evidence.devices.first();
        requests += top.map_or(0, |top| top.reads + top.writes);
        operations += trial.ops;
    }
    outstanding > 1 && requests as f64 > 1.05 * operations as f64
}
