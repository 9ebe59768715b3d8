//! A comparison as workflow commands of GitHub Actions, which its pages show as annotations
//! ("Workflow commands for GitHub Actions"): an error for each stage in which a condition holds,
//! or could not be judged; a notice of what all of it comes to.

use super::clean;
use super::judged::stages;
use diskfacts_record::Comparison;
use std::fmt::Write as _;

/// The commands, a line each. Without `allow_unjudged` what could not be judged is an error, else
/// a warning.
pub fn commands(comparison: &Comparison, allow_unjudged: bool) -> String {
    let mut out = String::new();
    let mut command = |level: &str, title: &str, message: &str| {
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "::{level} title={}::{}",
            property(title),
            data(message)
        );
    };
    let unjudged = if allow_unjudged { "warning" } else { "error" };
    for stage in stages(comparison) {
        for given in &stage.holds {
            command("error", &format!("{}: {given}", stage.stage), &stage.said);
        }
        for given in &stage.unjudged {
            let title = format!("{}: {given} could not be judged", stage.stage);
            command(unjudged, &title, &stage.said);
        }
    }
    command("notice", "diskfacts compare", &comparison.summary);
    out
}

/// The text behind a command (`escapeData` of `@actions/core`).
fn data(text: &str) -> String {
    clean(text).replace('%', "%25")
}

/// The value of a property of one (`escapeProperty`).
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
