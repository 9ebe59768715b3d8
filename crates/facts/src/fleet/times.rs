//! Times at which all disks together were slow: a backup of the whole site, a busy array behind
//! them. Disks are then compared with those that were measured in the same part of the look.
//!
//! The parts are levels of a series, as in [`stats::change_points_among_many`]: of looks at a steady
//! time 4 % at most are given a part of their own, which differs by hardly more than its median varies
//! by chance. The series is not of single disks, of which some are disturbed
//! or odd, but of medians of a few that followed each other; where a part begins is then looked
//! for disk by disk.
//!
//! What is slow together at a time need not be the time: the disks of one rack may have been
//! measured then. It is said, and the second look, at another time, tells.

use super::cells;
use super::screen::SlowTime;
use crate::stats;

/// Disks in one median: two of five may be disturbed.
const BLOCK: usize = 3;

/// Medians in a series at most: finding levels takes the square of it.
const BLOCKS_MAX: usize = 250;

/// Medians in a part at least, as in [`stats::change_points_among_many`].
const PART_BLOCKS: usize = 3;

/// What the standard error of a median is larger by than that of a mean, of normal values
/// (Kendall and Stuart, "The Advanced Theory of Statistics", volume 1, 10.10).
pub(super) const MEDIAN_ERROR: f64 = 1.2533;

/// Standard errors of its median by which a part differs from all to be told.
const ERRORS: f64 = 3.0;

/// Seconds within which disks that are too few for a part are said to be slow together, and how
/// many these are at least.
const TOGETHER_S: i64 = 3600;
const TOGETHER_MIN: usize = 3;

/// What the disks of a cell are held against.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Centres {
    /// The median of all.
    pub(super) all: f64,
    /// When each part began, and its median, in the order of time; empty where there is one.
    parts: Vec<(i64, f64)>,
}

impl Centres {
    /// The centre for what was measured at this time.
    pub(super) fn at(&self, started_s: i64) -> f64 {
        let before = self
            .parts
            .partition_point(|(from_s, _)| *from_s <= started_s);
        // What began before the first part is of the first part.
        let part = self.parts.get(before.saturating_sub(1));
        part.map_or(self.all, |(_, median)| *median)
    }
}

/// The centres of these slownesses and when each was measured, and the times that are unlike
/// the others; `None` without a value. `members_min` is how many disks are compared with each other
/// at least.
pub(super) fn centres(
    values: &[(i64, f64)],
    members_min: usize,
) -> Option<(Centres, Vec<SlowTime>)> {
    let slowness: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    let all = stats::median(&slowness)?;
    let deviation = stats::robust_deviation(&slowness).unwrap_or(0.0);
    let mut in_order = values.to_vec();
    in_order.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let firsts = firsts(&in_order, members_min);
    let mut centres = Centres {
        all,
        parts: Vec::new(),
    };
    let mut slow = Vec::new();
    let ends = firsts.iter().copied().chain([in_order.len()]);
    for (from, to) in std::iter::once(0).chain(firsts.iter().copied()).zip(ends) {
        let part = &in_order[from..to];
        let median = stats::median_of(part.iter().map(|(_, value)| *value))?;
        let error = MEDIAN_ERROR * deviation / (part.len() as f64).sqrt();
        if !firsts.is_empty() {
            centres.parts.push((part[0].0, median));
            if (median - all).abs() > ERRORS * error {
                slow.push(time(part, median - all, true));
            }
        }
    }
    slow.extend(together(&in_order, &centres, ERRORS * deviation));
    Some((centres, slow))
}

fn time(part: &[(i64, f64)], off: f64, compared_within: bool) -> SlowTime {
    SlowTime {
        from_s: part[0].0,
        to_s: part[part.len() - 1].0,
        members: part.len(),
        slower: cells::slower(off),
        compared_within,
    }
}

/// The places at which another part begins, of values in the order of time.
fn firsts(in_order: &[(i64, f64)], members_min: usize) -> Vec<usize> {
    let block = BLOCK
        .max(members_min.div_ceil(PART_BLOCKS))
        .max(in_order.len().div_ceil(BLOCKS_MAX));
    let medians: Vec<f64> = in_order
        .chunks(block)
        .filter_map(|block| stats::median_of(block.iter().map(|(_, value)| *value)))
        .collect();
    let blocks = stats::change_points_among_many(&medians);
    let levels = stats::levels(&medians, &blocks);
    let firsts = blocks.iter().zip(levels.windows(2)).map(|(first, level)| {
        let (from, to) = (
            (first - 1) * block,
            ((first + 1) * block).min(in_order.len()),
        );
        from + begins(&in_order[from..to], level[0], level[1])
    });
    let mut firsts: Vec<usize> = firsts.collect();
    // Two disks that began in one second are in one part.
    for first in &mut firsts {
        while *first < in_order.len() && in_order[*first].0 == in_order[*first - 1].0 {
            *first += 1;
        }
    }
    firsts.retain(|first| *first < in_order.len());
    firsts.dedup();
    firsts
}

/// How many of these are still of the level before: by the least sum of distances. At least one.
fn begins(values: &[(i64, f64)], before: f64, after: f64) -> usize {
    let mut sum = 0.0;
    let mut best = (f64::INFINITY, 1);
    for (place, (_, value)) in values.iter().enumerate() {
        sum += (value - before).abs() - (value - after).abs();
        if sum < best.0 {
            best = (sum, place + 1);
        }
    }
    best.1
}

/// Disks that are slow together and too few for a part of their own: those of an hour, three at
/// least, of which most are farther from the others than `far`.
fn together(in_order: &[(i64, f64)], centres: &Centres, far: f64) -> Vec<SlowTime> {
    let hour = |value: &(i64, f64)| value.0.div_euclid(TOGETHER_S);
    let hours: Vec<&[(i64, f64)]> = in_order.chunk_by(|a, b| hour(a) == hour(b)).collect();
    if hours.len() < 2 {
        return Vec::new();
    }
    let slow = hours.into_iter().filter_map(|part| {
        let off = stats::median_of(part.iter().map(|(at, value)| value - centres.at(*at)))?;
        (part.len() >= TOGETHER_MIN && off > far && off > 1e-9).then(|| time(part, off, false))
    });
    slow.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_plan::rng::Rng;

    /// Disks that differ by 2 %, twenty in each of four hours, those from the 25th to the 44th
    /// slower by so much.
    fn look(slower_ln: f64) -> Vec<(i64, f64)> {
        let mut rng = Rng::new(3);
        let at = |disk: i64| {
            let wobble = 0.04 * rng.unit() - 0.02;
            let slow = (25..45).contains(&disk);
            (disk * 180, wobble + if slow { slower_ln } else { 0.0 })
        };
        (0..80).map(at).collect()
    }

    #[test]
    fn a_slow_time_is_compared_within_and_said_with_its_ends() {
        let (centres, slow) = centres(&look(0.3), 8).unwrap();
        let [time] = slow.as_slice() else {
            panic!("{slow:?}");
        };
        assert_eq!(
            (time.from_s, time.to_s, time.members),
            (25 * 180, 44 * 180, 20)
        );
        assert!(time.compared_within && (time.slower - 0.26).abs() < 0.02);
        assert!((centres.at(30 * 180) - 0.3).abs() < 0.01);
        assert!(centres.at(24 * 180).abs() < 0.01);
        assert!(centres.at(45 * 180).abs() < 0.01);
        assert!(centres.at(-7).abs() < 0.01);
    }

    #[test]
    fn the_ends_are_found_though_a_fifth_of_the_disks_are_disturbed() {
        let mut values = look(0.3);
        for (_, value) in values.iter_mut().step_by(5) {
            *value += 0.4;
        }
        let (_, slow) = centres(&values, 8).unwrap();
        assert_eq!(slow.len(), 1, "{slow:?}");
        assert!((24..=26).contains(&(slow[0].from_s / 180)), "{slow:?}");
        assert!((43..=45).contains(&(slow[0].to_s / 180)), "{slow:?}");
    }

    #[test]
    fn few_disks_that_are_slow_together_are_said_and_a_steady_time_is_not() {
        let mut values = look(0.0);
        values.extend([(36_000, 0.3), (36_001, 0.31), (36_002, 0.29)]);
        let (centres, slow) = centres(&values, 8).unwrap();
        assert_eq!(slow.len(), 1, "{slow:?}");
        assert!(!slow[0].compared_within && slow[0].members == 3);
        assert!(centres.at(36_000).abs() < 0.02);
        let (_, slow) = super::centres(&look(0.0), 8).unwrap();
        assert!(slow.is_empty(), "{slow:?}");
        assert_eq!(super::centres(&[], 8), None);
    }

    #[test]
    fn disks_that_began_at_once_are_of_one_part() {
        let mut values = look(0.3);
        for (at, _) in &mut values {
            *at = 7;
        }
        let (centres, slow) = centres(&values, 8).unwrap();
        assert!(slow.is_empty(), "{slow:?}");
        assert!((centres.at(7) - centres.all).abs() < f64::EPSILON);
    }
}
