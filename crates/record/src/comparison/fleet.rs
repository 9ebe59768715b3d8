//! What a comparison of two groups of a fleet says of its hosts.

use super::Measure;
use crate::unsaid;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The hosts of two groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FleetComparison {
    /// The group that is compared with.
    pub a: FleetSide,
    /// The group that is compared.
    pub b: FleetSide,
    /// Hosts that are in both groups: those that figures are of.
    pub hosts: u32,
    /// Hosts of one group alone, which are in no figure, in the order of the names.
    pub only_in_a: Vec<HostName>,
    /// The same of the other.
    pub only_in_b: Vec<HostName>,
    /// Each stage that both groups have, in the order of `stages` of the comparison.
    pub stages: Vec<StageOfHosts>,
    /// Comparisons of a host with the others among which movers were looked for.
    pub tests: u32,
    /// The share of wrong ones that is accepted among those that are said to have moved, in 0..1.
    pub false_discoveries: f64,
}

/// One group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetSide {
    /// Name of the group.
    pub group: String,
    /// Its hosts, those of one group alone included.
    pub hosts: u32,
    /// Its runs.
    pub runs: u32,
    /// When the first of them began, seconds since 1970, UTC.
    pub from_s: i64,
    /// When the last of them began.
    pub to_s: i64,
    /// Times at which it was measured: parted by an hour in which no run began.
    pub looks: u32,
    /// Trials that were left out because something is known to have disturbed them, by what.
    pub trials_left_out: BTreeMap<String, u64>,
}

/// A host as it is called, and what was measured there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct HostName {
    /// Name of the host.
    pub host: String,
    /// The target's path, or its name.
    pub target: String,
}

/// A stage, host by host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageOfHosts {
    /// Its label.
    pub stage: String,
    /// What the values are.
    pub measure: Measure,
    /// How much the change of one host differs from that of the next, as a share: a standard
    /// deviation by the median absolute deviation. Absent below two hosts.
    pub spread: Option<f64>,
    /// Hosts that moved by themselves, the most first; absent where hosts are too few to tell.
    pub movers: Option<Vec<Mover>>,
    /// Each host that has a figure on both sides, in the order of the names.
    pub pairs: Vec<HostChange>,
    /// Hosts of both groups that are not in this stage's figure.
    pub without: Vec<WithoutFigure>,
    /// Times at which many hosts together were slow, or fast: they were held against each other.
    pub times: Vec<SlowHours>,
}

/// A time of one side at which many hosts together were unlike those of other times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlowHours {
    /// `A` or `B`.
    pub side: String,
    /// When the first of them began, seconds since 1970, UTC.
    pub from_s: i64,
    /// When the last of them began.
    pub to_s: i64,
    /// How many there were.
    pub hosts: u32,
    /// How much slower they were, as a share; below 0 where they were faster.
    #[serde(deserialize_with = "unsaid::number")]
    pub slower: f64,
}

/// A host in one stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostChange {
    /// Which.
    #[serde(flatten)]
    pub name: HostName,
    /// Its value in `a`: the median of its runs' medians.
    #[serde(deserialize_with = "unsaid::number")]
    pub a: f64,
    /// Its value in `b`.
    #[serde(deserialize_with = "unsaid::number")]
    pub b: f64,
    /// `b` over `a` less 1.
    #[serde(deserialize_with = "unsaid::number")]
    pub change: f64,
}

/// A host whose change is unlike that of the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mover {
    /// Which.
    #[serde(flatten)]
    pub name: HostName,
    /// Its own change: `b` over `a` less 1.
    #[serde(deserialize_with = "unsaid::number")]
    pub change: f64,
    /// What of that is its own: its ratio over that of the other hosts, less 1.
    #[serde(deserialize_with = "unsaid::number")]
    pub beyond: f64,
    /// Whether it is worse, compared with the others.
    pub worse: bool,
    /// Times at which the side that is to be explained was measured: the later one of a host that
    /// is worse, the earlier one of a host that is better.
    pub looks: u32,
    /// What it is.
    pub moved: Moved,
    /// The share of wrong ones among all that are said to have moved, if this one is (Benjamini
    /// and Hochberg); absent of one look, which cannot tell.
    pub q: Option<f64>,
}

/// What a host is whose change is unlike that of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Moved {
    /// It is so in each of several looks, and ordinary hosts are that seldom.
    ByItself,
    /// A disturbed run looks the same: another look decides.
    Suspect,
}

/// A host that a stage has no pair of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WithoutFigure {
    /// Which.
    #[serde(flatten)]
    pub name: HostName,
    /// Why, a few words.
    pub why: String,
}
