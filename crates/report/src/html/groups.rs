//! What the page of a comparison of two groups says of their hosts.

use super::chart::hosts;
use crate::text::fleet::groups::{Names, meaning, moved, side_in_words, slow_time};
use crate::text::list;
use diskfacts_record::comparison::{Comparison, FleetComparison, Moved, Mover};
use maud::{Markup, html};

/// Which groups they are.
pub(crate) fn sides(comparison: &Comparison, fleet: &FleetComparison) -> Markup {
    html! {
        dt { "A" }
        dd { (comparison.a.given) ": " (side_in_words(&fleet.a)) }
        dt { "B" }
        dd { (comparison.b.given) ": " (side_in_words(&fleet.b)) }
        dt { "Hosts" }
        dd { (fleet.hosts) " in both groups, each held against itself" }
    }
}

/// What each host changed, who moved by itself, and who is in no figure.
pub(crate) fn hosts(comparison: &Comparison, fleet: &FleetComparison) -> Markup {
    let names = Names::of(fleet);
    let figures = fleet
        .stages
        .iter()
        .enumerate()
        .filter_map(|(place, stage)| {
            let id = format!("hosts-{}", place + 1);
            hosts::figure_of_changes(stage, comparison.same_within, |name| names.called(name), id)
        });
    let movers = || {
        fleet
            .stages
            .iter()
            .filter(|stage| stage.movers.iter().flatten().next().is_some())
    };
    html! {
        section {
            h2 { "Host by host" }
            div class="figures" { @for figure in figures { (figure) } }
        }
        @if movers().next().is_some() {
            section {
                h2 { "Hosts that moved by themselves" }
                dl {
                    @for stage in movers() {
                        dt { (stage.stage) }
                        dd {
                            @for mover in stage.movers.iter().flatten() {
                                p class=(class(mover)) {
                                    (names.called(&mover.name)) ": " (moved(mover))
                                }
                            }
                        }
                    }
                }
                p class="soft" { (meaning(fleet)) }
            }
        }
        @for stage in fleet.stages.iter().filter(|stage| !stage.times.is_empty()) {
            p {
                (stage.stage) ", held against each other because they were slow together: "
                (list(&stage.times.iter().map(slow_time).collect::<Vec<_>>()))
            }
        }
        @for (label, only) in [("A", &fleet.only_in_a), ("B", &fleet.only_in_b)] {
            @if !only.is_empty() {
                h2 { "Hosts only in " (label) ", in no figure" }
                p { (list(&only.iter().map(|name| names.called(name)).collect::<Vec<_>>())) }
            }
        }
        @for stage in fleet.stages.iter().filter(|stage| !stage.without.is_empty()) {
            h2 { "Without a figure in " (stage.stage) }
            dl {
                @for without in &stage.without {
                    dt { (names.called(&without.name)) }
                    dd { (without.why) }
                }
            }
        }
    }
}

fn class(mover: &Mover) -> &'static str {
    match (mover.moved, mover.worse) {
        (Moved::Suspect, _) => "doubt",
        (Moved::ByItself, true) => "bad",
        (Moved::ByItself, false) => "good",
    }
}
