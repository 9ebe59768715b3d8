//! What limits the stages: a line for each limiter, by its letter.

use super::super::look::Style;
use super::super::marks::{Limiting, Marks, letter};
use super::super::page::Page;
use super::super::words::percent;
use super::super::wrap::columns;
use diskfacts_plan::units::three_digits;
use diskfacts_record::{Confidence, GainBasis, Limit, TestOutcome};

/// Where the texts begin.
const COLUMN: usize = 3;
/// Predicted gains within this factor are said as one.
const ALIKE: f64 = 1.5;

pub(super) fn write(page: &mut Page<'_>, marks: &Marks<'_>) {
    if marks.limits.is_empty() {
        return;
    }
    page.heading("What limits it");
    let abouts: Vec<&str> = marks
        .limits
        .iter()
        .map(|limiting| about(limiting.limiter))
        .collect();
    let widest = abouts.iter().map(|about| columns(about)).max().unwrap_or(0);
    for (place, (limiting, about)) in marks.limits.iter().zip(abouts).enumerate() {
        let room = page.look.columns().saturating_sub(COLUMN + widest + 2);
        let beside = said(limiting, room);
        let text = if beside.is_empty() {
            about.to_owned()
        } else {
            format!("{about:widest$}  {beside}")
        };
        let letter = letter(place);
        if columns(&text) + COLUMN <= page.look.columns() {
            let gap = " ".repeat(COLUMN.saturating_sub(letter.len()));
            let letter = page.look.paint(Style::Heading, &letter);
            page.line(&format!("{letter}{gap}{text}"));
        } else {
            page.labelled(0, (Style::Heading, &letter), COLUMN, Style::Plain, about);
        }
    }
}

/// A limiter in a line of so many columns: what it is and what it costs.
pub(in crate::text) fn in_a_line(limiting: &Limiting<'_>, room: usize) -> String {
    let about = about(limiting.limiter);
    let beside = said(limiting, room.saturating_sub(columns(about) + 2));
    if beside.is_empty() {
        about.to_owned()
    } else {
        format!("{about}: {beside}")
    }
}

/// What the limiter is, in few words; of one that this version does not know its name.
pub(crate) fn about(limiter: &str) -> &str {
    diskfacts_facts::limits::about(limiter).unwrap_or(limiter)
}

/// As many of the parts as have room, those in front first.
fn fitting(parts: impl IntoIterator<Item = String>, room: usize) -> String {
    let mut text = String::new();
    for part in parts {
        let comma = if text.is_empty() { "" } else { ", " };
        if columns(&text) + comma.len() + columns(&part) <= room {
            text.push_str(comma);
            text.push_str(&part);
        }
    }
    text
}

/// How sure it is, the gain, what to do and its share of the time, as far as that has room.
pub(crate) fn said(limiting: &Limiting<'_>, room: usize) -> String {
    let (_, clearest) = limiting.clearest();
    let tested = limiting.stages.iter().flat_map(|(stage, _)| &stage.tested);
    let held = |outcome: TestOutcome| outcome == TestOutcome::Held;
    let tested = tested
        .filter(|test| test.limiter == limiting.limiter)
        .any(|test| held(test.outcome));
    let hedge = match clearest.confidence {
        _ if tested => Some(("tested", "tested, ")),
        Confidence::Possible => Some(("possible", "possibly ")),
        Confidence::Likely | Confidence::Certain => None,
    };
    let gained = gain(limiting, clearest);
    let hedged = |gain: &String| hedge.map(|(_, before)| format!("{before}{gain}"));
    let hedged = gained
        .as_ref()
        .and_then(hedged)
        .filter(|it| columns(it) <= room);
    let alone = || hedge.map_or(gained.clone(), |(alone, _)| Some(alone.to_owned()));
    let remedy = diskfacts_facts::limits::in_short(limiting.limiter).map(str::to_owned);
    let parts = [hedged.or_else(alone), remedy, share(limiting)];
    fitting(parts.into_iter().flatten(), room)
}

/// `3.73x with 32 in flight`, or `up to 3.09x without it` of a gain that is predicted.
fn gain(limiting: &Limiting<'_>, clearest: &Limit) -> Option<String> {
    let of = clearest.gain.as_ref()?;
    let alike = limiting
        .stages
        .iter()
        .filter_map(|(_, limit)| limit.gain.as_ref());
    let alike = alike.filter(|gain| gain.basis == of.basis && with(&gain.with) == with(&of.with));
    let (low, high) = alike.fold((of.times, of.times), |(low, high), gain| {
        (low.min(gain.times), high.max(gain.times))
    });
    // What is predicted of stages that differ much is told of each, and not of all.
    if of.basis == GainBasis::Predicted && high > ALIKE * low {
        return None;
    }
    let (low, high) = (three_digits(low), three_digits(high));
    let with = with(&of.with);
    Some(match of.basis {
        GainBasis::Predicted => format!("up to {high}x {with}"),
        GainBasis::Measured if low == high => format!("{high}x {with}"),
        GainBasis::Measured => format!("{low} to {high}x {with}"),
    })
}

/// Without the stage that shows it, which is named on demand.
fn with(text: &str) -> &str {
    text.split_once(" (").map_or(text, |(with, _)| with)
}

/// `68 to 94 % of the time`; of nearly all it goes without saying.
fn share(limiting: &Limiting<'_>) -> Option<String> {
    let shares = limiting.stages.iter().filter_map(|(_, limit)| limit.share);
    let (low, high) = shares.fold((1.0_f64, 0.0_f64), |(low, high), share| {
        (low.min(share), high.max(share))
    });
    let (least, most) = (percent(low), percent(high));
    match high {
        0.0 => None,
        _ if low >= 0.99 => None,
        _ if least == most => Some(format!("{most} of the time")),
        _ => {
            let least = least.trim_end_matches(" %");
            Some(format!("{least} to {most} of the time"))
        }
    }
}
