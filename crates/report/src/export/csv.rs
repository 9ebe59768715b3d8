//! Tables of comma-separated values (RFC 4180), one row per thing, one column per quantity.
//!
//! A cell without a value is empty. A text that a spreadsheet would take for a formula, because
//! it begins with `=`, `+`, `-`, `@`, or their wide forms, has an apostrophe before it, and so
//! has one that begins with an apostrophe (OWASP, "CSV Injection"); the text is what follows the
//! first apostrophe. Numbers are numbers, with a sign where they have one.

use super::clean;
use csv::{Terminator, WriterBuilder};
use diskfacts_record::{Latency, Run, StageFigures, Trial};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// What the rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// Stages under a combination of settings, with their figures: the columns of the view
    /// `stage_figures` of the store.
    Stages,
    /// Trials.
    Trials,
    /// Intervals of trials.
    Intervals,
    /// Buckets of the latency distributions of trials.
    Bins,
}

impl Table {
    /// Names of its columns.
    pub fn columns(self) -> Vec<&'static str> {
        match self {
            Self::Stages => names(&stages_columns()),
            Self::Trials => names(&trials_columns()),
            Self::Intervals => names(&intervals_columns()),
            Self::Bins => names(&bins_columns()),
        }
    }
}

/// Writes one table, run after run; it keeps none of them.
pub struct Csv<W: Write> {
    table: Table,
    writer: csv::Writer<W>,
}

impl<W: Write> Csv<W> {
    /// Begins with the names of the columns.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(out: W, table: Table) -> io::Result<Self> {
        let mut builder = WriterBuilder::new();
        let mut writer = builder.terminator(Terminator::Any(b'\n')).from_writer(out);
        writer.write_record(table.columns())?;
        Ok(Self { table, writer })
    }

    /// Appends the rows of a run.
    ///
    /// # Errors
    /// Those of the output.
    pub fn run(&mut self, run: &Run) -> io::Result<()> {
        let writer = &mut self.writer;
        match self.table {
            Table::Stages => {
                let rows = run.figures.iter().map(|figures| StageRow { run, figures });
                write(writer, &stages_columns(), rows)
            }
            Table::Trials => {
                let rows = run.trials.iter().map(|trial| TrialRow { run, trial });
                write(writer, &trials_columns(), rows)
            }
            Table::Intervals => write(
                writer,
                &intervals_columns(),
                run.trials.iter().flat_map(|trial| {
                    let operations = trial.evidence.intervals.operations.iter();
                    (1..)
                        .zip(operations)
                        .map(move |(number, operations)| IntervalRow {
                            run,
                            trial,
                            number,
                            operations: *operations,
                        })
                }),
            ),
            Table::Bins => {
                let trials = run.trials.iter();
                write(
                    writer,
                    &bins_columns(),
                    trials.flat_map(|trial| bins(run, trial)),
                )
            }
        }
    }

    /// Writes what is left, and gives back where it went.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(self) -> io::Result<W> {
        self.writer
            .into_inner()
            .map_err(csv::IntoInnerError::into_error)
    }
}

fn write<W: Write, R>(
    writer: &mut csv::Writer<W>,
    columns: &[Column<R>],
    rows: impl Iterator<Item = R>,
) -> io::Result<()> {
    for row in rows {
        for (_, cell) in columns {
            writer.write_field(cell(&row).text())?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    Ok(())
}

/// Name of a column, and its cell in a row.
type Column<R> = (&'static str, fn(&R) -> Cell);

fn names<R>(columns: &[Column<R>]) -> Vec<&'static str> {
    columns.iter().map(|(name, _)| *name).collect()
}

enum Cell {
    Empty,
    /// From us or from anywhere.
    Text(String),
    Integer(u64),
    Number(f64),
}

impl Cell {
    fn text(self) -> String {
        match self {
            Self::Number(number) if number.is_finite() => number.to_string(),
            Self::Empty | Self::Number(_) => String::new(),
            Self::Integer(number) => number.to_string(),
            Self::Text(text) => guarded(&text),
        }
    }
}

/// A text that no spreadsheet takes for a formula.
fn guarded(text: &str) -> String {
    let clean = clean(text);
    let is_formula = clean.starts_with(['=', '+', '-', '@', '\'', '＝', '＋', '－', '＠']);
    if is_formula {
        format!("'{clean}")
    } else {
        clean.into_owned()
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        Self::Integer(number)
    }
}

impl From<u32> for Cell {
    fn from(number: u32) -> Self {
        Self::Integer(number.into())
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Empty, Into::into)
    }
}

/// What was varied, as an object of JSON.
fn settings(settings: &BTreeMap<String, String>) -> Cell {
    let clean = settings
        .iter()
        .map(|(key, value)| (clean(key), clean(value)));
    // A map of texts to texts has a form in JSON.
    serde_json::to_string(&clean.collect::<BTreeMap<_, _>>())
        .ok()
        .into()
}

struct StageRow<'a> {
    run: &'a Run,
    figures: &'a StageFigures,
}

/// As `docs/reference/sql.md` has them.
fn stages_columns<'a>() -> Vec<Column<StageRow<'a>>> {
    vec![
        ("run", |row| row.run.run.id.as_str().into()),
        ("name", |row| row.run.run.labels.name.as_deref().into()),
        ("tags", |row| tags(row.run)),
        ("note", |row| row.run.run.labels.note.as_deref().into()),
        ("started", |row| row.run.run.started.as_str().into()),
        ("status", |row| status(row.run)),
        ("host", |row| row.run.machine.host.as_deref().into()),
        ("target", |row| row.run.target.given.as_str().into()),
        ("target_path", |row| row.run.target.path.as_str().into()),
        ("plan", |row| row.run.plan.name.as_str().into()),
        ("stage", |row| row.figures.stage.as_str().into()),
        ("settings", |row| settings(&row.figures.settings)),
        ("trials", |row| row.figures.iops.trials.into()),
        ("errors", |row| row.figures.errors.into()),
        ("throughput_bytes_per_s", |row| {
            row.figures.throughput_bytes_per_s.median.into()
        }),
        ("throughput_bytes_per_s_min", |row| {
            row.figures.throughput_bytes_per_s.min.into()
        }),
        ("throughput_bytes_per_s_max", |row| {
            row.figures.throughput_bytes_per_s.max.into()
        }),
        ("throughput_bytes_per_s_ci95_low", |row| {
            row.figures
                .throughput_bytes_per_s
                .ci95
                .map(|[low, _]| low)
                .into()
        }),
        ("throughput_bytes_per_s_ci95_high", |row| {
            row.figures
                .throughput_bytes_per_s
                .ci95
                .map(|[_, high]| high)
                .into()
        }),
        ("iops", |row| row.figures.iops.median.into()),
        ("iops_min", |row| row.figures.iops.min.into()),
        ("iops_max", |row| row.figures.iops.max.into()),
        ("iops_ci95_low", |row| {
            row.figures.iops.ci95.map(|[low, _]| low).into()
        }),
        ("iops_ci95_high", |row| {
            row.figures.iops.ci95.map(|[_, high]| high).into()
        }),
        ("latency_samples", |row| {
            row.figures.latency_ns.samples.into()
        }),
        ("latency_mean_ns", |row| row.figures.latency_ns.mean.into()),
        ("latency_p50_ns", |row| row.figures.latency_ns.p50.into()),
        ("latency_p90_ns", |row| row.figures.latency_ns.p90.into()),
        ("latency_p99_ns", |row| row.figures.latency_ns.p99.into()),
        ("latency_p99_9_ns", |row| {
            row.figures.latency_ns.p99_9.into()
        }),
        ("latency_p99_99_ns", |row| {
            row.figures.latency_ns.p99_99.into()
        }),
        ("latency_max_ns", |row| row.figures.latency_ns.max.into()),
        ("page_cache_share", |row| {
            row.figures.layers.page_cache.into()
        }),
        ("device_share", |row| row.figures.layers.device.into()),
        ("cpu_user_ns_per_io", |row| {
            row.figures.cpu_user_ns_per_io.into()
        }),
        ("cpu_system_ns_per_io", |row| {
            row.figures.cpu_system_ns_per_io.into()
        }),
        ("cpu_share", |row| row.figures.cpu_share.into()),
        ("tool_version", |row| {
            row.run.run.tool_version.as_str().into()
        }),
    ]
}

fn tags(run: &Run) -> Cell {
    let tags: Vec<&str> = run.run.labels.tags.iter().map(String::as_str).collect();
    tags.join(" ").into()
}

fn status(run: &Run) -> Cell {
    match run.run.status {
        diskfacts_record::Status::Running => "running",
        diskfacts_record::Status::Complete => "complete",
        diskfacts_record::Status::Interrupted => "interrupted",
        diskfacts_record::Status::Failed => "failed",
    }
    .into()
}

struct TrialRow<'a> {
    run: &'a Run,
    trial: &'a Trial,
}

impl TrialRow<'_> {
    fn latency(&self) -> &Latency {
        &self.trial.latency_ns
    }

    /// A figure that an import may not know is no number then, and its counts are none.
    fn known(&self, key: &str, value: u64) -> Cell {
        let is_unsaid = self.trial.unsaid.iter().any(|unsaid| unsaid == key);
        (!is_unsaid).then_some(value).into()
    }
}

fn trials_columns<'a>() -> Vec<Column<TrialRow<'a>>> {
    vec![
        ("run", |row| row.run.run.id.as_str().into()),
        ("stage", |row| row.trial.stage.as_str().into()),
        ("settings", |row| settings(&row.trial.settings)),
        ("trial", |row| row.trial.number.into()),
        ("order", |row| row.trial.order.into()),
        ("seconds", |row| row.trial.seconds.into()),
        ("bytes", |row| row.known("bytes", row.trial.bytes)),
        ("operations", |row| row.known("ops", row.trial.ops)),
        ("errors", |row| row.trial.errors.into()),
        ("throughput_bytes_per_s", |row| {
            row.trial.throughput_bytes_per_s.into()
        }),
        ("iops", |row| row.trial.iops.into()),
        ("latency_samples", |row| row.latency().samples.into()),
        ("latency_min_ns", |row| row.latency().min.into()),
        ("latency_mean_ns", |row| row.latency().mean.into()),
        ("latency_p50_ns", |row| row.latency().p50.into()),
        ("latency_p90_ns", |row| row.latency().p90.into()),
        ("latency_p99_ns", |row| row.latency().p99.into()),
        ("latency_p99_9_ns", |row| row.latency().p99_9.into()),
        ("latency_p99_99_ns", |row| row.latency().p99_99.into()),
        ("latency_max_ns", |row| row.latency().max.into()),
        ("page_cache_share", |row| row.trial.layers.page_cache.into()),
        ("device_share", |row| row.trial.layers.device.into()),
        ("cpu_user_ns_per_io", |row| {
            row.trial.cpu.user_ns_per_io.into()
        }),
        ("cpu_system_ns_per_io", |row| {
            row.trial.cpu.system_ns_per_io.into()
        }),
        ("mean_depth", |row| {
            row.trial.evidence.engine.mean_depth.into()
        }),
    ]
}

struct IntervalRow<'a> {
    run: &'a Run,
    trial: &'a Trial,
    number: u64,
    operations: u64,
}

impl IntervalRow<'_> {
    fn begins_ns(&self) -> u64 {
        let length_ns = self.trial.evidence.intervals.length_ns;
        length_ns.saturating_mul(self.number - 1)
    }

    /// The last one ends with the trial.
    fn ends_ns(&self) -> u64 {
        let length_ns = self.trial.evidence.intervals.length_ns;
        let to_ns = length_ns.saturating_mul(self.number);
        let is_last = self.number == self.trial.evidence.intervals.operations.len() as u64;
        let end_ns = (self.trial.seconds * 1e9) as u64;
        if is_last && end_ns > self.begins_ns() {
            to_ns.min(end_ns)
        } else {
            to_ns
        }
    }
}

fn intervals_columns<'a>() -> Vec<Column<IntervalRow<'a>>> {
    vec![
        ("run", |row| row.run.run.id.as_str().into()),
        ("stage", |row| row.trial.stage.as_str().into()),
        ("settings", |row| settings(&row.trial.settings)),
        ("trial", |row| row.trial.number.into()),
        ("order", |row| row.trial.order.into()),
        ("interval", |row| row.number.into()),
        ("from_ns", |row| row.begins_ns().into()),
        ("to_ns", |row| row.ends_ns().into()),
        ("operations", |row| row.operations.into()),
    ]
}

struct BinRow<'a> {
    run: &'a Run,
    trial: &'a Trial,
    latency: &'static str,
    bin: (u64, u64, u64),
}

fn bins<'a>(run: &'a Run, trial: &'a Trial) -> impl Iterator<Item = BinRow<'a>> {
    let histograms = &trial.histograms;
    let service = histograms.service.as_ref();
    let kinds = [
        ("read", Some(&histograms.read)),
        ("write", Some(&histograms.write)),
        ("service", service),
    ];
    kinds.into_iter().flat_map(move |(latency, packed)| {
        let bins = packed.map(diskfacts_record::Packed::buckets);
        bins.unwrap_or_default().into_iter().map(move |bin| BinRow {
            run,
            trial,
            latency,
            bin,
        })
    })
}

fn bins_columns<'a>() -> Vec<Column<BinRow<'a>>> {
    vec![
        ("run", |row| row.run.run.id.as_str().into()),
        ("stage", |row| row.trial.stage.as_str().into()),
        ("settings", |row| settings(&row.trial.settings)),
        ("trial", |row| row.trial.number.into()),
        ("order", |row| row.trial.order.into()),
        ("latency", |row| row.latency.into()),
        ("from_ns", |row| row.bin.0.into()),
        ("to_ns", |row| row.bin.1.into()),
        ("operations", |row| row.bin.2.into()),
    ]
}
