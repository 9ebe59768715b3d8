//! What became of a trial's operations at the device: how large its requests
//! were, how many operations the kernel merged into them, how many were on their
//! way at once and how long each took. These are the columns of `iostat -x`, over
//! exactly one trial.

use diskfacts_record::{DeviceCounters, Trial};

/// The requests of one device during one trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Requests {
    /// Name of the device in the kernel: the topmost one that the trial reached.
    pub device: String,
    /// What it counted.
    pub counted: DeviceCounters,
    /// Seconds of the trial.
    pub seconds: f64,
}

impl Requests {
    /// Of the topmost device of the stack; `None` where none was counted, or the
    /// trial took no time.
    pub fn of(trial: &Trial) -> Option<Self> {
        let counted = trial.evidence.devices.first()?.clone();
        (trial.seconds > 0.0).then(|| Self {
            device: counted.name.clone(),
            counted,
            seconds: trial.seconds,
        })
    }

    /// Requests that were completed, reads and writes.
    pub fn count(&self) -> u64 {
        self.counted.reads + self.counted.writes
    }

    /// Bytes of a request in the mean; `None` without any.
    pub fn mean_bytes(&self) -> Option<f64> {
        let bytes = self.counted.read_bytes + self.counted.write_bytes;
        self.each(bytes as f64)
    }

    /// Requests on their way, in the mean over the trial.
    pub fn mean_depth(&self) -> f64 {
        self.counted.weighted_ms as f64 / 1e3 / self.seconds
    }

    /// Milliseconds from when a request was queued to its completion, in the
    /// mean; `None` without any.
    pub fn mean_wait_ms(&self) -> Option<f64> {
        self.each((self.counted.read_ms + self.counted.write_ms) as f64)
    }

    /// Share of the trial during which anything was on its way, at most 1.
    pub fn busy(&self) -> f64 {
        (self.counted.busy_ms as f64 / 1e3 / self.seconds).min(1.0)
    }

    /// A sum per second.
    pub fn per_s(&self, sum: u64) -> f64 {
        sum as f64 / self.seconds
    }

    fn each(&self, sum: f64) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| sum / count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn the_row_of_the_seed_follows_from_its_counters() {
        // sda: 115 w/s, 57868 wkB/s, avgrq-sz 1006.4, avgqu-sz 140.86, await 1325.4.
        let mut trial = testing::healthy().trials[0].clone();
        trial.seconds = 10.0;
        trial.evidence.devices = vec![DeviceCounters {
            name: "sda".into(),
            writes: 1150,
            write_merges: 140_980,
            write_bytes: 578_680 << 10,
            write_ms: 1_524_210,
            busy_ms: 10_000,
            weighted_ms: 1_408_600,
            ..DeviceCounters::default()
        }];
        let requests = Requests::of(&trial).expect("it counted");
        let near = |value: f64, wanted: f64| (value - wanted).abs() < 0.005 * wanted;
        assert!(near(requests.mean_bytes().unwrap() / 512.0, 1006.4));
        assert!(near(requests.mean_depth(), 140.86));
        assert!(near(requests.mean_wait_ms().unwrap(), 1325.4));
        assert!(near(requests.busy(), 1.0));
        assert!(near(
            requests.per_s(requests.counted.write_merges),
            14_098.0
        ));
    }

    #[test]
    fn a_device_without_requests_has_no_size_and_no_wait() {
        let mut trial = testing::healthy().trials[0].clone();
        trial.evidence.devices = vec![DeviceCounters::default()];
        let requests = Requests::of(&trial).expect("it counted");
        assert_eq!(
            (requests.mean_bytes(), requests.mean_wait_ms()),
            (None, None)
        );
        trial.evidence.devices.clear();
        assert_eq!(Requests::of(&trial), None);
    }
}
