//! `diskfacts runs`: what is stored, or those of it that somebody looks for.

mod delete;

use super::print;
use crate::args::{Common, ListArgs, RunsArgs, RunsCommand};
use crate::exit::{Exit, Failure, OrFail};
use crate::{look, storing};
use diskfacts_record::Status;
use diskfacts_report::json;
use diskfacts_report::text::{self, RunRow};
use diskfacts_store::RunSummary;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::path::{Path, PathBuf};

/// How many runs are listed where nobody says.
const LISTED: usize = 50;

pub(crate) fn run(args: &RunsArgs, common: &Common) -> Result<Exit, Failure> {
    match &args.command {
        // Which runs go is said by name: what the list is narrowed to may change.
        Some(RunsCommand::Delete(_)) if args.list.any() => Err(Failure::wrong_call(
            "`runs delete` takes the runs by name and nothing that narrows the list; `diskfacts \
             runs` with the same options shows their ids",
        )),
        Some(RunsCommand::Delete(args)) => delete::run(args, common),
        None => list(&args.list, common),
    }
}

fn list(args: &ListArgs, common: &Common) -> Result<Exit, Failure> {
    let summaries = match storing::existing(common)? {
        Some(store) => store.runs(usize::MAX).or_failed()?,
        None => Vec::new(),
    };
    let stored = summaries.len();
    let wanted = Wanted::of(args);
    let rows: Vec<RunRow> = summaries
        .into_iter()
        .filter(|summary| wanted.has(summary))
        .take(args.limit.unwrap_or(LISTED))
        .map(row)
        .collect();
    print(&if args.json {
        json::runs(&rows, stored)
    } else {
        text::runs(&rows, stored, &look::of_stdout(common.color))
    })?;
    Ok(Exit::Done)
}

/// A run as it is listed.
fn row(summary: RunSummary) -> RunRow {
    RunRow {
        alive: if summary.status == Some(Status::Running) {
            storing::alive(summary.writer.as_ref())
        } else {
            None
        },
        id: summary.id,
        started: summary.started,
        ended: summary.ended,
        tool_version: summary.tool_version,
        host: summary.host,
        status: summary.status,
        trials: summary.trials,
        plan: summary.plan,
        // Where one stood then does not tell what `.` was.
        target: if summary.target.starts_with("sim:") {
            summary.target
        } else {
            summary.target_path
        },
    }
}

/// What a run has to have to be listed.
struct Wanted<'a> {
    /// As it was given, and its real path where something is there.
    target: Option<(&'a Path, PathBuf)>,
    since: Option<Timestamp>,
    host: Option<&'a str>,
}

impl<'a> Wanted<'a> {
    fn of(args: &'a ListArgs) -> Self {
        let target = args.target.as_deref().map(|given| {
            let real = std::fs::canonicalize(given).unwrap_or_else(|_| given.to_owned());
            (given, real)
        });
        let since = args.since.map(|since| {
            let zone = TimeZone::system();
            since.moment(Timestamp::now(), &zone)
        });
        Self {
            target,
            since,
            host: args.host.as_deref(),
        }
    }

    fn has(&self, run: &RunSummary) -> bool {
        // By whole names, so that /srv/data is not in /srv/da. What a relative path was
        // given as says nothing, because where one stood then is not known.
        let target = self.target.as_ref().is_none_or(|(given, real)| {
            let path = Path::new(&run.target_path);
            path.starts_with(real)
                || path.starts_with(given)
                || *given == Path::new(&run.target) && run.target.starts_with("sim:")
        });
        let since = self.since.is_none_or(|since| {
            let started = run.started.parse::<Timestamp>();
            started.is_ok_and(|started| started >= since)
        });
        let host = self
            .host
            .is_none_or(|host| run.host.as_deref() == Some(host));
        target && since && host
    }
}
