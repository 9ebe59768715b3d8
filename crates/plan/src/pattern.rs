//! Patterns: which block is next, and whether it is read or written.
//!
//! [`Steps`] is called once per operation inside the measuring loop, so it
//! allocates nothing and keeps a few words of state: no map of visited blocks.

mod stride;

use crate::rng::Rng;
use crate::workload::{Operation, Pattern};
use stride::Stride;

/// The blocks one stream visits: `count` blocks of `block_size` from `start`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// First byte, within the target.
    pub start: u64,
    /// Bytes per block, at least 1.
    pub block_size: u64,
    /// Number of blocks, at least 1.
    pub count: u64,
}

impl Range {
    /// The whole blocks of `span` bytes from `offset`; `None` when not one fits.
    pub fn new(offset: u64, span: u64, block_size: u64) -> Option<Self> {
        let count = span.checked_div(block_size)?;
        (count > 0).then_some(Self {
            start: offset,
            block_size,
            count,
        })
    }

    /// The share of stream `index` of `streams` when the range is cut into
    /// adjacent pieces, or the whole range when there are fewer blocks than
    /// streams. The first pieces are one block longer when it does not divide.
    #[must_use]
    pub fn piece(self, index: u32, streams: u32) -> Self {
        let (index, streams) = (u64::from(index), u64::from(streams.max(1)));
        if self.count < streams {
            return self;
        }
        let (base, extra) = (self.count / streams, self.count % streams);
        let first = index * base + index.min(extra);
        Self {
            start: self.start + first * self.block_size,
            count: base + u64::from(index < extra),
            ..self
        }
    }

    /// Bytes from the first to the last block.
    pub fn bytes(self) -> u64 {
        self.count * self.block_size
    }
}

/// One operation to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// First byte, within the target.
    pub offset: u64,
    /// Whether it writes; else it reads. With [`Operation::Modify`] it reads in
    /// either case, and this says whether it changes the block and writes it
    /// back.
    pub write: bool,
}

/// The endless sequence of one stream's operations.
#[derive(Debug, Clone)]
pub struct Steps {
    range: Range,
    order: Order,
    /// A draw below this, of 100, only reads: 100 for reads, 0 for writes.
    read_percent: u64,
    rng: Rng,
}

#[derive(Debug, Clone)]
enum Order {
    Sequential {
        next: u64,
        step: u64,
    },
    Random,
    Zipf(Zipf),
    /// With the blocks that other threads of the stream visit in between.
    Stride(Stride, u32),
}

impl Steps {
    /// The operations of one stream.
    ///
    /// When several threads serve one stream together, thread `lane` of `lanes`
    /// takes every `lanes`-th block of a sequential or strided pattern; for the
    /// latter they need the same seed. Random patterns need only a seed of their
    /// own, which the caller draws.
    pub fn new(
        operation: Operation,
        pattern: Pattern,
        range: Range,
        seed: u64,
        lane: u32,
        lanes: u32,
    ) -> Self {
        // What a stride draws is the same in all lanes, and so is no other choice.
        let rng = match pattern {
            Pattern::Stride { .. } => Rng::for_part(seed, u64::from(lane)),
            _ => Rng::new(seed),
        };
        let order = match pattern {
            Pattern::Sequential => Order::Sequential {
                next: u64::from(lane) % range.count,
                step: u64::from(lanes.max(1)),
            },
            Pattern::Random => Order::Random,
            Pattern::Zipf { theta } => Order::Zipf(Zipf::new(range.count, theta)),
            Pattern::Stride {
                skip_blocks,
                fixed,
                from_start,
            } => {
                let mut stride =
                    Stride::new(range.count, skip_blocks, fixed, from_start, Rng::new(seed));
                stride.leave_out(lane);
                Order::Stride(stride, lanes.max(1) - 1)
            }
        };
        Self {
            range,
            order,
            read_percent: match operation {
                Operation::Read | Operation::Stat => 100,
                Operation::Write | Operation::Create | Operation::Delete => 0,
                Operation::Mixed { read_percent } => u64::from(read_percent),
                Operation::Modify { percent } => 100_u64.saturating_sub(u64::from(percent)),
            },
            rng,
        }
    }

    /// The next operation.
    #[inline]
    pub fn next_step(&mut self) -> Step {
        let block = match &mut self.order {
            Order::Sequential { next, step } => {
                let block = *next;
                *next += *step;
                if *next >= self.range.count {
                    *next %= self.range.count;
                }
                block
            }
            Order::Random => self.rng.below(self.range.count),
            Order::Zipf(zipf) => zipf.draw(&mut self.rng),
            Order::Stride(stride, others) => {
                let block = stride.take();
                stride.leave_out(*others);
                block
            }
        };
        let write = match self.read_percent {
            100 => false,
            0 => true,
            percent => self.rng.below(100) >= percent,
        };
        Step {
            offset: self.range.start + block * self.range.block_size,
            write,
        }
    }
}

/// Zipf-distributed block numbers by rejection-inversion (Hörmann and
/// Derflinger, "Rejection-inversion to generate variates from monotone discrete
/// distributions", ACM TOMACS 6(3), 1996): constant memory and about one
/// logarithm and one exponential per draw, for any number of blocks.
#[derive(Debug, Clone)]
struct Zipf {
    count: u64,
    theta: f64,
    integral_first: f64,
    integral_last: f64,
    squeeze: f64,
    /// Coprime to `count`: rank times this, modulo `count`, is a permutation
    /// that scatters the popular blocks over the span.
    scatter: u64,
}

impl Zipf {
    fn new(count: u64, theta: f64) -> Self {
        let mut zipf = Self {
            count,
            theta,
            integral_first: 0.0,
            integral_last: 0.0,
            squeeze: 0.0,
            scatter: scatter_step(count),
        };
        zipf.integral_first = zipf.integral(1.5) - 1.0;
        zipf.integral_last = zipf.integral(count as f64 + 0.5);
        zipf.squeeze = 2.0 - zipf.integral_inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    /// x^-theta. The logarithms and exponentials here are `libm`'s and not the C
    /// library's: a simulated run is the same on every machine.
    fn density(&self, x: f64) -> f64 {
        libm::exp(-self.theta * libm::log(x))
    }

    /// The integral of the density from 1 to x.
    fn integral(&self, x: f64) -> f64 {
        let log = libm::log(x);
        log * expm1_over((1.0 - self.theta) * log)
    }

    fn integral_inverse(&self, y: f64) -> f64 {
        // Rounding may push the argument of the logarithm below its domain.
        let t = (y * (1.0 - self.theta)).max(-1.0);
        libm::exp(y * ln1p_over(t))
    }

    /// A popularity rank in `1..=count`.
    fn rank(&self, rng: &mut Rng) -> u64 {
        loop {
            let u = self.integral_last + rng.unit() * (self.integral_first - self.integral_last);
            let x = self.integral_inverse(u);
            // Positive and at most about `count`; the clamp covers rounding.
            let rank = ((x + 0.5) as u64).clamp(1, self.count);
            let k = rank as f64;
            if k - x <= self.squeeze || u >= self.integral(k + 0.5) - self.density(k) {
                return rank;
            }
        }
    }

    fn draw(&self, rng: &mut Rng) -> u64 {
        let scattered =
            u128::from(self.rank(rng) - 1) * u128::from(self.scatter) % u128::from(self.count);
        // Below `count`, which is a u64.
        scattered as u64
    }
}

/// (e^x - 1) / x, continuous at 0.
fn expm1_over(x: f64) -> f64 {
    if x.abs() > 1e-8 {
        libm::expm1(x) / x
    } else {
        1.0 + x * 0.5
    }
}

/// ln(1 + x) / x, continuous at 0.
fn ln1p_over(x: f64) -> f64 {
    if x.abs() > 1e-8 {
        libm::log1p(x) / x
    } else {
        1.0 - x * 0.5
    }
}

/// The number coprime to `count` nearest above `count` / golden ratio: multiples
/// of it fall into the largest gaps left by the earlier ones.
fn scatter_step(count: u64) -> u64 {
    if count <= 2 {
        return 1;
    }
    let mut step = ((count as f64 * 0.618_033_988_749_894_9) as u64).max(1);
    while gcd(step, count) != 1 {
        step += 1;
    }
    step
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use proptest::prelude::*;

    const RANGE: Range = Range {
        start: 1000,
        block_size: 10,
        count: 7,
    };

    fn offsets(pattern: Pattern, lane: u32, lanes: u32, n: usize) -> Vec<u64> {
        let mut steps = Steps::new(Operation::Read, pattern, RANGE, 5, lane, lanes);
        (0..n).map(|_| steps.next_step().offset).collect()
    }

    #[test]
    fn sequential_visits_each_block_in_turn_and_wraps() {
        let seen = offsets(Pattern::Sequential, 0, 1, 9);
        assert_eq!(seen, [1000, 1010, 1020, 1030, 1040, 1050, 1060, 1000, 1010]);
    }

    #[test]
    fn lanes_share_a_sequential_stream() {
        assert_eq!(offsets(Pattern::Sequential, 1, 3, 3), [1010, 1040, 1000]);
        let mut all: Vec<u64> = (0..3)
            .flat_map(|lane| offsets(Pattern::Sequential, lane, 3, 7))
            .collect();
        all.sort_unstable();
        let each_three_times: Vec<u64> = (0..21).map(|i| 1000 + i / 3 * 10).collect();
        assert_eq!(all, each_three_times);
    }

    #[test]
    fn lanes_share_a_strided_stream() {
        for fixed in [true, false] {
            let pattern = Pattern::Stride {
                skip_blocks: 3,
                fixed,
                from_start: false,
            };
            let together = offsets(pattern, 0, 1, 30);
            for lane in 0..3 {
                let alone: Vec<u64> = together.iter().copied().skip(lane).step_by(3).collect();
                let lane = u32::try_from(lane).unwrap();
                assert_eq!(offsets(pattern, lane, 3, 10), alone);
            }
        }
    }

    #[test]
    fn a_mix_has_its_share_of_reads() {
        let mixed = Operation::Mixed { read_percent: 70 };
        let mut steps = Steps::new(mixed, Pattern::Random, RANGE, 9, 0, 1);
        let reads = (0..100_000).filter(|_| !steps.next_step().write).count();
        assert!((69_000..71_000).contains(&reads), "{reads}");
    }

    #[test]
    fn a_modification_writes_back_its_share() {
        for (percent, expected) in [(100, 1000..=1000), (30, 200..=400), (1, 1..=30)] {
            let mut steps = Steps::new(
                Operation::Modify { percent },
                Pattern::Random,
                RANGE,
                9,
                0,
                1,
            );
            let written = (0..1000).filter(|_| steps.next_step().write).count();
            assert!(expected.contains(&written), "{percent} %: {written}");
        }
    }

    /// Simulated runs are compared byte for byte between machines.
    #[test]
    fn zipf_draws_the_same_on_every_machine() {
        let zipf = Zipf::new(1 << 28, 0.99);
        let mut rng = Rng::new(11);
        let sum = (0..100_000).fold(0_u64, |sum, i| {
            sum.wrapping_mul(31) ^ zipf.draw(&mut rng) ^ i
        });
        assert_eq!(sum, 3_583_886_520_366_625_629);
    }

    #[test]
    fn zipf_draws_ranks_in_proportion_to_their_power() {
        for theta in [0.5, 0.99, 1.0, 1.2, 2.0] {
            let n = 50_u64;
            let zipf = Zipf::new(n, theta);
            let mut rng = Rng::new(11);
            let mut seen = vec![0_u64; 51];
            let draws = 400_000;
            for _ in 0..draws {
                seen[usize::try_from(zipf.rank(&mut rng)).unwrap()] += 1;
            }
            let total: f64 = (1..=n).map(|k| (k as f64).powf(-theta)).sum();
            for k in 1..=n {
                let expected = f64::from(draws) * (k as f64).powf(-theta) / total;
                let got = seen[usize::try_from(k).unwrap()] as f64;
                // Six standard deviations of a count.
                assert!(
                    (got - expected).abs() < 6.0 * expected.sqrt() + 1.0,
                    "theta {theta}, rank {k}: {got} against {expected}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn every_block_lies_within_the_range(
            start in 0_u64..1 << 40,
            block_size in 1_u64..1 << 24,
            count in 1_u64..1 << 30,
            seed: u64,
            kind in 0_u8..4,
        ) {
            let range = Range { start, block_size, count };
            let pattern = match kind {
                0 => Pattern::Sequential,
                1 => Pattern::Random,
                2 => Pattern::Stride {
                    skip_blocks: 1 + seed % (2 * count),
                    fixed: seed & 1 == 0,
                    from_start: seed & 2 == 0,
                },
                _ => Pattern::Zipf { theta: 0.99 },
            };
            let mut steps = Steps::new(Operation::Read, pattern, range, seed, 0, 1);
            for _ in 0..64 {
                let offset = steps.next_step().offset;
                prop_assert!(offset >= start);
                prop_assert!(offset + block_size <= start + range.bytes());
                prop_assert!((offset - start).is_multiple_of(block_size));
            }
        }

        #[test]
        fn pieces_cover_the_range_once(count in 1_u64..10_000, streams in 1_u32..64) {
            let range = Range { start: 7, block_size: 3, count };
            if count < u64::from(streams) {
                prop_assert_eq!(range.piece(streams - 1, streams), range);
            } else {
                let mut next = 7;
                for i in 0..streams {
                    let piece = range.piece(i, streams);
                    prop_assert_eq!(piece.start, next);
                    prop_assert!(piece.count > 0);
                    next += piece.bytes();
                }
                prop_assert_eq!(next, 7 + range.bytes());
            }
        }

        #[test]
        fn scattering_is_a_permutation(count in 1_u64..2000) {
            let step = scatter_step(count);
            let mut seen = vec![false; usize::try_from(count).unwrap()];
            for rank in 0..count {
                seen[usize::try_from(u128::from(rank) * u128::from(step) % u128::from(count)).unwrap()] = true;
            }
            prop_assert!(seen.iter().all(|s| *s));
        }
    }
}
