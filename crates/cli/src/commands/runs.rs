//! `diskfacts runs`: what is stored, or those of it that somebody looks for, and what is done
//! with them.

mod delete;
mod export;
mod figures;
mod labels;
mod take;

use super::print;
use crate::args::{Common, FilterArgs, ListArgs, RunsArgs, RunsCommand};
use crate::exit::{Exit, Failure, OrFail};
use crate::look;
use crate::named::Named;
use crate::storing::{self, Here};
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
    let Some(command) = &args.command else {
        return list(&args.list, common);
    };
    // Runs are said by name: what the list is narrowed to may change.
    if args.list.any() {
        return Err(Failure::wrong_call(
            "what is done with runs is told them by name, and takes nothing that narrows the list \
             before it; `diskfacts runs` with the same options shows their ids",
        ));
    }
    match command {
        RunsCommand::Rename(args) => labels::rename(args, common),
        RunsCommand::Note(args) => labels::note(args, common),
        RunsCommand::Tag(args) => labels::tag(args, common),
        RunsCommand::Delete(args) => delete::run(args, common),
        RunsCommand::Export(args) => export::run(args, common),
        RunsCommand::Import(args) => take::run(args, common),
        RunsCommand::Figures => figures::run(common),
    }
}

/// The ids of the stored runs of these names, each once; where nothing is stored yet, `so` says
/// what follows.
fn ids(from: &mut Named<'_>, names: &[String], so: &str) -> Result<Vec<String>, Failure> {
    let mut ids = Vec::new();
    for name in names {
        let id = from.id(name, &format!("no run is stored yet, so {so}"))?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

fn list(args: &ListArgs, common: &Common) -> Result<Exit, Failure> {
    let summaries = match storing::existing(common)? {
        Some(store) => store.runs(usize::MAX).or_failed()?,
        None => Vec::new(),
    };
    let stored = summaries.len();
    let wanted = Wanted::of(&args.filter);
    let here = Here::new();
    let rows: Vec<RunRow> = summaries
        .into_iter()
        .filter(|summary| wanted.has(summary))
        .take(args.limit.unwrap_or(LISTED))
        .map(|summary| row(summary, &here))
        .collect();
    print(&if args.json {
        json::runs(&rows, stored)
    } else {
        text::runs(&rows, stored, &look::of_stdout(common.color))
    })?;
    Ok(Exit::Done)
}

/// A run as it is listed.
fn row(summary: RunSummary, here: &Here) -> RunRow {
    RunRow {
        alive: if summary.status == Some(Status::Running) {
            here.alive(&summary)
        } else {
            None
        },
        labels: summary.labels,
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
pub(crate) struct Wanted<'a> {
    /// As it was given, and its real path where something is there.
    target: Option<(&'a Path, PathBuf)>,
    since: Option<Timestamp>,
    host: Option<&'a str>,
    name: Option<&'a str>,
    tags: &'a [String],
}

impl<'a> Wanted<'a> {
    pub(crate) fn of(args: &'a FilterArgs) -> Self {
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
            name: args.name.as_deref(),
            tags: &args.tags,
        }
    }

    pub(crate) fn has(&self, run: &RunSummary) -> bool {
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
        let labels = &run.labels;
        let name = self
            .name
            .is_none_or(|name| labels.name.as_deref() == Some(name));
        let tags = self.tags.iter().all(|tag| labels.tags.contains(tag));
        target && since && host && name && tags
    }
}
