//! What limits the stages, what is doubtful, and every claim whole: evidence, what refutes it,
//! the experiment, and what to do.

use super::links::anchor;
use super::run::{Scope, class};
use crate::notes::notes;
use crate::text::findings::{self, severity};
use crate::text::limits::{Length, Told, refuted, stages, told, unexplained};
use crate::text::marks::{Limiting, letter};
use crate::text::summary::{doubts, head, limits};
use crate::text::verdicts::judged;
use diskfacts_record::{Finding, Verdict};
use maud::{Markup, html};

/// A line for each limiter, by its letter.
pub(super) fn limits(scope: &Scope<'_>) -> Markup {
    let all = &scope.marks.limits;
    html! {
        @if !all.is_empty() {
            section {
                h2 { "What limits it" }
                dl class="lines" {
                    @for (place, limiting) in all.iter().enumerate() {
                        @let said = limits::said(limiting, usize::MAX);
                        dt { (scope.link(&letter(place))) }
                        dd {
                            (limits::named(limiting))
                            @if !said.is_empty() { "; " (said) }
                            span class="soft" { " (" (stages(limiting)) ")" }
                        }
                    }
                }
            }
        }
    }
}

/// A line for each finding, by its number, and what was done otherwise than asked.
pub(super) fn doubts(scope: &Scope<'_>) -> Markup {
    let run = scope.run;
    let lines = doubts::alike(run, usize::MAX);
    let otherwise = notes(run);
    html! {
        @if run.findings.is_empty() && !run.figures.is_empty() {
            p class="good" { "No warnings." }
        }
        @if !lines.is_empty() || !otherwise.is_empty() {
            section {
                h2 { "Warnings and notes" }
                dl class="lines" {
                    @for (numbers, finding, text) in &lines {
                        @let (style, word) = severity(finding.severity);
                        dt {
                            @for (place, number) in numbers.iter().enumerate() {
                                @if place > 0 { " " }
                                (scope.link(&number.to_string()))
                            }
                            " " span class=[class(style)] { (word.to_lowercase()) }
                        }
                        dd { (text) }
                    }
                    @for note in &otherwise {
                        dt { "run" }
                        dd { (note) }
                    }
                }
            }
        }
    }
}

/// All claims of a run whole, limiters first.
pub(super) fn whole(scope: &Scope<'_>) -> Markup {
    let run = scope.run;
    let paragraphs: Vec<String> = refuted(&run.limits)
        .into_iter()
        .chain(unexplained(&run.limits))
        .collect();
    html! {
        @if !scope.marks.limits.is_empty() || !run.findings.is_empty() || !paragraphs.is_empty() {
            section class="claims" {
                h2 { "Every claim with its evidence" }
                @for (place, limiting) in scope.marks.limits.iter().enumerate() {
                    (folded(scope, &letter(place), &limiter_title(limiting), &limiter(scope, limiting)))
                }
                @for (place, finding) in run.findings.iter().enumerate() {
                    @let (style, word) = severity(finding.severity);
                    @let title = html! {
                        span class=[class(style)] { (word.to_lowercase()) } " " (finding.claim)
                    };
                    (folded(scope, &(place + 1).to_string(), &title, &finding_rows(scope, finding)))
                }
                @for text in &paragraphs { p { (text) } }
            }
        }
    }
}

/// A claim that is opened where it is asked for. Its anchor lies within, so that a link opens
/// it.
fn folded(scope: &Scope<'_>, mark: &str, title: &Markup, rows: &Markup) -> Markup {
    let id = anchor(scope.place, &format!("claim-{mark}"));
    html! {
        details {
            summary { strong { (mark) } " " (title) }
            div id=(id) class="claim" { (rows) }
        }
    }
}

fn limiter_title(limiting: &Limiting<'_>) -> Markup {
    html! {
        (limits::named(limiting)) " "
        span class="soft" { "(" (limiting.limiter) "): " (stages(limiting)) }
    }
}

/// All that is said of a limiter.
pub(super) fn limiter(scope: &Scope<'_>, limiting: &Limiting<'_>) -> Markup {
    let told = told(limiting, &scope.show(), Length::Claims);
    html! {
        dl {
            @for one in &told {
                @match one {
                    Told::Text(label, text) => {
                        @if !label.is_empty() { dt { (label) } }
                        dd { (text) }
                    }
                    Told::Command(parts) => {
                        dd { pre { code { (parts.join(" ")) } } }
                    }
                }
            }
        }
    }
}

/// All that is said of a finding beside its claim.
fn finding_rows(scope: &Scope<'_>, finding: &Finding) -> Markup {
    let stages = findings::stages(scope.run, finding);
    html! {
        dl {
            @for (label, texts) in findings::rows(finding, &stages) {
                dt { (label) }
                dd { @for text in texts { p { (text) } } }
            }
        }
    }
}

/// What a run says by a mark of its first page, or by the name of a limiter, a rule or a use;
/// `None` where it says nothing by that name.
pub(super) fn claim(scope: &Scope<'_>, name: &str) -> Option<Markup> {
    let numbered = scope.run.findings.iter().enumerate();
    let found =
        numbered.filter(|(place, finding)| finding.rule == name || (place + 1).to_string() == name);
    let mut parts: Vec<Markup> = found
        .map(|(_, finding)| {
            let (style, word) = severity(finding.severity);
            html! {
                h1 { span class=[class(style)] { (word.to_lowercase()) } " " (finding.claim) }
                (finding_rows(scope, finding))
            }
        })
        .collect();
    if let Some(limiting) = scope.marks.limit(name) {
        parts.push(html! {
            h1 { (limiter_title(limiting)) }
            (limiter(scope, limiting))
        });
    }
    let of_use = scope.run.verdicts.iter();
    let of_use = of_use.filter(|verdict| verdict.profile == name).cloned();
    let of_use: Vec<Verdict> = of_use.collect();
    if !of_use.is_empty() {
        parts.push(html! { h1 { (name) } (verdicts(&of_use)) });
    }
    (!parts.is_empty()).then(|| html! { @for part in parts { (part) } })
}

/// The uses, each with what it needs and what was measured.
pub(super) fn verdicts(verdicts: &[Verdict]) -> Markup {
    let judged = judged(verdicts);
    html! {
        @if !judged.lines.is_empty() || !judged.unmeasured.is_empty() {
            dl class="lines" {
                @for (style, word, text) in &judged.lines {
                    dt class=[class(*style)] { (word) }
                    dd { (text) }
                }
                @if !judged.unmeasured.is_empty() {
                    dt { "not measured" }
                    dd { @for text in &judged.unmeasured { p { (text) } } }
                }
            }
            p class="soft" { "Where the needs come from:" }
            ol class="soft" { @for source in &judged.sources { li { (source) } } }
        }
    }
}

/// What a use comes to, in the head of the page.
pub(super) fn uses(scope: &Scope<'_>) -> Markup {
    let run = scope.run;
    let answers = run.findings.iter().enumerate();
    let answers = answers.filter(|(_, finding)| head::is_answer(finding));
    html! {
        @for (style, label, uses) in head::judged(run, &scope.marks) {
            dt class=[class(style)] { (label) }
            dd { (uses) }
        }
        @for (place, finding) in answers {
            dt class="good" { "Best" }
            dd { (finding.headline) " [" (scope.link(&(place + 1).to_string())) "]" }
        }
        @if let Some((style, trust)) = head::trust(run, &scope.marks) {
            dt class=[class(style)] { "Trust" }
            dd { (trust) }
        }
    }
}
