//! What is held against the program on every stack.

mod clean;
mod counters;
mod refusals;
mod stack;

use crate::guest::{Built, Guest};
use crate::product::{self, Stage};
pub(crate) use clean::Before;
use counters::Window;
pub(crate) use refusals::{Attempt, refused, refused_with_copied_data, refused_with_data};
use serde_json::Value;

/// What the leaves of a stack must move of what is issued at its top.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaves {
    /// Every byte once.
    Same,
    /// Every byte at least once: parity, copies, journals.
    AtLeast,
    /// Not one: the top answers by itself.
    Idle,
    /// It may be either.
    Any,
}

/// A stack whose top may be written over.
pub(crate) struct Stack<'a> {
    top: &'a str,
    reads: Leaves,
    writes: Option<Leaves>,
    members: Vec<String>,
    says: &'a [&'a str],
    transport: Option<&'a str>,
}

impl<'a> Stack<'a> {
    /// A device of which every byte that is read is read once below it.
    pub(crate) fn new(top: &'a str) -> Self {
        Self {
            top,
            reads: Leaves::Same,
            writes: None,
            members: Vec::new(),
            says: &[],
            transport: None,
        }
    }

    /// What the leaves do for reads at the top.
    pub(crate) fn reads(self, reads: Leaves) -> Self {
        Self { reads, ..self }
    }

    /// It is written over, and the leaves do this.
    pub(crate) fn writes(self, writes: Leaves) -> Self {
        let writes = Some(writes);
        Self { writes, ..self }
    }

    /// Devices below that must not be written, because the top uses them.
    pub(crate) fn members(self, members: &[impl AsRef<str>]) -> Self {
        let members = members
            .iter()
            .map(|member| member.as_ref().to_owned())
            .collect();
        Self { members, ..self }
    }

    /// Words that what is shown of the top must have.
    pub(crate) fn says(self, says: &'a [&'a str]) -> Self {
        Self { says, ..self }
    }

    /// How the top is attached, as the document has it.
    pub(crate) fn transport(self, transport: &'a str) -> Self {
        let transport = Some(transport);
        Self { transport, ..self }
    }
}

/// Claims of what a drive is made of: its link, heat, flash, platters. No disk of a guest is
/// a drive. A test of the crate `diskfacts-facts` holds the list against the program's own.
const OF_HARDWARE: &str = include_str!("checks/of_hardware.txt");

/// What else no run in a guest may claim: its disks work, and nobody else uses them.
const NEVER: [&str; 3] = ["io-errors", "interrupted", "other-process"];

/// All that must hold of any stack: what lies below, what was counted, what is
/// claimed, what is refused.
pub(crate) fn examine(guest: &mut Guest, stack: &Stack) -> Built {
    let seen = shown(guest, stack.top, &[stack.top], stack.says)?;
    if let Some(transport) = stack.transport {
        attached_by(guest, &seen, transport);
    }
    let attempts: Vec<Attempt> = stack.members.iter().map(|m| Attempt::on(m)).collect();
    refused(guest, &attempts)?;
    let mut stages = vec![(Stage::Reads, stack.reads)];
    let mut more = Vec::new();
    if let Some(leaves) = stack.writes {
        stages.push((Stage::Writes, leaves));
        more = vec!["--destroy-data-on", stack.top];
    }
    measured(guest, stack.top, &stages, &more).map(drop)
}

/// The transport of the first device of a document: that very key, since its model may have
/// the same word.
pub(crate) fn attached_by(guest: &mut Guest, seen: &Value, transport: &str) {
    let said = &seen["stack"]["devices"][0]["transport"];
    let found = ensure(said == transport, || format!("its transport is {said}"));
    guest.check(&format!("it is attached by {transport}"), found);
}

/// What `devices` shows of a target that stands on these devices; its document.
pub(crate) fn shown(guest: &mut Guest, target: &str, tops: &[&str], says: &[&str]) -> Built<Value> {
    let seen = product::devices(guest, target)?;
    let found = stack::as_sysfs_has_it(&seen, tops);
    guest.check("the stack is as sysfs has it", found);
    for word in says {
        let found = stack::says(&seen, word);
        guest.check(&format!("it is shown as {word}"), found);
    }
    Ok(seen)
}

/// All that must hold of a filesystem on these devices, mounted at a folder:
/// they must not be written. The document of the run.
pub(crate) fn examine_folder(
    guest: &mut Guest,
    folder: &str,
    devices: &[&str],
    leaves: Leaves,
) -> Built<Option<Value>> {
    shown(guest, folder, devices, &[])?;
    let stages = [(Stage::Reads, leaves), (Stage::Writes, leaves)];
    let document = measured(guest, folder, &stages, &["--size", "8MiB"])?;
    guest.sh("sync")?;
    let attempts: Vec<Attempt> = devices.iter().map(|device| Attempt::on(device)).collect();
    refused(guest, &attempts)?;
    Ok(document)
}

/// A condition as a check has it.
pub(crate) fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// A run whose counters are held against the guest's own; its document.
pub(crate) fn measured(
    guest: &mut Guest,
    top: &str,
    stages: &[(Stage, Leaves)],
    more: &[&str],
) -> Built<Option<Value>> {
    let plan: Vec<Stage> = stages.iter().map(|(stage, _)| *stage).collect();
    let window = Window::open();
    let run = product::measure(guest, top, &product::plan(&plan), more)?;
    let moved = window.close();
    let document = match run.whole() {
        Ok(document) => document,
        Err(why) => {
            guest.check("it is measured", Err(why));
            return Ok(None);
        }
    };
    let counted = moved.hold_against(&document);
    guest.check(
        "every device that counts is watched, and no more is counted",
        counted,
    );
    for (stage, leaves) in stages {
        let name = stage.name();
        let found = counters::leaves_moved(&document, name, *leaves);
        guest.check(&format!("the disks move what {name} issue"), found);
    }
    guest.check("nothing false is claimed", never(&document));
    Ok(Some(document))
}

/// Flushes that a run counted, of all devices and trials.
pub(crate) fn flushes(document: &Value) -> u64 {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let trials = list(&document["trials"]);
    let devices = trials
        .iter()
        .flat_map(|trial| list(&trial["evidence"]["devices"]));
    devices
        .filter_map(|device| device["flushes"].as_u64())
        .sum()
}

/// The state of a target is what a run says first, and what `devices` shows.
pub(crate) fn says_first(guest: &mut Guest, target: &str, words: &[&str]) -> Built {
    let has_one = |text: &str| {
        // A page has lines that end anywhere between words.
        let words_of: Vec<&str> = text.split_whitespace().collect();
        let text = words_of.join(" ").to_lowercase();
        words.iter().any(|word| text.contains(word))
    };
    let shown = product::diskfacts(guest, &["devices", target])?;
    guest.check(
        &format!("devices says {}", words[0]),
        ensure(has_one(&shown.stdout), || shown.stdout.replace('\n', " | ")),
    );
    // The size is that of a file of its own, where the target is a folder.
    let size: &[&str] = if target.starts_with("/dev/") {
        &[]
    } else {
        &["--size", "8MiB"]
    };
    let run = product::measure(guest, target, &product::plan(&[Stage::Reads]), size)?;
    let document = run.whole()?;
    let first = document["findings"][0].to_string();
    guest.check(
        &format!("the first finding of a run says {}", words[0]),
        ensure(has_one(&first), || first.clone()),
    );
    Ok(())
}

/// Findings and limits that are false of any disk of a guest.
pub(crate) fn never(document: &Value) -> Result<(), String> {
    let claims = product::claims(document);
    let is_claimed = |name: &&str| claims.iter().any(|claim| claim == name);
    let never = OF_HARDWARE.lines().chain(NEVER);
    let false_ones: Vec<&str> = never.filter(is_claimed).collect();
    ensure(false_ones.is_empty(), || {
        format!("it claims {}", false_ones.join(", "))
    })
}
