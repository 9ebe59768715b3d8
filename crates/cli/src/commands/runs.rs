//! `diskfacts runs`: what is stored.

use super::print;
use crate::args::{Common, RunsArgs};
use crate::exit::{Exit, Failure, OrFail};
use crate::{look, storing};
use diskfacts_record::Status;
use diskfacts_report::json;
use diskfacts_report::text::{self, RunRow};

pub(crate) fn run(args: &RunsArgs, common: &Common) -> Result<Exit, Failure> {
    let summaries = match storing::existing(common)? {
        Some(store) => store.runs(args.limit).or_failed()?,
        None => Vec::new(),
    };
    let rows: Vec<RunRow> = summaries
        .into_iter()
        .map(|summary| RunRow {
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
        })
        .collect();
    print(&if args.json {
        json::runs(&rows)
    } else {
        text::runs(&rows, &look::of_stdout(common.color))
    })?;
    Ok(Exit::Done)
}
