//! What makes one flash drive different from another.

/// Single-level-cell cache of a consumer drive: a part of the flash that is
/// written fast, one bit per cell, and folded into the rest when the drive rests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlcParameters {
    /// How much fits, bytes.
    pub capacity: u64,
    /// Program of a page in it, ns.
    pub program_ns: u64,
    /// How fast it is emptied at rest, bytes/s.
    pub fold_bytes_per_s: u64,
}

/// What the drive went through before the simulation begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wear {
    /// Nothing written, or all of it trimmed.
    Fresh,
    /// Written full, then overwritten at random until the garbage collection
    /// has come to a steady state.
    Sustained,
}

/// A flash drive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SsdParameters {
    /// Size, bytes.
    pub capacity: u64,
    /// Smallest unit of a request, bytes.
    pub logical_sector: u64,
    /// Smallest unit that the map places, bytes; a smaller write reads the
    /// rest of it first.
    pub mapping_unit: u64,
    /// Channels between controller and flash.
    pub channels: u64,
    /// Dies on each channel.
    pub dies_per_channel: u64,
    /// What one die programs at once, all its planes, bytes.
    pub page: u64,
    /// Such pages in a block of a die.
    pub pages_per_block: u64,
    /// Flash beyond the capacity, in percent of the capacity.
    pub spare_percent: u64,
    /// Reading a page into the die's register, ns.
    pub read_ns: u64,
    /// Programming a page, ns.
    pub program_ns: u64,
    /// Erasing a block, ns.
    pub erase_ns: u64,
    /// To let a read pass before a program or an erase, ns; without it the
    /// read waits for its end.
    pub suspend_ns: Option<u64>,
    /// One channel, bytes/s.
    pub channel_bytes_per_s: u64,
    /// Host interface, each direction, bytes/s.
    pub link_bytes_per_s: u64,
    /// Latency of the processor and the host's driver, per command, ns.
    pub command_ns: u64,
    /// Least time between two commands, whatever they are, ns.
    pub command_interval_ns: u64,
    /// Write buffer, bytes.
    pub write_buffer: u64,
    /// Whether capacitors save the write buffer in a power cut.
    pub power_loss_protection: bool,
    /// A flush beyond the programs it waits for, ns.
    pub flush_ns: u64,
    /// Fast cache of a consumer drive.
    pub slc: Option<SlcParameters>,
    /// Commands taken in at a time.
    pub queue_depth: u32,
    /// State at the start.
    pub wear: Wear,
}

impl SsdParameters {
    /// Number of dies.
    pub fn dies(&self) -> u64 {
        self.channels * self.dies_per_channel
    }

    /// Mapping units in a page.
    pub fn units_per_page(&self) -> u64 {
        self.page / self.mapping_unit
    }

    /// Mapping units in a block of every die, which are written, collected and
    /// erased together.
    pub fn units_per_superblock(&self) -> u64 {
        self.units_per_page() * self.pages_per_block * self.dies()
    }
}
