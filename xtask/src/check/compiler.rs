//! The checks that come with the compiler. They print their own problems.

use super::Found;
use crate::project::{Project, WHOLE, has_extension};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

/// Also of files that belong to no package of the workspace, as the programs
/// for libFuzzer do.
pub(super) fn format(project: &Project) -> Result<Found, String> {
    let files = project.files()?;
    let output = project
        .command(
            "rustfmt",
            &["--check", "--files-with-diff", "--edition=2024"],
        )
        .args(files.iter().filter(|file| has_extension(file, "rs")))
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("starting rustfmt: {error}"))?;
    // It follows modules from file to file, and so names a file several times.
    let named = String::from_utf8_lossy(&output.stdout);
    let named: BTreeSet<&str> = named.lines().collect();
    let mut found = Found::default();
    for file in named {
        let file = Path::new(file);
        let file = file.strip_prefix(&project.root).unwrap_or(file);
        found
            .problems
            .push(format!("rustfmt --edition=2024 {}", file.display()));
    }
    if !output.status.success() && found.problems.is_empty() {
        found
            .problems
            .push(format!("see above ({})", output.status));
    }
    Ok(found)
}

pub(super) fn clippy(project: &Project) -> Result<Found, String> {
    let all = status(project.cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        WHOLE,
        "--locked",
        "--keep-going",
        "--",
        "-Dwarnings",
    ]))?;
    // What `cargo test` leaves out is none of "all".
    let mut apart = status(project.cargo(&[
        "clippy",
        "--package=diskfacts",
        "--test=situations",
        WHOLE,
        "--locked",
        "--",
        "-Dwarnings",
    ]))?;
    apart.problems.extend(all.problems);
    Ok(apart)
}

pub(super) fn docs(project: &Project) -> Result<Found, String> {
    let mut command = project.cargo(&["doc", "--workspace", "--no-deps", WHOLE, "--locked"]);
    command.env("RUSTDOCFLAGS", "-Dwarnings");
    status(command)
}

/// Runs a tool that says itself what is wrong.
pub(super) fn status(mut command: Command) -> Result<Found, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command
        .status()
        .map_err(|error| format!("starting {program}: {error}"))?;
    let mut found = Found::default();
    if !status.success() {
        found.problems.push(format!("see above ({status})"));
    }
    Ok(found)
}
