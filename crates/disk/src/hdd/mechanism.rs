//! Arm and spindle: how long it takes until the head is over a byte.

use super::geometry::{Geometry, Place};
use super::parameters::HddParameters;
use super::seek::SeekCurve;

/// How the head gets to the start of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Approach {
    /// The drive's own work before the arm moves, ns.
    pub overhead_ns: u64,
    /// The move of the arm or the switch of the head, ns.
    pub seek_ns: u64,
    /// Until the sector comes round, ns; less than a revolution.
    pub rotation_ns: u64,
}

impl Approach {
    /// The whole, ns.
    #[inline]
    pub fn total_ns(&self) -> u64 {
        self.overhead_ns + self.seek_ns + self.rotation_ns
    }
}

/// The position of the arm, and what moves it.
#[derive(Debug, Clone)]
pub struct Mechanism {
    /// Where the bytes are.
    pub geometry: Geometry,
    curve: SeekCurve,
    positioning_overhead_ns: u64,
    head_switch_ns: u64,
    /// How far the platters had turned at time 0, ns.
    phase_ns: u64,
    cylinder: u64,
    head: u64,
    /// The byte behind the last access and the moment it ended: streaming on
    /// from there loses nothing.
    behind: (u64, u64),
    /// Media time at which that access ended.
    behind_media_ns: u64,
}

impl Mechanism {
    /// A drive with the arm at the rim.
    pub fn new(parameters: &HddParameters) -> Self {
        let geometry = Geometry::new(parameters);
        let curve = SeekCurve::new(&parameters.seek, geometry.cylinders());
        Self {
            geometry,
            curve,
            positioning_overhead_ns: parameters.positioning_overhead_ns,
            head_switch_ns: parameters.head_switch_ns,
            phase_ns: 0,
            cylinder: 0,
            head: 0,
            behind: (u64::MAX, 0),
            behind_media_ns: 0,
        }
    }

    /// Sets how far the platters had turned at time 0, ns.
    pub fn turn(&mut self, phase_ns: u64) {
        self.phase_ns = phase_ns;
    }

    /// The way to `place` for an arm that leaves at `now_ns`.
    #[inline]
    pub fn approach(&self, now_ns: u64, place: &Place) -> Approach {
        let distance = self.cylinder.abs_diff(place.cylinder);
        let (overhead_ns, seek_ns) = if distance > 0 {
            let seek_ns = self.curve.time_ns(distance);
            let seek_ns = if place.head == self.head {
                seek_ns
            } else {
                seek_ns.max(self.head_switch_ns)
            };
            (self.positioning_overhead_ns, seek_ns)
        } else if place.head == self.head {
            (0, 0)
        } else {
            (self.positioning_overhead_ns, self.head_switch_ns)
        };
        Approach {
            overhead_ns,
            seek_ns,
            rotation_ns: self.rotation_ns(now_ns + overhead_ns + seek_ns, place.media_ns),
        }
    }

    /// The way to `byte` at `place`, for a head that has just passed the byte
    /// before it: only the skew when a track ended, whatever a switch takes
    /// otherwise, because that is what the skew is there for.
    #[inline]
    pub fn approach_from_behind(&self, now_ns: u64, byte: u64, place: &Place) -> Approach {
        if self.behind == (byte, now_ns) {
            Approach {
                seek_ns: place.media_ns - self.behind_media_ns,
                ..Approach::default()
            }
        } else {
            self.approach(now_ns, place)
        }
    }

    /// From `now_ns` until the angle of media time `media_ns` comes round.
    #[inline]
    fn rotation_ns(&self, now_ns: u64, media_ns: u64) -> u64 {
        let angle_ns = self.geometry.angle_ns(media_ns);
        let phase_ns = self.geometry.angle_ns(now_ns + self.phase_ns);
        if angle_ns >= phase_ns {
            angle_ns - phase_ns
        } else {
            angle_ns + self.geometry.revolution_ns() - phase_ns
        }
    }

    /// The head is over `place` now.
    pub fn move_to(&mut self, place: &Place) {
        self.cylinder = place.cylinder;
        self.head = place.head;
    }

    /// The head has passed the last byte before `end`, which lies at `last`,
    /// at `now_ns`.
    #[inline]
    pub fn passed(&mut self, end: u64, last: &Place, now_ns: u64) {
        self.move_to(last);
        self.behind = (end, now_ns);
        self.behind_media_ns = last.media_ns;
    }
}
