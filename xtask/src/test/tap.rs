//! How Node's test runner prints TAP (<https://testanything.org>), and how it
//! is read.

use crate::test::exit::Exit;
use crate::test::outcome::{Outcome, Skipped};

/// Reads the lines of `node --test --test-reporter=tap` one by one.
///
/// The numbers come from the closing lines, `# pass 91` and its like; they count
/// subtests too. Names come from the lines of the tests, `not ok 3 - NAME` and
/// `ok 4 - NAME # SKIP reason`, in any depth. What a test prints cannot be taken
/// for either: the runner writes it as comments, in which it escapes every `#`.
pub(super) struct Reader {
    /// What stands before the name of each test.
    of: &'static str,
    closing: Closing,
    failed: Vec<String>,
    skipped: Vec<Skipped>,
}

/// The closing lines, as far as they have come.
#[derive(Default)]
struct Closing {
    tests: Option<u64>,
    pass: Option<u64>,
    fail: Option<u64>,
    cancelled: Option<u64>,
    skipped: Option<u64>,
    todo: Option<u64>,
}

/// All six numbers.
struct Numbers {
    pass: u64,
    /// With what was cancelled, as by a time limit.
    fail: u64,
    /// With what is marked as to be done, whose result counts for nothing.
    skipped: u64,
    /// Whether they add up to the number of tests.
    add_up: bool,
}

impl Closing {
    fn read(&mut self, line: &str) {
        let Some((what, number)) = line
            .strip_prefix("# ")
            .and_then(|rest| rest.split_once(' '))
        else {
            return;
        };
        let place = match what {
            "tests" => &mut self.tests,
            "pass" => &mut self.pass,
            "fail" => &mut self.fail,
            "cancelled" => &mut self.cancelled,
            "skipped" => &mut self.skipped,
            "todo" => &mut self.todo,
            _ => return,
        };
        if let Ok(number) = number.parse() {
            *place = Some(number);
        }
    }

    fn numbers(&self) -> Option<Numbers> {
        let (pass, fail) = (self.pass?, self.fail? + self.cancelled?);
        let skipped = self.skipped? + self.todo?;
        Some(Numbers {
            pass,
            fail,
            skipped,
            add_up: pass + fail + skipped == self.tests?,
        })
    }
}

impl Reader {
    /// Of the tests of a package.
    pub(super) fn of(package: &'static str) -> Self {
        Self {
            of: package,
            closing: Closing::default(),
            failed: Vec::new(),
            skipped: Vec::new(),
        }
    }

    fn named(&self, test: &str) -> String {
        format!("{}: {test}", self.of)
    }

    pub(super) fn line(&mut self, line: &str) {
        self.closing.read(line);
        // A test inside another is indented.
        let line = line.trim_start();
        if let Some(point) = line.strip_prefix("not ok ").and_then(point) {
            match point.directive {
                Some(Directive::Todo) => self.skip(&point.name, "marked as to be done"),
                _ => self.failed.push(self.named(&point.name)),
            }
        } else if let Some(point) = line.strip_prefix("ok ").and_then(point) {
            match point.directive {
                Some(Directive::Skip(reason)) => self.skip(&point.name, &reason),
                Some(Directive::Todo) => self.skip(&point.name, "marked as to be done"),
                None => {}
            }
        }
    }

    fn skip(&mut self, name: &str, reason: &str) {
        let reason = if reason.is_empty() {
            "marked as skipped"
        } else {
            reason
        };
        self.skipped.push(Skipped {
            test: self.named(name),
            reason: reason.to_owned(),
        });
    }

    /// What was found. A run that was cut off has no closing lines, and failed.
    pub(super) fn finish(self, exit: &Exit) -> Outcome {
        let unnamed = self.named("a test");
        let Some(numbers) = self.closing.numbers() else {
            let mut outcome = Outcome {
                failed: self.failed,
                skipped: self.skipped,
                ..Outcome::default()
            };
            outcome.failed.push(format!(
                "{}: the tests ended before their closing lines ({})",
                self.of, exit.text
            ));
            return outcome;
        };
        let mut outcome = Outcome {
            passed: numbers.pass,
            failed: as_many(numbers.fail, self.failed, || unnamed.clone()),
            skipped: as_many(numbers.skipped, self.skipped, || Skipped {
                test: unnamed.clone(),
                reason: "its reason was not printed".to_owned(),
            }),
        };
        if !numbers.add_up {
            outcome
                .failed
                .push(format!("{}: the closing lines do not add up", self.of));
        }
        exit.judge("node --test", &mut outcome);
        outcome
    }
}

/// As many as the runner counted, with the names we saw.
fn as_many<T>(count: u64, seen: Vec<T>, unknown: impl Fn() -> T) -> Vec<T> {
    let mut seen = seen.into_iter();
    (0..count)
        .map(|_| seen.next().unwrap_or_else(&unknown))
        .collect()
}

/// One test, from what stands behind `ok ` or `not ok `.
struct Point {
    name: String,
    directive: Option<Directive>,
}

enum Directive {
    Skip(String),
    Todo,
}

/// `3 - NAME # SKIP reason`; `None` for what only looks like one.
fn point(rest: &str) -> Option<Point> {
    let (number, text) = rest.split_once(" - ")?;
    number.parse::<u64>().ok()?;
    // A `#` of the name is escaped, so this one is the runner's own.
    let (name, directive) = match text.split_once(" # ") {
        None => (text, None),
        Some((name, directive)) => {
            let (word, reason) = directive.split_once(' ').unwrap_or((directive, ""));
            match word {
                "SKIP" => (name, Some(Directive::Skip(plain(reason)))),
                "TODO" => (name, Some(Directive::Todo)),
                _ => (text, None),
            }
        }
    };
    Some(Point {
        name: plain(name),
        directive,
    })
}

/// Without the runner's escapes: `\#` and `\\`.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match (c, characters.peek()) {
            ('\\', Some(escaped @ ('#' | '\\'))) => {
                plain.push(*escaped);
                characters.next();
            }
            _ => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests;
