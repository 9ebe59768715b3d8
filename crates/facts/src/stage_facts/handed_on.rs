//! What a layer has of requests, and what of them it hands on to the devices below it.

use super::{DeviceWork, StageFacts};
use crate::layers::counted::roots;
use crate::prelude::*;

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

/// A layer that had several requests, of which it handed on one at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OneByOne<'a> {
    /// The layer; of a filesystem the device under it.
    pub(crate) device: &'a BlockDevice,
    /// Requests in it, and with the devices below, on average.
    pub(crate) within: f64,
    pub(crate) below: f64,
    /// Time of a request with the devices below, ns.
    pub(crate) each_ns: f64,
}

impl<'a> OneByOne<'a> {
    /// The device between the target and the disks that does so most.
    pub(crate) fn of_layer(facts: &'a StageFacts<'_>) -> Option<Self> {
        // A partition is its disk.
        let is_layer =
            |one: &&BlockDevice| !one.below.is_empty() && one.kind != DeviceKind::Partition;
        let layers = facts.stack().devices.iter().filter(is_layer);
        let found = layers.filter_map(|device| {
            let own = facts.work_of(&device.name)?;
            let below = device.below.iter().map(|name| facts.work_of(name));
            let below = DeviceWork::of_all(&below.collect::<Option<Vec<_>>>()?);
            unless(below.bytes < HANDED_ON * own.bytes)?;
            let (within, requests) = (own.waited_s / facts.seconds(), own.requests);
            Self::with(facts, device, (within, requests), &below)
        });
        found.max_by(|a, b| (a.within / a.below).total_cmp(&(b.within / b.below)))
    }

    /// A filesystem on one device, given several direct operations that are not synced.
    pub(crate) fn of_filesystem(facts: &'a StageFacts<'_>) -> Option<Self> {
        unless(facts.direct() != Some(true) || facts.syncs_each())?;
        let mut devices = roots(facts.stack());
        let (device, None) = (devices.next()?, devices.next()) else {
            return None;
        };
        let work = facts.work_of(&device.name)?;
        Self::with(facts, device, (facts.depth(), facts.ops()), &work)
    }

    /// Share of an operation's time that it waits in the layer, for no other cause that is seen
    /// than those before it.
    pub(crate) fn waits(&self, facts: &StageFacts<'_>) -> Option<f64> {
        let elsewhere = [
            Spent::Blocked,
            Spent::Admission,
            Spent::Scheduler,
            Spent::Processor,
        ];
        Some(1.0 - self.below / self.within - facts.spent(&elsewhere)?)
    }

    /// What of a filesystem's operations was counted below it.
    pub(crate) fn counted(&self) -> String {
        let [within, below] = [self.within, self.below].map(three_digits);
        format!(
            "By the kernel's counters {below} requests were at {} on average, of {within} \
             operations in flight.",
            self.device.name
        )
    }

    /// With so many in the layer on average, and so many in all.
    fn with(
        facts: &StageFacts<'_>,
        device: &'a BlockDevice,
        (within, requests): (f64, f64),
        below: &DeviceWork,
    ) -> Option<Self> {
        let at_devices = below.waited_s / facts.seconds();
        let one_by_one = within >= SEVERAL && (ALWAYS..=ONE).contains(&at_devices);
        (one_by_one && below.requests >= HANDED_ON * requests).then(|| Self {
            device,
            within,
            below: at_devices,
            each_ns: below.each_ns(),
        })
    }
}
