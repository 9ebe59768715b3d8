//! The arguments of `diskfacts man`.

use clap::Args;
use std::path::PathBuf;

/// Write the manual pages into a folder
///
/// There is one for each command; those that are there are written over. A package of diskfacts has them already. The date on them is that of
/// `SOURCE_DATE_EPOCH`, in seconds since 1970, or today.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diskfacts man ~/.local/share/man/man1     for yourself
  sudo diskfacts man /usr/local/share/man/man1     for everybody")]
pub(crate) struct ManArgs {
    /// The folder, which is made if it is not there
    #[arg(value_name = "FOLDER", required = true)]
    pub(crate) folder: PathBuf,
}
