//! The page of a comparison: what it comes to, the conditions that differ, what changed drawn and
//! in words, and what could not be judged.

use super::chart::ratios;
use super::groups;
use super::links::Links;
use super::table::{Cell, Table};
use crate::text::compare::{is_one_sided, judged, legend};
use crate::text::words::count;
use crate::text::{Style, list};
use diskfacts_record::comparison::{Change, Comparison, Condition, Demand, Side, StageComparison};
use maud::{Markup, html};

/// The body of the page; links lead to the runs where these have places. `drawings` are those
/// that need the runs themselves, and stand behind the others.
pub(crate) fn body(comparison: &Comparison, links: &Links, drawings: &Markup) -> Markup {
    let speeds = ratios::figure_of_speeds(comparison, "speeds".to_owned());
    let latencies = ratios::figure_of_latencies(comparison, "latencies".to_owned());
    html! {
        h1 { "What changed" }
        p { (comparison.summary) }
        dl {
            @match &comparison.fleet {
                Some(fleet) => (groups::sides(comparison, fleet)),
                None => {
                    (side("A", &comparison.a, links))
                    (side("B", &comparison.b, links))
                }
            }
        }
        @for demand in &comparison.demands { (self::demand(demand)) }
        (conditions(&comparison.conditions))
        div class="figures" {
            @if let Some(figure) = speeds { (figure) }
            @if let Some(figure) = latencies { (figure) }
            (drawings)
        }
        @if !comparison.stages.is_empty() {
            h2 { "Stage by stage: B against A" }
            dl {
                @for stage in &comparison.stages { (self::stage(stage)) }
            }
            p class="soft" { (legend(comparison)) }
        }
        (missing(comparison))
        @if let Some(fleet) = &comparison.fleet { (groups::hosts(comparison, fleet)) }
    }
}

fn side(label: &str, side: &Side, links: &Links) -> Markup {
    html! {
        dt { (label) }
        dd {
            @for run in &side.runs {
                p {
                    @match links {
                        Links::File => (run.id),
                        Links::Server { .. } => a href=(links.run(0, &run.id)) { (run.id) },
                    }
                    ": " (run.target) ", plan " (run.plan) ", " (count(run.trials, "trial"))
                    ", begun " (run.started)
                }
            }
        }
    }
}

fn conditions(conditions: &[Condition]) -> Markup {
    let (one_sided, differ): (Vec<&Condition>, Vec<&Condition>) = conditions
        .iter()
        .partition(|condition| is_one_sided(condition));
    let table = |label: &str, conditions: &[&Condition]| {
        let mut table = Table::new(label, &["condition", "A", "B", "stages"]);
        for condition in conditions {
            table.push(vec![
                Cell::Text(condition.what.clone()),
                Cell::Text(list(&condition.a)),
                Cell::Text(list(&condition.b)),
                Cell::Text(list(&condition.stages)),
            ]);
        }
        table.without_empty_columns()
    };
    html! {
        @if differ.is_empty() {
            h2 { "Conditions: none that was recorded differs" }
        } @else {
            h2 { "Conditions that differ" }
            (table("conditions that differ", &differ))
        }
        @if !one_sided.is_empty() {
            details {
                summary { "Known of one side only: " (count(one_sided.len() as u64, "condition")) }
                (table("conditions known of one side only", &one_sided))
            }
        }
    }
}

fn stage(stage: &StageComparison) -> Markup {
    let class = match stage.change {
        Change::Same => None,
        Change::Faster => Some("good"),
        Change::Slower => Some("bad"),
        Change::Unclear | Change::NotComparable => Some("doubt"),
    };
    html! {
        dt { (stage.stage) }
        dd {
            p class=[class] { (stage.statement) }
            @if let Some(other) = &stage.stage_b { p class="soft" { "called " (other) " in B" } }
        }
    }
}

fn demand(demand: &Demand) -> Markup {
    let (style, said) = judged(demand);
    let class = if style == Style::Bad { "bad" } else { "good" };
    html! {
        p { code { "--fail-if " (demand.given) } ": " span class=(class) { (said) } }
    }
}

fn missing(comparison: &Comparison) -> Markup {
    let sides = [("A", &comparison.only_in_a), ("B", &comparison.only_in_b)];
    html! {
        @for (name, only) in sides {
            @if !only.is_empty() {
                h2 { "Only in " (name) }
                p { (list(only)) }
            }
        }
    }
}
