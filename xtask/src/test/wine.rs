//! The step of the Windows build: the tests of `directio`, run by Wine.
//!
//! Wine grants every flag, enforces few of them, and has no disks. So what is
//! learnt is that the calls are made, with which arguments, and how handles,
//! paths and errors come across; a test that needs a refusal of the real system
//! says so and is skipped.

use super::cargo;
use super::outcome::Outcome;
use crate::metadata::target_folder;
use crate::project::{Project, has_target, output};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const TARGET: &str = "x86_64-pc-windows-gnu";

/// The packages with code of their own for Windows that Wine can run.
const PACKAGES: [&str; 1] = ["directio"];

/// The linker that rustc takes for this target; also compiles the stub.
const LINKER: &str = "x86_64-w64-mingw32-gcc";

/// Rust's standard library takes its random numbers from `ProcessPrng` of this
/// library, which Wine 8 does not have; a program that needs it ends before its
/// first line (status 0xc0000135).
const RANDOM_LIBRARY: &str = "bcryptprimitives.dll";

/// `SystemFunction036` is `RtlGenRandom`, which Wine has.
const RANDOM_LIBRARY_SOURCE: &str = "\
#include <stddef.h>
__declspec(dllimport) unsigned char __stdcall SystemFunction036(void *, unsigned long);
__declspec(dllexport) int __stdcall ProcessPrng(unsigned char *bytes, size_t length) {
    return SystemFunction036(bytes, (unsigned long)length);
}
";

/// Where Debian puts Wine; there the one for 64 bits has no name in `PATH`.
const FOLDERS: [&str; 2] = ["/usr/lib/wine", "/usr/bin"];

/// Builds the tests for Windows and runs them.
///
/// # Errors
/// When what is installed does not work: Wine does not start, or the stub does
/// not compile.
pub(super) fn run(project: &Project) -> Result<Outcome, String> {
    let programs = match Programs::find(project)? {
        Ok(programs) => programs,
        Err(missing) => {
            let reason = missing.join("; ");
            println!("skipped: {reason}");
            return Ok(Outcome::skipped("all tests of directio", reason).on("Windows"));
        }
    };
    let windows = Windows::start(programs, &target_folder(project)?.join("wine"))?;
    let mut command = project.cargo(&["test", "--locked", "--no-fail-fast", "--target", TARGET]);
    for package in PACKAGES {
        command.args(["--package", package]);
    }
    command.env(
        "CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER",
        &windows.programs.wine,
    );
    windows.surround(&mut command);
    Ok(cargo::read_tests(command)?.on("Windows"))
}

/// What the step needs of the machine.
struct Programs {
    wine: PathBuf,
    server: PathBuf,
}

impl Programs {
    /// Where they are, or everything that is missing and how to have it.
    fn find(project: &Project) -> Result<Result<Self, Vec<String>>, String> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = FOLDERS.iter().map(PathBuf::from);
        let folders: Vec<PathBuf> = folders.chain(std::env::split_paths(&path)).collect();
        let find = |name: &str| {
            let mut files = folders.iter().map(|folder| folder.join(name));
            files.find(|file| file.is_file())
        };
        Ok(Self::among(find, has_target(project, TARGET)?))
    }

    fn among(find: impl Fn(&str) -> Option<PathBuf>, target: bool) -> Result<Self, Vec<String>> {
        let mut missing = Vec::new();
        let programs = find("wine64").zip(find("wineserver"));
        if programs.is_none() {
            missing.push("wine64: apt-get install wine64".to_owned());
        }
        if find(LINKER).is_none() {
            missing.push(format!("{LINKER}: apt-get install gcc-mingw-w64-x86-64"));
        }
        if !target {
            missing.push(format!("Rust for Windows: rustup target add {TARGET}"));
        }
        match programs {
            Some((wine, server)) if missing.is_empty() => Ok(Self { wine, server }),
            _ => Err(missing),
        }
    }
}

/// A Windows of our own, apart from that of the user. It ends with this value.
struct Windows {
    programs: Programs,
    /// Its disk `C:` and its registry.
    prefix: PathBuf,
}

impl Windows {
    fn start(programs: Programs, folder: &Path) -> Result<Self, String> {
        let failed = |what: &Path, error| format!("making {}: {error}", what.display());
        let prefix = folder.join("prefix");
        fs::create_dir_all(&prefix).map_err(|error| failed(&prefix, error))?;
        let windows = Self { programs, prefix };
        // The server and the services that it starts would otherwise be
        // children of the first test, and hold its output open.
        windows.quietly(&windows.programs.server, &["--persistent=600"])?;
        windows.quietly(&windows.programs.wine, &["wineboot", "--init"])?;

        let source = folder.join("random_library.c");
        fs::write(&source, RANDOM_LIBRARY_SOURCE).map_err(|error| failed(&source, error))?;
        let library = windows.prefix.join("drive_c/windows/system32");
        let library = library.join(RANDOM_LIBRARY);
        let mut compile = Command::new(LINKER);
        compile.args(["-shared", "-o"]).arg(&library).arg(&source);
        output(compile.arg("-ladvapi32"))?;
        Ok(windows)
    }

    /// Runs a program of Wine's own.
    fn quietly(&self, program: &Path, arguments: &[&str]) -> Result<(), String> {
        let mut command = Command::new(program);
        command.args(arguments);
        self.surround(&mut command);
        let status = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .map_err(|error| format!("starting {}: {error}", program.display()))?;
        if status.success() {
            return Ok(());
        }
        let arguments = arguments.join(" ");
        Err(format!(
            "Wine does not start: {} {arguments} ended with {status}; try it with WINEPREFIX={}",
            program.display(),
            self.prefix.display()
        ))
    }

    /// The environment of all that runs in it.
    fn surround(&self, command: &mut Command) {
        let settings: [(&str, &OsStr); 3] = [
            ("WINEPREFIX", self.prefix.as_os_str()),
            ("WINEDEBUG", "-all".as_ref()),
            // No entries in the user's menus, no offers to download.
            (
                "WINEDLLOVERRIDES",
                "winemenubuilder.exe=d;mscoree=d;mshtml=d".as_ref(),
            ),
        ];
        command.envs(settings);
    }
}

impl Drop for Windows {
    fn drop(&mut self) {
        for order in ["--kill", "--wait"] {
            let mut command = Command::new(&self.programs.server);
            self.surround(command.arg(order));
            // Without a server left to kill it says so by its status.
            if let Err(error) = command.stdin(Stdio::null()).status() {
                eprintln!("stopping Wine: {error}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(there: &[&str], target: bool) -> Option<Vec<String>> {
        let find = |name: &str| {
            there
                .contains(&name)
                .then(|| Path::new("/usr/bin").join(name))
        };
        Programs::among(find, target).err()
    }

    #[test]
    fn everything_that_is_missing_is_named_with_its_remedy() {
        let all = missing(&[], false).expect("nothing is there");
        assert_eq!(
            all.join("; "),
            "wine64: apt-get install wine64; \
             x86_64-w64-mingw32-gcc: apt-get install gcc-mingw-w64-x86-64; \
             Rust for Windows: rustup target add x86_64-pc-windows-gnu"
        );
    }

    #[test]
    fn one_thing_that_is_missing_is_enough_to_skip_the_step() {
        let all = ["wine64", "wineserver", LINKER];
        for gone in 0..all.len() {
            let mut there = all.to_vec();
            there.remove(gone);
            let missing = missing(&there, true).expect("one is missing");
            assert_eq!(missing.len(), 1, "{missing:?}");
        }
        let target = missing(&all, false).expect("the target is missing");
        assert!(target[0].contains("rustup target add"), "{target:?}");
        assert_eq!(missing(&all, true), None);
    }
}
