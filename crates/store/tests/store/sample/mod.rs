//! Runs to store. They are read from documents as the first version wrote them,
//! so that every test also says that such documents still open.

use diskfacts_record::trial::Histograms;
use diskfacts_record::{Labels, Run, Status, Trial};

/// A run without trials.
pub(crate) fn run(id: &str) -> Run {
    let mut run: Run = serde_json::from_str(include_str!("run.json")).unwrap();
    id.clone_into(&mut run.run.id);
    run
}

/// A trial with a latency of `order` microseconds among its latencies, so that
/// no two histograms are equal.
pub(crate) fn trial(order: u32) -> Trial {
    let mut trial: Trial = serde_json::from_str(include_str!("trial.json")).unwrap();
    trial.order = order;
    trial.number = order;
    let mut histograms = Histograms::default();
    for latency in [61_000, 80_000, 95_000, 1_200_000, u64::from(order) * 1000] {
        histograms.read.record(latency);
    }
    trial.histograms = (&histograms).into();
    trial
}

/// What the session does with a run at its end.
pub(crate) fn complete(run: &mut Run) {
    run.run.status = Status::Complete;
    run.run.ended = Some("2026-11-21T02:42:51Z".into());
}

/// A run with a name and tags, of two stages with three trials each, one of them under a
/// setting, and with its figures.
pub(crate) fn explained(id: &str) -> Run {
    let mut run = run(id);
    run.run.labels = Labels {
        name: Some("nightly".into()),
        note: None,
        tags: ["ci".into(), "fw-7".into()].into(),
    };
    let mut second = run.plan.stages[0].clone();
    second.name = "sequential-read".into();
    run.plan.stages.push(second);
    for order in 1..=6 {
        let mut trial = trial(order);
        trial.number = order.div_ceil(2);
        trial.errors = 0;
        trial.iops += f64::from(order);
        if order % 2 == 0 {
            trial.stage = "sequential-read".into();
        } else {
            trial.settings.clear();
        }
        run.trials.push(trial);
    }
    complete(&mut run);
    run.figures = diskfacts_facts::figures(&run);
    run
}
