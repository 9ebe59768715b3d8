//! The page of advice: which option to take, the order with intervals, what that costs elsewhere,
//! how certain it is, and what was not measured.

use super::chart::choice::figure_of_ranking;
use super::links::Links;
use crate::text::advise::{title, told_apart, unmeasured};
use diskfacts_facts::advise::{Advice, Advised};
use diskfacts_record::{Finding, Severity};
use maud::{Markup, html};

/// The body of the page; links lead to the runs where these have places.
pub(crate) fn body(advice: &Advice, links: &Links) -> Markup {
    let unmeasured = unmeasured(advice);
    html! {
        h1 { (title(advice)) }
        p class="soft" {
            @for (place, id) in advice.runs.iter().enumerate() {
                @if place > 0 { ", " }
                @match links {
                    Links::File => (id),
                    Links::Server { .. } => a href=(links.run(place, id)) { (id) },
                }
            }
        }
        @for (place, advised) in advice.groups.iter().enumerate() { (group(advised, place)) }
        (paragraphs("By the thresholds of the use", &advice.needs))
        @if !advice.findings.is_empty() {
            h2 { "What the rules say of these figures" }
            @for finding in &advice.findings { (self::finding(finding)) }
        }
        (paragraphs("What was not measured, or takes no part", &unmeasured))
        @if let Some(weights) = &advice.weights {
            (paragraphs("Where the weights come from", &weights.sources))
        }
    }
}

fn group(advised: &Advised, place: usize) -> Markup {
    let ranked = advised
        .ranking
        .iter()
        .map(|ranking| ("In order".to_owned(), ranking));
    let dimensions = advised
        .dimensions
        .iter()
        .filter(|_| advised.ranking.is_none());
    let dimensions = dimensions
        .map(|(dimension, ranking)| (format!("{dimension}: {}", dimension.about()), ranking));
    let orders: Vec<_> = ranked.chain(dimensions).collect();
    html! {
        h2 { (told_apart(&advised.group)) }
        @for pick in &advised.picks { p { (pick) } }
        div class="figures" {
            @for (number, (title, ranking)) in orders.into_iter().enumerate() {
                @let id = format!("order-{}-{}", place + 1, number + 1);
                @if let Some(figure) = figure_of_ranking(title, &advised.group, ranking, id) {
                    (figure)
                }
            }
        }
        (paragraphs("What it costs elsewhere", &advised.costs))
        (paragraphs("How certain that is", &advised.uncertain))
    }
}

fn finding(finding: &Finding) -> Markup {
    let (class, word) = match finding.severity {
        Severity::Error => (Some("bad"), "Error"),
        Severity::Warning => (Some("doubt"), "Warning"),
        Severity::Note => (None, "Note"),
    };
    html! {
        details {
            summary { span class=[class] { (word) } ": " (finding.claim) }
            @for evidence in &finding.evidence { p class="soft" { (evidence) } }
            p class="soft" { "(" (finding.rule) ")" }
        }
    }
}

fn paragraphs<T: AsRef<str>>(heading: &str, texts: &[T]) -> Markup {
    html! {
        @if !texts.is_empty() {
            h3 { (heading) }
            @for text in texts { p { (text.as_ref()) } }
        }
    }
}
