//! The arguments of `diskfacts tune`.

use super::{HOW, Precision, RunArgs, TARGET, WHAT, duration, precision, size};
use clap::Args;
use diskfacts_plan::file::Varied;
use std::path::PathBuf;

/// Measure each combination of settings, and name the best
///
/// Runs each stage of the plan under each combination, in rounds of random order. Says
/// which is best and by how much, or that nothing differs beyond noise; what each
/// setting does, alone and with others; and how to make the best permanent.
#[derive(Debug, Args)]
#[command(after_help = "\
KEY is a kernel setting (scheduler, read_ahead_kb, max_sectors_kb, nr_requests,
vm/dirty_bytes, ...) or a stage's key in a plan file (block_size, queue_depth,
streams, cache, ...).

Examples:
  diskfacts tune /dev/sdb --vary scheduler=none,mq-deadline,bfq
  diskfacts tune /dev/sdb --vary read_ahead_kb=128,1024,4096 --plan streams
  diskfacts tune . --plan survey --stage random-read-qd32 \\
      --vary queue_depth=8,32,128
  diskfacts tune sim:hdd-7200-1tb --vary scheduler=mq-deadline,bfq \\
      --vary read_ahead_kb=128,512,4096")]
pub(crate) struct TuneArgs {
    /// A folder, file, block device, or simulated disk: sim:PROFILE, sim:FILE.toml
    #[arg(value_name = "TARGET")]
    pub(crate) target: PathBuf,
    /// A setting and its values; repeatable: all combinations are measured
    #[arg(long, value_name = "KEY=V1,V2,...", value_parser = varied, required = true)]
    pub(crate) vary: Vec<Varied>,
    /// A built-in plan (see `diskfacts plans`) or a TOML file: what to run under
    /// each combination
    #[arg(long, value_name = "NAME|FILE", default_value = "tune")]
    pub(crate) plan: String,
    /// Run only this stage of the plan; repeatable
    #[arg(long = "stage", help_heading = WHAT, value_name = "NAME")]
    pub(crate) stages: Vec<String>,
    /// Time limit of the whole run: 30s, 5m, 1h [default: 2 s per trial, at most
    /// 15 min]
    #[arg(long, value_name = "DURATION", value_parser = duration, allow_hyphen_values = true)]
    pub(crate) time: Option<u64>,
    /// Trials per combination [default: 5, or more if the plan says so]
    #[arg(long, help_heading = HOW, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) trials: Option<u32>,
    /// Add trials, within the time, until each median is known within this (95 %
    /// interval), or off
    #[arg(long, help_heading = HOW, value_name = "SHARE", value_parser = precision, allow_hyphen_values = true)]
    pub(crate) precision: Option<Precision>,
    /// Size of the file made in a folder: 512MiB, 4G (binary), 4GB (decimal)
    /// [default: 1GiB, or what fits]
    #[arg(long, help_heading = TARGET, value_name = "SIZE", value_parser = size, allow_hyphen_values = true)]
    pub(crate) size: Option<u64>,
    /// Measure a loop device of this size over a file in the folder (root)
    #[arg(long = "loop", help_heading = TARGET, value_name = "SIZE", value_parser = size, allow_hyphen_values = true, conflicts_with = "size")]
    pub(crate) loop_size: Option<u64>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// `read_ahead_kb=128,512`.
fn varied(text: &str) -> Result<Varied, String> {
    const AS_IN: &str = "as in --vary read_ahead_kb=128,1024";
    let (name, values) = text
        .split_once('=')
        .ok_or_else(|| format!("it takes a key, = and its values, {AS_IN}"))?;
    let name = name.trim();
    if name.is_empty() {
        return Err(format!("the key before = is missing, {AS_IN}"));
    }
    let values: Vec<String> = values
        .split(',')
        .map(|value| value.trim().to_owned())
        .collect();
    if values.iter().any(String::is_empty) {
        return Err(format!(
            "a value of {name} is empty; write its values, {AS_IN}"
        ));
    }
    Ok(Varied {
        name: name.to_owned(),
        values,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_is_a_key_and_its_values() {
        let axis = varied("read_ahead_kb = 128, 512").unwrap();
        assert_eq!(
            (axis.name.as_str(), axis.values.len()),
            ("read_ahead_kb", 2)
        );
        assert_eq!(axis.values, ["128", "512"]);
        assert_eq!(varied("cache=cold").unwrap().values, ["cold"]);
        for (wrong, said) in [
            ("scheduler", "its values"),
            ("=bfq", "key before ="),
            ("scheduler=", "scheduler is empty"),
            ("scheduler=bfq,,none", "scheduler is empty"),
        ] {
            let error = varied(wrong).expect_err(wrong);
            assert!(
                error.contains(said) && error.contains("as in --vary"),
                "{error}"
            );
        }
    }
}
