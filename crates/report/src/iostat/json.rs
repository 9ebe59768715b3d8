//! sysstat's reports as JSON (`iostat -o JSON`), with its blanks.

use super::linux::{shown, value};
use super::{Heading, Parts, cpu_percents};
use diskfacts_facts::device_rates::DeviceRates;
use diskfacts_record::Activity;
use std::fmt::Write as _;

/// Keys of the extended report in sysstat's order, and the columns that they are.
const EXTENDED: [(&str, &str); 22] = [
    ("r/s", "r/s"),
    ("w/s", "w/s"),
    ("d/s", "d/s"),
    ("f/s", "f/s"),
    ("rkB/s", "rkB/s"),
    ("wkB/s", "wkB/s"),
    ("dkB/s", "dkB/s"),
    ("rrqm/s", "rrqm/s"),
    ("wrqm/s", "wrqm/s"),
    ("drqm/s", "drqm/s"),
    ("rrqm", "%rrqm"),
    ("wrqm", "%wrqm"),
    ("drqm", "%drqm"),
    ("r_await", "r_await"),
    ("w_await", "w_await"),
    ("d_await", "d_await"),
    ("f_await", "f_await"),
    ("rareq-sz", "rareq-sz"),
    ("wareq-sz", "wareq-sz"),
    ("dareq-sz", "dareq-sz"),
    ("aqu-sz", "aqu-sz"),
    ("util", "%util"),
];

/// Of the basic one; those without decimals behind the others.
const BASIC: [&str; 4] = ["tps", "kB_read/s", "kB_wrtn/s", "kB_dscd/s"];
const BASIC_WHOLE: [&str; 3] = ["kB_read", "kB_wrtn", "kB_dscd"];

pub(super) const CLOSING: &str = "\t\t\t]\n\t\t}\n\t]\n}}\n";

/// A text as JSON writes it, with its quotes.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

pub(super) fn opening(heading: &Heading) -> String {
    format!(
        "{{\"sysstat\": {{\n\t\"hosts\": [\n\t\t{{\n\
         \t\t\t\"nodename\": {},\n\t\t\t\"sysname\": {},\n\t\t\t\"release\": {},\n\
         \t\t\t\"machine\": {},\n\t\t\t\"number-of-cpus\": {},\n\t\t\t\"date\": {},\n\
         \t\t\t\"statistics\": [\n",
        quoted(&heading.host),
        quoted(&heading.system),
        quoted(&heading.release),
        quoted(&heading.architecture),
        heading.cpus,
        quoted(&heading.date)
    )
}

pub(super) fn report(parts: Parts, activity: &Activity) -> String {
    let mut out = String::from("\t\t\t\t{\n");
    if parts.cpu {
        let [user, nice, system, iowait, steal, idle] = cpu_percents(activity);
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "\t\t\t\t\t\"avg-cpu\":  {{\"user\": {user:.2}, \"nice\": {nice:.2}, \
             \"system\": {system:.2}, \"iowait\": {iowait:.2}, \"steal\": {steal:.2}, \
             \"idle\": {idle:.2}}},"
        );
    }
    out.push_str("\t\t\t\t\t\"disk\": [\n");
    let rows: Vec<String> = shown(parts, activity)
        .filter_map(|device| {
            DeviceRates::new(&device.counted, activity.centiseconds as f64)
                .map(|rates| row(parts, &rates))
        })
        .collect();
    out.push_str(&rows.join(",\n"));
    out.push_str("\n\t\t\t\t\t]\n\t\t\t\t}");
    out
}

fn row(parts: Parts, rates: &DeviceRates<'_>) -> String {
    let mut out = format!(
        "\t\t\t\t\t\t{{\"disk_device\": {}",
        quoted(&rates.counted().name)
    );
    if parts.basic {
        for key in BASIC {
            let _ = write!(out, ", \"{key}\": {:.2}", value(key, rates));
        }
        for key in BASIC_WHOLE {
            let _ = write!(out, ", \"{key}\": {:.0}", value(key, rates));
        }
    } else {
        for (key, column) in EXTENDED {
            let _ = write!(out, ", \"{key}\": {:.2}", value(column, rates));
        }
    }
    out.push('}');
    out
}
