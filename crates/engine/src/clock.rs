//! Time stamps for single operations.
//!
//! A time stamp is most of what the measuring loop costs: about 10 ns by the
//! processor's time stamp counter against 20 ns by the vDSO clock. The counter
//! is used when the processor calls it invariant (CPUID leaf `8000_0007h`, EDX
//! bit 8: constant rate, not stopping in sleep states; Intel SDM volume 3,
//! 18.17; AMD APM volume 3, appendix E) and the kernel has not thrown it out as
//! its own clock. It is calibrated once against `CLOCK_MONOTONIC`, and every
//! trial compares the two again ([`Clock::drift_ppm`]).

use rustix::time::{ClockId, clock_gettime};
use std::sync::OnceLock;

/// Where time stamps come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The invariant time stamp counter.
    Tsc,
    /// `CLOCK_MONOTONIC` through the vDSO.
    Monotonic,
}

/// A source of time stamps, and how its ticks become nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clock {
    source: Source,
    scale: Timescale,
}

/// Where time stamps come from, as a type: the measuring loop is compiled once
/// for each, because even an untaken call in it costs registers.
pub trait Ticks: Copy + Send + 'static {
    /// The time now, in ticks.
    fn now(self) -> u64;
}

/// The invariant time stamp counter. Only [`Clock::get`] knows whether there is
/// one.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy)]
pub struct Tsc;

#[cfg(target_arch = "x86_64")]
impl Ticks for Tsc {
    /// The counter is read without a fence: the few nanoseconds by which the
    /// processor may reorder it are below what a histogram bucket resolves, and
    /// a fenced read costs twice as much.
    #[inline]
    fn now(self) -> u64 {
        // SAFETY: RDTSC only reads a counter. Were user mode forbidden to, the
        // signal would come at the first call, before anything was measured.
        unsafe { core::arch::x86_64::_rdtsc() }
    }
}

/// `CLOCK_MONOTONIC` through the vDSO, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub struct Monotonic;

impl Ticks for Monotonic {
    #[inline]
    fn now(self) -> u64 {
        monotonic_ns()
    }
}

impl Ticks for Clock {
    /// Decides at each call; not for the measuring loop.
    #[inline]
    fn now(self) -> u64 {
        match self.source {
            #[cfg(target_arch = "x86_64")]
            Source::Tsc => Tsc.now(),
            _ => Monotonic.now(),
        }
    }
}

/// Ticks to nanoseconds: `ticks * mult / 2^32`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timescale {
    mult: u64,
}

impl Timescale {
    /// Ticks that are nanoseconds already.
    pub const NANOSECONDS: Self = Self { mult: 1 << 32 };

    fn from_ns_per_tick(ns_per_tick: f64) -> Self {
        Self {
            mult: (ns_per_tick * 4_294_967_296.0).round() as u64,
        }
    }

    /// A length in nanoseconds.
    #[inline]
    pub fn ns(self, ticks: u64) -> u64 {
        // A product of 64-bit numbers fits 128 bits; the shifted result fits 64
        // bits for every length below 584 years.
        ((u128::from(ticks) * u128::from(self.mult)) >> 32) as u64
    }

    /// A length in ticks.
    pub fn ticks(self, ns: u64) -> u64 {
        u64::try_from((u128::from(ns) << 32) / u128::from(self.mult.max(1))).unwrap_or(u64::MAX)
    }
}

/// One moment on both clocks.
#[derive(Debug, Clone, Copy)]
pub struct Anchor {
    ticks: u64,
    monotonic_ns: u64,
}

impl Anchor {
    /// The tick at a moment of `CLOCK_MONOTONIC`, nanoseconds; 0 of one before the first.
    pub fn tick_of(self, scale: Timescale, monotonic_ns: u64) -> u64 {
        if monotonic_ns >= self.monotonic_ns {
            let ahead = scale.ticks(monotonic_ns - self.monotonic_ns);
            self.ticks.saturating_add(ahead)
        } else {
            let behind = scale.ticks(self.monotonic_ns - monotonic_ns);
            self.ticks.saturating_sub(behind)
        }
    }

    /// The moment of a tick on `CLOCK_MONOTONIC`, nanoseconds; 0 of one before the first.
    pub fn monotonic_ns_of(self, scale: Timescale, tick: u64) -> u64 {
        if tick >= self.ticks {
            self.monotonic_ns
                .saturating_add(scale.ns(tick - self.ticks))
        } else {
            self.monotonic_ns
                .saturating_sub(scale.ns(self.ticks - tick))
        }
    }
}

impl Clock {
    /// The best clock of this machine, calibrated at the first call (20 ms).
    pub fn get() -> Self {
        static CLOCK: OnceLock<Clock> = OnceLock::new();
        *CLOCK.get_or_init(|| {
            if tsc_is_trustworthy() {
                Self::calibrated_tsc().unwrap_or_else(Self::monotonic)
            } else {
                Self::monotonic()
            }
        })
    }

    /// `CLOCK_MONOTONIC`, whatever the processor offers.
    pub fn monotonic() -> Self {
        Self {
            source: Source::Monotonic,
            scale: Timescale::NANOSECONDS,
        }
    }

    fn calibrated_tsc() -> Option<Self> {
        let uncalibrated = Self {
            source: Source::Tsc,
            scale: Timescale::NANOSECONDS,
        };
        let first = uncalibrated.anchor();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let second = uncalibrated.anchor();
        let ticks = second.ticks.checked_sub(first.ticks)?;
        let ns = second.monotonic_ns.checked_sub(first.monotonic_ns)?;
        let ns_per_tick = ns as f64 / ticks as f64;
        // Counters run between 10 MHz and 10 GHz; anything else is not one.
        (0.1..100.0).contains(&ns_per_tick).then(|| Self {
            source: Source::Tsc,
            scale: Timescale::from_ns_per_tick(ns_per_tick),
        })
    }

    /// Where the time stamps come from, as the record calls it.
    pub fn name(self) -> &'static str {
        match self.source {
            Source::Tsc => "tsc",
            Source::Monotonic => "monotonic",
        }
    }

    /// Where the time stamps come from.
    pub fn source(self) -> Source {
        self.source
    }

    /// How ticks become nanoseconds.
    pub fn scale(self) -> Timescale {
        self.scale
    }

    /// Both clocks at one moment: of five readings the one that took least.
    pub fn anchor(self) -> Anchor {
        (0..5)
            .map(|_| {
                let before = self.now();
                let monotonic_ns = monotonic_ns();
                let after = self.now();
                let took = after.wrapping_sub(before);
                (
                    took,
                    Anchor {
                        ticks: before.wrapping_add(took / 2),
                        monotonic_ns,
                    },
                )
            })
            .min_by_key(|(took, _)| *took)
            .map_or(
                Anchor {
                    ticks: 0,
                    monotonic_ns: 0,
                },
                |(_, anchor)| anchor,
            )
    }

    /// How much faster this clock ran than `CLOCK_MONOTONIC` between two
    /// moments, in parts per million; `None` when no time passed.
    pub fn drift_ppm(self, from: Anchor, to: Anchor) -> Option<f64> {
        let real = to.monotonic_ns.checked_sub(from.monotonic_ns)?;
        let mine = self.scale.ns(to.ticks.checked_sub(from.ticks)?);
        (real > 0).then(|| (mine as f64 / real as f64 - 1.0) * 1e6)
    }
}

/// `CLOCK_MONOTONIC` in nanoseconds.
#[inline]
fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // Seconds since boot are never negative.
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(target_arch = "x86_64")]
fn tsc_is_trustworthy() -> bool {
    use core::arch::x86_64::__cpuid;
    // Leaf 0x8000_0000 tells whether leaf 0x8000_0007 exists; every x86-64
    // processor has CPUID.
    let has_leaf = __cpuid(0x8000_0000).eax >= 0x8000_0007;
    let invariant = has_leaf && __cpuid(0x8000_0007).edx & (1 << 8) != 0;
    // The kernel watches the counter and drops it when it misbehaves. A virtual
    // machine's own clock (kvm-clock, Hyper-V) is built on the same counter.
    let kernel_trusts =
        std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource")
            .map_or(true, |name| {
                matches!(
                    name.trim(),
                    "tsc" | "kvm-clock" | "hyperv_clocksource_tsc_page"
                )
            });
    invariant && kernel_trusts
}

#[cfg(not(target_arch = "x86_64"))]
fn tsc_is_trustworthy() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_and_nanoseconds_convert_both_ways() {
        let scale = Timescale::from_ns_per_tick(1.0 / 2.6);
        assert_eq!(scale.ns(2_600_000_000), 999_999_999);
        let ticks = scale.ticks(3_600_000_000_000);
        assert!(scale.ns(ticks).abs_diff(3_600_000_000_000) <= 1);
        assert_eq!(Timescale::NANOSECONDS.ns(12345), 12345);
    }

    #[test]
    fn a_clock_never_runs_backwards_on_one_thread() {
        for clock in [Clock::get(), Clock::monotonic()] {
            let mut last = clock.now();
            for _ in 0..100_000 {
                let now = clock.now();
                assert!(now >= last);
                last = now;
            }
        }
    }

    #[test]
    fn a_moment_becomes_a_tick_and_back_before_and_after_the_anchor() {
        let scale = Timescale::from_ns_per_tick(0.4);
        let anchor = Anchor {
            ticks: 5_000_000_000,
            monotonic_ns: 7_000_000_000,
        };
        assert_eq!(anchor.tick_of(scale, 7_000_000_000), 5_000_000_000);
        for moment in [6_500_000_000_u64, 7_000_000_000, 9_250_000_000] {
            let tick = anchor.tick_of(scale, moment);
            let back = anchor.monotonic_ns_of(scale, tick);
            assert!(back.abs_diff(moment) <= 2, "{moment} {back}");
        }
        // A scale has 32 bits behind the point: 0.4 is off by up to 6e-10, a tick in two seconds.
        let tick = anchor.tick_of(scale, 9_000_000_000);
        assert!(tick.abs_diff(10_000_000_000) <= 2, "{tick}");
        // Before the first tick there is none.
        assert_eq!(anchor.tick_of(scale, 0), 0);
    }

    #[test]
    fn drift_is_the_difference_of_rates() {
        let clock = Clock::monotonic();
        let from = Anchor {
            ticks: 1_000,
            monotonic_ns: 1_000,
        };
        let to = Anchor {
            ticks: 1_001_100,
            monotonic_ns: 1_001_000,
        };
        let ppm = clock.drift_ppm(from, to).unwrap();
        assert!((ppm - 100.0).abs() < 0.01, "{ppm}");
        assert_eq!(clock.drift_ppm(from, from), None);
    }
}
