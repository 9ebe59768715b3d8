//! The package for Debian and its relatives, written by `dpkg-deb`. The program is static, so it
//! depends on nothing.

use super::machine::Machine;
use super::stage::{below, compress, put};
use super::{About, DESCRIPTION, SUMMARY, size};
use crate::project::output;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How often this version was packaged.
const REVISION: u32 = 1;

/// Packs the tree.
///
/// # Errors
/// When a file cannot be read or written, or `dpkg-deb` fails.
pub(super) fn make(
    about: &About,
    machine: &Machine,
    tree: &Path,
    folder: &Path,
) -> Result<PathBuf, String> {
    let version = format!("{}-{REVISION}", about.version);
    let changelog = tree.join("usr/share/doc/diskfacts/changelog.Debian");
    put(&changelog, changes(about, &version)?.as_bytes(), 0o644)?;
    compress(&[changelog])?;
    let files = below(tree)?;
    let mut bytes = 0;
    for file in &files {
        bytes += size(&tree.join(file))?;
    }
    let mut sums = Command::new("md5sum");
    let sums = output(sums.arg("--").args(&files).current_dir(tree))?;
    put(&tree.join("DEBIAN/md5sums"), sums.as_bytes(), 0o644)?;
    let control = control(about, machine, &version, bytes);
    put(&tree.join("DEBIAN/control"), control.as_bytes(), 0o644)?;
    super::stage::settle(tree, about.time())?;
    let path = folder.join(format!("diskfacts_{version}_{}.deb", machine.deb));
    let mut build = about.then(Command::new("dpkg-deb"));
    // In several threads xz makes other bytes than in one.
    build.env("DPKG_DEB_THREADS_MAX", "1");
    build.args(["--root-owner-group", "-Zxz", "--build"]);
    output(build.arg(tree).arg(&path))?;
    Ok(path)
}

fn control(about: &About, machine: &Machine, version: &str, bytes: u64) -> String {
    let description = DESCRIPTION.lines().map(|line| format!(" {line}\n"));
    format!(
        "Package: diskfacts\nVersion: {version}\nArchitecture: {}\nMaintainer: {}\n\
         Installed-Size: {}\nSection: utils\nPriority: optional\nDescription: {SUMMARY}\n{}",
        machine.deb,
        about.maintainer,
        bytes.div_ceil(1024),
        description.collect::<String>()
    )
}

/// Debian's own changelog, which says that there is a package.
fn changes(about: &About, version: &str) -> Result<String, String> {
    let mut date = Command::new("date");
    date.args(["--utc", "--rfc-email", &format!("--date=@{}", about.epoch)]);
    let date = output(&mut about.then(date))?;
    Ok(format!(
        "diskfacts ({version}) unstable; urgency=medium\n\n  * What is new stands in \
         changelog.gz.\n\n -- {}  {}\n",
        about.maintainer,
        date.trim()
    ))
}
