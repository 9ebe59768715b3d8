//! Tests of packages of npm: `npm ci`, then their script `test:tap`, whose TAP is read.

use super::exit::Exit;
use super::outcome::Outcome;
use super::tap;
use crate::project::{Project, output};
use crate::stream;
use std::ffi::OsStr;
use std::process::Command;

/// The npm that stands beside Node: on Windows it is a script.
const NPM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };

/// The oldest Node whose test runner prints TAP on request (Node's changelog,
/// 18.15.0: `--test-reporter`). The package itself promises 18.0.
const NODE_MIN: (u32, u32) = (18, 15);

/// A folder with a package whose tests are run.
pub(super) struct Folder {
    /// What stands before the names of its tests.
    pub(super) called: &'static str,
    /// From the project's folder.
    pub(super) path: &'static str,
    /// What of its dependencies is not installed, as options of `npm ci`.
    pub(super) omitted: &'static [&'static str],
    /// For what the registry is needed.
    pub(super) needed_for: &'static str,
}

/// Installs exactly what the lock file of a folder names, and runs its script `test:tap` with
/// these variables.
///
/// # Errors
/// When npm cannot be started.
pub(super) fn test(
    project: &Project,
    folder: &Folder,
    variables: &[(&str, &OsStr)],
) -> Result<Outcome, String> {
    // Impatiently: without a network this ends in a minute, not in ten.
    let mut install = npm(project, folder, &["ci", "--no-audit", "--no-fund"]);
    install.args(["--fetch-retries=1", "--fetch-timeout=30000"]);
    install.args(folder.omitted);
    let mut code = None;
    let ended = stream::run(install, &mut std::io::stdout(), |line| {
        code = code.take().or_else(|| error_code(line));
    })
    .map_err(|error| format!("starting npm: {error}"))?;
    let exit = Exit::of(&ended);
    if !exit.success {
        return Ok(Outcome::failed(&not_installed(
            folder,
            code.as_deref(),
            &exit.text,
        )));
    }
    let mut reader = tap::Reader::of(folder.called);
    let mut tests = npm(project, folder, &["run", "--silent", "test:tap"]);
    tests.envs(variables.iter().copied());
    let ended = stream::run(tests, &mut std::io::stdout(), |line| reader.line(line))
        .map_err(|error| format!("starting npm: {error}"))?;
    Ok(reader.finish(&Exit::of(&ended)))
}

fn npm(project: &Project, folder: &Folder, arguments: &[&str]) -> Command {
    let mut command = project.command(NPM, &["--prefix", folder.path]);
    command.args(arguments);
    command
}

/// What of Node is not there, and how to have it.
pub(super) fn missing(project: &Project) -> Option<String> {
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
fn not_installed(folder: &Folder, code: Option<&str>, status: &str) -> String {
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
    let Folder {
        path, needed_for, ..
    } = folder;
    match code {
        Some(code) if UNREACHABLE.contains(&code) || code.starts_with("E5") => format!(
            "npm ci: the npm registry cannot be reached ({code}); it is needed for \
             {needed_for} (again: npm --prefix {path} ci)"
        ),
        Some(code) => {
            format!("npm ci: see above ({code}, {status}; again: npm --prefix {path} ci)")
        }
        None => format!("npm ci: see above ({status}; again: npm --prefix {path} ci)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOLDER: Folder = Folder {
        called: "node",
        path: "node",
        omitted: &[],
        needed_for: "TypeScript",
    };

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
            let why = not_installed(&FOLDER, Some(&code), "exit status: 1");
            assert!(
                why.contains("registry cannot be reached (ENOTFOUND)"),
                "{why}"
            );
        }
        let why = not_installed(&FOLDER, Some("EUSAGE"), "exit status: 1");
        assert!(why.contains("see above (EUSAGE, exit status: 1"), "{why}");
        assert!(!why.contains("registry"), "{why}");
        assert!(not_installed(&FOLDER, None, "signal: 9").contains("signal: 9"));
        assert_eq!(error_code("npm warn deprecated"), None);
    }
}
