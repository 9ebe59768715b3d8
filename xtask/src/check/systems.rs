//! The other operating systems: `directio` and the native half of the npm
//! package promise to work on them. Their code for them is compiled and linted
//! here, tests included; what Wine can tell of it is a step of `cargo xtask
//! test`.

use super::{Found, compiler};
use crate::project::{Project, has_target};

/// The packages with code of their own for other systems.
const PACKAGES: [&str; 2] = ["directio", "diskfacts-node"];

/// One target for each system and C library; processors make no difference to
/// this code.
const TARGETS: [&str; 4] = [
    "x86_64-pc-windows-gnu",
    "x86_64-pc-windows-msvc",
    "x86_64-apple-darwin",
    "x86_64-unknown-freebsd",
];

pub(super) fn check(project: &Project) -> Result<Found, String> {
    let mut installed = Vec::new();
    let mut missing = Vec::new();
    for target in TARGETS {
        let there = has_target(project, target)?;
        if there { &mut installed } else { &mut missing }.push(target);
    }
    let mut found = Found::default();
    for target in &installed {
        println!("  {target}");
        let mut arguments = vec!["clippy", "--locked", "--all-targets", "--target", target];
        for package in PACKAGES {
            arguments.extend(["--package", package]);
        }
        arguments.extend(["--", "-Dwarnings"]);
        let problems = compiler::status(project.cargo(&arguments))?.problems;
        found.problems.extend(
            problems
                .into_iter()
                .map(|problem| format!("{target}: {problem}")),
        );
    }
    if !missing.is_empty() {
        let remedy = format!("rustup target add {}", missing.join(" "));
        if installed.is_empty() {
            found.missing = Some(remedy);
        } else {
            found.notes.push(format!("not looked at: {remedy}"));
        }
    }
    Ok(found)
}
