//! Which disk is of which of two kinds, where several stages see the same two.
//!
//! In one stage a slow disk of the faster kind cannot be told from a disk of the slower kind. Over
//! several stages it can: two generations of a drive differ by another factor in each, while what
//! disturbs a run makes all of its stages slower alike, and what is odd does so in all of them or
//! in a few. So a disk is of the generation whose pattern it has:
//! * by the least sum of squares of what is left of its figures without the medians of a
//!   generation and without what they share, where the patterns differ enough for that;
//! * else by the most of the stages.

use super::kinds::Kinds;
use crate::stats;

/// Share of the disks on which two stages have to agree to say that they see the same kinds.
const AGREE: f64 = 0.9;

/// Stages that have to agree before one of them is overruled.
const STAGES_MIN: usize = 3;

/// Deviations of a disk by which the patterns of two generations differ at least, to tell it by
/// its pattern: of disks that are half way from one to the other by chance alone there is one in 740.
const DEVIATIONS: f64 = 6.0;

/// One stage, and what it sees by itself.
pub(super) struct StageKinds {
    /// The disk of each value, by number.
    pub(super) members: Vec<usize>,
    /// The values; more is slower.
    pub(super) slowness: Vec<f64>,
    /// Of which kind each is.
    pub(super) kinds: Kinds,
}

/// A stage that sees the same two kinds as the others.
struct Agreeing {
    /// Its place.
    at: usize,
    /// 1 where its faster kind is the slower one of the stage that all are held against.
    flipped: usize,
    /// The median of either generation.
    medians: [f64; 2],
    /// Standard deviation of a disk within its generation.
    deviation: f64,
}

/// Lets the stages of one group of peers agree on which disk is of which generation, where at least
/// three of them have two kinds each, and these are the same but for a few disks.
pub(super) fn agree(stages: &mut [StageKinds]) {
    let agreeing = agreeing(stages);
    if agreeing.len() < STAGES_MIN {
        return;
    }
    let generations = generations(stages, &agreeing);
    for stage in agreeing {
        let StageKinds { members, kinds, .. } = &mut stages[stage.at];
        for (member, kind) in members.iter().zip(&mut kinds.of) {
            if let Some(generation) = generations[*member] {
                *kind = generation ^ stage.flipped;
            }
        }
    }
}

/// The stages that see the same two kinds as the first that sees two.
fn agreeing(stages: &[StageKinds]) -> Vec<Agreeing> {
    let mut known: Vec<Option<usize>> = Vec::new();
    let mut agreeing = Vec::new();
    for (at, stage) in stages.iter().enumerate() {
        if stage.kinds.number != 2 {
            continue;
        }
        let of = || stage.members.iter().zip(&stage.kinds.of);
        let last = stage.members.iter().max().map_or(0, |last| last + 1);
        known.resize(last.max(known.len()), None);
        if agreeing.is_empty() {
            for (member, kind) in of() {
                known[*member] = Some(*kind);
            }
        }
        let both: Vec<bool> = of()
            .filter_map(|(member, kind)| Some(known[*member]? == *kind))
            .collect();
        let same = both.iter().filter(|same| **same).count() as f64;
        let all = both.len() as f64;
        let flipped = if same >= AGREE * all {
            0
        } else if same <= (1.0 - AGREE) * all {
            1
        } else {
            continue;
        };
        let side = |generation: usize| {
            let of = stage.slowness.iter().zip(&stage.kinds.of);
            let of = of.filter(move |(_, kind)| **kind ^ flipped == generation);
            of.map(|(value, _)| *value).collect::<Vec<f64>>()
        };
        let sides = [side(0), side(1)];
        let [Some(first), Some(second)] = [stats::median(&sides[0]), stats::median(&sides[1])]
        else {
            continue;
        };
        let deviation = |side: &[f64]| stats::robust_deviation(side).unwrap_or(0.0);
        agreeing.push(Agreeing {
            at,
            flipped,
            medians: [first, second],
            deviation: deviation(&sides[0]).max(deviation(&sides[1])),
        });
    }
    agreeing
}

/// The generation of each disk; `None` where the stages are divided.
fn generations(stages: &[StageKinds], agreeing: &[Agreeing]) -> Vec<Option<usize>> {
    let members = agreeing.iter().flat_map(|stage| &stages[stage.at].members);
    let number = members.max().map_or(0, |last| last + 1);
    // Of each disk, what is left of its figures without the medians of either generation; and how
    // many stages more have it in the second one.
    let mut left: Vec<[Vec<f64>; 2]> = vec![[Vec::new(), Vec::new()]; number];
    let mut votes = vec![0_i64; number];
    for stage in agreeing {
        let of = &stages[stage.at];
        for ((member, slowness), kind) in of.members.iter().zip(&of.slowness).zip(&of.kinds.of) {
            votes[*member] += if kind ^ stage.flipped == 1 { 1 } else { -1 };
            for (left, median) in left[*member].iter_mut().zip(stage.medians) {
                left.push(slowness - median);
            }
        }
    }
    let deviations = agreeing.iter().map(|stage| stage.deviation);
    let deviation = deviations.fold(0.0, f64::max);
    let by_vote = |votes: i64| match votes {
        0 => None,
        votes => Some(usize::from(votes > 0)),
    };
    let of = left.iter().zip(votes).map(|([first, second], votes)| {
        let between: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
        let patterns_differ = squares(&between).sqrt() > DEVIATIONS * deviation;
        if first.len() >= STAGES_MIN && patterns_differ {
            Some(usize::from(squares(second) < squares(first)))
        } else {
            by_vote(votes)
        }
    });
    of.collect()
}

/// The sum of squares around the mean.
fn squares(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fifty disks in three stages, the last twenty of another generation, which is slower by
    /// 20 % and 30 % and faster in the third; `change` may do something to some.
    fn stages(change: impl Fn(usize, &mut [f64; 3])) -> Vec<StageKinds> {
        let mut columns = [Vec::new(), Vec::new(), Vec::new()];
        for disk in 0..50_usize {
            let wobble = (disk * 7 % 11) as f64 * 0.004;
            let mut figures = if disk < 30 {
                [wobble, wobble, wobble + 0.15]
            } else {
                [wobble + 0.223, wobble + 0.357, wobble]
            };
            change(disk, &mut figures);
            for (column, figure) in columns.iter_mut().zip(figures) {
                column.push(figure);
            }
        }
        let stage = |slowness: Vec<f64>| StageKinds {
            members: (0..50).collect(),
            kinds: Kinds::of(&slowness, &[0; 50], 8),
            slowness,
        };
        columns.map(stage).into()
    }

    /// The generation of a disk, by each stage's own kinds.
    fn kinds(stages: &[StageKinds], disk: usize) -> Vec<usize> {
        stages.iter().map(|stage| stage.kinds.of[disk]).collect()
    }

    #[test]
    fn each_disk_is_of_its_generation_in_all_stages() {
        let mut stages = stages(|_, _| ());
        agree(&mut stages);
        for disk in 0..50 {
            let expected = if disk < 30 { [0, 0, 1] } else { [1, 1, 0] };
            assert_eq!(kinds(&stages, disk), expected, "{disk}");
        }
    }

    #[test]
    fn a_disk_as_slow_as_the_other_generation_in_one_stage_or_disturbed_in_all_keeps_its_own() {
        let mut stages = stages(|disk, figures| match disk {
            3 => figures[0] += 0.223,
            4 => figures.iter_mut().for_each(|figure| *figure += 0.223),
            5 => figures.iter_mut().for_each(|figure| *figure += 0.35),
            _ => {}
        });
        // By themselves, the stages see slow disks of the wrong generation.
        assert_eq!(kinds(&stages, 3), [1, 0, 1]);
        assert_eq!(kinds(&stages, 5), [1, 1, 1]);
        agree(&mut stages);
        for disk in 3..6 {
            assert_eq!(kinds(&stages, disk), [0, 0, 1], "{disk}");
        }
    }

    #[test]
    fn stages_that_see_other_kinds_are_left_as_they_are() {
        let mut stages = stages(|_, _| ());
        // The second stage parts the disks in another way.
        stages[1].kinds.of = (0..50).map(|disk| disk % 2).collect();
        let before: Vec<Kinds> = stages.iter().map(|stage| stage.kinds.clone()).collect();
        agree(&mut stages);
        let after: Vec<Kinds> = stages.into_iter().map(|stage| stage.kinds).collect();
        assert_eq!(before, after);
    }
}
