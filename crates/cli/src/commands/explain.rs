//! `diskfacts explain [NAME]`: the words of a limiter or finding that are the same of every run.

mod lines;

use super::print;
use crate::args::{Common, ExplainArgs};
use crate::exit::{Exit, Failure};
use crate::look;
use diskfacts_facts::explanations::{self, Entry, FINDINGS, LIMITS, Word};
use diskfacts_facts::{documents, rules, together, uses};
use diskfacts_plan::file::nearest;
use lines::Lines;

/// Columns that a label takes with the gap behind it: `Refuted by: `.
const LABEL: usize = 12;

/// The fewest letters that tell something of a name; marks of a first page have fewer.
const LEAST: usize = 3;

/// What is no limiter.
const FINDING: &str = "finding";

pub(crate) fn run(args: &ExplainArgs, common: &Common) -> Result<Exit, Failure> {
    let mut lines = Lines::new(look::of_stdout(common.color).width);
    match args.name.as_deref() {
        None => list(&mut lines),
        Some(name) => {
            let (kind, entry) = find(name).ok_or_else(|| unknown(name))?;
            page(&mut lines, kind, &entry);
        }
    }
    print(&lines.finish())?;
    Ok(Exit::Done)
}

/// Names with what they are, for the completion of a shell.
pub(crate) fn names() -> impl Iterator<Item = (&'static str, String)> {
    let all = explanations::entries(LIMITS).chain(explanations::entries(FINDINGS));
    all.map(|entry| (entry.name, entry.about))
}

fn find(name: &str) -> Option<(&'static str, Entry)> {
    let of = |page| explanations::entries(page).find(|entry| entry.name == name);
    let finding = || of(FINDINGS).map(|entry| (FINDING, entry));
    let mut rules = rules::all().iter().chain(documents::rules());
    let kind = if rules.any(|rule| rule.name == name) {
        "limiter and finding"
    } else {
        "limiter"
    };
    of(LIMITS).map(|entry| (kind, entry)).or_else(finding)
}

fn list(lines: &mut Lines) {
    let column = names().map(|(name, _)| name.len()).max().unwrap_or(0) + 2;
    let parts = [
        ("Limiters: why a stage is not faster", LIMITS),
        ("Findings: what the figures mean", FINDINGS),
    ];
    for (title, page) in parts {
        lines.text(0, title);
        lines.blank();
        for entry in explanations::entries(page) {
            lines.labelled(2, entry.name, column, &entry.about);
        }
        lines.blank();
    }
    lines.text(0, "`diskfacts explain NAME` says all of one.");
}

fn page(lines: &mut Lines, kind: &str, entry: &Entry) {
    let name = entry.name;
    let is_limiter = kind != FINDING;
    lines.text(0, &format!("{name} ({kind}): {}", entry.about));
    lines.blank();
    lines.text(0, format!("{} {}", entry.standing, entry.more).trim_end());
    lines.blank();
    words(lines, 0, &entry.words);
    for case in &entry.cases {
        lines.blank();
        lines.text(0, &format!("{}:", case.what));
        words(lines, 2, &case.words);
    }
    lines.blank();
    let whole = format!("`diskfacts show RUN --claim {name}`");
    lines.text(0, &format!("{}: {whole}.", of_a_run(entry, is_limiter)));
}

/// What only a run can say: words with its figures, paths and commands in them.
fn of_a_run(entry: &Entry, is_limiter: bool) -> String {
    let asked = ["Refuted by", "Experiment", "Remedy"].into_iter();
    let asked = asked.filter(|label| is_limiter || *label != "Experiment");
    let has = |label: &str| entry.words.iter().any(|word| word.label == label);
    let missing: Vec<String> = asked
        .filter(|label| !has(label))
        .map(|label| format!("\"{label}\""))
        .collect();
    match missing.as_slice() {
        [] => "In a run, with its figures".to_owned(),
        [one] => format!("{one} depends on the run"),
        [most @ .., last] => format!("{} and {last} depend on the run", most.join(", ")),
    }
}

fn words(lines: &mut Lines, indent: usize, words: &[Word]) {
    for Word { label, text } in words {
        lines.labelled(indent, &format!("{label}:"), LABEL, text);
    }
}

/// Nothing is explained under this name: those that have it in their own, else the nearest.
fn unknown(name: &str) -> Failure {
    if (1..LEAST).contains(&name.len()) {
        return Failure::wrong_call(format!(
            "'{name}' is no limiter or finding; of a letter or number of a run's first page \
             `diskfacts show RUN --claim {name}` says all"
        ));
    }
    if uses().iter().any(|known| known.name == name) {
        return Failure::wrong_call(format!(
            "'{name}' is a use; what it needs, and whether a run has it, says `diskfacts show RUN \
             --claim {name}`"
        ));
    }
    if together::CLAIMS.contains(&name) {
        return Failure::wrong_call(format!(
            "'{name}' is said of hosts that measured together, by `diskfacts together`; only what is \
             said of one run is explained here"
        ));
    }
    let known: Vec<&str> = names().map(|(known, _)| known).collect();
    let has_it = |known: &&&str| name.len() >= LEAST && known.contains(name);
    let near: Vec<&str> = known.iter().filter(has_it).copied().collect();
    let near = if near.is_empty() {
        nearest(name, &known).into_iter().collect()
    } else {
        near
    };
    let hint = match near.as_slice() {
        [] => String::new(),
        [near] => format!("; did you mean '{near}'?"),
        near => format!("; did you mean one of {}?", near.join(", ")),
    };
    let hint = if hint.is_empty() { "." } else { &hint };
    Failure::wrong_call(format!(
        "no limiter or finding is called '{name}'{hint} `diskfacts explain` lists them all"
    ))
}
