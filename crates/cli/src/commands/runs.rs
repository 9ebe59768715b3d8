//! `diskfacts runs`: what is stored, or those of it that somebody looks for, and what is done
//! with them.

mod delete;
mod export;
mod figures;
mod labels;
mod take;

pub(super) use take::run as take;

use super::print;
use crate::args::{Common, ListArgs, RunsArgs, RunsCommand};
use crate::exit::{Exit, Failure, OrFail};
use crate::look;
use crate::named::Named;
use crate::storing::{self, Here};
use crate::wanted::Wanted;
use diskfacts_record::Status;
use diskfacts_report::json;
use diskfacts_report::text::{self, RunRow};
use diskfacts_store::RunSummary;

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
        RunsCommand::Import(args) => take::run(&args.files, common),
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
pub(crate) fn row(summary: RunSummary, here: &Here) -> RunRow {
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
