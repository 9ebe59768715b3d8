//! A sample of a device's requests, of bounded size: which of them took much longer than most,
//! and whether these lie together.

use diskfacts_record::evidence::Outliers;

/// Requests that are kept at most; then each second is dropped, and of those that come each
/// second is left out.
const KEPT_MAX: usize = 4096;
/// An outlier took so many times the median, as [`Outliers`] says.
const TIMES: u64 = 4;
/// Fewest that are kept: one or two are single events, as hosts have them that do something else.
const LEAST: usize = 3;
/// Fewest that tell a place where they are no few.
const LEAST_OF_PLACE: u64 = 10;
/// The range has all but so many of its outliers: one in ten may be slow for another reason.
const BESIDE: usize = 10;
/// Of slow requests that are no few: the share of those in their range that are slow, at least,
/// and of what was visited that the range is, at most. What is slow by chance lies everywhere.
const SOLID: f64 = 0.9;
const PLACE_MAX: f64 = 0.75;

const SECTOR_BYTES: u64 = 512;

/// The first sector of a request, and how long the device had it.
#[derive(Debug, Clone, Copy)]
struct One {
    sector: u64,
    device_ns: u64,
}

#[derive(Debug)]
pub(super) struct Sample {
    kept: Vec<One>,
    /// One of so many is kept, and until the next one.
    each: u64,
    left: u64,
}

impl Default for Sample {
    fn default() -> Self {
        Self {
            kept: Vec::new(),
            each: 1,
            left: 0,
        }
    }
}

impl Sample {
    pub(super) fn record(&mut self, sector: u64, device_ns: u64) {
        if self.left > 0 {
            self.left -= 1;
            return;
        }
        self.left = self.each - 1;
        self.kept.push(One { sector, device_ns });
        if self.kept.len() == KEPT_MAX {
            let mut place = 0;
            self.kept.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.each *= 2;
            self.left = self.each - 1;
        }
    }

    /// `None` where there are few outliers, or more than are one in four, unless these have a
    /// place of their own.
    pub(super) fn outliers(mut self) -> Option<Outliers> {
        self.kept.sort_unstable_by_key(|one| one.device_ns);
        self.beyond(self.kept.len() / 2)
            .filter(|seen| seen.requests * 4 <= seen.sampled)
            .or_else(|| self.beyond(self.kept.len() / 10).filter(is_solid))
    }

    /// Those that took several times what this one of all did, by the order of their times.
    fn beyond(&self, rank: usize) -> Option<Outliers> {
        let limit_ns = TIMES * self.kept.get(rank)?.device_ns;
        let first = self.kept.partition_point(|one| one.device_ns < limit_ns);
        let (usual, slow) = self.kept.split_at(first);
        if slow.len() < LEAST || usual.is_empty() {
            return None;
        }
        let (from, to) = shortest(slow);
        let sectors = || self.kept.iter().map(|one| one.sector);
        let visited = sectors().max()? - sectors().min()?;
        let mean = |some: &[One]| {
            let sum: f64 = some.iter().map(|one| one.device_ns as f64).sum();
            sum / some.len() as f64
        };
        Some(Outliers {
            sampled: self.kept.len() as u64,
            usual_ns: mean(usual),
            requests: slow.len() as u64,
            device_ns: mean(slow),
            from_bytes: from * SECTOR_BYTES,
            to_bytes: to * SECTOR_BYTES,
            within: sectors().filter(|at| (from..=to).contains(at)).count() as u64,
            visited_bytes: visited * SECTOR_BYTES,
        })
    }
}

/// Whether nearly all in the range of the slow ones are slow, and it is not nearly all.
fn is_solid(seen: &Outliers) -> bool {
    let length = (seen.to_bytes - seen.from_bytes) as f64;
    seen.requests >= LEAST_OF_PLACE
        && seen.requests as f64 >= SOLID * seen.within as f64
        && length <= PLACE_MAX * seen.visited_bytes as f64
}

/// The shortest range of sectors that has all but a few of these.
fn shortest(slow: &[One]) -> (u64, u64) {
    let mut sectors: Vec<u64> = slow.iter().map(|one| one.sector).collect();
    sectors.sort_unstable();
    let most = sectors.len() - sectors.len() / BESIDE;
    let ranges = sectors.windows(most);
    let ends = ranges.map(|range| (range[0], range[most - 1]));
    ends.min_by_key(|(from, to)| to - from).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many requests, all over 64 MiB, of which these are slow.
    fn outliers(number: u64, is_slow: impl Fn(u64, u64) -> bool) -> Option<Outliers> {
        let mut sample = Sample::default();
        for i in 0..number {
            // Each sector of the 131 072 once: the step has no factor in common with them.
            let sector = i * 7919 % 131_072;
            let device_ns = if is_slow(i, sector) {
                20_000_000
            } else {
                500_000
            };
            sample.record(sector, device_ns);
        }
        assert!(sample.kept.len() < KEPT_MAX);
        sample.outliers()
    }

    #[test]
    fn a_slow_place_is_a_range_of_which_all_are_slow() {
        for number in [3_000, 100_000] {
            let slow = 65_536..73_728;
            let found = outliers(number, |_, at| slow.contains(&at)).expect("one in 16");
            assert!(
                found.from_bytes >= 32 << 20 && found.to_bytes <= 36 << 20,
                "{found:?}"
            );
            assert!(found.to_bytes - found.from_bytes > 2 << 20, "{found:?}");
            let all = found.requests as f64 * 0.9 / found.within as f64;
            assert!((0.9..=1.0).contains(&all), "{found:?}");
            assert!((found.device_ns - 2e7).abs() < 1.0 && (found.usual_ns - 5e5).abs() < 1.0);
            assert!(found.visited_bytes > 60 << 20);
        }
    }

    #[test]
    fn what_is_slow_now_and_then_lies_anywhere() {
        // One in 67, and no multiple of any step of the sample.
        let found = outliers(20_000, |i, _| i % 67 == 0).expect("some");
        assert!(found.to_bytes - found.from_bytes > 50 << 20, "{found:?}");
        assert!(found.within > 20 * found.requests, "{found:?}");
    }

    #[test]
    fn one_or_two_and_half_of_all_are_no_outliers() {
        assert_eq!(outliers(3_000, |i, _| i < 2), None);
        assert_eq!(outliers(3_000, |i, _| i < 3).expect("three").requests, 3);
        // Half of a few lie in one half of the device by chance.
        assert_eq!(outliers(12, |_, sector| sector >= 40_000), None);
        assert_eq!(outliers(5_000, |i, _| i % 3 == 0), None);
        assert_eq!(outliers(0, |_, _| true), None);
    }

    #[test]
    fn half_of_all_are_outliers_where_they_have_a_place() {
        let half = outliers(3000, |_, sector| sector >= 65_536).expect("a place");
        assert!((1400..1600).contains(&half.requests), "{half:?}");
        assert!(half.from_bytes >= 32 << 20 && half.device_ns > 4.0 * half.usual_ns);
        assert_eq!(outliers(3000, |i, _| i % 2 == 0), None);
        assert_eq!(outliers(3000, |_, sector| sector >= 13_000), None);
    }
}
