//! A plan as the text of a plan file.

use super::words::{
    ARRIVALS, BUFFERS, CACHES, ENGINES, IO_CONTEXTS, Kind, ONS, OPERATIONS, Order, PATTERNS, SYNCS,
    TOUCHES, VALUES, word,
};
use super::{files, kernel, precondition};
use crate::plan::{Plan, Stage};
use crate::units;
use crate::workload::{Operation, Pattern, Workload};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A TOML string with what needs escaping escaped.
pub(super) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// Prints a plan as TOML that [`parse`](super::parse) reads back as the same plan. Keys that
/// have their default value are left out.
pub fn print(plan: &Plan) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(out, "name = {}", quoted(&plan.name));
    if !plan.about.is_empty() {
        let _ = writeln!(out, "about = {}", quoted(&plan.about));
    }
    let _ = writeln!(out, "trials = {}", plan.trials);
    if let Some(ns) = plan.time_ns {
        let _ = writeln!(out, "time = \"{}\"", units::exact_duration(ns));
    }
    if let Some(precision) = plan.until.precision {
        let _ = writeln!(out, "precision = \"{precision}\"");
    }
    if plan.until.steady {
        let _ = writeln!(out, "steady = true");
    }
    if let Some(most) = plan.until.trials_max {
        let _ = writeln!(out, "trials_max = {most}");
    }
    precondition::print(&mut out, &plan.precondition);
    for stage in &plan.stages {
        print_stage(&mut out, "stage", stage, |out| {
            let full = stage.full.unwrap_or_default();
            if let Some(bytes) = full.bytes {
                let _ = writeln!(out, "full_bytes = \"{}\"", units::exact_size(bytes));
            }
            if let Some(operations) = full.operations {
                let _ = writeln!(out, "full_operations = {operations}");
            }
            if let Some(fraction) = full.fraction {
                let _ = writeln!(out, "full_fraction = {fraction}");
            }
        });
    }
    out
}

/// A table of the list `list`; `more` prints its keys that are not of a workload.
pub(super) fn print_stage(
    out: &mut String,
    list: &str,
    stage: &Stage,
    more: impl FnOnce(&mut String),
) {
    let _ = writeln!(out, "\n[[{list}]]\nname = {}", quoted(&stage.name));
    if !stage.about.is_empty() {
        let _ = writeln!(out, "about = {}", quoted(&stage.about));
    }
    print_workload(out, &stage.workload);
    more(out);
    print_settings(out, &stage.settings);
    if let Some(beside) = &stage.workload.beside {
        let _ = writeln!(out, "[{list}.beside]");
        print_workload(out, beside);
    }
    kernel::print(out, list, &stage.kernel);
}

/// A TOML key in quotes, which takes no more than one line.
pub(super) fn key(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// What `vary` made is printed cell by cell.
fn print_settings(out: &mut String, settings: &BTreeMap<String, String>) {
    if settings.is_empty() {
        return;
    }
    let settings: Vec<String> = settings
        .iter()
        .map(|(name, value)| format!("{} = {}", key(name), quoted(value)))
        .collect();
    let _ = writeln!(out, "settings = {{ {} }}", settings.join(", "));
}

fn print_workload(out: &mut String, workload: &Workload) {
    let default = Workload::default();
    let mut line = |key: &str, value: String| {
        let _ = writeln!(out, "{key} = {value}");
    };
    let text = |value: &str| format!("\"{value}\"");
    let (kind, percent) = match workload.operation {
        Operation::Read => (Kind::Read, None),
        Operation::Write => (Kind::Write, None),
        Operation::Mixed { read_percent } => (Kind::Mixed, Some(("read_percent", read_percent))),
        Operation::Modify { percent } => (Kind::Modify, Some(("modify_percent", percent))),
        Operation::Create => (Kind::Create, None),
        Operation::Stat => (Kind::Stat, None),
        Operation::Delete => (Kind::Delete, None),
    };
    line("operation", text(word(&OPERATIONS, kind)));
    if let Some((key, percent)) = percent {
        line(key, percent.to_string());
    }
    let order = match workload.pattern {
        Pattern::Sequential => Order::Sequential,
        Pattern::Random => Order::Random,
        Pattern::Zipf { .. } => Order::Zipf,
        Pattern::Stride { .. } => Order::Stride,
    };
    line("pattern", text(word(&PATTERNS, order)));
    match workload.pattern {
        Pattern::Sequential | Pattern::Random => {}
        Pattern::Zipf { theta } => line("theta", toml::Value::Float(theta).to_string()),
        Pattern::Stride {
            skip_blocks,
            fixed,
            from_start,
        } => {
            line("skip", skip_blocks.to_string());
            for (key, set) in [("fixed", fixed), ("offset0", from_start)] {
                if set {
                    line(key, "true".to_owned());
                }
            }
        }
    }
    line("block_size", text(&units::exact_size(workload.block_size)));
    if let Some(share) = workload.offset_share {
        line("offset", text(&share.to_string()));
    } else if workload.offset != default.offset {
        line("offset", text(&units::exact_size(workload.offset)));
    }
    if let Some(share) = workload.span_share {
        line("span", text(&share.to_string()));
    } else if let Some(span) = workload.span {
        line("span", text(&units::exact_size(span)));
    }
    line("cache", text(word(&CACHES, workload.cache)));
    line("queue_depth", workload.queue_depth.to_string());
    if workload.streams != default.streams {
        line("streams", workload.streams.to_string());
    }
    if workload.sync != default.sync {
        line("sync", text(word(&SYNCS, workload.sync)));
    }
    if workload.buffer != default.buffer {
        line("buffer", text(word(&BUFFERS, workload.buffer)));
    }
    if workload.touch != default.touch {
        line("touch", text(word(&TOUCHES, workload.touch)));
    }
    if let Some(values) = workload.values {
        line("values", text(word(&VALUES, values.fill)));
        if let Some(seed) = values.seed {
            line("values_seed", seed.to_string());
        }
    }
    if let Some(files) = &workload.files {
        files::print(out, files);
    }
    print_course(out, workload);
}

/// How fast it goes, when it ends, and what does it.
fn print_course(out: &mut String, workload: &Workload) {
    let default = Workload::default();
    let text = |value: &str| format!("\"{value}\"");
    let mut line = |key: &str, value: String| {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{key} = {value}");
    };
    if let Some(rate) = workload.rate {
        line("rate", rate.operations_per_s.to_string());
        line("arrivals", text(word(&ARRIVALS, rate.arrivals)));
    }
    if let Some(ns) = workload.stop.time_ns {
        line("time", text(&units::exact_duration(ns)));
    }
    if let Some(bytes) = workload.stop.bytes {
        line("bytes", text(&units::exact_size(bytes)));
    }
    if let Some(operations) = workload.stop.operations {
        line("operations", operations.to_string());
    }
    if let Some(fraction) = workload.stop.fraction {
        line("fraction", fraction.to_string());
    }
    if workload.engine != default.engine {
        line("engine", text(word(&ENGINES, workload.engine)));
    }
    if workload.observe != default.observe {
        line("observe", text(&workload.observe.to_string()));
    }
    if workload.on != default.on {
        line("on", text(word(&ONS, workload.on)));
    }
    for (key, set) in [("iopoll", workload.iopoll), ("sqpoll", workload.sqpoll)] {
        if set {
            line(key, "true".to_owned());
        }
    }
    if let Some(pool) = workload.pool {
        line("threads", pool.threads.to_string());
        line("io_context", text(word(&IO_CONTEXTS, pool.io_context)));
    }
}
