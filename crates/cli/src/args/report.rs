//! The arguments of `diskfacts report`.

use super::FilterArgs;
use clap::{Args, ValueEnum};
use diskfacts_record::membership;
use std::path::PathBuf;

/// Write runs as one HTML page with charts, to hand over
///
/// The page is one file that loads nothing and needs no script: mail it, print it,
/// open it anywhere. Several runs are drawn over each other, then each is whole.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diskfacts report -o run.html                  the last run
  diskfacts report before after -o both.html    two runs over each other
  diskfacts report web1.dfrun -o web1.html      runs of another machine
  diskfacts report --compare before after       what changed
  diskfacts report --advise last last~1         which of them to take
  diskfacts report --together results/*.dfrun   hosts that measured together
  diskfacts report --compare fleet/@monday fleet/@today   two groups of a fleet
  diskfacts report --since 30d --target /srv    trends, and what changed when")]
pub(crate) struct ReportArgs {
    /// `last`, or `last~1` for the one before; names, ids, or beginnings of ids; or
    /// files: FILE.dfrun, or printed with --json [default: last]
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    /// What changed between two sides, A and B, which `compare --help` describes
    #[arg(long)]
    pub(crate) compare: bool,
    /// Which of the volumes or settings of these runs to take, as `advise` says it
    #[arg(long, conflicts_with = "compare")]
    pub(crate) advise: bool,
    /// Advise for this use (`measure --help` lists them)
    #[arg(long = "for", value_name = "USE", requires = "advise")]
    pub(crate) usage: Option<String>,
    /// The file; `-` is standard output [default: diskfacts-ID.html, or of what it
    /// is]. A report that is there already is replaced
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file even if it is no report
    #[arg(long)]
    pub(crate) overwrite: bool,
    #[command(flatten, next_help_heading = "Hosts that measured together")]
    pub(crate) hosts: HostsArgs,
    #[command(flatten, next_help_heading = "Trends, over all stored runs that match")]
    pub(crate) narrowed: FilterArgs,
}

/// Whether the page is of hosts that measured together, and of which.
#[derive(Debug, Args)]
pub(crate) struct HostsArgs {
    /// Runs of hosts that measured together, added up as `together` does it
    #[arg(long, conflicts_with_all = ["compare", "advise", "target", "since", "plan", "name", "tags", "host"])]
    pub(crate) together: bool,
    /// Only runs of this group; without RUN those that are stored
    #[arg(long, value_name = "NAME", value_parser = membership::group, allow_hyphen_values = true, requires = "together")]
    pub(crate) group: Option<String>,
    /// How many hosts there were
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), allow_hyphen_values = true, requires = "together")]
    pub(crate) expect: Option<u32>,
    /// The format [default: html]
    #[arg(long, value_name = "FORMAT", requires = "together")]
    pub(crate) format: Option<HostsFormat>,
}

/// What a report of hosts that measured together is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HostsFormat {
    /// A page, with charts
    Html,
    /// Tables, for the summary of a job or a comment
    Markdown,
}
