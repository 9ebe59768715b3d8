//! Measurements that would settle a question, as commands and plan files.

use super::Subject;
use crate::words::shell;
use diskfacts_plan::units::exact_size;
use diskfacts_plan::{CacheMode, Operation, Pattern, SyncMode, Workload};
use diskfacts_record::{Experiment, TargetKind};
use std::fmt::Write;

/// The plan file that commands name.
const FILE: &str = "settle.toml";
/// Trials of each stage: enough for the median to have its interval.
const TRIALS: u32 = 7;

impl Subject<'_> {
    /// An experiment by stages of a plan file of its own: each a name and a
    /// workload, of which the operation, the blocks, their order and place, depth,
    /// streams, cache and sync are written down.
    pub fn experiment(&self, question: &str, stages: &[(&str, Workload)]) -> Experiment {
        let mut plan = format!(
            "# Settles what limited {}.\nname = \"settle\"\ntrials = {TRIALS}\n",
            self.stage.label().replace(char::is_control, " ")
        );
        for (name, workload) in stages {
            plan.push('\n');
            write_stage(&mut plan, name, workload);
        }
        Experiment {
            question: question.to_owned(),
            command: self.command(FILE),
            plan: Some(plan),
        }
    }

    /// An experiment by a built-in plan.
    pub fn built_in(&self, question: &str, plan: &str) -> Experiment {
        Experiment {
            question: question.to_owned(),
            command: self.command(plan),
            plan: None,
        }
    }

    /// The same measurement again, while or after something else is done.
    pub fn again(&self, question: &str) -> Experiment {
        Experiment {
            question: question.to_owned(),
            command: crate::words::measure(self.run()),
            plan: None,
        }
    }

    /// What measures this target by another plan, with the leave to write that was
    /// given before.
    fn command(&self, plan: &str) -> String {
        let run = self.run();
        let target = if run.target.kind == TargetKind::Imported {
            // What a document is of may be measured.
            "TARGET"
        } else {
            &run.target.given
        };
        let mut command = format!("diskfacts measure {} --plan {plan}", shell(target));
        for (option, value) in kept_options(&run.run.command) {
            // Writing to a string does not fail.
            let _ = write!(command, " {option} {}", shell(&value));
        }
        command
    }
}

/// What has to be said again for the same target: its size, where it is made for the
/// run, and the leave to write to it; and where the runs are kept.
fn kept_options(words: &[String]) -> Vec<(&'static str, String)> {
    const KEPT: [&str; 4] = ["--size", "--loop", "--destroy-data-on", "--store"];
    let mut found = Vec::new();
    for (i, word) in words.iter().enumerate() {
        for option in KEPT {
            let value = match word.strip_prefix(option) {
                Some("") => words.get(i + 1).cloned(),
                Some(rest) => rest.strip_prefix('=').map(str::to_owned),
                None => None,
            };
            found.extend(value.map(|value| (option, value)));
        }
    }
    found
}

/// A stage as a plan file has it.
fn write_stage(plan: &mut String, name: &str, workload: &Workload) {
    let mut key = |key: &str, value: String| {
        // Writing to a string does not fail.
        let _ = writeln!(plan, "{key} = {value}");
    };
    let word = |word: &str| format!("\"{word}\"");
    let size = |bytes: u64| format!("\"{}\"", exact_size(bytes));
    key("[[stage]]\nname", word(name));
    match workload.operation {
        Operation::Write => key("operation", word("write")),
        Operation::Mixed { read_percent } => {
            key("operation", word("mixed"));
            key("read_percent", read_percent.to_string());
        }
        Operation::Modify { percent } => {
            key("operation", word("modify"));
            key("modify_percent", percent.to_string());
        }
        _ => key("operation", word("read")),
    }
    match workload.pattern {
        Pattern::Sequential => key("pattern", word("sequential")),
        Pattern::Random => key("pattern", word("random")),
        Pattern::Zipf { theta } => {
            key("pattern", word("zipf"));
            key("theta", format!("{theta:?}"));
        }
        Pattern::Stride {
            skip_blocks, fixed, ..
        } => {
            key("pattern", word("stride"));
            key("skip", skip_blocks.to_string());
            key("fixed", fixed.to_string());
        }
    }
    // What an import does not know is 0.
    let block_size = workload.block_size.max(1);
    key("block_size", size(block_size));
    if workload.offset > 0 {
        key("offset", size(workload.offset));
    }
    let whole = workload.span.map(|span| span / block_size * block_size);
    if let Some(span) = whole.filter(|span| *span > 0) {
        key("span", size(span));
    }
    let cache = match workload.cache {
        CacheMode::Buffered => "buffered",
        CacheMode::Warm => "warm",
        CacheMode::Cold => "cold",
        CacheMode::Direct => "direct",
    };
    key("cache", word(cache));
    let sync = match workload.sync {
        SyncMode::None => "none",
        SyncMode::Fdatasync => "fdatasync",
        SyncMode::Fsync => "fsync",
        SyncMode::AtEnd => "at-end",
        SyncMode::FdatasyncAtEnd => "fdatasync-at-end",
        SyncMode::ODsync => "o-dsync",
        SyncMode::OSync => "o-sync",
    };
    if workload.sync != SyncMode::None {
        key("sync", word(sync));
    }
    key("queue_depth", workload.queue_depth.to_string());
    if workload.streams != 1 {
        key("streams", workload.streams.to_string());
    }
}
