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

/// One target for each system and C library, with what is compiled and linted for
/// it, tests included.
const TARGETS: [(&str, &[&str]); 5] = [
    ("x86_64-pc-windows-gnu", PACKAGES),
    ("x86_64-pc-windows-msvc", PACKAGES),
    ("x86_64-apple-darwin", PACKAGES),
    ("x86_64-unknown-freebsd", PACKAGES),
    ("x86_64-unknown-linux-musl", STATIC),
];

/// Where the features of `directio` may differ, which its documentation is made with.
const WITH_FEATURES: [&str; 4] = [
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
    "x86_64-unknown-freebsd",
    "x86_64-unknown-netbsd",
];

/// Other processors, whose words and `ioctl` numbers differ, and a Unix that
/// `directio` does not know: the library alone.
const LIBRARY_TARGETS: [&str; 6] = [
    "aarch64-apple-darwin",
    "aarch64-unknown-linux-gnu",
    "aarch64-unknown-linux-musl",
    "i686-unknown-linux-gnu",
    "i686-unknown-linux-musl",
    "x86_64-unknown-netbsd",
];

pub(super) fn check(project: &Project) -> Result<Found, String> {
    let whole = TARGETS.map(|(target, packages)| (target, packages, "--all-targets"));
    let library = LIBRARY_TARGETS.map(|target| (target, &["directio"][..], "--lib"));
    let mut found = Found::default();
    let mut missing = Vec::new();
    for (target, packages, parts) in whole.into_iter().chain(library) {
        if !has_target(project, target)? {
            missing.push(target);
            continue;
        }
        println!("  {target}");
        let mut arguments = vec!["clippy", "--locked", parts, "--target", target];
        for package in packages {
            arguments.extend(["--package", package]);
        }
        if WITH_FEATURES.contains(&target) {
            arguments.push("--all-features");
        }
        arguments.extend(["--", "-Dwarnings"]);
        let problems = compiler::status(project.cargo(&arguments))?.problems;
        let named = problems
            .into_iter()
            .map(|problem| format!("{target}: {problem}"));
        found.problems.extend(named);
    }
    if !missing.is_empty() {
        let remedy = format!("rustup target add {}", missing.join(" "));
        if missing.len() == TARGETS.len() + LIBRARY_TARGETS.len() {
            found.missing = Some(remedy);
        } else {
            found.notes.push(format!("not looked at: {remedy}"));
        }
    }
    Ok(found)
}
