//! A run as large as runs become.

use diskfacts_record::{Histogram, Run, Trial};

/// A run whose trials have the histograms of a device: some 300 buckets.
pub(crate) fn large_run(stages: u32, trials: u32) -> Run {
    let mut run: Run = serde_json::from_str(include_str!("../../tests/store/sample/run.json"))
        .expect("the document of a run");
    let trial: Trial = serde_json::from_str(include_str!("../../tests/store/sample/trial.json"))
        .expect("the document of a trial");
    for order in 1..=stages * trials {
        let mut trial = trial.clone();
        trial.order = order;
        // That of the sample failed in part, and such trials are compared with nothing.
        trial.errors = 0;
        trial.evidence.errors.clear();
        trial.stage = format!("stage-{}", order % stages);
        trial.evidence.intervals.operations = vec![12_345; 20];
        let mut histogram = Histogram::new();
        for i in 0..20_000_u64 {
            // Most within a factor of four, a tail up to thirty times as long.
            let spread = (i * 2_654_435_761 + u64::from(order)) % 1000;
            let tail = if spread > 990 { spread * 2000 } else { 0 };
            histogram.record(60_000 + spread * 180 + tail);
        }
        trial.histograms.read = (&histogram).into();
        run.trials.push(trial);
    }
    run
}
