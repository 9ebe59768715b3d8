//! Where a byte lies: zone, track, cylinder, angle.
//!
//! All angles are times: how long after angle 0 the head passes by, in ns of a
//! revolution. The tracks are unrolled into one *media time*: the moment at
//! which a head that follows the tracks in order, losing nothing but the skews,
//! would pass by a byte. Its remainder by the revolution is the byte's angle,
//! and the difference of two media times is the time that streaming from one
//! to the other takes; being the same integers, the two never disagree.

use super::parameters::HddParameters;
use crate::fixed::Divisor;

/// Tracks of one length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Zone {
    start: u64,
    track_bytes: Divisor,
    first_track: u64,
    /// Media time at the start of the zone, ns.
    media_ns: u64,
}

/// The layout of a disk: a few words per zone, whatever its capacity.
#[derive(Debug, Clone)]
pub struct Geometry {
    revolution: Divisor,
    sector: u64,
    heads: Divisor,
    tracks_per_head: Divisor,
    track_skew_ns: u64,
    /// A run of `tracks_per_head` tracks on one surface, with its skews, ns.
    run: Divisor,
    /// Zones of whole runs on all surfaces, in order.
    zones: Vec<Zone>,
    /// The zone at the start of each stretch of 2^`guess_shift` bytes.
    guesses: Vec<u16>,
    guess_shift: u32,
    capacity: u64,
    cylinders: u64,
}

/// Stretches into which the disk is cut to find a zone, at most.
const GUESSES: u64 = 1024;

/// Where a byte lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Distance of the arm from the rim, tracks.
    pub cylinder: u64,
    /// Which surface.
    pub head: u64,
    /// Media time, ns.
    pub media_ns: u64,
}

/// The first and the last byte of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Where the first byte lies.
    pub first: Place,
    /// Where the last byte lies; its media time is that at which it has passed,
    /// unlike that of the byte behind it without the skew when a track ends.
    pub last: Place,
}

impl Span {
    /// From the start of the first byte to the end of the last, ns.
    pub fn transfer_ns(&self) -> u64 {
        self.last.media_ns - self.first.media_ns
    }
}

struct Track {
    zone: usize,
    /// Within the zone.
    index: u64,
    /// Bytes from the track's start.
    offset: u64,
}

impl Geometry {
    /// Lays out the tracks. Sectors per track are rounded, and zones end with
    /// whole cylinders, so a zone's start and rate are within a track and a
    /// sector of what was asked.
    pub fn new(parameters: &HddParameters) -> Self {
        let tracks_per_head = parameters.tracks_per_head.max(1);
        let heads = parameters.heads.max(1);
        let revolution_ns = parameters.revolution_ns.max(1);
        let run_ns = tracks_per_head * revolution_ns
            + (tracks_per_head - 1) * parameters.track_skew_ns
            + parameters.head_skew_ns;
        let mut geometry = Self {
            revolution: Divisor::new(revolution_ns),
            sector: parameters.logical_sector,
            heads: Divisor::new(heads),
            tracks_per_head: Divisor::new(tracks_per_head),
            track_skew_ns: parameters.track_skew_ns,
            run: Divisor::new(run_ns),
            zones: Vec::with_capacity(parameters.zones.len()),
            guesses: Vec::new(),
            guess_shift: 0,
            capacity: parameters.capacity,
            cylinders: 0,
        };
        let mut start = 0;
        let mut first_track = 0;
        let mut media_ns = 0;
        for (index, zone) in parameters.zones.iter().enumerate() {
            let end = parameters
                .zones
                .get(index + 1)
                .map_or(parameters.capacity, |next| next.start);
            if end <= start {
                continue;
            }
            let per_run = u128::from(zone.bytes_per_s) * u128::from(run_ns) / 1_000_000_000;
            let per_track = per_run as u64 / tracks_per_head;
            let sectors = (per_track + geometry.sector / 2) / geometry.sector;
            let track_bytes = sectors.max(1) * geometry.sector;
            let group = heads * tracks_per_head;
            let groups = (end - start).div_ceil(track_bytes * group);
            geometry.zones.push(Zone {
                start,
                track_bytes: Divisor::new(track_bytes),
                first_track,
                media_ns,
            });
            start += groups * group * track_bytes;
            first_track += groups * group;
            media_ns += groups * heads * run_ns;
        }
        geometry.cylinders = first_track / heads;
        geometry.guess_zones();
        geometry
    }

    fn guess_zones(&mut self) {
        while self.capacity >> self.guess_shift >= GUESSES {
            self.guess_shift += 1;
        }
        let stretches = (self.capacity >> self.guess_shift) + 1;
        self.guesses = (0..stretches)
            .map(|stretch| {
                let byte = stretch << self.guess_shift;
                let zone = self.zones.partition_point(|zone| zone.start <= byte) - 1;
                // A profile has at most 4096 zones.
                zone as u16
            })
            .collect();
    }

    /// One revolution, ns.
    pub fn revolution_ns(&self) -> u64 {
        self.revolution.get()
    }

    /// The angle of a time or a media time, ns after angle 0.
    #[inline]
    pub fn angle_ns(&self, ns: u64) -> u64 {
        self.revolution.divide(ns).1
    }

    /// Number of cylinders.
    pub fn cylinders(&self) -> u64 {
        self.cylinders
    }

    /// Size, bytes.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Bytes of the track that holds `byte`.
    pub fn track_bytes(&self, byte: u64) -> u64 {
        self.zones[self.zone_of(byte)].track_bytes.get()
    }

    /// Bytes of the longest track.
    pub fn track_bytes_max(&self) -> u64 {
        let longest = self.zones.iter().map(|zone| zone.track_bytes.get()).max();
        longest.unwrap_or(1)
    }

    /// Time of a track and the switch to the next, ns, rounded down.
    pub fn track_ns(&self) -> u64 {
        self.run.get() / self.tracks_per_head.get()
    }

    #[inline]
    fn zone_of(&self, byte: u64) -> usize {
        let mut zone = usize::from(self.guesses[(byte >> self.guess_shift) as usize]);
        while self
            .zones
            .get(zone + 1)
            .is_some_and(|next| next.start <= byte)
        {
            zone += 1;
        }
        zone
    }

    #[inline]
    fn track_of(&self, byte: u64) -> Track {
        let zone = self.zone_of(byte);
        let (index, offset) = self.zones[zone]
            .track_bytes
            .divide(byte - self.zones[zone].start);
        Track {
            zone,
            index,
            offset,
        }
    }

    /// Media time `offset` bytes into a track.
    #[inline]
    fn media_of(&self, track: &Track, offset: u64) -> u64 {
        let zone = &self.zones[track.zone];
        let (run, rest) = self.tracks_per_head.divide(track.index);
        let turned = zone.track_bytes.divide(offset * self.revolution.get()).0;
        zone.media_ns
            + run * self.run.get()
            + rest * (self.revolution.get() + self.track_skew_ns)
            + turned
    }

    #[inline]
    fn place_of(&self, track: &Track, offset: u64) -> Place {
        let index = self.zones[track.zone].first_track + track.index;
        let (run, rest) = self.tracks_per_head.divide(index);
        let (group, head) = self.heads.divide(run);
        // Serpentine: the odd surfaces are written from the inside outwards.
        let within = if head & 1 == 0 {
            rest
        } else {
            self.tracks_per_head.get() - 1 - rest
        };
        Place {
            cylinder: group * self.tracks_per_head.get() + within,
            head,
            media_ns: self.media_of(track, offset),
        }
    }

    /// Where `byte` lies; it is below the capacity.
    #[inline]
    pub fn place(&self, byte: u64) -> Place {
        let track = self.track_of(byte);
        self.place_of(&track, track.offset)
    }

    /// Where the ends of `start..end` lie; it is not empty.
    #[inline]
    pub fn span(&self, start: u64, end: u64) -> Span {
        let track = self.track_of(start);
        let first = self.place_of(&track, track.offset);
        let end_offset = track.offset + (end - start);
        let last = if end_offset <= self.zones[track.zone].track_bytes.get() {
            Place {
                media_ns: self.media_of(&track, end_offset),
                ..first
            }
        } else {
            let track = self.track_of(end - 1);
            self.place_of(&track, track.offset + 1)
        };
        Span { first, last }
    }

    /// Media time of `byte`.
    #[inline]
    pub fn media_ns(&self, byte: u64) -> u64 {
        let track = self.track_of(byte);
        self.media_of(&track, track.offset)
    }

    /// Media time at which the last byte before `end` has passed.
    #[inline]
    pub fn media_end_ns(&self, end: u64) -> u64 {
        let track = self.track_of(end - 1);
        self.media_of(&track, track.offset + 1)
    }

    /// The byte, rounded up to a whole sector, that lies at media time
    /// `media_ns` or is the next one behind it.
    pub fn byte_at(&self, media_ns: u64) -> u64 {
        let index = self
            .zones
            .partition_point(|zone| zone.media_ns <= media_ns)
            .max(1)
            - 1;
        let zone = &self.zones[index];
        let (run, within) = self.run.divide(media_ns.saturating_sub(zone.media_ns));
        let step = self.revolution.get() + self.track_skew_ns;
        let rest = (within / step).min(self.tracks_per_head.get() - 1);
        let turned = (within - rest * step).min(self.revolution.get());
        let track_bytes = zone.track_bytes.get();
        let offset = (turned * track_bytes).div_ceil(self.revolution.get());
        let track = run * self.tracks_per_head.get() + rest;
        let byte = zone.start + track * track_bytes + offset;
        byte.next_multiple_of(self.sector).min(self.capacity)
    }
}

#[cfg(test)]
mod tests {
    use super::super::parameters::{
        DestageOrder, ReadAheadParameters, SeekParameters, WriteCacheParameters, ZoneRate,
    };
    use super::*;
    use proptest::prelude::*;

    fn disk(tracks_per_head: u64, heads: u64) -> HddParameters {
        HddParameters {
            capacity: 40_000_000_000,
            logical_sector: 512,
            physical_sector: 512,
            revolution_ns: 8_333_333,
            zones: vec![
                ZoneRate {
                    start: 0,
                    bytes_per_s: 150_000_000,
                },
                ZoneRate {
                    start: 17_000_000_000,
                    bytes_per_s: 100_000_000,
                },
            ],
            heads,
            tracks_per_head,
            track_skew_ns: 700_000,
            head_skew_ns: 900_000,
            head_switch_ns: 800_000,
            seek: SeekParameters {
                base_ns: 1_000_000,
                factor_ns: 100_000,
                exponent: 0.4,
                knee_cylinders: 100,
                full_stroke_ns: 18_000_000,
            },
            positioning_overhead_ns: 0,
            command_overhead_ns: 0,
            bus_bytes_per_s: 300_000_000,
            read_ahead: ReadAheadParameters {
                segment_bytes: 0,
                segments: 0,
                horizon_millitracks: 0,
                resume_ns: 0,
                resume_below: 0,
            },
            write_cache: WriteCacheParameters {
                enabled: false,
                protected: false,
                capacity: 1 << 20,
                threshold: 1 << 20,
                idle_ns: 0,
                order: DestageOrder::Fifo,
            },
            queue_depth: 1,
            age_limit_ns: 0,
        }
    }

    proptest! {
        #[test]
        fn a_media_time_leads_back_to_its_byte(
            tracks_per_head in 1_u64..50,
            heads in 1_u64..12,
            sector in 0_u64..40_000_000_000 / 512,
        ) {
            let geometry = Geometry::new(&disk(tracks_per_head, heads));
            let byte = sector * 512;
            prop_assert_eq!(geometry.byte_at(geometry.media_ns(byte)), byte);
        }

        #[test]
        fn media_time_grows_with_the_bytes_and_a_span_agrees_with_its_ends(
            tracks_per_head in 1_u64..50,
            heads in 1_u64..12,
            start in 0_u64..39_000_000_000,
            len in 1_u64..900_000_000,
        ) {
            let geometry = Geometry::new(&disk(tracks_per_head, heads));
            let end = start + len;
            let span = geometry.span(start, end);
            prop_assert_eq!(span.first, geometry.place(start));
            prop_assert_eq!(span.last.cylinder, geometry.place(end - 1).cylinder);
            prop_assert_eq!(span.last.head, geometry.place(end - 1).head);
            prop_assert_eq!(span.last.media_ns, geometry.media_end_ns(end));
            prop_assert!(span.first.media_ns <= span.last.media_ns);
            prop_assert!(span.last.media_ns <= geometry.media_ns(end));
        }

        #[test]
        fn neighbouring_tracks_are_a_skew_apart(
            tracks_per_head in 1_u64..50,
            heads in 1_u64..12,
            track in 0_u64..5000,
        ) {
            let geometry = Geometry::new(&disk(tracks_per_head, heads));
            let track_bytes = geometry.track_bytes(0);
            let end = (track + 1) * track_bytes;
            let skew = geometry.media_ns(end) - geometry.media_end_ns(end);
            let is_last = (track + 1) % tracks_per_head == 0;
            prop_assert_eq!(skew, if is_last { 900_000 } else { 700_000 });
            let distance = geometry.place(end).cylinder.abs_diff(geometry.place(end - 1).cylinder);
            // Serpentine: the arm never moves further than to the next track,
            // except from the last surface back to the next group.
            prop_assert!(distance <= 1 || is_last);
        }
    }

    #[test]
    fn a_zone_streams_at_its_rate() {
        let geometry = Geometry::new(&disk(10, 4));
        for (start, rate) in [(1_000_000_000, 150e6), (30_000_000_000, 100e6)] {
            let len = 5_000_000_000;
            let seconds = geometry.span(start, start + len).transfer_ns() as f64 / 1e9;
            let got = len as f64 / seconds;
            assert!((got / rate - 1.0).abs() < 0.001, "{got} {rate}");
        }
    }
}
