//! The arguments of `diskfacts readahead`.

use clap::Args;
use diskfacts_plan::units;
use std::ffi::OsString;
use std::path::PathBuf;

/// Trace read-ahead: patterns, windows, pages used and wasted
///
/// Of every process that reads the target. Needs root and Linux 6.18; --from explains
/// a trace recorded elsewhere and needs neither.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sudo diskfacts readahead /srv/film.mkv        this file, for 10 s
  sudo diskfacts readahead /dev/sdb --time 1m   a disk and its filesystems
  sudo diskfacts readahead /srv -- cp -r /srv/a /tmp
                                                until the command ends
  diskfacts readahead --from trace.txt --trace  a trace of another machine")]
pub(crate) struct ReadaheadArgs {
    /// A file; a folder: its whole filesystem; a block device: the filesystems on it
    #[arg(value_name = "TARGET", required_unless_present = "from")]
    pub(crate) target: Option<PathBuf>,
    /// How long: 30s, 5m [default: 10s, or until the command ends]
    #[arg(long, value_name = "DURATION", value_parser = time, allow_hyphen_values = true)]
    pub(crate) time: Option<u64>,
    /// Print each decision first, in the format of the kernel patch of 2009
    #[arg(long, conflicts_with = "json")]
    pub(crate) trace: bool,
    /// Read the events from a file: a copy of /sys/kernel/tracing/trace, or the
    /// output of trace-cmd report
    #[arg(long, value_name = "FILE", conflicts_with_all = ["target", "time", "command"])]
    pub(crate) from: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// A command to run; tracing ends with it
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

fn time(text: &str) -> Result<u64, String> {
    match units::parse_duration(text) {
        Ok(0) => Err("nothing is read in no time; 10s is usual".to_owned()),
        Ok(ns) => Ok(ns),
        Err(error) => Err(error.to_string()),
    }
}
