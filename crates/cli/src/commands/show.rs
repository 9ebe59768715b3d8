//! `diskfacts show RUN`: a stored run again, explained by today's rules; or one in a file,
//! as it was printed.

use super::print;
use crate::args::{Common, ShowArgs, Style};
use crate::exit::{Exit, Failure};
use crate::named::Named;
use crate::session::conclude_document;
use crate::{look, storing};
use diskfacts_plan::plan::stage_label;
use diskfacts_record::{Run, TargetKind};
use diskfacts_report::text::Closing;
use diskfacts_report::{json, text};

pub(crate) fn run(args: &ShowArgs, common: &Common) -> Result<Exit, Failure> {
    let mut named = Named::new(common);
    let run = named.run(
        &args.run,
        "no run is stored yet; `diskfacts measure .` makes the first",
    )?;
    // What explains a run are its whole histograms, and they are in no document.
    let run = if named.store().is_some() {
        explained(&named, run)
    } else {
        run
    };
    let closing = closing(&named, args, &run, common);
    let look = look::of_stdout(common.color);
    let none_of = |what: &str, name: &str, has: String| {
        Failure::wrong_call(format!("{} has no {what} '{name}'; {has}", run.run.id))
    };
    let part = &args.part;
    let text = if let Some(stage) = &part.settle {
        plan_to_settle(&run, stage)?
    } else if let Some(name) = &part.claim {
        text::claim(&run, name, &closing.show, &look).map_err(|has| none_of("claim", name, has))?
    } else if let Some(name) = &part.stage {
        text::stage(&run, name, &closing.show, &look).map_err(|has| none_of("stage", name, has))?
    } else if part.budget {
        text::budgets(&run, &look)
    } else if args.json {
        json::run(&run)
    } else if let Some(lines) = lines(args.style, &run)? {
        lines
    } else {
        super::page(&run, &closing, part.explain, &look)
    };
    print(&text)?;
    if matches!(args.style, Style::Classic | Style::ClassicCsv) {
        super::say_classic_notes(&run, None);
    }
    Ok(Exit::Done)
}

/// Where it is from, and what to type next.
fn closing(named: &Named<'_>, args: &ShowArgs, run: &Run, common: &Common) -> Closing {
    let id = &run.run.id;
    let option = storing::option(common);
    let (stored, show) = match named.store() {
        Some(store) => (
            format!("Stored as {id} in {}.", store.path().display()),
            format!("diskfacts show {id}{option}"),
        ),
        None => (
            format!("Read from {}.", args.run),
            format!("diskfacts show {}", storing::quoted(&args.run)),
        ),
    };
    Closing {
        stored,
        show,
        next: Vec::new(),
    }
}

/// The lines of another style, where the run has some.
fn lines(style: Style, run: &Run) -> Result<Option<String>, Failure> {
    let imported = run.target.kind == TargetKind::Imported;
    if !imported {
        super::check_classic(style, &run.plan)?;
    }
    let lines = super::lines(style, run);
    if imported
        && !matches!(style, Style::Iostat | Style::Readahead)
        && lines.as_ref().is_some_and(String::is_empty)
    {
        return Err(no_lines(run));
    }
    Ok(lines)
}

/// The plan of the experiment on what limited a stage.
fn plan_to_settle(run: &Run, stage: &str) -> Result<String, Failure> {
    // By the name alone, or with the settings of one cell of a matrix.
    let named: Vec<_> = run
        .limits
        .iter()
        .filter(|l| l.stage == stage || stage_label(&l.stage, &l.settings) == stage)
        .collect();
    if named.is_empty() {
        let mut stages: Vec<&str> = Vec::new();
        for limits in &run.limits {
            if !stages.contains(&limits.stage.as_str()) {
                stages.push(&limits.stage);
            }
        }
        return Err(Failure::wrong_call(format!(
            "{} has no stage '{stage}'; it has {}",
            run.run.id,
            stages.join(", ")
        )));
    }
    let Some(limit) = named.iter().find_map(|stage| stage.limits.first()) else {
        return Err(Failure::wrong_call(format!(
            "the evidence of {} does not say what limited {stage}, so there is nothing to settle",
            run.run.id
        )));
    };
    let experiment = &limit.experiment;
    experiment.plan.clone().ok_or_else(|| {
        Failure::wrong_call(format!(
            "what limited {stage} ({}) is settled without a plan file: type `{}`",
            limit.limiter, experiment.command
        ))
    })
}

/// The run with what follows from it, and from the others that were read from
/// its document, as far as they are still there.
fn explained(named: &Named<'_>, run: Run) -> Run {
    let id = run.run.id.clone();
    let together = run.run.source.as_ref().map(|source| source.runs.clone());
    let mut together = together.unwrap_or_default();
    if !together.contains(&id) {
        together = vec![id.clone()];
    }
    // In the order of the document, as they were explained when they were imported.
    let mut own = Some(run);
    let mut runs: Vec<Run> = together
        .iter()
        .filter_map(|other| {
            if *other == id {
                own.take()
            } else {
                named.stored(other)
            }
        })
        .collect();
    conclude_document(&mut runs);
    let place = runs.iter().position(|run| run.run.id == id);
    runs.swap_remove(place.expect("it is among them"))
}

/// An imported run has no lines of another program to print.
fn no_lines(run: &Run) -> Failure {
    let source = run.run.source.as_ref();
    let format = source.map_or("", |source| source.format.as_str());
    Failure::wrong_call(format!(
        "{} was imported from {format}, and no classic style prints its lines again: of imported \
         runs only those from stride and write-matrix have one. The lines stand in {}",
        run.run.id, run.target.path
    ))
}
