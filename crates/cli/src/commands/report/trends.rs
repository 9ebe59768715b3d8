//! `diskfacts report --since 30d`: the page of how stages went over all runs that match.

use super::Made;
use crate::args::{Common, ReportArgs};
use crate::exit::{Failure, OrFail};
use crate::storing;
use crate::wanted::Wanted;
use diskfacts_facts::trends;
use diskfacts_record::{Run, Status};
use diskfacts_report::html;

/// So many of the latest runs are looked at: each is read whole.
const LATEST: usize = 1000;

pub(super) fn make(args: &ReportArgs, common: &Common) -> Result<Made, Failure> {
    if args.compare || args.advise || !args.runs.is_empty() {
        return Err(Failure::wrong_call(
            "runs are named, or all that match are taken (--since, --target, --name, --tag, \
             --host), not both; `diskfacts runs` with the same options lists those that match",
        ));
    }
    let store = storing::open_existing(common)?;
    let wanted = Wanted::of(&args.narrowed);
    let mut summaries = store.runs(usize::MAX).or_failed()?;
    let stored = summaries.len();
    summaries.retain(|run| run.status != Some(Status::Running) && wanted.has(run));
    let matching = summaries.len();
    if matching == 0 {
        return Err(Failure::wrong_call(format!(
            "none of {stored} stored runs that have ended matches; `diskfacts runs` lists all"
        )));
    }
    summaries.truncate(LATEST);
    let runs: Result<Vec<Run>, Failure> = summaries
        .iter()
        .map(|summary| store.load(&summary.id).or_failed())
        .collect();
    let of = said(args, matching);
    Ok(Made {
        page: html::report_of_trends(&trends(&runs?), &of),
        of: format!("trends over {matching} runs"),
        usual_name: "diskfacts-trends.html".into(),
    })
}

/// `42 runs of /srv since 2026-10-27T00:00:00Z, tagged ci.`
fn said(args: &ReportArgs, matching: usize) -> String {
    let narrowed = &args.narrowed;
    let wanted = Wanted::of(narrowed);
    let mut parts = Vec::new();
    if let Some(target) = &narrowed.target {
        parts.push(format!("of {}", target.display()));
    }
    parts.extend(narrowed.name.iter().map(|name| format!("named {name}")));
    parts.extend(narrowed.tags.iter().map(|tag| format!("tagged {tag}")));
    parts.extend(narrowed.host.iter().map(|host| format!("made on {host}")));
    parts.extend(wanted.since.map(|since| format!("begun since {since:.0}")));
    let of = parts.join(", ");
    if matching > LATEST {
        format!("The latest {LATEST} of {matching} runs {of}.")
    } else {
        format!("{matching} runs {of}.")
    }
}
