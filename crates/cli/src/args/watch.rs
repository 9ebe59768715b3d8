//! The arguments of `diskfacts watch`.

use super::iostat::interval;
use clap::Args;
use clap::builder::RangedU64ValueParser;
use std::path::PathBuf;

/// Trace each I/O request, live: time queued, time at the device
///
/// Of the devices under a target, whoever uses them; also sizes, order, and how many
/// are in flight. It reads the kernel's trace events in a buffer of its own, which
/// needs root. The last report covers all of the time, with whole distributions.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sudo diskfacts watch .                   the disk under this folder
  sudo diskfacts watch /dev/sda --count 5  five reports, then their sum
  sudo diskfacts watch /srv --json | jq .  a line of JSON for each report

Without root:
  diskfacts iostat sda 1                   what the device itself counts")]
pub(crate) struct WatchArgs {
    /// A folder, file or block device
    #[arg(value_name = "TARGET")]
    pub(crate) target: PathBuf,
    /// Time between reports: 1s, 500ms
    #[arg(long, value_name = "DURATION", value_parser = interval, default_value = "1s", allow_hyphen_values = true)]
    pub(crate) interval: u64,
    /// Number of reports [default: until Ctrl-C]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u64>::new().range(1..))]
    pub(crate) count: Option<u64>,
    /// Show it on the full screen of a terminal, and all of it at the end
    #[arg(long)]
    pub(crate) live: bool,
    /// Print a line of JSON for each report, and one for all of them
    #[arg(long, conflicts_with = "live")]
    pub(crate) json: bool,
}
