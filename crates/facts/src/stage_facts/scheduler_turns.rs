//! Requests that wait for their turn in the queue of a scheduler, while the device has few.
//!
//! What tells it are the kernel's own events: how long requests were in the queue of their
//! scheduler, how long they were with the device, and how many were with it at most. A device that
//! is full has as many as it takes; one that refuses more sends them back (`block_rq_requeue`).
//! Neither is the scheduler's doing.

use super::StageFacts;
use super::queue::{scheduler, takes};
use crate::figures::without_histograms;
use crate::prelude::unless;
use diskfacts_record::{BlockDevice, Latency};

/// Requests that were seen from the queue to the end, at least: their means are within some
/// percent then.
const SEEN: u64 = 100;
/// The device has at most this share of the requests that it takes, and of those that were
/// to be in flight: what fills up for a moment is not held back.
const FEW: f64 = 0.25;
/// Share of the requests that came back, up to which that is chance.
const REQUEUED: f64 = 0.01;
/// Share of a request's time in the queue from which on it is said: most of it.
const WAITED: f64 = 0.5;

/// What a scheduler holds back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turns<'a> {
    pub(crate) device: &'a BlockDevice,
    pub(crate) scheduler: &'a str,
    /// Mean time in its queue, ns.
    pub(crate) queued_ns: f64,
    /// Mean time with the device, ns.
    pub(crate) device_ns: f64,
    /// Most with the device at a time.
    pub(crate) at_device: u64,
}

impl<'a> Turns<'a> {
    /// Those of a stage, where the scheduler, and not the device, keeps most of what is to be in
    /// flight waiting.
    pub(crate) fn of(facts: &'a StageFacts<'_>) -> Option<Self> {
        unless(facts.workload().sync.each_write())?;
        let devices = facts.stack().devices.iter();
        let turns = devices.filter_map(|device| {
            let turns = Self::on(facts, device)?;
            let most = FEW * facts.depth().min(takes(device)?);
            let few = turns.at_device as f64 <= most;
            (few && turns.share() >= WAITED).then_some(turns)
        });
        turns.max_by(|a, b| a.share().total_cmp(&b.share()))
    }

    /// Those of a device that has a scheduler; `None` where too few requests were seen, events
    /// were lost, or the device sent requests back.
    fn on(facts: &StageFacts<'_>, device: &'a BlockDevice) -> Option<Self> {
        let scheduler = scheduler(device)?;
        let (mut at_device, mut operations) = (0, Vec::new());
        // Following requests costs something, so not each trial is.
        let trials = facts.trials().iter();
        for layer in trials.filter_map(|trial| trial.evidence.block_layer.as_ref()) {
            layer.queued_from?;
            let seen = layer.devices.iter().find(|one| one.name == device.name)?;
            at_device = at_device.max(seen.in_flight_max?);
            operations.extend(&seen.operations);
        }
        let queued_ns = mean_ns(operations.iter().map(|one| one.queued_ns))?;
        let device_ns = mean_ns(operations.iter().map(|one| one.device_ns))?;
        let issued: u64 = operations.iter().map(|one| one.issued).sum();
        let requeued: u64 = operations.iter().map(|one| one.requeues).sum();
        unless(requeued as f64 > REQUEUED * issued as f64)?;
        Some(Self {
            device,
            scheduler,
            queued_ns,
            device_ns,
            at_device,
        })
    }

    /// Share of a request's time in the queue.
    pub(crate) fn share(&self) -> f64 {
        self.queued_ns / (self.queued_ns + self.device_ns)
    }
}

/// The mean of all these together, ns; `None` of too few.
fn mean_ns(latencies: impl Iterator<Item = Latency>) -> Option<f64> {
    let known = latencies.filter(|one| one.mean.is_some());
    without_histograms(known)
        .filter(|all| all.samples >= SEEN)?
        .mean
}
