//! cargo-deny, a second opinion on licences and sources where it is installed.
//! It reads the same `deny.toml` as our own check. Its advisories are left
//! out: they change without any change here.

use super::{Found, compiler};
use crate::project::{Project, answers};

pub(super) fn check(project: &Project) -> Result<Found, String> {
    if !answers(&mut project.cargo(&["deny", "--version"])) {
        return Ok(Found {
            missing: Some("cargo-deny: cargo install cargo-deny --locked".to_owned()),
            ..Found::default()
        });
    }
    compiler::status(project.cargo(&[
        "deny",
        "--all-features",
        "--locked",
        "check",
        "bans",
        "licenses",
        "sources",
    ]))
}
