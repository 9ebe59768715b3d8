//! The figures of a run beside what was asked for.

use diskfacts_plan::Workload;
use diskfacts_record::{Run, StageFigures};
use std::collections::HashMap;

/// Each stage that has figures, with what its trials were asked for, in the order of the figures.
/// Looked up once for all: a matrix has hundreds. The trials come before the plan, which may not
/// have met its target yet, and of a document does not name each cell.
pub(crate) fn measured(run: &Run) -> Vec<(&Workload, &StageFigures)> {
    let planned = run.plan.stages.iter();
    let planned = planned.map(|stage| ((&stage.name, &stage.settings), &stage.workload));
    let trials = run.trials.iter();
    let trials = trials.map(|trial| ((&trial.stage, &trial.settings), &trial.workload));
    let asked: HashMap<_, &Workload> = planned.chain(trials).collect();
    let figures = run.figures.iter();
    figures
        .filter_map(|figures| {
            let workload = asked.get(&(&figures.stage, &figures.settings))?;
            Some((*workload, figures))
        })
        .collect()
}
