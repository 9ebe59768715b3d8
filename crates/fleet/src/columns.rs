//! The columns of a fleet's files, in their order. Columns are only ever added.

use crate::column::Of::{Run, Trial};
use crate::column::{Cell, Column, Kind};
use crate::rows::{OfRun, object, target};
use diskfacts_facts::fleet::Disturbance;
use diskfacts_record::BlockDevice;
use std::collections::BTreeSet;

/// What every row has.
const fn required(name: &'static str, kind: Kind, of: crate::column::Of) -> Column {
    Column {
        name,
        kind,
        required: true,
        of,
    }
}

/// What may not be known.
const fn known(name: &'static str, kind: Kind, of: crate::column::Of) -> Column {
    Column {
        name,
        kind,
        required: false,
        of,
    }
}

/// All of them.
pub const COLUMNS: &[Column] = &[
    required("run", Kind::Text, Run(|r| r.run.run.id.as_str().into())),
    required(
        "started",
        Kind::Moment,
        Run(|r| Cell::Integer(r.started_us)),
    ),
    required("host", Kind::Text, Run(|r| r.host.into())),
    known(
        "machine_id",
        Kind::Text,
        Run(|r| r.run.machine.machine_id.as_deref().into()),
    ),
    known(
        "boot_id",
        Kind::Text,
        Run(|r| r.run.machine.boot_id.as_deref().into()),
    ),
    known(
        "run_group",
        Kind::Text,
        Run(|r| r.run.run.membership.group.as_deref().into()),
    ),
    required(
        "labels",
        Kind::Text,
        Run(|r| object(&r.run.run.membership.labels).into()),
    ),
    required("status", Kind::Text, Run(status)),
    required(
        "tool_version",
        Kind::Text,
        Run(|r| r.run.run.tool_version.as_str().into()),
    ),
    known(
        "os",
        Kind::Text,
        Run(|r| r.run.machine.os.as_deref().into()),
    ),
    known(
        "kernel",
        Kind::Text,
        Run(|r| r.run.machine.kernel.as_deref().into()),
    ),
    required(
        "architecture",
        Kind::Text,
        Run(|r| r.run.machine.architecture.as_str().into()),
    ),
    known(
        "cpu_model",
        Kind::Text,
        Run(|r| r.run.machine.cpu_model.as_deref().into()),
    ),
    required(
        "cpus",
        Kind::Integer,
        Run(|r| Cell::Integer(r.run.machine.cpus.into())),
    ),
    known(
        "memory_bytes",
        Kind::Integer,
        Run(|r| r.run.machine.memory_bytes.into()),
    ),
    known(
        "virtualization",
        Kind::Text,
        Run(|r| r.run.machine.virtualization.as_deref().into()),
    ),
    required("target", Kind::Text, Run(|r| target(r.run).into())),
    known(
        "filesystem",
        Kind::Text,
        Run(|r| {
            r.run
                .stack
                .filesystem
                .as_ref()
                .map(|f| f.kind.as_str())
                .into()
        }),
    ),
    known(
        "device_model",
        Kind::Text,
        Run(|r| leaves(r, |d| d.model.clone())),
    ),
    known(
        "device_firmware",
        Kind::Text,
        Run(|r| leaves(r, |d| d.firmware.clone())),
    ),
    known(
        "device_serial",
        Kind::Text,
        Run(|r| leaves(r, |d| d.serial.clone())),
    ),
    known(
        "device_link",
        Kind::Text,
        Run(|r| leaves(r, |d| d.transport.map(|t| t.words().to_owned()))),
    ),
    known(
        "device_bytes",
        Kind::Integer,
        Run(|r| {
            r.run
                .stack
                .leaves()
                .map(|d| d.size_bytes)
                .sum::<Option<u64>>()
                .filter(|bytes| *bytes > 0)
                .into()
        }),
    ),
    required("plan", Kind::Text, Run(|r| r.run.plan.name.as_str().into())),
    required(
        "plan_hash",
        Kind::Text,
        Run(|r| r.plan_hash.as_str().into()),
    ),
    required("peers", Kind::Text, Run(|r| r.peers.as_str().into())),
    required(
        "stage",
        Kind::Text,
        Trial(|t| t.trial.stage.as_str().into()),
    ),
    required(
        "settings",
        Kind::Text,
        Trial(|t| object(&t.trial.settings).into()),
    ),
    required(
        "stage_label",
        Kind::Text,
        Trial(|t| t.sample.stage.as_str().into()),
    ),
    required(
        "trial",
        Kind::Integer,
        Trial(|t| Cell::Integer(t.trial.number.into())),
    ),
    required(
        "trial_order",
        Kind::Integer,
        Trial(|t| Cell::Integer(t.trial.order.into())),
    ),
    known("seconds", Kind::Number, Trial(|t| t.trial.seconds.into())),
    known("bytes", Kind::Integer, Trial(|t| t.trial.bytes.into())),
    known("operations", Kind::Integer, Trial(|t| t.trial.ops.into())),
    known("errors", Kind::Integer, Trial(|t| t.trial.errors.into())),
    known(
        "throughput_bytes_per_s",
        Kind::Number,
        Trial(|t| t.trial.throughput_bytes_per_s.into()),
    ),
    known("iops", Kind::Number, Trial(|t| t.trial.iops.into())),
    known(
        "latency_mean_ns",
        Kind::Number,
        Trial(|t| t.trial.latency_ns.mean.into()),
    ),
    known(
        "latency_p50_ns",
        Kind::Integer,
        Trial(|t| t.trial.latency_ns.p50.into()),
    ),
    known(
        "latency_p99_ns",
        Kind::Integer,
        Trial(|t| t.trial.latency_ns.p99.into()),
    ),
    known(
        "latency_p99_9_ns",
        Kind::Integer,
        Trial(|t| t.trial.latency_ns.p99_9.into()),
    ),
    known(
        "latency_max_ns",
        Kind::Integer,
        Trial(|t| t.trial.latency_ns.max.into()),
    ),
    required(
        "measure",
        Kind::Text,
        Trial(|t| t.sample.measure.word().into()),
    ),
    known("value", Kind::Number, Trial(|t| t.judged.value.into())),
    known(
        "disturbed_by",
        Kind::Text,
        Trial(|t| t.judged.disturbed.map(Disturbance::word).into()),
    ),
    known(
        "cpu_steal_ns",
        Kind::Integer,
        Trial(|t| t.trial.evidence.cpu_steal_ns.into()),
    ),
    known(
        "cpu_user_ns_per_io",
        Kind::Number,
        Trial(|t| t.trial.cpu.user_ns_per_io.into()),
    ),
    known(
        "cpu_system_ns_per_io",
        Kind::Number,
        Trial(|t| t.trial.cpu.system_ns_per_io.into()),
    ),
    known(
        "page_cache_share",
        Kind::Number,
        Trial(|t| t.trial.layers.page_cache.into()),
    ),
    known(
        "device_share",
        Kind::Number,
        Trial(|t| t.trial.layers.device.into()),
    ),
    known(
        "histogram_read",
        Kind::Bytes,
        Trial(|t| histogram(&t.trial.histograms.read)),
    ),
    known(
        "histogram_write",
        Kind::Bytes,
        Trial(|t| histogram(&t.trial.histograms.write)),
    ),
];

fn status(of: &OfRun<'_>) -> Cell {
    use diskfacts_record::Status;
    match of.run.run.status {
        Status::Running => "running",
        Status::Complete => "complete",
        Status::Interrupted => "interrupted",
        Status::Failed => "failed",
    }
    .into()
}

/// What is known of the disks at the bottom, each once, in alphabetical order; NULL where one of them
/// does not tell.
fn leaves(of: &OfRun<'_>, what: impl Fn(&BlockDevice) -> Option<String>) -> Cell {
    let all: Option<BTreeSet<String>> = of.run.stack.leaves().map(what).collect();
    let all: Vec<String> = all.into_iter().flatten().collect();
    Some(all.join(", ")).filter(|text| !text.is_empty()).into()
}

/// One in which something is counted.
fn histogram(packed: &diskfacts_record::Packed) -> Cell {
    if packed.count() == 0 {
        Cell::Null
    } else {
        Cell::bytes(packed.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What other programs may ask for.
    #[test]
    fn every_column_is_documented_with_its_type_in_its_order_and_no_other() {
        let page = include_str!("../../../docs/reference/fleet.md");
        let (_, table) = page.split_once("## Columns").unwrap();
        let (table, _) = table.split_once("## Peers").unwrap();
        let rows = table.lines().filter(|line| line.starts_with("| `"));
        let documented: Vec<(&str, &str)> = rows
            .map(|row| {
                let mut cells = row.split('|').map(str::trim).skip(1);
                (
                    cells.next().unwrap().trim_matches('`'),
                    cells.next().unwrap(),
                )
            })
            .collect();
        let columns: Vec<(&str, &str)> = COLUMNS
            .iter()
            .map(|column| (column.name, column.kind.word()))
            .collect();
        assert_eq!(documented, columns);
    }
}
