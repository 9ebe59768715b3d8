//! The step of the packages: they are made, installed where nothing else is, used and removed.
//!
//! They are made as those that are given away: what is not optimised is four times the size, and
//! the program must not be larger than is asserted where it is built.

mod debian;
mod red_hat;

use super::outcome::{Outcome, Skipped};
use crate::dist::{self, Machine};
use crate::metadata::target_folder;
use crate::project::{Project, is_there, output};
use crate::published;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Why a test did not pass.
enum Not {
    Passed(String),
    /// What is missing, and how to have it.
    Run(String),
}

impl From<String> for Not {
    fn from(why: String) -> Self {
        Self::Passed(why)
    }
}

/// What a test finds.
type Found = Result<(), Not>;

/// Packages, and where they were made.
struct Made {
    folder: PathBuf,
    files: Vec<PathBuf>,
}

impl Made {
    /// The only file that ends so.
    fn ending(&self, end: &str) -> Result<&Path, String> {
        let mut files = self
            .files
            .iter()
            .filter(|file| file.to_string_lossy().ends_with(end));
        let found = files.next().map(PathBuf::as_path);
        found.ok_or_else(|| format!("no package ends with {end}: {:?}", self.files))
    }
}

/// Makes packages for this machine and tests them.
///
/// # Errors
/// When the packages cannot be made.
pub(super) fn run(project: &Project) -> Result<Outcome, String> {
    let machine = dist::here()?;
    let mut missing = dist::tools_missing();
    missing.extend(machine.missing(project)?);
    if !missing.is_empty() {
        let reason = missing.join("; ");
        println!("skipped: {reason}");
        return Ok(Outcome::skipped("dist: all tests of the packages", reason));
    }
    let binary = dist::binary(project, machine)?;
    let folder = target_folder(project)?.join("test-packages");
    let made = packages(project, machine, &binary, &folder)?;
    let mut outcome = Outcome::default();
    let mut judge = |name: &str, found: Found| judge(&mut outcome, name, found);
    judge(
        "twice they have the same bytes",
        same_twice(project, machine, &binary, &made),
    );
    judge("their sums are right", sums_are_right(&made));
    judge(
        "the archive's program runs where it is unpacked",
        archive_runs(&made),
    );
    judge("lintian finds no error", lintian(&made));
    debian::test(project, &made, &mut judge);
    judge(
        "the RPM is installed and removed",
        red_hat::installed_and_removed(&made),
    );
    judge(
        "directio could be published",
        published::dry_run(project).map_err(Not::Passed),
    );
    judge(
        "directio, packed, is tested and used where it was unpacked",
        published::run(project, &[]).map(drop).map_err(Not::Passed),
    );
    fs::remove_dir_all(&folder)
        .map_err(|error| format!("removing {}: {error}", folder.display()))?;
    Ok(outcome)
}

fn judge(outcome: &mut Outcome, name: &str, found: Found) {
    let test = format!("dist: {name}");
    match found {
        Ok(()) => {
            println!("{test}: ok");
            outcome.passed += 1;
        }
        Err(Not::Passed(why)) => {
            println!("{test}: FAILED\n{why}");
            outcome.failed.push(test);
        }
        Err(Not::Run(reason)) => {
            println!("{test}: skipped: {reason}");
            outcome.skipped.push(Skipped { test, reason });
        }
    }
}

fn packages(
    project: &Project,
    machine: &'static Machine,
    binary: &Path,
    folder: &Path,
) -> Result<Made, String> {
    let files = dist::packages(project, &[(machine, binary.to_owned())], folder)?;
    let folder = folder.to_owned();
    Ok(Made { folder, files })
}

fn same_twice(project: &Project, machine: &'static Machine, binary: &Path, made: &Made) -> Found {
    // In another folder, whose name must be in none of them.
    let again = packages(project, machine, binary, &made.folder.join("again"))?;
    let read = |file: &Path| fs::read(file).map_err(|error| format!("{}: {error}", file.display()));
    for (first, second) in made.files.iter().zip(&again.files) {
        if read(first)? != read(second)? {
            return Err(Not::Passed(format!(
                "{} differs from {}: diffoscope shows where",
                first.display(),
                second.display()
            )));
        }
    }
    if made.files.len() < 4 {
        return Err(Not::Passed(format!("only {:?}", made.files)));
    }
    Ok(())
}

fn sums_are_right(made: &Made) -> Found {
    let mut check = Command::new("sha256sum");
    check
        .args(["--check", "--strict", "SHA256SUMS"])
        .current_dir(&made.folder);
    let said = output(&mut check)?;
    let right = said.lines().filter(|line| line.ends_with(": OK")).count();
    if right == 3 {
        Ok(())
    } else {
        Err(Not::Passed(said))
    }
}

fn archive_runs(made: &Made) -> Found {
    let to = made.folder.join("unpacked");
    fs::create_dir_all(&to).map_err(|error| format!("{}: {error}", to.display()))?;
    let mut unpack = Command::new("tar");
    unpack
        .args(["--extract", "--file"])
        .arg(made.ending(".tar.gz")?)
        .arg("-C")
        .arg(&to);
    output(&mut unpack)?;
    let listed = output(
        Command::new("find")
            .arg(&to)
            .args(["-name", "diskfacts", "-type", "f"]),
    )?;
    let said = output(Command::new(listed.trim()).arg("--version"))?;
    expect(&said, "diskfacts ")?;
    let files = output(Command::new("find").arg(&to).args(["-type", "f"]))?;
    for name in [
        "man/man1/diskfacts-measure.1",
        "LICENSES-OF-OTHERS",
        "completions/_diskfacts",
    ] {
        expect(&files, name)?;
    }
    Ok(())
}

fn lintian(made: &Made) -> Found {
    needs("lintian", "lintian")?;
    let mut lint = Command::new("lintian");
    lint.args(["--no-tag-display-limit", "--allow-root"])
        .arg(made.ending(".deb")?);
    let tags = output(lint.args(["--fail-on", "none"]))?;
    let errors: Vec<&str> = tags.lines().filter(|tag| tag.starts_with("E: ")).collect();
    if errors.is_empty() {
        return Ok(());
    }
    Err(Not::Passed(errors.join("\n")))
}

/// Skips the test where a program is not there.
fn needs(program: &str, package: &str) -> Found {
    if is_there(program) {
        return Ok(());
    }
    Err(Not::Run(format!("{program}: apt-get install {package}")))
}

fn needs_root() -> Found {
    if super::refused::is_root() {
        return Ok(());
    }
    Err(Not::Run(
        "root: a package is installed into a root of its own".to_owned(),
    ))
}

/// Fails unless the text has this in it.
fn expect(text: &str, wanted: &str) -> Result<(), String> {
    if text.contains(wanted) {
        Ok(())
    } else {
        Err(format!("no '{wanted}' in:\n{text}"))
    }
}
