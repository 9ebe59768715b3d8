//! Content that can be checked: what each eight bytes are follows from their
//! position, from a seed, and from how often their sector was modified.
//!
//! A modification adds one to every eight bytes. So the number of modifications
//! of a sector can be read from it, an untouched one is told from one that was
//! modified, and bytes that are of another place, of another seed or torn apart
//! within a sector are wrong. The content does not compress.

use std::fmt;

/// Bytes that agree on how often they were modified: no device writes less.
pub const SECTOR: usize = 512;
const WORD: usize = 8;
/// Most modifications that are believed: chance leads a wrong word here once in
/// four thousand million.
const MODIFICATIONS_MAX: u64 = u32::MAX as u64;

/// The content of one seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Content {
    seed: u64,
}

/// Eight bytes that are not what they should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wrong {
    /// Their first byte, within the target.
    pub offset: u64,
    /// What they should be, as a little-endian number.
    pub expected: u64,
    /// What they are.
    pub found: u64,
    /// Whether nothing of the block is content of this seed: it was never filled
    /// with it, or was written over.
    pub foreign: bool,
}

impl Content {
    /// The content of a seed.
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// What the eight bytes at an offset, a multiple of eight, are before any
    /// modification: `SplitMix64` at that place of its sequence.
    #[inline]
    fn word(self, offset: u64) -> u64 {
        let place = offset / WORD as u64 + 1;
        let mut z = self
            .seed
            .wrapping_add(place.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Makes `block` what lies at `offset` before any modification. Both are
    /// whole sectors.
    pub fn fill(self, block: &mut [u8], offset: u64) {
        let mut at = offset;
        for bytes in block.chunks_exact_mut(WORD) {
            bytes.copy_from_slice(&self.word(at).to_le_bytes());
            at += WORD as u64;
        }
    }

    /// Modifies each sector of `block` once.
    pub fn modify(self, block: &mut [u8]) {
        for bytes in block.chunks_exact_mut(WORD) {
            let word = number(bytes).wrapping_add(1);
            bytes.copy_from_slice(&word.to_le_bytes());
        }
    }

    /// Whether `block`, read from `offset`, is what lies there after any number
    /// of modifications. Both are whole sectors.
    ///
    /// # Errors
    /// The first eight bytes that are not.
    pub fn check(self, block: &[u8], offset: u64) -> Result<(), Wrong> {
        let mut first = None;
        let mut any_right = false;
        let mut at = offset;
        for sector in block.chunks_exact(SECTOR) {
            match self.check_sector(sector, at) {
                Ok(()) => any_right = true,
                Err(wrong) => {
                    any_right |= !wrong.foreign;
                    first = first.or(Some(wrong));
                }
            }
            at += SECTOR as u64;
        }
        first.map_or(Ok(()), |wrong| {
            Err(Wrong {
                foreign: !any_right,
                ..wrong
            })
        })
    }

    fn check_sector(self, sector: &[u8], offset: u64) -> Result<(), Wrong> {
        let modified = |i: usize, bytes: &[u8]| {
            number(bytes).wrapping_sub(self.word(offset + (i * WORD) as u64))
        };
        let words = || sector.chunks_exact(WORD).enumerate();
        // How often, as the first word that says something believable says.
        let times = words()
            .map(|(i, bytes)| modified(i, bytes))
            .find(|times| *times <= MODIFICATIONS_MAX);
        let wrong = words().find(|(i, bytes)| Some(modified(*i, bytes)) != times);
        let Some((i, bytes)) = wrong else {
            return Ok(());
        };
        let at = offset + (i * WORD) as u64;
        Err(Wrong {
            offset: at,
            expected: self.word(at).wrapping_add(times.unwrap_or(0)),
            found: number(bytes),
            foreign: times.is_none(),
        })
    }
}

fn number(bytes: &[u8]) -> u64 {
    let mut word = [0; WORD];
    word.copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.foreign {
            return write!(
                f,
                "nothing of the block at byte {} is what this seed gives: it was never filled \
                 (values = \"fill\"), with another values_seed, or written over since",
                self.offset
            );
        }
        write!(
            f,
            "the 8 bytes at {} are {:#018x} and should be {:#018x}",
            self.offset, self.found, self.expected
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OFFSET: u64 = 3 * 4096;

    fn filled(bytes: usize) -> (Content, Vec<u8>) {
        let content = Content::new(7);
        let mut block = vec![0; bytes];
        content.fill(&mut block, OFFSET);
        (content, block)
    }

    #[test]
    fn content_is_right_where_it_was_put_and_nowhere_else() {
        let (content, block) = filled(4096);
        assert_eq!(content.check(&block, OFFSET), Ok(()));
        let elsewhere = content.check(&block, OFFSET + 4096).unwrap_err();
        assert!(elsewhere.foreign);
        assert!(elsewhere.to_string().contains("never filled"));
        assert!(Content::new(8).check(&block, OFFSET).unwrap_err().foreign);
        assert!(content.check(&[0; 4096], OFFSET).unwrap_err().foreign);
    }

    #[test]
    fn each_sector_knows_how_often_it_was_modified() {
        let (content, mut block) = filled(4096);
        for _ in 0..3 {
            content.modify(&mut block[512..1024]);
        }
        assert_eq!(content.check(&block, OFFSET), Ok(()));
        let times = number(&block[512..520]).wrapping_sub(content.word(OFFSET + 512));
        assert_eq!(times, 3);
        // Half of a sector: torn.
        content.modify(&mut block[..256]);
        let wrong = content.check(&block, OFFSET).unwrap_err();
        assert_eq!(wrong.offset, OFFSET + 256);
        assert_eq!(wrong.expected, wrong.found.wrapping_add(1));
        assert!(!wrong.foreign);
    }

    proptest! {
        #[test]
        fn a_flipped_bit_is_found(at in 0_usize..4096, bit in 0_u8..8) {
            let (content, mut block) = filled(4096);
            block[at] ^= 1 << bit;
            let wrong = content.check(&block, OFFSET).unwrap_err();
            prop_assert!(!wrong.foreign);
            // A low bit of the first word of a sector looks like modifications of
            // it, and then the next word is the first to differ.
            let word = OFFSET + at as u64 / 8 * 8;
            prop_assert!(wrong.offset == word || wrong.offset == word + 8, "{wrong:?}");
        }
    }
}
