//! `cargo xtask test`: everything the project has, and one summary.
//!
//! A step is one runner of tests: a file in `test/` with a function from the
//! project to an [`Outcome`], and a line in [`STEPS`]. Its output is shown as
//! it comes and read as it comes.

mod cargo;
mod dist;
mod exit;
mod left;
mod left_out;
mod node;
mod npm;
mod outcome;
mod pages;
mod refused;
mod skips;
mod summary;
mod tap;
mod wine;

use crate::lab;
use crate::project::Project;
use left_out::{CALL, FUNCTION, Line, Sources};
pub(crate) use outcome::{Outcome, Skipped};
use std::io::Write;
use std::time::{Duration, Instant};

/// One runner of tests.
struct Step {
    name: &'static str,
    about: &'static str,
    /// Run where nothing is asked for; the others when they are named, or with `--all`.
    default: bool,
    /// Where its tests stand, of a step that is not run by default.
    sources: &'static [Sources],
    run: fn(&Project) -> Result<Outcome, String>,
}

const STEPS: [Step; 10] = [
    Step {
        name: "cargo",
        about: "unit, integration and documentation tests of all crates, and the fuzz corpora",
        default: true,
        sources: &[],
        run: cargo::run,
    },
    Step {
        name: "hosts",
        about: "hosts that measure together: the protocol, MPI, namespaces with clocks of their own",
        default: false,
        sources: &[Sources {
            paths: &["crates/gang/", "crates/cli/tests/cli/hosts_by_"],
            line: FUNCTION,
        }],
        run: cargo::hosts,
    },
    Step {
        name: "endurance",
        about: "runs killed at each step, throttled devices, the seeds cell by cell, the benchmarks in small",
        default: false,
        sources: &[
            Sources {
                paths: &[
                    "crates/cli/tests/cli/settings_killed.rs",
                    "crates/cli/tests/cli/settings_lost.rs",
                    "crates/cli/tests/cli/throttled.rs",
                    "crates/cli/tests/cli/sim_command.rs",
                    "bench/",
                ],
                line: FUNCTION,
            },
            Sources {
                paths: &["crates/cli/tests/cli/import_command.rs"],
                line: Line::Begins("fn a_document_larger_than_memory"),
            },
            Sources {
                paths: &["crates/disk/tests/seeds.rs"],
                line: Line::Begins("fn every_gate_holds_with_other_seeds_of_chance"),
            },
        ],
        run: cargo::endurance,
    },
    Step {
        name: "planted",
        about: "causes planted in simulated disks, named first, and odd disks planted in simulated fleets",
        default: false,
        sources: &[Sources {
            paths: &[
                "crates/cli/src/session/planted",
                "crates/facts/tests/fleets",
            ],
            line: FUNCTION,
        }],
        run: cargo::planted,
    },
    Step {
        name: "situations",
        about: "causes planted on this machine, named first, and not named in their controls",
        default: false,
        sources: &[Sources {
            paths: &[
                "crates/cli/tests/situations/",
                "crates/cli/tests/cli/budget",
            ],
            line: FUNCTION,
        }],
        run: cargo::situations,
    },
    Step {
        name: "node",
        about: "the npm package: its own tests, those of the original, and the packed archive",
        default: false,
        sources: &[Sources {
            paths: &["node/test/"],
            line: CALL,
        }],
        run: node::run,
    },
    Step {
        name: "pages",
        about: "the pages of serve and report, in a real Chromium",
        default: false,
        sources: &[Sources {
            paths: &["crates/cli/tests/pages/"],
            line: CALL,
        }],
        run: pages::run,
    },
    Step {
        name: "wine",
        about: "directio built for Windows, its tests run by Wine",
        default: false,
        sources: &[Sources {
            paths: &["crates/direct/src/", "crates/direct/tests/"],
            line: FUNCTION,
        }],
        run: wine::run,
    },
    Step {
        name: "dist",
        about: "the packages: made, installed in a clean Debian, used and removed",
        default: false,
        sources: &[Sources {
            paths: &["xtask/src/test/dist"],
            line: Line::Begins("judge("),
        }],
        run: dist::run,
    },
    Step {
        name: "lab",
        about: "diskfacts on real kinds of devices, in guests of QEMU: the short set",
        default: false,
        sources: &[
            Sources {
                paths: &["lab/src/scenarios/"],
                line: Line::Has("Set::Short"),
            },
            Sources {
                paths: &["lab/src/scenarios/"],
                line: Line::Has("Set::Always"),
            },
        ],
        run: lab::short,
    },
];

/// A step that was run.
struct Report {
    name: &'static str,
    outcome: Outcome,
    took: Duration,
}

/// What can be asked for, for the usage text.
pub(crate) fn names() -> String {
    let lines = STEPS.map(|step| format!("  test {:<14} {}\n", step.name, step.about));
    lines.concat()
}

/// Runs the default steps, those that are wanted, or with `--all` every one; says whether
/// nothing failed.
///
/// # Errors
/// When a step is unknown.
pub(crate) fn run(project: &Project, wanted: &[&str]) -> Result<bool, String> {
    let (all, wanted) = match wanted {
        ["--all"] => (true, &[][..]),
        wanted => (false, wanted),
    };
    let mut reports = Vec::new();
    for step in crate::choose(&STEPS, |step| step.name, wanted)? {
        if !(all || step.default || !wanted.is_empty()) {
            continue;
        }
        println!("test {}: {}", step.name, step.about);
        let start = Instant::now();
        let before = left::behind();
        let mut outcome = (step.run)(project).unwrap_or_else(|why| Outcome::failed(&why));
        outcome.failed.extend(left::since(&before));
        reports.push(Report {
            name: step.name,
            outcome,
            took: start.elapsed(),
        });
    }
    let not_run = |step: &&Step| !reports.iter().any(|report| report.name == step.name);
    let mut in_all = 0;
    for step in STEPS.iter().filter(not_run) {
        let number = left_out::count(project, step.sources)?;
        in_all += number;
        println!(
            "not run: {}, {}: {}",
            step.name,
            left_out::said(number),
            step.about
        );
    }
    if in_all > 0 {
        println!(
            "not run in all: {}, as they stand in the sources; --all runs them",
            left_out::said(in_all)
        );
    }
    print!("\n{}", summary::text(&reports));
    // The closing line must be the last, also where standard output is a file.
    std::io::stdout().flush().map_err(|e| e.to_string())?;
    Ok(reports
        .iter()
        .all(|report| report.outcome.failed.is_empty()))
}
