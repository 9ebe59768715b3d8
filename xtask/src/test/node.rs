//! The step of the npm package: its tests, by Node's own runner.

use super::npm::{self, Folder};
use super::outcome::Outcome;
use crate::project::Project;

/// The folder of the package. The native half is built there, and not fetched.
const PACKAGE: Folder = Folder {
    called: "node",
    path: "node",
    omitted: &["--omit=optional"],
    needed_for: "TypeScript",
};

/// Runs the tests of the npm package.
///
/// Without Node the step is skipped, and counted as that. Without the registry
/// it fails: the development dependencies are named by a lock file, and a test
/// run that leaves them out must not look complete.
///
/// # Errors
/// When a program that is there cannot be started.
pub(super) fn run(project: &Project) -> Result<Outcome, String> {
    if let Some(reason) = npm::missing(project) {
        println!("skipped: {reason}");
        return Ok(Outcome::skipped(
            "node: all tests of the npm package",
            reason,
        ));
    }
    npm::test(project, &PACKAGE, &[])
}
