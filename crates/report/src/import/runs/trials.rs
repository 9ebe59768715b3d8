//! Rows to trials: what a row says in bytes and seconds. What it does not say
//! is not a number, or 0 where the record has a count.

use crate::formats::bonnie::{FILE_TESTS, IO_TESTS, Latency as Longest, Rate, SEEKS};
use crate::formats::hdparm::Timed;
use crate::formats::stride::{Place, Suffix};
use crate::formats::{dd, stride};
use crate::import::command::Command;
use crate::import::fio;
use crate::import::row::{Format, Measured, Row};
use diskfacts_plan::write_mode::Variant;
use diskfacts_plan::{
    BufferAlignment, CacheMode, EngineChoice, Operation, Pattern, Stage, SyncMode, Workload,
    WriteMode,
};
use diskfacts_record::{Latency, Trial};
use std::collections::BTreeMap;

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
    /// The stage is a matrix, and this one of its cells.
    cell: bool,
}

impl Made {
    fn new(name: &str, row: &Row, workload: Workload) -> Self {
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
            cell: false,
        }
    }

    fn set(&mut self, name: &str, value: impl Into<String>) {
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

    pub(super) fn is_of(&self, stage: &Stage) -> bool {
        stage.name == self.name && (!self.cell || stage.settings == self.settings)
    }

    pub(super) fn repeats(&self, trial: &Trial) -> bool {
        trial.stage == self.name && trial.settings == self.settings
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
            full: None,
        }
    }
}

/// A workload of one sequential stream through the page cache; `block_size` is 0
/// where it is not known.
fn sequential(operation: Operation, block_size: u64, direct: bool) -> Workload {
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
        Measured::Strided(strided) => vec![strided_trial(row, strided)],
        Measured::Summary(summary) => dd_summary(row, summary).into_iter().collect(),
        Measured::Repeat(repeat) => {
            let rate = repeat.rate.map(|rate| rate.bytes_per_s());
            rate.map(|rate| dd_trial(row).at(rate))
                .into_iter()
                .collect()
        }
        Measured::Hdparm(line) => {
            let name = match line.timed {
                Timed::Cached => "cached-read",
                Timed::Disk => "disk-read",
            };
            let mut made = Made::new(name, row, sequential(Operation::Read, 0, line.direct));
            if let Some(offset) = line.offset_gib {
                made.set("offset", format!("{offset}GiB"));
            }
            if line.seconds > 0.0 {
                made.seconds = line.seconds;
                made.bytes = line.mib << 20;
            }
            vec![made.at(line.bytes_per_s())]
        }
        Measured::BonnieIo(line, latencies) => {
            let mut settings = row.settings.clone();
            settings.insert("machine".to_owned(), line.name.clone());
            if !line.size.is_empty() {
                settings.insert("size".to_owned(), line.size.clone());
            }
            bonnie_io(row, &settings, &line.rates, &latencies.unwrap_or_default())
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
            let mut made = bonnie_io(row, &settings, &line.io, io);
            made.extend(bonnie_files(row, &settings, &line.files, files));
            made
        }
        Measured::WriteMatrix(line) => vec![matrix_trial(row, line)],
        Measured::IostatLinux(columns, line) => {
            let value = |name: &str| columns.value(line, name);
            let sum = |a: Option<f64>, b: Option<f64>| Some(a? + b?);
            let bytes = sum(value("rkB/s"), value("wkB/s"))
                .map(|kb| kb * 1024.0)
                .or(sum(value("rMB/s"), value("wMB/s")).map(|mb| mb * 1_048_576.0))
                .or(sum(value("rsec/s"), value("wsec/s")).map(|sectors| sectors * 512.0));
            let iops = sum(value("r/s"), value("w/s")).or(value("tps"));
            iostat(row, &line.device, bytes, iops)
        }
        Measured::IostatSolaris(unit, line) => {
            let bytes = (line.data_read_per_s + line.data_written_per_s) * unit.bytes() as f64;
            let iops = line.reads_per_s + line.writes_per_s;
            iostat(row, &line.device, Some(bytes), Some(iops))
        }
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
            let made = Made::new("stated", row, sequential(operation, block, raw));
            vec![made.at(rate * 1e6)]
        }
        Measured::Claim(None)
        | Measured::Quoted(..)
        | Measured::Trace(_)
        | Measured::Statistics(_) => Vec::new(),
    }
}

fn strided_trial(row: &Row, line: &stride::Row) -> Made {
    let operation = match line.op {
        stride::Op::Read => Operation::Read,
        stride::Op::Write | stride::Op::Modify => Operation::Write,
    };
    let workload = Workload {
        span: Some(line.total_bytes()),
        ..sequential(operation, line.block_size, false)
    };
    let mut made = Made::new(line.op.word(), row, workload);
    match line.place {
        Some(Place::Ext) => made.set("place", "ext"),
        Some(Place::Raw) => made.set("place", "raw"),
        None => {}
    }
    made.set("skip", line.skip_blocks.to_string());
    made.set("fraction", format!("1/{}", line.fraction));
    made.set("bs", line.block_size.to_string());
    match &line.suffix {
        Some(Suffix::Fixed) => made.set("fixed", "true"),
        Some(Suffix::NotFixed) => made.set("fixed", "false"),
        Some(Suffix::At(place)) => made.set("at", place.clone()),
        None => {}
    }
    made.seconds = line.seconds;
    made.operations = line.operations();
    made.bytes = made.operations.saturating_mul(line.block_size);
    made.bytes_per_s = line.real_mib_per_s * stride::MB as f64;
    // Where nothing is skipped, the line prints 0 for what it is not about.
    made.iops = if line.skip_blocks == 1 {
        made.bytes_per_s / line.block_size as f64
    } else {
        line.seeks_per_s
    };
    made
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
    let rate = summary.rate?.bytes_per_s();
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
    made.processor_share = rate.cpu_percent.value().map(|percent| percent / 100.0);
    made.latency = longest.map(|longest| Latency {
        max: Some(longest.ns()),
        ..Latency::default()
    });
    made
}

fn bonnie_io(
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
        let operation = match i {
            0 | 1 => Operation::Write,
            2 => Operation::Modify { percent: 100 },
            _ => Operation::Read,
        };
        let mut workload = sequential(operation, 0, false);
        if i == SEEKS {
            workload.pattern = Pattern::Random;
        }
        let longest = latencies.get(i).copied().flatten();
        let mut made = bonnie_trial(row, IO_TESTS[i], settings, workload, *rate, longest);
        if i == SEEKS {
            made.iops = value;
        } else {
            made.bytes_per_s = value * 1024.0;
        }
        trials.push(made);
    }
    trials
}

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
        let workload = sequential(Operation::Write, 0, false);
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

fn iostat(row: &Row, device: &str, bytes_per_s: Option<f64>, iops: Option<f64>) -> Vec<Made> {
    let workload = sequential(Operation::Write, 0, false);
    let mut made = Made::new("device", row, workload);
    made.set("device", device);
    made.bytes_per_s = bytes_per_s.unwrap_or(f64::NAN);
    made.iops = iops.unwrap_or(f64::NAN);
    vec![made]
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
    workload.queue_depth = number("iodepth").unwrap_or(1);
    workload.streams = number("numjobs").unwrap_or(1);
    let mut made = Made::new(part.direction, row, workload);
    let io = &part.io;
    made.seconds = io.runtime as f64 / 1e3;
    made.bytes = io.io_bytes;
    made.operations = io.total_ios;
    made.bytes_per_s = io.bw_bytes as f64;
    made.iops = io.iops;
    let of = |percent| io.clat_ns.percentile(percent);
    made.latency = (io.clat_ns.max > 0).then(|| Latency {
        samples: io.clat_ns.samples.max(io.total_ios),
        min: Some(io.clat_ns.min),
        mean: Some(io.clat_ns.mean),
        max: Some(io.clat_ns.max),
        p50: of(50.0),
        p90: of(90.0),
        p99: of(99.0),
        p99_9: of(99.9),
        p99_99: of(99.99),
    });
    made
}
