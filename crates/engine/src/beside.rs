//! What runs beside a trial and disturbs it on purpose.

use crate::clock::Timescale;
use crate::error::TrialError;
use crate::outcome::{StreamRecord, error_count};
use diskfacts_plan::Operation;
use diskfacts_record::evidence::Beside;

/// How long it runs before the trial begins, nanoseconds: long enough that its
/// read-ahead has grown and its writes have filled the device's queue.
pub(crate) const LEAD_NS: u64 = 100_000_000;

/// What the streams beside a trial did together.
pub(crate) fn add_up(
    scale: Timescale,
    operation: Operation,
    records: Result<Vec<StreamRecord>, TrialError>,
) -> Beside {
    let records = match records {
        Ok(records) => records,
        Err(error) => {
            return Beside {
                ended_early: Some(sentence(&error)),
                ..Beside::default()
            };
        }
    };
    let mut beside = Beside::default();
    let started = records.iter().map(|r| r.record.started).min().unwrap_or(0);
    let ended = records.iter().map(|r| r.record.ended).max().unwrap_or(0);
    for stream in &records {
        let record = &stream.record;
        stream.abilities.name.clone_into(&mut beside.engine);
        beside.io_priority = stream.io_priority;
        beside.ops += record.read.count() + record.write.count();
        beside.read_bytes += record.read_bytes;
        beside.write_bytes += record.write_bytes;
        beside.errors += record.errors.iter().map(|kind| kind.count).sum::<u64>();
        if record.gave_up
            && beside.ended_early.is_none()
            && let Some(kind) = record.errors.first()
        {
            let error = error_count(operation, kind);
            beside.ended_early = Some(format!(
                "it gave up after {} failed operations: {} at {}: {}",
                beside.errors, error.operation, error.first_offset, error.message
            ));
        }
    }
    beside.seconds = scale.ns(ended.saturating_sub(started)) as f64 / 1e9;
    if beside.seconds > 0.0 {
        beside.throughput_bytes_per_s =
            (beside.read_bytes + beside.write_bytes) as f64 / beside.seconds;
    }
    beside
}

/// An error with its causes.
fn sentence(error: &TrialError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        text = format!("{text}: {next}");
        cause = next.source();
    }
    text
}
