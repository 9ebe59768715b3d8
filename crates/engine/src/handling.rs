//! What the program itself does with the bytes of a block, as part of the
//! operation: look at them, and change them before they are written back.
//!
//! It happens within the latency, because a program that uses its data pays for
//! this too. With several operations in flight, looking at one block delays the
//! others of its batch, as it does in a program with one thread.

mod characters;

use crate::values::{Content, Wrong};
use characters::{locked, unlocked};
use diskfacts_plan::{Touch, Workload};
use std::hint::black_box;

/// What is done with the bytes of each block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Handling {
    /// An operation that writes first reads its block, and writes that back
    /// changed.
    pub modify: bool,
    /// What is looked at, after a read and before a write.
    pub touch: Touch,
    /// Content that is checked after a read and kept up by writes.
    pub values: Option<Content>,
}

impl Handling {
    /// As a workload asks for it.
    pub fn of(workload: &Workload) -> Self {
        Self {
            modify: workload.operation.modifies(),
            touch: workload.touch,
            values: workload
                .values
                .map(|values| Content::new(values.seed.unwrap_or(0))),
        }
    }

    /// Looks at the bytes of a block.
    #[inline]
    pub fn look_at(self, block: &[u8]) {
        match self.touch {
            Touch::None => {}
            Touch::First => {
                black_box(block.first());
            }
            Touch::Every => {
                black_box(sum(block));
            }
            Touch::Character => locked::take(block),
            Touch::CharacterUnlocked => unlocked::take(block),
        }
    }

    /// Looks at the bytes of a block that is about to be written, or puts them
    /// there one by one.
    #[inline]
    pub fn before_write(self, block: &mut [u8]) {
        match self.touch {
            Touch::Character => locked::put(block),
            Touch::CharacterUnlocked => unlocked::put(block),
            Touch::None | Touch::First | Touch::Every => self.look_at(block),
        }
    }

    /// Checks a block that was read from an offset.
    ///
    /// # Errors
    /// The first of it that is not the content it should be.
    #[inline]
    pub fn check(self, block: &[u8], offset: u64) -> Result<(), Wrong> {
        self.values
            .map_or(Ok(()), |content| content.check(block, offset))
    }

    /// Makes a block what is to be written at an offset, where content is kept
    /// up.
    #[inline]
    pub fn make(self, block: &mut [u8], offset: u64) {
        if let Some(content) = self.values {
            content.fill(block, offset);
        }
    }

    /// Whether a buffer needs no content of its own before it is written from.
    #[inline]
    pub fn makes_content(self) -> bool {
        self.modify || self.values.is_some()
    }

    /// Changes a block that was read: as its content is modified or, without
    /// one, in its first byte, which tells how often modulo 256.
    #[inline]
    pub fn change(self, block: &mut [u8]) {
        if let Some(content) = self.values {
            content.modify(block);
        } else if let Some(first) = block.first_mut() {
            *first = first.wrapping_add(1);
        }
    }
}

/// Depends on every byte, so that none can be left out.
fn sum(block: &[u8]) -> u64 {
    let mut words = block.chunks_exact(8);
    let mut sum = 0_u64;
    for word in &mut words {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(word);
        sum = sum.wrapping_add(u64::from_ne_bytes(bytes));
    }
    for byte in words.remainder() {
        sum = sum.wrapping_add(u64::from(*byte));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_depends_on_every_byte() {
        let block: Vec<u8> = (0..=20).collect();
        let before = sum(&block);
        for i in 0..block.len() {
            let mut other = block.clone();
            other[i] ^= 0x40;
            assert_ne!(sum(&other), before, "byte {i}");
        }
    }

    #[test]
    fn a_change_changes_the_block() {
        for first in [0_u8, 7, 255] {
            let mut block = [first, 1, 2];
            Handling::default().change(&mut block);
            assert_eq!(block, [first.wrapping_add(1), 1, 2]);
        }
    }
}
