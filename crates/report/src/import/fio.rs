//! fio's JSON (`--output-format=json` and `json+`): a job's reads, writes and
//! trims, each with its rate and the percentiles of its latency.
//!
//! fio counts in bytes, `bw_bytes` is bytes per second, `runtime` milliseconds,
//! and since fio 3.0 latencies are `lat_ns` and `clat_ns`. Percentiles are of the
//! whole latency (`lat_ns`) with fio's `lat_percentiles=1`, else of the completion
//! latency (`clat_ns`), which has no time of submission in it. The time of syncs
//! (`sync.lat_ns`) is in neither.

use super::row::{Format, Measured, Row};
use super::{Document, quoted};
use diskfacts_plan::units::three_digits;
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
    /// Which of the entries of this name, from 1; `None` where there is one. Clones
    /// of a job run at the same time.
    pub clone: Option<usize>,
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

impl Io {
    /// The latency that has percentiles, the whole one before that of completions.
    pub fn latency(&self) -> &Times {
        if self.lat_ns.percentile.is_empty() {
            &self.clat_ns
        } else {
            &self.lat_ns
        }
    }
}

/// What fio counts of the syncs of a job.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Syncs {
    lat_ns: Times,
    total_ios: u64,
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
    #[serde(default)]
    sync: Syncs,
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

/// Reads a JSON value that began at `line`, below this heading.
pub(super) fn read(
    line: u64,
    text: &str,
    heading: Option<&(String, String)>,
    document: &mut Document,
) {
    let output: Output = match serde_json::from_str(text) {
        Ok(output) => output,
        Err(error) => {
            if text.contains("\"fio version\"") {
                let at = line + (error.line() as u64).saturating_sub(1);
                document.note(at, format!("This JSON of fio cannot be read: {error}."));
            } else {
                document.note(line, "This JSON is not fio's, and was not read.");
            }
            return;
        }
    };
    let mut found = false;
    let mut clones = Clones::of(&output.jobs);
    let mut completions_alone = false;
    for job in output.jobs {
        let clone = clones.next(&job.jobname);
        note_syncs(line, &job, clone, document);
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
            completions_alone |= io.lat_ns.percentile.is_empty() && io.clat_ns.max > 0;
            let kept = options
                .iter()
                .filter(|(name, _)| KEPT.contains(&name.as_str()));
            let mut settings: BTreeMap<String, String> =
                kept.map(|(n, v)| (n.clone(), v.clone())).collect();
            settings.insert("job".to_owned(), job.jobname.clone());
            settings.extend(heading.cloned());
            if let Some((number, of)) = clone {
                settings.insert("clone".to_owned(), format!("{number} of {of}"));
            }
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
                    clone: clone.map(|(number, _)| number),
                    io,
                })),
            });
        }
    }
    if completions_alone {
        document.note(
            line,
            "Latencies are fio's clat, from submission to completion, without the time of the \
             submission: percentiles of lat are not in this document (lat_percentiles=1).",
        );
    }
    clones.note(line, document);
    if !found {
        document.note(line, "This JSON of fio has no job that did any I/O.");
    }
}

/// Says what the syncs of a job took, which is in no latency of its writes.
fn note_syncs(line: u64, job: &Job, clone: Option<(usize, usize)>, document: &mut Document) {
    let times = &job.sync.lat_ns;
    if times.max == 0 {
        return;
    }
    let ms = |ns: f64| format!("{:.3} ms", ns / 1e6);
    let percentile = times.percentile(99.0);
    let p99 = percentile.map_or_else(String::new, |ns| format!(", p99 {}", ms(ns as f64)));
    let which = clone.map_or_else(String::new, |(number, of)| format!(" ({number} of {of})"));
    let text = format!(
        "Job {}{which} synced {} times, mean {}{p99}, longest {}: the latencies of its writes are without \
         this.",
        quoted(&job.jobname),
        job.sync.total_ios.max(times.samples),
        ms(times.mean),
        ms(times.max as f64)
    );
    document.note(line, text);
}

/// Entries of the same name: without `group_reporting` each of `numjobs` has one.
struct Clones(BTreeMap<String, OfName>);

/// How many there are, how many were read, and what they did together.
#[derive(Default)]
struct OfName {
    of: usize,
    read: usize,
    bytes_per_s: u64,
}

impl Clones {
    fn of(jobs: &[Job]) -> Self {
        let mut clones: BTreeMap<String, OfName> = BTreeMap::new();
        for job in jobs {
            let clone = clones.entry(job.jobname.clone()).or_default();
            clone.of += 1;
            for io in [&job.read, &job.write, &job.trim] {
                clone.bytes_per_s = clone.bytes_per_s.saturating_add(io.bw_bytes);
            }
        }
        Self(clones)
    }

    /// The number of the next entry of this name, and how many there are; `None`
    /// where it is the only one.
    fn next(&mut self, name: &str) -> Option<(usize, usize)> {
        let clone = self.0.get_mut(name)?;
        clone.read += 1;
        (clone.of > 1).then_some((clone.read, clone.of))
    }

    fn note(&self, line: u64, document: &mut Document) {
        for (name, clone) in self.0.iter().filter(|(_, clone)| clone.of > 1) {
            let text = format!(
                "Job {} has {} entries, its clones that ran at the same time: each is kept by its \
                 number and is no repeat. Together they did {} MB/s.",
                quoted(name),
                clone.of,
                three_digits(clone.bytes_per_s as f64 / 1e6)
            );
            document.note(line, text);
        }
    }
}
