//! Solaris' `iostat -xn`, out of Linux's counters.

use crate::formats::iostat_solaris::{Row, Unit};
use diskfacts_facts::device_rates::DeviceRates;
use diskfacts_record::Activity;

pub(super) fn report(megabytes: bool, activity: &Activity) -> String {
    let unit = if megabytes { Unit::Mib } else { Unit::Kib };
    let mut out = unit.aligned_names();
    out.push('\n');
    for device in activity.devices.iter().filter(|d| !d.requests_only) {
        if let Some(rates) = DeviceRates::new(&device.counted, activity.centiseconds as f64) {
            out.push_str(&row(unit, &rates).aligned());
            out.push('\n');
        }
    }
    out
}

/// The time of a request follows from the queue and the rate, as illumos works it
/// out (`show_disk` in `iostat.c`), not from the times of requests.
fn row(unit: Unit, rates: &DeviceRates<'_>) -> Row {
    let counted = rates.counted();
    let data = |bytes: u64| rates.per_s(bytes) / unit.bytes() as f64;
    let per_s = rates.per_s(rates.reads_and_writes().count);
    let actv = rates.depth();
    Row {
        reads_per_s: rates.per_s(counted.reads),
        writes_per_s: rates.per_s(counted.writes),
        data_read_per_s: data(counted.read_bytes),
        data_written_per_s: data(counted.write_bytes),
        wait: None,
        actv,
        wsvc_t_ms: None,
        asvc_t_ms: if per_s > 0.0 {
            actv * 1000.0 / per_s
        } else {
            0.0
        },
        percent_waiting: None,
        percent_busy: rates.util_percent().round_ties_even() as u64,
        device: counted.name.clone(),
    }
}
