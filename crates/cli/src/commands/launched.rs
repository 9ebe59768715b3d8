//! Commands that a launcher of MPI started, several times at once.

use super::together;
use crate::args::{Common, StartArgs};
use crate::exit::{Exit, Failure, OrFail, say};
use crate::session::{Ended, GATHERED_HOSTS_MAX, Gathered, LaunchedGroup};
use crate::signals::Signals;
use diskfacts_facts::together::Group;
use diskfacts_gang::launcher::{Launcher, launcher};
use diskfacts_store::{Store, dfrun};

/// The launcher that started several of this process, if one did.
fn seen() -> Option<Launcher> {
    launcher(|name| std::env::var(name).ok())
}

/// Refuses what was started several times at once and is not to measure together: strangers to
/// each other in one folder.
///
/// # Errors
/// With what to type.
pub(super) fn refuse_strangers(remedy: &str) -> Result<(), Failure> {
    let Some(launcher) = seen().filter(|launcher| launcher.size != Some(1)) else {
        return Ok(());
    };
    let times = match launcher.size {
        Some(size) => format!("{size} times"),
        None => "perhaps several times".to_owned(),
    };
    Err(Failure::wrong_call(format!(
        "{} started this {times} ({}),\nand they would disturb each other unseen;\n{remedy}",
        launcher.name, launcher.evidence
    )))
}

/// The group that this process is of, if it is to measure together; its root says whom it waits
/// for, if it `tells`.
///
/// # Errors
/// Where nobody started several, MPI is not there or does not fit, or it was not said what is
/// meant.
pub(super) fn group(
    args: &StartArgs,
    tells: bool,
    signals: &Signals,
) -> Result<Option<LaunchedGroup>, Failure> {
    if !args.together {
        if !args.alone && args.start_at.is_none() {
            refuse_strangers(
                "add --together to measure as one group and add up what they get,\n\
                 or --alone where each is meant to measure by itself",
            )?;
        }
        return Ok(None);
    }
    let launcher = seen().ok_or_else(|| {
        Failure::wrong_call(
            "--together: no launcher of MPI started this process, so there are no others;\n\
             start it by one: mpirun -n 8 --host c1,c2,... diskfacts measure ... --together,\n\
             or srun -N8 --ntasks-per-node=1 --mpi=pmix diskfacts measure ... --together.\n\
             Without MPI hosts start at a moment: --start-at 13:00:00Z --group NAME",
        )
    })?;
    let (at_least, several) = (args.at_least, args.several_per_host);
    LaunchedGroup::start(launcher, at_least, several, tells, signals).map(Some)
}

/// Brings the runs of all hosts to the root, which prints what they come to.
///
/// # Errors
/// Where they cannot be added up or printed.
pub(super) fn add_up(
    group: &mut LaunchedGroup,
    ended: &Ended,
    json: bool,
    common: &Common,
) -> Result<Exit, Failure> {
    let own = file_of(ended)?;
    let gathered = group.gather(&own);
    if !group.is_root() || ended.stopped.is_some() {
        return Ok(Exit::Done);
    }
    let missing = group.missing_hosts();
    // Where so many are lost that the group could not go on, there is nobody to gather from.
    let gathered = match gathered {
        Some(gathered) => gathered,
        None if !missing.is_empty() => Gathered {
            runs: own,
            hosts: 1,
        },
        None => return Ok(Exit::Failed),
    };
    let (members, hosts) = read(&gathered.runs)?;
    // A host may be lost when all is measured: what came is added up, and the others are missing.
    let Some(merged) = members
        .filter(|_| hosts == gathered.hosts)
        .and_then(|members| members.merged_without(Some(group.size()), &missing))
    else {
        say(&format!(
            "diskfacts: the runs of {hosts} of {} hosts came to this one: of more than\n\
             {GATHERED_HOSTS_MAX} hosts, or of runs too large for a message, files are added up.\n\
             Measure with --out FOLDER on storage that all hosts see, and type\n\
             `diskfacts together FOLDER/*.dfrun --expect {}`",
            gathered.hosts,
            group.size()
        ));
        return Ok(if gathered.hosts == group.size() {
            Exit::Done
        } else {
            Exit::Failed
        });
    };
    together::page(&merged, json, common)
}

/// The group that a file of runs is, and how many there are.
fn read(runs: &[u8]) -> Result<(Option<Group>, u32), Failure> {
    let mut members: Option<Group> = None;
    let mut hosts = 0_u32;
    if !runs.is_empty() {
        for parcel in dfrun::Reader::new(runs) {
            let parcel = parcel.map_err(|error| {
                Failure::failed(format!(
                    "what a host sent of its run cannot be read: {error}"
                ))
            })?;
            members = Some(together::joined(members.take(), &parcel.run, "a run")?);
            hosts += 1;
        }
    }
    Ok((members, hosts))
}

/// The stored run as a file, in memory.
fn file_of(ended: &Ended) -> Result<Vec<u8>, Failure> {
    if ended.not_stored.is_some() {
        return Ok(Vec::new());
    }
    let store = Store::open_existing(&ended.store).or_failed()?;
    let kept = store.kept(&ended.run.run.id).or_failed()?;
    let mut file = Vec::new();
    dfrun::write(&mut file, &kept, (1, 1)).or_failed()?;
    Ok(file)
}
