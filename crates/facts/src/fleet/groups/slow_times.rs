//! Times at which many hosts together were slow, on either side: a backup of the whole site, a busy
//! array behind them. Hosts that were measured then are no observations of their own, so what they
//! have in common is taken away: they are held against each other, as in
//! [`screen`](super::super::screen()), where [`times`] says how such a time is found.

use super::super::cells;
use super::super::times::{self, Centres};
use super::Pair;
use super::side::Look;
use crate::stats;
use diskfacts_record::comparison::SlowHours;
use std::collections::BTreeMap;

/// The logarithm of the factor by which the hosts of a time are slower, or faster, than those of
/// ordinary times, to be held against each other. Smaller ones are chance as often as not, and move
/// the fleet's change by less than is asked for.
const APART_LN: f64 = 0.03;

/// What hosts are held against.
struct Base {
    centres: Centres,
    /// The median of the hosts of ordinary times.
    ordinary: f64,
}

impl Base {
    /// The base of what hosts were slower at these times; `None` without one.
    fn of(values: &[(i64, f64)], members_min: usize) -> Option<Self> {
        let (centres, _) = times::centres(values, members_min)?;
        // What most hosts were measured at.
        let most = stats::median_of(values.iter().map(|(at, _)| centres.at(*at)))?;
        let ordinary = values
            .iter()
            .filter(|(at, _)| (centres.at(*at) - most).abs() < APART_LN);
        Some(Self {
            ordinary: stats::median_of(ordinary.map(|(_, value)| *value))?,
            centres,
        })
    }

    /// By how much the hosts of this time are slower than those of ordinary ones; 0 where it is one.
    fn off(&self, started_s: i64) -> f64 {
        let off = self.centres.at(started_s) - self.ordinary;
        if off.abs() < APART_LN { 0.0 } else { off }
    }
}

/// Takes what hosts of one time have in common from their values, on both sides, and says which
/// times these were, of `members_min` hosts at least.
pub(super) fn apart(pairs: &mut [Pair], members_min: usize) -> Vec<SlowHours> {
    let of_a = bases(pairs, |pair| (&pair.a.looks, -pair.b.slowness), members_min);
    let of_b = bases(pairs, |pair| (&pair.b.looks, -pair.a.slowness), members_min);
    let mut said = Vec::new();
    for (side, bases) in [("A", &of_a), ("B", &of_b)] {
        let looks = pairs.iter().flat_map(|pair| match side {
            "A" => &pair.a.looks,
            _ => &pair.b.looks,
        });
        said.extend(times_of(side, looks, bases));
    }
    for pair in pairs {
        for (value, bases) in [(&mut pair.a, &of_a), (&mut pair.b, &of_b)] {
            for look in &mut value.looks {
                let base = bases.get(&look.number);
                look.slowness -= base.map_or(0.0, |base| base.off(look.started_s));
            }
            let looks = value.looks.iter().map(|look| look.slowness);
            value.level = stats::median_of(looks).unwrap_or(value.slowness);
        }
        pair.slower_ln = pair.b.level - pair.a.level;
    }
    said
}

/// The base of each look of a side.
fn bases(
    pairs: &[Pair],
    side: impl Fn(&Pair) -> (&Vec<Look>, f64),
    members_min: usize,
) -> BTreeMap<usize, Base> {
    let mut looks: BTreeMap<usize, Vec<(i64, f64)>> = BTreeMap::new();
    for pair in pairs {
        let (of_host, other) = side(pair);
        for look in of_host {
            let value = (look.started_s, look.slowness + other);
            looks.entry(look.number).or_default().push(value);
        }
    }
    let bases = looks.into_iter();
    bases
        .filter_map(|(look, values)| Some((look, Base::of(&values, members_min)?)))
        .collect()
}

/// The times of a side at which hosts were slow, or fast, together.
fn times_of<'p>(
    side: &str,
    looks: impl Iterator<Item = &'p Look>,
    bases: &BTreeMap<usize, Base>,
) -> Vec<SlowHours> {
    let mut all: Vec<(i64, f64)> = looks
        .filter_map(|look| Some((look.started_s, bases.get(&look.number)?.off(look.started_s))))
        .collect();
    all.sort_by_key(|(started_s, _)| *started_s);
    let same = |a: &(i64, f64), b: &(i64, f64)| a.1.total_cmp(&b.1).is_eq();
    let times = all.chunk_by(same).filter(|time| time[0].1 != 0.0);
    times
        .map(|time| SlowHours {
            side: side.to_owned(),
            from_s: time[0].0,
            to_s: time[time.len() - 1].0,
            hosts: super::number(time.len()),
            slower: cells::slower(time[0].1),
        })
        .collect()
}
