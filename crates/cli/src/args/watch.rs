//! The arguments of `diskfacts watch`.

use super::iostat::interval;
use clap::Args;
use clap::builder::RangedU64ValueParser;
use std::path::PathBuf;

/// Show what the kernel's block layer does with the requests of the devices under
/// a target, as it happens: how long each waited and how long the device had it,
/// sizes, order, how many are in the device.
///
/// It follows every request by the kernel's trace events, in a buffer of its own,
/// which needs root. At the end it shows all of it with whole distributions.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sudo diskfacts watch .                   the disk under this folder
  sudo diskfacts watch /dev/sda --count 5  five reports, then all of it
  sudo diskfacts watch /srv --json | jq .  a line of JSON for each report
Without root:
  diskfacts iostat sda 1                   what the device itself counts")]
pub(crate) struct WatchArgs {
    /// The folder, file or block device to watch
    #[arg(value_name = "TARGET")]
    pub(crate) target: PathBuf,
    /// Time from report to report: 1s, 500ms
    #[arg(long, value_name = "DURATION", value_parser = interval, default_value = "1s", allow_hyphen_values = true)]
    pub(crate) interval: u64,
    /// How many reports [default: until Ctrl-C]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u64>::new().range(1..))]
    pub(crate) count: Option<u64>,
    /// A line of JSON for each report, and one of all
    #[arg(long)]
    pub(crate) json: bool,
}
