//! The arguments of `diskfacts restore`.

use clap::Args;

/// Put back settings of the kernel that a killed diskfacts had changed, and remove
/// what else it left: control groups and trace buffers.
///
/// It is needed only after a run and its watchdog were killed together: what a run
/// changes it puts back when it ends, and a run that begins puts back what it finds.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sudo diskfacts restore --show      what is changed, its old and present value
  sudo diskfacts restore             put it back
  sudo diskfacts restore --forget    it was put back by hand, or is to stay: write nothing")]
pub(crate) struct RestoreArgs {
    /// Only show what would be put back
    #[arg(long)]
    pub(crate) show: bool,
    /// Remove the journals without writing any setting, and say what is not as it was:
    /// for what was put back by hand, or is to stay
    #[arg(long, conflicts_with = "show")]
    pub(crate) forget: bool,
}
