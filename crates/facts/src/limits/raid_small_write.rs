//! A small write to an array with parity: old data and old parity are read, new data
//! and new parity written.

use super::{Candidate, Standing, Subject};
use crate::words::{percent, ratio};
use diskfacts_plan::SyncMode;
use diskfacts_plan::units::{exact_size, three_digits};
use diskfacts_record::Confidence;

pub(super) const NAME: &str = "raid-small-write";

/// A stripe of data of the smallest usual array, bytes: below it, no write covers a
/// stripe (three disks with chunks of 64 KiB; md's own default is 512 KiB).
const STRIPE_MIN: u64 = 128 << 10;

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let workload = subject.workload();
    if !workload.operation.writes() || !subject.reaches_device() {
        return None;
    }
    let devices = subject.run().stack.devices.iter();
    let (array, level) = devices
        .filter_map(|device| Some((device, device.layout.as_deref()?)))
        .find(|(_, layout)| ["raid4", "raid5", "raid6"].contains(layout))?;
    let stripe = array.optimal_request_bytes.unwrap_or(STRIPE_MIN);
    // Writes in order may be gathered into whole stripes, unless each is synced.
    let gathered = subject.in_order() && !workload.sync.each_write();
    if workload.block_size >= stripe || gathered || workload.block_size == 0 {
        return None;
    }
    // Old data and parity are read, and both are written: RAID-5 has one parity, RAID-6
    // two (Patterson, Gibson and Katz, "A Case for Redundant Arrays of Inexpensive
    // Disks", SIGMOD 1988; RAID-6 has one parity more).
    let requests = if level == "raid6" { 6.0 } else { 4.0 };
    let writes = 1.0 - f64::from(read_percent(workload.operation)) / 100.0;
    let mean = writes * requests + (1.0 - writes);
    let mut share = 1.0 - 1.0 / mean;
    let mut evidence = vec![format!(
        "{} is {level}: a write of {} that covers no stripe is {requests} requests to the disks, \
         {} reads and as many writes, and each of its reads has to come before its write.",
        array.name,
        exact_size(workload.block_size),
        requests / 2.0
    )];
    let mut confidence = Confidence::Likely;
    if let Some((members, line)) = counted(subject, &array.name) {
        evidence.push(line);
        if members > 1.5 {
            share = 1.0 - 1.0 / members;
            confidence = Confidence::Certain;
        }
    }
    if let Some(line) = against_reads(subject) {
        evidence.push(line);
    }
    evidence.push(format!(
        "Without it, {} of that work would not be done.",
        percent(share)
    ));
    Some(Candidate {
        standing: Standing::cause(share),
        claim: format!(
            "Each small write makes the disks of the array do {} requests (the small-write penalty \
             of parity).",
            ratio(mean)
        ),
        evidence,
        share: Some(share),
        confidence,
        refuted_by: "Counters of the member disks that show one write for each write to the array."
            .into(),
        experiment: subject.experiment(
            "If it is the parity, reads of the same size are several times as many a second; and \
             writes of whole stripes move many times the bytes.",
            &[
                ("as-it-was", subject.with(|_| {})),
                (
                    "reads",
                    subject.with(|w| {
                        w.operation = diskfacts_plan::Operation::Read;
                        w.sync = SyncMode::None;
                    }),
                ),
                (
                    "whole-stripes",
                    subject.with(|w| w.block_size = stripe.max(4 << 20)),
                ),
            ],
        ),
        remedy: "Put small writes on mirrors (RAID-10), gather them into whole stripes, or let a \
                 protected cache or a journal on flash (`mdadm --write-journal`) take them first."
            .into(),
    })
}

fn read_percent(operation: diskfacts_plan::Operation) -> u8 {
    match operation {
        diskfacts_plan::Operation::Mixed { read_percent } => read_percent,
        _ => 0,
    }
}

/// Requests that the members did for each write to the array, where they are seen.
fn counted(subject: &Subject<'_>, array: &str) -> Option<(f64, String)> {
    let (mut above, mut below) = (0_u64, 0_u64);
    for trial in subject.trials() {
        let devices = &trial.evidence.devices;
        above += devices.iter().find(|d| d.name == array)?.writes;
        let members = devices.iter().filter(|d| d.leaf && d.name != array);
        below += members.map(|d| d.reads + d.writes).sum::<u64>();
    }
    (above > 0 && below > 0 && subject.only_writes()).then(|| {
        let each = below as f64 / above as f64;
        let line = format!(
            "The disks below did {below} requests for {above} writes to {array}: {} each.",
            ratio(each)
        );
        (each, line)
    })
}

fn against_reads(subject: &Subject<'_>) -> Option<String> {
    let workload = subject.workload();
    let reads = subject.others().find(|other| {
        other.only_reads()
            && other.workload().pattern == workload.pattern
            && other.workload().block_size == workload.block_size
            && other.workload().outstanding() == subject.workload().outstanding()
            && other.reaches_device()
    })?;
    let (read, write) = (reads.iops()?, subject.iops()?);
    Some(format!(
        "{} does {} reads a second, this {} operations: {} times fewer.",
        reads.stage.label(),
        three_digits(read),
        three_digits(write),
        ratio(read / write)
    ))
}
