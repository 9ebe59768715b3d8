//! Latency over the time of a trial: drawn, and what happened at some time of it.

use super::eighths::eighth;
use super::heat;
use super::look::{Look, Style};
use super::page::Page;
use super::words::{grouped, shell, three_digits};
use diskfacts_facts::{Moment, NoMoment, moment, most_unlike};
use diskfacts_plan::plan::stage_label;
use diskfacts_record::{CoarseHistogram, LatencyOverTime, Run, StageFigures, Trial};

/// Columns from the beginning of one figure to the next.
const COLUMN: usize = 14;

/// The trials of a stage.
pub(crate) fn trials<'a>(run: &'a Run, figures: &StageFigures) -> Vec<&'a Trial> {
    let is_of = |trial: &&Trial| trial.stage == figures.stage && trial.settings == figures.settings;
    run.trials.iter().filter(is_of).collect()
}

/// The trial of this number; of several the one that is most unlike the others.
///
/// # Errors
/// What the run has not, and what in its place.
pub(crate) fn chosen<'a>(trials: &[&'a Trial], number: Option<u32>) -> Result<&'a Trial, String> {
    let Some(number) = number else {
        let known = trials
            .iter()
            .filter(|trial| trial.latency_over_time.is_some());
        let known: Vec<&Trial> = known.copied().collect();
        return most_unlike(&known).ok_or_else(|| not_stored(trials));
    };
    let found = trials.iter().find(|trial| trial.number == number);
    found.copied().ok_or_else(|| {
        let stage = trials.first().map_or("this stage", |trial| &trial.stage);
        let numbers = || trials.iter().map(|trial| trial.number);
        let has = match (numbers().min(), numbers().max()) {
            (Some(first), Some(last)) if first < last => {
                format!("its trials are {first} to {last}")
            }
            (Some(only), _) => format!("its only trial is {only}"),
            _ => "it has none".to_owned(),
        };
        format!("has no trial {number} of {stage}; {has}")
    })
}

/// That nothing is known of the time of these trials, and why.
fn not_stored(trials: &[&Trial]) -> String {
    let stage = trials.first().map_or("this stage", |trial| &trial.stage);
    let why = if trials.iter().any(|trial| trial.line.is_some()) {
        "it was imported, and its document does not say when what completed"
    } else if trials.iter().all(|trial| trial.ops == 0) {
        "nothing completed"
    } else {
        "an older diskfacts stored it"
    };
    format!("has no latencies over time of {stage}: {why}")
}

/// `trial 3 of 5`.
pub(crate) fn which(trial: &Trial, trials: &[&Trial]) -> String {
    match trials.len() {
        1 => "its only trial".to_owned(),
        many => format!("trial {} of {many}", trial.number),
    }
}

/// Draws the trial of this number of a stage, or the one most unlike the others; nothing
/// where none was asked for and none is known.
///
/// # Errors
/// What the run has not, and what in its place.
pub(super) fn write(
    page: &mut Page<'_>,
    run: &Run,
    figures: &StageFigures,
    number: Option<u32>,
    show: &str,
) -> Result<(), String> {
    let trials = trials(run, figures);
    let trial = match (chosen(&trials, number), number) {
        (Ok(trial), _) => trial,
        (Err(why), Some(_)) => return Err(why),
        (Err(_), None) => return Ok(()),
    };
    let Some(over_time) = &trial.latency_over_time else {
        return Err(not_stored(&[trial]));
    };
    let over_time = over_time.unpack();
    // Where the slowest operation completed.
    let slowest = |row: &usize| over_time.measured(*row, &trial.workload).quantile(1.0);
    let slowest = (0..over_time.rows()).rev().max_by_key(slowest).unwrap_or(0);
    let slowest_s = slowest as f64 * over_time.length_ns() as f64 / 1e9;
    let is_choice = number.is_none() && trials.len() > 1;
    let choice = if is_choice {
        ", the most unlike the others"
    } else {
        ""
    };
    let title = format!("Latency over time: {}{choice}", which(trial, &trials));
    page.heading(&title);
    draw(page, trial, &over_time);
    page.paragraph(0, Style::Plain, &heat::legend(page.look));
    let (number, trial) = if trials.len() > 1 {
        let number = if is_choice {
            "--trial N draws another. "
        } else {
            ""
        };
        (number, format!(" --trial {}", trial.number))
    } else {
        ("", String::new())
    };
    let stage = shell(&[stage_label(&figures.stage, &figures.settings)]);
    let ask = format!("{show} --stage {stage}{trial} --at {slowest_s}s");
    let text = format!("{number}What happened at a time: `{ask}`");
    page.paragraph(0, Style::Minor, &text);
    Ok(())
}

/// The heat map of a trial, the rate of each column under it, and the time.
fn draw(page: &mut Page<'_>, trial: &Trial, over_time: &LatencyOverTime) {
    let look = page.look;
    let (joined, wide) = heat::fitted(over_time.rows(), look);
    let rows: Vec<usize> = (0..over_time.rows()).collect();
    let columns: Vec<CoarseHistogram> = rows
        .chunks(joined)
        .map(|rows| {
            let mut column = CoarseHistogram::new();
            for row in rows {
                column.add(&over_time.measured(*row, &trial.workload));
            }
            column
        })
        .collect();
    for line in heat::lines(&columns, wide, look) {
        page.line(&line);
    }
    let length_s = over_time.length_ns() as f64 * joined as f64 / 1e9;
    let rates = rates(&columns, length_s, trial);
    let most = rates.iter().copied().fold(0.0, f64::max);
    let drawn: String = rates
        .iter()
        .flat_map(|rate| std::iter::repeat_n(eighth(*rate, most, look), wide))
        .collect();
    let side = if look.unicode { '│' } else { '|' };
    let label = heat::LABEL - 1;
    page.line(&format!("{:>label$} {side}{drawn}", "rate"));
    let end = look.duration((columns.len() as f64 * length_s * 1e9) as u64);
    let width = columns.len() * wide;
    let room = width
        .saturating_sub("0 s".len())
        .max(end.chars().count() + 1);
    page.line(&format!("{:label$}  0 s{end:>room$}", ""));
    let text = format!(
        "Each column is {}; the highest rate is {} operations/s.",
        look.duration((length_s * 1e9) as u64),
        three_digits(most)
    );
    page.paragraph(0, Style::Plain, &text);
}

/// Operations per second in each column, which is so many seconds long; the last ends with the
/// trial.
pub(crate) fn rates(columns: &[CoarseHistogram], length_s: f64, trial: &Trial) -> Vec<f64> {
    let rate = |(place, column): (usize, &CoarseHistogram)| {
        let left_s = trial.seconds - place as f64 * length_s;
        let seconds = if place + 1 == columns.len() && left_s > 0.0 {
            left_s.min(length_s)
        } else {
            length_s
        };
        column.count() as f64 / seconds
    };
    columns.iter().enumerate().map(rate).collect()
}

/// What happened from one time of a trial to another, nanoseconds from its start, in each
/// stage of this name: in the trial of this number, or the one most unlike the others.
///
/// # Errors
/// What the run has not, and what in its place, or why.
pub(super) fn at(
    page: &mut Page<'_>,
    run: &Run,
    figures: &StageFigures,
    number: Option<u32>,
    (from_ns, to_ns): (u64, u64),
) -> Result<(), String> {
    let trials = trials(run, figures);
    let trial = chosen(&trials, number)?;
    let moment = moment(trial, from_ns, to_ns).map_err(|why| match why {
        NoMoment::NotStored => not_stored(&[trial]),
        NoMoment::Beyond { end_ns } => format!(
            "has nothing of that time: trial {} of {} ended after {}",
            trial.number,
            trial.stage,
            page.look.duration(end_ns)
        ),
    })?;
    let title = format!(
        "{}, {}, from {} to {}",
        stage_label(&figures.stage, &figures.settings),
        which(trial, &trials),
        time(moment.from_ns),
        time(moment.to_ns)
    );
    if !page.is_empty() {
        page.blank();
    }
    page.paragraph(0, Style::Heading, &title);
    page.blank();
    table(page, &moment);
    page.blank();
    let is_virtual = trial.evidence.clock.source == "virtual";
    for text in beside(&moment, is_virtual, page.look) {
        page.paragraph(0, Style::Plain, &text);
    }
    Ok(())
}

/// A time of a trial: `7.24 s`.
fn time(ns: u64) -> String {
    format!("{:.2} s", ns as f64 / 1e9)
}

/// The figures of that time, and of the rest of the trial.
fn table(page: &mut Page<'_>, moment: &Moment) {
    let look = page.look;
    let line = |page: &mut Page<'_>, name: &str, cells: [&str; 3]| {
        let pad = |text: &str| {
            let used = text.chars().count();
            format!("{text}{}", " ".repeat(COLUMN.saturating_sub(used).max(1)))
        };
        let cells: String = cells.into_iter().map(pad).collect();
        page.line(&format!("{}{cells}", pad(name)));
    };
    line(page, "", ["then", "rest of trial", ""]);
    let (then, rest) = (&moment.then, &moment.rest);
    let counts = [then, rest].map(|part| grouped(&part.count().to_string()));
    line(page, "operations", [&counts[0], &counts[1], ""]);
    let per_second =
        |part: &CoarseHistogram, ns: u64| (ns > 0).then(|| part.count() as f64 * 1e9 / ns as f64);
    let rates = (
        per_second(then, moment.to_ns - moment.from_ns),
        per_second(rest, moment.rest_ns),
    );
    let said = |rate: Option<f64>| rate.map_or_else(|| "-".to_owned(), three_digits);
    let change = ratio(rates.0, rates.1);
    line(
        page,
        "per second",
        [&said(rates.0), &said(rates.1), &change],
    );
    for (name, quantile) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)] {
        let of = |part: &CoarseHistogram| part.supported_quantile(quantile);
        latency(page, name, (of(then), of(rest)), look, &line);
    }
    let slowest = |part: &CoarseHistogram| part.quantile(1.0);
    latency(page, "slowest", (slowest(then), slowest(rest)), look, &line);
}

fn latency(
    page: &mut Page<'_>,
    name: &str,
    (then, rest): (Option<u64>, Option<u64>),
    look: &Look,
    line: &impl Fn(&mut Page<'_>, &str, [&str; 3]),
) {
    let said = |ns: Option<u64>| ns.map_or_else(|| "-".to_owned(), |ns| look.duration(ns));
    if then.is_some() || rest.is_some() {
        let change = ratio(then.map(|ns| ns as f64), rest.map(|ns| ns as f64));
        line(page, name, [&said(then), &said(rest), &change]);
    }
}

/// How many times the rest it is: `x 12`, `/ 3.4`; nothing where they differ by less than a
/// bucket's width.
fn ratio(then: Option<f64>, rest: Option<f64>) -> String {
    let (Some(then), Some(rest)) = (then, rest) else {
        return String::new();
    };
    if then <= 0.0 || rest <= 0.0 {
        return String::new();
    }
    let times = then / rest;
    match times {
        _ if times >= 1.15 => format!("x {}", three_digits(times)),
        _ if times <= 1.0 / 1.15 => format!("/ {}", three_digits(1.0 / times)),
        _ => String::new(),
    }
}

/// What else is known of that time.
fn beside(moment: &Moment, is_virtual: bool, look: &Look) -> Vec<String> {
    let mut said = Vec::new();
    for stall in &moment.stalls {
        said.push(format!(
            "Nothing completed for {} from {} on.",
            look.duration(stall.ns),
            time(stall.begins_ns)
        ));
    }
    for pause in moment.pauses.iter().flatten() {
        said.push(format!(
            "This process did not run for {} from {} on: it was stopped, or the machine was.",
            look.duration(pause.ns),
            time(pause.begins_ns)
        ));
    }
    if moment.stalls.is_empty() {
        said.push("No stall in that time.".to_owned());
    }
    match &moment.pauses {
        // Virtual time does not pass in a pause.
        None if is_virtual => {}
        None => said.push("Whether this process was paused is not known.".to_owned()),
        Some(pauses) if pauses.is_empty() => said.push("This process was not paused.".to_owned()),
        Some(_) => {}
    }
    said.push(format!(
        "Latencies are within 6 %, times within an interval of {}. What devices and the kernel \
         counted is known of the whole trial only.",
        look.duration(moment.length_ns)
    ));
    said
}
