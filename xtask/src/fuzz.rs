//! `cargo xtask fuzz`: random input for a parser, through cargo-fuzz.

use crate::project::{Project, answers};
use std::fs;
use std::process::Command;

const INSTALL: &str = "\
fuzzing needs a nightly compiler and cargo-fuzz:
  rustup toolchain install nightly
  cargo install cargo-fuzz --locked
The corpora are replayed by `cargo xtask test` without either.";

/// How long a target is fuzzed when nothing else is said.
const DEFAULT_SECONDS: u64 = 60;

/// Fuzzes one target, or lists them all; says whether no input broke it.
///
/// # Errors
/// When the call is wrong, or a tool is missing.
pub(crate) fn run(project: &Project, arguments: &[&str]) -> Result<bool, String> {
    let (target, seconds) = parse(arguments)?;
    let targets = targets(project)?;
    let Some(target) = target else {
        println!("targets: {}", targets.join(", "));
        return Ok(true);
    };
    if !targets.contains(&target.to_owned()) {
        return Err(format!(
            "there is no target '{target}'; there are {}",
            targets.join(", ")
        ));
    }
    // The compiler of this command is pinned; cargo-fuzz needs a nightly one.
    let nightly = |arguments: &[&str]| -> Command {
        let mut command = project.command("rustup", &["run", "nightly", "cargo", "fuzz"]);
        command.args(arguments);
        for variable in ["CARGO", "RUSTUP_TOOLCHAIN", "RUSTC", "RUSTDOC"] {
            command.env_remove(variable);
        }
        command
    };
    if !answers(&mut nightly(&["--version"])) {
        return Err(INSTALL.to_owned());
    }
    // What is fuzzed is what is built elsewhere: the same versions of all
    // dependencies.
    fs::copy(
        project.root.join("Cargo.lock"),
        project.root.join("fuzz/Cargo.lock"),
    )
    .map_err(|error| format!("copying Cargo.lock to fuzz: {error}"))?;
    // libFuzzer keeps what it finds in the first folder, and only reads the
    // second: the corpus stays what people chose.
    let found = format!("fuzz/found/{target}");
    fs::create_dir_all(project.root.join(&found))
        .map_err(|error| format!("making {found}: {error}"))?;
    let corpus = format!("fuzz/corpus/{target}");
    let limit = format!("-max_total_time={seconds}");
    let status = nightly(&["run", target, &found, &corpus, "--", &limit])
        .status()
        .map_err(|error| format!("starting cargo-fuzz: {error}"))?;
    if !status.success() {
        println!(
            "{target}: an input that broke it is kept in fuzz/artifacts/{target}; \
             move it to fuzz/corpus/{target}, where every test run replays it"
        );
    }
    Ok(status.success())
}

fn parse<'a>(arguments: &[&'a str]) -> Result<(Option<&'a str>, u64), String> {
    let mut target = None;
    let mut seconds = DEFAULT_SECONDS;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match *argument {
            "--seconds" => {
                seconds = rest
                    .next()
                    .and_then(|number| number.parse().ok())
                    .filter(|seconds| *seconds > 0)
                    .ok_or("--seconds takes a whole number above 0")?;
            }
            name if !name.starts_with('-') && target.is_none() => target = Some(name),
            other => {
                return Err(format!(
                    "'{other}' is not understood: cargo xtask fuzz [TARGET] [--seconds N]"
                ));
            }
        }
    }
    Ok((target, seconds))
}

/// The targets: one file each.
fn targets(project: &Project) -> Result<Vec<String>, String> {
    let folder = project.root.join("fuzz/fuzz_targets");
    let entries =
        fs::read_dir(&folder).map_err(|error| format!("reading {}: {error}", folder.display()))?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            name.strip_suffix(".rs").map(str::to_owned)
        })
        .collect();
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_and_a_time_are_understood_in_any_order() {
        assert_eq!(parse(&[]), Ok((None, DEFAULT_SECONDS)));
        assert_eq!(parse(&["units"]), Ok((Some("units"), DEFAULT_SECONDS)));
        assert_eq!(parse(&["--seconds", "5", "units"]), Ok((Some("units"), 5)));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for wrong in [
            &["--seconds"][..],
            &["--seconds", "0"],
            &["--seconds", "long"],
            &["--fast"],
            &["one", "two"],
        ] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
