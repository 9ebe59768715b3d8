//! The list of runs: those that are asked for, page by page.

use super::{Pages, Problem};
use crate::args::Since;
use crate::commands::runs::row;
use crate::storing;
use crate::wanted::Wanted;
use diskfacts_report::html::{Known, Narrowed, RunList};
use diskfacts_serve::Request;
use diskfacts_store::RunSummary;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::collections::BTreeSet;

/// Runs on a page.
const PAGE: usize = 100;
/// Names that are offered to choose from.
const OFFERED: usize = 50;

/// What the fields of the form say.
pub(super) fn narrowed(request: &Request) -> Narrowed {
    let field = |name| request.field(name).unwrap_or_default().to_owned();
    Narrowed {
        plan: field("plan"),
        target: field("target"),
        name: field("name"),
        tags: request.fields("tag").collect::<Vec<_>>().join(" "),
        host: field("host"),
        since: field("since"),
    }
}

/// What a run has to have for them, when it is `now`; an error where that cannot be.
pub(super) fn wanted(narrowed: &Narrowed, now: Timestamp) -> Result<Wanted, String> {
    let said = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let since = said(&narrowed.since).map(|since| Since::parse(&since));
    let since = since.transpose().map_err(|why| format!("Since: {why}."))?;
    // Nothing that comes with a request is looked up among the files.
    let target = said(&narrowed.target).map(|given| (given.clone().into(), given.into()));
    Ok(Wanted {
        target,
        since: since.map(|since| since.moment(now, &TimeZone::system())),
        host: said(&narrowed.host),
        plan: said(&narrowed.plan),
        name: said(&narrowed.name),
        tags: narrowed
            .tags
            .split_whitespace()
            .map(str::to_owned)
            .collect(),
    })
}

impl Pages {
    /// The page of the list that is asked for.
    pub(super) fn list(&self, request: &Request) -> Result<RunList, Problem> {
        let page = match request.field("page").map(str::parse) {
            None => 1,
            Some(Ok(page)) if page > 0 => page,
            Some(_) => return Err(Problem::wrong("A page of the list is a number from 1 on.")),
        };
        let (summaries, store) = match self.store()? {
            Some(store) => (store.runs(usize::MAX)?, store.path().display().to_string()),
            None => (
                Vec::new(),
                storing::path(&self.common)?.display().to_string(),
            ),
        };
        let mut list = RunList {
            page,
            page_size: PAGE,
            stored: summaries.len(),
            narrowed: narrowed(request),
            known: known(&summaries),
            store,
            ..RunList::default()
        };
        match wanted(&list.narrowed, Timestamp::now()) {
            Err(wrong) => list.wrong = Some(wrong),
            Ok(wanted) => {
                let mut runs = summaries;
                runs.retain(|run| wanted.has(run));
                list.matching = runs.len();
                let skipped = (page - 1).saturating_mul(PAGE);
                let shown = runs.into_iter().skip(skipped).take(PAGE);
                list.rows = shown.map(|run| row(run, &self.here)).collect();
            }
        }
        Ok(list)
    }
}

/// What there is to choose from.
pub(super) fn known(runs: &[RunSummary]) -> Known {
    Known {
        plans: offered(runs, |run| Some(&run.plan)),
        hosts: offered(runs, |run| run.host.as_ref()),
    }
}

/// Some names that runs have, each once.
fn offered<'r>(
    runs: &'r [RunSummary],
    name: impl Fn(&'r RunSummary) -> Option<&'r String>,
) -> Vec<String> {
    let names: BTreeSet<&String> = runs.iter().filter_map(name).collect();
    names.into_iter().take(OFFERED).cloned().collect()
}
