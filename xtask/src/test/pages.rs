//! The step of the pages: those of `diskfacts serve` and `diskfacts report`, looked at with a
//! real Chromium.

use super::npm::{self, Folder};
use super::outcome::Outcome;
use crate::metadata::target_folder;
use crate::project::{Project, WHOLE, is_there, output};

const PAGES: Folder = Folder {
    called: "pages",
    path: "crates/cli/tests/pages",
    omitted: &[],
    needed_for: "playwright-core and axe-core",
};

/// The browser, by the name that Debian gives it.
const BROWSER: &str = "chromium";

/// Builds the program and looks at its pages.
///
/// # Errors
/// When the program cannot be built, or what is there cannot be started.
pub(super) fn run(project: &Project) -> Result<Outcome, String> {
    let browser = (!is_there(BROWSER)).then(|| format!("{BROWSER}: apt-get install {BROWSER}"));
    if let Some(reason) = npm::missing(project).or(browser) {
        println!("skipped: {reason}");
        return Ok(Outcome::skipped("pages: all tests of the pages", reason));
    }
    output(&mut project.cargo(&["build", "--locked", "--package", "diskfacts", WHOLE]))?;
    let program = target_folder(project)?.join("debug/diskfacts");
    npm::test(project, &PAGES, &[("DISKFACTS", program.as_os_str())])
}
