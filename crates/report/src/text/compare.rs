//! What `compare` prints: what it comes to, the conditions that differ, then
//! stage by stage.

use super::fleet::groups;
use super::look::{Look, Style};
use super::page::Page;
use super::run::{Closing, close};
use super::words::{count, list, rate};
use super::wrap::columns;
use diskfacts_record::comparison::{
    Change, Comparison, Condition, Demand, Difference, Measure, Side, StageComparison, Unit,
};
use std::fmt::Write as _;

/// Where the values of the rows begin.
const COLUMN: usize = 10;
/// Runs of a side that are named one by one.
const RUNS_MAX: usize = 5;
/// Stages that a condition or a demand names one by one.
const STAGES_MAX: usize = 4;

/// The facts of a comparison.
pub fn comparison(comparison: &Comparison, closing: &Closing, look: &Look) -> String {
    let mut page = Page::new(look);
    page.paragraph(0, Style::Heading, &comparison.summary);
    page.blank();
    match &comparison.fleet {
        Some(fleet) => groups::sides(&mut page, comparison, fleet),
        None => {
            for (label, side) in [("A", &comparison.a), ("B", &comparison.b)] {
                self::side(&mut page, label, side);
            }
        }
    }
    conditions(&mut page, &comparison.conditions);
    stages(&mut page, comparison);
    missing(&mut page, comparison);
    if let Some(fleet) = &comparison.fleet {
        groups::hosts(&mut page, fleet);
    }
    for demand in &comparison.demands {
        self::demand(&mut page, demand);
    }
    close(&mut page, closing);
    page.finish()
}

fn side(page: &mut Page<'_>, label: &str, side: &Side) {
    for (i, run) in side.runs.iter().take(RUNS_MAX).enumerate() {
        let text = format!(
            "{}: {}, plan {}, {}",
            run.id,
            run.target,
            run.plan,
            count(run.trials, "trial")
        );
        let label = if i == 0 { label } else { "" };
        page.labelled(0, (Style::Heading, label), COLUMN, Style::Plain, &text);
    }
    if side.runs.len() > RUNS_MAX {
        let more = count((side.runs.len() - RUNS_MAX) as u64, "more run");
        page.paragraph(COLUMN, Style::Plain, &format!("and {more}"));
    }
}

fn conditions(page: &mut Page<'_>, conditions: &[Condition]) {
    if conditions.is_empty() {
        page.heading("Conditions: none that was recorded differs");
        return;
    }
    page.heading("Conditions that differ");
    for condition in conditions.iter().filter(|c| !is_one_sided(c)) {
        let text = format!(
            "{} in A, {} in B{}",
            values(&condition.a),
            values(&condition.b),
            of_stages(&condition.stages)
        );
        page.labelled(
            2,
            (Style::Plain, &format!("{}:", condition.what)),
            0,
            Style::Plain,
            &text,
        );
    }
    for (of_a, name, other) in [(true, "A", "B"), (false, "B", "A")] {
        let known: Vec<String> = conditions
            .iter()
            .filter(|c| is_one_sided(c) && c.b.is_empty() == of_a)
            .map(|c| {
                let value = values(if of_a { &c.a } else { &c.b });
                format!("{} ({value}{})", c.what, of_stages(&c.stages))
            })
            .collect();
        if !known.is_empty() {
            page.paragraph(
                2,
                Style::Minor,
                &format!("Known of {name} and not of {other}: {}.", list(&known)),
            );
        }
    }
}

/// Whether nothing is known of one side.
pub(crate) fn is_one_sided(condition: &Condition) -> bool {
    condition.a.is_empty() || condition.b.is_empty()
}

fn values(values: &[String]) -> String {
    list(values)
}

/// `, in log-write`; empty for all of the run.
pub(crate) fn of_stages(stages: &[String]) -> String {
    match stages {
        [] => String::new(),
        few if few.len() <= STAGES_MAX => format!(", in {}", list(few)),
        many => format!(", in {} stages", many.len()),
    }
}

fn stages(page: &mut Page<'_>, comparison: &Comparison) {
    if comparison.stages.is_empty() {
        return;
    }
    page.heading("Stage by stage: B against A");
    for stage in &comparison.stages {
        self::stage(page, stage);
    }
    let legend = legend(comparison);
    if !legend.is_empty() {
        page.blank();
        page.paragraph(0, Style::Minor, &legend);
    }
}

fn stage(page: &mut Page<'_>, stage: &StageComparison) {
    let style = match stage.change {
        Change::Same => Style::Plain,
        Change::Faster => Style::Good,
        Change::Slower => Style::Bad,
        Change::Unclear | Change::NotComparable => Style::Doubtful,
    };
    let label = format!("{}:", stage.stage);
    if columns(&label) <= page.look.columns() / 2 {
        page.titled(0, (Style::Heading, &label), 4, style, &stage.statement);
    } else {
        page.paragraph(0, Style::Heading, &label);
        page.paragraph(4, style, &stage.statement);
    }
    if let Some(other) = &stage.stage_b {
        page.paragraph(4, Style::Minor, &format!("called {other} in B"));
    }
    if let Some(speed) = &stage.speed {
        let line = format!("{}, {}", values_of(speed, page.look), observed(speed));
        page.paragraph(4, Style::Plain, &line);
    }
    for difference in &stage.latency {
        let line = figure(difference, page.look);
        page.paragraph(4, Style::Plain, &line);
    }
}

/// `p99 23.1 ms -> 24.0 ms`.
pub(crate) fn values_of(difference: &Difference, look: &Look) -> String {
    let (name, unit) = name(difference.measure);
    let value = |value: f64| match difference.measure {
        // Two digits hide what differs by less than a percent.
        Measure::ThroughputBytesPerS if value < 1e6 => format!("{:.3}", value / 1e6),
        Measure::ThroughputBytesPerS => rate(value / 1e6),
        Measure::Iops => rate(value),
        _ => look.duration(value as u64),
    };
    let (a, b) = (value(difference.a), value(difference.b));
    format!("{name}{a} -> {b}{unit}")
}

/// `5 trials`, `5 and 3 runs`.
pub(crate) fn observed(difference: &Difference) -> String {
    let (a, b) = (difference.count_a, difference.count_b);
    let thing = match difference.unit {
        Unit::Trial => "trial",
        Unit::Run => "run",
        // The same ones on either side.
        Unit::Host => return count(u64::from(a), "host"),
    };
    if a == b {
        format!("{} each", count(u64::from(a), thing))
    } else {
        format!("{a} and {}", count(u64::from(b), thing))
    }
}

/// `p99 23.1 ms -> 24.0 ms: -2.1 % to +9.8 %, not told apart`.
fn figure(difference: &Difference, look: &Look) -> String {
    let values = values_of(difference, look);
    match difference.interval {
        Some([low, high]) => {
            let word = match difference.outcome {
                Change::Same => "the same",
                Change::Faster => "SHORTER",
                Change::Slower => "LONGER",
                Change::Unclear | Change::NotComparable => "not told apart",
            };
            format!("{values}: {} to {}, {word}", signed(low), signed(high))
        }
        None => format!("{values}: {}, no spread known", signed(difference.change)),
    }
}

pub(crate) fn name(measure: Measure) -> (&'static str, &'static str) {
    match measure {
        Measure::ThroughputBytesPerS => ("", " MB/s"),
        Measure::Iops => ("", " IOPS"),
        Measure::LatencyP50Ns => ("p50 ", ""),
        Measure::LatencyP90Ns => ("p90 ", ""),
        Measure::LatencyP99Ns => ("p99 ", ""),
        Measure::LatencyP999Ns => ("p99.9 ", ""),
    }
}

/// `+3.1 %`, `-12 %`, `x 14` from ten times on.
pub(crate) fn signed(change: f64) -> String {
    if change >= 999.0 {
        return "more than x 1000".to_owned();
    }
    if change >= 9.0 {
        return format!("x {:.0}", change + 1.0);
    }
    let value = change * 100.0;
    let decimals = match value.abs() {
        small if small < 0.995 => 2,
        middle if middle < 9.95 => 1,
        _ => 0,
    };
    let text = format!("{value:+.decimals$}");
    let zero = text.trim_start_matches(['+', '-']);
    if zero.bytes().all(|c| c == b'0' || c == b'.') {
        return "0 %".to_owned();
    }
    format!("{text} %")
}

/// What stands above, and how sure it is.
pub(crate) fn legend(comparison: &Comparison) -> String {
    let correction = &comparison.correction;
    let mut sentences = Vec::new();
    let mut speeds = comparison.stages.iter().filter_map(|s| s.speed.as_ref());
    if let Some(speed) = speeds.find(|speed| speed.interval.is_some()) {
        sentences.push(
            match speed.unit {
                Unit::Trial => {
                    "Intervals are over the trials. What differs from run to run is not in them: \
                     for that give several runs, as in A1,A2 B1,B2."
                }
                Unit::Run => "Intervals are over the runs, each of which counts as one.",
                Unit::Host => {
                    "Intervals are over the hosts, each held against itself. What slowed all of \
                     them at one time is in none: groups of several nights have less of it."
                }
            }
            .to_owned(),
        );
    }
    if correction.speeds > 0 && comparison.fleet.is_some() {
        sentences.push(format!(
            "Tested together by Holm's procedure: {} at {} %, so that at most one comparison in \
             twenty of fleets that do not differ calls a stage different. \"The same\" means that the \
             whole interval is small, within {} %.",
            count(u64::from(correction.speeds), "stage"),
            correction.speeds_alpha * 100.0,
            three(comparison.same_within * 100.0)
        ));
    } else if correction.speeds + correction.latencies > 0 {
        sentences.push(format!(
            "Tested together by Holm's procedure: {} of speed at {} % and {} of percentiles at \
             {} %, so that at most one comparison in twenty of things that do not differ calls \
             any of them different. \"The same\" means that the whole interval is small, within \
             {} %.",
            count(u64::from(correction.speeds), "difference"),
            correction.speeds_alpha * 100.0,
            correction.latencies,
            correction.latencies_alpha * 100.0,
            three(comparison.same_within * 100.0)
        ));
    }
    sentences.join(" ")
}

fn three(value: f64) -> String {
    diskfacts_plan::units::three_digits(value)
}

/// Stages of one side only.
fn missing(page: &mut Page<'_>, comparison: &Comparison) {
    for (name, only) in [("A", &comparison.only_in_a), ("B", &comparison.only_in_b)] {
        if only.is_empty() {
            continue;
        }
        let text = if only.len() <= 3 * STAGES_MAX {
            list(only)
        } else {
            count(only.len() as u64, "stage")
        };
        page.blank();
        page.titled(
            0,
            (Style::Heading, &format!("Only in {name}:")),
            4,
            Style::Plain,
            &text,
        );
    }
}

fn demand(page: &mut Page<'_>, demand: &Demand) {
    let (style, text) = judged(demand);
    page.blank();
    page.titled(
        0,
        (Style::Heading, &format!("--fail-if {}:", demand.given)),
        4,
        style,
        &text,
    );
}

/// What became of a demand.
pub(crate) fn judged(demand: &Demand) -> (Style, String) {
    let (style, mut text) = if demand.judged == 0 {
        (
            Style::Bad,
            "holds for no stage that could be judged".to_owned(),
        )
    } else if demand.holds.is_empty() {
        (Style::Good, "does not hold for any stage".to_owned())
    } else {
        (
            Style::Bad,
            format!("HOLDS{}", of_stages(&demand.holds).trim_start_matches(',')),
        )
    };
    if !demand.unjudged.is_empty() {
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "; could not be judged{}",
            of_stages(&demand.unjudged).trim_start_matches(',')
        );
    }
    (style, text)
}
