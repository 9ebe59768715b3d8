//! Where the later looks at a fleet begin.
//!
//! A pause in which nobody begins a run parts two looks. The last look is a later one, and so is
//! each one right before it that did the same: measured disks of which runs were known, a part of all
//! there were, and those of the last look. What lies before these is the first look: the whole fleet,
//! also where it was measured in several nights (each of which has other disks) or in every
//! night (each of which has all of them).

use std::collections::BTreeSet;

/// Whether so many are nearly all of these: three quarters, as hosts are down at times, and 20
/// peers of a small fleet are most of it.
fn are_nearly_all(part: usize, of: usize) -> bool {
    part * 4 >= of * 3
}

/// When the later looks begin, of runs in the order of time: when each began, in seconds, and the
/// number of its disk. `None` where there is one look alone.
pub(super) fn later_from(runs: &[(i64, u32)], apart_s: i64) -> Option<i64> {
    let near = |a: &(i64, u32), b: &(i64, u32)| b.0 - a.0 < apart_s;
    let mut known: BTreeSet<u32> = BTreeSet::new();
    let mut looks = Vec::new();
    for look in runs.chunk_by(near) {
        let disks: BTreeSet<u32> = look.iter().map(|(_, disk)| *disk).collect();
        let again = disks.intersection(&known).count();
        let is_part = are_nearly_all(again, disks.len()) && !are_nearly_all(again, known.len());
        known.extend(&disks);
        looks.push((look[0].0, disks, is_part));
    }
    let (last_s, last, _) = looks.pop()?;
    let is_later = |(_, disks, is_part): &&(i64, BTreeSet<u32>, bool)| {
        let both = disks.intersection(&last).count();
        *is_part && are_nearly_all(both, disks.len().min(last.len()))
    };
    let later = looks.iter().rev().take_while(is_later).last();
    (!looks.is_empty()).then(|| later.map_or(last_s, |(from_s, ..)| *from_s))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::Range;

    /// A look of these disks each day, ten minutes from disk to disk. The day that the later looks
    /// begin on, from 0.
    fn later(looks: &[Range<u32>]) -> Option<i64> {
        let runs = (0..).zip(looks).flat_map(|(day, disks)| {
            let began_s = (day * 86_400..).step_by(600);
            began_s.zip(disks.clone())
        });
        let runs: Vec<(i64, u32)> = runs.collect();
        later_from(&runs, 3600).map(|from_s| {
            assert_eq!(from_s % 86_400, 0, "a look begins with its first run");
            from_s / 86_400
        })
    }

    #[test]
    fn all_looks_at_a_part_of_the_fleet_are_later_ones() {
        assert_eq!(later(&[0..100, 0..25]), Some(1));
        assert_eq!(later(&[0..100, 0..25, 0..25]), Some(1));
        // Who is decided is not measured once more.
        assert_eq!(later(&[0..100, 0..40, 5..28, 8..28]), Some(1));
        // All once more, behind a look at some.
        assert_eq!(later(&[0..100, 0..25, 0..100]), Some(1));
    }

    #[test]
    fn the_first_look_is_the_last_one_at_the_whole_fleet() {
        assert_eq!(later(&[]), None);
        let all = 0..100;
        assert_eq!(later(&[all]), None);
        assert_eq!(later(&[0..100, 0..100]), Some(1));
        assert_eq!(later(&[0..100, 0..100, 3..100]), Some(2));
        assert_eq!(later(&[0..100, 0..25, 0..97, 0..25, 0..25]), Some(3));
    }

    #[test]
    fn parts_of_a_fleet_that_is_measured_in_several_nights_are_no_later_looks() {
        assert_eq!(later(&[0..60, 60..100, 40..80]), Some(2));
        // A few that were down.
        assert_eq!(later(&[0..95, 95..100, 90..100, 80..100]), Some(2));
        let thirds = [0..30, 30..60, 60..90];
        let some = 20..70;
        let nights = [&thirds[..], &thirds[..], &[some]].concat();
        assert_eq!(later(&nights), Some(6));
    }
}
