//! What a trial measured: the records of its threads, added up.

use crate::clock::Timescale;
use crate::engine::{Abilities, FailedIn, SyncEach};
use crate::errno;
use crate::intervals;
use crate::measure::{ErrorKind, Record};
use crate::pick::sync_each;
use diskfacts_plan::{IoPriority, Operation, Workload};
use diskfacts_record::LatencyOverTime;
use diskfacts_record::evidence::{
    Beside, ClockEvidence, EngineEvidence, ErrorCount, Intervals, Issued, StreamShare,
};
use diskfacts_record::trial::Histograms;

/// What was measured.
#[derive(Debug, Clone)]
pub struct TrialOutcome {
    /// From the first submission to the last completion or the final sync; in an
    /// open loop that kept its rate, to when the next operation would have been due.
    pub seconds: f64,
    /// When the first stream began, on `CLOCK_MONOTONIC`, nanoseconds; absent where time is
    /// virtual.
    pub started_monotonic_ns: Option<u64>,
    /// Operations that succeeded.
    pub ops: u64,
    /// Operations that failed.
    pub errors: u64,
    /// What was done.
    pub issued: Issued,
    /// Latencies.
    pub histograms: Histograms,
    /// How it was done.
    pub engine: EngineEvidence,
    /// How far the clock can be trusted.
    pub clock: ClockEvidence,
    /// Errors by kind.
    pub error_counts: Vec<ErrorCount>,
    /// Operations over time.
    pub intervals: Intervals,
    /// Their latencies over time; absent of a trial without threads.
    pub latency_over_time: Option<LatencyOverTime>,
    /// Nanoseconds in user mode of the whole process but the caller's thread;
    /// absent where time is virtual.
    pub user_ns: Option<u64>,
    /// The same in the kernel.
    pub system_ns: Option<u64>,
    /// Nanoseconds for which the measuring threads were ready and had no processor, added
    /// up; absent where that is not known.
    pub waited_ns: Option<u64>,
    /// Share of the trial during which the busiest measuring thread ran.
    pub busiest_thread: Option<f64>,
    /// What each stream did, where there are several.
    pub streams: Vec<StreamShare>,
    /// What ran beside.
    pub beside: Option<Beside>,
}

/// What one thread recorded.
pub(crate) struct StreamRecord {
    /// Which thread of the trial, from 0.
    pub(crate) thread: u32,
    pub(crate) record: Record,
    pub(crate) abilities: Abilities,
    pub(crate) direct: bool,
    pub(crate) direct_refused: Option<String>,
    /// Processor time of the thread; absent where time is virtual.
    pub(crate) cpu_ns: Option<u64>,
    /// Nanoseconds for which the thread, and those that serve it, were ready and had no
    /// processor; absent where that is not known.
    pub(crate) waited_ns: Option<u64>,
    /// The I/O priority that was set for the thread, if one was.
    pub(crate) io_priority: Option<IoPriority>,
}

/// What the records of all threads have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Conditions {
    pub(crate) scale: Timescale,
    /// What the clock is called.
    pub(crate) clock: &'static str,
    pub(crate) drift_ppm: Option<f64>,
    pub(crate) user_ns: Option<u64>,
    pub(crate) system_ns: Option<u64>,
}

/// Adds up what the threads recorded.
pub(crate) fn add_up(
    workload: &Workload,
    fallbacks: &[String],
    conditions: Conditions,
    records: Vec<StreamRecord>,
) -> TrialOutcome {
    let scale = conditions.scale;
    let started = records.iter().map(|r| r.record.started).min().unwrap_or(0);
    let ended = records.iter().map(|r| r.record.ended).max().unwrap_or(0);
    let length_ns = scale.ns(ended.saturating_sub(started));
    let seconds = length_ns as f64 / 1e9;
    let mut engine = EngineEvidence {
        threads: records.len() as u32,
        fallbacks: fallbacks.to_vec(),
        direct: !records.is_empty(),
        ..EngineEvidence::default()
    };
    let mut histograms = Histograms::default();
    let mut issued = Issued::default();
    let mut kinds: Vec<ErrorKind> = Vec::new();
    let mut grid = Intervals::default();
    let mut latency_over_time: Option<LatencyOverTime> = None;
    let mut clock_evidence = ClockEvidence {
        source: conditions.clock.to_owned(),
        drift_ppm: conditions.drift_ppm,
        backwards: 0,
    };
    let mut in_flight_ns = 0_u128;
    let mut busiest: Option<f64> = None;
    let syncs_each = sync_each(workload.sync) != SyncEach::None;
    let behind_ns: Option<u64> = records.iter().map(|r| r.record.behind_ns).sum();
    engine.behind_ns = behind_ns.map(|sum| sum / records.len().max(1) as u64);
    let waited_ns = records.iter().map(|stream| stream.waited_ns).sum();
    let streams = streams(workload, scale, &records);
    for stream in records {
        let record = stream.record;
        stream.abilities.name.clone_into(&mut engine.name);
        engine.features = stream.abilities.features;
        engine.resubmitted += stream.abilities.resubmitted;
        for reason in stream.abilities.fallbacks {
            if !engine.fallbacks.contains(&reason) {
                engine.fallbacks.push(reason);
            }
        }
        engine.io_priority = stream.io_priority;
        engine.direct &= stream.direct;
        engine.direct_refused = engine.direct_refused.or(stream.direct_refused);
        issued.reads += record.read.count();
        issued.writes += record.write.count();
        issued.read_bytes += record.read_bytes;
        issued.write_bytes += record.write_bytes;
        issued.syncs += u64::from(record.final_sync_ns.is_some());
        if syncs_each {
            issued.syncs += record.write.count();
        }
        issued.final_sync_ns = issued.final_sync_ns.max(record.final_sync_ns);
        clock_evidence.backwards += record.backwards;
        in_flight_ns += record.in_flight_ns;
        histograms.add(&Histograms {
            read: record.read,
            write: record.write,
            service: record.service,
        });
        intervals::add(&mut grid, record.intervals);
        match &mut latency_over_time {
            Some(sum) => sum.add(record.latency_over_time),
            None => latency_over_time = Some(record.latency_over_time),
        }
        merge(&mut kinds, &record.errors);
        if let Some(cpu_ns) = stream.cpu_ns.filter(|_| length_ns > 0) {
            let share = cpu_ns as f64 / length_ns as f64;
            busiest = Some(busiest.map_or(share, |most| most.max(share)));
        }
    }
    if length_ns > 0 {
        engine.mean_depth = in_flight_ns as f64 / length_ns as f64;
    }
    TrialOutcome {
        started_monotonic_ns: None,
        seconds,
        ops: issued.reads + issued.writes,
        errors: kinds.iter().map(|kind| kind.count).sum(),
        issued,
        histograms,
        engine,
        clock: clock_evidence,
        error_counts: kinds
            .iter()
            .map(|kind| error_count(workload.operation, kind))
            .collect(),
        intervals: grid,
        latency_over_time,
        user_ns: conditions.user_ns,
        system_ns: conditions.system_ns,
        waited_ns,
        busiest_thread: busiest.map(|share| share.min(1.0)),
        streams,
        beside: None,
    }
}

/// What each of several streams did; the threads of a stream together.
fn streams(workload: &Workload, scale: Timescale, records: &[StreamRecord]) -> Vec<StreamShare> {
    let count = workload.streams as usize;
    if count < 2 || records.len() < count {
        return Vec::new();
    }
    let of_stream = |threads: &[StreamRecord]| {
        let each = || threads.iter().map(|stream| &stream.record);
        let started = each().map(|r| r.started).min().unwrap_or(0);
        let ended = each().map(|r| r.ended).max().unwrap_or(0);
        let seconds = scale.ns(ended.saturating_sub(started)) as f64 / 1e9;
        let bytes = each().map(|r| r.read_bytes + r.write_bytes).sum::<u64>();
        StreamShare {
            ops: each().map(|r| r.read.count() + r.write.count()).sum(),
            bytes,
            seconds,
            throughput_bytes_per_s: if seconds > 0.0 {
                bytes as f64 / seconds
            } else {
                0.0
            },
        }
    };
    records
        .chunks(records.len() / count)
        .map(of_stream)
        .collect()
}

fn merge(kinds: &mut Vec<ErrorKind>, more: &[ErrorKind]) {
    for error in more {
        let same = |known: &&mut ErrorKind| {
            (known.write, known.failed_in, known.errno)
                == (error.write, error.failed_in, error.errno)
        };
        match kinds.iter_mut().find(same) {
            Some(known) => {
                known.count += error.count;
                known.lowest_offset = known.lowest_offset.min(error.lowest_offset);
                known.highest_offset = known.highest_offset.max(error.highest_offset);
                if error.first_offset < known.first_offset {
                    known.first_offset = error.first_offset;
                    known.wrong = error.wrong;
                }
            }
            None => kinds.push(*error),
        }
    }
}

pub(crate) fn error_count(of: Operation, kind: &ErrorKind) -> ErrorCount {
    let operation = match (kind.failed_in, of, kind.write) {
        (FailedIn::Sync, ..) => "sync",
        (FailedIn::Value, ..) => "check",
        (FailedIn::Transfer, Operation::Create, _) => "create",
        (FailedIn::Transfer, Operation::Stat, _) => "stat",
        (FailedIn::Transfer, Operation::Delete, _) => "delete",
        (FailedIn::Transfer, _, true) => "write",
        (FailedIn::Transfer, _, false) | (FailedIn::ReadFirst, ..) => "read",
    };
    let message = if let Some(wrong) = kind.wrong {
        wrong.to_string()
    } else if kind.errno == 0 {
        "moved fewer bytes than asked: the target ended there".to_owned()
    } else {
        errno::said(kind.errno)
    };
    ErrorCount {
        operation: operation.to_owned(),
        errno: kind.errno,
        message,
        count: kind.count,
        first_offset: kind.first_offset,
        lowest_offset: Some(kind.lowest_offset),
        highest_offset: Some(kind.highest_offset),
    }
}
