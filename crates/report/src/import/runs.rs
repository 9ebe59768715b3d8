//! Documents to runs: one run for each format of a document.

mod devices;
mod strided;
mod trials;

use super::devices::of as devices_of;
use super::row::{Format, Measured, Row};
use super::{Document, Note};
use crate::formats::{readahead, write_matrix};
use diskfacts_plan::{CacheMode, Plan, Stage, Until};
use diskfacts_record::evidence::EngineEvidence;
use diskfacts_record::run::{Reading, Source};
use diskfacts_record::{
    Evidence, Labels, Machine, Membership, Run, RunInfo, SCHEMA, Stack, Status, Target, TargetKind,
    Trial, Unseen,
};
use std::collections::{BTreeMap, HashMap};
use trials::Made;

/// What the importing program knows of itself and of the file.
#[derive(Debug, Clone)]
pub struct Origin {
    /// Name of the file as it was given.
    pub file: String,
    /// When it was imported, RFC 3339, UTC.
    pub started: String,
    /// Version of diskfacts.
    pub tool_version: String,
    /// The command, word by word.
    pub command: Vec<String>,
}

/// The runs of a document, in the order of [`Format::ALL`], their figures not
/// yet worked out; `id` gives each its name. Each has the notes on the lines of its
/// rows. A note on a line without a row is with the row above it, and one above all
/// rows with the first; what was left out is said in all of them.
pub fn of(document: &Document, origin: &Origin, id: impl FnMut() -> String) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut formats: Vec<Format> = Vec::new();
    for format in Format::ALL {
        let rows: Vec<&Row> = document
            .rows
            .iter()
            .filter(|r| r.format == format)
            .collect();
        if !rows.is_empty() {
            runs.push(run(format, &rows, origin));
            formats.push(format);
        }
    }
    for note in &document.notes {
        let of = format_of(document, note.line);
        let place = of.and_then(|of| formats.iter().position(|format| *format == of));
        if let Some(run) = place.and_then(|place| runs.get_mut(place)) {
            run.run.notes.push(sentence(note));
        }
    }
    for run in &mut runs {
        run.run.notes.extend(left_out(document));
    }
    name(&mut runs, id);
    runs
}

/// The format that a note on a line is about; `None` without any row.
fn format_of(document: &Document, line: u64) -> Option<Format> {
    // Rows are in the order of their lines.
    let behind = document.rows.partition_point(|row| row.line <= line);
    let row = document.rows.get(behind.saturating_sub(1))?;
    // A line may have rows of several formats; the first run has its notes then.
    let mut of_line = document.rows[..behind].iter().rev();
    let is_here = |row: &&Row| row.line == line;
    let first = of_line.by_ref().take_while(is_here).map(|row| row.format);
    Some(first.min().unwrap_or(row.format))
}

/// A note as a sentence that names its line.
fn sentence(note: &Note) -> String {
    format!("Line {}: {}", note.line, note.text)
}

/// What was not kept of a document, a sentence each.
pub fn left_out(document: &Document) -> Vec<String> {
    let mut said = Vec::new();
    if document.notes_left_out > 0 {
        said.push(format!(
            "{} more notes are left out: {} of a document are kept.",
            document.notes_left_out,
            super::NOTES_MAX
        ));
    }
    if document.rows_left_out > 0 {
        said.push(format!(
            "{} more rows were not read: {} of a document are kept. Split it.",
            document.rows_left_out,
            super::ROWS_MAX
        ));
    }
    said
}

/// Gives the runs of a document their names, each of them all.
pub fn name(runs: &mut [Run], mut id: impl FnMut() -> String) {
    for run in runs.iter_mut() {
        run.run.id = id();
    }
    let together: Vec<String> = runs.iter().map(|run| run.run.id.clone()).collect();
    for run in runs {
        if let Some(source) = &mut run.run.source {
            source.runs.clone_from(&together);
        }
    }
}

/// The stages and repeats of a run so far, so that each row is looked up and not
/// compared with all before it: a document may have 100,000.
#[derive(Default)]
struct Places {
    /// Trials of each name and settings.
    trials: HashMap<String, BTreeMap<BTreeMap<String, String>, usize>>,
}

impl Places {
    /// Whether the run has no stage yet that a trial belongs to: one of its name,
    /// and in a matrix one of its settings too.
    fn is_new(&self, made: &Made) -> bool {
        match self.trials.get(&made.name) {
            None => true,
            Some(cells) => made.cell && !cells.contains_key(&made.settings),
        }
    }

    /// Which repeat of its stage and settings a trial is, from 1; it is counted.
    fn number(&mut self, made: &Made) -> usize {
        let cells = self.trials.entry(made.name.clone()).or_default();
        let number = cells.entry(made.settings.clone()).or_default();
        *number += 1;
        *number
    }
}

/// A run that has no name yet.
fn run(format: Format, rows: &[&Row], origin: &Origin) -> Run {
    let mut stages: Vec<Stage> = Vec::new();
    let mut trials: Vec<Trial> = Vec::new();
    let mut readings = Vec::new();
    let mut places = Places::default();
    for row in rows {
        let made = trials::of(row);
        if made.is_empty() || row.is_of_device() {
            readings.push(reading(row));
        }
        for made in made {
            if places.is_new(&made) {
                stages.push(made.stage(format));
            }
            let number = places.number(&made);
            trials.push(trial(made, number, trials.len() + 1));
        }
    }
    // A strided line says how much of the file or device it was about.
    let strided = trials.iter().filter_map(|trial| trial.workload.span);
    let size_bytes = strided.max().unwrap_or(0);
    let target = Target {
        given: targets(rows).unwrap_or_else(|| origin.file.clone()),
        path: origin.file.clone(),
        kind: TargetKind::Imported,
        size_bytes,
        writable: false,
        obstacles: Vec::new(),
        extents: None,
        direct: None,
    };
    Run {
        schema: SCHEMA,
        run: RunInfo {
            id: String::new(),
            started: origin.started.clone(),
            ended: Some(origin.started.clone()),
            tool_version: origin.tool_version.clone(),
            command: origin.command.clone(),
            status: Status::Complete,
            seed: 0,
            budget_ns: None,
            overhead_ns_per_io: None,
            notes: Vec::new(),
            source: Some(Source {
                file: origin.file.clone(),
                format: format.name().to_owned(),
                first_line: rows.iter().map(|row| row.line).min().unwrap_or(0),
                last_line: rows.iter().map(|row| row.line).max().unwrap_or(0),
                rows: rows.len() as u64,
                runs: Vec::new(),
                readings,
            }),
            labels: Labels::default(),
            membership: Membership::default(),
        },
        machine: Machine::default(),
        target,
        stack: Stack {
            unseen: vec![Unseen {
                what: "machine, stack, layers and evidence".to_owned(),
                why: "a document of another program does not have them; of what was done it is \
                      known what the names and settings of the stages say"
                    .to_owned(),
            }],
            ..Stack::default()
        },
        plan: Plan {
            name: format!("imported-{}", format.name()),
            about: format!("Read from a document: {}", format.about()),
            trials: trials.iter().map(|trial| trial.number).max().unwrap_or(1),
            time_ns: None,
            until: Until::default(),
            choose: Vec::new(),
            precondition: Vec::new(),
            stages,
        },
        preconditioning: Vec::new(),
        trials,
        claim_tests: Vec::new(),
        health_after: None,
        together: None,
        figures: Vec::new(),
        findings: Vec::new(),
        limits: Vec::new(),
        effects: Vec::new(),
        verdicts: Vec::new(),
    }
}

/// What was measured, where all rows name the same.
fn targets(rows: &[&Row]) -> Option<String> {
    let name = |row: &Row| match &row.measured {
        Measured::WriteMatrix(write_matrix::Row { target, .. }) => Some(target.clone()),
        Measured::Hdparm(_) => row.settings.get("target").cloned(),
        _ => None,
    };
    let first = name(rows.first()?)?;
    rows.iter()
        .all(|row| name(row).as_ref() == Some(&first))
        .then_some(first)
}

fn trial(made: Made, number: usize, order: usize) -> Trial {
    let direct = made.workload.cache == CacheMode::Direct;
    Trial {
        stage: made.name,
        number: u32::try_from(number).unwrap_or(u32::MAX),
        order: u32::try_from(order).unwrap_or(u32::MAX),
        settings: made.settings,
        unsaid: made.unsaid.iter().map(|key| (*key).to_owned()).collect(),
        line: Some(made.line),
        workload: made.workload,
        seconds: made.seconds,
        bytes: made.bytes,
        ops: made.operations,
        errors: 0,
        throughput_bytes_per_s: made.bytes_per_s,
        iops: made.iops,
        latency_ns: made.latency.unwrap_or_default(),
        latency_read_ns: None,
        latency_write_ns: None,
        latency_service_ns: None,
        layers: diskfacts_record::Layers::default(),
        cpu: diskfacts_record::Cpu {
            busiest_thread: made.processor_share,
            ..diskfacts_record::Cpu::default()
        },
        evidence: Evidence {
            engine: EngineEvidence {
                // The document says so: nothing was refused.
                direct,
                ..EngineEvidence::default()
            },
            ..Evidence::default()
        },
        latency_over_time: None,
        histograms: diskfacts_record::PackedHistograms::default(),
    }
}

fn reading(row: &Row) -> Reading {
    let pairs: Vec<(&str, f64)> = match &row.measured {
        Measured::Trace(trace) => trace_values(trace),
        Measured::Statistics(table) => table_values(table),
        Measured::Quoted(value, unit) => vec![(unit.as_str(), *value)],
        measured => devices_of(measured).map_or_else(Vec::new, |requests| requests.values()),
    };
    Reading {
        line: row.line,
        text: row.text.clone(),
        values: pairs
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect::<BTreeMap<_, _>>(),
    }
}

fn trace_values(trace: &readahead::Trace) -> Vec<(&'static str, f64)> {
    vec![
        ("pid", trace.pid as f64),
        ("request_page", trace.request_page as f64),
        ("request_pages", trace.request_pages as f64),
        ("start_page", trace.start_page as f64),
        ("size_pages", trace.size_pages as f64),
        ("async_size_pages", trace.async_pages as f64),
        ("async", f64::from(u8::from(trace.asynchronous))),
        ("actual_pages", trace.actual_pages as f64),
    ]
}

/// Without those that are not known.
fn table_values(table: &readahead::Statistics) -> Vec<(&'static str, f64)> {
    const NAMES: [&str; 6] = [
        "count",
        "sync_count",
        "eof_count",
        "size_pages",
        "async_size_pages",
        "actual_pages",
    ];
    let known = |(name, number): (_, Option<u64>)| Some((name, number? as f64));
    NAMES
        .into_iter()
        .zip(table.numbers())
        .filter_map(known)
        .collect()
}
