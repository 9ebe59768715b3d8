//! Intended start times of an open loop.

use crate::rng::Rng;
use crate::workload::{Arrivals, Rate};

/// The moments, in nanoseconds from the start of the trial, at which one
/// stream's operations are meant to start. Never ends; never goes backwards.
#[derive(Debug, Clone)]
pub struct Intended {
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Fixed {
        next: u64,
        step: u64,
        rate: u64,
    },
    Poisson {
        now_ns: f64,
        mean_ns: f64,
        rng: Box<Rng>,
    },
}

impl Intended {
    /// The moments for stream `stream` of `streams` that share `rate`.
    ///
    /// With fixed arrivals the streams take turns, so that together they start
    /// operations at equal distances. Independent Poisson streams add up to a
    /// Poisson process of the whole rate.
    pub fn new(rate: Rate, stream: u32, streams: u32, seed: u64) -> Self {
        let kind = match rate.arrivals {
            Arrivals::Fixed => Kind::Fixed {
                next: u64::from(stream),
                step: u64::from(streams),
                rate: rate.operations_per_s,
            },
            Arrivals::Poisson => Kind::Poisson {
                now_ns: 0.0,
                mean_ns: 1e9 * f64::from(streams) / rate.operations_per_s as f64,
                rng: Box::new(Rng::for_part(seed, u64::from(stream))),
            },
        };
        Self { kind }
    }

    /// From the intended start of the last operation of all streams to the moment up to
    /// which they are `n` operations at the rate, ns.
    ///
    /// Evenly spaced, `n` operations have `n - 1` distances between them, so the last has
    /// one more behind it. Poisson arrivals begin with a distance, so they have `n` already.
    pub fn tail_ns(&self) -> u64 {
        match &self.kind {
            Kind::Fixed { rate, .. } => 1_000_000_000 / (*rate).max(1),
            Kind::Poisson { .. } => 0,
        }
    }

    /// The next intended start, in nanoseconds from the start of the trial.
    pub fn next_ns(&mut self) -> u64 {
        match &mut self.kind {
            Kind::Fixed { next, step, rate } => {
                // From the index each time, so that no rounding adds up.
                let ns = u128::from(*next) * 1_000_000_000 / u128::from(*rate);
                *next += *step;
                u64::try_from(ns).unwrap_or(u64::MAX)
            }
            Kind::Poisson {
                now_ns,
                mean_ns,
                rng,
            } => {
                *now_ns -= libm::log(rng.unit()) * *mean_ns;
                // A float turns into an integer by saturation; 2^63 ns is 292 years.
                *now_ns as u64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(operations_per_s: u64, arrivals: Arrivals) -> Rate {
        Rate {
            operations_per_s,
            arrivals,
        }
    }

    #[test]
    fn fixed_arrivals_of_all_streams_interleave_without_drift() {
        let mut all: Vec<u64> = (0..3)
            .flat_map(|stream| {
                let mut intended = Intended::new(rate(3, Arrivals::Fixed), stream, 3, 1);
                (0..100)
                    .map(move |_| intended.next_ns())
                    .collect::<Vec<_>>()
            })
            .collect();
        all.sort_unstable();
        for (i, ns) in all.iter().enumerate() {
            assert_eq!(*ns, i as u64 * 1_000_000_000 / 3);
        }
    }

    /// Simulated runs are compared byte for byte between machines.
    #[test]
    fn poisson_arrivals_are_the_same_on_every_machine() {
        let mut intended = Intended::new(rate(1000, Arrivals::Poisson), 0, 1, 42);
        let last = (0..100_000).map(|_| intended.next_ns()).last();
        assert_eq!(last, Some(100_019_697_940));
    }

    #[test]
    fn poisson_arrivals_have_the_mean_and_the_spread_of_an_exponential() {
        let mut intended = Intended::new(rate(1000, Arrivals::Poisson), 0, 1, 42);
        let mut last = 0;
        let mut gaps = Vec::new();
        for _ in 0..200_000 {
            let now = intended.next_ns();
            assert!(now >= last);
            gaps.push((now - last) as f64);
            last = now;
        }
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        // 1 ms; an exponential's deviation equals its mean. The standard error
        // of both with 200 000 gaps is about 0.3 %.
        assert!((mean / 1e6 - 1.0).abs() < 0.01, "{mean}");
        assert!((variance.sqrt() / 1e6 - 1.0).abs() < 0.02, "{variance}");
    }
}
