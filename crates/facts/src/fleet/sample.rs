//! What a fleet's files hold of one stage of one run.

use diskfacts_record::comparison::Measure;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// One stage of one run of one host.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Who was measured.
    pub member: Member,
    /// Id of the run.
    pub run: String,
    /// When the run began, seconds since 1970, UTC.
    pub started_s: i64,
    /// What must be equal to be peers.
    pub peers: Arc<Peers>,
    /// Label of the stage, with its settings where there are any.
    pub stage: String,
    /// What the values are.
    pub measure: Measure,
    /// Its trials, in their order.
    pub trials: Vec<TrialSample>,
}

/// A disk, filesystem or volume of a host: what is judged.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Member {
    /// Name of the host.
    pub host: String,
    /// Which machine, where several have this name; else absent, whatever is known of it.
    pub machine: Option<String>,
    /// What was measured there, as its path or name.
    pub target: String,
}

impl Member {
    /// The host as it is called, by a part of the id of its machine where several have its name:
    /// `localhost (machine 3f2a91c0)`.
    pub fn name(&self) -> Cow<'_, str> {
        match &self.machine {
            None => Cow::Borrowed(&self.host),
            Some(machine) => {
                let part: String = machine.chars().take(8).collect();
                Cow::Owned(format!("{} (machine {part})", self.host))
            }
        }
    }
}

/// The key of [`Peers`] under which the plan is known: runs of one plan stand for older ones of it.
pub(super) const PLAN: &str = "plan";

/// The key of [`Peers`] under which the size of diskfacts' own file is known, as far as the plan reaches.
pub(super) const FILE: &str = "file";

/// What must be equal to be peers, by name: `model`, `link`, `kernel`, `plan`. Where a key is
/// unknown of a disk it is left out, so that it has no peers among those that know it. The [file](Self::file)
/// alone is no matter of that: the plan has its size already, and older files of a fleet have no such key.
#[derive(Debug, Clone, Default)]
pub struct Peers(pub BTreeMap<String, String>);

impl Peers {
    /// What has to be equal.
    fn conditions(&self) -> impl Iterator<Item = (&String, &String)> {
        self.0.iter().filter(|(key, _)| *key != FILE)
    }

    /// The plan, as far as it is known. The newest run of a disk by a plan stands for those before.
    pub fn plan(&self) -> Option<&String> {
        self.0.get(PLAN)
    }

    /// The size of the file that was made in a folder, as far as the plan reaches in it, as `--size` takes
    /// it: `4GiB`.
    pub fn file(&self) -> Option<&str> {
        self.0.get(FILE).map(String::as_str)
    }
}

impl PartialEq for Peers {
    fn eq(&self, other: &Self) -> bool {
        self.conditions().eq(other.conditions())
    }
}

impl Eq for Peers {}

impl PartialOrd for Peers {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Peers {
    fn cmp(&self, other: &Self) -> Ordering {
        self.conditions().cmp(other.conditions())
    }
}

impl Hash for Peers {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.conditions()
            .for_each(|condition| condition.hash(state));
    }
}

/// One trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialSample {
    /// Its value, in the unit of the measure. One that is not above 0, or no number, is left out.
    pub value: f64,
    /// What is known to have disturbed it; it is left out then.
    pub disturbed: Option<Disturbance>,
}

/// What is known to have disturbed a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Disturbance {
    /// Others used the same devices.
    OtherIo,
    /// The hypervisor gave processor time to others.
    StolenTime,
    /// Its threads were ready to run, and others had the processors.
    ProcessorWait,
    /// Operations failed.
    Errors,
}

impl Disturbance {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::OtherIo,
        Self::StolenTime,
        Self::ProcessorWait,
        Self::Errors,
    ];

    /// The word that files have for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::OtherIo => "other-io",
            Self::StolenTime => "stolen-time",
            Self::ProcessorWait => "processor-wait",
            Self::Errors => "errors",
        }
    }

    /// The one that files call so.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.word() == word)
    }
}

/// Peers below which nothing is claimed, unless somebody asks for more.
pub(super) const PEERS_MIN: usize = 8;

/// What is asked of the statistics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// How much slower a disk has to be to be odd, as a share in 0..1: 0.1 is 10 %.
    pub least: f64,
    /// Peers that a disk has at least, besides itself, for a claim; 4 or more.
    pub peers_min: usize,
    /// The share of wrong ones that is accepted among those called odd, in 0..1.
    pub false_discoveries: f64,
    /// Seconds between two looks below which the second is no look at another time.
    pub apart_s: i64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            least: 0.1,
            peers_min: PEERS_MIN,
            false_discoveries: 0.05,
            apart_s: 3600,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn runs_that_an_older_version_added_are_peers_of_those_that_know_their_file() {
        let of = |keys: &[(&str, &str)]| {
            let keys = keys.iter().map(|(key, value)| (*key, *value));
            Peers(
                keys.map(|(key, value)| (key.to_owned(), value.to_owned()))
                    .collect(),
            )
        };
        let older = of(&[("model", "m"), (PLAN, "survey")]);
        let newer = of(&[(FILE, "4GiB"), ("model", "m"), (PLAN, "survey")]);
        let other = of(&[(FILE, "4GiB"), ("model", "n"), (PLAN, "survey")]);
        assert_eq!(older, newer);
        assert_eq!(older.cmp(&newer), Ordering::Equal);
        assert_ne!(newer, other);
        assert_ne!(newer.cmp(&other), Ordering::Equal);
        let known = HashSet::from([older]);
        assert!(known.contains(&newer) && !known.contains(&other));
    }
}
