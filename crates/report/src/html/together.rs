//! The page of hosts that measured together: how many there were, the sum of each stage, how hosts
//! differ, and what follows.

use super::LOOK;
use super::chart::hosts;
use super::run::class;
use super::table::{Cell, Table};
use crate::text::findings::{self, severity};
use crate::text::together::{facts, started, title};
use crate::text::{Style, list};
use diskfacts_plan::plan::stage_label;
use diskfacts_record::Finding;
use diskfacts_record::together::{Merged, MergedHost, MergedStage};
use maud::{Markup, html};

/// The body of the page.
pub(crate) fn body(merged: &Merged) -> Markup {
    let is_lost = merged.hosts_complete < merged.hosts_expected;
    html! {
        h1 class=[is_lost.then_some("bad")] { (title(merged)) }
        p class="soft" { (started(merged)) }
        (claims(&merged.findings))
        @for (place, stage) in merged.stages.iter().enumerate() {
            (self::stage(stage, place + 1))
        }
        (lost(merged))
        (evidence(&merged.findings))
        (runs(&merged.hosts))
    }
}

/// A line for each claim.
fn claims(findings: &[Finding]) -> Markup {
    html! {
        @if findings.is_empty() {
            p class="good" { "No warnings." }
        } @else {
            section {
                h2 { "Warnings and notes" }
                dl class="lines" {
                    @for finding in findings {
                        @let (style, word) = severity(finding.severity);
                        dt class=[class(style)] { (word.to_lowercase()) }
                        dd { (finding.claim) }
                    }
                }
            }
        }
    }
}

fn stage(stage: &MergedStage, number: usize) -> Markup {
    let label = stage_label(&stage.stage, &stage.settings);
    let figure = hosts::figure_of_together(stage, &label, format!("hosts-{number}"));
    html! {
        section {
            h2 { (label) }
            dl {
                @for fact in facts(stage, &LOOK) {
                    @if !fact.label.is_empty() { dt { (fact.label) } }
                    dd class=[(fact.style != Style::Plain).then(|| class(fact.style)).flatten()] {
                        (fact.text)
                    }
                }
            }
            @if let Some(figure) = figure { div class="figures" { (figure) } }
        }
    }
}

/// Hosts that did not come to the end, and why.
fn lost(merged: &Merged) -> Markup {
    html! {
        @if !merged.lost.is_empty() {
            section {
                h2 { "Lost hosts" }
                dl {
                    @for lost in &merged.lost {
                        dt { (lost.host) }
                        dd { (lost.why) }
                    }
                }
            }
        }
    }
}

/// The runs that were added up.
fn runs(hosts: &[MergedHost]) -> Markup {
    let mut table = Table::new(
        "runs",
        &[
            "host",
            "run",
            "target",
            "storage",
            "kernel",
            "clock error",
            "trials",
            "void",
        ],
    );
    for host in hosts {
        let void = host.void.iter();
        let void: Vec<String> = void
            .map(|v| format!("{} trial {}", v.stage, v.number))
            .collect();
        table.push(vec![
            Cell::Text(host.host.clone()),
            Cell::Text(host.run.clone()),
            Cell::Text(host.target.clone()),
            Cell::Text(host.storage.clone().unwrap_or_default()),
            Cell::Text(host.kernel.clone().unwrap_or_default()),
            Cell::Number(LOOK.duration(host.clock_error_ns)),
            Cell::Number(host.trials.to_string()),
            Cell::Text(list(&void)),
        ]);
    }
    html! {
        details {
            summary { "The runs of the hosts" }
            (table.without_empty_columns())
        }
    }
}

/// All claims whole.
fn evidence(findings: &[Finding]) -> Markup {
    html! {
        @if !findings.is_empty() {
            section class="claims" {
                h2 { "Every claim with its evidence" }
                @for finding in findings {
                    @let (style, word) = severity(finding.severity);
                    @let stages = list(&finding.stages);
                    details {
                        summary {
                            span class=[class(style)] { (word.to_lowercase()) } " " (finding.claim)
                        }
                        div class="claim" {
                            dl {
                                @for (label, texts) in findings::rows(finding, &stages) {
                                    dt { (label) }
                                    dd { @for text in texts { p { (text) } } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
