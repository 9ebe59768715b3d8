//! Running the system's own tools to set up storage.

use crate::{Missing, require_tool};
use std::ffi::OsStr;
use std::process::Command;

/// Runs a tool and returns what it printed, without the last line end.
///
/// # Errors
/// When the tool is not installed, or did not succeed: then with what it said.
pub(crate) fn run<A: AsRef<OsStr>>(
    program: &str,
    package: &str,
    arguments: impl IntoIterator<Item = A>,
) -> Result<String, Missing> {
    let path = require_tool(program, package)?;
    let mut command = Command::new(path);
    command.args(arguments);
    let output = command
        .output()
        .map_err(|error| Missing::new(format_args!("{command:?}"), error))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned())
    } else {
        Err(Missing::new(
            format_args!("{command:?} ended with {}", output.status),
            String::from_utf8_lossy(&output.stderr).trim(),
        ))
    }
}

/// For `drop`: what could not be taken down fails the test, unless it fails
/// already.
pub(crate) fn not_taken_down(what: &str, why: &dyn std::fmt::Display) {
    let message = format!("{what} could not be taken down: {why}");
    if std::thread::panicking() {
        eprintln!("{message}");
    } else {
        panic!("{message}");
    }
}
