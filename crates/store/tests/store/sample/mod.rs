//! Runs to store. They are read from documents as the first version wrote them,
//! so that every test also says that such documents still open.

use diskfacts_record::trial::Histograms;
use diskfacts_record::{Run, Status, Trial};

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
