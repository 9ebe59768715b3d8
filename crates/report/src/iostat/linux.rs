//! sysstat's reports as text.

use super::{Dialect, Heading, Parts, cpu_percents};
use crate::formats::iostat_linux::{Columns, Row};
use diskfacts_facts::device_rates::DeviceRates;
use diskfacts_record::{Activity, DeviceActivity};
use std::fmt::Write as _;

pub(super) fn opening(heading: &Heading) -> String {
    format!(
        "{} {} ({}) \t{} \t_{}_\t({} CPU)\n\n",
        heading.system,
        heading.release,
        heading.host,
        heading.date,
        heading.architecture,
        heading.cpus
    )
}

pub(super) fn columns(parts: Parts) -> Columns {
    match (parts.dialect, parts.basic) {
        (Dialect::LinuxClassic, _) => Columns::old(),
        (_, true) => Columns::basic(),
        (_, false) => Columns::extended(),
    }
}

pub(super) fn report(parts: Parts, activity: &Activity) -> String {
    let mut out = String::new();
    if parts.cpu {
        out.push_str("avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n       ");
        for percent in cpu_percents(activity) {
            // Writing to a String cannot fail.
            let _ = write!(out, " {percent:7.2}");
        }
        out.push_str("\n\n");
    }
    let columns = columns(parts);
    out.push_str(&columns.aligned_names());
    out.push('\n');
    for device in shown(parts, activity) {
        let rates = DeviceRates::new(&device.counted, activity.centiseconds as f64);
        if let Some(rates) = rates {
            out.push_str(&columns.aligned(&row(&columns, &rates)));
            out.push('\n');
        }
    }
    out.push('\n');
    out
}

/// Devices that count requests only are in the basic report alone, as in sysstat.
pub(super) fn shown(parts: Parts, activity: &Activity) -> impl Iterator<Item = &DeviceActivity> {
    let devices = activity.devices.iter();
    devices.filter(move |device| parts.basic || !device.requests_only)
}

/// The row of a device under these columns.
pub(crate) fn row(columns: &Columns, rates: &DeviceRates<'_>) -> Row {
    Row {
        device: rates.counted().name.clone(),
        values: columns
            .names()
            .iter()
            .map(|name| value(name, rates))
            .collect(),
    }
}

/// The value of a column, 0 where there is none, as sysstat has it.
pub(super) fn value(column: &str, rates: &DeviceRates<'_>) -> f64 {
    let (reads, writes) = (rates.reads(), rates.writes());
    let (discards, flushes) = (rates.discards(), rates.flushes());
    let both = rates.reads_and_writes();
    // Whole kilobytes: sysstat divides sectors without a remainder.
    let whole_kb = |bytes: u64| (bytes / 1024) as f64;
    match column {
        "r/s" => rates.per_s(reads.count),
        "w/s" => rates.per_s(writes.count),
        "d/s" => rates.per_s(discards.count),
        "f/s" => rates.per_s(flushes.count),
        "tps" => rates.per_s(rates.transfers().count),
        "rkB/s" | "kB_read/s" => rates.kib_per_s(reads.bytes),
        "wkB/s" | "kB_wrtn/s" => rates.kib_per_s(writes.bytes),
        "dkB/s" | "kB_dscd/s" => rates.kib_per_s(discards.bytes),
        "kB_read" => whole_kb(reads.bytes),
        "kB_wrtn" => whole_kb(writes.bytes),
        "kB_dscd" => whole_kb(discards.bytes),
        "rrqm/s" => rates.per_s(reads.merges),
        "wrqm/s" => rates.per_s(writes.merges),
        "drqm/s" => rates.per_s(discards.merges),
        "%rrqm" => reads.merged_percent(),
        "%wrqm" => writes.merged_percent(),
        "%drqm" => discards.merged_percent(),
        "r_await" => reads.await_ms(),
        "w_await" => writes.await_ms(),
        "d_await" => discards.await_ms(),
        "f_await" => flushes.await_ms(),
        "await" => both.await_ms(),
        "rareq-sz" => reads.kib_each(),
        "wareq-sz" => writes.kib_each(),
        "dareq-sz" => discards.kib_each(),
        "avgrq-sz" => both.sectors_each(),
        "aqu-sz" | "avgqu-sz" => rates.depth(),
        "svctm" => rates.svctm_ms(),
        "%util" => rates.util_percent(),
        other => unreachable!("the columns that are printed have no {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_record::DeviceCounters;

    #[test]
    fn every_column_that_is_printed_has_a_value() {
        let counted = DeviceCounters::default();
        let rates = DeviceRates::new(&counted, 100.0).unwrap();
        for columns in [Columns::old(), Columns::extended(), Columns::basic()] {
            let row = row(&columns, &rates);
            assert_eq!(row.values.len(), columns.names().len());
            assert!(row.values.iter().all(|value| *value == 0.0));
        }
    }
}
