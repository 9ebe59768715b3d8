//! How stages went from run to run.

use super::list::{known, narrowed, wanted};
use super::{Pages, Problem};
use diskfacts_facts::trends::trends;
use diskfacts_record::{Run, Status};
use diskfacts_report::html::{self, Links, Markup};
use diskfacts_serve::Request;
use jiff::Timestamp;

/// So many of the latest runs are looked at: each is read whole, its trials too.
const LATEST: usize = 100;

impl Pages {
    /// The page of the runs that are asked for, with their figures as they were stored.
    pub(super) fn trends(&self, request: &Request, links: &Links) -> Result<Markup, Problem> {
        let none = || Problem::not_found("No run is stored yet, so there is no trend.");
        let store = self.store()?.ok_or_else(none)?;
        let mut summaries = store.runs(usize::MAX)?;
        let narrowed = narrowed(request);
        let form = html::narrowing(&narrowed, &known(&summaries), "trends", links);
        let wanted = wanted(&narrowed, Timestamp::now()).map_err(Problem::wrong)?;
        summaries.retain(|run| run.status != Some(Status::Running) && wanted.has(run));
        let matching = summaries.len();
        summaries.truncate(LATEST);
        let mut runs: Vec<Run> = Vec::with_capacity(summaries.len());
        for summary in &summaries {
            // One that was deleted since is not missed, and one that is damaged is no reason to
            // show nothing of the others: its own page says so.
            runs.extend(store.load(&summary.id).ok());
        }
        let of = match matching {
            matching if matching > LATEST => format!(
                "The latest {LATEST} of {matching} runs that have ended. Narrow them to see others."
            ),
            matching => format!("All {matching} runs that have ended and match."),
        };
        Ok(html::parts([
            html::trends(&trends(&runs), &of, links),
            form,
        ]))
    }
}
