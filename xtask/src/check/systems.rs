//! The other operating systems: `directio` promises to work on them, and its
//! code for them is compiled here, though not run.

use super::{Found, compiler};
use crate::project::{Project, output};
use std::path::Path;

/// The packages with code of their own for other systems.
const PACKAGES: [&str; 1] = ["directio"];

/// One target for each system; processors make no difference to this code.
const TARGETS: [&str; 3] = [
    "x86_64-pc-windows-gnu",
    "x86_64-apple-darwin",
    "x86_64-unknown-freebsd",
];

pub(super) fn check(project: &Project) -> Result<Found, String> {
    let sysroot = output(&mut project.command("rustc", &["--print", "sysroot"]))?;
    let libraries = Path::new(sysroot.trim()).join("lib/rustlib");
    let (installed, missing): (Vec<_>, Vec<_>) = TARGETS
        .into_iter()
        .partition(|target| libraries.join(target).is_dir());
    let mut found = Found::default();
    for target in &installed {
        println!("  {target}");
        let mut arguments = vec!["clippy", "--locked", "--target", target];
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
