//! Writes one after the other to a disk whose write cache is off: each comes back
//! when the medium has it, and that takes revolutions.
//!
//! The place of the next block has just gone by when it is handed over, so one
//! revolution is the least. More than one means that something else goes to the
//! medium with each block: the rest of a larger physical sector that has to be
//! read first, or a second write.

use super::{Context, names};
use crate::layers::all_leaves;
use crate::revolution::{REVOLUTIONS_MAX, SPEEDS, turn_ns};
use crate::stages::Stage;
use crate::words::{lines, percent, ratio};
use diskfacts_plan::units::{show_duration, show_size, show_throughput, three_digits};
use diskfacts_plan::{Operation, Pattern, SyncMode};
use diskfacts_record::{Confidence, Finding, Severity, StageFigures, TargetKind};
use std::collections::BTreeMap;

pub(super) const NAME: &str = "write-revolutions";

/// Blocks up to this take a small part of a revolution.
const SMALL_MAX: u64 = 64 << 10;
/// What the host may add to whole revolutions, and what the speed may be off, as
/// a share of one; with a speed that is not known only the latter.
const HOST: f64 = 0.1;
const NEAR: f64 = 0.025;

/// A stage that waits for the medium with each write.
struct Waits {
    rpm: u32,
    /// Whether the speed is said, and not one that fits.
    said: bool,
    whole: f64,
    /// Least, likely and most revolutions, by the rounding of the figure.
    revolutions: [f64; 3],
    /// A write, nanoseconds, and the time of its bytes.
    write_ns: f64,
    bytes_ns: f64,
}

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let each = context.doing_io().filter_map(|(stage, figures)| {
        let cached = cached_rate(context, stage);
        let waits = waits(context, stage, figures, cached.as_ref())?;
        Some(finding(stage, figures, &waits, cached.as_ref()))
    });
    // Repeats of one thing are one finding.
    each.take(1).collect()
}

/// Whether the words of a document switch the drive's cache off.
fn says_off(settings: &BTreeMap<String, String>) -> bool {
    settings.values().any(|value| {
        let value = value.to_lowercase();
        let off = ["disabled", "off", "switched off"];
        value.contains("write") && value.contains("cache") && off.iter().any(|w| value.ends_with(w))
    })
}

/// A speed in the words of a document: `7200 rpm`, `10K RPM`, `10KPM`, `15krpm`.
fn rpm(settings: &BTreeMap<String, String>) -> Option<u32> {
    settings.values().find_map(|value| {
        let value = value.to_lowercase();
        value.match_indices("pm").find_map(|(at, _)| {
            let before = value[..at].trim_end_matches('r').trim_end();
            let (before, times) = match before.strip_suffix('k') {
                Some(before) => (before.trim_end(), 1000.0),
                None => (before, 1.0),
            };
            let digits = before.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
            let number: f64 = before[digits.len()..].parse().ok()?;
            let rpm = number * times;
            // Disks of 3600 to 15 000 have been sold.
            (3000.0..=20_000.0)
                .contains(&rpm)
                .then_some(rpm.round() as u32)
        })
    })
}

fn is_candidate(context: &Context<'_>, stage: &Stage<'_>) -> bool {
    let workload = stage.workload();
    let imported = context.run.target.kind == TargetKind::Imported;
    let simple = workload.operation == Operation::Write
        && workload.pattern == Pattern::Sequential
        && workload.outstanding() == 1
        && workload.rate.is_none()
        && workload.beside.is_none()
        && workload.sync == SyncMode::None
        && (1..=SMALL_MAX).contains(&workload.block_size);
    let off = if imported {
        says_off(stage.settings)
    } else {
        let direct = stage
            .trials
            .iter()
            .all(|trial| trial.evidence.engine.direct);
        context.all_turn() == Some(true)
            && direct
            && all_leaves(&context.run.stack, "write through")
    };
    simple && off
}

/// The rate of the same blocks where the cache takes them, bytes per second, and
/// the lines that say it.
fn cached_rate(context: &Context<'_>, stage: &Stage<'_>) -> Option<(f64, Vec<u64>)> {
    let on = stage.settings.get("on");
    let same = context.doing_io().filter(|(other, figures)| {
        let workload = other.workload();
        workload.operation == Operation::Write
            && workload.block_size == stage.workload().block_size
            && other.settings.get("on") == on
            && !says_off(other.settings)
            && figures.throughput_bytes_per_s.median.is_finite()
    });
    let fastest = same.max_by(|a, b| {
        let rate = |figures: &StageFigures| figures.throughput_bytes_per_s.median;
        rate(a.1).total_cmp(&rate(b.1))
    });
    fastest.map(|(other, figures)| (figures.throughput_bytes_per_s.median, other.lines()))
}

/// Half of the last digit of a figure of running text, as a share of it: `1.3`
/// stands for 1.25 to 1.35.
fn rounding(rate: f64) -> f64 {
    let shown = format!("{}", (rate / 1e6 * 1e6).round() / 1e6);
    let decimals = shown.split_once('.').map_or(0, |(_, digits)| digits.len());
    0.5 * 0.1_f64.powi(i32::try_from(decimals).unwrap_or(6)) / (rate / 1e6)
}

fn waits(
    context: &Context<'_>,
    stage: &Stage<'_>,
    figures: &StageFigures,
    cached: Option<&(f64, Vec<u64>)>,
) -> Option<Waits> {
    let rate = figures.throughput_bytes_per_s.median;
    if !is_candidate(context, stage) || !rate.is_finite() || rate <= 0.0 {
        return None;
    }
    let size = stage.workload().block_size as f64;
    let write_ns = size / rate * 1e9;
    let bytes_ns = cached.map_or(0.0, |(cached, _)| size / *cached * 1e9);
    let source = context.run.run.source.as_ref();
    let of_text = source.is_some_and(|source| source.format == "text");
    let rounded = if of_text { rounding(rate) } else { 0.0 };
    let of = |rpm: u32| {
        let turn_ns = turn_ns(rpm);
        let waits = |write_ns: f64| (write_ns - bytes_ns) / turn_ns;
        [
            waits(write_ns / (1.0 + rounded)),
            waits(write_ns),
            waits(write_ns / (1.0 - rounded)),
        ]
    };
    let fits = |rpm: u32, host: f64| {
        let revolutions = of(rpm);
        let whole = revolutions[0].round().max(1.0);
        let fits = revolutions[0] - whole <= host && whole - revolutions[2] <= NEAR * whole;
        (fits && whole <= f64::from(REVOLUTIONS_MAX)).then_some((whole, revolutions))
    };
    // As the text has it, or the drive itself.
    let drive = || context.run.stack.leaves().find_map(|leaf| leaf.rpm);
    let named = rpm(stage.settings).or_else(drive);
    let (rpm, (whole, revolutions)) = match named {
        Some(rpm) => (rpm, fits(rpm, HOST)?),
        None => SPEEDS
            .iter()
            .filter_map(|rpm| Some((*rpm, fits(*rpm, NEAR)?)))
            .min_by(|a, b| a.1.0.total_cmp(&b.1.0))?,
    };
    Some(Waits {
        rpm,
        said: named.is_some(),
        whole,
        revolutions,
        write_ns,
        bytes_ns,
    })
}

fn finding(
    stage: &Stage<'_>,
    figures: &StageFigures,
    waits: &Waits,
    cached: Option<&(f64, Vec<u64>)>,
) -> Finding {
    let size = stage.workload().block_size;
    let turn_ns = turn_ns(waits.rpm);
    let rate = figures.throughput_bytes_per_s.median;
    let at = |numbers: &[u64]| {
        if numbers.is_empty() {
            String::new()
        } else {
            format!(" ({})", lines(numbers))
        }
    };
    let [least, likely, most] = waits.revolutions;
    let of_rounding = if most - least > 0.005 {
        format!(
            ", {} to {} by the rounding of the figure",
            ratio(least),
            ratio(most)
        )
    } else {
        String::new()
    };
    let mut evidence = vec![
        format!(
            "{}{} are {} writes of {} per second, {} each; their bytes take {} of it.",
            show_throughput(rate),
            at(&stage.lines()),
            three_digits(1e9 / waits.write_ns),
            show_size(size),
            duration(waits.write_ns),
            duration(waits.bytes_ns)
        ),
        format!(
            "A revolution at {} per minute takes {}: the rest is {} of them{of_rounding}.",
            waits.rpm,
            duration(turn_ns),
            ratio(likely)
        ),
    ];
    if waits.whole > 1.0 {
        let one = size as f64 / (turn_ns + waits.bytes_ns) * 1e9;
        evidence.push(format!(
            "One revolution each would be {}. A second one is spent where a block does not fill \
             the disk's physical sectors and the rest is read first, or where something else is \
             written with each block; which of these, the figure does not say.",
            show_throughput(one)
        ));
    }
    if let Some((cached, numbers)) = cached.filter(|(cached, _)| *cached > 2.0 * rate) {
        evidence.push(format!(
            "With the cache the same writes go at {}{}: it hides {} of the time of each.",
            show_throughput(*cached),
            at(numbers),
            percent(1.0 - rate / cached)
        ));
    }
    let turns = if waits.whole > 1.5 {
        format!("{} revolutions", waits.whole)
    } else {
        "a whole revolution".to_owned()
    };
    Finding {
        rule: NAME.into(),
        severity: Severity::Note,
        headline: format!("write cache off: each write waits {turns}"),
        claim: format!(
            "With the drive's write cache off each write of {} waits {turns} of a disk with {} per \
             minute: {} per second.",
            show_size(size),
            waits.rpm,
            three_digits(1e9 / waits.write_ns)
        ),
        evidence,
        confidence: if waits.said {
            Confidence::Likely
        } else {
            Confidence::Possible
        },
        refuted_by: "A block size at which a write takes no whole number of revolutions beside \
                     its bytes, or the same rate with the cache on."
            .into(),
        remedy: "Write larger blocks or several at once, or switch the write cache on and sync \
                 where data has to last; a controller with a cache that survives a power cut does \
                 the same."
            .into(),
        stages: names([stage.name]),
    }
}

fn duration(ns: f64) -> String {
    // Far below 2^53 ns.
    show_duration(ns.max(0.0).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(value: &str) -> BTreeMap<String, String> {
        BTreeMap::from([("on".to_owned(), value.to_owned())])
    }

    #[test]
    fn a_speed_is_read_as_people_write_it() {
        for (text, speed) in [
            ("2.5\" 10KPM internal disk", Some(10_000)),
            ("a 7200 rpm drive", Some(7200)),
            ("7.2K RPM", Some(7200)),
            ("15krpm SAS", Some(15_000)),
            ("5400rpm", Some(5400)),
            ("at 3 pm", None),
            ("120 rpm", None),
            ("rpm", None),
            ("pm", None),
        ] {
            assert_eq!(rpm(&said(text)), speed, "{text}");
        }
    }

    #[test]
    fn a_figure_stands_for_what_rounds_to_it() {
        assert!((rounding(1.3e6) - 0.05 / 1.3).abs() < 1e-9);
        assert!((rounding(160e6) - 0.5 / 160.0).abs() < 1e-9);
        assert!((rounding(2.66e6) - 0.005 / 2.66).abs() < 1e-9);
    }
}
