//! The arguments of `diskfacts export`.

use super::runs::FilterArgs;
use clap::{Args, ValueEnum};
use diskfacts_report::export::csv;
use std::path::PathBuf;

/// Write runs for other tools: CSV, metrics, histograms, traces
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diskfacts export last --format csv -o last.csv
  diskfacts export --all --format csv --table trials | duckdb ...
  diskfacts export --format hgrm --stage random-read-qd1 > qd1.hgrm
  diskfacts export --all --format openmetrics --overwrite \\
      -o /var/lib/prometheus/node-exporter/diskfacts.prom")]
pub(crate) struct ExportArgs {
    /// The runs: `last`, names, ids, beginnings of ids, or files: FILE.dfrun, or
    /// printed with --json=full [default: last]
    #[arg(value_name = "RUN", conflicts_with_all = ["all", "target", "since", "name", "tags", "host"])]
    pub(crate) runs: Vec<String>,
    /// The format
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Format,
    /// What the rows of a CSV are [default: stages]
    #[arg(long, value_name = "TABLE")]
    pub(crate) table: Option<Table>,
    /// Only this stage; repeatable
    #[arg(long = "stage", value_name = "NAME")]
    pub(crate) stages: Vec<String>,
    /// The file; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// All stored runs
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
}

/// A format of another tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table, for spreadsheets and data frames
    Csv,
    /// Metrics, for the node exporter's textfile collector
    Openmetrics,
    /// Percentiles of one stage, for `HdrHistogram`'s plotter
    Hgrm,
    /// Distributions of the trials, for `HdrHistogram`'s log tools
    Hlog,
    /// Single requests, for ui.perfetto.dev
    Perfetto,
}

/// What the rows of a CSV are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Table {
    /// Stages, with their figures
    Stages,
    /// Trials
    Trials,
    /// Intervals of trials, with their operations
    Intervals,
    /// Buckets of the latency distributions of trials
    Bins,
}

impl From<Table> for csv::Table {
    fn from(table: Table) -> Self {
        match table {
            Table::Stages => Self::Stages,
            Table::Trials => Self::Trials,
            Table::Intervals => Self::Intervals,
            Table::Bins => Self::Bins,
        }
    }
}
