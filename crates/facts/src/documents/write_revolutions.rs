//! Writes one after the other to a disk of which a document says that its write cache is off: each
//! comes back when the medium has it, and that takes revolutions. Of what was measured the limiters
//! `write-cache-off` and `rotation` say so.
//!
//! The place of the next block has just gone by when it is handed over, so one
//! revolution is the least. More than one means that something else goes to the
//! medium with each block: the rest of a larger physical sector that has to be
//! read first, or a second write.

use crate::revolution::{NEAR, REVOLUTIONS_MAX, SPEEDS, turn_ns};
use crate::rules::prelude::*;
use crate::write_matrix::SMALL_MAX;
use std::collections::BTreeMap;

pub(super) const RULE: Rule = Rule {
    name: "write-revolutions",
    needs: &[Document, Drives],
    check: Check::One(check),
    ..Rule::NOTE
};

/// What the host may add to whole revolutions, as a share of one, where the speed is known.
const HOST: f64 = 0.1;

/// A stage that waits for the medium with each write.
struct Waits {
    rpm: u32,
    /// Whether the speed is said, and not one that fits.
    said: bool,
    whole: f64,
    /// Least, likely and most revolutions, by the rounding of the figure.
    revolutions: [f64; 3],
}

/// A stage whose writes may wait.
struct Written<'c, 'a> {
    stage: &'c Stage<'a>,
    /// Bytes per second.
    rate: f64,
    /// The rate of the same blocks where the cache takes them, and the lines that say it.
    cached: Option<(f64, Vec<u64>)>,
}

impl Written<'_, '_> {
    fn size(&self) -> u64 {
        self.stage.workload().block_size
    }

    /// What a write takes, nanoseconds.
    fn write_ns(&self) -> f64 {
        self.size() as f64 / self.rate * 1e9
    }

    /// What its bytes take.
    fn bytes_ns(&self) -> f64 {
        let cached = self.cached.as_ref();
        cached.map_or(0.0, |(rate, _)| self.size() as f64 / rate * 1e9)
    }
}

fn check(context: &Context<'_>) -> Option<Found> {
    // Repeats of one thing are one finding.
    context.doing_io().find_map(|(stage, figures)| {
        let rate = figures.throughput_bytes_per_s.median;
        if !is_candidate(stage) || !rate.is_finite() || rate <= 0.0 {
            return None;
        }
        let cached = cached_rate(context, stage);
        let written = Written {
            stage,
            rate,
            cached,
        };
        let waits = waits(context, &written)?;
        Some(finding(&written, &waits))
    })
}

/// Whether the words of a line switch the drive's cache off.
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

fn is_candidate(stage: &Stage<'_>) -> bool {
    let workload = stage.workload();
    workload.operation == Operation::Write
        && workload.pattern == Pattern::Sequential
        && workload.outstanding() == 1
        && workload.rate.is_none()
        && workload.beside.is_none()
        && workload.sync == SyncMode::None
        && (1..=SMALL_MAX).contains(&workload.block_size)
        && says_off(stage.settings)
}

fn cached_rate(context: &Context<'_>, stage: &Stage<'_>) -> Option<(f64, Vec<u64>)> {
    let same = context.doing_io().filter(|(other, _)| {
        let workload = other.workload();
        workload.operation == Operation::Write
            && workload.block_size == stage.workload().block_size
            && other.settings.get("on") == stage.settings.get("on")
            && !says_off(other.settings)
    });
    let rates = same.map(|(other, figures)| (figures.throughput_bytes_per_s.median, other));
    let finite = rates.filter(|(rate, _)| rate.is_finite());
    let (rate, fastest) = finite.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some((rate, fastest.lines()))
}

/// Half of the last digit of a figure of running text, as a share of it: `1.3`
/// stands for 1.25 to 1.35.
fn rounding(rate: f64) -> f64 {
    let shown = format!("{}", (rate / 1e6 * 1e6).round() / 1e6);
    let decimals = shown.split_once('.').map_or(0, |(_, digits)| digits.len());
    0.5 * 0.1_f64.powi(i32::try_from(decimals).unwrap_or(6)) / (rate / 1e6)
}

fn waits(context: &Context<'_>, written: &Written<'_, '_>) -> Option<Waits> {
    let source = context.run.run.source.as_ref();
    let of_text = source.is_some_and(|source| source.format == "text");
    let rounded = if of_text { rounding(written.rate) } else { 0.0 };
    let fits = |rpm: u32, host: f64| {
        let of = |write_ns: f64| (write_ns - written.bytes_ns()) / turn_ns(rpm);
        let revolutions = [1.0 + rounded, 1.0, 1.0 - rounded].map(|by| of(written.write_ns() / by));
        let whole = revolutions[0].round().max(1.0);
        let fits = revolutions[0] - whole <= host && whole - revolutions[2] <= NEAR * whole;
        (fits && whole <= f64::from(REVOLUTIONS_MAX)).then_some((rpm, whole, revolutions))
    };
    let named = rpm(written.stage.settings);
    let (rpm, whole, revolutions) = match named {
        Some(rpm) => fits(rpm, HOST)?,
        None => SPEEDS
            .iter()
            .filter_map(|rpm| fits(*rpm, NEAR))
            .min_by(|a, b| a.1.total_cmp(&b.1))?,
    };
    Some(Waits {
        rpm,
        said: named.is_some(),
        whole,
        revolutions,
    })
}

fn finding(written: &Written<'_, '_>, waits: &Waits) -> Found {
    let (rate, rpm) = (written.rate, waits.rpm);
    let size = show_size(written.size());
    let per_second = three_digits(1e9 / written.write_ns());
    let [least, likely, most] = waits.revolutions.map(ratio);
    let of_rounding = when(waits.revolutions[2] - waits.revolutions[0] > 0.005, || {
        format!(", {least} to {most} by the rounding of the figure")
    });
    let mut evidence = vec![
        format!(
            "{}{} are {per_second} writes of {size} per second, {} each; their bytes take {} of it.",
            show_throughput(rate),
            in_lines(written.stage.lines()),
            duration(written.write_ns()),
            duration(written.bytes_ns())
        ),
        format!(
            "A revolution at {rpm} per minute takes {}: the rest is {likely} of them{of_rounding}.",
            duration(turn_ns(rpm))
        ),
    ];
    if waits.whole > 1.0 {
        let one = written.size() as f64 / (turn_ns(rpm) + written.bytes_ns()) * 1e9;
        evidence.push(format!(
            "One revolution each would be {}. A second one is spent where a block does not fill \
             the disk's physical sectors and the rest is read first, or where something else is \
             written with each block; which of these, the figure does not say.",
            show_throughput(one)
        ));
    }
    let cached = written.cached.as_ref();
    evidence.extend(
        cached
            .filter(|(cached, _)| *cached > 2.0 * rate)
            .map(|(cached, lines)| {
                format!(
                    "With the cache the same writes go at {}{}: it hides {} of the time of each.",
                    show_throughput(*cached),
                    in_lines(lines),
                    percent(1.0 - rate / cached)
                )
            }),
    );
    let turns = if waits.whole > 1.5 {
        format!("{} revolutions", waits.whole)
    } else {
        "a whole revolution".to_owned()
    };
    RULE.claim(format!(
        "With the drive's write cache off each write of {size} waits {turns} of a disk with \
             {rpm} per minute: {per_second} per second."
    ))
    .headline(format!("write cache off: each write waits {turns}"))
    .confidence(likely_if(waits.said))
    .stages(names([written.stage.name]))
    .evidence(evidence)
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
