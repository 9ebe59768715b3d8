//! What was looked at: peers, their medians, kinds and slow times, and what was left out.

use super::super::look::Style;
use super::super::page::Page;
use super::super::words::{count, list, percent};
use super::{few, figure, name, time};
use diskfacts_facts::fleet::{Cell, Disturbance, Peers, Screen, SlowTime, WhyMissing};
use std::collections::{BTreeMap, BTreeSet};

/// Stages of a group that are shown.
const STAGES_MAX: usize = 12;
/// Slow times of a stage that are named.
const TIMES_MAX: usize = 3;
/// Share by which all were slower at a time that is named.
const TIME_MIN: f64 = 0.05;

/// `500 disks in 3 stages`.
pub(super) fn what(screen: &Screen) -> String {
    let stages: BTreeSet<&str> = screen.cells.iter().map(|c| c.stage.as_str()).collect();
    let disks = count(screen.members as u64, "disk");
    if stages.is_empty() {
        disks
    } else {
        format!("{disks} in {}", count(stages.len() as u64, "stage"))
    }
}

/// Peers that turned out to be of several kinds: said before anything else, because the slower kind
/// is nobody's suspect.
pub(super) fn kinds(page: &mut Page<'_>, screen: &Screen) {
    let of_kinds = screen.cells.iter().filter(|cell| cell.kind.1 > 1);
    let of_kinds: Vec<&Cell> = of_kinds.collect();
    // The kinds of one stage stand together, the fastest first; without those that are too few.
    let stages = of_kinds
        .chunk_by(|a, b| (&a.peers, &a.stage, a.measure) == (&b.peers, &b.stage, b.measure));
    let stages = stages.filter(|cells| cells[0].kind.0 == 1);
    let slower = stages.flat_map(|cells| cells[1..].iter().map(|cell| (cells[0], *cell)));
    for (fastest, cell) in slower {
        let ratio = cell.median / fastest.median;
        let slower = if cell.measure.more_is_better() {
            ratio
        } else {
            1.0 / ratio
        };
        let names: Vec<String> = cell
            .values
            .iter()
            .map(|v| name(screen, &v.member))
            .collect();
        let text = format!(
            "{}: peers are of {} kinds, and nothing that is known of them tells these apart. {} are \
             {} slower than the fastest kind and were compared with each other: {}.",
            cell.stage,
            cell.kind.1,
            names.len(),
            percent(1.0 - slower),
            few(&names),
        );
        page.paragraph(2, Style::Doubtful, &text);
    }
}

pub(super) fn write(page: &mut Page<'_>, screen: &Screen) {
    if screen.members == 0 {
        return;
    }
    page.heading("What was looked at");
    for group in screen.cells.chunk_by(|a, b| a.peers == b.peers) {
        let members: BTreeSet<_> = (group.iter())
            .flat_map(|cell| &cell.values)
            .map(|value| &value.member)
            .collect();
        let disks = count(members.len() as u64, "disk");
        page.titled(
            2,
            (Style::Heading, &format!("{disks}:")),
            4,
            Style::Plain,
            &keys(&group[0].peers),
        );
        for cell in group.iter().take(STAGES_MAX) {
            self::cell(page, cell);
        }
        if group.len() > STAGES_MAX {
            let more = count((group.len() - STAGES_MAX) as u64, "more stage");
            page.paragraph(4, Style::Minor, &format!("and {more}"));
        }
    }
    machines(page, screen);
    too_few(page, screen);
    missing(page, screen);
    left_out(page, screen);
}

/// `model X100, kernel 6.12`: of what makes peers.
fn keys(peers: &Peers) -> String {
    let keys = peers.0.iter().map(|(key, value)| format!("{key} {value}"));
    let keys: Vec<String> = keys.collect();
    if keys.is_empty() {
        "of which nothing is known".to_owned()
    } else {
        keys.join(", ")
    }
}

fn cell(page: &mut Page<'_>, cell: &Cell) {
    let kind = match cell.kind {
        (_, 1) => String::new(),
        (kind, kinds) => format!(
            " of kind {kind} of {kinds}, {}",
            count(cell.values.len() as u64, "disk")
        ),
    };
    let text = format!(
        "median {}{kind}, {} {} from disk to disk; suspects from {} slower on",
        figure(cell.measure, cell.median, page.look),
        page.look.plus_minus(),
        percent(cell.spread()),
        percent(cell.suspect_from())
    );
    let label = format!("{}:", cell.stage);
    page.titled(4, (Style::Plain, &label), 2, Style::Plain, &text);
    let mut times: Vec<&SlowTime> = cell.times.iter().collect();
    times.retain(|time| time.slower.abs() >= TIME_MIN);
    times.sort_by(|a, b| b.slower.abs().total_cmp(&a.slower.abs()));
    for slow in times.iter().take(TIMES_MAX) {
        page.paragraph(6, Style::Doubtful, &at(slow));
    }
    if times.len() > TIMES_MAX {
        let more = count((times.len() - TIMES_MAX) as u64, "more such time");
        page.paragraph(6, Style::Minor, &format!("and {more}"));
    }
}

fn at(slow: &SlowTime) -> String {
    let how = if slow.slower < 0.0 {
        "faster"
    } else {
        "slower"
    };
    let what = if slow.compared_within {
        "compared with each other"
    } else {
        "too few to compare with each other: the time may be it"
    };
    format!(
        "{} to {}: all {} were {} {how} than the others; {what}.",
        time(slow.from_s),
        time(slow.to_s),
        count(slow.members as u64, "disk"),
        percent(slow.slower.abs()),
    )
}

/// Names that several machines have: who is called so cannot be asked by the name.
fn machines(page: &mut Page<'_>, screen: &Screen) {
    let judged = screen.cells.iter().flat_map(|cell| &cell.values);
    let judged = judged.map(|value| &value.member);
    let few = screen.too_few.iter().flat_map(|few| &few.members);
    let mut machines: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for member in judged.chain(few) {
        if let Some(machine) = &member.machine {
            machines.entry(&member.host).or_default().insert(machine);
        }
    }
    for (host, machines) in machines {
        let text = format!(
            "{} are called {host}, and told apart by their machine ids; give each a name of its own: \
             this one does not tell who is to be measured again.",
            count(machines.len() as u64, "machine")
        );
        page.titled(2, (Style::Heading, "One name:"), 4, Style::Doubtful, &text);
    }
}

/// Peers that are too few, by what they have in common.
fn too_few(page: &mut Page<'_>, screen: &Screen) {
    let groups = screen
        .too_few
        .chunk_by(|a, b| a.peers == b.peers && a.kind == b.kind);
    for group in groups.take(STAGES_MAX) {
        let members: BTreeSet<_> = group.iter().flat_map(|few| &few.members).collect();
        let names: Vec<String> = members.iter().map(|member| name(screen, member)).collect();
        let stages: BTreeSet<&str> = group.iter().map(|few| few.stage.as_str()).collect();
        // Else it would contradict what is said of the disks of the other kinds.
        let of_kind = match group[0].kind {
            (_, 1) => String::new(),
            (kind, kinds) => format!(" of their kind, {kind} of {kinds}"),
        };
        let text = format!(
            "{}, in {}: fewer than {} peers each{of_kind}, no claim ({}).",
            few(&names),
            count(stages.len() as u64, "stage"),
            screen.options.peers_min,
            keys(&group[0].peers)
        );
        page.titled(
            2,
            (Style::Heading, "Not judged:"),
            4,
            Style::Doubtful,
            &text,
        );
    }
}

fn missing(page: &mut Page<'_>, screen: &Screen) {
    let mut by_why: BTreeMap<String, BTreeMap<&str, Vec<String>>> = BTreeMap::new();
    for missing in &screen.missing {
        let why = match missing.why {
            WhyMissing::NotMeasured => "not measured".to_owned(),
            WhyMissing::NoFigure => "without a figure".to_owned(),
            WhyMissing::AllDisturbed(by) => format!("all trials disturbed ({})", words(by)),
        };
        let stages = by_why.entry(why).or_default();
        let names = stages.entry(&missing.stage).or_default();
        names.push(name(screen, &missing.member));
    }
    for (why, stages) in by_why {
        for (stage, names) in stages.into_iter().take(STAGES_MAX) {
            let text = format!("{stage}, of {}: {why}.", few(&names));
            page.titled(2, (Style::Heading, "Missing:"), 4, Style::Doubtful, &text);
        }
    }
}

fn words(by: Disturbance) -> &'static str {
    match by {
        Disturbance::OtherIo => "others used the disk",
        Disturbance::StolenTime => "the hypervisor took processor time",
        Disturbance::ProcessorWait => "others had the processors",
        Disturbance::Errors => "operations failed",
    }
}

fn left_out(page: &mut Page<'_>, screen: &Screen) {
    let mut parts: Vec<String> = (screen.left_out.iter())
        .map(|(by, trials)| format!("{} ({})", count(*trials, "trial"), words(*by)))
        .collect();
    if screen.unusable > 0 {
        parts.push(format!(
            "{} without a figure",
            count(screen.unusable, "trial")
        ));
    }
    if screen.older_runs > 0 {
        parts.push(format!(
            "{} for which newer ones stand",
            count(screen.older_runs, "run")
        ));
    }
    if !parts.is_empty() {
        let text = format!("{}.", list(&parts));
        page.titled(2, (Style::Heading, "Left out:"), 4, Style::Plain, &text);
    }
}
