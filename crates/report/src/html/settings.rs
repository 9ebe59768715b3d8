//! What a matrix of settings says: which are best under which conditions, what each does, and
//! what makes the best permanent.

use super::chart::choice;
use super::figure::Figure;
use crate::text::effects::{Length, Permanent, SIMULATED, made_permanent, over_all, sentence};
use crate::text::pivot::{is_pivoted, said};
use diskfacts_record::Run;
use diskfacts_record::effects::{Answer, StageEffects};
use maud::{Markup, html};

/// What is best, in words; empty of a run in which nothing was to be chosen.
pub(crate) fn answers(run: &Run) -> Markup {
    let all = || run.effects.iter().filter(|effects| is_pivoted(effects));
    html! {
        @if all().next().is_some() {
            h2 { "Which settings are best" }
            dl {
                @for effects in all() {
                    dt { (effects.stage) }
                    dd { (of_stage(run, effects)) }
                }
            }
        }
    }
}

fn of_stage(run: &Run, effects: &StageEffects) -> Markup {
    let Some((overall, each)) = effects.answers.split_first() else {
        return html! {};
    };
    html! {
        p { (over_all(overall, each.len(), Length::Whole)) }
        @for answer in each {
            p { (said(&answer.under)) ": " (sentence(answer, Length::Whole)) }
        }
        (permanent(run, effects, overall))
    }
}

fn permanent(run: &Run, effects: &StageEffects, answer: &Answer) -> Markup {
    html! {
        @match made_permanent(run, effects, answer) {
            None => {}
            Some(Permanent::Simulated) => p class="soft" { (SIMULATED) },
            Some(Permanent::Lines { of, notes }) => {
                @for (what, lines) in of {
                    p { (what) }
                    pre { (lines.join("\n")) }
                }
                @for note in notes { p { (note) } }
            }
        }
    }
}

/// What can be chosen, and what each setting does, drawn; ids begin with `id`.
pub(crate) fn figures(run: &Run, id: &str) -> Vec<Figure> {
    let all = run.effects.iter().filter(|effects| is_pivoted(effects));
    all.enumerate()
        .flat_map(|(place, effects)| {
            let id = format!("{id}-choice-{}", place + 1);
            let each = choice::figure_of_main_effects(effects, format!("{id}-effects"));
            let mut figures = choice::figures_of_effects(effects, &id);
            figures.extend(each);
            figures
        })
        .collect()
}
