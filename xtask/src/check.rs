//! `cargo xtask check`: what can be said about the sources without running
//! them.
//!
//! A check is a file in `check/` with a function from the project to what it
//! [`Found`], and a line in [`CHECKS`].

mod architecture;
mod compiler;
mod deny;
mod library;
mod licences;
mod systems;

use crate::project::Project;
use crate::tidy;
use std::time::Instant;

/// What a check found. A tool that prints its own problems leaves one line that
/// says so.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// What must be mended.
    pub(crate) problems: Vec<String>,
    /// What one should know.
    pub(crate) notes: Vec<String>,
    /// The check could not be made: what to install.
    pub(crate) missing: Option<String>,
}

struct Check {
    name: &'static str,
    about: &'static str,
    run: fn(&Project) -> Result<Found, String>,
}

const CHECKS: [Check; 11] = [
    Check {
        name: "format",
        about: "rustfmt would change nothing",
        run: compiler::format,
    },
    Check {
        name: "tidy",
        about: "the rules of this project that no other tool knows",
        run: tidy::check,
    },
    Check {
        name: "architecture",
        about: "dependencies between our crates point one way",
        run: architecture::check,
    },
    Check {
        name: "licences",
        about: "other people's crates: their licences, sources and versions",
        run: licences::check,
    },
    Check {
        name: "deny",
        about: "the same by cargo-deny, where it is installed",
        run: deny::check,
    },
    Check {
        name: "clippy",
        about: "no lint fires in any target",
        run: compiler::clippy,
    },
    Check {
        name: "systems",
        about: "directio and the addon compile for other systems, C libraries and processors",
        run: systems::check,
    },
    Check {
        name: "features",
        about: "directio compiles with every set of its features",
        run: library::features,
    },
    Check {
        name: "oldest",
        about: "directio compiles with the lowest Rust that it names",
        run: library::oldest,
    },
    Check {
        name: "semver",
        about: "directio's interface changes as its version says, from the first release on",
        run: library::semver,
    },
    Check {
        name: "docs",
        about: "the documentation builds, and its links lead somewhere",
        run: compiler::docs,
    },
];

/// What can be asked for, for the usage text.
pub(crate) fn names() -> String {
    let lines = CHECKS.map(|check| format!("  check {:<13} {}\n", check.name, check.about));
    lines.concat()
}

/// Makes the checks, or those that are wanted; says whether all are clean.
///
/// # Errors
/// When a check is unknown.
pub(crate) fn run(project: &Project, wanted: &[&str]) -> Result<bool, String> {
    let mut clean = 0;
    let mut failed = Vec::new();
    let mut missing = Vec::new();
    for check in crate::choose(&CHECKS, |check| check.name, wanted)? {
        println!("check {}: {}", check.name, check.about);
        let start = Instant::now();
        let found = (check.run)(project).unwrap_or_else(|why| Found {
            problems: vec![why],
            ..Found::default()
        });
        for note in &found.notes {
            println!("  note: {note}");
        }
        for problem in &found.problems {
            println!("  {problem}");
        }
        if !found.problems.is_empty() {
            failed.push(check.name);
        } else if let Some(what) = found.missing {
            println!("  skipped: {what}");
            missing.push(check.name);
        } else {
            println!("  clean, {:.1} s", start.elapsed().as_secs_f64());
            clean += 1;
        }
    }
    println!("{}", summary(clean, &failed, &missing));
    Ok(failed.is_empty())
}

/// One line, which must not read like the numbers of a test run.
fn summary(clean: usize, failed: &[&str], missing: &[&str]) -> String {
    let mut parts = vec![format!("{clean} clean")];
    if !missing.is_empty() {
        parts.push(format!("not made: {}", missing.join(", ")));
    }
    if !failed.is_empty() {
        let names = failed.join(" ");
        parts.push(format!(
            "to be mended: {} (again: cargo xtask check {names})",
            failed.join(", ")
        ));
    }
    format!("checks: {}", parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_names_what_to_mend_and_how_to_see_it_again() {
        assert_eq!(summary(7, &[], &[]), "checks: 7 clean");
        assert_eq!(
            summary(4, &["tidy", "docs"], &["deny"]),
            "checks: 4 clean; not made: deny; \
             to be mended: tidy, docs (again: cargo xtask check tidy docs)"
        );
    }
}
