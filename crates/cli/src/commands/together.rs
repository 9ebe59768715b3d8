//! `diskfacts together RUN|FILE...`: the runs of hosts that started together, added up.

use super::print;
use crate::args::{Common, TogetherArgs};
use crate::exit::{Exit, Failure, OrFail, say};
use crate::named::{self, InFile, Named, is_document};
use crate::{look, storing};
use diskfacts_facts::together::{Group, Member};
use diskfacts_record::Run;
use diskfacts_record::together::Merged;
use diskfacts_report::text::Closing;
use diskfacts_report::{json, text};
use std::path::Path;

const NONE_YET: &str = "no run is stored here; name the files that were fetched from the hosts, as \
                        in `diskfacts together results/*.dfrun`";

pub(crate) fn run(args: &TogetherArgs, common: &Common) -> Result<Exit, Failure> {
    let merged = merged(&args.runs, args.group.as_deref(), args.expect, common)?;
    page(&merged, args.json, common)
}

/// What named runs come to, or the stored ones of a group; of runs and a group those that are of it.
pub(super) fn merged(
    runs: &[String],
    group: Option<&str>,
    expect: Option<u32>,
    common: &Common,
) -> Result<Merged, Failure> {
    let wanted = Wanted {
        group,
        group_so_far: None,
    };
    let so_far = wanted.read(runs, common)?;
    so_far
        .and_then(|group| group.merged(expect))
        .ok_or_else(|| {
            Failure::wrong_call(format!(
                "none of these runs is of the group {}; without --group all that are named are \
                 added up",
                group.unwrap_or_default()
            ))
        })
}

/// Prints what runs come to, and says how to exit.
pub(super) fn page(merged: &Merged, is_json: bool, common: &Common) -> Result<Exit, Failure> {
    let text = if is_json {
        json::together(merged)
    } else {
        text::together(
            merged,
            &closing(merged, common),
            &look::of_stdout(common.color),
        )
    };
    print(&text)?;
    if merged.hosts_complete < merged.hosts_expected {
        say(&format!(
            "diskfacts: {} of {} hosts did all that was agreed on",
            merged.hosts_complete, merged.hosts_expected
        ));
        return Ok(Exit::Failed);
    }
    let sound = |stage: &diskfacts_record::together::MergedStage| stage.iops.trials > 0;
    if !merged.stages.iter().all(sound) {
        say("diskfacts: a stage has no trial that counts, so it has no rate; it says why");
        return Ok(Exit::Failed);
    }
    Ok(Exit::Done)
}

/// Which runs are added up, and those that were read so far.
struct Wanted<'a> {
    group: Option<&'a str>,
    group_so_far: Option<Group>,
}

impl Wanted<'_> {
    /// All runs that were named, one after the other: of each what is needed is kept.
    fn read(mut self, runs: &[String], common: &Common) -> Result<Option<Group>, Failure> {
        let mut stored = Named::new(common);
        for name in runs {
            if is_document(name) {
                self.of_file(Path::new(name))?;
            } else {
                self.take(&stored.run(name, NONE_YET)?, name)?;
            }
        }
        if runs.is_empty()
            && let Some(group) = self.group
        {
            let store = storing::existing(common)?;
            let store = store.ok_or_else(|| Failure::wrong_call(NONE_YET))?;
            let ids = store.ids_together(group).or_failed()?;
            if ids.is_empty() {
                return Err(Failure::wrong_call(format!(
                    "no run of a group {group} is stored in {}; name the files that were fetched \
                     from the hosts, as in `diskfacts together results/*.dfrun`",
                    store.path().display()
                )));
            }
            for id in ids {
                self.take(&store.load(&id).or_failed()?, &id)?;
            }
        }
        Ok(self.group_so_far)
    }

    fn of_file(&mut self, path: &Path) -> Result<(), Failure> {
        let shown = path.display().to_string();
        match named::in_file(path)? {
            Some(InFile::Printed(run)) => self.take(&run, &shown),
            Some(InFile::Whole(parcels)) => {
                for parcel in *parcels {
                    self.take(&parcel?.run, &shown)?;
                }
                Ok(())
            }
            None => Err(Failure::wrong_call(format!(
                "{shown} is no run that diskfacts has exported, or printed with --json"
            ))),
        }
    }

    fn take(&mut self, run: &Run, from: &str) -> Result<(), Failure> {
        let member = match (Member::of(run), self.group) {
            (Ok(member), Some(group)) if member.group() != group => return Ok(()),
            (Ok(member), _) => member,
            // It is of no group, and so not of the one that is wanted.
            (Err(_), Some(_)) => return Ok(()),
            (Err(error), None) => return Err(cannot(from, &error)),
        };
        self.group_so_far = Some(join(self.group_so_far.take(), member, from)?);
        Ok(())
    }
}

fn cannot(from: &str, error: &dyn std::error::Error) -> Failure {
    Failure::wrong_call(format!("{from}: {error}"))
}

fn join(so_far: Option<Group>, member: Member, from: &str) -> Result<Group, Failure> {
    let one = Group::of(member);
    match so_far {
        None => Ok(one),
        Some(group) => group.join(one).map_err(|error| cannot(from, &error)),
    }
}

/// A group with another run, which is called so in errors.
///
/// # Errors
/// Where it is of no group, or of another one.
pub(super) fn joined(so_far: Option<Group>, run: &Run, from: &str) -> Result<Group, Failure> {
    let member = Member::of(run).map_err(|error| cannot(from, &error))?;
    join(so_far, member, from)
}

fn closing(merged: &Merged, common: &Common) -> Closing {
    let option = storing::option(common);
    let mut closing = Closing::default();
    // The figures of one host are those of its own run.
    let slowest = merged.stages.first().and_then(|stage| stage.hosts.first());
    let slowest = slowest.and_then(|slowest| {
        let mut hosts = merged.hosts.iter();
        hosts.find(|host| host.host == slowest.host)
    });
    if let Some(host) = slowest {
        let command = format!("diskfacts show {}{option}", host.run);
        closing.next.push((
            command,
            format!("on {}: why it is as slow as it is", host.host),
        ));
    }
    closing
}
