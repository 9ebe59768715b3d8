//! Running the program that is tested: from outside, as a user does.

use crate::command::{Ended, LIMIT};
use crate::guest::{Built, Guest, Trouble};
use serde_json::Value;
use std::fmt::Write as _;
use std::process::Command;

/// The program under test.
const PROGRAM: &str = "/usr/bin/diskfacts";

/// Where runs are stored: in memory, away from what is measured.
const STORE: &str = "/tmp/runs.db";

/// A stage of known number and size of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Reads,
    Writes,
}

impl Stage {
    /// What it is called in the plan, and in the run.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
        }
    }
}

/// A plan of these stages, each once.
pub(crate) fn plan(stages: &[Stage]) -> String {
    let mut plan = "name = \"counted\"\ntrials = 1\n".to_owned();
    for stage in stages {
        let (operation, depth) = match stage {
            Stage::Reads => ("read", 4),
            Stage::Writes => ("write", 1),
        };
        // Writing to a String cannot fail.
        let _ = write!(
            plan,
            "[[stage]]\nname = \"{}\"\noperation = \"{operation}\"\npattern = \"random\"\n\
             block_size = \"4KiB\"\ncache = \"direct\"\nqueue_depth = {depth}\noperations = 96\n",
            stage.name()
        );
    }
    plan
}

/// Writes that are each made durable.
pub(crate) const SYNCS: &str = "name = \"syncs\"\ntrials = 1\n\
    [[stage]]\nname = \"syncs\"\noperation = \"write\"\npattern = \"sequential\"\n\
    block_size = \"4KiB\"\ncache = \"buffered\"\nsync = \"fdatasync\"\noperations = 32\n";

/// A write that would be seen anywhere: all of a device from its beginning.
pub(crate) const OVERWRITE: &str = "name = \"overwrite\"\ntrials = 1\n\
    [[stage]]\nname = \"overwrite\"\noperation = \"write\"\npattern = \"sequential\"\n\
    block_size = \"64KiB\"\ncache = \"direct\"\nbytes = \"1MiB\"\n";

/// A run that came to an end, and its document where there is one.
pub(crate) struct Run {
    pub(crate) ended: Ended,
    pub(crate) document: Option<Value>,
}

impl Run {
    /// The document of a run that must be whole.
    pub(crate) fn whole(self) -> Result<Value, String> {
        let summary = self.ended.summary();
        match self.document {
            Some(document) if self.ended.ok() => Ok(document),
            _ => Err(format!("diskfacts {summary}")),
        }
    }
}

/// `diskfacts` with these arguments.
pub(crate) fn diskfacts(guest: &mut Guest, arguments: &[&str]) -> Built<Ended> {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).env("HOME", "/tmp");
    guest.run(command, "diskfacts", LIMIT)
}

/// `diskfacts devices TARGET --json`.
pub(crate) fn devices(guest: &mut Guest, target: &str) -> Built<Value> {
    let ended = diskfacts(guest, &["devices", target, "--json", "--store", STORE])?;
    if !ended.ok() {
        return Err(Trouble::Failed(format!(
            "diskfacts devices {}",
            ended.summary()
        )));
    }
    let document = serde_json::from_str(&ended.stdout);
    Ok(document.map_err(|error| format!("diskfacts devices {target}: {error}"))?)
}

/// `diskfacts measure TARGET` with a plan, and what else is wanted.
pub(crate) fn measure(guest: &mut Guest, target: &str, plan: &str, more: &[&str]) -> Built<Run> {
    let plan = guest.file("plan.toml", plan)?;
    let mut arguments = vec![
        "measure", target, "--plan", &plan, "--json", "--store", STORE, "--seed", "1",
    ];
    arguments.extend(more);
    let ended = diskfacts(guest, &arguments)?;
    let document = serde_json::from_str(&ended.stdout).ok();
    Ok(Run { ended, document })
}

/// `diskfacts measure TARGET` with a plan that is built in, writes included, for some seconds.
pub(crate) fn measure_builtin(
    guest: &mut Guest,
    target: &str,
    plan: &str,
    seconds: u32,
) -> Built<Run> {
    let time = format!("{seconds}s");
    let arguments = [
        "measure",
        target,
        "--plan",
        plan,
        "--destroy-data-on",
        target,
        "--time",
        &time,
        "--json",
        "--store",
        STORE,
        "--seed",
        "1",
    ];
    let ended = diskfacts(guest, &arguments)?;
    let document = serde_json::from_str(&ended.stdout).ok();
    Ok(Run { ended, document })
}

/// All that a run claims, by name: findings, and limits of its stages.
pub(crate) fn claims(document: &Value) -> Vec<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut claims: Vec<String> = list(&document["findings"])
        .iter()
        .map(|finding| text(&finding["rule"]))
        .collect();
    for stage in list(&document["limits"]) {
        claims.extend(
            list(&stage["limits"])
                .iter()
                .map(|limit| text(&limit["limiter"])),
        );
    }
    claims
}
