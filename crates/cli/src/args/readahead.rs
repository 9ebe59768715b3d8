//! The arguments of `diskfacts readahead`.

use clap::Args;
use diskfacts_plan::units;
use std::ffi::OsString;
use std::path::PathBuf;

/// Watch what the kernel's read-ahead decides: which pattern it sees, how large its
/// windows are, and what became of the pages.
///
/// Whoever reads is watched. Linux 6.18 or later, as root; --from reads what another
/// machine recorded, and needs neither.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sudo diskfacts readahead /srv/film.mkv           who reads this file, for 10 s
  sudo diskfacts readahead /dev/sdb --time 1m      a disk, with all filesystems on it
  sudo diskfacts readahead /srv -- cp -r /srv/a /tmp   until the command ends
  diskfacts readahead --from trace.txt --trace     a trace of another machine")]
pub(crate) struct ReadaheadArgs {
    /// A file; a folder, for its whole filesystem; or a block device, with the
    /// filesystems on it
    #[arg(value_name = "TARGET", required_unless_present = "from")]
    pub(crate) target: Option<PathBuf>,
    /// How long to watch: 30s, 5m [default: 10s; with a command until it ends]
    #[arg(long, value_name = "DURATION", value_parser = time, allow_hyphen_values = true)]
    pub(crate) time: Option<u64>,
    /// Print each decision first, in the lines of the patch of 2009
    #[arg(long, conflicts_with = "json")]
    pub(crate) trace: bool,
    /// Read the events from a text: a copy of /sys/kernel/tracing/trace, or what
    /// trace-cmd report prints
    #[arg(long, value_name = "FILE", conflicts_with_all = ["target", "time", "command"])]
    pub(crate) from: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// A command to run, and to watch until it ends
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
