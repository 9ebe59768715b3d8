//! Exit codes, and how errors are told.

use diskfacts_host::signals::EndSignal;
use std::fmt;
use std::io::Write;
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How the command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It did what was asked.
    Done,
    /// An operation failed: an I/O error, no space.
    Failed,
    /// The call was wrong.
    WrongCall,
    /// A verdict that was asked for failed.
    VerdictFailed,
    /// A verdict or a condition that was asked for could not be judged.
    Unjudged,
    /// Stopped by a signal.
    Stopped(EndSignal),
    /// Ended by the key `q` of a full screen.
    Quit,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::WrongCall => 2,
            Exit::VerdictFailed => 3,
            Exit::Unjudged => 4,
            // What a shell reports for a signal, whose numbers end at 64.
            Exit::Stopped(signal) => 128 + u8::try_from(signal.number()).unwrap_or(0),
            // As with Ctrl-C, whose place it takes.
            Exit::Quit => return Exit::Stopped(EndSignal::Interrupt).into(),
        })
    }
}

impl Exit {
    /// What ended it, where somebody did: `Ctrl-C`.
    pub(crate) fn ended_by(self) -> Option<&'static str> {
        match self {
            Self::Stopped(signal) => Some(signal.name()),
            Self::Quit => Some("q"),
            Self::Done | Self::Failed | Self::WrongCall | Self::VerdictFailed | Self::Unjudged => {
                None
            }
        }
    }

    /// The same of what goes on until somebody ends it, with Ctrl-C or `q`: that is its usual
    /// end.
    pub(crate) fn usual(self) -> Self {
        match self {
            Self::Stopped(EndSignal::Interrupt) | Self::Quit => Self::Done,
            exit => exit,
        }
    }

    /// The same, where what could not be judged is allowed to be so.
    pub(crate) fn allowing_unjudged(self, allowed: bool) -> Self {
        match self {
            Self::Unjudged if allowed => Self::Done,
            exit => exit,
        }
    }
}

/// An exit code, for who reads of it.
pub(crate) struct Code {
    pub(crate) number: &'static str,
    /// For `--help`.
    pub(crate) brief: &'static str,
    /// For the reference.
    pub(crate) meaning: &'static str,
}

/// Every exit code.
pub(crate) const CODES: [Code; 9] = [
    Code {
        number: "0",
        brief: "done",
        meaning: "done. A warning among the findings does not change it",
    },
    Code {
        number: "1",
        brief: "an operation failed",
        meaning: "an operation failed: an I/O error during a trial, or when what it wrote was \
                  written back (what was complete is stored and printed); no operation completed \
                  in any trial; no space, a file larger than `ulimit -f`, a store that cannot be \
                  opened or written, a standard output that is closed or full; `sim --reproduce` \
                  missed a gate",
    },
    Code {
        number: "2",
        brief: "the call was wrong",
        meaning: "the call was wrong: an unknown option, a target that does not exist, a plan \
                  that cannot be, a device that may not be written",
    },
    Code {
        number: "3",
        brief: "a verdict asked for with --for failed, or a condition of --fail-if held",
        meaning: "a verdict that was asked for with `--for` is `FAIL`, or a condition of \
                  `compare --fail-if` holds",
    },
    Code {
        number: "4",
        brief: "one of them could not be judged",
        meaning: "a verdict of `--for` or a condition of `--fail-if` could not be judged, and \
                  none fails: not all that it needs was measured, or means what it says. \
                  `--allow-unjudged` makes it 0",
    },
    Code {
        number: "130",
        brief: "stopped by Ctrl-C",
        meaning: "stopped by Ctrl-C (SIGINT); `iostat`, `watch`, `readahead` and `serve` end with 0 then",
    },
    Code {
        number: "143",
        brief: "stopped by SIGTERM",
        meaning: "stopped by SIGTERM",
    },
    Code {
        number: "129",
        brief: "by SIGHUP",
        meaning: "stopped by SIGHUP: a terminal was closed, or a connection broke",
    },
    Code {
        number: "131",
        brief: "by SIGQUIT",
        meaning: "stopped by SIGQUIT",
    },
];

/// Why the command could not do what was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    error: anyhow::Error,
}

impl Failure {
    /// The call was wrong; the message says what would be right.
    pub(crate) fn wrong_call(message: impl fmt::Display) -> Self {
        Self {
            exit: Exit::WrongCall,
            error: anyhow::anyhow!("{message}"),
        }
    }

    /// An operation failed.
    pub(crate) fn failed(message: impl fmt::Display) -> Self {
        Self {
            exit: Exit::Failed,
            error: anyhow::anyhow!("{message}"),
        }
    }

    /// This error, and how the command ends for it.
    pub(crate) fn of(exit: Exit, error: impl Into<anyhow::Error>) -> Self {
        Self {
            exit,
            error: error.into(),
        }
    }

    /// The same with another sentence behind it, on a line of its own.
    pub(crate) fn and(self, sentence: &str) -> Self {
        Self {
            exit: self.exit,
            error: anyhow::anyhow!("{:#}\n{sentence}", self.error),
        }
    }

    /// Stopped by a signal before anything was measured.
    pub(crate) fn interrupted(exit: Exit) -> Self {
        Self {
            exit,
            error: anyhow::anyhow!("stopped before anything was measured; nothing is left behind"),
        }
    }

    /// The same while a target that was there already was being filled.
    pub(crate) fn interrupted_filling(exit: Exit, given: &str) -> Self {
        Self {
            exit,
            error: anyhow::anyhow!(
                "stopped before anything was measured; what was written on {given} stays written"
            ),
        }
    }

    /// One line for the error and one for each cause that it does not tell
    /// already.
    pub(crate) fn print(&self) {
        say(&format!("diskfacts: {}", self.error));
        for cause in self.causes() {
            say(&format!("  because: {cause}"));
        }
    }

    /// All of it in one sentence, without a full stop.
    pub(crate) fn sentence(&self) -> String {
        let mut said = self.error.to_string();
        for cause in self.causes() {
            said.push_str(": ");
            said.push_str(&cause);
        }
        said
    }

    /// What each cause adds to what was said before it.
    fn causes(&self) -> Vec<String> {
        let mut told = vec![self.error.to_string()];
        for cause in self.error.chain().skip(1) {
            let cause = cause.to_string();
            // Libraries that wrap an error often say no more than it does.
            if !told
                .iter()
                .any(|said| said.contains(&cause) || cause.ends_with(said.as_str()))
            {
                told.push(cause);
            }
        }
        told.split_off(1)
    }
}

/// A line on standard error. That nobody reads it any more, as in
/// `diskfacts measure . 2>&1 | head`, is no reason to stop measuring.
pub(crate) fn say(line: &str) {
    put(line, true);
}

/// The same of what will be over when a full screen ends.
pub(crate) fn say_for_now(line: &str) {
    put(line, false);
}

fn put(line: &str, stays: bool) {
    let line = clean(line);
    if let Some(held) = &mut *held() {
        held.last = Some(line.clone());
        held.lines.extend(stays.then_some(line));
        return;
    }
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// What is said while a full screen is open, which lines would be written across.
#[derive(Default)]
struct Held {
    lines: Vec<String>,
    last: Option<String>,
}

static HELD: Mutex<Option<Held>> = Mutex::new(None);

fn held() -> MutexGuard<'static, Option<Held>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on what is said is held back.
pub(crate) fn hold() {
    held().get_or_insert_default();
}

/// The last that was held back.
pub(crate) fn last_held() -> Option<String> {
    held().as_ref()?.last.clone()
}

/// From now on what is said is seen at once, and what was held back is now.
pub(crate) fn let_go() {
    let held = held().take().unwrap_or_default();
    for line in held.lines {
        say(&line);
    }
}

/// Text with its control characters escaped, but for line ends: names of files
/// and stages come from outside, and must not move the cursor.
pub(crate) fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() && c != '\n' {
            clean.extend(c.escape_default());
        } else {
            clean.push(c);
        }
    }
    clean
}

/// Turns errors into failures, with the exit code they deserve.
pub(crate) trait OrFail<T> {
    /// The call was wrong.
    fn or_wrong_call(self) -> Result<T, Failure>;
    /// An operation failed.
    fn or_failed(self) -> Result<T, Failure>;
}

impl<T, E: Into<anyhow::Error>> OrFail<T> for Result<T, E> {
    fn or_wrong_call(self) -> Result<T, Failure> {
        self.map_err(|error| Failure {
            exit: Exit::WrongCall,
            error: error.into(),
        })
    }

    fn or_failed(self) -> Result<T, Failure> {
        self.map_err(|error| Failure {
            exit: Exit::Failed,
            error: error.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_each_cause_that_adds_something() {
        let cause = anyhow::anyhow!("No space left on device")
            .context("writing failed: No space left on device")
            .context("storing a trial");
        let failure = Err::<(), _>(cause).or_failed().err();
        let sentence = failure.map(|failure| failure.sentence());
        assert_eq!(
            sentence.as_deref(),
            Some("storing a trial: writing failed: No space left on device")
        );
    }

    #[test]
    fn control_characters_are_shown_and_not_done() {
        assert_eq!(clean("a\x1b[2Jb\r\n\u{9b}c"), "a\\u{1b}[2Jb\\r\n\\u{9b}c");
    }
}
