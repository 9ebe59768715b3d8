//! One disk after the other, with the stages in which it is slow.

use super::super::look::Style;
use super::super::page::Page;
use super::super::words::{count, percent};
use super::{figure, name};
use diskfacts_facts::fleet::{Judged, Member, Outcome, Screen, Verdict, WhyUndecided};
use std::fmt::Write as _;

/// Stages of a disk that are named.
const STAGES_MAX: usize = 4;

/// Disks with the places of what is said of them, in the order of the first place of each.
pub(super) type ByMember<'s> = Vec<(&'s Member, Vec<usize>)>;

/// These suspects by disk.
pub(super) fn by_member(screen: &Screen, suspects: impl Iterator<Item = usize>) -> ByMember<'_> {
    grouped(suspects.map(|suspect| (&screen.value(suspect).member, suspect)))
}

/// These judgements by disk.
pub(super) fn by_verdict<'s>(
    screen: &'s Screen,
    verdict: &Verdict,
    places: &[usize],
) -> ByMember<'s> {
    grouped(places.iter().map(|place| {
        let suspect = verdict.judged[*place].suspect;
        (&screen.value(suspect).member, *place)
    }))
}

fn grouped<'s>(all: impl Iterator<Item = (&'s Member, usize)>) -> ByMember<'s> {
    let mut grouped: ByMember<'s> = Vec::new();
    for (member, place) in all {
        match grouped.iter_mut().find(|(known, _)| *known == member) {
            Some((_, places)) => places.push(place),
            None => grouped.push((member, vec![place])),
        }
    }
    grouped
}

/// A suspect, with the stages in which it is one.
pub(super) fn suspect(page: &mut Page<'_>, screen: &Screen, member: &Member, suspects: &[usize]) {
    page.paragraph(2, Style::Heading, &name(screen, member));
    for at in suspects.iter().take(STAGES_MAX) {
        let (cell, suspect) = (screen.cell(*at), &screen.suspects[*at]);
        let value = screen.value(*at);
        let deviations = if suspect.deviations.is_finite() {
            format!("{:.1} deviations", suspect.deviations)
        } else {
            "peers do not differ".to_owned()
        };
        let mut text = format!(
            "{} slower ({deviations}): {}, peers\u{2019} median {}",
            percent(suspect.slower),
            figure(cell.measure, value.median, page.look),
            figure(cell.measure, cell.median, page.look),
        );
        if value.left_out > 0 {
            let left = count(value.left_out as u64, "trial");
            let all = value.trials + value.left_out;
            // Writing to a String cannot fail.
            let _ = write!(text, "; {left} of {all} left out");
        }
        let label = format!("{}:", cell.stage);
        page.titled(4, (Style::Plain, &label), 4, Style::Doubtful, &text);
    }
    rest(page, suspects.len());
}

/// What became of a suspect, in each of its stages.
pub(super) fn judged(
    page: &mut Page<'_>,
    screen: &Screen,
    verdict: &Verdict,
    member: &Member,
    places: &[usize],
) {
    page.paragraph(2, Style::Heading, &name(screen, member));
    for place in places.iter().take(STAGES_MAX) {
        let judged = &verdict.judged[*place];
        let cell = screen.cell(judged.suspect);
        let style = match judged.outcome {
            Outcome::Odd => Style::Bad,
            Outcome::Undecided(_) | Outcome::Cleared(_) => Style::Doubtful,
        };
        let mut text = slower(judged);
        match judged.outcome {
            Outcome::Undecided(why) => {
                if !text.is_empty() {
                    text.push_str("; ");
                }
                text.push_str(because(why));
            }
            Outcome::Odd | Outcome::Cleared(_) => {
                let median = figure(cell.measure, cell.median, page.look);
                let q = if judged.q < 0.0001 {
                    "below 0.0001".to_owned()
                } else {
                    format!("{:.4}", judged.q)
                };
                let _ = write!(text, ", peers\u{2019} median {median}, q {q}");
            }
        }
        let label = format!("{}:", cell.stage);
        page.titled(4, (Style::Plain, &label), 4, style, &text);
    }
    rest(page, places.len());
}

fn rest(page: &mut Page<'_>, stages: usize) {
    if stages > STAGES_MAX {
        let more = count((stages - STAGES_MAX) as u64, "more stage");
        page.paragraph(4, Style::Minor, &format!("and in {more}"));
    }
}

/// `20 % slower (17 % to 23 %) by 2 looks`; empty where no later look has it.
fn slower(judged: &Judged) -> String {
    let (Some(slower), Some([low, high])) = (judged.slower, judged.interval) else {
        return String::new();
    };
    format!(
        "{} slower ({} to {}) in {}",
        percent(slower),
        percent(low),
        percent(high),
        count(judged.looks as u64, "look")
    )
}

/// Why a suspect is undecided, and what decides.
fn because(why: WhyUndecided) -> &'static str {
    match why {
        WhyUndecided::NotAgain => "not measured again",
        WhyUndecided::TooSoon => {
            "measured again too soon: what disturbed one look may have disturbed both"
        }
        WhyUndecided::TooFewPeers => "too few of its peers were measured again",
        WhyUndecided::MayBeDisturbed => {
            "ordinary disks here are disturbed that much too often: another look decides"
        }
        WhyUndecided::NearLeast => "too near to what was asked for: another look may decide",
    }
}
