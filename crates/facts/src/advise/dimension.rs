//! What a use may ask of storage, and which stages measure it.

use crate::stages::Stage;
use diskfacts_plan::{CacheMode, EngineChoice, Operation, Pattern, Workload};
use diskfacts_record::Trial;
use std::fmt;

/// One thing that a volume or a setting can be good at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dimension {
    /// Reading in order, alone.
    SequentialRead,
    /// Reading in order while others use the same disk.
    SharedRead,
    /// Writing in order; what is synced after each write is not among it.
    SequentialWrite,
    /// Reading each block in order and writing it back.
    Rewrite,
    /// Operations far from each other: random, mixed, strided.
    Seeks,
    /// Writes in order of which each is durable before the next begins.
    LogWrites,
    /// 99th percentile of the latency of log writes and of seeks.
    TailLatency,
    /// Processor time of what the others do, per byte or per operation.
    Cpu,
}

/// How a value is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes per second; more is better. Of a rewrite, bytes along the file.
    BytesPerSecond,
    /// Operations per second; more is better.
    OperationsPerSecond,
    /// Nanoseconds; less is better.
    Nanoseconds,
    /// Nanoseconds of a processor for each byte; less is better.
    CpuPerByte,
    /// Nanoseconds of a processor for each operation; less is better.
    CpuPerOperation,
}

impl Unit {
    /// Whether a larger value is a better one.
    pub fn more_is_better(self) -> bool {
        matches!(self, Self::BytesPerSecond | Self::OperationsPerSecond)
    }
}

impl Dimension {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 8] = [
        Self::SequentialRead,
        Self::SharedRead,
        Self::SequentialWrite,
        Self::Rewrite,
        Self::Seeks,
        Self::LogWrites,
        Self::TailLatency,
        Self::Cpu,
    ];

    /// Its word, as `--weights` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::SequentialRead => "seq-read",
            Self::SharedRead => "shared-read",
            Self::SequentialWrite => "seq-write",
            Self::Rewrite => "rewrite",
            Self::Seeks => "seeks",
            Self::LogWrites => "log-writes",
            Self::TailLatency => "tail-latency",
            Self::Cpu => "cpu",
        }
    }

    /// What it is, in a few words.
    pub fn about(self) -> &'static str {
        match self {
            Self::SequentialRead => "reading in order",
            Self::SharedRead => "reading in order while others use the disk",
            Self::SequentialWrite => "writing in order",
            Self::Rewrite => "rewriting in order",
            Self::Seeks => "operations far from each other",
            Self::LogWrites => "writes that are synced one by one",
            Self::TailLatency => "the slowest percent of log writes and seeks",
            Self::Cpu => "processor time",
        }
    }

    /// The dimension of this word.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    /// What a stage measures; `None` where it is none of these: memory, files of a
    /// folder, single characters, a rate that was given, no I/O at all.
    pub(crate) fn measured_by(stage: &Stage<'_>) -> Option<Self> {
        let workload = stage.workload();
        let elsewhere = stage.is_null()
            || workload.engine == EngineChoice::Null
            || workload.operation.on_files()
            || workload.cache == CacheMode::Warm
            || workload.rate.is_some()
            || workload.touch.by_character()
            || workload.block_size == 1;
        if elsewhere {
            return None;
        }
        if workload.pattern != Pattern::Sequential {
            return workload.beside.is_none().then_some(Self::Seeks);
        }
        match (workload.operation, workload.beside.is_some()) {
            (Operation::Read, false) => Some(Self::SequentialRead),
            (Operation::Read, true) => Some(Self::SharedRead),
            (Operation::Write, false) if workload.sync.each_write() => Some(Self::LogWrites),
            (Operation::Write, false) => Some(Self::SequentialWrite),
            (Operation::Modify { percent: 100 }, false) => Some(Self::Rewrite),
            _ => None,
        }
    }

    /// The value of one trial in this unit; not a number where it does not say.
    pub(super) fn value(self, trial: &Trial, unit: Unit) -> f64 {
        let known = |value: f64| if value > 0.0 { value } else { f64::NAN };
        match unit {
            Unit::BytesPerSecond => known(match self {
                Self::Rewrite => along_the_file(trial),
                _ => trial.throughput_bytes_per_s,
            }),
            Unit::OperationsPerSecond => known(trial.iops),
            Unit::Nanoseconds => trial.latency_ns.p99.map_or(f64::NAN, |ns| ns as f64),
            Unit::CpuPerByte => known(cpu_ns_per_s(trial) / known(trial.throughput_bytes_per_s)),
            Unit::CpuPerOperation => known(cpu_ns_per_s(trial) / known(trial.iops)),
        }
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The bytes of a rewrite count twice, read and written, and its operations once.
fn along_the_file(trial: &Trial) -> f64 {
    let block = trial.workload.block_size;
    if trial.iops > 0.0 && block > 0 {
        trial.iops * block as f64
    } else {
        trial.throughput_bytes_per_s / 2.0
    }
}

/// Nanoseconds of a processor in a second: of user and kernel, or the share of one
/// processor that a document names.
fn cpu_ns_per_s(trial: &Trial) -> f64 {
    let cpu = &trial.cpu;
    match (cpu.user_ns_per_io, cpu.system_ns_per_io) {
        (Some(user), Some(system)) => (user + system) * trial.iops,
        _ => cpu.busiest_thread.map_or(f64::NAN, |share| share * 1e9),
    }
}

/// What two measurements must have in common to be held against each other, by
/// name: the conditions of a workload but for those that are in `varied`, which
/// the run itself chose between. Positions and amounts are not among it, because
/// volumes differ in size.
pub(super) fn conditions(
    workload: &Workload,
    unsaid: &[String],
    varied: &[&str],
) -> Vec<(&'static str, String)> {
    all_conditions(workload)
        .into_iter()
        .filter(|(name, _)| !varied.contains(name))
        .map(|(name, value)| {
            let said = unsaid.iter().all(|key| key != name);
            (name, if said { value } else { "?".to_owned() })
        })
        .collect()
}

/// The conditions that a matrix may choose between.
pub(super) const CHOSEN: [&str; 9] = [
    "block_size",
    "queue_depth",
    "streams",
    "cache",
    "sync",
    "buffer",
    "engine",
    "pool",
    "io_priority",
];

/// Each condition of a workload and its value, as words that can be compared.
pub(super) fn all_conditions(workload: &Workload) -> Vec<(&'static str, String)> {
    let beside = workload.beside.as_ref().map(|beside| {
        let Workload {
            operation,
            pattern,
            block_size,
            ..
        } = &**beside;
        (*operation, *pattern, *block_size)
    });
    vec![
        ("operation", format!("{:?}", workload.operation)),
        ("pattern", format!("{:?}", workload.pattern)),
        ("touch", format!("{:?}", workload.touch)),
        ("beside", format!("{beside:?}")),
        ("block_size", workload.block_size.to_string()),
        ("queue_depth", workload.queue_depth.to_string()),
        ("streams", workload.streams.to_string()),
        ("cache", format!("{:?}", workload.cache)),
        ("sync", format!("{:?}", workload.sync)),
        ("buffer", format!("{:?}", workload.buffer)),
        (
            "engine",
            format!(
                "{:?} {} {}",
                workload.engine, workload.iopoll, workload.sqpoll
            ),
        ),
        ("pool", format!("{:?}", workload.pool)),
        ("io_priority", format!("{:?}", workload.io_priority)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn every_dimension_is_found_by_its_word() {
        for known in Dimension::ALL {
            assert_eq!(Dimension::of(known.name()), Some(known));
            assert!(!known.about().is_empty());
        }
        assert_eq!(Dimension::of("speed"), None);
    }

    #[test]
    fn the_stages_of_the_survey_measure_what_they_are_called() {
        let run = testing::healthy();
        let stages = crate::stages::of(&run);
        let of = |name: &str| {
            let stage = stages.iter().find(|stage| stage.name == name);
            Dimension::measured_by(stage.expect("a stage of the survey"))
        };
        assert_eq!(of("cached-random-read"), None);
        assert_eq!(of("sequential-read"), Some(Dimension::SequentialRead));
        assert_eq!(of("sequential-write"), Some(Dimension::SequentialWrite));
        assert_eq!(of("random-read-qd1"), Some(Dimension::Seeks));
        assert_eq!(of("mixed-70-30"), Some(Dimension::Seeks));
        assert_eq!(of("log-write"), Some(Dimension::LogWrites));
    }

    #[test]
    fn a_rewrite_counts_the_bytes_along_the_file_once() {
        let mut trial = testing::healthy().trials[0].clone();
        trial.workload.operation = Operation::Modify { percent: 100 };
        trial.throughput_bytes_per_s = 200.0;
        trial.iops = f64::NAN;
        let value = |trial: &Trial| Dimension::Rewrite.value(trial, Unit::BytesPerSecond);
        assert!((value(&trial) - 100.0).abs() < 1e-9);
        trial.workload.block_size = 8;
        trial.iops = 12.0;
        assert!((value(&trial) - 96.0).abs() < 1e-9);
    }
}
