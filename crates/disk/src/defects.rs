//! Places of the media that are worse than the rest: planted, not drawn.

use crate::completion::IoError;
use crate::device::Extent;

/// A sector that is read only after some tries, or never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WeakSector {
    /// First byte of the sector.
    pub offset: u64,
    /// How often it is tried again before it is read or given up.
    pub retries: u32,
    /// Whether it can be read at all in the end.
    pub readable: bool,
}

/// A range that takes longer to read and write than its neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlowZone {
    /// Which bytes.
    pub extent: Extent,
    /// Time for a transfer in it, in percent of the usual; above 100.
    pub time_percent: u64,
}

/// What an access cost beyond the usual.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extra {
    /// Tries beyond the first.
    pub retries: u32,
    /// Time owed for the slow zones that were crossed, ns.
    pub slow_ns: u64,
    /// The sector that could not be read.
    pub error: Option<IoError>,
}

/// All bad places of a medium.
#[derive(Debug, Clone, Default)]
pub struct Defects {
    weak: Vec<WeakSector>,
    slow: Vec<SlowZone>,
    sector: u64,
}

impl Defects {
    /// The bad places of a medium with sectors of `sector` bytes.
    pub fn new(mut weak: Vec<WeakSector>, slow: Vec<SlowZone>, sector: u64) -> Self {
        weak.sort_by_key(|weak| weak.offset);
        Self { weak, slow, sector }
    }

    /// What must not be read unless it is asked for.
    pub fn extents(&self) -> Vec<Extent> {
        let weak = self.weak.iter().map(|weak| Extent {
            start: weak.offset,
            end: weak.offset + self.sector,
        });
        let slow = self.slow.iter().map(|slow| slow.extent);
        weak.chain(slow).collect()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.weak.is_empty() && self.slow.is_empty()
    }

    /// What reading `range`, which usually takes `usual_ns`, costs on top.
    pub fn read(&self, range: Extent, usual_ns: u64) -> Extra {
        let mut extra = Extra {
            slow_ns: self.slow_ns(range, usual_ns),
            ..Extra::default()
        };
        for weak in &self.weak {
            let sector = Extent {
                start: weak.offset,
                end: weak.offset + self.sector,
            };
            if sector.overlaps(&range) {
                extra.retries += weak.retries;
                if !weak.readable {
                    let offset = weak.offset;
                    extra.error = Some(IoError::Unrecoverable { offset });
                    break;
                }
            }
        }
        extra
    }

    /// What the slow zones add to `usual_ns` over `range`, ns.
    pub fn slow_ns(&self, range: Extent, usual_ns: u64) -> u64 {
        let mut slow_ns = 0;
        for zone in &self.slow {
            if zone.extent.overlaps(&range) {
                let common = zone.extent.end.min(range.end) - zone.extent.start.max(range.start);
                let share = u128::from(usual_ns) * u128::from(common) / u128::from(range.len());
                let more = share * u128::from(zone.time_percent.saturating_sub(100)) / 100;
                // At most a planted multiple of a transfer: far below 2^64 ns.
                slow_ns += more as u64;
            }
        }
        slow_ns
    }

    /// Writing `range` gives its weak sectors a new place; gives back which.
    pub fn heal(&mut self, range: Extent) -> Vec<u64> {
        let covered = |weak: &WeakSector| {
            range.start <= weak.offset && weak.offset + self.sector <= range.end
        };
        let healed = self
            .weak
            .iter()
            .filter(|weak| covered(weak))
            .map(|weak| weak.offset)
            .collect();
        self.weak.retain(|weak| !covered(weak));
        healed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_zone_costs_in_proportion_to_what_is_read_of_it() {
        let zone = SlowZone {
            extent: Extent {
                start: 1000,
                end: 2000,
            },
            time_percent: 300,
        };
        let defects = Defects::new(Vec::new(), vec![zone], 100);
        let half = Extent {
            start: 500,
            end: 1500,
        };
        assert_eq!(defects.read(half, 60).slow_ns, 60);
        assert_eq!(
            defects.slow_ns(
                Extent {
                    start: 0,
                    end: 1000
                },
                60
            ),
            0
        );
    }

    #[test]
    fn a_weak_sector_is_healed_only_by_writing_all_of_it() {
        let weak = WeakSector {
            offset: 400,
            retries: 5,
            readable: false,
        };
        let mut defects = Defects::new(vec![weak], Vec::new(), 100);
        let around = Extent { start: 0, end: 450 };
        assert_eq!(
            defects.read(around, 1).error,
            Some(IoError::Unrecoverable { offset: 400 })
        );
        assert!(defects.heal(around).is_empty());
        assert_eq!(
            defects.heal(Extent {
                start: 400,
                end: 500
            }),
            [400]
        );
        assert_eq!(defects.read(around, 1), Extra::default());
    }
}
