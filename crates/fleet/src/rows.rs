//! A run as the rows of a fleet's file.

use crate::column::{Cell, Of};
use crate::columns::COLUMNS;
use diskfacts_facts::fleet::{Member, Sample, TrialSample, samples_of};
use diskfacts_plan::plan::stage_label;
use diskfacts_plan::{file, sha256};
use diskfacts_record::{Run, TargetKind, Trial};
use std::collections::BTreeMap;

/// A run, with what is worked out of it once.
pub(crate) struct OfRun<'a> {
    pub(crate) run: &'a Run,
    pub(crate) host: &'a str,
    /// Microseconds since 1970, UTC.
    pub(crate) started_us: i64,
    pub(crate) plan_hash: String,
    /// What must be equal to be peers, a JSON object.
    pub(crate) peers: String,
}

/// A trial of it.
pub(crate) struct OfTrial<'a> {
    pub(crate) trial: &'a Trial,
    /// The stage that it is judged in.
    pub(crate) sample: &'a Sample,
    /// What it is judged by.
    pub(crate) judged: TrialSample,
}

/// Why a run has no rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoRows {
    /// Nobody knows where it was made.
    Host,
    /// When it began is no moment.
    Moment,
    /// It has no trial of its plan.
    Trials,
}

/// What was measured, as it is measured again: its real path, or the simulated disk as it was given,
/// whose name alone is no target.
pub(crate) fn target(run: &Run) -> &str {
    match run.target.kind {
        TargetKind::Simulated => &run.target.given,
        _ => &run.target.path,
    }
}

/// The rows of a run, stage after stage, the trials of each in their order: whoever reads them finds
/// those that belong together side by side.
pub(crate) fn rows(run: &Run) -> Result<Vec<Vec<Cell>>, NoRows> {
    let host = run.machine.host.as_deref().ok_or(NoRows::Host)?;
    let started = run.run.started.parse::<jiff::Timestamp>();
    let started = started.map_err(|_| NoRows::Moment)?;
    let member = Member {
        host: host.to_owned(),
        machine: run.machine.machine_id.clone(),
        target: target(run).to_owned(),
    };
    let samples = samples_of(run, &member, started.as_second());
    let Some(first) = samples.first() else {
        return Err(NoRows::Trials);
    };
    let of_run = OfRun {
        run,
        host,
        started_us: started.as_microsecond(),
        plan_hash: sha256::hex(&sha256::digest(file::print(&run.plan).as_bytes())[..16]),
        peers: object(&first.peers.0),
    };
    let of_run: Vec<Option<Cell>> = COLUMNS
        .iter()
        .map(|column| match column.of {
            Of::Run(of) => Some(of(&of_run)),
            Of::Trial(_) => None,
        })
        .collect();
    let mut by_stage: BTreeMap<String, Vec<&Trial>> = BTreeMap::new();
    for trial in run.planned_trials() {
        let label = stage_label(&trial.stage, &trial.settings);
        by_stage.entry(label).or_default().push(trial);
    }
    let mut rows = Vec::new();
    for sample in &samples {
        let mut trials = by_stage.remove(&sample.stage).unwrap_or_default();
        trials.sort_by_key(|trial| trial.order);
        for (trial, judged) in trials.into_iter().zip(&sample.trials) {
            let of_trial = OfTrial {
                trial,
                sample,
                judged: *judged,
            };
            let cells = COLUMNS.iter().zip(&of_run);
            let cells = cells.map(|(column, of_run)| match (&column.of, of_run) {
                (Of::Trial(of), _) => of(&of_trial),
                (Of::Run(_), of_run) => of_run.clone().unwrap_or(Cell::Null),
            });
            rows.push(cells.collect());
        }
    }
    if rows.is_empty() {
        return Err(NoRows::Trials);
    }
    Ok(rows)
}

/// A map of texts, as JSON.
pub(crate) fn object(map: &BTreeMap<String, String>) -> String {
    let map = map.iter().map(|(k, v)| (k.clone(), v.clone().into()));
    serde_json::Value::Object(map.collect()).to_string()
}
