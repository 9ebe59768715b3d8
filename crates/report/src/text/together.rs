//! What `together` prints: how many hosts it is of, the sum of each stage, then how the hosts
//! differ, the slowest first, and what follows.

use super::findings;
use super::look::{Look, Style};
use super::page::Page;
use super::run::{Closing, close};
use super::stages::shares;
use super::words::{count, list, percent};
use diskfacts_facts::stats::median_of;
use diskfacts_plan::plan::stage_label;
use diskfacts_plan::units::{show_size, show_throughput};
use diskfacts_record::Figure;
use diskfacts_record::together::{AgreedBy, HostFigures, Layout, Merged, MergedStage, MergedTrial};
use std::fmt::Write as _;

/// Where the texts of a stage begin.
const COLUMN: usize = 12;
/// Hosts of a stage that are listed, the slowest; `--json` has all.
const HOSTS: usize = 8;
/// Trials in no figure that are listed.
const VOID: usize = 4;

/// The facts of a group.
pub fn together(merged: &Merged, closing: &Closing, look: &Look) -> String {
    let mut page = Page::new(look);
    let style = if merged.hosts_complete < merged.hosts_expected {
        Style::Bad
    } else {
        Style::Heading
    };
    page.paragraph(0, style, &title(merged));
    page.paragraph(2, Style::Minor, &started(merged));
    for stage in &merged.stages {
        self::stage(&mut page, stage, look);
    }
    if merged.findings.is_empty() {
        page.heading("Findings: none");
    } else {
        page.heading("Findings, most important first");
        for (i, finding) in merged.findings.iter().enumerate() {
            if i > 0 {
                page.blank();
            }
            findings::one(&mut page, i + 1, finding, &list(&finding.stages));
        }
    }
    close(&mut page, closing);
    page.finish()
}

/// `Group n42: 61 of 64 hosts; lost are c07, c12 and 1 without a name`
pub(crate) fn title(merged: &Merged) -> String {
    let (here, of) = (merged.hosts_complete, merged.hosts_expected);
    if here == of {
        return format!("Group {}: {}", merged.group, count(u64::from(of), "host"));
    }
    let mut lost: Vec<String> = merged.lost.iter().map(|lost| lost.host.clone()).collect();
    if merged.hosts_unnamed > 0 {
        lost.push(format!("{} without a run here", merged.hosts_unnamed));
    }
    format!(
        "Group {}: {here} of {of} hosts; lost: {}",
        merged.group,
        list(&lost)
    )
}

pub(crate) fn started(merged: &Merged) -> String {
    let by = match merged.agreed_by {
        AgreedBy::Clock => "by their clocks",
        AgreedBy::Mpi => "by MPI",
    };
    let used = match layout(merged) {
        used if used.is_empty() => used,
        used => format!("; {used}"),
    };
    format!(
        "plan {}, started {} {by}, diskfacts {}{used}",
        merged.plan, merged.start, merged.tool_version
    )
}

/// Which bytes each host used, and whose; empty where each had a file that no other saw.
fn layout(merged: &Merged) -> String {
    let whose = match merged.shift {
        0 => String::new(),
        1 => ", which the next rank wrote".to_owned(),
        shift => format!(", which the rank {shift} on wrote"),
    };
    match merged.layout {
        Layout::Own if merged.shift == 0 => String::new(),
        Layout::Own => format!("each host used a file{whose}"),
        Layout::Slice => format!("each host used a slice of one file{whose}"),
        Layout::Same => "all hosts used one file".to_owned(),
    }
}

fn stage(page: &mut Page<'_>, stage: &MergedStage, look: &Look) {
    page.heading(&stage_label(&stage.stage, &stage.settings));
    let mut facts = facts(stage, look);
    // The hosts stand behind what is of all of them, and before what went wrong.
    let place = facts.iter().position(|fact| fact.is_trouble);
    let trouble = facts.split_off(place.unwrap_or(facts.len()));
    let hosts = hosts(stage, look);
    for fact in facts.iter().chain(&hosts).chain(&trouble) {
        match fact.label {
            "" if fact.style == Style::Bad => page.paragraph(2, Style::Bad, &fact.text),
            label => page.labelled(
                2,
                (fact.style, label),
                COLUMN,
                fact.text_style(),
                &fact.text,
            ),
        }
    }
}

/// A row of a stage.
pub(crate) struct Fact {
    /// What it is of; empty where it goes on.
    pub(crate) label: &'static str,
    /// How the label looks.
    pub(crate) style: Style,
    /// What is so.
    pub(crate) text: String,
    /// Whether it says what went wrong.
    is_trouble: bool,
}

impl Fact {
    fn new(label: &'static str, text: String) -> Self {
        Self {
            label,
            style: Style::Plain,
            text,
            is_trouble: false,
        }
    }

    fn trouble(label: &'static str, style: Style, text: String) -> Self {
        Self {
            label,
            style,
            text,
            is_trouble: true,
        }
    }

    fn text_style(&self) -> Style {
        if self.style == Style::Bad {
            Style::Bad
        } else {
            Style::Plain
        }
    }
}

/// What a stage comes to over all hosts, then what went wrong.
pub(crate) fn facts(stage: &MergedStage, look: &Look) -> Vec<Fact> {
    let sound = stage.trials.iter().filter(|trial| trial.void.is_none());
    let sound: Vec<&MergedTrial> = sound.collect();
    let all: Vec<&MergedTrial> = stage.trials.iter().collect();
    let amount = bounded(&all).map(|said| Fact::new("Amount", said));
    let mut facts = Vec::new();
    if sound.is_empty() {
        let text = "No trial counts, so there is no rate.".to_owned();
        facts.push(Fact {
            style: Style::Bad,
            ..Fact::new("", text)
        });
        facts.extend(amount);
    } else {
        facts.push(Fact::new("Sum", sum(stage, &sound, look)));
        facts.extend(amount);
        facts.push(Fact::new("Latency", latency(stage, look)));
        facts.extend(spread(stage, look).map(|said| Fact::new("Hosts", said)));
        facts.extend(cpu(stage, look).map(|said| Fact::new("CPU", said)));
        facts.push(Fact::new("Served by", layers(stage)));
        facts.extend(devices(stage).map(|said| Fact::new("Devices", said)));
    }
    if stage.errors > 0 {
        let failed = stage.hosts.iter().filter(|host| host.errors > 0);
        let by_host: Vec<String> = failed
            .map(|host| format!("{} on {}", host.errors, host.host))
            .collect();
        let said = format!(
            "{} ({})",
            count(stage.errors, "failed operation"),
            list(&by_host)
        );
        facts.push(Fact::trouble("Errors", Style::Bad, said));
    }
    let void = stage.trials.iter().filter_map(|trial| {
        let why = trial.void.as_deref()?;
        Some(format!("trial {}: {why}", trial.number))
    });
    let void: Vec<String> = void.collect();
    let more = void.len().saturating_sub(VOID);
    for (i, said) in void.into_iter().take(VOID).enumerate() {
        let label = if i == 0 { "Void" } else { "" };
        facts.push(Fact::trouble(label, Style::Doubtful, said));
    }
    if more > 0 {
        let said = format!("{more} more; --json has them");
        facts.push(Fact::trouble("", Style::Plain, said));
    }
    facts
}

/// The slowest hosts of a stage that has a rate.
fn hosts(stage: &MergedStage, look: &Look) -> Vec<Fact> {
    if stage.trials.iter().all(|trial| trial.void.is_some()) {
        return Vec::new();
    }
    let slowest = stage.hosts.iter().take(HOSTS).enumerate();
    let mut hosts: Vec<Fact> = slowest
        .map(|(i, host)| {
            let label = if i == 0 { "Slowest" } else { "" };
            Fact::new(label, self::host(host, look))
        })
        .collect();
    if stage.hosts.len() > HOSTS {
        let more = stage.hosts.len() - HOSTS;
        hosts.push(Fact::new("", format!("{more} more; --json has them")));
    }
    hosts
}

/// `812.4 MB/s, 198,341 IOPS of 8 hosts; median of 3 trials, 801.2 to 815.0 MB/s`
fn sum(stage: &MergedStage, trials: &[&MergedTrial], look: &Look) -> String {
    let rate = &stage.throughput_bytes_per_s;
    let mut parts = vec![format!(
        "{}, {} IOPS of {}",
        show_throughput(rate.median),
        whole(stage.iops.median),
        count(u64::from(stage.hosts_counted), "host")
    )];
    let trials_counted = count(u64::from(rate.trials), "trial");
    parts.push(match range(rate) {
        Some(range) => format!("median of {trials_counted}, {range}"),
        None => trials_counted,
    });
    let shares = trials.iter().filter(|trial| trial.ops > 0.0);
    let share = shares.map(|trial| trial.ops_uncertainty / trial.ops);
    let share = share.fold(0.0, f64::max);
    if share > 0.0 {
        parts.push(format!(
            "edges of the windows {}{:.2} %",
            look.plus_minus(),
            share * 100.0
        ));
    }
    parts.join("; ")
}

/// `95 % interval 801.2 to 815.0 MB/s`, or how far the trials range.
fn range(rate: &Figure) -> Option<String> {
    let megabytes = |rate: f64| format!("{:.1}", rate / 1e6);
    match rate.ci95 {
        Some([low, high]) => Some(format!(
            "95 % interval {} to {} MB/s",
            megabytes(low),
            megabytes(high)
        )),
        None if rate.trials > 1 => Some(format!(
            "{} to {} MB/s",
            megabytes(rate.min),
            megabytes(rate.max)
        )),
        None => None,
    }
}

/// What a plan that ends after an amount comes to until the first host, and until the last.
fn bounded(trials: &[&MergedTrial]) -> Option<String> {
    let of = |value: fn(&MergedTrial) -> Option<f64>| {
        // Those of trials that some host did not do are not there.
        median_of(trials.iter().filter_map(|trial| value(trial)))
    };
    let stonewall = of(|trial| trial.stonewall_bytes_per_s)?;
    let last_done = of(|trial| trial.last_done_bytes_per_s)?;
    Some(format!(
        "{:.1} MB/s until the first host was done, {:.1} MB/s until the last was",
        stonewall / 1e6,
        last_done / 1e6
    ))
}

/// Of all operations; beside it the median host and the worst, since added histograms have most
/// of the fast ones.
fn latency(stage: &MergedStage, look: &Look) -> String {
    let of = |latency: &diskfacts_record::Latency| {
        let shown = [
            ("p50", latency.p50),
            ("p99", latency.p99),
            ("max", latency.max),
        ];
        let shown: Vec<String> = shown
            .iter()
            .filter_map(|(name, ns)| Some(format!("{name} {}", look.duration((*ns)?))))
            .collect();
        shown.join(", ")
    };
    let all = of(&stage.latency_ns);
    if all.is_empty() {
        return "not known: these documents have no histograms".to_owned();
    }
    let mut parts = vec![all];
    let mut by_p99: Vec<&HostFigures> = stage.hosts.iter().collect();
    by_p99.sort_by_key(|host| host.latency_ns.p99.or(host.latency_ns.p50));
    if by_p99.len() > 1 {
        if let Some(host) = by_p99
            .get((by_p99.len() - 1) / 2)
            .filter(|_| by_p99.len() > 2)
        {
            parts.push(format!("median host: {}", of(&host.latency_ns)));
        }
        if let Some(host) = by_p99.last() {
            parts.push(format!(
                "worst host {}: {}",
                host.host,
                of(&host.latency_ns)
            ));
        }
    }
    parts.join("; ")
}

fn spread(stage: &MergedStage, look: &Look) -> Option<String> {
    let spread = stage.spread?;
    let mut parts = vec![format!(
        "{} to {} IOPS, median {}",
        whole(spread.min),
        whole(spread.max),
        whole(spread.median)
    )];
    parts.extend(
        spread
            .cv
            .map(|cv| format!("coefficient of variation {}", percent(cv))),
    );
    let times = if look.unicode { "×" } else { "x" };
    parts.extend(
        spread
            .slowest_over_median
            .map(|share| format!("slowest {share:.2} {times} median")),
    );
    Some(parts.join("; "))
}

fn cpu(stage: &MergedStage, look: &Look) -> Option<String> {
    let user = stage.cpu_user_ns_per_io?;
    let system = stage.cpu_system_ns_per_io?;
    let ns = |ns: f64| look.duration(ns.max(0.0) as u64);
    Some(format!(
        "{} user and {} system per operation, of all hosts",
        ns(user),
        ns(system)
    ))
}

fn layers(stage: &MergedStage) -> String {
    let shown = shares(&stage.layers);
    let shown = shown.iter().filter(|(share, _)| *share > 0.0);
    let shown: Vec<String> = shown
        .map(|(share, name)| format!("{name} {}", percent(*share)))
        .collect();
    shown.join(", ")
}

/// `read 3.2 GiB, written 0 B by 4 devices`
fn devices(stage: &MergedStage) -> Option<String> {
    if stage.devices.is_empty() {
        return None;
    }
    let sum = |of: fn(&diskfacts_record::together::DeviceBytes) -> u64| {
        stage.devices.iter().map(of).fold(0, u64::saturating_add)
    };
    Some(format!(
        "{} counted {} read and {} written",
        count(stage.devices.len() as u64, "block device"),
        show_size(sum(|device| device.read_bytes)),
        show_size(sum(|device| device.write_bytes))
    ))
}

/// `c07 3.1 MB/s, 812 IOPS, 0.81 of the median; p50 1.2 ms, p99 3.4 ms`
fn host(host: &HostFigures, look: &Look) -> String {
    let mut text = format!(
        "{} {:.1} MB/s, {} IOPS",
        host.host,
        host.throughput_bytes_per_s / 1e6,
        whole(host.iops)
    );
    if let Some(share) = host.of_median {
        // Writing to a String cannot fail.
        let _ = write!(text, ", {share:.2} of the median");
    }
    let shown = [("p50", host.latency_ns.p50), ("p99", host.latency_ns.p99)];
    let shown: Vec<String> = shown
        .iter()
        .filter_map(|(name, ns)| Some(format!("{name} {}", look.duration((*ns)?))))
        .collect();
    if !shown.is_empty() {
        text.push_str("; ");
        text.push_str(&shown.join(", "));
    }
    text
}

/// Operations per second; those below ten with a digit behind the point.
fn whole(rate: f64) -> String {
    if rate < 10.0 {
        format!("{rate:.1}")
    } else {
        format!("{rate:.0}")
    }
}
