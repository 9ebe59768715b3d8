//! Which run it is, where it is kept, and how to see the rest.

use super::super::look::Style;
use super::super::marks::Marks;
use super::super::page::Page;
use super::super::run::Closing;
use super::super::words::{count, stages_of};
use super::super::wrap::columns;
use super::brevity::Brevity;
use diskfacts_plan::units::show_duration;
use diskfacts_record::{Labels, Outcome, Run};

/// Before what is to be typed.
const INDENT: usize = 2;

pub(super) fn write(
    page: &mut Page<'_>,
    run: &Run,
    marks: &Marks<'_>,
    closing: &Closing,
    brevity: Brevity,
) {
    page.blank();
    let kept = brevity.kept || closing.show.is_empty();
    let kept = if kept { &*closing.stored } else { "" };
    page.paragraph(0, Style::Minor, &about(run, kept));
    let note = run.run.labels.note.iter().flat_map(|note| note.lines());
    for (i, line) in note.enumerate() {
        let label = (Style::Minor, if i == 0 { "Note:" } else { "" });
        page.labelled(0, label, 6, Style::Minor, line);
    }
    if closing.show.is_empty() {
        return;
    }
    let first = match (run.findings.is_empty(), marks.limits.is_empty()) {
        (false, _) => Some("1"),
        (true, false) => Some("a"),
        (true, true) => None,
    };
    let show = &closing.show;
    if let Some(first) = first {
        command(
            page,
            &format!("{show} --claim {first}"),
            "why, and what to do",
        );
    }
    if let Some(name) = judged_worst(run).filter(|_| brevity.example) {
        command(page, &format!("{show} --claim {name}"), "what a use needs");
    }
    command(page, &format!("{show} --explain"), "all of it");
    // Without figures there is nothing to draw.
    let drawn = show.strip_prefix("diskfacts show");
    if let Some(run) = drawn.filter(|_| !run.figures.is_empty()) {
        command(
            page,
            &format!("diskfacts report{run} -o run.html"),
            "the charts",
        );
    }
}

/// The use of which somebody asks first what it needs: one that is missed, or marginal.
fn judged_worst(run: &Run) -> Option<&str> {
    let of = |wanted: Outcome| {
        run.verdicts
            .iter()
            .find(|verdict| verdict.outcome == wanted)
    };
    let verdict = of(Outcome::Fail).or_else(|| of(Outcome::Close))?;
    Some(&verdict.profile)
}

/// A command to type, and what it shows where there is room beside it.
fn command(page: &mut Page<'_>, command: &str, shows: &str) {
    let beside = format!("{command}  # {shows}");
    let fits = columns(&beside) + INDENT <= page.look.columns();
    let text = if fits { &beside } else { command };
    page.verbatim((Style::Plain, ""), INDENT, text);
}

/// `Run 20261125-044606-928b2e3d: 12 stages, 92 trials, 60 s. MB: 10^6 bytes.`
pub(crate) fn about(run: &Run, kept: &str) -> String {
    let trials: Vec<_> = run.planned_trials().collect();
    let seconds: f64 = trials
        .iter()
        .map(|trial| trial.seconds)
        .filter(|s| s.is_finite())
        .sum();
    // A document need not say how long it took.
    let took = (seconds > 0.0).then(|| format!(", {}", show_duration((seconds * 1e9) as u64)));
    let mut sentences = vec![format!(
        "Run {}{}: {} in {}{}.",
        run.run.id,
        called(&run.run.labels),
        count(trials.len() as u64, "trial"),
        if run.run.source.is_some() {
            "a document".to_owned()
        } else {
            stages_of(&run.plan)
        },
        took.unwrap_or_default(),
    )];
    if !run.figures.is_empty() {
        sentences.push("MB: 10^6 bytes.".to_owned());
    }
    if !kept.is_empty() {
        sentences.push(kept.to_owned());
    }
    sentences.join(" ")
}

/// ` (nightly; ci, fw-7)` of a run that has a name or tags.
fn called(labels: &Labels) -> String {
    let tags: Vec<&str> = labels.tags.iter().map(String::as_str).collect();
    let parts = labels.name.iter().cloned().chain([tags.join(", ")]);
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        [] => String::new(),
        parts => format!(" ({})", parts.join("; ")),
    }
}
