//! The arguments of `diskfacts fleet`.

use super::duration;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Bring the runs of many hosts together; find the slow disk
#[derive(Debug, Args)]
#[command(
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "\
Examples:
  diskfacts fleet add results/*.dfrun --into fleet
  diskfacts fleet odd fleet
  diskfacts fleet odd fleet --hosts | xargs -P 20 -I HOST ssh HOST ...
  diskfacts fleet odd fleet --after-second-look
  diskfacts fleet trend fleet --host c17 --stage log-write"
)]
pub(crate) struct FleetArgs {
    #[command(subcommand)]
    pub(crate) command: FleetCommand,
}

/// What is done with a fleet.
#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Add runs of files to a folder of Parquet files
    Add(FleetAddArgs),
    /// Say which disks are slower than their peers
    Odd(FleetOddArgs),
    /// Show a stage of one host over time, beside its peers
    Trend(FleetTrendArgs),
}

#[derive(Debug, Args)]
pub(crate) struct FleetAddArgs {
    /// Files of runs, as `measure --out` and `runs export` write them
    #[arg(value_name = "FILE.dfrun", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The folder of the fleet, made if it is not there
    #[arg(long, value_name = "FOLDER")]
    pub(crate) into: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct FleetOddArgs {
    /// The folder of the fleet
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
    /// Hold the suspects of the first look against the looks after it
    #[arg(long)]
    pub(crate) after_second_look: bool,
    /// Only runs of this group; after a second look, the group that is the first
    #[arg(long, value_name = "NAME")]
    pub(crate) group: Option<String>,
    /// How much slower than its peers a disk has to be to be odd
    #[arg(long, value_name = "PERCENT", value_parser = least, default_value = "10%")]
    pub(crate) least: f64,
    /// Time without a run that parts two looks
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "1h")]
    pub(crate) apart: u64,
    /// Print only the hosts that are to be measured again, one a line
    #[arg(long, conflicts_with = "json")]
    pub(crate) hosts: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FleetTrendArgs {
    /// The folder of the fleet
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
    /// The host
    #[arg(long, value_name = "NAME")]
    pub(crate) host: String,
    /// The stage [default: all that it has]
    #[arg(long, value_name = "NAME")]
    pub(crate) stage: Option<String>,
}

fn least(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%');
    match number.and_then(|number| number.parse::<f64>().ok()) {
        Some(percent) if percent > 0.0 && percent < 100.0 => Ok(percent / 100.0),
        _ => Err("write a percentage above 0% and below 100%, as in 10%".to_owned()),
    }
}
