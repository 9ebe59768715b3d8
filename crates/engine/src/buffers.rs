//! The memory that operations read into and write from.
//!
//! What is written must be neither compressible nor repeated, or a filesystem
//! or device that compresses or deduplicates is measured doing less. Drawing
//! fresh random bytes for every write would make the generator the limit. So
//! each buffer is filled once, and made new before every write
//! ([`Buffers::renew`]): small blocks by combining all of it with a number of
//! its own, so that neighbours have nothing in common that a compressor finds;
//! large ones by a number in every 4 KiB, which is enough against
//! deduplication, as one block is larger than what is compressed together.

use directio::BufferPool;
use diskfacts_plan::rng::Rng;

/// Blocks up to this are combined as a whole: several of them may lie in one
/// record that a filesystem compresses (128 KiB in btrfs and, usually, ZFS).
const WHOLE_MAX: usize = 128 << 10;
/// Distance of the stamps: no filesystem deduplicates in smaller blocks.
const STAMP_EVERY: usize = 4096;

/// One buffer per slot, aligned for direct I/O unless made otherwise.
pub struct Buffers {
    pool: BufferPool,
    block_size: usize,
    /// Bytes by which each buffer lies behind its aligned address.
    shift: usize,
    next_stamp: u64,
}

impl Buffers {
    /// `depth` buffers of `block_size` bytes, filled from `seed` when they will
    /// be written from.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn new(
        depth: u32,
        block_size: u64,
        alignment: usize,
        fill_from: Option<u64>,
    ) -> Result<Self, directio::Error> {
        Self::shifted(depth, block_size, (alignment, 0), fill_from)
    }

    /// As [`new`](Self::new), each buffer `shift` bytes behind a multiple of
    /// `alignment`.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn shifted(
        depth: u32,
        block_size: u64,
        (alignment, shift): (usize, usize),
        fill_from: Option<u64>,
    ) -> Result<Self, directio::Error> {
        let block_size = usize::try_from(block_size).unwrap_or(usize::MAX);
        let size = block_size.saturating_add(shift);
        let mut pool = BufferPool::new(depth as usize, size, alignment)?;
        let seed = fill_from.unwrap_or(0);
        if fill_from.is_some() {
            let mut rng = Rng::new(seed);
            for slot in 0..depth as usize {
                fill(pool.get_mut(slot), &mut rng);
            }
        }
        Ok(Self {
            pool,
            block_size,
            shift,
            // Seeds that differ in the low bits must not give stamps that meet.
            next_stamp: Rng::new(!seed).next_u64(),
        })
    }

    /// Start of the buffer of a slot.
    #[inline]
    pub fn pointer(&self, slot: u32) -> *mut u8 {
        self.pool.as_mut_ptr(slot as usize).wrapping_add(self.shift)
    }

    /// Bytes of each buffer.
    #[inline]
    pub fn block_size(&self) -> usize {
        self.block_size
    }

    /// All buffers as one region: start and length in bytes.
    pub fn region(&self) -> (*mut u8, usize) {
        self.pool.region()
    }

    /// The buffer of a slot, which must not be in flight.
    pub fn get(&self, slot: u32) -> &[u8] {
        &self.pool.get(slot as usize)[self.shift..]
    }

    /// The buffer of a slot, which must not be in flight.
    #[inline]
    pub fn get_mut(&mut self, slot: u32) -> &mut [u8] {
        &mut self.pool.get_mut(slot as usize)[self.shift..]
    }

    /// Makes the buffer of a slot different from everything written before.
    #[inline]
    pub fn renew(&mut self, slot: u32) {
        // An odd step visits all 2^64 values before any comes again.
        self.next_stamp = self.next_stamp.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let block = &mut self.pool.get_mut(slot as usize)[self.shift..];
        if self.block_size <= WHOLE_MAX {
            combine(block, self.next_stamp);
        } else {
            self.next_stamp = stamp(block, self.next_stamp);
        }
    }
}

/// Combines every eight bytes with `key`; random bytes stay random.
fn combine(block: &mut [u8], key: u64) {
    let key = key.to_ne_bytes();
    let mut words = block.chunks_exact_mut(8);
    for word in &mut words {
        for (byte, key) in word.iter_mut().zip(key) {
            *byte ^= key;
        }
    }
    for (byte, key) in words.into_remainder().iter_mut().zip(key) {
        *byte ^= key;
    }
}

/// Writes numbers from `stamp` on into every 4 KiB; answers the last.
fn stamp(block: &mut [u8], mut stamp: u64) -> u64 {
    for piece in block.chunks_mut(STAMP_EVERY) {
        stamp = stamp.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let bytes = stamp.to_le_bytes();
        let length = piece.len().min(bytes.len());
        piece[..length].copy_from_slice(&bytes[..length]);
    }
    stamp
}

/// Fills with incompressible bytes.
pub fn fill(bytes: &mut [u8], rng: &mut Rng) {
    for chunk in bytes.chunks_mut(8) {
        let random = rng.next_u64().to_le_bytes();
        let length = chunk.len();
        chunk.copy_from_slice(&random[..length]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_4_kib_are_ever_written_twice() {
        for block_size in [4096, 16384, 1 << 20] {
            let mut buffers = Buffers::new(2, block_size, 4096, Some(1)).unwrap();
            let mut seen = HashSet::new();
            for i in 0..40_u32 {
                buffers.renew(i % 2);
                for block in buffers.get(i % 2).chunks(4096) {
                    assert!(seen.insert(block.to_vec()));
                }
            }
        }
    }

    #[test]
    fn blocks_written_one_after_the_other_share_nothing_to_compress() {
        let mut buffers = Buffers::new(1, 4096, 4096, Some(1)).unwrap();
        // What an LZ compressor looks for: four bytes that were there before.
        let mut seen = HashSet::new();
        let (mut repeated, mut all) = (0_u32, 0_u32);
        for _ in 0..32 {
            buffers.renew(0);
            for four in buffers.get(0).windows(4) {
                repeated += u32::from(!seen.insert([four[0], four[1], four[2], four[3]]));
                all += 1;
            }
        }
        // By chance alone about 2 of 131 000; copies would make it nearly all.
        assert!(repeated < 50, "{repeated} of {all}");
    }

    #[test]
    fn filled_buffers_do_not_compress() {
        let buffers = Buffers::new(1, 1 << 20, 4096, Some(7)).unwrap();
        let mut counts = [0_u32; 256];
        for byte in buffers.get(0) {
            counts[usize::from(*byte)] += 1;
        }
        // 4096 of each expected, deviation 64: six deviations.
        assert!(
            counts.iter().all(|n| (3712..4480).contains(n)),
            "{counts:?}"
        );
    }

    #[test]
    fn a_shifted_buffer_lies_so_far_behind_an_aligned_address() {
        let mut buffers = Buffers::shifted(3, 8192, (4096, 1), Some(1)).unwrap();
        for slot in 0..3 {
            buffers.renew(slot);
            let pointer = buffers.pointer(slot);
            assert_eq!(pointer.addr() % 4096, 1);
            assert_eq!(buffers.get(slot).as_ptr().addr(), pointer.addr());
            assert_eq!(buffers.get_mut(slot).len(), 8192);
            let (start, length) = buffers.region();
            assert!(pointer.addr() + 8192 <= start.addr() + length);
        }
    }

    #[test]
    fn blocks_shorter_than_a_stamp_are_stamped_in_full() {
        let mut buffers = Buffers::new(1, 5, 512, Some(1)).unwrap();
        let before = buffers.get(0).to_vec();
        buffers.renew(0);
        assert_ne!(buffers.get(0), before);
    }
}
