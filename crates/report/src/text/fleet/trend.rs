//! One disk over time.

use super::super::compare::signed;
use super::super::look::{Look, Style};
use super::super::page::Page;
use super::super::run::{Closing, close};
use super::super::words::count;
use super::{figure, time};
use diskfacts_facts::fleet::{Member, Trend, TrendStep};
use std::fmt::Write as _;

/// How much of a change peers have in common with a disk from which on it is not its own.
const SHARED: f64 = 0.5;

/// The levels of one stage of a disk, and where they changed.
pub fn fleet_trend(
    member: &Member,
    stage: &str,
    trend: &Trend,
    closing: &Closing,
    look: &Look,
) -> String {
    let mut page = Page::new(look);
    let changes = match trend.steps.len() {
        0 => "no change of the level".to_owned(),
        steps => count(steps as u64, "change") + " of the level",
    };
    let title = format!(
        "{} {}, {stage}: {}, {changes}",
        member.name(),
        member.target,
        count(trend.points.len() as u64, "run")
    );
    page.paragraph(0, Style::Heading, &title);
    page.blank();
    for (place, level) in trend.levels.iter().enumerate() {
        if place > 0 {
            step(&mut page, trend, &trend.steps[place - 1]);
        }
        let last = trend
            .levels
            .get(place + 1)
            .map_or(trend.points.len(), |next| next.first)
            - 1;
        let text = format!(
            "{} to {}: {} over {}",
            time(trend.points[level.first].started_s),
            time(trend.points[last].started_s),
            figure(trend.measure, level.median, look),
            count((last + 1 - level.first) as u64, "run")
        );
        page.paragraph(2, Style::Plain, &text);
    }
    let left = [
        (trend.left_out, "without a figure"),
        (trend.other_measure, "of another measure"),
    ];
    for (runs, why) in left {
        if runs > 0 {
            let text = format!("Left out: {} {why}.", count(runs as u64, "run"));
            page.paragraph(2, Style::Minor, &text);
        }
    }
    close(&mut page, closing);
    page.finish()
}

fn step(page: &mut Page<'_>, trend: &Trend, step: &TrendStep) {
    let point = &trend.points[step.first];
    let (style, word) = if step.better {
        (Style::Good, "BETTER")
    } else {
        (Style::Bad, "WORSE")
    };
    let mut text = format!(
        "{} at {} ({}): {word}",
        signed(step.change),
        time(point.started_s),
        point.run
    );
    match step.peers {
        Some((change, peers)) => {
            let peers = count(peers as u64, "peer");
            let own = if change / step.change >= SHARED {
                "so it is not this disk alone"
            } else {
                "so it is this disk"
            };
            // Writing to a String cannot fail.
            let _ = write!(text, "; {peers} changed by {}, {own}", signed(change));
        }
        None => text.push_str("; too few peers to say whether it is this disk alone"),
    }
    page.paragraph(4, style, &format!("{text}."));
    for (key, before, after) in &step.changed {
        page.paragraph(
            4,
            Style::Plain,
            &format!("{key} changed there: {before} -> {after}."),
        );
    }
}
