//! The runs of several hosts that started together, added up.
//!
//! A [`Member`] is what is needed of one run; a [`Group`] is any number of members of one
//! group, and [`Group::join`] brings two of them together, in whatever order and however
//! often: it is a union, so it is associative and commutative, and a run that comes twice
//! counts once. What they come to ([`Group::merged`]) is worked out of all of them at once.
//!
//! Rates are those of the time in which all hosts measured (with a final sync, from the first start
//! to the last end), and histograms are added. Percentiles, and rates of different times, are never
//! averaged. Figures of different sets of hosts are never
//! mixed either: a trial that not all of the others' hosts did is in none.

mod claims;
mod keyed;
mod member;
mod stage;
mod storage;
#[cfg(test)]
mod tests;
mod trial;
mod window;

pub use claims::NAMES as CLAIMS;
pub use member::{Member, NotAMember};

use diskfacts_record::together::{AgreedBy, LostHost, Merged, MergedHost, VoidTrial};
use diskfacts_record::{SCHEMA, Status};
use member::MemberTrial;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Operations that all histograms of a group may count, so that their sums are numbers.
const COUNT_MAX: u64 = u64::MAX / 2;

/// Runs of one group, each once.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// By host and run, so that nothing depends on the order in which they came.
    members: BTreeMap<(String, String), Member>,
    /// Operations that the histograms of all of them count.
    operations: u64,
}

/// Why runs cannot be added up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// They are of different groups.
    Groups {
        /// Of one.
        one: String,
        /// Of another.
        other: String,
    },
    /// They did not agree on the same trials.
    Agreements {
        /// Name of the group.
        group: String,
        /// A host, and in what it differs from the other.
        one: String,
        /// Another host.
        other: String,
        /// What differs: `the plan`, `the start`.
        what: String,
    },
    /// One id stands for two runs that differ.
    Contradiction {
        /// The id.
        run: String,
    },
    /// Their histograms count more operations than a sum can hold.
    TooMany,
}

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Groups { one, other } => write!(
                formatter,
                "these runs are of two groups, {one} and {other}; name those of one, or give \
                 --group {one}"
            ),
            Self::Agreements {
                group,
                one,
                other,
                what,
            } => write!(
                formatter,
                "{one} and {other} of the group {group} differ in {what}, so their trials are not \
                 the same and cannot be added up; start all hosts with one command, one version \
                 of diskfacts, and one --size"
            ),
            Self::Contradiction { run } => write!(
                formatter,
                "two runs with the id {run} differ; one of the files is older, or damaged"
            ),
            Self::TooMany => write!(
                formatter,
                "these runs count more operations than can be added up; one of the files is \
                 damaged"
            ),
        }
    }
}

impl std::error::Error for Refused {}

impl Group {
    /// A group of one.
    pub fn of(member: Member) -> Self {
        let key = (member.host.clone(), member.run.clone());
        Self {
            operations: member.count(),
            members: BTreeMap::from([(key, member)]),
        }
    }

    /// All of both.
    ///
    /// # Errors
    /// Where they cannot be added up.
    pub fn join(mut self, other: Self) -> Result<Self, Refused> {
        if let Some((one, other)) = self.first().zip(other.first()) {
            check(one, other)?;
        }
        for (key, member) in other.members {
            match self.members.get(&key) {
                None => {
                    self.operations = self.operations.saturating_add(member.count());
                    self.members.insert(key, member);
                }
                Some(known) if *known == member => {}
                Some(_) => return Err(Refused::Contradiction { run: key.1 }),
            }
        }
        if self.operations > COUNT_MAX {
            return Err(Refused::TooMany);
        }
        Ok(self)
    }

    fn first(&self) -> Option<&Member> {
        self.members.values().next()
    }

    /// What they come to, where so many hosts are expected at least. `None` of no member, which
    /// no group is.
    pub fn merged(&self, expected: Option<u32>) -> Option<Merged> {
        self.merged_without(expected, &[])
    }

    /// The same, where these hosts were lost when all was measured: those of them whose runs did not
    /// come are missing, and no run that did says who they are.
    pub fn merged_without(&self, expected: Option<u32>, missing: &[LostHost]) -> Option<Merged> {
        let first = self.first()?;
        let names = names(&self.members);
        let members: Vec<(&str, &Member)> = names
            .iter()
            .map(String::as_str)
            .zip(self.members.values())
            .collect();
        let lost = lost(&members, missing);
        let known = u32::try_from(members.len()).unwrap_or(u32::MAX);
        let here: BTreeSet<&str> = members.iter().map(|(name, _)| *name).collect();
        let is_here = |lost: &&LostHost| here.contains(&*lost.host);
        let elsewhere = lost.iter().filter(|lost| !is_here(lost)).count();
        let elsewhere = u32::try_from(elsewhere).unwrap_or(u32::MAX);
        let ranks = members
            .iter()
            .filter_map(|(_, member)| member.together.rank);
        let of_ranks = ranks.map(|rank| rank.of).max().unwrap_or(0);
        let counted = known.saturating_add(elsewhere);
        let hosts_expected = counted.max(of_ranks).max(expected.unwrap_or(0));
        let incomplete = u32::try_from(lost.len()).unwrap_or(u32::MAX) - elsewhere;
        let mut merged = Merged {
            schema: SCHEMA,
            group: first.together.group.clone(),
            agreed_by: first.together.agreed_by,
            start: first.together.start.clone(),
            agreement: first.together.agreement.clone(),
            layout: first.together.layout,
            shift: first.together.shift,
            plan: first.plan.clone(),
            tool_version: first.tool_version.clone(),
            hosts_expected,
            hosts_complete: known - incomplete,
            hosts_unnamed: hosts_expected - counted,
            lost,
            hosts: members
                .iter()
                .map(|(name, member)| host(name, member))
                .collect(),
            stages: stage::stages(&members),
            findings: Vec::new(),
        };
        merged.findings = claims::all(&merged);
        Some(merged)
    }
}

/// Whether the trials of two hosts are the same.
fn check(one: &Member, other: &Member) -> Result<(), Refused> {
    let (a, b) = (&one.together, &other.together);
    if a.group != b.group {
        return Err(Refused::Groups {
            one: a.group.clone(),
            other: b.group.clone(),
        });
    }
    let mut differs = Vec::new();
    if one.tool_version != other.tool_version {
        differs.push(format!(
            "the version of diskfacts ({} and {})",
            one.tool_version, other.tool_version
        ));
    }
    if a.agreed_by != b.agreed_by {
        differs.push("the way in which they agreed".to_owned());
    }
    if a.start != b.start {
        differs.push(format!("the start ({} and {})", a.start, b.start));
    }
    // By messages it is said anew before each trial, and who is lost does not hear of the others.
    let is_known_before = a.agreed_by == AgreedBy::Clock;
    let agreed = |member: &Member| -> Vec<_> {
        let trials = member.together.trials.iter();
        trials
            .map(|t| {
                (
                    t.order,
                    t.stage.clone(),
                    t.settings.clone(),
                    t.number,
                    is_known_before.then_some(t.at_ns),
                    t.length_ns,
                )
            })
            .collect()
    };
    if differs.is_empty() && (a.agreement != b.agreement || agreed(one) != agreed(other)) {
        differs.push(format!(
            "the plan as it fits their targets ({} and {})",
            a.agreement, b.agreement
        ));
    }
    if differs.is_empty() {
        return Ok(());
    }
    Err(Refused::Agreements {
        group: a.group.clone(),
        one: one.host.clone(),
        other: other.host.clone(),
        what: differs.join(" and "),
    })
}

/// What the members are called: by their hosts, and with the run's id where two have one name.
fn names(members: &BTreeMap<(String, String), Member>) -> Vec<String> {
    let mut alike: BTreeMap<&str, usize> = BTreeMap::new();
    for (host, _) in members.keys() {
        *alike.entry(host).or_default() += 1;
    }
    let name = |(host, run): &(String, String)| {
        if alike[&**host] > 1 {
            format!("{host} ({run})")
        } else {
            host.clone()
        }
    };
    members.keys().map(name).collect()
}

/// Hosts that are missing, as the members or these say, or did not come to the end, each once.
fn lost(members: &[(&str, &Member)], missing: &[LostHost]) -> Vec<LostHost> {
    let mut lost = BTreeSet::new();
    for (name, member) in members {
        if let Some(left) = member.trials.iter().find(|trial| trial.is_left()) {
            lost.insert(LostHost {
                host: (*name).to_owned(),
                from_order: Some(left.agreed.order),
                why: why_left(member.status).to_owned(),
                rank: member.together.rank.map(|rank| rank.rank),
            });
        }
    }
    let mut named: BTreeSet<String> = lost.iter().map(|lost| lost.host.clone()).collect();
    // While they measured, hosts of one name were told apart by their ranks, and not by their runs.
    let of_rank: BTreeMap<u32, &str> = members
        .iter()
        .filter_map(|(name, member)| Some((member.together.rank?.rank, *name)))
        .collect();
    let of_members = members.iter().flat_map(|(_, member)| &member.together.lost);
    let is_here = |lost: &&LostHost| lost.rank.is_some_and(|rank| of_rank.contains_key(&rank));
    for other in of_members.chain(missing.iter().filter(|lost| !is_here(lost))) {
        let here = other.rank.and_then(|rank| of_rank.get(&rank));
        let host = here.map_or_else(|| other.host.clone(), |name| (*name).to_owned());
        if named.insert(host.clone()) {
            lost.insert(LostHost {
                host,
                ..other.clone()
            });
        }
    }
    lost.into_iter().collect()
}

fn why_left(status: Status) -> &'static str {
    match status {
        Status::Running => "its run was killed, or has not ended yet",
        Status::Interrupted => "its run was stopped by a signal",
        Status::Failed => "its run failed",
        Status::Complete => "its run ended without them",
    }
}

fn host(name: &str, member: &Member) -> MergedHost {
    let is_done = |trial: &&MemberTrial| trial.done.is_some() && trial.agreed.void.is_none();
    let done = member.trials.iter().filter(is_done).count();
    let void = member.trials.iter().filter_map(|trial| {
        Some(VoidTrial {
            stage: trial.label(),
            number: trial.agreed.number,
            why: trial.agreed.void.clone()?,
            kind: trial.agreed.void_kind,
        })
    });
    let errors = member
        .trials
        .iter()
        .map(|trial| trial.agreed.clock_error_ns);
    MergedHost {
        host: name.to_owned(),
        run: member.run.clone(),
        status: member.status,
        target: member.target.clone(),
        storage: member.storage.as_ref().map(|storage| storage.name.clone()),
        storage_is_unique: member.storage.as_ref().is_some_and(|s| s.is_unique),
        boot_id: member.boot_id.clone(),
        rank: member.together.rank.map(|rank| rank.rank),
        kernel: member.kernel.clone(),
        clock_error_ns: errors.max().unwrap_or(0),
        trials: u32::try_from(done).unwrap_or(u32::MAX),
        void: void.collect(),
    }
}
