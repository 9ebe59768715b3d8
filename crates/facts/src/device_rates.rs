//! The columns of `iostat`, worked out of a device's counters: over one interval
//! of the command `diskfacts iostat`, and over exactly the window of a trial.
//!
//! The arithmetic is that of sysstat, in its order, so that the same counters
//! give the same digits (12.7: `common.h`, `S_VALUE`; `rd_stats.c`,
//! `compute_ext_disk_stats`; `iostat.c`). The interval is in hundredths of a
//! second there, sizes are in sectors of 512 bytes, and times in milliseconds.

use diskfacts_record::{DeviceCounters, Trial};

/// A sector of the kernel's counters, bytes.
const SECTOR: u64 = 512;

/// Little's law may be off by this share before it is said: the counters are read
/// one after the other, and requests on their way at either end of the window are
/// in one sum and not in the other.
const LAW_SHARE: f64 = 0.05;
/// And by so many milliseconds: each of the five sums is rounded down to whole
/// milliseconds at both ends.
const LAW_MS: f64 = 10.0;

/// A kind of request: its count, what was merged into them, their bytes and their
/// time; 0 where the kernel does not count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kind {
    /// Requests completed.
    pub count: u64,
    /// Requests merged into others.
    pub merges: u64,
    /// Bytes.
    pub bytes: u64,
    /// Milliseconds that they took, added up.
    pub ms: u64,
}

impl Kind {
    fn plus(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            merges: self.merges + other.merges,
            bytes: self.bytes + other.bytes,
            ms: self.ms + other.ms,
        }
    }

    /// Milliseconds that each took in the mean, from when it was queued; `None`
    /// without any.
    pub fn wait_ms(self) -> Option<f64> {
        self.each(self.ms as f64)
    }

    /// The same as a column of `iostat`: 0 without any.
    pub fn await_ms(self) -> f64 {
        self.wait_ms().unwrap_or(0.0)
    }

    /// Bytes that each had in the mean; `None` without any.
    pub fn bytes_each(self) -> Option<f64> {
        self.each(self.bytes as f64)
    }

    fn each(self, sum: f64) -> Option<f64> {
        (self.count > 0).then(|| sum / self.count as f64)
    }

    /// Sectors of 512 bytes that each had in the mean; 0 without any.
    pub fn sectors_each(self) -> f64 {
        mean((self.bytes / SECTOR) as f64, self.count)
    }

    /// Kibibytes that each had in the mean; 0 without any.
    pub fn kib_each(self) -> f64 {
        self.sectors_each() / 2.0
    }

    /// Of a hundred that came, how many were merged into others; 0 without any.
    pub fn merged_percent(self) -> f64 {
        mean(self.merges as f64, self.merges + self.count) * 100.0
    }
}

fn mean(sum: f64, count: u64) -> f64 {
    if count == 0 { 0.0 } else { sum / count as f64 }
}

/// What a device did per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceRates<'c> {
    counted: &'c DeviceCounters,
    centiseconds: f64,
}

/// The two sides of Little's law where they disagree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Disagreement {
    /// Requests on their way in the mean, as the kernel counted them.
    pub depth: f64,
    /// What follows from the rates of the requests and the time of each.
    pub expected: f64,
}

impl<'c> DeviceRates<'c> {
    /// Of what was counted within so many hundredths of a second; `None` when
    /// these are not more than 0.
    pub fn new(counted: &'c DeviceCounters, centiseconds: f64) -> Option<Self> {
        (centiseconds > 0.0).then_some(Self {
            counted,
            centiseconds,
        })
    }

    /// Of each device that counted during a trial, in the order of the stack.
    pub fn of_trial(trial: &'c Trial) -> Vec<Self> {
        let counted = trial.evidence.devices.iter();
        counted
            .filter_map(|counted| Self::new(counted, trial.seconds * 100.0))
            .collect()
    }

    /// Of the topmost device of the stack; `None` where none was counted, or the
    /// trial took no time.
    pub fn topmost(trial: &'c Trial) -> Option<Self> {
        Self::new(trial.evidence.devices.first()?, trial.seconds * 100.0)
    }

    /// What was counted.
    pub fn counted(&self) -> &'c DeviceCounters {
        self.counted
    }

    /// Reads.
    pub fn reads(&self) -> Kind {
        Kind {
            count: self.counted.reads,
            merges: self.counted.read_merges,
            bytes: self.counted.read_bytes,
            ms: self.counted.read_ms,
        }
    }

    /// Writes.
    pub fn writes(&self) -> Kind {
        Kind {
            count: self.counted.writes,
            merges: self.counted.write_merges,
            bytes: self.counted.write_bytes,
            ms: self.counted.write_ms,
        }
    }

    /// Discards; none before Linux 4.18.
    pub fn discards(&self) -> Kind {
        Kind {
            count: self.counted.discards.unwrap_or(0),
            merges: self.counted.discard_merges.unwrap_or(0),
            bytes: self.counted.discard_bytes.unwrap_or(0),
            ms: self.counted.discard_ms.unwrap_or(0),
        }
    }

    /// Flushes, which have no bytes; none before Linux 5.5.
    pub fn flushes(&self) -> Kind {
        Kind {
            count: self.counted.flushes.unwrap_or(0),
            ms: self.counted.flush_ms.unwrap_or(0),
            ..Kind::default()
        }
    }

    /// Reads and writes together.
    pub fn reads_and_writes(&self) -> Kind {
        self.reads().plus(self.writes())
    }

    /// Reads, writes and discards together, which sysstat calls transfers.
    pub fn transfers(&self) -> Kind {
        self.reads_and_writes().plus(self.discards())
    }

    /// A sum per second.
    pub fn per_s(&self, sum: u64) -> f64 {
        sum as f64 / self.centiseconds * 100.0
    }

    /// Kibibytes per second of a sum of bytes.
    pub fn kib_per_s(&self, bytes: u64) -> f64 {
        self.per_s(bytes / SECTOR) / 2.0
    }

    /// Requests on their way, in the mean.
    pub fn depth(&self) -> f64 {
        self.per_s(self.counted.weighted_ms) / 1000.0
    }

    /// Of a hundred milliseconds, during how many anything was on its way. The
    /// kernel's rounding makes more than 100 possible.
    pub fn util_percent(&self) -> f64 {
        self.per_s(self.counted.busy_ms) / 10.0
    }

    /// The share of the time during which anything was on its way, at most 1.
    pub fn busy(&self) -> f64 {
        (self.util_percent() / 100.0).min(1.0)
    }

    /// The "service time" of sysstat before 12.1: busy milliseconds for each read
    /// or write, which says nothing of a device that does several at once.
    pub fn svctm_ms(&self) -> f64 {
        let count = self.reads_and_writes().count;
        if count == 0 {
            return 0.0;
        }
        // Multiplied before it is divided, as sysstat does.
        self.per_s(self.counted.busy_ms) / (count as f64 * 100.0 / self.centiseconds)
    }

    /// Whether the mean number of requests on their way is not what follows from
    /// their rates and the time of each (J. D. C. Little, "A proof for the queuing
    /// formula L = λW", Operations Research 9, 1961). Since Linux 5.0 the kernel
    /// works the one out of the other, and they agree; before, it sampled the
    /// queue (`block/blk-core.c`, `part_round_stats`), and requests that had not
    /// ended were in it.
    pub fn little_disagrees(&self) -> Option<Disagreement> {
        let took = self.transfers().ms + self.flushes().ms;
        let (queued, took) = (self.counted.weighted_ms as f64, took as f64);
        let off = (queued - took).abs();
        (off > LAW_MS && off > LAW_SHARE * queued.max(took)).then(|| Disagreement {
            depth: self.depth(),
            expected: took / self.centiseconds * 100.0 / 1000.0,
        })
    }

    /// The most that the device can have been busy, of a hundred, where `%util`
    /// says more. A mean of 0.1 requests on their way means that there was one
    /// during a tenth of the time at most. Since Linux 5.0 `%util` counts whole
    /// ticks of the kernel's clock, 1 to 10 ms, in which any request began or
    /// ended (`block/blk-core.c`, `update_io_ticks`).
    pub fn busy_percent_at_most(&self) -> Option<f64> {
        let (busy, queued) = (self.counted.busy_ms as f64, self.counted.weighted_ms as f64);
        (busy > queued + LAW_MS && busy > (1.0 + LAW_SHARE) * queued).then(|| self.depth() * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// sda of seed 004, over 10 s: 115 w/s, avgrq-sz 1006.4, avgqu-sz 140.86,
    /// await 1325.4, svctm 8.70, 100 % busy.
    fn seed() -> DeviceCounters {
        DeviceCounters {
            name: "sda".into(),
            writes: 1150,
            write_merges: 140_980,
            write_bytes: 578_680 << 10,
            write_ms: 1_524_210,
            busy_ms: 10_000,
            weighted_ms: 1_408_600,
            ..DeviceCounters::default()
        }
    }

    fn is(got: f64, wanted: f64) {
        assert!((got - wanted).abs() < 0.005, "{got} is not {wanted}");
    }

    #[test]
    fn the_row_of_the_seed_follows_from_its_counters_and_breaks_littles_law() {
        let counted = seed();
        let rates = DeviceRates::new(&counted, 1000.0).unwrap();
        let writes = rates.writes();
        is(rates.per_s(writes.count), 115.0);
        is(rates.per_s(writes.merges), 14_098.0);
        is(rates.kib_per_s(writes.bytes), 57_868.0);
        is(writes.sectors_each(), 1006.4);
        is(rates.depth(), 140.86);
        is(writes.await_ms(), 1325.4);
        is(writes.wait_ms().unwrap(), 1325.4);
        is(writes.bytes_each().unwrap() / 512.0, 1006.4);
        is(rates.busy(), 1.0);
        is(rates.svctm_ms(), 8.70);
        is(rates.util_percent(), 100.0);
        is(writes.merged_percent(), 99.19);
        // 115/s of 1325.4 ms each are 152.4 on their way, not 140.9.
        let law = rates.little_disagrees().unwrap();
        is(law.depth, 140.86);
        is(law.expected, 152.421);
        assert_eq!(rates.busy_percent_at_most(), None);
    }

    #[test]
    fn the_law_holds_within_the_rounding_of_the_counters() {
        let mut counted = seed();
        counted.weighted_ms = counted.write_ms + 9;
        let rates = DeviceRates::new(&counted, 1000.0).unwrap();
        assert_eq!(rates.little_disagrees(), None);
        // Discards and flushes are on their way too.
        counted.discard_ms = Some(300_000);
        counted.flush_ms = Some(200_000);
        let rates = DeviceRates::new(&counted, 1000.0).unwrap();
        assert!(rates.little_disagrees().is_some());
        counted.weighted_ms += 500_000;
        let rates = DeviceRates::new(&counted, 1000.0).unwrap();
        assert_eq!(rates.little_disagrees(), None);
    }

    #[test]
    fn a_queue_bounds_how_busy_a_device_was() {
        let counted = DeviceCounters {
            reads: 2000,
            read_ms: 120,
            busy_ms: 900,
            weighted_ms: 120,
            ..DeviceCounters::default()
        };
        let rates = DeviceRates::new(&counted, 100.0).unwrap();
        is(rates.util_percent(), 90.0);
        is(rates.busy_percent_at_most().unwrap(), 12.0);
    }

    #[test]
    fn the_topmost_device_of_a_trial_is_the_first_of_its_stack_that_was_counted() {
        let mut trial = crate::testing::healthy().trials[0].clone();
        trial.seconds = 10.0;
        trial.evidence.devices = vec![seed(), DeviceCounters::default()];
        let rates = DeviceRates::topmost(&trial).unwrap();
        assert_eq!(rates.counted().name, "sda");
        is(rates.per_s(rates.writes().merges), 14_098.0);
        trial.seconds = 0.0;
        assert_eq!(DeviceRates::topmost(&trial), None);
        trial.evidence.devices.clear();
        trial.seconds = 10.0;
        assert_eq!(DeviceRates::topmost(&trial), None);
    }

    #[test]
    fn a_device_that_did_nothing_has_zeros_and_not_divisions_by_them() {
        let counted = DeviceCounters::default();
        let rates = DeviceRates::new(&counted, 100.0).unwrap();
        let none = rates.reads_and_writes();
        assert_eq!((none.bytes_each(), none.wait_ms()), (None, None));
        for value in [
            rates.reads().await_ms(),
            rates.reads().merged_percent(),
            rates.transfers().kib_each(),
            rates.depth(),
            rates.util_percent(),
            rates.svctm_ms(),
        ] {
            is(value, 0.0);
        }
        assert_eq!(rates.little_disagrees(), None);
        assert_eq!(rates.busy_percent_at_most(), None);
        assert_eq!(DeviceRates::new(&counted, 0.0), None);
    }
}
