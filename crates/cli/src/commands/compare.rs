//! `diskfacts compare A B`: what changed.

use super::print;
use crate::args::{Common, CompareArgs};
use crate::exit::{Exit, Failure, say};
use crate::look;
use crate::sides::Side;
use diskfacts_facts::compare;
use diskfacts_facts::compare::Demanded;
use diskfacts_record::Comparison;
use diskfacts_report::text::Closing;
use diskfacts_report::{json, text};

pub(crate) fn run(args: &CompareArgs, common: &Common) -> Result<Exit, Failure> {
    let (a, b) = (Side::read(&args.a, common)?, Side::read(&args.b, common)?);
    let (a, b) = (a.selection(), b.selection());
    let comparison = compare(&a, &b, args.same_within, &args.fail_if);
    for demanded in &args.fail_if {
        check(demanded, &comparison)?;
    }
    print(&if args.json {
        json::comparison(&comparison)
    } else {
        let closing = Closing::default();
        text::comparison(&comparison, &closing, &look::of_stdout(common.color))
    })?;
    Ok(judged(&comparison).allowing_unjudged(args.allow_unjudged))
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
            say(&format!(
                "diskfacts: --fail-if {given} could not be judged for any stage: where neither side \
                 has several trials no spread is known, and what is not comparable cannot be slower. \
                 Measure with --trials 5 or more, on the same plan",
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
