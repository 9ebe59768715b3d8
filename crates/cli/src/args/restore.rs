//! The arguments of `diskfacts restore`.

use clap::Args;

/// Put back kernel settings that a killed run changed
///
/// Also removes the control groups and trace buffers that it left. Needed only where a
/// run and its watchdog were killed together: a run puts back what it changed when it
/// ends, and the next run what it finds.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sudo diskfacts restore --show    what differs: old and present values
  sudo diskfacts restore           put the old ones back
  sudo diskfacts restore --forget  keep the present ones")]
pub(crate) struct RestoreArgs {
    /// Show what would be put back, and change nothing
    #[arg(long)]
    pub(crate) show: bool,
    /// Remove the journals and write no setting; say which values are not the old
    /// ones. For settings put back by hand, or meant to stay
    #[arg(long, conflicts_with = "show")]
    pub(crate) forget: bool,
}
