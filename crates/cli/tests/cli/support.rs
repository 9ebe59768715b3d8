//! What the tests share: a case with its own store, and what was there before
//! and after.

pub(crate) use crate::case::{Case, MIB, diskfacts, one_stage, write_data};
use diskfacts_testkit::{Missing, Program, Running, require_tool};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hasher};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) const KIB: u64 = 1 << 10;

impl Case {
    /// A new folder.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        let folder = self.path(name);
        fs::create_dir(&folder).expect("a folder");
        folder
    }

    /// The stages of the survey, a trial of some operations each: none is left out because
    /// the machine was busy and the time over.
    pub(crate) fn counted_survey(&self) -> PathBuf {
        let survey = self.run(["plans", "survey"]).stdout;
        let is_kept = |line: &&str| {
            !["precision", "trials", "span"]
                .iter()
                .any(|key| line.starts_with(key))
        };
        let lines: Vec<&str> = survey.lines().filter(is_kept).collect();
        let text = lines
            .join("\n")
            .replace("\"survey\"", "\"counted-survey\"\ntrials = 1")
            .replace("[[stage]]", "[[stage]]\noperations = 40");
        self.text_file("counted.toml", &text)
    }

    /// A run of one trial on a simulated disk, stored.
    pub(crate) fn one_trial(&self) {
        let stage = ["measure", "sim:ssd-sata", "--stage", "random-read-qd1"];
        let measured = self.diskfacts(stage).args(["--trials", "1"]).run();
        measured.expect_code(0);
    }

    /// The last run as its JSON document.
    pub(crate) fn last(&self) -> Value {
        let shown = self.run(["show", "last", "--json"]);
        shown.expect_code(0);
        serde_json::from_str(&shown.stdout).expect("a JSON document")
    }

    /// Waits until a trial of the run that is being made is stored, which nobody tells of
    /// before its stage is done.
    pub(crate) fn wait_for_a_trial(&self, running: &Running) {
        running.wait_until("a trial was stored", || {
            let runs = self.run(["runs", "--json"]).stdout;
            let runs: Value = serde_json::from_str(&runs).unwrap_or_default();
            runs["runs"][0]["trials"]
                .as_u64()
                .is_some_and(|trials| trials > 0)
        });
    }

    /// The call must be refused with exit code 2, say all of this, and leave
    /// nothing behind: no run, no store, and nothing changed in the folder of
    /// the case.
    #[track_caller]
    pub(crate) fn refuses(&self, program: &Program, said: &[&str]) {
        let before = Content::of(self.scratch.path());
        let finished = program.run();
        finished.expect_code(2);
        for text in said {
            finished.expect_stderr(text);
        }
        assert_eq!(finished.stdout, "", "{finished}");
        assert!(!finished.stderr.contains("panicked"), "{finished}");
        assert_eq!(Content::of(self.scratch.path()), before, "{finished}");
    }
}

/// Copies the program to this path. By another process: a process that a test starts meanwhile
/// has a copy of what is open here until it becomes its program, and what somebody has open for
/// writing is not executed (`ETXTBSY`).
pub(crate) fn copy_program(to: &Path) {
    let mut copy = Command::new("cp");
    let status = copy.arg(env!("CARGO_BIN_EXE_diskfacts")).arg(to).status();
    assert!(status.expect("cp").success(), "a copy of the program");
}

/// Runs a tool of the system.
pub(crate) fn run_tool(program: &str, package: &str, arguments: &[&str]) -> Result<(), Missing> {
    let tool = require_tool(program, package)?;
    let output = Command::new(tool)
        .args(arguments)
        .output()
        .expect("running a tool");
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(Missing::new(format_args!("{program} {arguments:?}"), said))
}

/// What is in a folder: each file and folder below it, with length and hash.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Content(BTreeMap<PathBuf, Option<(u64, u64)>>);

impl Content {
    pub(crate) fn of(folder: &Path) -> Self {
        let mut found = BTreeMap::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    found.insert(path.clone(), None);
                    folders.push(path);
                } else {
                    found.insert(path.clone(), Some(hash(&path)));
                }
            }
        }
        Self(found)
    }
}

/// Length and hash of a file or device.
pub(crate) fn hash(path: &Path) -> (u64, u64) {
    let mut file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut hasher = DefaultHasher::new();
    let (mut piece, mut length) = (vec![0; 1 << 16], 0);
    loop {
        let read = file.read(&mut piece).expect("reading back");
        if read == 0 {
            return (length, hasher.finish());
        }
        hasher.write(&piece[..read]);
        length += read as u64;
    }
}

/// Free blocks of the filesystem that holds this.
pub(crate) fn free_blocks(path: &Path) -> u64 {
    rustix::fs::statvfs(path).expect("the filesystem").f_bfree
}

/// The trials of a document.
pub(crate) fn trials(document: &Value) -> &[Value] {
    document["trials"].as_array().expect("a list of trials")
}

/// The rules of the findings of a document.
pub(crate) fn rules(document: &Value) -> Vec<&str> {
    let findings = document["findings"].as_array().expect("a list of findings");
    findings.iter().filter_map(|f| f["rule"].as_str()).collect()
}

/// A number of a document.
#[track_caller]
pub(crate) fn number(value: &Value) -> f64 {
    let number = value.as_f64();
    number.unwrap_or_else(|| panic!("{value} is not a number"))
}
