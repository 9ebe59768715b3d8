//! What limits the stages: a line for each limiter, by its letter.

use super::super::look::Style;
use super::super::marks::{Limiting, Marks, letter};
use super::super::page::Page;
use super::super::words::percent;
use super::super::wrap::columns;
use diskfacts_plan::units::three_digits;
use diskfacts_record::{Confidence, GainBasis, TestOutcome};

/// Where the texts begin.
const COLUMN: usize = 3;
/// Between what it is and what is said of it; and the longest that the others are aligned with.
const GAP: usize = 2;
const ALIGNED: usize = 42;
/// What a gain is that says of nothing else; it goes without saying.
const WITHOUT_IT: &str = "without it";
/// Predicted gains within this factor are said as one.
const ALIKE: f64 = 1.5;

pub(super) fn write(page: &mut Page<'_>, marks: &Marks<'_>) {
    if marks.limits.is_empty() {
        return;
    }
    page.heading("What limits it");
    let abouts: Vec<String> = marks.limits.iter().map(named).collect();
    let widths = abouts.iter().map(|about| columns(about));
    let aligned = widths.filter(|width| *width <= ALIGNED).max().unwrap_or(0);
    for (place, (limiting, about)) in marks.limits.iter().zip(abouts).enumerate() {
        let room = |used: usize| page.look.columns().saturating_sub(COLUMN + used + GAP);
        let own = columns(&about);
        // Beside the others where it fits there.
        let beside = said(limiting, room(own));
        let used = if columns(&beside) <= room(aligned) {
            own.max(aligned)
        } else {
            own
        };
        let text = if beside.is_empty() {
            about.clone()
        } else {
            format!("{about:used$}{:GAP$}{beside}", "")
        };
        let letter = letter(place);
        if columns(&text) + COLUMN <= page.look.columns() {
            let gap = " ".repeat(COLUMN.saturating_sub(letter.len()));
            let letter = page.look.paint(Style::Heading, &letter);
            page.line(&format!("{letter}{gap}{text}"));
        } else {
            page.labelled(0, (Style::Heading, &letter), COLUMN, Style::Plain, &about);
        }
    }
}

/// A limiter in a line of so many columns: what it is and what it costs.
pub(in crate::text) fn in_a_line(limiting: &Limiting<'_>, room: usize) -> String {
    let about = named(limiting);
    let beside = said(limiting, room.saturating_sub(columns(&about) + 2));
    if beside.is_empty() {
        about
    } else {
        format!("{about}: {beside}")
    }
}

/// What the limiter is, in few words; of one that this version does not know its name.
fn about(limiter: &str) -> &str {
    diskfacts_facts::limits::about(limiter).unwrap_or(limiter)
}

/// What it is, and whether that is more than one explanation among several.
pub(crate) fn named(limiting: &Limiting<'_>) -> String {
    let about = about(limiting.limiter);
    let (_, clearest) = limiting.clearest();
    if is_tested(limiting) || clearest.confidence != Confidence::Possible {
        about.to_owned()
    } else {
        format!("possibly {about}")
    }
}

/// Whether an experiment of the run held for it.
fn is_tested(limiting: &Limiting<'_>) -> bool {
    let tested = limiting.stages.iter().flat_map(|(stage, _)| &stage.tested);
    tested
        .filter(|test| test.limiter == limiting.limiter)
        .any(|test| test.outcome == TestOutcome::Held)
}

/// The gain, and what to do for it, as far as these have room; of what has neither its share of
/// the time.
pub(crate) fn said(limiting: &Limiting<'_>, room: usize) -> String {
    let gains = gains(limiting);
    let remedy = diskfacts_facts::limits::in_short(limiting.limiter).map(str::to_owned);
    let both = remedy
        .iter()
        .flat_map(|remedy| gains.iter().map(move |gain| format!("{gain}: {remedy}")));
    let mut forms: Vec<String> = both.collect();
    // What was measured says more than what to do for it, and what is predicted less.
    let measured = limiting
        .clearest()
        .1
        .gain
        .as_ref()
        .is_some_and(|gain| gain.basis == GainBasis::Measured);
    if measured {
        forms.extend(gains);
        forms.extend(remedy);
    } else {
        forms.extend(remedy);
        forms.extend(gains);
    }
    if forms.is_empty() {
        forms.extend(share(limiting));
    }
    let mut fitting = forms.into_iter().filter(|text| columns(text) <= room);
    fitting.next().unwrap_or_default()
}

/// `1.8 to 3.73x with 32 in flight`, or `up to 3.09x` of a gain that is predicted; shorter ones
/// behind longer ones.
fn gains(limiting: &Limiting<'_>) -> Vec<String> {
    let (_, clearest) = limiting.clearest();
    let known = || {
        limiting
            .stages
            .iter()
            .filter_map(|(_, limit)| limit.gain.as_ref())
    };
    let Some(of) = clearest.gain.as_ref() else {
        return Vec::new();
    };
    let alike = known().filter(|gain| gain.basis == of.basis && with(&gain.with) == with(&of.with));
    let (low, high, gaining) = alike.fold((of.times, of.times, 0), |(low, high, n), gain| {
        (low.min(gain.times), high.max(gain.times), n + 1)
    });
    // What is predicted of stages that differ much is told of each, and not of all.
    if of.basis == GainBasis::Predicted && high > ALIKE * low {
        return Vec::new();
    }
    let (low, high) = (three_digits(low), three_digits(high));
    let with = match with(&of.with) {
        WITHOUT_IT => String::new(),
        with => format!(" {with}"),
    };
    // The others have as many in flight already, or were not compared.
    let of_all = limiting.stages.len();
    let some = format!(", {gaining} of {of_all} stages");
    let mut forms = match of.basis {
        GainBasis::Measured if low != high => vec![
            format!("{low} to {high}x{with}"),
            format!("up to {high}x{with}"),
        ],
        GainBasis::Measured => vec![format!("{high}x{with}")],
        GainBasis::Predicted => vec![format!("up to {high}x{with}")],
    };
    if gaining < of_all {
        forms = [some.as_str(), ""]
            .iter()
            .flat_map(|some| forms.iter().map(move |form| format!("{form}{some}")))
            .collect();
    }
    if is_tested(limiting) {
        for form in &mut forms {
            form.insert_str(0, "tested, ");
        }
    }
    forms
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
