//! What makes one hard disk different from another.

/// A band of tracks with the same number of sectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZoneRate {
    /// First byte of the zone; the first zone starts at 0.
    pub start: u64,
    /// Sustained rate in the zone, track switches included, bytes/s.
    pub bytes_per_s: u64,
}

/// The time of a seek by its distance in cylinders: `base + factor *
/// distance^exponent` up to the knee, then a straight line to the full stroke
/// (the two-part curve of Ruemmler and Wilkes, "An introduction to disk drive
/// modeling", IEEE Computer 27(3), 1994).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeekParameters {
    /// Settling, ns.
    pub base_ns: u64,
    /// Growth, ns at a distance of 1.
    pub factor_ns: u64,
    /// Between 0 and 1.
    pub exponent: f64,
    /// Where the straight line begins, cylinders.
    pub knee_cylinders: u64,
    /// From the first to the last cylinder, ns.
    pub full_stroke_ns: u64,
}

/// What the drive reads on by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadAheadParameters {
    /// How far it reads on behind the last request, bytes; 0 turns it off.
    pub segment_bytes: u64,
    /// How many earlier segments are kept besides the one being filled.
    pub segments: usize,
    /// A request that starts at most this far ahead of the head waits for the
    /// head instead of seeking, thousandths of a track.
    pub horizon_millitracks: u64,
    /// What each small contiguous read costs the stream, ns; it is paid in
    /// whole lost revolutions once one has added up.
    pub resume_ns: u64,
    /// Reads below this many bytes are small.
    pub resume_below: u64,
}

/// In which order the write cache is written to the platters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DestageOrder {
    /// Oldest first.
    Fifo,
    /// The one soonest under the head, of the oldest so many.
    Nearest {
        /// How many of the oldest are looked at, at least 1.
        window: usize,
    },
}

/// The volatile write cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteCacheParameters {
    /// Whether writes are acknowledged from it (WCE).
    pub enabled: bool,
    /// Whether a battery or capacitors save it when the power fails: nothing is
    /// lost with it, so a flush has nothing to do and FUA no reason to wait.
    pub protected: bool,
    /// How much may be dirty, bytes.
    pub capacity: u64,
    /// How much of the data must have arrived before it is written, bytes.
    pub threshold: u64,
    /// Dirty data is written after this much rest, ns.
    pub idle_ns: u64,
    /// In which order.
    pub order: DestageOrder,
}

/// A hard disk.
#[derive(Debug, Clone, PartialEq)]
pub struct HddParameters {
    /// Size, bytes.
    pub capacity: u64,
    /// Smallest unit of a request, bytes.
    pub logical_sector: u64,
    /// Smallest unit that is written to a platter, bytes; where it is larger
    /// than the logical sector (512e), writing a part of one reads it first.
    pub physical_sector: u64,
    /// One revolution, ns.
    pub revolution_ns: u64,
    /// From the rim inwards, at least one.
    pub zones: Vec<ZoneRate>,
    /// Recording surfaces.
    pub heads: u64,
    /// Tracks in a row on one surface before the next surface's turn.
    pub tracks_per_head: u64,
    /// Angle between the ends of neighbouring tracks of a surface, as time, ns.
    pub track_skew_ns: u64,
    /// Angle at a change of the surface, as time, ns.
    pub head_skew_ns: u64,
    /// Change of the surface without a move of the arm, ns.
    pub head_switch_ns: u64,
    /// Moves of the arm.
    pub seek: SeekParameters,
    /// Added to every positioning, ns.
    pub positioning_overhead_ns: u64,
    /// The drive's processor and the host's driver, per command, ns.
    pub command_overhead_ns: u64,
    /// Host interface, bytes/s.
    pub bus_bytes_per_s: u64,
    /// Reading on.
    pub read_ahead: ReadAheadParameters,
    /// Write cache.
    pub write_cache: WriteCacheParameters,
    /// Commands that the drive orders among, 1 to 32.
    pub queue_depth: usize,
    /// A command that the drive has had for longer than this goes first, ns.
    pub age_limit_ns: u64,
}
