//! A row of iostat as a trial: what a device did in an interval, of which is
//! known how much and how long, and not what for.

use super::trials::{Made, sequential};
use crate::formats::{iostat_linux, iostat_solaris};
use crate::import::devices::{self, Requests};
use crate::import::row::Row;
use diskfacts_plan::Operation;
use diskfacts_record::Latency;

/// What iostat does not say of the I/O that its devices did.
const UNSAID: [&str; 6] = [
    "pattern",
    "block_size",
    "queue_depth",
    "streams",
    "cache",
    "sync",
];

pub(super) fn linux(
    row: &Row,
    columns: &iostat_linux::Columns,
    line: &iostat_linux::Row,
) -> Vec<Made> {
    trial(row, &line.device, &devices::linux(columns, line))
}

pub(super) fn solaris(
    row: &Row,
    unit: iostat_solaris::Unit,
    line: &iostat_solaris::Row,
) -> Vec<Made> {
    trial(row, &line.device, &devices::solaris(unit, line))
}

fn trial(row: &Row, device: &str, requests: &Requests) -> Vec<Made> {
    // Only reads or only writes are told by their counts; of both, the direction
    // of a request is not.
    let operation = match (requests.reads_per_s, requests.writes_per_s) {
        (Some(reads), Some(0.0)) if reads > 0.0 => Some(Operation::Read),
        (Some(0.0), Some(writes)) if writes > 0.0 => Some(Operation::Write),
        _ => None,
    };
    let workload = sequential(operation.unwrap_or(Operation::Read), 0, false);
    let mut made = Made::new("device", row, workload);
    made.unsaid.extend(UNSAID);
    if operation.is_none() {
        made.unsaid.insert("operation");
    }
    made.set("device", device);
    made.bytes_per_s = requests.bytes_per_s.unwrap_or(f64::NAN);
    made.iops = requests.per_s().unwrap_or(f64::NAN);
    made.latency = requests.wait_ms.map(|wait| Latency {
        mean: Some(wait * 1e6),
        ..Latency::default()
    });
    vec![made]
}
