//! What the devices did while a stage ran, as the host counted it.

use super::StageFacts;
use crate::layers::flush_counters;
use diskfacts_record::evidence::DeviceCounters;

/// The device work of a stage, as a host counts it: sums over its trials and over
/// the devices that stand on no other.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct DeviceWork {
    /// Requests completed: reads and writes.
    pub(crate) requests: f64,
    /// Bytes of these.
    pub(crate) bytes: f64,
    /// Reads completed.
    pub(crate) reads: f64,
    /// Bytes of these.
    pub(crate) read_bytes: f64,
    /// Flushes completed, and seconds spent by them; absent where the kernel does not count
    /// them.
    flushes: Option<f64>,
    pub(crate) flush_s: Option<f64>,
    /// Seconds spent by all requests, added up.
    pub(crate) waited_s: f64,
    /// Seconds during which anything was in flight, of the busiest device.
    pub(crate) busy_s: f64,
}

impl StageFacts<'_> {
    /// Mean time of a flush and how many there are for each operation, as the
    /// devices counted them; `None` where they were not counted, or there was none.
    pub(crate) fn flushes(&self) -> Option<(f64, f64)> {
        let work = self.device_work()?;
        let flushes = work.flushes.filter(|n| *n > 0.0)?;
        let (mean_ns, ops) = (work.flush_s? * 1e9 / flushes, self.ops());
        (ops > 0.0).then(|| (mean_ns, flushes / ops))
    }

    /// Share of the time during which the busiest of the devices had something to do; `None`
    /// where that was not counted.
    pub(crate) fn busy(&self) -> Option<f64> {
        let busy = (self.device_work()?.busy_s / self.seconds()).min(1.0);
        busy.is_finite().then_some(busy)
    }

    /// The same with the flushes, and not bounded by 1; `None` too where requests were counted and
    /// no time, as some drivers do.
    pub(crate) fn busy_with_flushes(&self) -> Option<f64> {
        let work = self.device_work()?;
        let known = work.requests > 0.0 && work.busy_s > 0.0;
        known.then(|| (work.busy_s + work.flush_s.unwrap_or(0.0)) / self.seconds())
    }

    /// What a device did during the trials, flushes left out; `None` when one of the trials
    /// does not know, or nothing was counted.
    pub(crate) fn work_of(&self, name: &str) -> Option<DeviceWork> {
        let mut sum = DeviceWork::default();
        for trial in self.trials() {
            let device = trial.evidence.device(name)?;
            sum.add(device);
            sum.busy_s += device.busy_ms as f64 / 1e3;
        }
        (sum.requests > 0.0).then_some(sum)
    }

    /// What the leaves did during the trials; `None` when one of the trials does
    /// not know.
    pub(crate) fn device_work(&self) -> Option<DeviceWork> {
        let mut sum = DeviceWork::default();
        for trial in self.trials() {
            let mut busiest_ms = None;
            for device in trial.evidence.devices.iter().filter(|d| d.leaf) {
                sum.add(device);
                busiest_ms = busiest_ms.max(Some(device.busy_ms));
            }
            sum.busy_s += busiest_ms? as f64 / 1e3;
        }
        let flushed = |of: fn(&DeviceCounters) -> Option<u64>, unit: f64| {
            self.sum(|trial| {
                let counters = flush_counters(&trial.evidence, &self.run().stack)?;
                let each: Option<u64> = counters.iter().map(|device| of(device)).sum();
                Some(each? as f64 / unit)
            })
        };
        sum.flushes = flushed(|device| device.flushes, 1.0);
        sum.flush_s = flushed(|device| device.flush_ms, 1e3);
        Some(sum)
    }
}

impl DeviceWork {
    /// Requests, bytes and time of several devices together.
    pub(crate) fn of_all(all: &[Self]) -> Self {
        let sum = |of: fn(&Self) -> f64| all.iter().map(of).sum::<f64>();
        Self {
            requests: sum(|one| one.requests),
            bytes: sum(|one| one.bytes),
            waited_s: sum(|one| one.waited_s),
            ..Self::default()
        }
    }

    /// Mean time of a request, ns.
    pub(crate) fn each_ns(&self) -> f64 {
        self.waited_s * 1e9 / self.requests
    }

    /// Mean size of a request, bytes.
    pub(crate) fn each_bytes(&self) -> f64 {
        self.bytes / self.requests
    }

    fn add(&mut self, device: &DeviceCounters) {
        self.reads += device.reads as f64;
        self.requests += (device.reads + device.writes) as f64;
        self.read_bytes += device.read_bytes as f64;
        self.bytes += (device.read_bytes + device.write_bytes) as f64;
        self.waited_s += (device.read_ms + device.write_ms) as f64 / 1e3;
    }
}
