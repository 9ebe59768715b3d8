//! Tests that cannot run here, and say so.

use std::fmt;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// What a test needs and this machine lacks, and how to have it: `"root: run
/// the tests with sudo"`, `"fio: apt-get install fio"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing(String);

impl Missing {
    /// `what` is missing; `remedy` is what to do or type.
    pub fn new(what: impl fmt::Display, remedy: impl fmt::Display) -> Self {
        Self(format!("{what}: {remedy}"))
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Missing {}

/// The value of a `Result<T, Missing>`; where it is missing, the calling test
/// is skipped: it says why and returns.
#[macro_export]
macro_rules! or_skip {
    ($needed:expr) => {
        match $needed {
            Ok(value) => value,
            Err(missing) => {
                let missing: $crate::Missing = missing;
                $crate::skip(&missing.to_string());
                return;
            }
        }
    };
}

/// Records that the calling test could not run here, and why. Call it once in
/// a test, and return.
///
/// `reason` names what is missing and how to have it: `"root: run the tests
/// with sudo"`. The line goes to standard error and, when the environment
/// variable `DISKFACTS_SKIP_LOG` names a file, is appended to it, where the
/// test command counts it: test binary, test and reason, separated by tabs.
///
/// # Panics
/// When the log cannot be written: a skip that is not counted must not pass.
pub fn skip(reason: &str) {
    let test = std::thread::current()
        .name()
        .unwrap_or("unnamed test")
        .to_owned();
    eprintln!("skipped: {test}: {reason}");
    if let Some(path) = std::env::var_os("DISKFACTS_SKIP_LOG") {
        let binary = std::env::current_exe().unwrap_or_default();
        append(Path::new(&path), &line(&binary, &test, reason));
    }
}

/// Records that so many writes were attempted and refused, and that a checksum from before
/// each was that from after it. Beside the log of skipped tests stands a file of these
/// numbers, which the test command adds up: a test that returned early attempted none.
///
/// # Panics
/// When the file cannot be written.
pub fn refused(writes: usize) {
    if let Some(mut path) = std::env::var_os("DISKFACTS_SKIP_LOG") {
        path.push(".refused");
        append(Path::new(&path), &format!("{writes}\n"));
    }
}

/// Whose turn it is to write to the log.
static TURN: Mutex<()> = Mutex::new(());

fn append(path: &Path, line: &str) {
    let mut log = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .unwrap_or_else(|error| panic!("opening the skip log {}: {error}", path.display()));
    // One write call per line, so that test binaries running side by side do
    // not tear each other's lines. Wine looks for the end of the file first and
    // writes then, so that threads of one take turns.
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    log.write_all(line.as_bytes())
        .unwrap_or_else(|error| panic!("writing the skip log {}: {error}", path.display()));
}

/// One line of the log. Cargo names a test binary `name-hash`; the hash says
/// nothing to people.
fn line(binary: &Path, test: &str, reason: &str) -> String {
    let stem = binary.file_stem().unwrap_or_default().to_string_lossy();
    let name = stem.rsplit_once('-').map_or(&*stem, |(name, _)| name);
    let flat = |text: &str| text.replace(['\t', '\n', '\r'], " ");
    format!("{}\t{}\t{}\n", flat(name), flat(test), flat(reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_log_has_three_fields_whatever_the_reason_holds() {
        let line = line(
            Path::new("target/debug/deps/directio-0123456789abcdef"),
            "tests::locks",
            "fio:\tapt-get\ninstall fio",
        );
        assert_eq!(line, "directio\ttests::locks\tfio: apt-get install fio\n");
    }

    #[test]
    fn skips_are_appended_to_the_log() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let log = folder.path().join("log");
        append(&log, "a\tb\tc\n");
        append(&log, "d\te\tf\n");
        assert_eq!(
            std::fs::read_to_string(&log).expect("the log"),
            "a\tb\tc\nd\te\tf\n"
        );
    }

    #[test]
    #[should_panic(expected = "opening the skip log")]
    fn a_skip_that_cannot_be_counted_does_not_pass() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        append(&folder.path().join("no such folder/log"), "a\tb\tc\n");
    }
}
