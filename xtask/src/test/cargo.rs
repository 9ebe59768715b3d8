//! The step `cargo test`, and how its output is read.

use super::exit::Exit;
use super::outcome::{Outcome, Skipped};
use super::refused;
use super::skips::{self, SkipLog};
use crate::project::{Project, WHOLE};
use crate::stream;
use std::io::IsTerminal;
use std::num::NonZeroUsize;
use std::process::Command;

/// The tests of the command that measure simulated disks for minutes of processor time.
const PLANTED: &str = "session::planted";

/// The tests of the program that have to be long: runs that are killed at each of their
/// steps, hundreds of times, devices that a control group throttles, the seeds cell by cell,
/// and a document larger than memory.
const ENDURANCE: [&str; 5] = [
    "settings_killed::",
    "settings_lost::",
    "throttled::",
    "sim_command::",
    "import_command::a_document_larger_than_memory",
];

/// The test of the simulator that has to be long: all seeds with four other seeds of chance.
const CHANCE: &str = "every_gate_holds_with_other_seeds_of_chance";

/// The benchmarks, whose small modes run beside the tools that they are held against.
const BENCH: &str = "diskfacts-bench";

/// The crate by which hosts speak with each other.
const GANG: &str = "diskfacts-gang";

/// The tests of the program that start several hosts: namespaces and launchers of MPI.
const HOSTS: &str = "hosts_by_";

/// The tests of the program that hold the parts of the time budget against what they planted on
/// this machine, which they want for themselves.
const BUDGET: &str = "budget::";

/// Tests at once for each processor. They wait for devices and for other programs more than
/// they compute: with one for each of two processors, these were busy for 44 % of the time.
const FOR_EACH: NonZeroUsize = NonZeroUsize::new(2).expect("two");

/// Has so many tests run at once, unless somebody chose another number.
fn many_at_once(command: &mut Command) {
    const THREADS: &str = "RUST_TEST_THREADS";
    if std::env::var_os(THREADS).is_none()
        && let Ok(processors) = std::thread::available_parallelism()
    {
        let threads = processors.saturating_mul(FOR_EACH);
        command.env(THREADS, threads.to_string());
    }
}

/// How the names begin of the tests that are in steps of their own.
pub(super) fn passed_over() -> impl Iterator<Item = &'static str> {
    [PLANTED, HOSTS, CHANCE, BUDGET]
        .into_iter()
        .chain(ENDURANCE)
}

/// Runs all tests of the workspace but those that are steps of their own.
///
/// # Errors
/// When cargo cannot be started, or the log of skipped tests not be read.
pub(super) fn run(project: &Project) -> Result<Outcome, String> {
    let all = [
        "test",
        "--workspace",
        "--exclude",
        GANG,
        "--exclude",
        BENCH,
        "--locked",
        "--no-fail-fast",
        WHOLE,
    ];
    let skipped: Vec<&str> = passed_over().flat_map(|name| ["--skip", name]).collect();
    let log = SkipLog::new()?;
    let mut command = project.cargo(&[&all[..], &["--"], &skipped].concat());
    many_at_once(&mut command);
    let mut outcome = read_tests_into(&log, command)?;
    println!(
        "{}",
        refused::judge(log.refused()?, refused::is_root(), &mut outcome)
    );
    Ok(outcome)
}

/// Runs what several hosts do together: the protocol in virtual time and over real MPI, and the
/// program on hosts that are namespaces.
///
/// # Errors
/// When cargo cannot be started, or the log of skipped tests not be read.
pub(super) fn hosts(project: &Project) -> Result<Outcome, String> {
    let test = ["test", "--locked", "--no-fail-fast", "--package"];
    let mut outcome = Outcome::default();
    for target in [
        &[GANG][..],
        &["diskfacts", "--test", "cli", WHOLE, "--", HOSTS],
    ] {
        let mut command = project.cargo(&[&test[..], target].concat());
        many_at_once(&mut command);
        outcome = outcome.and(read_tests(command)?);
    }
    Ok(outcome)
}

/// Runs the tests that have to be long, of the program and of the simulator, and the benchmarks.
///
/// # Errors
/// When cargo cannot be started, or the log of skipped tests not be read.
pub(super) fn endurance(project: &Project) -> Result<Outcome, String> {
    let program = [&["diskfacts", WHOLE, "--test", "cli", "--"][..], &ENDURANCE].concat();
    let chance = ["diskfacts-disk", "--test", "seeds", "--", CHANCE];
    let mut outcome = Outcome::default();
    for target in [&program[..], &chance, &[BENCH]] {
        let test = ["test", "--locked", "--no-fail-fast", "--package"];
        let mut command = project.cargo(&[&test[..], target].concat());
        many_at_once(&mut command);
        outcome = outcome.and(read_tests(command)?);
    }
    Ok(outcome)
}

/// Fleets of each kind that are simulated: enough for the bounds that are held. The numbers of
/// `docs/fleet-statistics.md` are of 400, and the tests of `diskfacts-facts` have a few.
const FLEETS: &str = "100";

/// Runs the causes that are planted in simulated disks, the seeds that come out of them, and the
/// odd disks that are planted in simulated fleets.
///
/// # Errors
/// When cargo cannot be started, or the log of skipped tests not be read.
pub(super) fn planted(project: &Project) -> Result<Outcome, String> {
    let test = ["test", "--locked", "--no-fail-fast"];
    let target = [
        "--package",
        "diskfacts",
        "--bin",
        "diskfacts",
        WHOLE,
        PLANTED,
    ];
    let causes = read_tests(project.cargo(&[&test, &target[..]].concat()))?;
    // Each of thousands of fleets takes ten times as long without an optimising compiler.
    let target = [
        "--release",
        "--package",
        "diskfacts-facts",
        "--test",
        "fleets",
    ];
    let shown = ["--", "--nocapture"];
    let mut fleets = project.cargo(&[&test, &target[..], &shown].concat());
    fleets.env("DISKFACTS_FLEETS", FLEETS);
    Ok(causes.and(read_tests(fleets)?))
}

/// Runs the real situations, a program of tests that takes the machine for itself, and the truths of
/// the time budget on this machine.
///
/// # Errors
/// When cargo cannot be started, or the log of skipped tests not be read.
pub(super) fn situations(project: &Project) -> Result<Outcome, String> {
    let mut outcome = Outcome::default();
    for target in [&["situations"][..], &["cli", "--", BUDGET]] {
        let test = [
            "test",
            "--locked",
            "--no-fail-fast",
            "--package",
            "diskfacts",
        ];
        let mut command = project.cargo(&[&test[..], &[WHOLE, "--test"], target].concat());
        command.env("RUST_TEST_THREADS", "1");
        outcome = outcome.and(read_tests(command)?);
    }
    Ok(outcome)
}

/// Runs a `cargo test`, shows what it prints, and reads it.
///
/// # Errors
/// When cargo cannot be started, or the log of skipped tests not be read.
pub(super) fn read_tests(command: Command) -> Result<Outcome, String> {
    read_tests_into(&SkipLog::new()?, command)
}

fn read_tests_into(log: &SkipLog, mut command: Command) -> Result<Outcome, String> {
    command.env(skips::VARIABLE, log.path());
    if std::io::stdout().is_terminal() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    let mut reader = Reader::default();
    let ended = stream::run(command, &mut std::io::stdout(), |line| reader.line(line))
        .map_err(|error| format!("starting cargo test: {error}"))?;
    Ok(reader.finish(&Exit::of(&ended), log.read()?))
}

/// Reads the lines of `cargo test` one by one.
///
/// The numbers come from the closing line that libtest prints for each test
/// binary, `test result: ok. 3 passed; 0 failed; 1 ignored; ...`; names of
/// tests come from their own lines, which a test that prints may tear, so they
/// are for people only. A binary that dies prints no closing line; cargo then
/// says `process didn't exit successfully`.
#[derive(Default)]
struct Reader {
    binary: String,
    /// The current binary has printed its closing line.
    closed: bool,
    passed: u64,
    failed: Vec<String>,
    skipped: Vec<Skipped>,
    /// The binaries that cargo says failed, in its last lines.
    failed_binaries: Vec<String>,
    /// Names seen for the current binary.
    failed_here: Vec<String>,
    ignored_here: Vec<Skipped>,
}

impl Reader {
    fn line(&mut self, line: &str) {
        if let Some(binary) = header(line) {
            self.binary = binary;
            self.closed = false;
            self.failed_here.clear();
            self.ignored_here.clear();
        } else if let Some((test, result)) = test_line(line) {
            let test = format!("{} {test}", self.binary);
            if result == "FAILED" {
                self.failed_here.push(test);
            } else if let Some(reason) = result.strip_prefix("ignored") {
                let reason = reason.strip_prefix(", ").unwrap_or("marked as ignored");
                let reason = reason.to_owned();
                self.ignored_here.push(Skipped { test, reason });
            }
        } else if let Some([passed, failed, ignored]) = closing_line(line) {
            self.closed = true;
            self.passed += passed;
            // As many entries as the runner counted, with the names we saw.
            let mut names = std::mem::take(&mut self.failed_here).into_iter();
            for _ in 0..failed {
                let unknown = || format!("{} a test", self.binary);
                self.failed.push(names.next().unwrap_or_else(unknown));
            }
            let mut names = std::mem::take(&mut self.ignored_here).into_iter();
            for _ in 0..ignored {
                let unknown = || Skipped {
                    test: format!("{} a test", self.binary),
                    reason: "marked as ignored".to_owned(),
                };
                self.skipped.push(names.next().unwrap_or_else(unknown));
            }
        } else if let Some(target) = line.strip_prefix("error: could not compile ") {
            // `directio` (lib test) due to 1 previous error
            let target = target.split(" due to ").next().unwrap_or(target);
            self.failed
                .push(format!("{} does not compile", target.replace('`', "")));
        } else if let Some(binary) = failed_target(line) {
            self.failed_binaries.push(binary);
        } else if line.contains("process didn't exit successfully") && !self.closed {
            self.closed = true;
            let how = line.rsplit_once('(').map_or("", |(_, how)| how);
            self.failed.push(format!(
                "{} ended before its last test ({})",
                self.binary,
                how.trim_end_matches(')')
            ));
        }
    }

    /// `skipped` are the tests that returned early and said so: their runner
    /// counted them as passed, unless they then failed.
    fn finish(mut self, exit: &Exit, skipped: Vec<Skipped>) -> Outcome {
        for binary in &self.failed_binaries {
            let of_it = |failed: &String| failed.split(' ').next() == Some(binary);
            if !self.failed.iter().any(of_it) {
                // A benchmark that runs as a test has no runner that counts.
                self.failed
                    .push(format!("{binary} (what it said stands above)"));
            }
        }
        for skip in skipped {
            if !self.failed.contains(&skip.test) {
                self.passed = self.passed.saturating_sub(1);
                self.skipped.push(skip);
            }
        }
        let mut outcome = Outcome {
            passed: self.passed,
            failed: self.failed,
            skipped: self.skipped,
        };
        exit.judge("cargo test", &mut outcome);
        outcome
    }
}

/// The binary that begins here: `Running unittests src/lib.rs
/// (target/debug/deps/directio-0123456789abcdef)` or `Doc-tests directio`.
fn header(line: &str) -> Option<String> {
    let line = line.trim_start();
    if let Some(package) = line.strip_prefix("Doc-tests ") {
        return Some(format!("{package} (documentation)"));
    }
    let (_, path) = line.strip_prefix("Running ")?.rsplit_once('(')?;
    let file = path.strip_suffix(')')?.rsplit(['/', '\\']).next()?;
    let stem = file.strip_suffix(".exe").unwrap_or(file);
    let name = stem.rsplit_once('-').map_or(stem, |(name, _)| name);
    Some(name.to_owned())
}

/// ``    `-p diskfacts-store --bench explain` ``, one of those that cargo lists at its
/// end: the name of the binary, where it is that of the target.
fn failed_target(line: &str) -> Option<String> {
    let target = line.trim().strip_prefix("`-p ")?.strip_suffix('`')?;
    let mut words = target.split(' ').skip(1);
    let kind = words.next()?;
    let name = words.next()?;
    matches!(kind, "--bench" | "--test" | "--bin" | "--example").then(|| name.replace('-', "_"))
}

/// `test tests::a_name ... ok`: the name and the result.
fn test_line(line: &str) -> Option<(&str, &str)> {
    let (test, result) = line.strip_prefix("test ")?.split_once(" ... ")?;
    // Behind the name may stand how it is run: `- should panic`, `- compile`.
    let test = match test.split_once(" - ") {
        Some((name, "should panic")) => name,
        _ => test,
    };
    Some((test, result))
}

/// `test result: ok. 3 passed; 0 failed; 1 ignored; ...`: passed, failed and
/// ignored.
fn closing_line(line: &str) -> Option<[u64; 3]> {
    let (_, numbers) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let mut found = [None; 3];
    for part in numbers.split("; ") {
        let (number, what) = part.split_once(' ')?;
        let place = ["passed", "failed", "ignored"]
            .iter()
            .position(|kind| *kind == what);
        if let Some(place) = place {
            found[place] = number.parse().ok();
        }
    }
    let [Some(passed), Some(failed), Some(ignored)] = found else {
        return None;
    };
    Some([passed, failed, ignored])
}

#[cfg(test)]
mod tests;
