//! The arguments of `diskfacts sim`.

use clap::{Args, ValueEnum};

/// List simulated disks, print one, or reproduce the seed documents
///
/// `diskfacts measure sim:PROFILE` measures one.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  diskfacts sim ssd-sata > mine.toml; diskfacts measure sim:mine.toml")]
pub(crate) struct SimArgs {
    /// A profile to print, or a TOML file to check and print [default: list them]
    #[arg(value_name = "PROFILE|FILE")]
    pub(crate) profile: Option<String>,
    /// Run the access patterns of the seed documents; print measured, simulated and
    /// error of each cell. PROFILE replaces the built-in one of its name
    #[arg(long, value_name = "WHAT")]
    pub(crate) reproduce: Option<Reproduced>,
    /// Seed of all random choices of --reproduce [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// What can be reproduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Reproduced {
    /// The five documents of measurements this project began with
    Seeds,
}
