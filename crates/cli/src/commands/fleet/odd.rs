//! `diskfacts fleet odd FOLDER`: which disk is slower than its peers.

use super::failure;
use crate::args::{Common, FleetOddArgs};
use crate::commands::print;
use crate::exit::{Exit, Failure, clean};
use crate::look;
use crate::storing::quoted;
use diskfacts_facts::fleet::{
    Options, Outcome, Screen, SecondLook, Verdict, screen, second_look, verdict,
};
use diskfacts_fleet::Fleet;
use diskfacts_report::text::Closing;
use diskfacts_report::{json, text};
use std::collections::BTreeSet;

/// Who of the peers is measured again: the same of the same fleet.
const SEED: u64 = 1;

pub(super) fn run(args: &FleetOddArgs, common: &Common) -> Result<Exit, Failure> {
    let fleet = Fleet::open(&args.folder).map_err(failure)?;
    let runs = fleet.runs(args.group.as_deref()).map_err(failure)?;
    if runs.is_empty() {
        let group = args.group.as_deref().unwrap_or_default();
        return Err(Failure::wrong_call(format!(
            "{} has no run of the group '{group}'; say the one that `measure --group` was given",
            args.folder.display()
        )));
    }
    let options = Options {
        least: args.least,
        apart_s: i64::try_from(args.apart.div_ceil(1_000_000_000)).unwrap_or(i64::MAX),
        ..Options::default()
    };
    let screened = |before_s: Option<i64>| -> Result<Screen, Failure> {
        let newest = runs.newest(before_s);
        let samples = fleet.samples(&newest, None).map_err(failure)?;
        let mut screen = screen(&samples, &options);
        screen.older_runs += newest.older;
        Ok(screen)
    };
    if args.after_second_look {
        let Some(from_s) = last_look(&runs.moments(), options.apart_s) else {
            return Err(Failure::wrong_call(format!(
                "there is one look at this fleet so far: no two of its runs began more than \
                 --apart from each other. `diskfacts fleet odd {0} --hosts` names who is to be \
                 measured again; add these runs, and ask again",
                quoted(&args.folder.display().to_string())
            )));
        };
        let screen = screened(Some(from_s))?;
        let later = fleet.samples(&runs.since(from_s), None).map_err(failure)?;
        let verdict = verdict(&screen, &later);
        let again = undecided(&screen, &verdict);
        return told(args, &screen, Some(&verdict), &again, common);
    }
    let screen = screened(None)?;
    let again = second_look(&screen, SEED);
    told(args, &screen, None, &again, common)
}

fn told(
    args: &FleetOddArgs,
    screen: &Screen,
    verdict: Option<&Verdict>,
    again: &SecondLook,
    common: &Common,
) -> Result<Exit, Failure> {
    if args.hosts {
        let hosts: BTreeSet<&str> = again
            .members
            .iter()
            .map(|a| a.member.host.as_str())
            .collect();
        let lines: String = hosts.iter().flat_map(|host| [host, "\n"]).collect();
        print(&clean(&lines))?;
        return Ok(Exit::Done);
    }
    if args.json {
        print(&json::fleet_odd(screen, verdict, again))?;
        return Ok(Exit::Done);
    }
    let look = look::of_stdout(common.color);
    let folder = quoted(&args.folder.display().to_string());
    let mut closing = Closing::default();
    if !again.members.is_empty() {
        closing.next = vec![
            (
                format!("diskfacts fleet odd {folder} --hosts"),
                "these hosts, one a line".to_owned(),
            ),
            (
                format!("diskfacts fleet odd {folder} --after-second-look"),
                "when they are measured again and added".to_owned(),
            ),
        ];
    }
    print(&match verdict {
        None => text::fleet_suspects(screen, again, &closing, &look),
        Some(verdict) => text::fleet_odd(screen, verdict, again, &closing, &look),
    })?;
    Ok(Exit::Done)
}

/// When the first run began after the last pause in which nobody began one.
fn last_look(moments: &BTreeSet<i64>, apart_s: i64) -> Option<i64> {
    let later = moments.iter().rev();
    let mut pairs = later.clone().skip(1).zip(later);
    let (_, from_s) = pairs.find(|(before, after)| **after - **before >= apart_s)?;
    Some(*from_s)
}

/// Who is to be measured once more: the suspects that are not decided, and peers of theirs.
fn undecided(screen: &Screen, verdict: &Verdict) -> SecondLook {
    let mut left = screen.clone();
    let judged = verdict.judged.iter();
    let undecided: BTreeSet<usize> = judged
        .filter(|judged| matches!(judged.outcome, Outcome::Undecided(_)))
        .map(|judged| judged.suspect)
        .collect();
    left.suspects = undecided
        .into_iter()
        .filter_map(|at| screen.suspects.get(at).cloned())
        .collect();
    second_look(&left, SEED)
}
