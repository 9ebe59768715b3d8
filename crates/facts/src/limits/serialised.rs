//! A layer between the target and the disks passes on one request at a time, however many
//! wait for it: a loop device that goes through the page cache has one worker
//! (`loop_queue_work`, drivers/block/loop.c: one for each control group), which reads
//! one after the other.

use super::ladder::MORE;
use super::prelude::*;
use crate::layers::counted::roots;
use crate::stage_facts::DeviceWork;

pub(super) const LIMITER: Limiter = Limiter {
    name: "serialised",
    needs: &[NoDocument, Blocks, Closed],
    find: one_is_handed_on,
    ..Limiter::ANY
};

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

/// A layer that passes on one at a time.
struct Layer<'a> {
    device: &'a BlockDevice,
    /// Requests in it, and with the devices below, on average.
    within: f64,
    below: f64,
    /// Time of a request with the devices below, ns.
    each_ns: f64,
}

fn layer<'a>(facts: &'a StageFacts<'_>) -> Option<Layer<'a>> {
    let seconds = facts.seconds();
    let devices = facts.stack().devices.iter();
    // A partition is its disk.
    let layers = devices.filter(|one| !one.below.is_empty() && one.kind != DeviceKind::Partition);
    layers
        .filter_map(|device| {
            let own = facts.work_of(&device.name)?;
            let below = device.below.iter().map(|name| facts.work_of(name));
            let below: Vec<DeviceWork> = below.collect::<Option<_>>()?;
            let sum = |of: fn(&DeviceWork) -> f64| below.iter().map(of).sum::<f64>();
            let (requests, waited_s) = (sum(|one| one.requests), sum(|one| one.waited_s));
            let hands_on = requests >= HANDED_ON * own.requests
                && sum(|one| one.bytes) >= HANDED_ON * own.bytes;
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

/// A layer, or the filesystem.
fn one_is_handed_on(facts: &StageFacts<'_>) -> Option<Candidate> {
    by_layer(facts).or_else(|| by_filesystem(facts))
}

/// A filesystem that was given several direct operations has one request at a time at the device
/// under it. Who waits for a lock or for a place in the queue is seen there.
fn by_filesystem(facts: &StageFacts<'_>) -> Option<Candidate> {
    let filesystem = facts.run().stack.filesystem.as_ref()?;
    let mut devices = roots(facts.stack());
    let (device, None) = (devices.next()?, devices.next()) else {
        return None;
    };
    let work = facts.work_of(&device.name)?;
    let (within, below) = (facts.depth(), work.waited_s / facts.seconds());
    let is_one = within >= SEVERAL && (ALWAYS..=ONE).contains(&below);
    let elsewhere = [
        Spent::Blocked,
        Spent::Admission,
        Spent::Scheduler,
        Spent::Processor,
        Spent::Kernel,
    ];
    let waits = 1.0 - below / within - facts.spent(&elsewhere)?;
    unless(
        facts.direct() != Some(true)
            || facts.workload().sync.each_write()
            || !is_one
            || work.requests < HANDED_ON * facts.ops()
            || waits < Standing::CAUSE_MIN,
    )?;
    let (kind, name) = (&filesystem.kind, &device.name);
    let [all, one] = [within, below].map(ratio);
    let line = format!(
        "By the kernel's counters {} requests were at {name} on average, of {} operations in flight.",
        three_digits(below),
        three_digits(within)
    );
    let by_checksums = kind == "btrfs" && facts.workload().operation.writes();
    let case = if by_checksums {
        "checksums"
    } else {
        "filesystem"
    };
    let claim =
        format!("{kind} passes on one operation at a time: {all} are in flight, {one} at {name}.");
    Some(cause(waits, Likely, claim).evidence([line]).case(case))
}

fn by_layer(facts: &StageFacts<'_>) -> Option<Candidate> {
    let layer = layer(facts)?;
    let device = layer.device;
    let (name, below) = (&device.name, device.below.join(", "));
    let share = 1.0 - layer.below / layer.within;
    // Of another layer it may be that its own work, as encrypting, takes as long as the
    // devices below do.
    let cached = device.kind == DeviceKind::Loop && device.backing_direct == Some(false);
    let (confidence, how, remedy) = if cached {
        let remedy = format!(
            "Let the loop device pass the page cache: `losetup --direct-io=on {}`; its worker then \
             hands requests on without waiting for each.",
            device.path
        );
        (Certain, "as a loop device without direct I/O does", remedy)
    } else {
        let remedy = format!(
            "Measure {below} by itself with as many in flight: what it does more is what {name} \
             costs."
        );
        (Possible, "whatever it does with them", remedy)
    };
    let counts = [layer.within, layer.below];
    let [waiting, working] = counts.map(three_digits);
    let evidence = [
        format!(
            "By the kernel's counters {waiting} requests were in {name} on average, {working} of \
             them at {below}: for {} of its time a request waits to be passed on.",
            percent(share)
        ),
        format!(
            "Service time at {below}: {}. One after the other, that is the rate.",
            duration(layer.each_ns)
        ),
    ];
    let [wait, one] = counts.map(ratio);
    let claim = format!(
        "{name} passes on one request at a time, {how}: {wait} are in it, {one} at {below}."
    );
    let stages = facts.stages().and("one", |w| {
        w.queue_depth = 1;
        w.streams = 1;
    });
    let stages = stages
        .and("as-it-was", |_| ())
        .at_most(("as-it-was", "one"), Iops, MORE);
    let found = cause(share, confidence, claim)
        .evidence(evidence)
        .refuted_by(format!(
            "{MORE} times the rate of one in flight, with these in flight."
        ))
        .settled_by(stages)
        .remedy(remedy);
    Some(found)
}
