//! Everything recorded of one invocation.

use crate::budget::Budget;
use crate::effects::StageEffects;
use crate::finding::{Finding, Verdict};
use crate::labels::Labels;
use crate::limit::{ClaimTest, StageLimits};
use crate::machine::Machine;
use crate::membership::Membership;
use crate::stack::{BlockDevice, HealthAfter, ImpairmentKind, Stack, Unsound, over_a_run};
use crate::together::Together;
use crate::trial::{Latency, Layers, Trial};
use crate::unsaid;
use diskfacts_plan::Plan;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the document. Within one, keys are only added.
pub const SCHEMA: u32 = 1;

/// Version of the arithmetic that makes [`StageFigures`] of trials. It rises when a change of it
/// makes other figures of the same trials, so that kept ones can be told from today's.
pub const ARITHMETIC: u32 = 1;

/// Everything recorded of one invocation; see `docs/reference/json.md`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Version of this document, [`SCHEMA`].
    pub schema: u32,
    /// Who, when and how.
    pub run: RunInfo,
    /// The machine.
    pub machine: Machine,
    /// What was measured.
    pub target: Target,
    /// What lies under it.
    pub stack: Stack,
    /// What was to be done.
    pub plan: Plan,
    /// What was done on the target before the first trial, in order; it is in no figure.
    #[serde(default)]
    pub preconditioning: Vec<Preconditioning>,
    /// What was done, in order.
    pub trials: Vec<Trial>,
    /// Claims that were tested after the trials of the plan, in order; the trials that
    /// test them are the last ones.
    #[serde(default)]
    pub claim_tests: Vec<ClaimTest>,
    /// What lay under the target and was not sound when the run ended; absent where nobody
    /// looked: of a run that was killed, of imported and simulated ones, and of those that an
    /// older version made.
    #[serde(default)]
    pub health_after: Option<HealthAfter>,
    /// The group of hosts that it was made in; absent of a run of one host alone.
    #[serde(default)]
    pub together: Option<Together>,
    /// Figures of each stage over its trials; computed from `trials`.
    #[serde(default)]
    pub figures: Vec<StageFigures>,
    /// What the varied settings of each stage that is a matrix do; computed.
    #[serde(default)]
    pub effects: Vec<StageEffects>,
    /// What follows, most important first; computed.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// What limited each stage; computed.
    #[serde(default)]
    pub limits: Vec<StageLimits>,
    /// How it does for known uses; computed.
    #[serde(default)]
    pub verdicts: Vec<Verdict>,
}

impl Run {
    /// Whether a stage of this name was measured to test a claim.
    pub fn is_test(&self, stage: &str) -> bool {
        let mut tests = self.claim_tests.iter().map(|test| &test.prediction);
        tests.any(|predicted| predicted.control == stage || predicted.changed == stage)
    }

    /// The trials of the plan: without those that test a claim.
    pub fn planned_trials(&self) -> impl Iterator<Item = &Trial> {
        let trials = self.trials.iter();
        trials.filter(|trial| !self.is_test(&trial.stage))
    }

    /// What lay under the target and was not sound, when the run began or when it ended.
    pub fn unsound(&self) -> Vec<Unsound<'_>> {
        let before: Vec<_> = self.stack.impairments().collect();
        over_a_run(&before, self.health_after.as_ref())
    }

    /// The devices under the target that went away while it was measured.
    pub fn gone(&self) -> impl Iterator<Item = &BlockDevice> {
        let after = self.health_after.iter().flat_map(HealthAfter::impairments);
        let gone = after.filter(|(_, found)| found.kind == ImpairmentKind::Gone);
        gone.filter_map(|(name, _)| self.stack.device(name))
    }
}

/// Work that was done before the first trial, to bring the target into the state in
/// which it was to be measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Preconditioning {
    /// Its name in the plan.
    pub name: String,
    /// What was varied, by name.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// Whether its last five rounds were steady by the rule of SNIA; absent where that
    /// was not asked for.
    pub steady: Option<bool>,
    /// Sum over its rounds, without what was done around them.
    pub seconds: f64,
    /// Bytes read and written, over its rounds.
    pub bytes: u64,
    /// Its rounds, numbered from 1, as trials; without their histograms when they were
    /// stored.
    pub rounds: Vec<Trial>,
}

/// Who, when and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Identifies the run: sorts by time, `20261121-024150-7f3a9c04`.
    pub id: String,
    /// When it began, RFC 3339, UTC.
    pub started: String,
    /// When it ended; absent while it runs, or when it was killed.
    pub ended: Option<String>,
    /// Version of diskfacts.
    pub tool_version: String,
    /// The command, word by word.
    pub command: Vec<String>,
    /// How it ended.
    pub status: Status,
    /// Seed of every random choice.
    #[serde(deserialize_with = "unsaid::or_default")]
    pub seed: u64,
    /// Nanoseconds that the trials together were meant to take.
    pub budget_ns: Option<u64>,
    /// What diskfacts itself costs per operation here, measured without I/O.
    pub overhead_ns_per_io: Option<f64>,
    /// What was left out or done otherwise than asked, and why; each a sentence.
    pub notes: Vec<String>,
    /// Where an imported run was read from; absent for one that was measured.
    #[serde(default)]
    pub source: Option<Source>,
    /// What people call it.
    #[serde(default)]
    pub labels: Labels,
    /// What it belongs to.
    #[serde(default)]
    pub membership: Membership,
}

/// The document that an imported run was read from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// Name of the file as it was given; `-` is standard input.
    pub file: String,
    /// Word of the format that its rows are of: `dd`, `stride`, `fio`, ...
    pub format: String,
    /// Number of the first line that was read, from 1.
    pub first_line: u64,
    /// Number of the last line that was read.
    pub last_line: u64,
    /// Measured rows that were read.
    pub rows: u64,
    /// Ids of all runs that were read from the document together, this one
    /// among them: what one format says may explain another's figures. Empty
    /// where they are not known.
    #[serde(default)]
    pub runs: Vec<String>,
    /// Those of the rows that are no trial: their figures are no rate, or the
    /// rate is missing.
    pub readings: Vec<Reading>,
}

/// A row of a document that is no trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Number of its line, from 1.
    pub line: u64,
    /// The row as it stands.
    pub text: String,
    /// Its numbers by name, in the units of its format.
    pub values: BTreeMap<String, f64>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It has not ended, or was killed.
    Running,
    /// All was done.
    Complete,
    /// Stopped by a signal; what was complete is kept.
    Interrupted,
    /// An operation failed.
    Failed,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// As it was given.
    pub given: String,
    /// Its real path, or the name of a simulated disk.
    pub path: String,
    /// What it is.
    pub kind: TargetKind,
    /// Bytes that could be measured.
    #[serde(deserialize_with = "unsaid::or_default")]
    pub size_bytes: u64,
    /// Whether the stages that write were allowed.
    pub writable: bool,
    /// Why it may not be written, a sentence each with what to do about it;
    /// filled by `devices`, which looks for all of them.
    #[serde(default)]
    pub obstacles: Vec<String>,
    /// How the file lies on its filesystem, of a loop device the one behind it; absent of
    /// what has no file, and where the filesystem does not tell.
    #[serde(default)]
    pub extents: Option<Extents>,
    /// What direct I/O needs here; absent when the kernel does not tell.
    #[serde(default)]
    pub direct: Option<DirectIo>,
}

/// What a target is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A folder, in which diskfacts made its own file.
    Folder,
    /// A file that existed.
    File,
    /// A block device.
    Device,
    /// A simulated disk.
    Simulated,
    /// A pipe, a terminal, `/dev/zero` and the like: bytes that lie on no disk.
    Stream,
    /// A loop device that diskfacts made over a file of its own.
    Loop,
    /// A document with results of another program; what was measured is what it
    /// says, and neither machine nor stack is this one.
    Imported,
}

/// How a file lies on its filesystem (`FIEMAP`, else `SEEK_HOLE`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extents {
    /// Bytes that were asked about: the size of the file when the run began.
    pub span_bytes: u64,
    /// Of these, bytes in holes: reading them gives zeros without any I/O.
    pub hole_bytes: u64,
    /// Bytes in extents that are allocated and were never written
    /// (`FIEMAP_EXTENT_UNWRITTEN`): the same zeros. Absent with `SEEK_HOLE`,
    /// which counts them as holes or as data, as the filesystem likes.
    pub unwritten_bytes: Option<u64>,
    /// Bytes compressed or otherwise encoded (`FIEMAP_EXTENT_ENCODED`), in
    /// bytes of the file: the device moves fewer.
    pub encoded_bytes: Option<u64>,
    /// Bytes in extents that other files or snapshots have too (`FIEMAP_EXTENT_SHARED`):
    /// what is written over them goes elsewhere.
    #[serde(default)]
    pub shared_bytes: Option<u64>,
    /// Bytes kept inside metadata (`FIEMAP_EXTENT_DATA_INLINE`).
    pub inline_bytes: Option<u64>,
    /// Number of extents; absent with `SEEK_HOLE`.
    pub extents: Option<u64>,
    /// How it was found out.
    pub method: ExtentMethod,
}

/// How the filesystem was asked where a file lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExtentMethod {
    /// The `FIEMAP` ioctl.
    Fiemap,
    /// `lseek(2)` with `SEEK_HOLE` and `SEEK_DATA`.
    SeekHole,
}

/// What direct I/O on the target must be aligned to, bytes
/// (`statx(STATX_DIOALIGN)`, since Linux 6.1; else the logical sector).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectIo {
    /// Address of the buffer; 0 when the target refuses direct I/O.
    pub memory_alignment_bytes: u32,
    /// Offset and length; 0 when the target refuses direct I/O.
    pub offset_alignment_bytes: u32,
}

/// The figures of one stage over all its trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageFigures {
    /// Name of the stage.
    pub stage: String,
    /// What was varied, by name: keys of a plan, kernel settings; one entry of figures for each
    /// combination.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// Bytes per second.
    pub throughput_bytes_per_s: Figure,
    /// Operations per second.
    pub iops: Figure,
    /// Latency of all operations of all trials, from merged histograms.
    pub latency_ns: Latency,
    /// How sure the percentiles of `latency_ns` are.
    #[serde(default)]
    pub latency_ci95_ns: LatencyIntervals,
    /// Latency of the reads of a mixed workload.
    pub latency_read_ns: Option<Latency>,
    /// Latency of the writes of a mixed workload.
    pub latency_write_ns: Option<Latency>,
    /// Who served the bytes, weighted by the bytes of each trial.
    pub layers: Layers,
    /// Where the time of the operations went; absent where no latency is known, and in
    /// documents of older versions.
    #[serde(default)]
    pub budget: Option<Budget>,
    /// Processor time in user mode per operation, nanoseconds.
    pub cpu_user_ns_per_io: Option<f64>,
    /// Processor time in the kernel per operation, nanoseconds.
    pub cpu_system_ns_per_io: Option<f64>,
    /// Processor time over time: 1 is one processor that did nothing else.
    #[serde(default)]
    pub cpu_share: Option<f64>,
    /// Operations that failed.
    pub errors: u64,
    /// Numbers of the trials whose rate stands apart from that of the others; they are in
    /// all figures.
    #[serde(default)]
    pub outliers: Vec<u32>,
    /// Why no more trials were made; absent for an import, for a run that did not end
    /// as planned, and in documents of older versions.
    #[serde(default)]
    pub ended: Option<Ended>,
}

/// 95 % intervals of the percentiles of a latency, nanoseconds: the ranks that hold
/// a percentile of independent operations, widened to the range of the percentiles of
/// the single trials, because neighbours are not independent. Absent where the number
/// of samples does not support the percentile, and without the whole histograms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LatencyIntervals {
    /// Of the median.
    pub p50: Option<[u64; 2]>,
    /// Of the 90th percentile.
    pub p90: Option<[u64; 2]>,
    /// Of the 99th percentile.
    pub p99: Option<[u64; 2]>,
    /// Of the 99.9th percentile.
    pub p99_9: Option<[u64; 2]>,
    /// Of the 99.99th percentile.
    pub p99_99: Option<[u64; 2]>,
}

/// Why a stage had no more trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// It had all that the plan has, or allows.
    Trials,
    /// What the plan asks for was reached: its precision, steadiness, or both.
    Reached,
    /// The time was over.
    Time,
}

/// A measured number: the median of its trials, their spread, and how sure the
/// median is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Median of the trials.
    #[serde(deserialize_with = "unsaid::number")]
    pub median: f64,
    /// Smallest trial.
    #[serde(deserialize_with = "unsaid::number")]
    pub min: f64,
    /// Largest trial.
    #[serde(deserialize_with = "unsaid::number")]
    pub max: f64,
    /// `(max - min) / median`; absent with one trial or a median of 0.
    pub spread: Option<f64>,
    /// 95 % confidence interval of the median, when there are trials enough.
    pub ci95: Option<[f64; 2]>,
    /// How `ci95` was worked out; absent with it, and in documents of older
    /// versions, which knew `order-statistics` alone.
    #[serde(default)]
    pub ci_method: Option<CiMethod>,
    /// Number of trials.
    pub trials: u32,
}

/// How the interval of a median was worked out; `docs/method.md` has the sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CiMethod {
    /// Two of the values, by their rank: exact for any distribution.
    OrderStatistics,
    /// Between two values each, where the ranks would hold more than is stated.
    InterpolatedOrderStatistics,
    /// Neighbours were alike: as of fewer values, which say as much.
    Autocorrelated,
}
