//! What those who build on `directio` rely on: that every set of its features
//! compiles, that it compiles with the Rust it names, and that its public interface
//! changes as its version says.

use super::{Found, compiler};
use crate::project::{Project, answers, output};
use std::fs;
use std::process::Command;

const MANIFEST: &str = "crates/direct/Cargo.toml";

/// Each set of the features.
pub(super) fn features(project: &Project) -> Result<Found, String> {
    let manifest = manifest(project)?;
    let features = features_of(&manifest)?;
    let mut found = Found::default();
    for set in powerset(&features) {
        let set = set.join(",");
        let arguments = [
            "clippy",
            "--locked",
            "--quiet",
            "--package=directio",
            "--lib",
            "--no-default-features",
            "--features",
            &set,
            "--",
            "-Dwarnings",
        ];
        let problems = compiler::status(project.cargo(&arguments))?.problems;
        let named = problems.iter().map(|problem| format!("[{set}]: {problem}"));
        found.problems.extend(named);
    }
    // Their tests, which the tests of the workspace leave out.
    let tests = ["clippy", "--locked", "--package=directio", "--all-features"];
    let rest = ["--all-targets", "--", "-Dwarnings"];
    let all = compiler::status(project.cargo(&[&tests[..], &rest[..]].concat()))?;
    found.problems.extend(all.problems);
    Ok(found)
}

/// The lowest Rust, with which a user may compile it.
pub(super) fn oldest(project: &Project) -> Result<Found, String> {
    let manifest = manifest(project)?;
    let version = value_of(&manifest, "rust-version")?;
    // Names are of whole releases, manifests of their first two numbers.
    let toolchain = format!("{version}.0");
    let run = |arguments: &[&str]| {
        let mut command = project.command("rustup", &["run", &toolchain, "cargo"]);
        command.args(arguments);
        command
    };
    if !answers(&mut run(&["--version"])) {
        return Ok(Found {
            missing: Some(format!(
                "rustup toolchain install {toolchain} --profile minimal"
            )),
            ..Found::default()
        });
    }
    compiler::status(run(&["check", "--locked", "--package=directio", "--lib"]))
}

/// The public interface against that of the last release, by cargo-semver-checks.
///
/// A release is a tag `directio-v0.1.0`. Before the first there is nothing to break.
pub(super) fn semver(project: &Project) -> Result<Found, String> {
    let tags = output(&mut project.command(
        "git",
        &["tag", "--list", "directio-v*", "--sort=-version:refname"],
    ))?;
    let Some(release) = tags.lines().next() else {
        return Ok(Found {
            notes: vec!["directio has no release yet (a tag directio-v...)".to_owned()],
            ..Found::default()
        });
    };
    if !answers(&mut project.cargo(&["semver-checks", "--version"])) {
        return Ok(Found {
            missing: Some(
                "cargo-semver-checks: cargo install cargo-semver-checks --locked".to_owned(),
            ),
            ..Found::default()
        });
    }
    let arguments = ["semver-checks", "--package=directio", "--baseline-rev"];
    let mut command: Command = project.cargo(&arguments);
    command.arg(release);
    compiler::status(command)
}

fn manifest(project: &Project) -> Result<String, String> {
    let path = project.root.join(MANIFEST);
    fs::read_to_string(&path).map_err(|error| format!("reading {}: {error}", path.display()))
}

/// The names in the table `[features]`, one per line.
fn features_of(manifest: &str) -> Result<Vec<&str>, String> {
    let (_, table) = manifest
        .split_once("\n[features]\n")
        .ok_or("the manifest of directio has no [features]")?;
    let table = table.split_once("\n[").map_or(table, |(table, _)| table);
    let names = table.lines().filter(|line| !line.starts_with('#'));
    let names = names.filter_map(|line| line.split_once(" = "));
    Ok(names.map(|(name, _)| name).collect())
}

/// The text that a key of the manifest has.
fn value_of<'a>(manifest: &'a str, key: &str) -> Result<&'a str, String> {
    let mut lines = manifest.lines();
    lines
        .find_map(|line| {
            line.strip_prefix(key)?
                .strip_prefix(" = \"")?
                .strip_suffix('"')
        })
        .ok_or_else(|| format!("the manifest of directio has no {key} of its own"))
}

/// All sets of these, the empty one and the whole included.
fn powerset<'a>(all: &[&'a str]) -> Vec<Vec<&'a str>> {
    let mut sets = vec![Vec::new()];
    for one in all {
        let with = sets.iter().map(|set| [set, &[*one][..]].concat());
        sets.extend(with.collect::<Vec<_>>());
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
[package]
rust-version = \"1.85\"

[features]
# What it is for.
io-uring = [\"dep:io-uring\"]
compio = []

[dependencies]
monoio = { version = \"0.2\" }
";

    #[test]
    fn features_and_versions_are_read_from_the_manifest() {
        assert_eq!(features_of(TEXT), Ok(vec!["io-uring", "compio"]));
        assert_eq!(value_of(TEXT, "rust-version"), Ok("1.85"));
        assert!(features_of("[package]\n").is_err());
        assert!(value_of("rust-version.workspace = true\n", "rust-version").is_err());
    }

    #[test]
    fn every_set_is_there_once() {
        assert_eq!(powerset(&[]), [Vec::<&str>::new()]);
        assert_eq!(
            powerset(&["a", "b"]),
            [vec![], vec!["a"], vec!["b"], vec!["a", "b"]]
        );
        assert_eq!(powerset(&["a", "b", "c"]).len(), 8);
    }
}
