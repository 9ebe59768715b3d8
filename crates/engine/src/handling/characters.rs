//! A block as the buffer of a stream of C's `stdio`, which is filled or emptied
//! one character at a time.
//!
//! Between two system calls a stream is a buffer and a place in it. `putc` and
//! `getc` find out by a lock that no other thread uses the stream, move one byte
//! and step on; `putc_unlocked` and `getc_unlocked` leave the lock out. Here the
//! lock is taken without contention, as it is in a program with one thread for
//! the stream: it is the price of a character that is shown, not that of a wait.
//! (Since version 2.28 glibc leaves the lock out while a process has no second
//! thread; diskfacts always has one.)
//!
//! Nothing of it can be left out by a compiler: each byte and each place passes
//! through [`black_box`], so that bytes cannot be moved several at once.

use std::hint::black_box;

/// Each call locks.
pub(super) mod locked {
    use super::black_box;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    /// The place in the buffer of a stream.
    struct Stream(Mutex<usize>);

    impl Stream {
        /// Nothing panics while it is held, so it cannot be poisoned.
        fn lock(&self) -> MutexGuard<'_, usize> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }

        /// `putc`: a call, as in a library.
        #[inline(never)]
        fn put(&self, buffer: &mut [u8], character: u8) {
            let mut place = self.lock();
            if let Some(byte) = buffer.get_mut(*place) {
                *byte = character;
                *place += 1;
            }
        }

        /// `getc`: a call, as in a library.
        #[inline(never)]
        fn take(&self, buffer: &[u8]) -> Option<u8> {
            let mut place = self.lock();
            let character = buffer.get(*place).copied();
            *place += usize::from(character.is_some());
            character
        }
    }

    /// Puts every byte of the block where it stands.
    pub(in super::super) fn put(block: &mut [u8]) {
        let stream = Stream(Mutex::new(0));
        for place in 0..block.len() {
            let character = black_box(block[place]);
            stream.put(block, character);
        }
    }

    /// Takes every byte out of the block.
    pub(in super::super) fn take(block: &[u8]) {
        let stream = Stream(Mutex::new(0));
        while let Some(character) = stream.take(block) {
            black_box(character);
        }
    }
}

/// No call locks; as a macro, the steps stand in the loop of the caller.
pub(super) mod unlocked {
    use super::black_box;

    /// Puts every byte of the block where it stands.
    pub(in super::super) fn put(block: &mut [u8]) {
        let mut place = 0_usize;
        while let Some(byte) = block.get_mut(black_box(place)) {
            *byte = black_box(*byte);
            place += 1;
        }
    }

    /// Takes every byte out of the block.
    pub(in super::super) fn take(block: &[u8]) {
        let mut place = 0_usize;
        while let Some(character) = block.get(black_box(place)) {
            black_box(*character);
            place += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_byte_stays_what_it_was() {
        let before: Vec<u8> = (0..=255).cycle().take(4096).collect();
        for put in [super::locked::put, super::unlocked::put] {
            let mut block = before.clone();
            put(&mut block);
            assert_eq!(block, before);
        }
        super::locked::take(&before);
        super::unlocked::take(&before);
    }
}
