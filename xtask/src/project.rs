//! Where the project is, and which files are its own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The program with all that it can have. Every step asks for the same, so that it is built once;
/// what is missing without is held by `check architecture`.
pub(crate) const WHOLE: &str = "--features=diskfacts/fleet";

/// A checkout of the project.
pub(crate) struct Project {
    /// Its top folder.
    pub(crate) root: PathBuf,
    /// The cargo that started this command.
    cargo: OsString,
}

impl Project {
    /// The project that this command was built from.
    ///
    /// # Errors
    /// When the folder is no longer there.
    pub(crate) fn find() -> Result<Self, String> {
        let manifest =
            std::env::var_os("CARGO_MANIFEST_DIR").ok_or("start it with cargo: cargo xtask")?;
        let root = Path::new(&manifest)
            .parent()
            .ok_or("this package should be in the project's folder")?;
        Ok(Self {
            root: root.to_owned(),
            cargo: std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()),
        })
    }

    /// The same cargo, with these arguments, in the project's folder.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.cargo);
        command.args(arguments).current_dir(&self.root);
        command
    }

    /// Another program in the project's folder.
    pub(crate) fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.root);
        command
    }

    /// The files that belong to the project: known to git, or new and not
    /// ignored. Relative to the root, with `/` between folders, sorted.
    ///
    /// # Errors
    /// When git cannot say.
    pub(crate) fn files(&self) -> Result<Vec<String>, String> {
        let arguments = [
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ];
        let listed = output(&mut self.command("git", &arguments))?;
        let mut files: Vec<String> = listed
            .split('\0')
            .filter(|name| !name.is_empty() && self.root.join(name).is_file())
            .map(str::to_owned)
            .collect();
        files.sort();
        files.dedup();
        Ok(files)
    }
}

/// What a command prints.
///
/// # Errors
/// When it cannot run, or does not succeed; then with what it said.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("running {command:?}: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!(
            "{command:?} ended with {}:\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        ))
    }
}

/// Whether a program runs at all: `cargo deny --version`.
pub(crate) fn answers(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Whether a program of this name is in a folder of `PATH`.
pub(crate) fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Whether Rust's standard library is installed for a target.
///
/// # Errors
/// When rustc cannot be asked.
pub(crate) fn has_target(project: &Project, target: &str) -> Result<bool, String> {
    let sysroot = output(&mut project.command("rustc", &["--print", "sysroot"]))?;
    let library = Path::new(sysroot.trim()).join("lib/rustlib").join(target);
    Ok(library.is_dir())
}

/// Whether a path of the project ends like this; its case counts.
pub(crate) fn has_extension(path: &str, extension: &str) -> bool {
    path.rsplit_once('.')
        .is_some_and(|(stem, found)| found == extension && !stem.is_empty())
}
