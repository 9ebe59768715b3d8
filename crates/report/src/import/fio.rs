//! fio's JSON (`--output-format=json` and `json+`): a job's reads, writes and
//! trims, each with its rate and the percentiles of its latency.
//!
//! fio counts in bytes, `bw_bytes` is bytes per second, `runtime` milliseconds,
//! and since fio 3.0 latencies are `lat_ns` and `clat_ns`. Percentiles are of
//! the completion latency (`clat_ns`), which has no time of submission in it.

use super::row::{Format, Measured, Row};
use super::{Document, quoted};
use serde::Deserialize;
use std::collections::BTreeMap;

/// One direction of a job that did something.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Name of the job.
    pub job: String,
    /// `read`, `write` or `trim`.
    pub direction: &'static str,
    /// Options of the job, those of its file first.
    pub options: BTreeMap<String, String>,
    /// Version of fio.
    pub version: String,
    /// What was counted.
    pub io: Io,
}

/// What fio counts of a direction.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Io {
    /// Bytes.
    pub io_bytes: u64,
    /// Bytes per second.
    pub bw_bytes: u64,
    /// Operations per second.
    pub iops: f64,
    /// Milliseconds.
    pub runtime: u64,
    /// Operations.
    pub total_ios: u64,
    /// From submission call to completion, nanoseconds.
    pub lat_ns: Times,
    /// From submission to completion, nanoseconds.
    pub clat_ns: Times,
}

/// A latency of fio, nanoseconds.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Times {
    /// Smallest.
    pub min: u64,
    /// Largest.
    pub max: u64,
    /// Mean.
    pub mean: f64,
    /// Percentiles by their name, `99.900000`.
    pub percentile: BTreeMap<String, u64>,
    /// Samples.
    #[serde(rename = "N")]
    pub samples: u64,
}

impl Times {
    /// A percentile, `99.9`.
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        let is = |name: &String| {
            name.parse::<f64>()
                .is_ok_and(|p| (p - percent).abs() < 1e-9)
        };
        let found = self.percentile.iter().find(|(name, _)| is(name));
        found.map(|(_, ns)| *ns)
    }
}

#[derive(Deserialize)]
struct Output {
    #[serde(rename = "fio version")]
    version: String,
    #[serde(rename = "global options", default)]
    global: BTreeMap<String, serde_json::Value>,
    jobs: Vec<Job>,
}

#[derive(Deserialize)]
struct Job {
    jobname: String,
    #[serde(default)]
    error: i64,
    #[serde(rename = "job options", default)]
    options: BTreeMap<String, serde_json::Value>,
    #[serde(default)]
    read: Io,
    #[serde(default)]
    write: Io,
    #[serde(default)]
    trim: Io,
}

/// Options that are kept as conditions of a row.
const KEPT: [&str; 16] = [
    "bs",
    "direct",
    "filename",
    "fsync",
    "fdatasync",
    "ioengine",
    "iodepth",
    "numjobs",
    "rate_iops",
    "runtime",
    "rw",
    "rwmixread",
    "size",
    "sync",
    "buffered",
    "end_fsync",
];

/// Reads a JSON value that began at `line`.
pub(super) fn read(line: u64, text: &str, document: &mut Document) {
    let output: Output = match serde_json::from_str(text) {
        Ok(output) => output,
        Err(error) => {
            if text.contains("\"fio version\"") {
                let at = line + (error.line() as u64).saturating_sub(1);
                document.note(at, format!("This JSON of fio cannot be read: {error}."));
            } else {
                document.note(line, "This JSON is none of fio's, and was not read.");
            }
            return;
        }
    };
    let mut found = false;
    for job in output.jobs {
        if job.error != 0 {
            let text = format!(
                "fio says that job {} failed (error {}).",
                quoted(&job.jobname),
                job.error
            );
            document.note(line, text);
        }
        let mut options = BTreeMap::new();
        for (name, value) in output.global.iter().chain(&job.options) {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            options.insert(name.clone(), value);
        }
        let parts = [("read", job.read), ("write", job.write), ("trim", job.trim)];
        for (direction, io) in parts {
            if io.total_ios == 0 && io.io_bytes == 0 {
                continue;
            }
            found = true;
            let kept = options
                .iter()
                .filter(|(name, _)| KEPT.contains(&name.as_str()));
            let mut settings: BTreeMap<String, String> =
                kept.map(|(n, v)| (n.clone(), v.clone())).collect();
            settings.insert("job".to_owned(), job.jobname.clone());
            document.row(Row {
                line,
                format: Format::Fio,
                settings,
                text: format!("{} {direction}", job.jobname),
                measured: Measured::Fio(Box::new(Part {
                    job: job.jobname.clone(),
                    direction,
                    options: options.clone(),
                    version: output.version.clone(),
                    io,
                })),
            });
        }
    }
    if !found {
        document.note(line, "This JSON of fio has no job that did any I/O.");
    }
}
