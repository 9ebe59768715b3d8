//! The RPM in a root of its own. The program is static, so that nothing else has to be in it.

use super::{Found, Made, Not, expect, needs, needs_root};
use crate::project::output;
use std::path::Path;
use std::process::Command;

pub(super) fn installed_and_removed(made: &Made) -> Found {
    needs("rpm", "rpm")?;
    needs_root()?;
    let root = made.folder.join("red-hat");
    let rpm = |arguments: &[&str]| {
        let mut rpm = Command::new("rpm");
        output(rpm.arg("--root").arg(&root).args(arguments))
    };
    // Debian's rpm otherwise says that dpkg is what one wants.
    let on_debian = Path::new("/etc/debian_version").exists();
    let in_earnest: &[&str] = if on_debian { &["--force-debian"] } else { &[] };
    let package = made.ending(".rpm")?.to_string_lossy().into_owned();
    rpm(&[in_earnest, &["--install", &package]].concat())?;
    // Says what differs from the package, and fails.
    rpm(&["--verify", "diskfacts"])?;
    let listed = rpm(&["--query", "--list", "diskfacts"])?;
    for path in [
        "/usr/bin/diskfacts",
        "/usr/share/man/man1/diskfacts-measure.1.gz",
        "/usr/share/zsh/site-functions/_diskfacts",
        "/usr/share/licenses/diskfacts/LICENSE-MIT",
    ] {
        expect(&listed, path)?;
    }
    let said = output(Command::new(root.join("usr/bin/diskfacts")).arg("--version"))?;
    expect(&said, "diskfacts ")?;
    rpm(&[in_earnest, &["--erase", "diskfacts"]].concat())?;
    let left = output(
        Command::new("find")
            .arg(root.join("usr"))
            .args(["-name", "*diskfacts*"]),
    )?;
    if left.is_empty() {
        return Ok(());
    }
    Err(Not::Passed(format!("left behind: {left}")))
}
