//! The page of many runs: where the level of a stage changed, and what else changed there; then
//! every stage from run to run.

use super::chart::trend;
use super::figure::Figure;
use super::links::Links;
use crate::text::compare::signed;
use crate::text::list;
use crate::text::words::count;
use diskfacts_facts::trends::{Changed, RUNS_MIN, Series, Step, Trends};
use maud::{Markup, html};

/// The body of the page; `of` says which runs they are, in words.
pub(crate) fn body(trends: &Trends, of: &str, links: &Links) -> Markup {
    let all = trends.series.iter();
    let mut changes: Vec<(&Series, &Step)> = all
        .flat_map(|series| series.changes.iter().map(move |step| (series, step)))
        .collect();
    let begun = |(series, step): &(&Series, &Step)| series.points[step.first].started.clone();
    // The newest first: what is older has been seen.
    changes.sort_by_key(|change| std::cmp::Reverse(begun(change)));
    let figures = trends
        .series
        .iter()
        .enumerate()
        .filter_map(|(place, series)| {
            Some((
                series,
                trend::figure(series, format!("trend-{}", place + 1))?,
            ))
        });
    let (unsteady, steady): (Vec<_>, Vec<_>) =
        figures.partition(|(series, _)| !series.changes.is_empty());
    html! {
        h1 { "Trends" }
        p class="soft" { (of) }
        p { (summary(trends, changes.len())) }
        @if !changes.is_empty() {
            h2 { "What changed, the newest first" }
            @for (series, step) in &changes { (change(series, step, links)) }
        }
        (drawn("Stages whose level changed", unsteady))
        (drawn("Stages without a change", steady))
        @if !trends.left_out.is_empty() {
            p class="soft" {
                "Left out: " (list(&trends.left_out))
                ". Imported runs do not say when they were measured."
            }
        }
    }
}

/// `Of 12 stages 2 changed their level.`, and how that was looked for.
fn summary(trends: &Trends, changes: usize) -> String {
    if trends.series.is_empty() {
        return "No stage was measured by two runs of one plan on one target, so there is no \
                trend."
            .to_owned();
    }
    let stages = count(trends.series.len() as u64, "stage");
    let unsteady = trends.series.iter();
    let unsteady = unsteady.filter(|series| !series.changes.is_empty()).count();
    let long = trends
        .series
        .iter()
        .filter(|series| series.points.len() >= RUNS_MIN)
        .count();
    let alone = if trends.alone == 0 {
        String::new()
    } else {
        let alone = count(trends.alone as u64, "other");
        format!(" {alone} stand in one run only.")
    };
    format!(
        "Of {stages} with two runs or more, {unsteady} changed the level, {} in all. Levels were \
         looked for in the {long} that have {RUNS_MIN} runs or more, three on either side of a \
         change, of more than 5 %; of a hundred stages that did not change, about one is taken \
         for one that did. What the last runs changed, compare says.{alone}",
        count(changes as u64, "change")
    )
}

fn change(series: &Series, step: &Step, links: &Links) -> Markup {
    let (before, after) = (&series.points[step.first - 1], &series.points[step.first]);
    let class = if step.better { "good" } else { "bad" };
    let word = if step.better { "better" } else { "worse" };
    html! {
        details open {
            summary {
                (trend::second(&after.started)) ": " b { (series.stage) } " of " (series.target) ", "
                span class=(class) { (word) " (" (signed(step.change)) ")" }
                @if let Some(first) = step.conditions.first() { ": " (first.condition.what) }
            }
            p {
                "Between " (before.run) " and " (after.run) "."
                @if let Some(link) = links.compare(&before.run, &after.run) {
                    " " a href=(link) { "Compare them" }
                }
            }
            (conditions(&step.conditions))
        }
    }
}

fn conditions(conditions: &[Changed]) -> Markup {
    let line = |changed: &Changed| {
        let condition = &changed.condition;
        let value = |values: &[String]| {
            if values.is_empty() {
                "not known".to_owned()
            } else {
                list(values)
            }
        };
        let other = if changed.throughout {
            ""
        } else {
            ", but not only there"
        };
        format!(
            "{}: {} → {}{other}",
            condition.what,
            value(&condition.a),
            value(&condition.b)
        )
    };
    html! {
        @if conditions.is_empty() {
            p { "No condition that was recorded changed there." }
        } @else {
            p { "What changed there, too, and so may be the cause:" }
            ul { @for changed in conditions { li { (line(changed)) } } }
        }
    }
}

fn drawn(heading: &str, figures: Vec<(&Series, Figure)>) -> Markup {
    html! {
        @if !figures.is_empty() {
            h2 { (heading) }
            div class="figures" { @for (_, figure) in figures { (figure) } }
        }
    }
}
