//! A comparison as Markdown, for the summary of a job (`GITHUB_STEP_SUMMARY`) or a comment on a
//! change: what it comes to, and a table of the stages.

use super::clean;
use super::judged::{stages, word};
use diskfacts_record::Comparison;
use diskfacts_record::comparison::{Difference, Measure};
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
