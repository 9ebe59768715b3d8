//! What `fleet odd` and `fleet trend` print: which disk is slower than its peers.

mod disks;
pub(crate) mod groups;
mod looked_at;
mod trend;

use super::look::{Look, Style};
use super::page::Page;
use super::run::{Closing, close};
use super::words::{count, list, percent, rate, shell};
use diskfacts_facts::fleet::{
    Member, Outcome, Peers, Screen, SecondLook, Verdict, Why, WhyCleared,
};
use diskfacts_plan::plan::stage_label;
use diskfacts_plan::{Stage, builtin};
use diskfacts_record::comparison::Measure;
use std::collections::{BTreeMap, BTreeSet};
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
    let plans = screen.cells.iter().filter_map(|cell| cell.peers.plan());
    let of_files: BTreeSet<&str> = (plans.map(|plan| plan_name(plan)))
        .filter(|name| builtin::known(name).is_none())
        .collect();
    for name in of_files {
        let said = format!("The plan {name} is of a file: name that file there.");
        page.paragraph(2, Style::Minor, &said);
    }
}

/// What is typed on the hosts: a command for each target and plan.
fn commands(screen: &Screen, again: &SecondLook) -> BTreeSet<String> {
    let members: BTreeSet<&Member> = again.members.iter().map(|again| &again.member).collect();
    let mut targets: BTreeMap<&Peers, BTreeSet<&str>> = BTreeMap::new();
    let mut stages: BTreeMap<&Peers, BTreeSet<&str>> = BTreeMap::new();
    for cell in &screen.cells {
        let of = cell.values.iter().map(|value| &value.member);
        let of = of.filter(|member| members.contains(member));
        let of = of.map(|member| member.target.as_str());
        targets.entry(&cell.peers).or_default().extend(of);
        stages.entry(&cell.peers).or_default().insert(&cell.stage);
    }
    for few in &screen.too_few {
        stages.entry(&few.peers).or_default().insert(&few.stage);
    }
    let commands = targets.into_iter().flat_map(|(peers, targets)| {
        let options = options(peers, &stages[peers]);
        let trials = ["--trials".to_owned(), again.trials.to_string()];
        let options = [options, trials.into()].concat();
        let command = move |target: &str| {
            let words = ["diskfacts", "measure", target].map(str::to_owned);
            shell(&[&words[..], &options].concat())
        };
        targets.into_iter().map(command).collect::<Vec<String>>()
    });
    commands.collect()
}

/// What makes a run of the same plan, of which these stages were measured: another size of the
/// file, or another choice of stages, is another plan, whose runs are no peers.
fn options(peers: &Peers, stages: &BTreeSet<&str>) -> Vec<String> {
    let mut options = Vec::new();
    let mut add = |option: &str, value: &str| options.extend([option, value].map(str::to_owned));
    if let Some(plan) = peers.plan() {
        let name = plan_name(plan);
        match builtin::known(name) {
            None => add("--plan", &format!("{name}.toml")),
            Some(plan) => {
                add("--plan", name);
                let was_measured =
                    |stage: &&Stage| stages.contains(&*stage_label(&stage.name, &stage.settings));
                let names = |stages: Vec<&'static Stage>| -> Vec<&'static str> {
                    let mut names: Vec<_> = stages.iter().map(|stage| &*stage.name).collect();
                    names.dedup();
                    names
                };
                let measured = names(plan.stages.iter().filter(was_measured).collect());
                if measured != names(plan.stages.iter().collect()) {
                    for name in measured {
                        add("--stage", name);
                    }
                }
            }
        }
    }
    if let Some(size) = peers.file() {
        add("--size", size);
    }
    options
}

/// Its name, of a plan as [`Peers`] have it: name and digest.
fn plan_name(plan: &str) -> &str {
    plan.rsplit_once(' ').map_or(plan, |(name, _)| name)
}

/// A disk as it is called here: its host, and its target where hosts have several.
fn name(screen: &Screen, member: &Member) -> String {
    let mut members = screen.cells.iter().flat_map(|cell| &cell.values);
    let several = members.any(|value| value.member.target != member.target);
    if several {
        format!("{}:{}", member.name(), member.target)
    } else {
        member.name().into_owned()
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
