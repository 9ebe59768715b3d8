//! The step of the npm package: `npm ci`, then its tests by Node's own runner,
//! whose TAP is read.

mod tap;

use super::exit::Exit;
use super::outcome::Outcome;
use crate::project::{Project, output};
use crate::stream;
use std::process::Command;

/// The folder of the package.
const PACKAGE: &str = "node";

/// The npm that stands beside Node: on Windows it is a script.
const NPM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };

/// The oldest Node whose test runner prints TAP on request (Node's changelog,
/// 18.15.0: `--test-reporter`). The package itself promises 18.0.
const NODE_MIN: (u32, u32) = (18, 15);

/// Runs the tests of the npm package.
///
/// Without Node the step is skipped, and counted as that. Without the registry
/// it fails: the development dependencies are named by a lock file, and a test
/// run that leaves them out must not look complete.
///
/// # Errors
/// When a program that is there cannot be started.
pub(super) fn run(project: &Project) -> Result<Outcome, String> {
    if let Some(reason) = missing(project) {
        println!("skipped: {reason}");
        return Ok(Outcome::skipped(
            "node: all tests of the npm package",
            reason,
        ));
    }
    // Impatiently: without a network this ends in a minute, not in ten.
    let install = npm(
        project,
        &[
            "ci",
            // The native half is built here, and not fetched.
            "--omit=optional",
            "--no-audit",
            "--no-fund",
            "--fetch-retries=1",
            "--fetch-timeout=30000",
        ],
    );
    let mut code = None;
    let ended = stream::run(install, &mut std::io::stdout(), |line| {
        code = code.take().or_else(|| error_code(line));
    })
    .map_err(|error| format!("starting npm: {error}"))?;
    let exit = Exit::of(&ended);
    if !exit.success {
        return Ok(Outcome::failed(&not_installed(code.as_deref(), &exit.text)));
    }
    let mut reader = tap::Reader::default();
    let tests = npm(project, &["run", "--silent", "test:tap"]);
    let ended = stream::run(tests, &mut std::io::stdout(), |line| reader.line(line))
        .map_err(|error| format!("starting npm: {error}"))?;
    Ok(reader.finish(&Exit::of(&ended)))
}

fn npm(project: &Project, arguments: &[&str]) -> Command {
    let mut command = project.command(NPM, &["--prefix", PACKAGE]);
    command.args(arguments);
    command
}

/// What of Node is not there, and how to have it.
fn missing(project: &Project) -> Option<String> {
    let node = output(&mut project.command("node", &["--version"])).ok();
    let npm = output(&mut project.command(NPM, &["--version"])).ok();
    lack(node.as_deref().map(str::trim), npm.is_some())
}

/// The reason to skip, from what `node --version` says and whether npm runs.
fn lack(node: Option<&str>, npm: bool) -> Option<String> {
    let (major, minor) = NODE_MIN;
    let needs = |what: &str| {
        Some(format!(
            "Node {major}.{minor} or later, with npm ({what}): apt-get install nodejs npm, or \
             https://nodejs.org"
        ))
    };
    let Some(version) = node else {
        return needs("node is not here");
    };
    match parsed(version) {
        Some(found) if found < NODE_MIN => needs(&format!("node is {version}")),
        None => needs(&format!("node calls itself '{version}'")),
        Some(_) if !npm => needs("npm is not here"),
        Some(_) => None,
    }
}

/// Major and minor of `v20.20.2`.
fn parsed(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.strip_prefix('v')?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// The code in `npm error code ENOTFOUND`; npm before version 10 writes `npm
/// ERR! code ENOTFOUND`.
fn error_code(line: &str) -> Option<String> {
    let rest = line
        .strip_prefix("npm error code ")
        .or_else(|| line.strip_prefix("npm ERR! code "))?;
    Some(rest.trim().to_owned())
}

/// Why there is nothing to test with. The codes of a registry that does not
/// answer are those of Node's `net`, `dns` and `http`, and npm's own `E5xx`.
fn not_installed(code: Option<&str>, status: &str) -> String {
    const UNREACHABLE: [&str; 9] = [
        "EAI_AGAIN",
        "ECONNREFUSED",
        "ECONNRESET",
        "EHOSTUNREACH",
        "ENETUNREACH",
        "ENOTFOUND",
        "ERR_SOCKET_TIMEOUT",
        "ETIMEDOUT",
        "FETCH_ERROR",
    ];
    match code {
        Some(code) if UNREACHABLE.contains(&code) || code.starts_with("E5") => format!(
            "npm ci: the npm registry cannot be reached ({code}); it is needed for TypeScript \
             (again: npm --prefix {PACKAGE} ci)"
        ),
        Some(code) => {
            format!("npm ci: see above ({code}, {status}; again: npm --prefix {PACKAGE} ci)")
        }
        None => format!("npm ci: see above ({status}; again: npm --prefix {PACKAGE} ci)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_decides_whether_the_step_can_run() {
        assert_eq!(lack(Some("v18.15.0"), true), None);
        assert_eq!(lack(Some("v24.1.0-nightly2025"), true), None);
        for (node, npm, why) in [
            (None, true, "node is not here"),
            (Some("v18.14.2"), true, "node is v18.14.2"),
            (Some("v9.11.2"), true, "node is v9.11.2"),
            (Some("garbage"), true, "node calls itself 'garbage'"),
            (Some("v20.20.2"), false, "npm is not here"),
        ] {
            let reason = lack(node, npm).expect("it cannot run");
            assert!(reason.contains(why), "{reason}");
            assert!(reason.contains("apt-get install nodejs npm"), "{reason}");
        }
    }

    #[test]
    fn a_registry_that_cannot_be_reached_is_told_apart_from_other_failures() {
        for line in ["npm error code ENOTFOUND", "npm ERR! code ENOTFOUND"] {
            let code = error_code(line).expect("a code");
            let why = not_installed(Some(&code), "exit status: 1");
            assert!(
                why.contains("registry cannot be reached (ENOTFOUND)"),
                "{why}"
            );
        }
        let why = not_installed(Some("EUSAGE"), "exit status: 1");
        assert!(why.contains("see above (EUSAGE, exit status: 1"), "{why}");
        assert!(!why.contains("registry"), "{why}");
        assert!(not_installed(None, "signal: 9").contains("signal: 9"));
        assert_eq!(error_code("npm warn deprecated"), None);
    }
}
