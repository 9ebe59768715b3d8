//! The figures of the newest runs, for Prometheus and what else reads `OpenMetrics`.

use super::{Pages, Problem};
use diskfacts_facts::figures;
use diskfacts_record::{Run, Status};
use diskfacts_report::export::openmetrics;
use diskfacts_serve::Answer;
use std::collections::BTreeSet;

/// The media type of `OpenMetrics` 1.0 ("Protocol Negotiation").
const MEDIA: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// So many runs at most, those that began last: each is read whole.
const LATEST: usize = 100;

impl Pages {
    /// Of each host, target and plan the run that began last, of those that have ended.
    pub(super) fn metrics(&self) -> Result<Answer, Problem> {
        let mut runs: Vec<Run> = Vec::new();
        if let Some(store) = self.store()? {
            let mut summaries = store.runs(usize::MAX)?;
            let mut seen = BTreeSet::new();
            summaries.retain(|run| {
                let of = (run.host.clone(), run.target_path.clone(), run.plan.clone());
                run.status != Some(Status::Running) && seen.insert(of)
            });
            for summary in summaries.iter().take(LATEST) {
                // One that was deleted since is as one that never was.
                let Ok(mut run) = store.load(&summary.id) else {
                    continue;
                };
                if run.figures.is_empty() {
                    run.figures = figures(&run);
                }
                runs.push(run);
            }
        }
        Ok(Answer::text(MEDIA, openmetrics::openmetrics(&runs)))
    }
}
