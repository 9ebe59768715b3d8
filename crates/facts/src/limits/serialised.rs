//! A layer between the target and the disks passes on one request at a time, however many
//! wait for it: a loop device that goes through the page cache has one worker
//! (`loop_queue_work`, drivers/block/loop.c: one for each control group), which reads
//! one after the other.

use super::prelude::*;
use crate::buffered_fallback;
use crate::stage_facts::handed_on::OneByOne;
use crate::stage_facts::ladder::MORE;

pub(super) const LIMITER: Limiter = Limiter {
    name: "serialised",
    needs: &[NoDocument, Blocks, Closed],
    find: one_is_handed_on,
    ..Limiter::ANY
};

fn one_is_handed_on(facts: &StageFacts<'_>) -> Option<Candidate> {
    by_layer(facts).or_else(|| by_filesystem(facts))
}

/// A filesystem that was given several direct operations has one request at a time at the device
/// under it. Who waits for a lock or for a place in the queue is seen there.
fn by_filesystem(facts: &StageFacts<'_>) -> Option<Candidate> {
    let kind = &facts.run().stack.filesystem.as_ref()?.kind;
    let found = OneByOne::of_filesystem(facts)?;
    // Writes through the page cache leave one at the device, and are told as what they are.
    unless(buffered_fallback::of(facts).is_some())?;
    let waits = found.waits(facts)? - facts.spent(&[Spent::Kernel])?;
    unless(waits < Standing::CAUSE_MIN)?;
    let name = &found.device.name;
    let [all, one] = [found.within, found.below].map(ratio);
    let claim =
        format!("{kind} passes on one operation at a time: {all} are in flight, {one} at {name}.");
    Some(
        cause(waits, Likely, claim)
            .evidence([found.counted()])
            .case("filesystem"),
    )
}

fn by_layer(facts: &StageFacts<'_>) -> Option<Candidate> {
    let layer = OneByOne::of_layer(facts)?;
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
    let ([waiting, working], [wait, one]) = (counts.map(three_digits), counts.map(ratio));
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
    let claim = format!(
        "{name} passes on one request at a time, {how}: {wait} are in it, {one} at {below}."
    );
    let stages = facts.stages().and("one", |w| {
        w.queue_depth = 1;
        w.streams = 1;
    });
    let stages = stages.and("as-it-was", |_| ());
    let found = cause(share, confidence, claim)
        .evidence(evidence)
        .refuted_by(format!(
            "{MORE} times the rate of one in flight, with these in flight."
        ))
        .settled_by(stages.at_most(("as-it-was", "one"), Iops, MORE))
        .remedy(remedy);
    Some(found)
}
