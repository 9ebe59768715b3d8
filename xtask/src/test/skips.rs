//! The log in which `diskfacts_testkit::skip` writes the tests that could not
//! run: a test runner only sees that they passed. Beside it `diskfacts_testkit::refused`
//! writes how many writes were refused.

use super::outcome::Skipped;
use std::fmt::Display;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The variable that tells the tests where the log is.
pub(crate) const VARIABLE: &str = "DISKFACTS_SKIP_LOG";

/// A log for one run of one step. The file is removed at the end.
pub(crate) struct SkipLog {
    path: PathBuf,
}

impl SkipLog {
    /// An empty log.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(crate) fn new() -> Result<Self, String> {
        let name = format!("diskfacts-skips-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, "").map_err(|error| format!("making {}: {error}", path.display()))?;
        Ok(Self { path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What the tests wrote.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn read(&self) -> Result<Vec<Skipped>, String> {
        let text = fs::read_to_string(&self.path)
            .map_err(|error| format!("reading {}: {error}", self.path.display()))?;
        parse(&text)
    }

    fn of_refused(&self) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(".refused");
        path.into()
    }

    /// How many writes were refused in all.
    ///
    /// # Errors
    /// When that cannot be read.
    pub(crate) fn refused(&self) -> Result<u64, String> {
        let path = self.of_refused();
        let said = |error: &dyn Display| format!("reading {}: {error}", path.display());
        let text = match fs::read_to_string(&path) {
            // No test attempted any.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
            text => text.map_err(|error| said(&error))?,
        };
        let numbers = text.lines().map(str::parse::<u64>);
        numbers
            .sum::<Result<u64, _>>()
            .map_err(|error| said(&error))
    }
}

impl Drop for SkipLog {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            eprintln!("removing {}: {error}", self.path.display());
        }
        // Most runs attempt no write, and have none.
        let _ = fs::remove_file(self.of_refused());
    }
}

/// Lines of test binary, test and reason, separated by tabs.
fn parse(text: &str) -> Result<Vec<Skipped>, String> {
    text.lines()
        .map(|line| {
            let mut fields = line.splitn(3, '\t');
            match (fields.next(), fields.next(), fields.next()) {
                (Some(binary), Some(name), Some(reason)) => Ok(Skipped {
                    test: format!("{binary} {name}"),
                    reason: reason.to_owned(),
                }),
                _ => Err(format!("the skip log has a line that is none: '{line}'")),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_binary_a_test_and_a_reason() {
        let skipped = parse("throttle\treads::a\tfio: apt-get install fio\n").expect("one line");
        assert_eq!(
            skipped,
            [Skipped {
                test: "throttle reads::a".to_owned(),
                reason: "fio: apt-get install fio".to_owned(),
            }]
        );
        assert_eq!(parse(""), Ok(Vec::new()));
        assert!(parse("torn line\n").is_err());
    }

    #[test]
    fn the_log_is_gone_after_the_run() {
        let log = SkipLog::new().expect("a log");
        let path = log.path().to_owned();
        fs::write(&path, "a\tb\tc\n").expect("writing");
        assert_eq!(log.read().expect("reading").len(), 1);
        // Where the tests write it.
        let refused = PathBuf::from(format!("{}.refused", path.display()));
        assert_eq!(log.refused(), Ok(0));
        fs::write(&refused, "9\n11\n").expect("writing");
        assert_eq!(log.refused(), Ok(20));
        fs::write(&refused, "9\ntorn\n").expect("writing");
        assert!(log.refused().is_err());
        drop(log);
        assert!(!path.exists() && !refused.exists());
    }
}
