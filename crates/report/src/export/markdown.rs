//! A comparison as Markdown, for the summary of a job (`GITHUB_STEP_SUMMARY`) or a comment on a
//! change: what it comes to, and a table of the stages. Hosts that measured together, as well.

use super::judged::{stages, word};
use super::{SHOWN, clean};
use crate::text::findings::severity;
use crate::text::together::{facts, started, title};
use diskfacts_plan::plan::stage_label;
use diskfacts_plan::units::show_throughput;
use diskfacts_record::Comparison;
use diskfacts_record::comparison::{Difference, Measure};
use diskfacts_record::together::{HostFigures, Merged};
use std::fmt::Write as _;

/// The text, which ends with a line end.
pub fn markdown(comparison: &Comparison) -> String {
    let mut out = format!(
        "### diskfacts: {} against {}\n\n{}\n\n",
        plain(&comparison.b.given),
        plain(&comparison.a.given),
        plain(&comparison.summary)
    );
    out.push_str("| stage | B against A | change | 95 % interval | conditions |\n");
    out.push_str("| --- | --- | ---: | ---: | --- |\n");
    for stage in stages(comparison) {
        let mut compared = comparison.stages.iter();
        let compared = compared.find(|one| one.stage == stage.stage);
        let speed = compared.and_then(|stage| stage.speed.as_ref());
        let held = stage
            .holds
            .iter()
            .map(|given| format!("**{}** holds", plain(given)));
        let unjudged = stage.unjudged.iter();
        let unjudged = unjudged.map(|given| format!("{} could not be judged", plain(given)));
        let conditions: Vec<String> = held.chain(unjudged).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} |",
            plain(stage.stage),
            word(stage.change),
            speed.map(change).unwrap_or_default(),
            speed.and_then(interval).unwrap_or_default(),
            conditions.join("; ")
        );
    }
    out
}

/// Hosts that measured together: how many there were, every claim, the sum of each stage, and its hosts
/// side by side, the slowest first. The text ends with a line end.
pub fn hosts(merged: &Merged) -> String {
    // Writing to a String cannot fail.
    let mut out = format!(
        "### diskfacts: {}\n\n{}\n",
        plain(&title(merged)),
        plain(&started(merged))
    );
    if !merged.findings.is_empty() {
        out.push('\n');
    }
    for finding in &merged.findings {
        let (_, word) = severity(finding.severity);
        let _ = writeln!(
            out,
            "* **{}**: {}",
            word.to_lowercase(),
            plain(&finding.claim)
        );
    }
    for stage in &merged.stages {
        let label = stage_label(&stage.stage, &stage.settings);
        let _ = write!(out, "\n#### {}\n\n", plain(&label));
        for fact in facts(stage, &SHOWN) {
            let _ = match fact.label {
                "" => writeln!(out, "* {}", plain(&fact.text)),
                label => writeln!(out, "* **{label}**: {}", plain(&fact.text)),
            };
        }
        if !stage.hosts.is_empty() {
            out.push_str("\n| host | throughput | IOPS | of the median | p50 | p99 | errors |\n");
            out.push_str("| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
        }
        for host in &stage.hosts {
            out.push_str(&row(host));
        }
    }
    if !merged.lost.is_empty() {
        out.push_str("\n#### Lost hosts\n\n");
    }
    for lost in &merged.lost {
        let _ = writeln!(out, "* **{}**: {}", plain(&lost.host), plain(&lost.why));
    }
    out
}

/// A host of a stage. A figure that is not known is an empty cell.
fn row(host: &HostFigures) -> String {
    let duration = |ns: Option<u64>| ns.map_or_else(String::new, |ns| SHOWN.duration(ns));
    let of_median = host.of_median.map(|share| format!("{share:.2}"));
    format!(
        "| {} | {} | {:.0} | {} | {} | {} | {} |\n",
        plain(&host.host),
        show_throughput(host.throughput_bytes_per_s),
        host.iops,
        of_median.unwrap_or_default(),
        duration(host.latency_ns.p50),
        duration(host.latency_ns.p99),
        host.errors
    )
}

/// `throughput -4.1 %`.
fn change(speed: &Difference) -> String {
    let of = match speed.measure {
        Measure::ThroughputBytesPerS => "throughput",
        Measure::Iops => "IOPS",
        Measure::LatencyP50Ns => "p50",
        Measure::LatencyP90Ns => "p90",
        Measure::LatencyP99Ns => "p99",
        Measure::LatencyP999Ns => "p99.9",
    };
    format!("{of} {}", percent(speed.change))
}

fn interval(speed: &Difference) -> Option<String> {
    let [low, high] = speed.interval?;
    Some(format!("{} to {}", percent(low), percent(high)))
}

fn percent(share: f64) -> String {
    format!("{:+.1} %", share * 100.0)
}

/// Text from anywhere that stays text: each character that could be markup is written as its
/// number. (A backslash before it would not do in all places.) `www.` begins a link by itself.
fn plain(text: &str) -> String {
    let clean = clean(text);
    let mut out = String::with_capacity(clean.len());
    for c in clean.chars() {
        let is_harmless = !c.is_ascii_punctuation() || ",%./-()+=;'\"".contains(c);
        let last = out.get(out.len().saturating_sub(3)..).unwrap_or_default();
        let ends_www = c == '.' && last.eq_ignore_ascii_case("www");
        if is_harmless && !ends_www {
            out.push(c);
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "&#{};", c as u32);
        }
    }
    out
}
