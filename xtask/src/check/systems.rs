//! The other operating systems, and the other C library of Linux: `directio`
//! promises to work on them, and the native half of the npm package on the
//! systems. Their code for them is compiled and linted here, tests included;
//! what Wine can tell of it is a step of `cargo xtask test`.

use super::{Found, compiler};
use crate::project::{Project, has_target};

/// The packages with code of their own for other systems.
const PACKAGES: &[&str] = &["directio", "diskfacts-node"];

/// Those for a static program. The addon is loaded by Node, and never static; the
/// rest of the program needs a C compiler for this target, for `SQLite`.
const STATIC: &[&str] = &["directio", "diskfacts-engine", "diskfacts-host"];

/// One target for each system and C library, with what is compiled for it;
/// processors make no difference to this code.
const TARGETS: [(&str, &[&str]); 5] = [
    ("x86_64-pc-windows-gnu", PACKAGES),
    ("x86_64-pc-windows-msvc", PACKAGES),
    ("x86_64-apple-darwin", PACKAGES),
    ("x86_64-unknown-freebsd", PACKAGES),
    ("x86_64-unknown-linux-musl", STATIC),
];

pub(super) fn check(project: &Project) -> Result<Found, String> {
    let mut installed = Vec::new();
    let mut missing = Vec::new();
    for (target, packages) in TARGETS {
        if has_target(project, target)? {
            installed.push((target, packages));
        } else {
            missing.push(target);
        }
    }
    let mut found = Found::default();
    for (target, packages) in &installed {
        println!("  {target}");
        let mut arguments = vec!["clippy", "--locked", "--all-targets", "--target", target];
        for package in *packages {
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
