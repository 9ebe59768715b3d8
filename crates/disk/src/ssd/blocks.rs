//! Superblocks: what is written where in the flash, and what of it is still
//! true.
//!
//! A drive that begins in its steady state holds data that this simulation
//! never named. Only its amount per block is kept (*ballast*), so that a drive
//! of many terabytes begins at once and takes no memory: overwriting a unit
//! for the first time takes one from the ballast of a block that its number
//! selects, and collecting a block moves its ballast on.

use super::parameters::{SsdParameters, Wear};

/// What a superblock is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Erased.
    Free,
    /// Being filled.
    Open,
    /// Full.
    Full,
    /// Being emptied by the garbage collection.
    Collecting,
}

/// The same block of every die.
#[derive(Debug, Clone)]
pub struct Superblock {
    /// What it is used for.
    pub state: State,
    /// Units written here in this simulation that are still true.
    pub live: u32,
    /// Units of before that are still true.
    pub ballast: u32,
    /// The logical unit written to each place, for those written in this
    /// simulation; empty when none was.
    pub owners: Vec<u32>,
}

impl Superblock {
    /// Units that would have to be moved to erase it.
    pub fn valid(&self) -> u32 {
        self.live + self.ballast
    }
}

/// All superblocks of a drive.
#[derive(Debug, Clone)]
pub struct Blocks {
    blocks: Vec<Superblock>,
    units_per_block: u64,
    free: Vec<usize>,
    /// All ballast, units.
    ballast_units: u64,
}

/// No logical unit: padding, or ballast.
pub const NOBODY: u32 = u32::MAX;

/// Superblocks that a drive in its steady state keeps free.
pub const RESERVE: usize = 2;

impl Blocks {
    /// The flash of a drive in the state it begins in.
    ///
    /// In the steady state of random overwriting with a greedy choice of
    /// victims, the share of true data in the blocks is spread about evenly
    /// from that of the next victim to 1 (Agarwal and Marrow, "A closed-form
    /// expression for write amplification in NAND flash", IEEE GLOBECOM
    /// Workshops 2010: write amplification (1 + p) / 2p for spare factor p).
    pub fn new(parameters: &SsdParameters) -> Self {
        let units_per_block = parameters.units_per_superblock();
        let logical = parameters.capacity / parameters.mapping_unit;
        let physical = logical + logical * parameters.spare_percent / 100;
        // However small the drive: its data, the reserve, and one open
        // superblock each for the host and the garbage collection.
        let least = logical.div_ceil(units_per_block) as usize + RESERVE + 3;
        let count = (physical.div_ceil(units_per_block) as usize).max(least);
        let mut blocks = vec![
            Superblock {
                state: State::Free,
                live: 0,
                ballast: 0,
                owners: Vec::new(),
            };
            count
        ];
        let mut ballast_units = 0;
        let mut free = Vec::new();
        if parameters.wear == Wear::Sustained {
            let full = count - RESERVE - 1;
            let invalid = (full as u64 * units_per_block).saturating_sub(logical);
            let mut left = logical;
            for index in 0..full {
                // Invalid units fall evenly from twice their mean to none.
                let rank = 2 * (full - index) as u64 - 1;
                let squared = (full * full) as u64;
                let gone = u128::from(invalid) * u128::from(rank) / u128::from(squared);
                // At most the invalid units of all blocks, a u64.
                let share = units_per_block.saturating_sub(gone as u64).min(left);
                let block = &mut blocks[scattered(index, full)];
                block.state = State::Full;
                block.ballast = share as u32;
                left -= share;
                ballast_units += share;
            }
            // What rounding left over goes where there is room.
            for block in blocks.iter_mut().take(full) {
                let room = units_per_block - u64::from(block.ballast);
                let more = room.min(left);
                block.ballast += more as u32;
                left -= more;
                ballast_units += more;
            }
            free.extend((full..count).rev());
        } else {
            free.extend((0..count).rev());
        }
        Self {
            blocks,
            units_per_block,
            free,
            ballast_units,
        }
    }

    /// Number of superblocks.
    pub fn count(&self) -> usize {
        self.blocks.len()
    }

    /// Erased superblocks.
    pub fn free_count(&self) -> usize {
        self.free.len()
    }

    /// Units per superblock.
    pub fn units_per_block(&self) -> u64 {
        self.units_per_block
    }

    /// A superblock.
    pub fn block(&self, index: usize) -> &Superblock {
        &self.blocks[index]
    }

    /// Takes an erased superblock to fill.
    pub fn open(&mut self) -> Option<usize> {
        let index = self.free.pop()?;
        let block = &mut self.blocks[index];
        block.state = State::Open;
        block.owners = vec![NOBODY; self.units_per_block as usize];
        Some(index)
    }

    /// Writes `owner` to place `unit` of the open superblock `index`.
    pub fn write(&mut self, index: usize, unit: u64, owner: u32) {
        let block = &mut self.blocks[index];
        block.owners[unit as usize] = owner;
        block.live += 1;
    }

    /// Adds ballast to the open superblock `index`.
    pub fn add_ballast(&mut self, index: usize, units: u32) {
        self.blocks[index].ballast += units;
        self.ballast_units += u64::from(units);
    }

    /// The superblock is full.
    pub fn close(&mut self, index: usize) {
        let block = &mut self.blocks[index];
        block.state = State::Full;
        if block.owners.iter().all(|owner| *owner == NOBODY) {
            block.owners = Vec::new();
        }
    }

    /// A unit written to superblock `index` in this simulation is not true any more.
    pub fn invalidate(&mut self, index: usize) {
        self.blocks[index].live -= 1;
    }

    /// One unit of before is not true any more: which one, its number selects.
    pub fn invalidate_ballast(&mut self, unit: u64) {
        if self.ballast_units == 0 {
            return;
        }
        let mut at = (hash(unit) % self.blocks.len() as u64) as usize;
        while self.blocks[at].ballast == 0 {
            at = (at + 1) % self.blocks.len();
        }
        self.blocks[at].ballast -= 1;
        self.ballast_units -= 1;
    }

    /// `units` units of before are not true any more, spread over the blocks.
    pub fn invalidate_ballast_of_many(&mut self, first: u64, units: u64) {
        let mut left = units.min(self.ballast_units);
        let share = (left / self.blocks.len() as u64 + 1) as u32;
        let mut at = (hash(first) % self.blocks.len() as u64) as usize;
        while left > 0 {
            let block = &mut self.blocks[at];
            let taken = block
                .ballast
                .min(share)
                .min(left.min(u64::from(u32::MAX)) as u32);
            block.ballast -= taken;
            self.ballast_units -= u64::from(taken);
            left -= u64::from(taken);
            at = (at + 1) % self.blocks.len();
        }
    }

    /// The full superblock with the least true data, if erasing it gains any.
    pub fn victim(&self) -> Option<usize> {
        self.blocks
            .iter()
            .enumerate()
            .filter(|(_, block)| block.state == State::Full)
            .min_by_key(|(_, block)| block.valid())
            .filter(|(_, block)| u64::from(block.valid()) < self.units_per_block)
            .map(|(index, _)| index)
    }

    /// The garbage collection begins with a full superblock.
    pub fn begin_collection(&mut self, index: usize) {
        self.blocks[index].state = State::Collecting;
    }

    /// Takes away the ballast of a superblock that is being collected, up to `most`.
    pub fn take_ballast(&mut self, index: usize, most: u32) -> u32 {
        let block = &mut self.blocks[index];
        let taken = block.ballast.min(most);
        block.ballast -= taken;
        self.ballast_units -= u64::from(taken);
        taken
    }

    /// The superblock is erased; nothing in it is true.
    pub fn erase(&mut self, index: usize) {
        let block = &mut self.blocks[index];
        debug_assert_eq!(block.valid(), 0, "erasing what is still needed");
        *block = Superblock {
            state: State::Free,
            live: 0,
            ballast: 0,
            owners: Vec::new(),
        };
        self.free.insert(0, index);
    }

    /// Memory, bytes.
    pub fn bytes(&self) -> usize {
        let owners: usize = self.blocks.iter().map(|block| block.owners.len()).sum();
        self.blocks.len() * size_of::<Superblock>() + owners * size_of::<u32>()
    }
}

/// A place for block `index` of `count`, so that neighbours in age are not
/// neighbours in number.
fn scattered(index: usize, count: usize) -> usize {
    // A step near the golden ratio that has no divisor in common with count.
    let mut step = (count * 5 / 8).max(1);
    while gcd(step, count) != 1 {
        step += 1;
    }
    index * step % count
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Spreads consecutive numbers over 64 bits (the finalizer of `SplitMix64`,
/// Steele, Lea, Flood, OOPSLA 2014).
pub fn hash(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
