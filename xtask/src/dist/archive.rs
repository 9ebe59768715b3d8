//! An archive for any Linux: the program, to be unpacked wherever one likes.

use super::About;
use super::machine::Machine;
use crate::project::output;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The name of the archive and of the folder in it.
pub(super) fn name(about: &About, machine: &Machine) -> String {
    format!("diskfacts-{}-{}-linux", about.version, machine.name)
}

/// Packs the folder `name` of `tree`.
///
/// # Errors
/// When tar or gzip fails.
pub(super) fn make(
    about: &About,
    tree: &Path,
    name: &str,
    folder: &Path,
) -> Result<PathBuf, String> {
    let path = folder.join(format!("{name}.tar"));
    // As https://reproducible-builds.org/docs/archives has it.
    let mut tar = about.then(Command::new("tar"));
    tar.args([
        "--create",
        "--sort=name",
        "--format=gnu",
        "--owner=0",
        "--group=0",
    ])
    .args([
        "--numeric-owner",
        "--mode=u=rwX,go=rX",
        &format!("--mtime=@{}", about.epoch),
    ])
    .arg("--file")
    .arg(&path)
    .arg("--directory")
    .arg(tree)
    .arg(name);
    output(&mut tar)?;
    super::stage::compress(std::slice::from_ref(&path))?;
    Ok(folder.join(format!("{name}.tar.gz")))
}
