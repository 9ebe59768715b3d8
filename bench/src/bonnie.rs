//! The plan `bonnie` beside bonnie++ itself, on the same filesystem, in turns.
//!
//! Both print the same CSV, so the same fields are compared: rates of bytes and
//! blocks, seeks, and files. bonnie++ is told that the machine has little memory,
//! and then finds what it has written in the page cache when it rewrites, reads and
//! seeks: so ours does these from a filled cache (`cache = "warm"`), and like is
//! compared with like. A test agrees when the ranges of the rounds meet, or the
//! medians are within a tenth; what differs for good is explained in
//! `docs/validation.md`.

use crate::ours::Diskfacts;
use crate::{Options, alternate};
use anyhow::{Context, Result, bail};
use diskfacts_plan::CacheMode;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

/// Fields of the CSV of bonnie++ 2.00 (`bon_csv2html(1)`).
const FIELDS: usize = 50;

/// Each test, and which field of the CSV has its rate, from 0.
const TESTS: [(&str, usize); 12] = [
    ("write, bytes", 9),
    ("write, blocks", 11),
    ("rewrite", 13),
    ("read, bytes", 15),
    ("read, blocks", 17),
    ("seeks", 19),
    ("create, in order", 26),
    ("stat, in order", 28),
    ("delete, in order", 30),
    ("create, at random", 32),
    ("stat, at random", 34),
    ("delete, at random", 36),
];

/// Stages that bonnie++ 2.00 has no column for.
const WITHOUT_COLUMN: [&str; 4] = [
    "putc-locked",
    "putc-unlocked",
    "getc-locked",
    "getc-unlocked",
];

/// Medians that are so near count as the same.
const NEAR: f64 = 0.1;

/// The rates of one run; none for a test that was too short to be told.
type Rates = [Option<f64>; TESTS.len()];

/// Whether there is a bonnie++ to compare with.
fn is_there() -> bool {
    // It has no option that only says its version.
    let searched = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&searched).any(|folder| folder.join("bonnie++").is_file())
}

/// Runs the comparison and prints it; what differs is no failure.
pub(crate) fn cases(options: &Options) -> Result<bool> {
    if !is_there() {
        println!("bonnie++ is missing, so nothing was compared: apt-get install bonnie++");
        return Ok(options.small);
    }
    let diskfacts = Diskfacts::find()?;
    let bytes = options.file_bytes;
    println!(
        "bonnie++ beside diskfacts, {} rounds in alternation, a file of {} MiB",
        options.rounds,
        bytes >> 20
    );
    println!("K/s of bytes and blocks, else per second: median (smallest to largest)\n");
    let (mut ours, mut others) = (Vec::new(), Vec::new());
    for round in 0..options.rounds {
        // Who is first changes from round to round.
        for turn in 0..2 {
            if (turn + round) % 2 == 0 {
                ours.push(mine(&diskfacts, options)?);
            } else {
                others.push(theirs(options)?);
            }
        }
    }
    println!("{:<18} {:>26} {:>26}", "", "diskfacts", "bonnie++");
    let mut agree = 0;
    for (i, (name, _)) in TESTS.iter().enumerate() {
        let of = |runs: &[Rates]| -> Vec<f64> { runs.iter().filter_map(|run| run[i]).collect() };
        let (mine, other) = (of(&ours), of(&others));
        let verdict = verdict(&mine, &other);
        agree += usize::from(verdict == "agree");
        println!(
            "{name:<18} {:>26} {:>26}  {verdict}",
            said(&mine),
            said(&other)
        );
    }
    println!("\n{agree} of {} tests agree", TESTS.len());
    Ok(true)
}

/// The plan `bonnie`, which rewrites, reads and seeks what lies in the page cache.
fn plan() -> Result<String> {
    let mut plan = diskfacts_plan::builtin::plan("bonnie").context("the plan bonnie")?;
    plan.trials = 1;
    plan.stages
        .retain(|stage| !WITHOUT_COLUMN.contains(&stage.name.as_str()));
    for stage in &mut plan.stages {
        let workload = &mut stage.workload;
        if workload.operation.reads() && workload.cache == CacheMode::Cold {
            workload.cache = CacheMode::Warm;
        }
    }
    Ok(diskfacts_plan::file::print(&plan))
}

fn mine(diskfacts: &Diskfacts, options: &Options) -> Result<Rates> {
    let time = if options.small { "3s" } else { "30s" };
    let (folder, bytes) = (&options.folder, options.file_bytes);
    rates(&diskfacts.bonnie(folder, bytes, &plan()?, &["--time", time])?)
}

fn theirs(options: &Options) -> Result<Rates> {
    let mib = (options.file_bytes >> 20).to_string();
    rates(&if options.small {
        bonnie(options, &["-f", "-n", "1", "-s", "16"])?
    } else {
        bonnie(options, &["-n", "16", "-s", &mib])?
    })
}

fn bonnie(options: &Options, arguments: &[&str]) -> Result<String> {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    let user: &[&str] = if is_root { &["-u", "root"] } else { &[] };
    let output = Command::new("bonnie++")
        // It wants a file of twice the memory, unless it is told of less.
        .args(["-q", "-m", "peer", "-r", "8"])
        .args(arguments)
        .args(user)
        .arg("-d")
        .arg(&options.folder)
        .output()
        .context("starting bonnie++")?;
    if !output.status.success() {
        bail!(
            "bonnie++ {} ended with {}: {}",
            arguments.join(" "),
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The rates of a line of CSV.
fn rates(output: &str) -> Result<Rates> {
    let line = output.lines().last().unwrap_or_default();
    let fields: Vec<&str> = line.split(',').collect();
    if fields.len() != FIELDS {
        bail!("a line of {FIELDS} fields was expected, and came: {line}");
    }
    Ok(TESTS.map(|(_, field)| fields[field].parse().ok()))
}

fn verdict(ours: &[f64], theirs: &[f64]) -> &'static str {
    let (Some((low, high)), Some((their_low, their_high))) = (range(ours), range(theirs)) else {
        return "too short to tell";
    };
    let ratio = alternate::median(ours.iter().copied()) / alternate::median(theirs.iter().copied());
    if (low <= their_high && their_low <= high) || (ratio - 1.0).abs() <= NEAR {
        "agree"
    } else if ratio > 1.0 {
        "differ: ours is more"
    } else {
        "differ: ours is less"
    }
}

fn range(rates: &[f64]) -> Option<(f64, f64)> {
    let low = rates.iter().copied().min_by(f64::total_cmp)?;
    let high = rates.iter().copied().max_by(f64::total_cmp)?;
    Some((low, high))
}

fn said(rates: &[f64]) -> String {
    range(rates).map_or_else(
        || "+++++".to_owned(),
        |(low, high)| {
            let median = alternate::median(rates.iter().copied());
            format!("{median:.0} ({low:.0} to {high:.0})")
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_a_line_are_its_rates() {
        let line = "1.98,2.00a,h,1,1,200M,,8192,5,1183,86,12,1,13,1,2274,99,14,1,170.3,8,16,,,,,\
                    11,1,+++++,+++,13,3,14,4,15,5,16,6,1us,1us,1us,1us,1us,1us,1us,1us,1us,1us,1us,1us";
        let rates = rates(line).expect("a line");
        assert_eq!(rates[0], Some(1183.0));
        assert_eq!(rates[5], Some(170.3));
        assert_eq!(
            (rates[6], rates[7], rates[11]),
            (Some(11.0), None, Some(16.0))
        );
        assert!(super::rates("1,2,3").is_err());
    }

    #[test]
    fn ranges_that_meet_and_medians_that_are_near_agree() {
        assert_eq!(verdict(&[1.0, 5.0], &[4.0, 9.0]), "agree");
        assert_eq!(verdict(&[100.0], &[108.0]), "agree");
        assert_eq!(verdict(&[1.0], &[2.0]), "differ: ours is less");
        assert_eq!(verdict(&[3.0], &[2.0]), "differ: ours is more");
        assert_eq!(verdict(&[], &[2.0]), "too short to tell");
    }
}
