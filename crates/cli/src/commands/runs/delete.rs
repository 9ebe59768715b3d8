//! `diskfacts runs delete RUN...`: stored runs go, after it was said which.

use super::{ids, row};
use crate::args::{Common, DeleteArgs};
use crate::commands::print;
use crate::exit::{Exit, Failure, OrFail, say};
use crate::look;
use crate::named::Named;
use crate::storing::{self, Here};
use diskfacts_record::Status;
use diskfacts_report::text::{self, RunRow};
use diskfacts_store::RunSummary;
use std::io::IsTerminal;

/// Looks for every run before one is deleted: a name that none has changes nothing.
pub(crate) fn run(args: &DeleteArgs, common: &Common) -> Result<Exit, Failure> {
    let mut named = Named::new(common);
    let ids = ids(&mut named, &args.runs, "there is none to delete")?;
    let here = named.here();
    let store = named.store().expect("the ids are of runs in it");
    let mut runs: Vec<(RunRow, Vec<String>)> = Vec::new();
    for id in &ids {
        let (summary, stages) = store.summary(id).or_failed()?;
        check_ended(&summary, here, args.unfinished)?;
        runs.push((row(summary, here), stages));
    }
    if !args.yes {
        confirm(&text::deleted(&runs, &look::plain()))?;
    }
    let mut store = storing::open_existing(common)?;
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    store
        .delete(&ids, |summary| {
            check_ended(summary, here, args.unfinished).is_err()
        })
        .or_failed()?;
    let look = look::of_stdout(common.color);
    print(&format!("Deleted:\n{}", text::deleted(&runs, &look)))?;
    Ok(Exit::Done)
}

/// Refuses a run that goes on, and one of which that cannot be told.
fn check_ended(run: &RunSummary, here: &Here, unfinished: bool) -> Result<(), Failure> {
    if run.status != Some(Status::Running) {
        return Ok(());
    }
    let id = &run.id;
    match here.alive(run) {
        Some(true) => Err(Failure::wrong_call(format!(
            "the run {id} still goes on, so nothing was deleted: wait for it, or end it with Ctrl-C"
        ))),
        Some(false) => Ok(()),
        None if unfinished => Ok(()),
        None => Err(Failure::wrong_call(format!(
            "the run {id} has not ended, and whether it still goes on cannot be seen from here; it \
             was begun on {}. Nothing was deleted. If it was killed, add --unfinished",
            run.host.as_deref().unwrap_or("an unknown host")
        ))),
    }
}

/// Asks on a terminal; where there is none nobody can answer.
fn confirm(which: &str) -> Result<(), Failure> {
    let which = which.trim_end();
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Err(Failure::wrong_call(format!(
            "nothing was deleted, because there is no terminal to ask on; --yes deletes\n{which}"
        )));
    }
    say(&format!(
        "This deletes for good:\n{which}\nType yes to delete them:"
    ));
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).or_failed()?;
    if matches!(answer.trim(), "y" | "yes") {
        return Ok(());
    }
    Err(Failure::wrong_call("nothing was deleted"))
}
