//! What `fleet odd` and `fleet trend` print: which disk is slower than its peers.

mod disks;
pub(crate) mod groups;
mod looked_at;
mod trend;

use super::look::{Look, Style};
use super::page::Page;
use super::run::{Closing, close};
use super::words::{count, list, percent, rate, shell};
use diskfacts_facts::fleet::{Cell, Member, Outcome, Screen, SecondLook, Verdict, Why, WhyCleared};
use diskfacts_record::comparison::Measure;
use std::collections::BTreeSet;
pub use trend::fleet_trend;

/// Disks that are named one by one, with their stages.
const DISKS_MAX: usize = 20;

/// One look at a fleet: who is suspected, and who is to be measured again.
pub fn fleet_suspects(
    screen: &Screen,
    again: &SecondLook,
    closing: &Closing,
    look: &Look,
) -> String {
    let mut page = Page::new(look);
    let suspects = disks::by_member(screen, 0..screen.suspects.len());
    let of = looked_at::what(screen);
    let number = count(suspects.len() as u64, "suspect");
    let title = if screen.members == 0 {
        "No disk was measured".to_owned()
    } else if screen.cells.is_empty() {
        format!("{of}: no claim, the peers are too few")
    } else if suspects.is_empty() {
        format!("{of}: none is slower than its peers")
    } else {
        format!("{of}: {number}")
    };
    page.paragraph(0, Style::Heading, &title);
    looked_at::kinds(&mut page, screen);
    if !suspects.is_empty() {
        page.paragraph(
            2,
            Style::Doubtful,
            "Slower than their peers in one look, which a disturbed run is, too. Who is odd is known \
             after a second look, at another time.",
        );
        page.heading("Suspects, the worst first");
        for (member, suspects) in suspects.iter().take(DISKS_MAX) {
            disks::suspect(&mut page, screen, member, suspects);
        }
        more(&mut page, suspects.len());
    }
    looked_at::write(&mut page, screen);
    second_look(&mut page, screen, again);
    close(&mut page, closing);
    page.finish()
}

/// Two looks at a fleet or more: who is odd. `again` is who is to be measured once more; nobody
/// where all is decided.
pub fn fleet_odd(
    screen: &Screen,
    verdict: &Verdict,
    again: &SecondLook,
    closing: &Closing,
    look: &Look,
) -> String {
    let mut page = Page::new(look);
    let of = |wanted: fn(Outcome) -> bool| {
        let of = verdict.judged.iter().enumerate();
        let of = of.filter(|(_, judged)| wanted(judged.outcome));
        let places: Vec<usize> = of.map(|(place, _)| place).collect();
        disks::by_verdict(screen, verdict, &places)
    };
    let odd = of(|outcome| outcome == Outcome::Odd);
    let undecided = of(|outcome| matches!(outcome, Outcome::Undecided(_)));
    let cleared = of(|outcome| matches!(outcome, Outcome::Cleared(_)));
    let title = format!(
        "{}: {} odd, {} undecided, {} cleared",
        looked_at::what(screen),
        odd.len(),
        undecided.len(),
        cleared.len()
    );
    page.paragraph(0, Style::Heading, &title);
    looked_at::kinds(&mut page, screen);
    if !odd.is_empty() {
        page.heading("Odd, the worst first");
        for (member, judged) in odd.iter().take(DISKS_MAX) {
            disks::judged(&mut page, screen, verdict, member, judged);
        }
        more(&mut page, odd.len());
        let said = format!(
            "Slower than their peers in each look, by {} at least. Intervals (95 %) are over trials \
             and peers of the later look. Of those that are called odd {} are expected to be none \
             (q, Benjamini and Hochberg, over {}).",
            percent(verdict.options.least),
            percent(verdict.options.false_discoveries),
            count(verdict.tests as u64, "comparison"),
        );
        page.blank();
        page.paragraph(2, Style::Minor, &said);
    }
    if !undecided.is_empty() {
        page.heading("Undecided");
        for (member, judged) in undecided.iter().take(DISKS_MAX) {
            disks::judged(&mut page, screen, verdict, member, judged);
        }
        more(&mut page, undecided.len());
    }
    if !cleared.is_empty() {
        page.heading("Cleared");
        for (why, said) in [
            (WhyCleared::NotAgain, "like its peers in a later look"),
            (WhyCleared::LessThanLeast, "slower, by less than asked for"),
        ] {
            let of = cleared.iter().filter(|(_, judged)| {
                let mut judged = judged.iter();
                judged.any(|at| verdict.judged[*at].outcome == Outcome::Cleared(why))
            });
            let names: Vec<String> = of.map(|(member, _)| name(screen, member)).collect();
            if !names.is_empty() {
                let label = format!("{said}:");
                page.titled(2, (Style::Good, &label), 4, Style::Plain, &few(&names));
            }
        }
    }
    looked_at::write(&mut page, screen);
    second_look(&mut page, screen, again);
    close(&mut page, closing);
    page.finish()
}

fn more(page: &mut Page<'_>, disks: usize) {
    if disks > DISKS_MAX {
        let more = count((disks - DISKS_MAX) as u64, "more disk");
        page.paragraph(2, Style::Minor, &format!("and {more}"));
    }
}

/// Who is measured again, when, and how.
fn second_look(page: &mut Page<'_>, screen: &Screen, again: &SecondLook) {
    if again.members.is_empty() {
        return;
    }
    page.heading("To measure again");
    let when = format!(
        "{} each, begun together, not before {}:",
        count(u64::from(again.trials), "trial"),
        time(again.not_before_s)
    );
    page.paragraph(2, Style::Plain, &when);
    for (why, label) in [(Why::Suspect, "suspects:"), (Why::Peer, "peers:")] {
        let of = again.members.iter().filter(|again| again.why == why);
        let names: Vec<String> = of.map(|again| name(screen, &again.member)).collect();
        if !names.is_empty() {
            let names = names.join(" ");
            page.labelled(2, (Style::Plain, label), 10, Style::Plain, &names);
        }
    }
    page.paragraph(2, Style::Plain, "On each of them type:");
    for command in commands(screen, again) {
        page.verbatim((Style::Plain, ""), 4, &command);
    }
}

/// What is typed on the hosts: a command for each target and plan.
fn commands(screen: &Screen, again: &SecondLook) -> BTreeSet<String> {
    let members: BTreeSet<&Member> = again.members.iter().map(|again| &again.member).collect();
    let of_cell = |cell: &Cell| {
        let plan = cell.peers.0.get("plan");
        let plan = plan.and_then(|plan| plan.split(' ').next().map(str::to_owned));
        let targets = cell.values.iter().map(|value| &value.member);
        let targets = targets.filter(|member| members.contains(member));
        let targets: BTreeSet<String> = targets.map(|member| member.target.clone()).collect();
        let command = |target: String| {
            let mut words = vec!["diskfacts".to_owned(), "measure".to_owned(), target];
            if let Some(plan) = &plan {
                words.extend(["--plan".to_owned(), plan.clone()]);
            }
            words.extend(["--trials".to_owned(), again.trials.to_string()]);
            shell(&words)
        };
        targets.into_iter().map(command).collect::<Vec<String>>()
    };
    screen.cells.iter().flat_map(of_cell).collect()
}

/// A disk as it is called here: its host, and its target where hosts have several.
fn name(screen: &Screen, member: &Member) -> String {
    let mut members = screen.cells.iter().flat_map(|cell| &cell.values);
    let several = members.any(|value| value.member.target != member.target);
    if several {
        format!("{}:{}", member.host, member.target)
    } else {
        member.host.clone()
    }
}

/// `c1, c2, c3 and 14 more`.
fn few(names: &[String]) -> String {
    const SHOWN: usize = 12;
    if names.len() <= SHOWN + 1 {
        return list(names);
    }
    let more = names.len() - SHOWN;
    format!("{} and {more} more", names[..SHOWN].join(", "))
}

/// A value with its unit: `78,400 IOPS`, `161 MB/s`, `2.1 ms`.
fn figure(measure: Measure, value: f64, look: &Look) -> String {
    match measure {
        Measure::ThroughputBytesPerS => format!("{} MB/s", rate(value / 1e6)),
        Measure::Iops => format!("{} IOPS", rate(value)),
        _ => look.duration(value as u64),
    }
}

/// A time in UTC, as people write it.
fn time(seconds: i64) -> String {
    jiff::Timestamp::from_second(seconds).map_or_else(
        |_| "an unknown time".to_owned(),
        |time| time.strftime("%Y-%m-%d %H:%M UTC").to_string(),
    )
}
