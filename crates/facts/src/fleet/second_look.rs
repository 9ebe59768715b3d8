//! Who is measured again.
//!
//! Suspects, because a disturbed run can be told from an odd disk by another run only; and peers of
//! theirs, because the second look is at another time, in which all may be slower.

use super::sample::{Member, Peers};
use super::screen::Screen;
use super::verdict::{Outcome, Verdict};
use diskfacts_plan::rng::Rng;
use std::collections::{BTreeMap, BTreeSet};

/// Trials of each stage in the second look: their median then varies by a third of what one trial
/// does.
const TRIALS: u32 = 12;

/// Peers of each kind: their median varies by 0.28 deviations of one disk.
const PEERS: usize = 20;

/// Who is measured again, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecondLook {
    /// Suspects and peers, in the order of the names.
    pub members: Vec<Again>,
    /// Trials of each stage.
    pub trials: u32,
    /// No sooner than this, seconds since 1970, UTC: the last run that was looked at, and the
    /// time that two looks are apart.
    pub not_before_s: i64,
}

/// One disk that is measured again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Again {
    /// Which.
    pub member: Member,
    /// Why.
    pub why: Why,
}

/// Why a disk is measured again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It is slower than its peers.
    Suspect,
    /// It is a peer of a suspect, drawn by chance.
    Peer,
}

/// Suspects, and 20 peers of each of their kinds (all, where there are fewer), drawn by `seed`;
/// nobody where nobody is suspected.
pub fn second_look(screen: &Screen, seed: u64) -> SecondLook {
    look_at(screen, &(0..screen.suspects.len()).collect(), seed)
}

/// The same for those that a verdict leaves undecided.
pub fn look_once_more(screen: &Screen, verdict: &Verdict, seed: u64) -> SecondLook {
    let open = verdict.judged.iter();
    let open = open.filter(|judged| matches!(judged.outcome, Outcome::Undecided(_)));
    let mut again = look_at(screen, &open.map(|judged| judged.suspect).collect(), seed);
    if let Some(last_s) = verdict.last_s {
        let after = last_s.saturating_add(screen.options.apart_s);
        again.not_before_s = again.not_before_s.max(after);
    }
    again
}

/// These suspects and peers of theirs, which are no suspects of any kind.
fn look_at(screen: &Screen, wanted: &BTreeSet<usize>, seed: u64) -> SecondLook {
    let of_suspects: BTreeSet<usize> = wanted.iter().map(|at| screen.suspects[*at].cell).collect();
    let member = |suspect: usize| &screen.value(suspect).member;
    let all: BTreeSet<&Member> = (0..screen.suspects.len()).map(member).collect();
    let suspects: BTreeSet<&Member> = wanted.iter().map(|at| member(*at)).collect();
    // One order for all stages of a group, so that one peer serves in all of them.
    let mut orders: BTreeMap<&Peers, BTreeMap<&Member, u64>> = BTreeMap::new();
    let mut rng = Rng::new(seed);
    for cell in &screen.cells {
        let order = orders.entry(&cell.peers).or_default();
        for value in &cell.values {
            order.entry(&value.member).or_insert_with(|| rng.next_u64());
        }
    }
    let mut peers: BTreeSet<&Member> = BTreeSet::new();
    for cell in of_suspects.into_iter().map(|at| &screen.cells[at]) {
        let order = &orders[&*cell.peers];
        let members = cell.values.iter().map(|value| &value.member);
        let mut others: Vec<&Member> = members.filter(|m| !all.contains(m)).collect();
        others.sort_by_key(|member| order[member]);
        peers.extend(others.into_iter().take(PEERS));
    }
    let again = |members: BTreeSet<&Member>, why| {
        let again = members.into_iter().map(move |member| Again {
            member: member.clone(),
            why,
        });
        again.collect::<Vec<_>>()
    };
    let mut members = again(suspects, Why::Suspect);
    members.extend(again(peers, Why::Peer));
    members.sort_by(|a, b| a.member.cmp(&b.member));
    let values = screen.cells.iter().flat_map(|cell| &cell.values);
    let last = values.map(|value| value.started_s).max().unwrap_or(0);
    SecondLook {
        members,
        trials: TRIALS,
        not_before_s: last.saturating_add(screen.options.apart_s),
    }
}
