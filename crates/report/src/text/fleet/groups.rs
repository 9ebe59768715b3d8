//! What a comparison of two groups says of their hosts: who they are, who moved by itself, and
//! who is in no figure.

use super::super::compare::signed;
use super::super::look::Style;
use super::super::page::Page;
use super::super::words::{count, list, percent};
use super::{few, time};
use diskfacts_record::comparison::{
    Comparison, FleetComparison, FleetSide, HostName, Moved, Mover, SlowHours, StageOfHosts,
};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Where the values of the rows begin.
const COLUMN: usize = 10;
/// Hosts of a stage that are named one by one.
const MOVERS_MAX: usize = 12;
/// Times that are named one by one.
const TIMES_MAX: usize = 6;

/// Which groups they are.
pub(crate) fn sides(page: &mut Page<'_>, comparison: &Comparison, fleet: &FleetComparison) {
    let sides = [
        ("A", &comparison.a.given, &fleet.a),
        ("B", &comparison.b.given, &fleet.b),
    ];
    for (label, given, side) in sides {
        let text = format!("{given}: {}", side_in_words(side));
        page.labelled(0, (Style::Heading, label), COLUMN, Style::Plain, &text);
    }
    let both = count(u64::from(fleet.hosts), "host");
    let text = format!("{both} in both groups, each held against itself");
    page.labelled(0, (Style::Heading, ""), COLUMN, Style::Plain, &text);
}

/// `61 hosts, 61 runs, 2026-11-23 02:00 UTC to 2026-11-23 02:41 UTC; 7 trials were left out (...)`.
pub(crate) fn side_in_words(side: &FleetSide) -> String {
    let mut text = format!(
        "{}, {}, {}",
        count(u64::from(side.hosts), "host"),
        count(u64::from(side.runs), "run"),
        time(side.from_s)
    );
    // Writing to a String cannot fail.
    if time(side.to_s) != time(side.from_s) {
        let _ = write!(text, " to {}", time(side.to_s));
    }
    if side.looks > 1 {
        let _ = write!(text, ", at {} times", side.looks);
    }
    let left_out: u64 = side.trials_left_out.values().sum();
    if left_out > 0 {
        let by = side.trials_left_out.iter();
        let by: Vec<String> = by.map(|(by, trials)| format!("{by} {trials}")).collect();
        let left_out = count(left_out, "disturbed trial");
        let _ = write!(text, "; {left_out} left out ({})", list(&by));
    }
    text
}

/// What hosts did by themselves, and which are in no figure.
pub(crate) fn hosts(page: &mut Page<'_>, fleet: &FleetComparison) {
    let names = Names::of(fleet);
    movers(page, fleet, names);
    for (label, only) in [("A", &fleet.only_in_a), ("B", &fleet.only_in_b)] {
        if !only.is_empty() {
            let names: Vec<String> = only.iter().map(|name| names.called(name)).collect();
            let label = format!("Hosts only in {label}, in no figure:");
            page.blank();
            page.titled(0, (Style::Heading, &label), 4, Style::Plain, &few(&names));
        }
    }
    slow_times(page, fleet);
    let without: Vec<(&StageOfHosts, &str, Vec<String>)> = (fleet.stages.iter())
        .flat_map(|stage| without(names, stage))
        .collect();
    if !without.is_empty() {
        page.heading("Hosts without a figure in a stage");
        for (stage, why, names) in without {
            let label = format!("{}, {why}:", stage.stage);
            page.titled(2, (Style::Plain, &label), 4, Style::Minor, &few(&names));
        }
    }
}

/// Times at which hosts were held against each other.
fn slow_times(page: &mut Page<'_>, fleet: &FleetComparison) {
    let mut lines: Vec<(&str, String)> = Vec::new();
    for stage in &fleet.stages {
        lines.extend(
            stage
                .times
                .iter()
                .map(|time| (stage.stage.as_str(), slow_time(time))),
        );
    }
    if lines.is_empty() {
        return;
    }
    page.heading("Times at which hosts were slow together, and held against each other");
    for (stage, said) in lines.iter().take(TIMES_MAX) {
        page.titled(
            2,
            (Style::Plain, &format!("{stage}:")),
            4,
            Style::Doubtful,
            said,
        );
    }
    if lines.len() > TIMES_MAX {
        let more = count((lines.len() - TIMES_MAX) as u64, "more time");
        page.paragraph(2, Style::Minor, &format!("and {more}"));
    }
}

/// `in B 61 hosts from 2026-11-24 02:00 UTC to 2026-11-24 02:58 UTC, 24 % slower`.
pub(crate) fn slow_time(slow: &SlowHours) -> String {
    let word = if slow.slower < 0.0 {
        "faster"
    } else {
        "slower"
    };
    format!(
        "in {} {} from {} to {}, {} {word}",
        slow.side,
        count(u64::from(slow.hosts), "host"),
        time(slow.from_s),
        time(slow.to_s),
        percent(slow.slower.abs())
    )
}

fn movers(page: &mut Page<'_>, fleet: &FleetComparison, names: Names) {
    let judged = || fleet.stages.iter().filter(|stage| stage.movers.is_some());
    if judged().next().is_none() {
        let most = fleet.stages.iter().map(|stage| stage.pairs.len()).max();
        let text = format!(
            "{} are too few to tell who moved by itself: nine are needed",
            count(most.unwrap_or(0) as u64, "host")
        );
        page.blank();
        page.paragraph(0, Style::Minor, &text);
        return;
    }
    let all = || judged().flat_map(|stage| stage.movers.iter().flatten());
    if all().next().is_none() {
        page.heading("Hosts that moved by themselves: none");
        return;
    }
    page.heading("Hosts that moved by themselves");
    for stage in judged() {
        let movers = stage.movers.iter().flatten();
        for (place, mover) in movers.enumerate().take(MOVERS_MAX) {
            if place == 0 {
                let spread = stage.spread.map(percent).unwrap_or_default();
                let label = format!("{}:", stage.stage);
                let text = format!("hosts' changes differ by {spread}");
                page.titled(2, (Style::Heading, &label), 4, Style::Minor, &text);
            }
            let style = match (mover.moved, mover.worse) {
                (Moved::Suspect, _) => Style::Doubtful,
                (Moved::ByItself, true) => Style::Bad,
                (Moved::ByItself, false) => Style::Good,
            };
            let label = format!("{}:", names.called(&mover.name));
            page.titled(4, (Style::Plain, &label), 4, style, &moved(mover));
        }
        let more = stage
            .movers
            .iter()
            .flatten()
            .count()
            .saturating_sub(MOVERS_MAX);
        if more > 0 {
            let more = format!("and {}", count(more as u64, "more host"));
            page.paragraph(4, Style::Minor, &more);
        }
    }
    page.blank();
    page.paragraph(2, Style::Minor, &meaning(fleet));
}

/// What is said below the movers, as far as there are such.
pub(crate) fn meaning(fleet: &FleetComparison) -> String {
    let movers = || {
        fleet
            .stages
            .iter()
            .flat_map(|stage| stage.movers.iter().flatten())
    };
    let mut sentences = Vec::new();
    if movers().any(|mover| mover.moved == Moved::ByItself) {
        sentences.push(format!(
            "Of those that moved by themselves {} are expected to be none (q, Benjamini and \
             Hochberg, over {}).",
            percent(fleet.false_discoveries),
            count(u64::from(fleet.tests), "comparison")
        ));
    }
    if movers().any(|mover| mover.moved == Moved::Suspect) {
        sentences.push(
            "A suspect may have had a disturbed run: measure it again, an hour later or more, with \
             the same --group, and compare again."
                .to_owned(),
        );
    }
    sentences.join(" ")
}

/// `-23 %, which is -20 % beyond the others, in 2 looks, q 0.0004`.
pub(crate) fn moved(mover: &Mover) -> String {
    let mut text = format!(
        "{}, which is {} beyond the others",
        signed(mover.change),
        signed(mover.beyond)
    );
    // Writing to a String cannot fail.
    match mover.moved {
        Moved::ByItself => {
            let _ = write!(
                text,
                ", in each of {}",
                count(u64::from(mover.looks), "look")
            );
            match mover.q {
                Some(q) if q < 0.0001 => text.push_str(", q below 0.0001"),
                Some(q) => {
                    let _ = write!(text, ", q {q:.4}");
                }
                None => {}
            }
        }
        Moved::Suspect => text.push_str("; a suspect"),
    }
    text
}

/// Hosts of a stage that have no pair, by the reason.
fn without(names: Names, stage: &StageOfHosts) -> Vec<(&StageOfHosts, &str, Vec<String>)> {
    let mut by_reason: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for without in &stage.without {
        let of_reason = by_reason.entry(&without.why).or_default();
        of_reason.push(names.called(&without.name));
    }
    let by_reason = by_reason.into_iter();
    by_reason.map(|(why, names)| (stage, why, names)).collect()
}

/// How hosts are called here: with their targets where hosts have several.
#[derive(Clone, Copy)]
pub(crate) struct Names {
    with_targets: bool,
}

impl Names {
    pub(crate) fn of(fleet: &FleetComparison) -> Self {
        let pairs = fleet.stages.iter().flat_map(|stage| &stage.pairs);
        let only = fleet.only_in_a.iter().chain(&fleet.only_in_b);
        let mut targets = pairs
            .map(|pair| &pair.name)
            .chain(only)
            .map(|name| &name.target);
        let first = targets.next();
        Self {
            with_targets: targets.any(|target| Some(target) != first),
        }
    }

    pub(crate) fn called(self, name: &HostName) -> String {
        if self.with_targets {
            format!("{}:{}", name.host, name.target)
        } else {
            name.host.clone()
        }
    }
}
