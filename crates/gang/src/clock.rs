//! How the clock of one host stands to that of the root, and how far that may be wrong.
//!
//! Along each edge of the tree the parent sends 16 pings one after another and takes the one with
//! the smallest round trip (F. Cristian, "Probabilistic clock synchronization", Distributed
//! Computing 3, 1989). The child's time t was read between the parent's a (sent) and b (received),
//! so the child is ahead by t − (a + b) / 2, and this is wrong by half of the round trip at most,
//! however unequal the two ways are. Offsets and bounds add up along the path.
//!
//! Clocks run at different rates. Two readings, before and after a trial, give a line; a moment
//! between them is off by the larger of both bounds at most, as long as each clock keeps its rate
//! meanwhile.

/// How many round trips are measured along an edge.
pub const PINGS: u8 = 16;

/// Two clocks' rates differ by at most this: 500 ppm is what Linux may slew a clock by
/// (`adjtimex(2)`), and crystals are good to 100 ppm.
const RATE_DIFFERENCE_PPM_MAX: u64 = 1200;

/// One look at the difference between this clock and the root's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// When, on this host's clock.
    pub local_ns: i64,
    /// This clock less the root's.
    pub ahead_ns: i64,
    /// The true difference at that moment is at most this far away.
    pub bound_ns: u64,
    /// The round trips between the root and this host, added.
    pub path_ns: u64,
}

impl Reading {
    /// The root's own clock is the root's clock.
    pub fn of_root(local_ns: i64) -> Self {
        Self {
            local_ns,
            ahead_ns: 0,
            bound_ns: 0,
            path_ns: 0,
        }
    }

    /// What this host's reading and a ping to a child say of the child. `local_ns` of what comes
    /// back is the child's.
    #[must_use]
    pub fn of_child(&self, ping: RoundTrip) -> Self {
        let round_trip = ping.round_trip_ns();
        // This host's reading is older than the ping.
        let age = ping
            .sent_ns
            .abs_diff(self.local_ns)
            .saturating_add(round_trip);
        let aged = age.saturating_mul(RATE_DIFFERENCE_PPM_MAX) / 1_000_000;
        Self {
            local_ns: ping.child_ns,
            ahead_ns: self.ahead_ns.saturating_add(ping.ahead_ns()),
            // One more for the half nanosecond that was rounded away on each side. The root's own
            // reading does not age.
            bound_ns: self
                .bound_ns
                .saturating_add(round_trip.div_ceil(2) + 1)
                .saturating_add(if self.path_ns == 0 { 0 } else { aged }),
            path_ns: self.path_ns.saturating_add(round_trip),
        }
    }
}

/// One ping and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundTrip {
    /// Just before it was sent, on the parent's clock.
    pub sent_ns: i64,
    /// Just after its answer was there, on the parent's clock.
    pub received_ns: i64,
    /// In between, on the child's clock.
    pub child_ns: i64,
}

impl RoundTrip {
    /// How long it took.
    pub fn round_trip_ns(&self) -> u64 {
        self.received_ns.abs_diff(self.sent_ns)
    }

    fn ahead_ns(&self) -> i64 {
        let middle = (i128::from(self.sent_ns) + i128::from(self.received_ns)).div_euclid(2);
        narrow(i128::from(self.child_ns) - middle)
    }
}

/// This host's clock against the root's during one trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockModel {
    /// Before the trial.
    pub before: Reading,
    /// After it; `None` while it is not over.
    pub after: Option<Reading>,
}

impl ClockModel {
    /// A moment of this host as the root's clock has it, and how far that may be wrong.
    pub fn to_root(&self, local_ns: i64) -> (i64, u64) {
        let ahead = self.ahead_at(i128::from(local_ns));
        let bound = self.after.map_or(self.before.bound_ns, |after| {
            after.bound_ns.max(self.before.bound_ns)
        });
        // Interpolation rounds.
        (
            narrow(i128::from(local_ns) - ahead),
            bound.saturating_add(1),
        )
    }

    /// A moment of the root on this host's clock, as well as it is known before the trial.
    pub fn to_local(&self, root_ns: i64) -> i64 {
        narrow(i128::from(root_ns) + i128::from(self.before.ahead_ns))
    }

    fn ahead_at(&self, local_ns: i128) -> i128 {
        let from = self.before;
        let Some(to) = self.after else {
            return i128::from(from.ahead_ns);
        };
        let span = i128::from(to.local_ns) - i128::from(from.local_ns);
        if span <= 0 {
            return i128::from(from.ahead_ns);
        }
        let gained = i128::from(to.ahead_ns) - i128::from(from.ahead_ns);
        i128::from(from.ahead_ns)
            + gained.saturating_mul(local_ns - i128::from(from.local_ns)) / span
    }
}

fn narrow(wide: i128) -> i64 {
    i64::try_from(wide).unwrap_or(if wide < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_symmetric_ping_finds_the_offset_and_bounds_it_by_half_of_the_round_trip() {
        let ping = RoundTrip {
            sent_ns: 1000,
            received_ns: 17_000,
            child_ns: 1_000_000_009_000,
        };
        let child = Reading::of_root(0).of_child(ping);
        assert_eq!(child.ahead_ns, 1_000_000_000_000);
        assert_eq!(child.bound_ns, 8001);
        assert_eq!(child.path_ns, 16_000);
    }

    #[test]
    fn bounds_add_up_along_the_path_and_grow_while_a_reading_ages() {
        let above = Reading {
            local_ns: 0,
            ahead_ns: -500,
            bound_ns: 100,
            path_ns: 200,
        };
        let ping = |sent_ns| RoundTrip {
            sent_ns,
            received_ns: sent_ns + 40,
            child_ns: sent_ns + 20 + 7,
        };
        let fresh = above.of_child(ping(0));
        assert_eq!((fresh.ahead_ns, fresh.bound_ns), (-493, 121));
        // 1200 ppm of 10 ms and 40 ns.
        assert_eq!(above.of_child(ping(10_000_000)).bound_ns, 121 + 12_000);
    }

    #[test]
    fn drift_is_interpolated_between_the_two_readings() {
        let reading = |local_ns, ahead_ns, bound_ns| Reading {
            local_ns,
            ahead_ns,
            bound_ns,
            path_ns: 0,
        };
        let model = ClockModel {
            before: reading(1000, 100, 3),
            after: Some(reading(2000, 200, 5)),
        };
        assert_eq!(model.to_root(1500), (1500 - 150, 6));
        let before = ClockModel {
            after: None,
            ..model
        };
        assert_eq!(before.to_root(1500), (1400, 4));
        assert_eq!(before.to_local(1400), 1500);
    }

    proptest! {
        #[test]
        fn whatever_the_two_ways_take_the_true_offset_is_within_the_bound(
            offset in -1_000_000_000_000_i64..1_000_000_000_000,
            out in 0_i64..100_000,
            back in 0_i64..100_000,
            sent_ns in 0_i64..1_000_000_000,
        ) {
            let ping = RoundTrip {
                sent_ns,
                received_ns: sent_ns + out + back,
                child_ns: sent_ns + out + offset,
            };
            let child = Reading::of_root(sent_ns).of_child(ping);
            prop_assert!(child.ahead_ns.abs_diff(offset) <= child.bound_ns);
        }

        #[test]
        fn no_reading_overflows(
            numbers in proptest::array::uniform6(any::<i64>()),
            bounds in proptest::array::uniform2(any::<u64>()),
        ) {
            let [local_ns, ahead_ns, sent_ns, received_ns, child_ns, at] = numbers;
            let [bound_ns, path_ns] = bounds;
            let reading = Reading { local_ns, ahead_ns, bound_ns, path_ns };
            let after = reading.of_child(RoundTrip { sent_ns, received_ns, child_ns });
            let model = ClockModel { before: reading, after: Some(after) };
            model.to_root(at);
            model.to_local(at);
        }
    }
}
