//! A run is a row of steps, each of which takes what the one before made:
//!
//! | step | makes | and if the run ends there |
//! | --- | --- | --- |
//! | [`refuse`] | `Accepted`: a call that is not wrong | settings that dead runs had left changed are put back, and nothing else was touched |
//! | [`reserve`] | `Reserved`: target, control group, settings tried and in the journal, store | `Held` undoes it, in the order of its fields |
//! | [`fill`] | `Filled`: content, and the plan as it fits it | the same; a file of ours is gone with its content |
//! | [`begin`] | `Begun`: the run is in the store | the same; the store has a run without trials |
//! | [`measure`] | `Tried`: the trials, each stored when it ended, and those that test claims ([`test_claims`]) | the same; the store has the trials so far |
//! | [`put_back`] | `PutBack`: the settings are as before | nothing is changed any more |
//! | [`conclude`] | [`Ended`]: what follows from the trials | |
//!
//! After SIGKILL the watchdog puts the settings back, and removes the control groups (of the
//! memory limit, of the I/O weight) and the trace instance; a run that changes no settings
//! has none, and leaves the groups, empty, to `restore`, and the trace instance to the next
//! run. The kernel takes away a file without a name and the loop device over it. A file with
//! a name (btrfs), and the folders `.diskfacts-files-*` of stages on files, stay until the
//! next run there.

mod around;
mod begin;
mod cache_proof;
mod conclude;
mod copy;
mod fill;
mod fit;
mod foreseen;
mod health;
mod io_priority;
mod io_weight;
mod kernel;
mod leftovers;
mod measure;
mod memory;
mod observing;
#[cfg(test)]
mod planted;
mod precondition;
mod put_back;
mod refuse;
mod reserve;
mod schedule;
mod settings;
mod test_claims;
mod together;
mod trial;
mod values;
mod write_back;

use crate::args::{CacheProof, Common, StartArgs};
use crate::exit::{Exit, Failure};
use crate::progress::Seen;
use crate::signals::Signals;
pub(crate) use conclude::conclude_document;
pub(crate) use copy::{CopyRequest, copy};
use diskfacts_host::{Roots, machine};
use diskfacts_plan::rng::Rng;
use diskfacts_plan::{Plan, sha256};
use diskfacts_record::{Labels, Machine, Membership, Run};
use jiff::Timestamp;
use refuse::Accepted;
use reserve::Reserved;
use std::path::{Path, PathBuf};
pub(crate) use test_claims::Testing;
pub(crate) use together::{GATHERED_HOSTS_MAX, Gathered, LaunchedGroup};

/// What to do.
pub(crate) struct Request<'a> {
    /// The target as it was given.
    pub(crate) target: &'a Path,
    /// The plan, with only the stages and as many trials as are wanted.
    pub(crate) plan: Plan,
    /// Whether the plan is one of ours, which adapts to its target.
    pub(crate) built_in: bool,
    /// How long all of it may take, nanoseconds.
    pub(crate) time_ns: u64,
    /// Size of the file that is made in a folder.
    pub(crate) size: Option<u64>,
    /// Whether a loop device is made over it.
    pub(crate) looped: bool,
    /// How the page cache is kept from serving, if not as the plan says.
    pub(crate) cache_proof: Option<CacheProof>,
    /// Which of the claims that follow are tested.
    pub(crate) testing: Testing,
    /// The uses that a verdict was asked for.
    pub(crate) uses: &'a [String],
    /// Seed of all random choices, if not drawn.
    pub(crate) seed: Option<u64>,
    /// Whose data may be destroyed.
    pub(crate) destroy_data_on: Option<&'a Path>,
    /// What the run is called.
    pub(crate) labels: Labels,
    /// When it starts with other hosts, if it does.
    pub(crate) start: &'a StartArgs,
    /// What it belongs to.
    pub(crate) membership: Membership,
    /// How much is to be seen while it measures.
    pub(crate) seen: Seen,
    /// Where to store it.
    pub(crate) common: &'a Common,
}

/// A run that has ended.
pub(crate) struct Ended {
    pub(crate) run: Run,
    /// How to exit, when a signal ended it early.
    pub(crate) stopped: Option<Exit>,
    /// Where it is stored.
    pub(crate) store: PathBuf,
    /// Why not all of it is.
    pub(crate) not_stored: Option<Failure>,
}

/// Makes a run: of this host alone or by its clock, or with a group that speaks with each other.
pub(crate) fn run(
    request: &Request<'_>,
    signals: &Signals,
    mut group: Option<&mut LaunchedGroup>,
) -> Result<Ended, Failure> {
    let rank = group.as_ref().map(|group| group.rank());
    let accepted = Accepted::of(request, rank);
    let reserved = accepted.and_then(|accepted| accepted.reserve(signals));
    let mut reserved = match &mut group {
        None => reserved?,
        Some(group) => reserved_by_all(request, reserved, group)?,
    };
    let meeting = group.as_ref().and_then(|group| group.meeting()).cloned();
    if let Some(group) = &mut group {
        reserved.share(group)?;
    }
    let filled = match &mut group {
        Some(group) if reserved.accepted.placement().is_some() => {
            reserved.filled_by_all(group, signals)
        }
        _ => reserved.fill(signals),
    };
    let begun = match filled.and_then(|filled| filled.begin(meeting.as_ref())) {
        Ok(begun) => begun,
        Err(failure) => {
            return Err(match group {
                Some(group) => group.fails_with(failure),
                None => failure,
            });
        }
    };
    let tried = begun.measure(request.testing, signals, group.as_deref_mut());
    if let Some((group, broken)) = group.zip(tried.how.broken.as_ref()) {
        group.fail(broken);
    }
    let put_back = tried.put_back();
    Ok(put_back.conclude(request.uses, signals))
}

/// What this host has reserved, once all hosts of its group have theirs.
fn reserved_by_all<'a>(
    request: &Request<'_>,
    reserved: Result<Reserved<'a>, Failure>,
    group: &mut LaunchedGroup,
) -> Result<Reserved<'a>, Failure> {
    let machine = machine(&Roots::default());
    let name = request.membership.group.as_deref().unwrap_or_default();
    let no_agreement = || Failure::failed("--together came to no agreement");
    let ready = match &reserved {
        Ok(reserved) => match &reserved.agreement {
            Some(agreement) => {
                let storage = together::storage_of(&reserved.held.stack);
                let shares_files = reserved.accepted.placement().is_some();
                Ok((agreement, storage, shares_files))
            }
            None => return Err(no_agreement()),
        },
        Err(failure) => Err(failure),
    };
    group.introduce(&machine, name, ready)?;
    reserved
}

/// A seed that no other run has, from the clock and the process.
fn drawn(now: Timestamp) -> u64 {
    let nanoseconds = now.as_nanosecond().unsigned_abs();
    // The low half varies fastest; the seed only has to differ.
    Rng::for_part(nanoseconds as u64, u64::from(std::process::id())).next_u64() >> 11
}

/// Sorts by time; runs of the same second differ by their moment, their process and their host,
/// because hosts of a fleet are started together, with one seed, and in containers as process 1.
pub(crate) fn id(now: Timestamp, machine: &Machine, seed: u64) -> String {
    let of = format!(
        "{} {} {:?} {:?} {seed}",
        now.as_nanosecond(),
        std::process::id(),
        machine.host,
        machine.boot_id,
    );
    let digest = sha256::digest(of.as_bytes());
    let tail = sha256::hex(&digest[..4]);
    format!("{}-{tail}", now.strftime("%Y%m%d-%H%M%S"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_begin_in_one_moment_with_one_seed_and_process_id_have_runs_of_their_own() {
        let now = Timestamp::UNIX_EPOCH;
        let on = |host: &str, boot: &str| Machine {
            host: Some(host.to_owned()),
            boot_id: Some(boot.to_owned()),
            ..Machine::default()
        };
        // Containers of one machine, and machines of one name.
        let machines = [on("c1", "a"), on("c2", "a"), on("c1", "b")];
        let ids: std::collections::BTreeSet<String> =
            machines.iter().map(|machine| id(now, machine, 7)).collect();
        assert_eq!(ids.len(), 3, "{ids:?}");
        for id in ids {
            assert!(diskfacts_record::labels::is_like_an_id(&id), "{id}");
            assert!(id.starts_with("19700101-000000-") && id.len() == 24, "{id}");
        }
    }
}
