//! Chance from a seed, the same on every machine and in every version.
//!
//! A stored run names its seed, and the seed must give the same offsets in five
//! years; so the generator is written out here and pinned by tests instead of
//! being left to a dependency's next major version.

/// xoshiro256++ 1.0 (Blackman and Vigna, "Scrambled Linear Pseudorandom Number
/// Generators", ACM TOMS 47(4), 2021; reference code in the public domain).
#[derive(Debug, Clone)]
pub struct Rng {
    state: [u64; 4],
}

/// One step of `SplitMix64`, which spreads a small seed over all the state
/// (Steele, Lea, Flood, OOPSLA 2014), as the authors of xoshiro advise.
fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Rng {
    /// A generator for `seed`. Every seed is good, 0 too.
    pub fn new(seed: u64) -> Self {
        let mut mix = seed;
        Self {
            state: std::array::from_fn(|_| splitmix64(&mut mix)),
        }
    }

    /// A generator for part `index` of whatever `seed` stands for: streams and
    /// trials get unrelated sequences from one recorded seed.
    pub fn for_part(seed: u64, index: u64) -> Self {
        let mut mix = seed;
        let base = splitmix64(&mut mix);
        let mut other = index.wrapping_mul(0xd134_2543_de82_ef95) ^ base;
        Self::new(splitmix64(&mut other))
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number in `0..bound`, by the high half of a 128-bit product. The bias
    /// is below `bound / 2^64`: under one part in a million for spans up to
    /// 2^44 blocks, and never worth a branch in the measuring loop.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        let product = u128::from(self.next_u64()) * u128::from(bound);
        // The high half of a product of two u64 always fits in a u64.
        (product >> 64) as u64
    }

    /// A number in `(0, 1]`, with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        ((self.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_of_a_seed_never_changes() {
        // SplitMix64 from 0 starts with the published value e220a8397b1dcdaf;
        // the xoshiro256++ outputs were computed once from the reference code.
        let mut mix = 0;
        assert_eq!(splitmix64(&mut mix), 0xe220_a839_7b1d_cdaf);
        let mut rng = Rng {
            state: [1, 2, 3, 4],
        };
        let first: Vec<u64> = (0..4).map(|_| rng.next_u64()).collect();
        assert_eq!(
            first,
            [
                41_943_041,
                58_720_359,
                3_588_806_011_781_223,
                3_591_011_842_654_386
            ]
        );
    }

    #[test]
    fn below_stays_below_and_reaches_every_value() {
        let mut rng = Rng::new(7);
        let mut seen = [0_u32; 10];
        for _ in 0..10_000 {
            seen[usize::try_from(rng.below(10)).unwrap()] += 1;
        }
        assert!(seen.iter().all(|&n| (850..1150).contains(&n)), "{seen:?}");
    }

    #[test]
    fn parts_of_one_seed_are_unrelated() {
        let a = Rng::for_part(1, 0).next_u64();
        let b = Rng::for_part(1, 1).next_u64();
        let c = Rng::for_part(2, 0).next_u64();
        assert!(a != b && b != c && a != c);
    }

    #[test]
    fn unit_is_never_zero() {
        let mut rng = Rng::new(3);
        assert!((0..100_000).all(|_| {
            let u = rng.unit();
            u > 0.0 && u <= 1.0
        }));
    }
}
