//! The slowest hundredth of a device's requests, without keeping each of them.
//!
//! Where the time of the slow ones went cannot be read from two distributions: those that
//! waited long need not be those that the device had long. So for each step of the whole
//! time there are the sums of both.

use diskfacts_record::evidence::SlowestRequests;

/// Steps of the whole time within a factor of two: 2^5, so that a step is 2 to 3 % wide.
const BITS: u32 = 5;
const STEPS: u64 = 1 << BITS;

/// The slowest one of so many.
const OF: f64 = 100.0;

/// Fewest slow ones that a mean is made of: fewer are single events.
const REQUESTS_MIN: f64 = 10.0;

/// Requests by their whole time.
#[derive(Debug, Default)]
pub(super) struct Slowest {
    /// By steps; as long as the slowest needs it to be.
    steps: Vec<Sums>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    requests: u64,
    queued_ns: u64,
    device_ns: u64,
}

impl Slowest {
    /// Counts one that is done.
    pub(super) fn record(&mut self, queued_ns: u64, device_ns: u64) {
        let step = step(queued_ns.saturating_add(device_ns));
        if step >= self.steps.len() {
            self.steps.resize(step + 1, Sums::default());
        }
        let sums = &mut self.steps[step];
        sums.requests += 1;
        sums.queued_ns = sums.queued_ns.saturating_add(queued_ns);
        sums.device_ns = sums.device_ns.saturating_add(device_ns);
    }

    /// The slowest hundredth; of the step in which it begins in proportion. `None` of
    /// fewer than a thousand.
    pub(super) fn hundredth(&self) -> Option<SlowestRequests> {
        let all: u64 = self.steps.iter().map(|step| step.requests).sum();
        let wanted = all as f64 / OF;
        if wanted < REQUESTS_MIN {
            return None;
        }
        let (mut requests, mut queued_ns, mut device_ns) = (0.0, 0.0, 0.0);
        for step in self.steps.iter().rev().filter(|step| step.requests > 0) {
            let taken = (step.requests as f64).min(wanted - requests);
            let share = taken / step.requests as f64;
            requests += taken;
            queued_ns += share * step.queued_ns as f64;
            device_ns += share * step.device_ns as f64;
            if requests >= wanted {
                break;
            }
        }
        Some(SlowestRequests {
            requests,
            queued_ns: queued_ns / requests,
            device_ns: device_ns / requests,
        })
    }
}

/// The place of a time: each value below 2^`BITS`, then as many steps for each factor of two.
fn step(ns: u64) -> usize {
    let shift = ns.checked_ilog2().unwrap_or(0).saturating_sub(BITS);
    // Below 2^12: 59 factors of two.
    (u64::from(shift) * STEPS + (ns >> shift)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn those_that_waited_and_those_that_the_device_had_are_told_apart() {
        let mut slowest = Slowest::default();
        for _ in 0..980 {
            slowest.record(1_000, 50_000);
        }
        // Ten that waited, and ten with the device that are less slow.
        for _ in 0..10 {
            slowest.record(900_000, 100_000);
            slowest.record(1_000, 700_000);
        }
        let found = slowest.hundredth();
        let expected = SlowestRequests {
            requests: 10.0,
            queued_ns: 900_000.0,
            device_ns: 100_000.0,
        };
        assert_eq!(found, Some(expected));
    }

    #[test]
    fn of_fewer_than_a_thousand_there_is_none() {
        let mut slowest = Slowest::default();
        for ns in 0..999 {
            slowest.record(ns, 0);
        }
        assert_eq!(slowest.hundredth(), None);
        slowest.record(5, 5);
        assert!(slowest.hundredth().is_some());
    }

    #[test]
    fn the_longest_times_have_a_place() {
        assert_eq!(step(0), 0);
        assert_eq!(step(31), 31);
        assert!(step(32) > step(31));
        assert!(step(u64::MAX) < 1 << 12);
        let mut slowest = Slowest::default();
        for _ in 0..2_000 {
            slowest.record(u64::MAX, u64::MAX);
        }
        assert!(slowest.hundredth().is_some());
    }

    proptest! {
        /// As of all of them sorted, within the width of a step.
        #[test]
        fn it_is_the_mean_of_the_largest(
            requests in prop::collection::vec((0_u64..1 << 40, 0_u64..1 << 40), 1_000..3_000),
        ) {
            let mut slowest = Slowest::default();
            for (queued_ns, device_ns) in &requests {
                slowest.record(*queued_ns, *device_ns);
            }
            let found = slowest.hundredth().expect("enough");
            let mut sorted: Vec<u64> = requests.iter().map(|(a, b)| a + b).collect();
            sorted.sort_unstable_by(|a, b| b.cmp(a));
            let whole = sorted.len() / 100;
            let rest = sorted.len() as f64 / 100.0 - whole as f64;
            let sum: f64 = sorted[..whole].iter().map(|ns| *ns as f64).sum();
            let mean = (sum + rest * sorted[whole] as f64) / (whole as f64 + rest);
            let of_both = found.queued_ns + found.device_ns;
            prop_assert!((of_both / mean - 1.0).abs() <= 1.0 / STEPS as f64, "{of_both} {mean}");
        }

        #[test]
        fn a_longer_time_has_no_earlier_place(a: u64, b: u64) {
            prop_assert!((a <= b) == (step(a) <= step(b)) || step(a) == step(b));
        }
    }
}
