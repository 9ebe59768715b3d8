//! `diskfacts compare A B`: what changed.

use super::print;
use crate::args::{Common, CompareArgs, CompareFormat};
use crate::exit::{Exit, Failure, say};
use crate::sides::Side;
use crate::{groups, look};
use diskfacts_facts::compare;
use diskfacts_facts::compare::Demanded;
use diskfacts_record::Comparison;
use diskfacts_report::export::{github, junit, markdown};
use diskfacts_report::text::Closing;
use diskfacts_report::{json, text};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

pub(crate) fn run(args: &CompareArgs, common: &Common) -> Result<Exit, Failure> {
    let of_groups = groups::compared(&args.a, &args.b, args.same_within, &args.fail_if)?;
    let comparison = if let Some(comparison) = of_groups {
        comparison
    } else {
        let (a, b) = (Side::read(&args.a, common)?, Side::read(&args.b, common)?);
        compare(
            &a.selection(),
            &b.selection(),
            args.same_within,
            &args.fail_if,
        )
    };
    for demanded in &args.fail_if {
        check(demanded, &comparison)?;
    }
    print(&if args.json {
        json::comparison(&comparison)
    } else if let Some(format) = args.format {
        formatted(&comparison, format, args.allow_unjudged)?
    } else {
        let closing = Closing::default();
        text::comparison(&comparison, &closing, &look::of_stdout(common.color))
    })?;
    Ok(judged(&comparison).allowing_unjudged(args.allow_unjudged))
}

/// The comparison in the format of another program.
fn formatted(
    comparison: &Comparison,
    format: CompareFormat,
    allow_unjudged: bool,
) -> Result<String, Failure> {
    Ok(match format {
        CompareFormat::Junit => junit::junit(comparison, allow_unjudged),
        CompareFormat::Markdown => markdown::markdown(comparison),
        CompareFormat::Github => {
            summarize(&markdown::markdown(comparison))?;
            github::commands(comparison, allow_unjudged)
        }
    })
}

/// Appends to the summary of the job, which GitHub Actions names a file for.
fn summarize(text: &str) -> Result<(), Failure> {
    let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) else {
        return Ok(());
    };
    let mut options = OpenOptions::new();
    let file = options.create(true).append(true).open(&path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| {
            let shown = Path::new(&path).display().to_string();
            Failure::failed(format!(
                "writing to {shown}, which GITHUB_STEP_SUMMARY names, failed: {error}"
            ))
        })
}

/// A stage that is on neither side is a mistake of whoever typed it.
fn check(demanded: &Demanded, comparison: &Comparison) -> Result<(), Failure> {
    let Some(stage) = demanded.stage() else {
        return Ok(());
    };
    let stages = comparison.stages.iter().map(|one| one.stage.as_str());
    let only = comparison.only_in_a.iter().chain(&comparison.only_in_b);
    let all: Vec<&str> = stages.chain(only.map(String::as_str)).collect();
    if all.iter().any(|label| demanded.is_of(label)) {
        return Ok(());
    }
    Err(Failure::wrong_call(format!(
        "--fail-if names the stage '{stage}', which neither side has; there are {}",
        all.join(", ")
    )))
}

/// How to exit, by what was asked for. What could not be judged must not pass for what
/// does not hold.
fn judged(comparison: &Comparison) -> Exit {
    let held: Vec<String> = comparison
        .demands
        .iter()
        .filter(|demand| !demand.holds.is_empty())
        .map(|demand| format!("{} holds in {}", demand.given, demand.holds.join(", ")))
        .collect();
    if !held.is_empty() {
        say(&format!("diskfacts: {}", held.join("; ")));
        return Exit::VerdictFailed;
    }
    let mut exit = Exit::Done;
    for demand in &comparison.demands {
        let given = &demand.given;
        if demand.judged == 0 {
            exit = Exit::Unjudged;
            let why = match comparison.fleet {
                None => {
                    "where neither side has several trials no spread is known, and what is not \
                     comparable cannot be slower. Measure with --trials 5 or more, on the same plan"
                }
                Some(_) => {
                    "of one host no spread is known, percentiles of groups are not compared, and \
                     what is not comparable cannot be slower. Compare groups that have two hosts in \
                     common at least, measured by the same plan"
                }
            };
            say(&format!(
                "diskfacts: --fail-if {given} could not be judged for any stage: {why}",
            ));
        } else if !demand.unjudged.is_empty() {
            exit = Exit::Unjudged;
            say(&format!(
                "diskfacts: --fail-if {given} could not be judged in {}; where that is no matter, add \
                 --allow-unjudged",
                demand.unjudged.join(", ")
            ));
        }
    }
    exit
}
