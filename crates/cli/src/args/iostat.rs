//! The arguments of `diskfacts iostat`.

use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};
use diskfacts_plan::units;

/// Show what the devices of the machine do, whoever makes them do it: reads and
/// writes per second, their size and wait, the queue, how busy the device is.
///
/// The first report is of the time since the system started, each further one of
/// the interval since the one before.
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
    /// Devices to show: sda, /dev/sda1, a link in /dev/disk/by-id [default: all
    /// disks that were ever used]; as in sysstat an interval in seconds, and a
    /// count, may stand among them
    #[arg(value_name = "DEVICE")]
    pub(crate) words: Vec<String>,
    /// Time from report to report: 1s, 500ms [default: one report only]
    #[arg(long, value_name = "DURATION", value_parser = interval, allow_hyphen_values = true)]
    pub(crate) interval: Option<u64>,
    /// How many reports [default: until Ctrl-C, with an interval; 1 without]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u64>::new().range(1..))]
    pub(crate) count: Option<u64>,
    /// Whose columns
    #[arg(long, value_name = "STYLE", default_value = "facts")]
    pub(crate) style: IostatStyle,
    /// sysstat's report without -x: transfers and kilobytes; of linux and json
    #[arg(long)]
    pub(crate) basic: bool,
    /// Leave out the first report, which is of the time since the system started
    #[arg(short = 'y', long)]
    pub(crate) skip_first: bool,
    /// Leave out the processors
    #[arg(short = 'd', long)]
    pub(crate) devices_only: bool,
    /// Partitions too, from /proc/diskstats
    #[arg(short = 'p', long)]
    pub(crate) partitions: bool,
    /// Devices that were never used, too
    #[arg(long)]
    pub(crate) all: bool,
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
