//! A layer between the target and the disks hands on one request at a time, however many
//! wait for it: a loop device that goes through the page cache has one worker
//! (`loop_queue_work`, drivers/block/loop.c: one for each control group), which reads
//! one after the other.

use super::experiment::at_most;
use super::{Candidate, Standing, Subject};
use crate::words::{percent, ratio};
use diskfacts_plan::units::{show_duration, three_digits};
use diskfacts_record::{BlockDevice, Confidence, DeviceKind, Quantity};

pub(super) const NAME: &str = "serialised";

/// Requests in a layer, on average, from which on it had several to hand on.
const SEVERAL: f64 = 2.0;
/// Requests with the devices below it up to which they had them one by one: the next is handed
/// on before the one before is counted as done.
const ONE: f64 = 1.1;
/// And from which on they were hardly ever without: less says that the layer's own work takes
/// the time.
const ALWAYS: f64 = 0.6;
/// Share of its requests and of its bytes that a layer has to hand on: what it joins or
/// answers by itself waits for nothing below.
const HANDED_ON: f64 = 0.5;
/// A rate is no better with more in flight where it is not so many times as high.
const MORE: f64 = 1.2;

/// A layer that hands on one at a time.
struct Layer<'a> {
    device: &'a BlockDevice,
    /// Requests in it, and with the devices below, on average.
    within: f64,
    below: f64,
    /// Time of a request with the devices below, ns.
    each_ns: f64,
}

fn layer<'a>(subject: &'a Subject<'_>) -> Option<Layer<'a>> {
    let seconds = subject.seconds();
    let devices = subject.stack().devices.iter();
    // A partition is its disk.
    let layers = devices.filter(|one| !one.below.is_empty() && one.kind != DeviceKind::Partition);
    layers
        .filter_map(|device| {
            let own = subject.work_of(&device.name)?;
            let below: Option<Vec<_>> = device.below.iter().map(|n| subject.work_of(n)).collect();
            let sum = |of: fn(&super::subject::DeviceWork) -> f64| -> Option<f64> {
                Some(below.as_ref()?.iter().map(of).sum())
            };
            let (requests, waited_s) = (sum(|one| one.requests)?, sum(|one| one.waited_s)?);
            let hands_on = requests >= HANDED_ON * own.requests
                && sum(|one| one.bytes)? >= HANDED_ON * own.bytes;
            let (within, below) = (own.waited_s / seconds, waited_s / seconds);
            let one_by_one = within >= SEVERAL && (ALWAYS..=ONE).contains(&below);
            (hands_on && one_by_one).then_some(Layer {
                device,
                within,
                below,
                each_ns: waited_s * 1e9 / requests,
            })
        })
        .max_by(|a, b| (a.within / a.below).total_cmp(&(b.within / b.below)))
}

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    if subject.imported() || !subject.moves_blocks() || subject.workload().rate.is_some() {
        return None;
    }
    let layer = layer(subject)?;
    let name = &layer.device.name;
    let below = layer.device.below.join(", ");
    let share = 1.0 - layer.below / layer.within;
    let cached =
        layer.device.kind == DeviceKind::Loop && layer.device.backing_direct == Some(false);
    let evidence = vec![
        format!(
            "By the kernel's counters {} requests were in {name} on average, and {} of them with \
             {below}: {} of a request's time it waits to be handed on.",
            three_digits(layer.within),
            three_digits(layer.below),
            percent(share)
        ),
        format!(
            "With {below} each takes {}: one after the other that is what the rate is.",
            show_duration(layer.each_ns.round() as u64)
        ),
    ];
    let remedy = if cached {
        format!(
            "Let the loop device pass the page cache: `losetup --direct-io=on {}`; its worker then \
             hands requests on without waiting for each.",
            layer.device.path
        )
    } else {
        format!(
            "Measure {below} by itself with as many in flight: what it does more is what {name} \
             costs."
        )
    };
    let one = subject.with(|workload| {
        workload.queue_depth = 1;
        workload.streams = 1;
    });
    Some(Candidate {
        standing: Standing::cause(share),
        claim: format!(
            "{name} hands on one request at a time, {}: {} wait in it, {} is with {below}.",
            if cached {
                "as a loop device without direct I/O does"
            } else {
                "whatever it does with them"
            },
            ratio(layer.within),
            ratio(layer.below)
        ),
        evidence,
        share: Some(share),
        // Of another layer it may be that its own work, as encrypting, takes as long as the
        // devices below do.
        confidence: if cached {
            Confidence::Certain
        } else {
            Confidence::Possible
        },
        refuted_by: format!("{MORE} times the rate of one in flight, with these in flight."),
        experiment: subject
            .experiment(
                "With one in flight: as many operations a second say that more than one are of no \
                 use here.",
                &[("one", one), ("as-it-was", subject.with(|_| {}))],
            )
            .decided_by(at_most(("as-it-was", "one"), Quantity::Iops, MORE)),
        remedy,
    })
}
