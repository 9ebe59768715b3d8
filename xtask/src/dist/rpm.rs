//! The package for Fedora, openSUSE and their relatives, written by `rpmbuild`.

use super::machine::Machine;
use super::stage::{below, settle};
use super::{About, DESCRIPTION, SUMMARY, write};
use crate::project::output;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Macros without which the bytes depend on the machine, or the program is changed.
const MACROS: [(&str, &str); 9] = [
    ("_buildhost", "localhost"),
    ("use_source_date_epoch_as_buildtime", "1"),
    ("clamp_mtime_to_source_date_epoch", "1"),
    ("source_date_epoch_from_changelog", "0"),
    ("_build_id_links", "none"),
    ("debug_package", "%{nil}"),
    ("__os_install_post", "%{nil}"),
    // Which every rpm reads.
    ("_binary_payload", "w9.xzdio"),
    ("_rpmfilename", "%{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm"),
];

/// Packs the tree; `work` is a folder for what is made on the way.
///
/// # Errors
/// When a file cannot be written, or `rpmbuild` fails.
pub(super) fn make(
    about: &About,
    machine: &Machine,
    tree: &Path,
    work: &Path,
    folder: &Path,
) -> Result<PathBuf, String> {
    settle(tree, about.time())?;
    let spec = work.join(format!("{}.spec", machine.name));
    write(&spec, self::spec(about, tree)?.as_bytes())?;
    let mut build = about.then(Command::new("rpmbuild"));
    build.args([
        "-bb",
        "--quiet",
        "--target",
        &format!("{}-linux", machine.name),
    ]);
    for (name, value) in MACROS {
        build.args(["--define", &format!("{name} {value}")]);
    }
    let top = work.join("rpmbuild");
    build.args(["--define", &format!("_topdir {}", top.display())]);
    build.args(["--define", &format!("_rpmdir {}", folder.display())]);
    output(build.arg(&spec))?;
    let name = format!("diskfacts-{}-1.{}.rpm", about.version, machine.name);
    let path = folder.join(name);
    if path.is_file() {
        Ok(path)
    } else {
        Err(format!("rpmbuild made no {}", path.display()))
    }
}

/// What `rpmbuild` makes of the tree: a copy, with each of its files named.
fn spec(about: &About, tree: &Path) -> Result<String, String> {
    let mut files = String::new();
    let mut folders = BTreeSet::new();
    for file in below(tree)? {
        // Those of ours, which are to go with it.
        let above = file.ancestors().skip(1);
        let ours = above.filter(|one| one.iter().any(|part| part == "diskfacts"));
        folders.extend(ours.map(Path::to_owned));
        let path = file.display();
        let mark = match path.to_string() {
            path if path.starts_with("usr/share/licenses/") => "%license ",
            path if path.starts_with("usr/share/doc/") => "%doc ",
            _ => "",
        };
        let mode = if file.starts_with("usr/bin") {
            "0755"
        } else {
            "0644"
        };
        let _ = writeln!(files, "%attr({mode}, root, root) {mark}\"/{path}\"");
    }
    for folder in folders {
        let _ = writeln!(files, "%dir \"/{}\"", folder.display());
    }
    Ok(format!(
        "Name: diskfacts\nVersion: {}\nRelease: 1\nSummary: {SUMMARY}\nLicense: MIT OR \
         Apache-2.0\nAutoReqProv: no\n\n%description\n{DESCRIPTION}\n\n%install\ncp -a '{}/.' \
         %{{buildroot}}/\n\n%files\n{files}",
        about.version,
        tree.display()
    ))
}
