//! The arguments of `diskfacts iostat`.

use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};
use diskfacts_plan::units;

/// Show device rates, in iostat's columns
///
/// Of the whole machine: reads and writes per second, their size and wait, the queue,
/// how busy the device is. The first report covers the time since boot, each further
/// one the interval since the last.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
#[command(after_help = "\
Examples:
  diskfacts iostat 1                 a report each second, until Ctrl-C
  diskfacts iostat sda sdb -y 5 3    three reports of two disks, 5 s each
  diskfacts iostat 1 --style linux   sysstat's iostat -x 1, to the character
  diskfacts iostat --style json      sysstat's iostat -o JSON -x")]
pub(crate) struct IostatArgs {
    /// Devices: sda, /dev/sda1, a link in /dev/disk/by-id [default: all disks used
    /// since boot]; also, as in sysstat, an interval in seconds and a count
    #[arg(value_name = "DEVICE")]
    pub(crate) words: Vec<String>,
    /// Time between reports: 1s, 500ms [default: one report only]
    #[arg(long, value_name = "DURATION", value_parser = interval, allow_hyphen_values = true)]
    pub(crate) interval: Option<u64>,
    /// Number of reports [default: 1; with an interval until Ctrl-C]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u64>::new().range(1..))]
    pub(crate) count: Option<u64>,
    /// Whose columns
    #[arg(long, value_name = "STYLE", default_value = "facts")]
    pub(crate) style: IostatStyle,
    /// sysstat's report without -x: transfers and kilobytes (linux, json)
    #[arg(long)]
    pub(crate) basic: bool,
    /// Leave out the first report, which covers the time since boot
    #[arg(short = 'y', long)]
    pub(crate) skip_first: bool,
    /// Leave out the processor lines
    #[arg(short = 'd', long)]
    pub(crate) devices_only: bool,
    /// Include partitions
    #[arg(short = 'p', long)]
    pub(crate) partitions: bool,
    /// Include devices never used since boot
    #[arg(long)]
    pub(crate) all: bool,
    /// Show it on the full screen of a terminal, each second unless --interval says
    /// otherwise
    #[arg(long, conflicts_with_all = ["style", "basic", "skip_first"])]
    pub(crate) live: bool,
    /// Extended columns, which are printed anyway: for the hands of those who type
    /// iostat -x
    #[arg(short = 'x', hide = true)]
    pub(crate) extended: bool,
}

/// Whose columns `iostat` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum IostatStyle {
    /// A table, and in sentences what the others leave out
    Facts,
    /// sysstat since 12.1: `iostat -x`
    Linux,
    /// sysstat 10 and 11, with avgrq-sz and svctm
    LinuxClassic,
    /// Solaris: `iostat -xnM`
    Solaris,
    /// sysstat: `iostat -o JSON -x`
    Json,
}

pub(super) fn interval(text: &str) -> Result<u64, String> {
    match units::parse_duration(text) {
        Ok(0) => Err("0 leaves no time between two reports; 1s is usual".to_owned()),
        Ok(ns) => Ok(ns),
        Err(error) => Err(error.to_string()),
    }
}
