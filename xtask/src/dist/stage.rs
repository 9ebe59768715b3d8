//! What a package has, as a tree of files: the same for each kind of package, in the places that
//! its readers look at.

use super::write;
use crate::project::Project;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is packaged beside the files of the project.
pub(super) struct Contents<'a> {
    pub(super) binary: &'a Path,
    /// A folder with the manual pages.
    pub(super) pages: &'a Path,
    /// The licences of all that is in the program.
    pub(super) notices: &'a str,
}

/// Where what is put, below the root of the tree.
pub(super) struct Layout {
    program: String,
    pages: String,
    /// Manual pages and the changelog are compressed.
    compressed: bool,
    bash: String,
    zsh: String,
    fish: String,
    documents: String,
    changelog: String,
    /// Our two licences; in Debian's copyright file they are already.
    licences: Option<String>,
    notices: String,
}

impl Layout {
    /// An archive that is unpacked anywhere.
    pub(super) fn archive(name: &str) -> Self {
        let at = |path: &str| format!("{name}/{path}");
        Self {
            program: at("diskfacts"),
            pages: at("man/man1"),
            compressed: false,
            bash: at("completions/diskfacts.bash"),
            zsh: at("completions/_diskfacts"),
            fish: at("completions/diskfacts.fish"),
            documents: name.to_owned(),
            changelog: at("CHANGELOG.md"),
            licences: Some(name.to_owned()),
            notices: at("LICENSES-OF-OTHERS"),
        }
    }

    /// Debian and its relatives.
    pub(super) fn debian() -> Self {
        Self {
            zsh: "usr/share/zsh/vendor-completions/_diskfacts".to_owned(),
            licences: None,
            notices: "usr/share/doc/diskfacts/copyright".to_owned(),
            ..Self::system()
        }
    }

    /// Fedora, openSUSE and their relatives.
    pub(super) fn fedora() -> Self {
        Self {
            zsh: "usr/share/zsh/site-functions/_diskfacts".to_owned(),
            licences: Some("usr/share/licenses/diskfacts".to_owned()),
            notices: "usr/share/licenses/diskfacts/LICENSES-OF-OTHERS".to_owned(),
            ..Self::system()
        }
    }

    /// What packages have in common.
    fn system() -> Self {
        Self {
            program: "usr/bin/diskfacts".to_owned(),
            pages: "usr/share/man/man1".to_owned(),
            compressed: true,
            bash: "usr/share/bash-completion/completions/diskfacts".to_owned(),
            zsh: String::new(),
            fish: "usr/share/fish/vendor_completions.d/diskfacts.fish".to_owned(),
            documents: "usr/share/doc/diskfacts".to_owned(),
            changelog: "usr/share/doc/diskfacts/changelog".to_owned(),
            licences: None,
            notices: String::new(),
        }
    }
}

/// Puts everything into `root`, which is made. Times are not set: those who make packages do.
///
/// # Errors
/// When a file cannot be read, written or compressed.
pub(super) fn stage(
    project: &Project,
    contents: &Contents,
    layout: &Layout,
    root: &Path,
) -> Result<(), String> {
    let copy = |from: &Path, to: &str| {
        let bytes =
            fs::read(from).map_err(|error| format!("reading {}: {error}", from.display()))?;
        put(&root.join(to), &bytes, 0o644)
    };
    let ours = |from: &str, to: &str| copy(&project.root.join(from), to);
    let program = fs::read(contents.binary)
        .map_err(|error| format!("reading {}: {error}", contents.binary.display()))?;
    put(&root.join(&layout.program), &program, 0o755)?;
    ours("crates/cli/completions/diskfacts.bash", &layout.bash)?;
    ours("crates/cli/completions/diskfacts.zsh", &layout.zsh)?;
    ours("crates/cli/completions/diskfacts.fish", &layout.fish)?;
    ours("README.md", &format!("{}/README.md", layout.documents))?;
    let files = project.files()?;
    for page in files.iter().filter(|file| file.starts_with("docs/")) {
        ours(page, &format!("{}/{page}", layout.documents))?;
    }
    ours("CHANGELOG.md", &layout.changelog)?;
    if let Some(folder) = &layout.licences {
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            ours(licence, &format!("{folder}/{licence}"))?;
        }
    }
    put(
        &root.join(&layout.notices),
        contents.notices.as_bytes(),
        0o644,
    )?;
    let mut to_compress = vec![root.join(&layout.changelog)];
    for page in listed(contents.pages)? {
        let name = page
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let to = format!("{}/{name}", layout.pages);
        copy(&page, &to)?;
        to_compress.push(root.join(to));
    }
    if layout.compressed {
        compress(&to_compress)?;
    }
    Ok(())
}

/// Writes a file that all may read, whatever the mask of the process is.
pub(super) fn put(path: &Path, bytes: &[u8], mode: u32) -> Result<(), String> {
    write(path, bytes)?;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .map_err(|error| format!("setting the mode of {}: {error}", path.display()))
}

/// Compresses files in their place, without their names and times.
pub(super) fn compress(files: &[PathBuf]) -> Result<(), String> {
    let mut gzip = Command::new("gzip");
    crate::project::output(gzip.args(["--best", "--no-name", "--"]).args(files)).map(|_| ())
}

/// The files in a folder, sorted.
fn listed(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let said = |error| format!("reading {}: {error}", folder.display());
    let entries = fs::read_dir(folder).map_err(said)?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<Result<_, _>>().map_err(said)?;
    paths.sort();
    Ok(paths)
}

/// Every file below a folder, relative to it and sorted.
pub(super) fn below(root: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in listed(&folder)? {
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(root).unwrap_or(&path).to_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Gives folders the mode that they have in every package, and everything the same time.
pub(super) fn settle(root: &Path, time: std::time::SystemTime) -> Result<(), String> {
    let said = |path: &Path, error| format!("setting the time of {}: {error}", path.display());
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755))
            .map_err(|error| said(&folder, error))?;
        for path in listed(&folder)? {
            if path.is_dir() {
                folders.push(path.clone());
            }
        }
    }
    let mut all = vec![root.to_owned()];
    all.extend(below(root)?.iter().map(|file| root.join(file)));
    for path in &all {
        let file = fs::File::open(path).map_err(|error| said(path, error))?;
        file.set_modified(time).map_err(|error| said(path, error))?;
    }
    Ok(())
}
