//! `diskfacts show RUN`: a run again, stored or in a file, explained by today's rules; one that
//! was printed, as it was.

use super::{explain, print};
use crate::args::{Common, ShowArgs, Span, Style};
use crate::exit::{Exit, Failure};
use crate::named::Named;
use crate::{look, storing};
use diskfacts_plan::plan::stage_label;
use diskfacts_record::{Run, TargetKind};
use diskfacts_report::text;
use diskfacts_report::text::{Closing, StagePart};

pub(crate) fn run(args: &ShowArgs, common: &Common) -> Result<Exit, Failure> {
    let mut named = Named::new(common);
    let mut runs = named.explained(
        &args.run,
        "no run is stored yet; `diskfacts measure .` makes the first",
    )?;
    if named.store().is_none() && runs.len() > 1 {
        return Err(several(&args.run, &runs));
    }
    let run = runs.swap_remove(0);
    let closing = closing(&named, args, &run, common);
    let look = look::of_stdout(common.color);
    let part = &args.part;
    let text = if let Some(stage) = &part.settle {
        plan_to_settle(&run, stage)?
    } else if let Some(name) = &part.claim {
        text::claim(&run, name, &closing.show, &look).map_err(|has| {
            let is_known = explain::names().any(|(known, _)| known == name);
            let what = if is_known {
                format!(". `diskfacts explain {name}` says what it is")
            } else {
                String::new()
            };
            Failure::wrong_call(format!("{} has no claim '{name}'; {has}{what}", run.run.id))
        })?
    } else if let Some(name) = &part.stage {
        let trial = args.trial;
        let part = StagePart { name, trial };
        let text = match args.at {
            Some(Span { from_ns, to_ns }) => text::moment(&run, part, (from_ns, to_ns), &look),
            None => text::stage(&run, part, &closing.show, &look),
        };
        text.map_err(|why| Failure::wrong_call(format!("{} {why}", run.run.id)))?
    } else if part.budget {
        text::budgets(&run, &look)
    } else if let Some(form) = args.json {
        super::json_of(&run, form)
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
            format!("Stored in {}.", store.path().display()),
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

/// A page shows one run.
fn several(file: &str, runs: &[Run]) -> Failure {
    let each = runs.iter().map(|run| {
        let name = run.run.labels.name.as_ref();
        let name = name.map_or(String::new(), |name| format!("{name}: "));
        let (plan, target) = (&run.plan.name, &run.target.given);
        format!("\n  {}  {name}{plan} of {target}", run.run.id)
    });
    let quoted = storing::quoted(file);
    Failure::wrong_call(format!(
        "{file} has {} runs, and one is shown at a time; `diskfacts runs import {quoted}` stores \
         them, and then each can be named:{}",
        runs.len(),
        each.collect::<String>()
    ))
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
