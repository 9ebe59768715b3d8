//! The tables and the CSV of bonnie++ 2.00 ([`crate::formats::bonnie`]).
//!
//! Rates are medians of the trials, latencies the longest of all of them. As
//! bonnie++ has it, bytes of a rewrite count once, and a test of less than half
//! a second is not told but `+++++`; here the trials of a stage count together.

use crate::formats::bonnie::csv::Row;
use crate::formats::bonnie::text::{Files, IO_TITLE, Io, Look, files_title, latency_line};
use crate::formats::bonnie::{Cell, FILE_TESTS, IO_TESTS, Latency, Rate, SEEKS};
use crate::text::list;
use diskfacts_plan::{Operation, Plan, Stage};
use diskfacts_record::{Run, StageFigures};
use std::fmt::Write as _;

/// Stages of the plan that bonnie++ 2.00 has no column for: what bonnie 1.0 did
/// with the buffers of C's streams.
const WITHOUT_COLUMN: [&str; 4] = [
    "putc-locked",
    "putc-unlocked",
    "getc-locked",
    "getc-unlocked",
];

/// What the first row of columns counts in, seconds: below, a figure is not told.
const SECONDS_LEAST: f64 = 0.5;

/// The block of bonnie++, which it leaves unsaid.
const BLOCK_BYTES: u64 = 8192;

/// What a stage of this name does, if it is one of the plan.
fn does(name: &str) -> Option<fn(Operation) -> bool> {
    Some(match name {
        "putc" | "put-block" | "putc-locked" | "putc-unlocked" => {
            |operation| operation == Operation::Write
        }
        "getc" | "get-block" | "getc-locked" | "getc-unlocked" => {
            |operation| operation == Operation::Read
        }
        "rewrite" | "seeks" => Operation::modifies,
        "seq-create" | "ran-create" => |operation| operation == Operation::Create,
        "seq-stat" | "ran-stat" => |operation| operation == Operation::Stat,
        "seq-delete" | "ran-delete" => |operation| operation == Operation::Delete,
        _ => return None,
    })
}

/// Whether these are stages of the plan `bonnie`, some of them with a column.
pub(super) fn has(plan: &Plan) -> bool {
    let known = |stage: &Stage| {
        let does = does(&stage.name);
        does.is_some_and(|does| does(stage.workload.operation)) && stage.settings.is_empty()
    };
    let column = |stage: &Stage| !WITHOUT_COLUMN.contains(&stage.name.as_str());
    plan.stages.iter().all(known) && plan.stages.iter().any(column)
}

/// The stage of this name that has figures, and these.
fn figures<'r>(run: &'r Run, name: &str) -> Option<(&'r Stage, &'r StageFigures)> {
    let stage = run.plan.stage(name)?;
    let figures = run.figures.iter().find(|figures| figures.stage == name)?;
    Some((stage, figures))
}

/// What a stage came to; in KiB per second for blocks, else operations per
/// second.
fn rate(run: &Run, name: &str) -> Rate {
    let Some((stage, figures)) = figures(run, name).filter(|(_, f)| f.errors == 0) else {
        return Rate::default();
    };
    let seconds: f64 = run
        .trials
        .iter()
        .filter(|trial| trial.stage == name)
        .map(|trial| trial.seconds)
        .sum();
    if seconds < SECONDS_LEAST {
        return Rate {
            rate: Cell::TooShort,
            cpu_percent: Cell::TooShort,
        };
    }
    let per_s = figures.iops.median;
    let by_operation = name == IO_TESTS[SEEKS] || stage.workload.operation.on_files();
    let rate = if by_operation {
        per_s
    } else {
        per_s * stage.workload.block_size as f64 / 1024.0
    };
    Rate {
        rate: Cell::Measured(rate),
        cpu_percent: figures
            .cpu_share
            .map_or(Cell::NotMeasured, |share| Cell::Measured(share * 100.0)),
    }
}

fn latency(run: &Run, name: &str) -> Option<Latency> {
    let (_, figures) = figures(run, name).filter(|(_, f)| f.errors == 0)?;
    figures.latency_ns.max.map(Latency::of_ns)
}

/// The size of the file as bonnie++ says it: `200M`, `48G`.
fn file_size(bytes: u64) -> String {
    let mib = bytes >> 20;
    if mib >= 1024 && mib.is_multiple_of(1024) {
        format!("{}G", mib / 1024)
    } else {
        format!("{mib}M")
    }
}

/// The name of the machine, in which a comma would begin another field.
fn name(run: &Run) -> String {
    let name = run.machine.host.as_deref().unwrap_or("unknown");
    name.replace([',', ' '], "-")
}

/// How many files there were, in units of 1024, and the files themselves.
fn files(run: &Run) -> Option<(String, diskfacts_plan::Files)> {
    let mut stages = FILE_TESTS.into_iter().filter_map(|test| figures(run, test));
    let files = stages.find_map(|(stage, _)| stage.workload.files)?;
    let number = if files.count.is_multiple_of(1024) {
        (files.count / 1024).to_string()
    } else {
        format!("{:.3}", files.count as f64 / 1024.0)
    };
    Some((number, files))
}

/// Bytes of a block, where a test of blocks was made.
fn block(run: &Run) -> Option<u64> {
    let mut stages = IO_TESTS.into_iter().filter_map(|test| figures(run, test));
    stages.find_map(|(stage, _)| Some(stage.workload.block_size).filter(|size| *size > 1))
}

/// The two tables, each if it was measured.
pub(super) fn tables(run: &Run) -> String {
    let mut out = String::new();
    let name = name(run);
    let any = |tests: &[&str]| tests.iter().any(|test| figures(run, test).is_some());
    // Writing to a String cannot fail.
    if any(&IO_TESTS) {
        let mut size = file_size(run.target.size_bytes);
        if let Some(block) = block(run).filter(|block| *block != BLOCK_BYTES) {
            let _ = write!(size, ":{block}");
        }
        let io = Io {
            name: name.clone(),
            size,
            rates: IO_TESTS.map(|test| rate(run, test)),
        };
        let latencies = IO_TESTS.map(|test| latency(run, test));
        let _ = writeln!(
            out,
            "{IO_TITLE}{}\n{}",
            io.line(Look::Lettered),
            latency_line(&latencies)
        );
    }
    if let Some((mut number, files)) = files(run) {
        if files.size_max > 0 {
            let _ = write!(number, ":{}:{}", files.size_max, files.size_min);
        }
        if files.folders > 1 {
            let _ = write!(number, "/{}", files.folders);
        }
        let line = Files {
            number,
            rates: FILE_TESTS.map(|test| rate(run, test)),
        };
        let latencies = FILE_TESTS.map(|test| latency(run, test));
        let _ = writeln!(
            out,
            "{}{}\n{}",
            files_title(&name),
            line.line(),
            latency_line(&latencies)
        );
    }
    out
}

/// The line of CSV, of 50 fields, that `bon_csv2html` reads.
pub(super) fn csv(run: &Run) -> String {
    let mut row = Row::of_today();
    let said = &mut row.conditions;
    said.name = name(run);
    "1".clone_into(&mut said.concurrency);
    said.seed = run.run.seed.to_string();
    if IO_TESTS.iter().any(|test| figures(run, test).is_some()) {
        said.file_size = file_size(run.target.size_bytes);
        let block = block(run).filter(|block| *block != BLOCK_BYTES);
        said.chunk_size = block.map_or_else(String::new, |block| block.to_string());
    }
    if let Some((seeks, figures)) = figures(run, IO_TESTS[SEEKS]) {
        let each = figures.latency_ns.samples / u64::from(figures.iops.trials.max(1));
        said.seeks = each.to_string();
        said.seekers = seeks.workload.streams.to_string();
    }
    if let Some((number, files)) = files(run) {
        said.num_files = number;
        if files.size_max > 0 {
            said.max_size = files.size_max.to_string();
            said.min_size = files.size_min.to_string();
        }
        if files.folders > 1 {
            said.num_dirs = files.folders.to_string();
        }
    }
    row.io = IO_TESTS.map(|test| rate(run, test));
    row.files = FILE_TESTS.map(|test| rate(run, test));
    let mut tests = IO_TESTS.into_iter().chain(FILE_TESTS);
    row.latencies = row
        .latencies
        .map(|_| tests.next().and_then(|test| latency(run, test)));
    format!("{row}\n")
}

/// What the tables do not say.
pub(super) fn notes(run: &Run) -> Vec<String> {
    let mut said = Vec::new();
    let measured: Vec<String> = WITHOUT_COLUMN
        .into_iter()
        .filter_map(|test| {
            let (stage, figures) = figures(run, test)?;
            let rate = figures.iops.median * stage.workload.block_size as f64 / 1024.0;
            Some(format!("{test} ({rate:.0} K/s)"))
        })
        .collect();
    if !measured.is_empty() {
        said.push(format!(
            "bonnie++ 2.00 writes and reads single bytes by system calls, and has no column for {}.",
            list(&measured)
        ));
    }
    let cached: Vec<String> = IO_TESTS
        .into_iter()
        .filter_map(|test| {
            let (_, figures) = figures(run, test)?;
            let share = figures.layers.page_cache;
            (share >= 0.01).then(|| format!("{test} ({:.0} %)", share * 100.0))
        })
        .collect();
    if !cached.is_empty() {
        said.push(format!(
            "The page cache, not the disk, served a part of {}.",
            list(&cached)
        ));
    }
    said
}
