//! Runs of a fleet, made of a stored one.

use diskfacts_fleet::{Adding, Fleet};
use diskfacts_record::{Run, Trial};
use std::path::Path;

/// When the first night began, seconds since 1970, UTC.
pub(crate) const BEGAN_S: i64 = 1_767_225_600;

/// A run of two stages with a trial each.
pub(crate) fn run(host: &str, id: &str, started_s: i64, iops: f64) -> Run {
    const RUN: &str = include_str!("../../../store/tests/store/sample/run.json");
    const TRIAL: &str = include_str!("../../../store/tests/store/sample/trial.json");
    let mut run: Run = serde_json::from_str(RUN).expect("the document of a run");
    let trial: Trial = serde_json::from_str(TRIAL).expect("the document of a trial");
    let started = jiff::Timestamp::from_second(started_s).expect("a moment");
    id.clone_into(&mut run.run.id);
    run.run.started = started.to_string();
    run.machine.host = Some(host.to_owned());
    let stage = run.plan.stages[0].clone();
    run.plan.stages = ["read", "write"]
        .map(|name| {
            let mut stage = stage.clone();
            stage.settings.clear();
            name.clone_into(&mut stage.name);
            stage
        })
        .to_vec();
    for (order, stage) in (1..).zip(&run.plan.stages) {
        let mut trial = trial.clone();
        trial.settings.clear();
        (trial.number, trial.order, trial.errors) = (1, order, 0);
        trial.stage.clone_from(&stage.name);
        trial.workload = stage.workload.clone();
        (trial.iops, trial.throughput_bytes_per_s) = (iops, iops * 4096.0);
        run.trials.push(trial);
    }
    run
}

/// Adds runs, in one file.
pub(crate) fn add(folder: &Path, runs: &[Run]) {
    let mut adding = Adding::into(folder).expect("a file");
    for run in runs {
        adding.run(run).expect("a run is added");
    }
    adding.finish().expect("a file");
}

pub(crate) fn fleet(folder: &Path) -> Fleet {
    Fleet::open(folder).expect("a fleet")
}
