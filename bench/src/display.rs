//! What showing a run costs: one plan, done with `--quiet`, with the line of a terminal and
//! with `--live`, in turn, each on a terminal of its own.

use crate::alternate::{median, median_interval};
use crate::ours::Diskfacts;
use anyhow::{Context, Result};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The display may take this share of the operations per second.
const COST_MAX: f64 = 0.01;
/// What is compared with the first of them.
const SHOWN: [(&str, &str); 3] = [("quiet", "--quiet"), ("line", ""), ("live", "--live")];
/// Trials of each run.
const TRIALS: usize = 3;

/// What the trials of one run gave, in the median.
struct Shown {
    iops: f64,
    cpu_ns: f64,
}

impl Shown {
    fn of(trials: &[Value]) -> Result<Self> {
        let numbers = |of: &dyn Fn(&Value) -> Option<f64>| {
            let numbers: Option<Vec<f64>> = trials.iter().map(of).collect();
            numbers.context("a figure is missing")
        };
        let cpu = |trial: &Value| {
            let of = |key: &str| trial["cpu"][key].as_f64();
            Some(of("user_ns_per_io")? + of("system_ns_per_io")?)
        };
        Ok(Self {
            iops: median(numbers(&|trial| trial["iops"].as_f64())?.into_iter()),
            cpu_ns: median(numbers(&cpu)?.into_iter()),
        })
    }
}

/// The program `script` of util-linux, which runs a command on a terminal.
pub(crate) fn script() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut programs = std::env::split_paths(&path).map(|folder| folder.join("script"));
    programs.find(|program| program.is_file())
}

/// Prints a line for each way to show it, and answers whether the full screen costs less
/// than it may: of the rate of operations, and of their processor time.
pub(crate) fn case(
    diskfacts: &Diskfacts,
    script: &Path,
    (folder, bytes): (&Path, u64),
    (rate, seconds): (Option<u64>, f64),
    rounds: usize,
) -> Result<bool> {
    let rate = rate.map_or_else(String::new, |rate| format!("rate = {rate}\n"));
    let plan = format!(
        "name = \"display\"\ntrials = {TRIALS}\n[[stage]]\nname = \"reads\"\n\
         operation = \"read\"\nqueue_depth = 32\ncache = \"direct\"\nobserve = \"none\"\n\
         time = \"{}ms\"\n{rate}",
        (seconds * 1e3).round()
    );
    let mut table: [Vec<Shown>; SHOWN.len()] = [const { Vec::new() }; SHOWN.len()];
    for round in 0..rounds {
        for turn in 0..SHOWN.len() {
            // Who is first changes from round to round.
            let who = (turn + round) % SHOWN.len();
            let trials = diskfacts.on_a_terminal(script, (folder, bytes), &plan, SHOWN[who].1)?;
            table[who].push(Shown::of(&trials)?);
        }
    }
    let [quiet, ..] = &table;
    let mut costs = (f64::NAN, None);
    for ((name, _), runs) in SHOWN.iter().zip(&table) {
        let ratios = |of: fn(&Shown) -> f64| -> Vec<f64> {
            let pairs = runs.iter().zip(quiet);
            pairs.map(|(one, other)| of(one) / of(other)).collect()
        };
        let (iops, cpu) = (ratios(|one| one.iops), ratios(|one| one.cpu_ns));
        let least = iops.iter().copied().fold(f64::INFINITY, f64::min);
        let most = iops.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let interval = median_interval(iops.iter().copied());
        costs = (
            1.0 - median(iops.iter().copied()),
            interval.map(|(low, high)| (1.0 - high, 1.0 - low)),
        );
        println!(
            "  {name:<14} {:>7.0} IOPS  {:.3} ({least:.3} to {most:.3})  CPU {:>6.0} ns per I/O  {:.3}",
            median(runs.iter().map(|one| one.iops)),
            median(iops.iter().copied()),
            median(runs.iter().map(|one| one.cpu_ns)),
            median(cpu.iter().copied()),
        );
    }
    let (cost, interval) = costs;
    let met = cost < COST_MAX;
    let percent = |share: f64| (share * 1e3).round() / 10.0 + 0.0;
    let interval = interval.map_or_else(String::new, |(low, high)| {
        format!(" (95 %: {} to {})", percent(low), percent(high))
    });
    println!(
        "  {} the full screen takes {:.1} %{interval} of the IOPS, less than {:.0} %",
        if met { "met:   " } else { "MISSED:" },
        percent(cost),
        COST_MAX * 100.0
    );
    Ok(met)
}
