//! Waits of whole revolutions of a disk.
//!
//! A drive that keeps nothing back writes a block when its place comes under the head.
//! When the next block of a sequence is handed over, its place has just gone by, so what a
//! write takes beside the time of its bytes is a whole number of revolutions, whatever the
//! host does meanwhile.
//!
//! That a wait *is* so many revolutions of some usual speed shows little: there are twenty
//! such products of speed and number, and of any waits between 4 and 44 ms a good part is
//! near one of them ([`tests`] works it out). So who has no drive that states its speed
//! needs waits of several kinds that agree.

/// Speeds of disks, revolutions per minute: those of data sheets of the last thirty years
/// (Seagate Barracuda and Exos 7200, WD Red and Green 5400, Seagate Desktop HDD 5900, WD
/// Raptor and server disks 10 000, Savvio and Cheetah 15 000).
pub(crate) const SPEEDS: [u32; 5] = [5400, 5900, 7200, 10_000, 15_000];
/// Most revolutions that one write is taken to wait: the write, a flush and a block of a
/// journal may cost one each.
pub(crate) const REVOLUTIONS_MAX: u32 = 4;

/// Fastest stream of one rotating disk, bytes per second: drives with two actuators
/// reach 524 MB/s (Seagate, Exos 2X18, data sheet of 2022).
pub(crate) const RATE_MAX: f64 = 600e6;

/// How near waits must be to whole revolutions, as a share. Drives keep their speed within
/// 0.5 %; the rest is for the host's part of a write.
pub(crate) const NEAR: f64 = 0.025;

/// A wait of whole revolutions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Turns {
    /// Revolutions per minute.
    pub(crate) rpm: u32,
    /// How many of them.
    pub(crate) revolutions: u32,
}

impl Turns {
    /// How long that is, nanoseconds.
    pub(crate) fn ns(self) -> f64 {
        f64::from(self.revolutions) * turn_ns(self.rpm)
    }
}

/// One revolution at this speed, nanoseconds.
pub(crate) fn turn_ns(rpm: u32) -> f64 {
    60e9 / f64::from(rpm)
}

/// How near the mean of writes is that are made durable one by one, where the speed is known:
/// one in twelve waits once more.
const NEAR_MEAN: f64 = 0.08;
/// The speed of a disk.
#[derive(Debug, Clone)]
pub(crate) struct Spindle {
    pub(crate) rpm: u32,
    /// Whether the drive states it, or several kinds of waits agree on it. One wait alone
    /// fits some speed too often by chance.
    pub(crate) known: bool,
    /// Where it is from, a sentence.
    pub(crate) source: String,
}

impl Spindle {
    /// Time of a revolution, ns.
    pub(crate) fn turn_ns(&self) -> f64 {
        turn_ns(self.rpm)
    }

    /// The whole revolutions of it that a mean wait is.
    pub(crate) fn whole(&self, wait_ns: f64) -> Option<Turns> {
        whole(&[self.rpm], wait_ns, NEAR_MEAN).first().copied()
    }
}

/// Which of these speeds a wait is whole revolutions of, within this share of it: fewest
/// revolutions first, and of as many the nearest first.
pub(crate) fn whole(speeds: &[u32], wait_ns: f64, near: f64) -> Vec<Turns> {
    let off = |turns: &Turns| (wait_ns / turns.ns() - 1.0).abs();
    let mut fits: Vec<Turns> = (1..=REVOLUTIONS_MAX)
        .flat_map(|revolutions| speeds.iter().map(move |rpm| (*rpm, revolutions)))
        .map(|(rpm, revolutions)| Turns { rpm, revolutions })
        .filter(|turns| off(turns) <= near)
        .collect();
    fits.sort_by(|a, b| {
        let nearer = off(a).total_cmp(&off(b));
        a.revolutions.cmp(&b.revolutions).then(nearer)
    });
    fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_named_by_the_fewest_revolutions_that_fit() {
        let of = |ns| -> Vec<(u32, u32)> {
            let fits = whole(&SPEEDS, ns, 0.025).into_iter();
            fits.map(|turns| (turns.rpm, turns.revolutions)).collect()
        };
        assert_eq!(of(8.31e6), [(7200, 1)]);
        assert_eq!(of(16.7e6), [(7200, 2)]);
        assert_eq!(of(10.17e6), [(5900, 1)]);
        // Two at 10 000 or three at 15 000 rpm.
        assert_eq!(of(12.0e6), [(10_000, 2), (15_000, 3)]);
        assert_eq!(of(11.1e6), [(5400, 1)]);
        assert_eq!(of(9.3e6), []);
        assert_eq!(of(0.1e6), []);
        assert_eq!(of(f64::NAN), []);
    }

    /// Of waits between 4 and 44 ms, each magnitude as likely, the share that is taken for
    /// whole revolutions.
    fn by_chance(speeds: &[u32], near: f64) -> f64 {
        const STEPS: u32 = 10_000;
        let taken = (0..STEPS).filter(|step| {
            let wait_ns = 4e6 * 11_f64.powf(f64::from(*step) / f64::from(STEPS));
            !whole(speeds, wait_ns, near).is_empty()
        });
        taken.count() as f64 / f64::from(STEPS)
    }

    #[test]
    fn what_chance_takes_for_revolutions_is_little_where_the_speed_is_known() {
        // Why one wait alone shows no speed.
        assert!((0.3..0.5).contains(&by_chance(&SPEEDS, 0.03)));
        assert!((0.1..0.25).contains(&by_chance(&SPEEDS, 0.015)));
        for rpm in SPEEDS {
            assert!(by_chance(&[rpm], 0.015) < 0.06, "{rpm}");
        }
    }
}
