//! The arguments of `diskfacts together`.

use clap::Args;
use diskfacts_record::membership;

/// Add up the runs of hosts that started together
///
/// Runs of one group (`measure --start-at TIME --group NAME` on each host) are brought
/// together as files. Rates are of the time in which all hosts measured, latencies are
/// those of all operations; hosts that are missing are said first.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diskfacts together results/*.dfrun --expect 8
  diskfacts together --group n42            the stored runs of a group
  diskfacts together results/*.dfrun --json")]
pub(crate) struct TogetherArgs {
    /// Runs: files that `runs export` wrote, ids, names [default: the stored runs of
    /// the group]
    #[arg(value_name = "RUN|FILE", required_unless_present = "group")]
    pub(crate) runs: Vec<String>,
    /// Take only the runs of this group
    #[arg(long, value_name = "NAME", value_parser = membership::group, allow_hyphen_values = true)]
    pub(crate) group: Option<String>,
    /// How many hosts there were; exit with 1 if any of them is missing
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), allow_hyphen_values = true)]
    pub(crate) expect: Option<u32>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
