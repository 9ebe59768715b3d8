//! Rows to trials: what a row says in bytes and seconds. What it does not say
//! is not a number, or 0 where the record has a count.

use super::{devices, strided};
use crate::formats::bonnie::{FILE_TESTS, IO_TESTS, Latency as Longest, Rate, SEEKS};
use crate::formats::dd;
use crate::formats::hdparm::{self, Timed};
use crate::import::command::Command;
use crate::import::fio;
use crate::import::row::{Format, Measured, Row};
use diskfacts_plan::units::exact_size;
use diskfacts_plan::write_mode::Variant;
use diskfacts_plan::{
    BufferAlignment, CacheMode, EngineChoice, Operation, Pattern, Stage, SyncMode, Workload,
    WriteMode,
};
use diskfacts_record::Latency;
use std::collections::{BTreeMap, BTreeSet};

/// A trial before it has its place in a run.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) name: String,
    pub(super) settings: BTreeMap<String, String>,
    pub(super) workload: Workload,
    pub(super) seconds: f64,
    pub(super) bytes: u64,
    pub(super) operations: u64,
    pub(super) bytes_per_s: f64,
    pub(super) iops: f64,
    pub(super) latency: Option<Latency>,
    pub(super) processor_share: Option<f64>,
    /// Number of its line.
    pub(super) line: u64,
    /// Keys of the workload that the document does not say.
    pub(super) unsaid: BTreeSet<&'static str>,
    /// The stage is a matrix, and this one of its cells.
    pub(super) cell: bool,
}

impl Made {
    pub(super) fn new(name: &str, row: &Row, workload: Workload) -> Self {
        let no_size = workload.block_size == 0;
        Self {
            name: name.to_owned(),
            settings: row.settings.clone(),
            workload,
            seconds: f64::NAN,
            bytes: 0,
            operations: 0,
            bytes_per_s: f64::NAN,
            iops: f64::NAN,
            latency: None,
            processor_share: None,
            line: row.line,
            unsaid: no_size.then_some("block_size").into_iter().collect(),
            cell: false,
        }
    }

    pub(super) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.settings.insert(name.to_owned(), value.into());
    }

    /// A rate; operations per second follow where the block size is known.
    fn at(mut self, bytes_per_s: f64) -> Self {
        self.bytes_per_s = bytes_per_s;
        if self.workload.block_size > 0 {
            self.iops = bytes_per_s / self.workload.block_size as f64;
        }
        self
    }

    pub(super) fn stage(&self, format: Format) -> Stage {
        Stage {
            name: self.name.clone(),
            about: format!("read from a document: {}", format.about()),
            workload: self.workload.clone(),
            settings: if self.cell {
                self.settings.clone()
            } else {
                BTreeMap::new()
            },
            kernel: BTreeMap::new(),
            full: None,
        }
    }
}

/// A workload of one sequential stream through the page cache; `block_size` is 0
/// where it is not known.
pub(super) fn sequential(operation: Operation, block_size: u64, direct: bool) -> Workload {
    Workload {
        operation,
        pattern: Pattern::Sequential,
        block_size,
        cache: if direct {
            CacheMode::Direct
        } else {
            CacheMode::Buffered
        },
        engine: EngineChoice::Auto,
        ..Workload::default()
    }
}

/// The trials of a row; none where it has no rate.
pub(super) fn of(row: &Row) -> Vec<Made> {
    match &row.measured {
        Measured::Strided(line) => vec![strided::trial(row, line)],
        Measured::Summary(summary) => dd_summary(row, summary).into_iter().collect(),
        Measured::Repeat(repeat) => {
            let rate = repeat.rate.map(|rate| rate.bytes_per_s());
            rate.map(|rate| dd_trial(row).at(rate))
                .into_iter()
                .collect()
        }
        Measured::Hdparm(line) => vec![hdparm_trial(row, line)],
        Measured::BonnieIo(line, latencies) => {
            let mut settings = row.settings.clone();
            settings.insert("machine".to_owned(), line.name.clone());
            if !line.size.is_empty() {
                settings.insert("size".to_owned(), line.size.clone());
            }
            let block = bonnie_block(&line.size);
            let latencies = latencies.unwrap_or_default();
            bonnie_io(row, &settings, block, &line.rates, &latencies)
        }
        Measured::BonnieFiles(line, latencies) => {
            let mut settings = row.settings.clone();
            settings.insert("files".to_owned(), line.number.clone());
            bonnie_files(row, &settings, &line.rates, &latencies.unwrap_or_default())
        }
        Measured::BonnieCsv(line) => {
            let mut settings = row.settings.clone();
            let c = &line.conditions;
            for (name, value) in [
                ("machine", &c.name),
                ("size", &c.file_size),
                ("chunk", &c.chunk_size),
                ("concurrency", &c.concurrency),
                ("files", &c.num_files),
            ] {
                if !value.is_empty() {
                    settings.insert(name.to_owned(), value.clone());
                }
            }
            let (io, files) = line.latencies.split_at(6);
            let block = bonnie_block(&format!("{}:{}", c.file_size, c.chunk_size));
            let mut made = bonnie_io(row, &settings, block, &line.io, io);
            made.extend(bonnie_files(row, &settings, &line.files, files));
            made
        }
        Measured::WriteMatrix(line) => vec![matrix_trial(row, line)],
        Measured::IostatLinux(columns, line) => devices::linux(row, columns, line),
        Measured::IostatSolaris(unit, line) => devices::solaris(row, *unit, line),
        Measured::Fio(part) => vec![fio_trial(row, part)],
        Measured::Claim(Some(rate)) => {
            let writes = row.settings.get("operation").is_some_and(|o| o == "write");
            let operation = if writes {
                Operation::Write
            } else {
                Operation::Read
            };
            let block = Command::of(&row.settings).block_size().unwrap_or(0);
            let raw = row.settings.get("path").is_some_and(|path| path == "raw");
            let mut made = Made::new("stated", row, sequential(operation, block, raw));
            made.unsaid.insert("sync");
            vec![made.at(rate * 1e6)]
        }
        Measured::Claim(None)
        | Measured::Quoted(..)
        | Measured::Trace(_)
        | Measured::Statistics(_) => Vec::new(),
    }
}

fn hdparm_trial(row: &Row, line: &hdparm::Row) -> Made {
    let name = match line.timed {
        Timed::Cached => "cached-read",
        Timed::Disk => "disk-read",
    };
    let mut made = Made::new(name, row, sequential(Operation::Read, 0, line.direct));
    if line.direct {
        made.set("direct", "yes");
    }
    if let Some(offset) = line.offset_gib {
        made.set("offset", format!("{offset}GiB"));
        made.workload.offset = offset.saturating_mul(1 << 30);
    }
    if line.seconds > 0.0 {
        made.seconds = line.seconds;
        made.bytes = line.mib.saturating_mul(hdparm::MB);
    } else {
        // A sentence that names the program and a rate.
        made.unsaid.insert("cache");
    }
    made.at(line.bytes_per_s())
}

/// A trial of dd without its figures: which way, on what, with which blocks.
fn dd_trial(row: &Row) -> Made {
    let command = Command::of(&row.settings);
    let written = row.settings.get("operation").map(|word| word == "write");
    let target = command.target();
    let (name, operation) = match target.map(|(_, writes)| writes).or(written) {
        Some(true) => ("write", Operation::Write),
        Some(false) => ("read", Operation::Read),
        // Which way is not said; the name does not say it either.
        None => ("copy", Operation::Read),
    };
    let workload = sequential(
        operation,
        command.block_size().unwrap_or(0),
        command.direct(),
    );
    let mut made = Made::new(name, row, workload);
    made.workload.stop.bytes = command.bytes();
    made.workload.sync = command.sync();
    made.workload.offset = command.offset().unwrap_or(0);
    made.workload.beside = row.settings.get("beside").map(|beside| {
        let command = Command::find(beside);
        let writes = command.target().is_some_and(|(_, writes)| writes);
        let operation = if writes {
            Operation::Write
        } else {
            Operation::Read
        };
        let block = command.block_size().unwrap_or(0);
        let mut beside = sequential(operation, block, command.direct());
        beside.offset = command.offset().unwrap_or(0);
        Box::new(beside)
    });
    if target.is_none() {
        if written.is_none() {
            made.unsaid.insert("operation");
        }
        // dd's defaults hold for a command that is there to be read.
        if command.is_empty() {
            made.unsaid.extend(["cache", "sync"]);
        }
    }
    if let Some((target, _)) = target {
        made.set("target", target);
    }
    for name in ["if", "of", "count", "operation", "iflag", "oflag"] {
        made.settings.remove(name);
    }
    if command.direct() {
        made.set("direct", "yes");
    }
    made
}

fn dd_summary(row: &Row, summary: &dd::Summary) -> Option<Made> {
    let mut made = dd_trial(row);
    made.seconds = summary.seconds;
    made.bytes = summary.bytes;
    if made.workload.block_size > 0 {
        made.operations = summary.bytes.div_ceil(made.workload.block_size);
    }
    if made.workload.stop.bytes.is_none() {
        // Lines of different lengths are not repeats, unless a command says so.
        made.set("bytes", exact_size(summary.bytes));
    }
    let rate = if summary.seconds > 0.0 {
        // The rate that is printed has two or three digits.
        summary.bytes as f64 / summary.seconds
    } else {
        summary.rate?.bytes_per_s()
    };
    Some(made.at(rate))
}

fn bonnie_trial(
    row: &Row,
    name: &str,
    settings: &BTreeMap<String, String>,
    workload: Workload,
    rate: Rate,
    longest: Option<Longest>,
) -> Made {
    let mut made = Made::new(name, row, workload);
    made.settings.clone_from(settings);
    // -D and -b are not in the results.
    made.unsaid.extend(["cache", "sync"]);
    made.processor_share = rate.cpu_percent.value().map(|percent| percent / 100.0);
    made.latency = longest.map(|longest| Latency {
        max: Some(longest.ns()),
        ..Latency::default()
    });
    made
}

/// Bytes of a block where a row does not name another (bonnie++ 1.96 to 2.00).
const BONNIE_BLOCK_BYTES: u64 = 8192;
/// The place of the rewrite in [`IO_TESTS`].
const REWRITE: usize = 2;
/// The places of the tests by single bytes in [`IO_TESTS`].
const BY_BYTE: [usize; 2] = [0, 3];

/// The block of a test in `64M:64k:2`, what the table has as its size; 0 where it
/// has none, as one that was edited for a page.
fn bonnie_block(size: &str) -> u64 {
    let mut parts = size.split(':');
    if parts.next().unwrap_or("").is_empty() {
        return 0;
    }
    let chunk = parts.next().unwrap_or("");
    diskfacts_plan::units::parse_size(chunk).unwrap_or(BONNIE_BLOCK_BYTES)
}

fn bonnie_io(
    row: &Row,
    settings: &BTreeMap<String, String>,
    block: u64,
    rates: &[Rate; 6],
    latencies: &[Option<Longest>],
) -> Vec<Made> {
    let mut trials = Vec::new();
    for (i, rate) in rates.iter().enumerate() {
        let Some(value) = rate.rate.value() else {
            continue;
        };
        let operation = match i {
            0 | 1 => Operation::Write,
            REWRITE => Operation::Modify { percent: 100 },
            _ => Operation::Read,
        };
        let mut workload = sequential(
            operation,
            if BY_BYTE.contains(&i) { 1 } else { block },
            false,
        );
        if i == SEEKS {
            workload.pattern = Pattern::Random;
        }
        let longest = latencies.get(i).copied().flatten();
        let mut made = bonnie_trial(row, IO_TESTS[i], settings, workload, *rate, longest);
        if i == SEEKS {
            // Some of the seeks write their block back, and several processes seek.
            made.unsaid.extend(["operation", "streams"]);
            made.iops = value;
        } else {
            made = made.at(value * 1024.0);
            if i == REWRITE {
                // The record counts what is read and what is written, bonnie++ each
                // byte once.
                made.bytes_per_s *= 2.0;
            }
        }
        trials.push(made);
    }
    trials
}

/// What the tests of files do, in the order of [`FILE_TESTS`].
const FILES_DO: [(Operation, Pattern); 6] = [
    (Operation::Create, Pattern::Sequential),
    (Operation::Stat, Pattern::Sequential),
    (Operation::Delete, Pattern::Sequential),
    (Operation::Create, Pattern::Random),
    (Operation::Stat, Pattern::Random),
    (Operation::Delete, Pattern::Random),
];

fn bonnie_files(
    row: &Row,
    settings: &BTreeMap<String, String>,
    rates: &[Rate; 6],
    latencies: &[Option<Longest>],
) -> Vec<Made> {
    let mut trials = Vec::new();
    for (i, rate) in rates.iter().enumerate() {
        let Some(value) = rate.rate.value() else {
            continue;
        };
        let longest = latencies.get(i).copied().flatten();
        let (operation, pattern) = FILES_DO[i];
        let workload = Workload {
            pattern,
            ..sequential(operation, 0, false)
        };
        let mut made = bonnie_trial(row, FILE_TESTS[i], settings, workload, *rate, longest);
        made.iops = value;
        trials.push(made);
    }
    trials
}

fn matrix_trial(row: &Row, line: &crate::formats::write_matrix::Row) -> Made {
    let WriteMode { sync, variant } = line.mode;
    let workload = Workload {
        sync,
        buffer: match variant {
            Variant::Plain => BufferAlignment::Unaligned,
            Variant::Aligned | Variant::Direct => BufferAlignment::Aligned,
        },
        engine: EngineChoice::Sync,
        ..sequential(
            Operation::Write,
            line.block_size,
            variant == Variant::Direct,
        )
    };
    let synced = matches!(
        sync,
        SyncMode::Fdatasync | SyncMode::Fsync | SyncMode::ODsync | SyncMode::OSync
    );
    let name = if synced { "synced" } else { "streaming" };
    let mut made = Made::new(name, row, workload);
    let size = diskfacts_plan::units::show_size(line.block_size).replace(' ', "");
    made.set("block_size", size);
    made.set("mode", line.mode.to_string());
    made.cell = true;
    made.at(line.mib_per_s * crate::formats::write_matrix::MB as f64)
}

fn fio_trial(row: &Row, part: &fio::Part) -> Made {
    let writes = part.direction != "read";
    let option = |name: &str| part.options.get(name).map(String::as_str);
    let size = |name: &str| option(name).and_then(|v| diskfacts_plan::units::parse_size(v).ok());
    let number = |name: &str| option(name).and_then(|v| v.parse().ok());
    let operation = if writes {
        Operation::Write
    } else {
        Operation::Read
    };
    let mut workload = sequential(
        operation,
        size("bs").unwrap_or(0),
        option("direct") == Some("1"),
    );
    if option("rw").is_some_and(|rw| rw.starts_with("rand")) {
        workload.pattern = Pattern::Random;
    }
    // What is not among the options of a job is fio's default (HOWTO): one job of
    // depth 1, without a sync.
    workload.queue_depth = number("iodepth").unwrap_or(1);
    // Of clones, each entry is one stream.
    workload.streams = match part.clone {
        Some(_) => 1,
        None => number("numjobs").unwrap_or(1),
    };
    let set = |name: &str| option(name).is_some_and(|value| value != "0");
    workload.sync = if option("fdatasync") == Some("1") {
        SyncMode::Fdatasync
    } else if option("fsync") == Some("1") {
        SyncMode::Fsync
    } else if set("end_fsync") {
        SyncMode::AtEnd
    } else {
        SyncMode::None
    };
    let mut made = Made::new(part.direction, row, workload);
    if ["sync", "fsync", "fdatasync"].into_iter().any(set) && made.workload.sync == SyncMode::None {
        // A sync every few writes has no word here.
        made.unsaid.insert("sync");
    }
    for (key, name) in [("pattern", "rw"), ("cache", "direct")] {
        if option(name).is_none() {
            made.unsaid.insert(key);
        }
    }
    let io = &part.io;
    made.seconds = io.runtime as f64 / 1e3;
    made.bytes = io.io_bytes;
    made.operations = io.total_ios;
    made.bytes_per_s = io.bw_bytes as f64;
    made.iops = io.iops;
    let times = io.latency();
    let of = |percent| times.percentile(percent);
    made.latency = (times.max > 0).then(|| Latency {
        samples: times.samples.max(io.total_ios),
        min: Some(times.min),
        mean: Some(times.mean),
        max: Some(times.max),
        p50: of(50.0),
        p90: of(90.0),
        p99: of(99.0),
        p99_9: of(99.9),
        p99_99: of(99.99),
    });
    made
}
