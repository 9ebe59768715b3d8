//! One execution of one stage.

use crate::evidence::Evidence;
use crate::histogram::Histogram;
use crate::over_time::PackedOverTime;
use crate::packed::PackedHistograms;
use crate::unsaid;
use diskfacts_plan::dd::End;
use diskfacts_plan::{CacheMode, Workload};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One execution of one stage under one setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Name of the stage.
    pub stage: String,
    /// Which execution of its stage, from 1.
    pub number: u32,
    /// Which trial of the run, in the order of execution, from 1.
    pub order: u32,
    /// What was varied, by name: keys of a plan, kernel settings.
    pub settings: BTreeMap<String, String>,
    /// What was asked for, with everything resolved: span and stop rule too.
    pub workload: Workload,
    /// Keys of the workload that the document of an imported trial does not say,
    /// with dots between a key and one within it; what stands there instead was
    /// not read. Empty for a trial that was measured.
    #[serde(default)]
    pub unsaid: Vec<String>,
    /// Number of the line, from 1, of the document of an imported trial; absent
    /// for a trial that was measured.
    #[serde(default)]
    pub line: Option<u64>,
    /// From the first submission to the last completion, and to the end of the
    /// final sync if there was one. Not a number (`null`) where an import does
    /// not know it.
    #[serde(deserialize_with = "unsaid::number")]
    pub seconds: f64,
    /// Bytes read and written; 0 where an import does not know them.
    #[serde(deserialize_with = "unsaid::or_default")]
    pub bytes: u64,
    /// Operations that succeeded; 0 where an import does not know them.
    #[serde(deserialize_with = "unsaid::or_default")]
    pub ops: u64,
    /// Operations that failed.
    pub errors: u64,
    /// `bytes / seconds`. Not a number (`null`) where an import does not know it.
    #[serde(deserialize_with = "unsaid::number")]
    pub throughput_bytes_per_s: f64,
    /// `ops / seconds`. Not a number (`null`) where an import does not know it.
    #[serde(deserialize_with = "unsaid::number")]
    pub iops: f64,
    /// Latency of all operations.
    pub latency_ns: Latency,
    /// Latency of the reads of a mixed workload, or of a copy.
    #[serde(default)]
    pub latency_read_ns: Option<Latency>,
    /// Latency of the writes of a mixed workload, or of a copy.
    #[serde(default)]
    pub latency_write_ns: Option<Latency>,
    /// Latency from submission alone, when the workload has a rate and
    /// `latency_ns` counts from the intended start.
    #[serde(default)]
    pub latency_service_ns: Option<Latency>,
    /// Who served the bytes.
    pub layers: Layers,
    /// What it cost this machine.
    pub cpu: Cpu,
    /// What was observed.
    pub evidence: Evidence,
    /// Latencies over time; absent where nothing completed, of imported trials, and of
    /// those that an older diskfacts stored. The store keeps it beside the document.
    #[serde(default)]
    pub latency_over_time: Option<PackedOverTime>,
    /// Whole distributions; the store keeps them beside the document.
    #[serde(default)]
    pub histograms: PackedHistograms,
}

impl Trial {
    /// The same without its whole distributions and its single requests, which have many times
    /// the length of all the rest in a document.
    #[must_use]
    pub fn without_details(&self) -> Self {
        Self {
            evidence: Evidence {
                bursts: None,
                ..self.evidence.clone()
            },
            histograms: PackedHistograms::default(),
            ..self.clone()
        }
    }

    /// Why its direct I/O was not done, a sentence; `None` where none was asked
    /// for, where it was done, and where there was no I/O at all.
    pub fn direct_refused(&self) -> Option<&str> {
        let engine = &self.evidence.engine;
        let refused =
            self.workload.cache == CacheMode::Direct && !engine.direct && engine.name != "null";
        let reason = engine.direct_refused.as_deref();
        refused.then(|| reason.unwrap_or("no reason was recorded"))
    }
}

/// The whole latency distributions of a trial, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Histograms {
    /// Of the reads.
    pub read: Histogram,
    /// Of the writes.
    pub write: Histogram,
    /// From submission, when `read` and `write` count from the intended start.
    pub service: Option<Histogram>,
}

impl Histograms {
    /// Reads and writes together.
    pub fn all(&self) -> Histogram {
        let mut all = self.read.clone();
        all.add(&self.write);
        all
    }

    /// Latencies of the operations that a workload is measured by: all but, of
    /// a copy, those of the end that is measured.
    pub fn measured(&self, workload: &Workload) -> Histogram {
        match &workload.copy {
            None => self.all(),
            Some(copy) if copy.measured == End::Input => self.read.clone(),
            Some(_) => self.write.clone(),
        }
    }

    /// Adds the counts of another trial.
    pub fn add(&mut self, other: &Self) {
        self.read.add(&other.read);
        self.write.add(&other.write);
        match (&mut self.service, &other.service) {
            (Some(mine), Some(theirs)) => mine.add(theirs),
            (mine @ None, Some(theirs)) => *mine = Some(theirs.clone()),
            _ => {}
        }
    }
}

/// A latency distribution in a few numbers, nanoseconds. A percentile that the
/// number of samples cannot support is absent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Latency {
    /// Number of samples.
    pub samples: u64,
    /// Smallest, exact.
    pub min: Option<u64>,
    /// Mean, exact.
    pub mean: Option<f64>,
    /// Largest, exact.
    pub max: Option<u64>,
    /// Median.
    pub p50: Option<u64>,
    /// 90th percentile.
    pub p90: Option<u64>,
    /// 99th percentile.
    pub p99: Option<u64>,
    /// 99.9th percentile.
    pub p99_9: Option<u64>,
    /// 99.99th percentile.
    pub p99_99: Option<u64>,
}

impl From<&Histogram> for Latency {
    fn from(histogram: &Histogram) -> Self {
        Self {
            samples: histogram.count(),
            min: histogram.min(),
            mean: histogram.mean(),
            max: histogram.max(),
            p50: histogram.supported_quantile(0.5),
            p90: histogram.supported_quantile(0.9),
            p99: histogram.supported_quantile(0.99),
            p99_9: histogram.supported_quantile(0.999),
            p99_99: histogram.supported_quantile(0.9999),
        }
    }
}

/// Who served the bytes: shares that add up to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Layers {
    /// Memory of a host: never reached the device during the trial.
    pub page_cache: f64,
    /// Memory of the device.
    pub drive_cache: f64,
    /// The medium itself.
    pub media: f64,
    /// Reached the device; whether its cache or its medium served them cannot
    /// be told. Also what could not be observed at all.
    pub unknown: f64,
    /// Share that reached the device (`drive_cache + media`, and the part of
    /// `unknown` that did); absent when that could not be observed.
    pub device: Option<f64>,
    /// Answered by a device that lies above the disks, without one of them: blocks that
    /// a thin volume never allocated, a mapping that keeps writes to itself.
    #[serde(default)]
    pub mapping: f64,
    /// Sent or taken by a server on another machine. Whether its memory or its disks served
    /// them cannot be seen from here.
    #[serde(default)]
    pub server: f64,
}

impl Layers {
    /// Share that memory of this machine did not serve and that went on to a device or to a
    /// server; absent when that could not be observed.
    pub fn beyond_memory(&self) -> Option<f64> {
        match self.device {
            Some(device) => Some(device + self.server),
            None => (self.server > 0.0).then_some(self.server),
        }
    }
}

impl Default for Layers {
    fn default() -> Self {
        Self {
            page_cache: 0.0,
            drive_cache: 0.0,
            media: 0.0,
            unknown: 1.0,
            device: None,
            mapping: 0.0,
            server: 0.0,
        }
    }
}

/// Processor time of this process per operation, nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Cpu {
    /// In user mode: diskfacts itself.
    pub user_ns_per_io: Option<f64>,
    /// In the kernel on behalf of diskfacts; interrupts are not in it.
    pub system_ns_per_io: Option<f64>,
    /// Ready to run and without a processor: of the threads that do the operations, and
    /// of no one else.
    #[serde(default)]
    pub wait_ns_per_io: Option<f64>,
    /// Share of the trial's time during which its busiest thread ran.
    pub busiest_thread: Option<f64>,
}
