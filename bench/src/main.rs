//! Runs diskfacts beside its peers, in alternation, and prints ratios.
//!
//! `cargo run --release -p diskfacts-bench -- fio [--folder DIR] [--rounds N]`:
//! how fast and how cheap.
//!
//! `cargo run --release -p diskfacts-bench -- writes [--folder DIR] [--rounds N]
//! [--all-sizes]`: whether the ways to write of the plan `write-matrix` give the
//! figures of fio.
//!
//! `cargo run --release -p diskfacts-bench -- classics [--folder DIR] [--rounds N]`:
//! whether dd and hdparm give the same figures for the same work.
//!
//! `cargo run --release -p diskfacts-bench -- bonnie [--folder DIR] [--rounds N]`:
//! whether the plan `bonnie` gives the figures of bonnie++.
//!
//! `cargo run --release -p diskfacts-bench -- observers [--folder DIR] [--rounds N]`:
//! what each observer costs, and all of them, and what showing a run costs; as root.
//!
//! `cargo run --release -p diskfacts-bench -- pages [--rounds N]`: how large reports are, and how
//! long they take.
//!
//! `cargo run --release -p diskfacts-bench -- served [--folder DIR] [--rounds N]`:
//! how long the pages of `diskfacts serve` take.
//!
//! `cargo run --release -p diskfacts-bench -- hosts [--folder DIR]`: what a fleet of 10 000
//! simulated hosts takes, as root.
//!
//! Machines are noisy: each round runs ours and theirs right after each other,
//! the ratio is taken within the round, and what is printed is the median of the
//! rounds with the smallest and the largest. A goal is met when the median is.
//! `--small` runs everything for a moment, to see that it works.

mod alternate;
mod bonnie;
mod classics;
mod display;
mod fio;
mod hosts;
mod observers;
mod ours;
mod pages;
mod served;
mod writes;

use alternate::Goal;
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::process::ExitCode;

/// Time that a call of `diskfacts --version` has, milliseconds.
const VERSION_MS_BELOW: f64 = 10.0;

/// What to run, and how long.
struct Options {
    folder: PathBuf,
    rounds: usize,
    seconds: f64,
    file_bytes: u64,
    small: bool,
    /// Every block size of the write matrix, not a choice of them.
    all_sizes: bool,
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("diskfacts-bench: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<bool> {
    let mut arguments = std::env::args().skip(1);
    let peer = arguments.next();
    let mut options = Options {
        folder: std::env::current_dir()?,
        rounds: 5,
        seconds: 3.0,
        file_bytes: 1 << 30,
        small: false,
        all_sizes: false,
    };
    while let Some(argument) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .with_context(|| format!("{argument} needs a value"))
        };
        match argument.as_str() {
            "--folder" => options.folder = value()?.into(),
            "--rounds" => options.rounds = value()?.parse()?,
            "--all-sizes" => options.all_sizes = true,
            "--small" => {
                options.small = true;
                options.rounds = 1;
                options.seconds = 0.3;
                options.file_bytes = 16 << 20;
            }
            other => bail!(
                "unknown argument {other}; known: --folder DIR, --rounds N, --all-sizes (of \
                 writes), --small"
            ),
        }
    }
    match peer.as_deref() {
        Some("fio") => fio_cases(&options),
        Some("writes") => writes::cases(&options),
        Some("classics") => classics::cases(&options),
        Some("bonnie") => bonnie::cases(&options),
        Some("observers") => observers::cases(&options),
        Some("pages") => pages::cases(&options),
        Some("served") => served::cases(&options),
        Some("hosts") => hosts::cases(&options),
        other => bail!(
            "{}name what to compare: fio, writes, classics, bonnie, observers, pages, served, or hosts",
            other.map_or_else(String::new, |name| format!("nothing is called {name}; "))
        ),
    }
}

/// The cases of the speed goals against fio.
fn fio_cases(options: &Options) -> Result<bool> {
    let Some(version) = fio::version() else {
        println!("fio is missing, so nothing was compared: apt-get install fio");
        return Ok(options.small);
    };
    let diskfacts = ours::Diskfacts::find()?;
    println!(
        "{version} beside diskfacts, {} rounds in alternation",
        options.rounds
    );
    println!("ratios: median of the rounds (smallest to largest)\n");
    let file = ours::filled_file(&options.folder, options.file_bytes)?;
    let path = file.path();
    let time = options.seconds;
    let mut met = true;
    let mut case = |name: &str,
                    goals: &[Goal],
                    ours: &dyn Fn() -> Result<alternate::Figures>,
                    theirs: &[(&str, &dyn Fn() -> Result<alternate::Figures>)]|
     -> Result<()> {
        met &= alternate::case(name, options.rounds, goals, ours, theirs)?;
        Ok(())
    };

    for depth in [1, 32] {
        case(
            &format!("no I/O (null engine), 4 KiB random, queue depth {depth}"),
            &[Goal::NsPerIoAtMost(25.0)],
            &|| diskfacts.null(depth, time),
            &[
                ("fio", &|| fio::null(depth, time, false)),
                ("fio --norandommap", &|| fio::null(depth, time, true)),
            ],
        )?;
    }
    case(
        "4 KiB random reads of a page-cached file, io_uring, queue depth 32",
        &[
            Goal::IopsRatioAtLeast("fio", 1.6),
            Goal::IopsRatioAtLeast("fio tuned", 1.4),
            Goal::UserNsPerIoAtMost(40.0),
        ],
        &|| diskfacts.cached(path, 32, time),
        &[
            ("fio", &|| fio::cached(path, 32, time, false)),
            ("fio tuned", &|| fio::cached(path, 32, time, true)),
        ],
    )?;
    case(
        "4 KiB direct random reads, io_uring, queue depth 128",
        &[Goal::CpuRatioAtMost("fio", 0.75)],
        &|| diskfacts.direct(path, 128, time),
        &[
            ("fio", &|| fio::direct(path, 128, time, false)),
            ("fio tuned", &|| fio::direct(path, 128, time, true)),
        ],
    )?;
    let version_ms = diskfacts.version_ms(if options.small { 1 } else { 50 })?;
    let quick = version_ms < VERSION_MS_BELOW;
    met &= quick;
    println!(
        "diskfacts --version\n  {} {version_ms:.1} ms from call to end, below {VERSION_MS_BELOW}\n",
        if quick { "met:   " } else { "MISSED:" }
    );
    println!(
        "fio tuned: --fixedbufs --registerfiles --norandommap. CPU is user and system time of \
         the process; interrupts are not in it."
    );
    // In the small mode the figures mean nothing.
    Ok(met || options.small)
}
