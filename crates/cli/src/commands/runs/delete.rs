//! `diskfacts runs delete RUN...`: stored runs go, after it was said which.

use super::row;
use crate::args::{Common, DeleteArgs};
use crate::commands::print;
use crate::exit::{Exit, Failure, OrFail, say};
use crate::named::Named;
use crate::{look, storing};
use diskfacts_host::{Roots, machine};
use diskfacts_record::Status;
use diskfacts_report::text::{self, RunRow};
use diskfacts_store::RunSummary;
use std::io::IsTerminal;

/// Looks for every run before one is deleted: a name that none has changes nothing.
pub(crate) fn run(args: &DeleteArgs, common: &Common) -> Result<Exit, Failure> {
    let own_host = machine(&Roots::default()).host;
    let mut named = Named::new(common);
    let mut runs: Vec<(RunRow, Vec<String>)> = Vec::new();
    for name in &args.runs {
        let id = named.id(name, "no run is stored yet, so there is none to delete")?;
        if runs.iter().any(|(known, _)| known.id == id) {
            continue;
        }
        let store = named.store().expect("the id is of a run in it");
        let (summary, stages) = store.summary(&id).or_failed()?;
        check_ended(&summary, own_host.as_deref(), args.unfinished)?;
        runs.push((row(summary), stages));
    }
    if !args.yes {
        confirm(&text::deleted(&runs, &look::plain()))?;
    }
    let mut store = storing::open_existing(common)?;
    let ids: Vec<&str> = runs.iter().map(|(run, _)| run.id.as_str()).collect();
    store
        .delete(&ids, |summary| {
            check_ended(summary, own_host.as_deref(), args.unfinished).is_err()
        })
        .or_failed()?;
    let look = look::of_stdout(common.color);
    print(&format!("Deleted:\n{}", text::deleted(&runs, &look)))?;
    Ok(Exit::Done)
}

/// Refuses a run that goes on, and one of which that cannot be told: its process may be in
/// a container or on another machine that has the same store, whose processes are not seen
/// from here. One of this host was killed when no such process is here.
fn check_ended(run: &RunSummary, own_host: Option<&str>, unfinished: bool) -> Result<(), Failure> {
    if run.status != Some(Status::Running) {
        return Ok(());
    }
    let id = &run.id;
    let is_of_here = own_host.is_some() && run.host.as_deref() == own_host;
    match storing::alive(run.writer.as_ref()) {
        Some(true) => Err(Failure::wrong_call(format!(
            "the run {id} still goes on, so nothing was deleted: wait for it, or end it with Ctrl-C"
        ))),
        Some(false) if is_of_here => Ok(()),
        _ if unfinished => Ok(()),
        _ => Err(Failure::wrong_call(format!(
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
