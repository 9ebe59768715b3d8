//! `diskfacts fleet odd FOLDER`: which disk is slower than its peers.

use super::failure;
use crate::args::{Common, FleetOddArgs};
use crate::commands::print;
use crate::exit::{Exit, Failure, clean};
use crate::look;
use crate::storing::quoted;
use diskfacts_facts::fleet::{
    Options, Screen, SecondLook, Verdict, look_once_more, screen, second_look, verdict,
};
use diskfacts_fleet::{Chosen, Fleet, Runs};
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
        let (from_s, later) = later(args, &fleet, &runs, options.apart_s)?;
        let screen = screened(Some(from_s))?;
        let later = fleet.samples(&later, None).map_err(failure)?;
        let verdict = verdict(&screen, &later);
        let again = look_once_more(&screen, &verdict, SEED);
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
    let group = args.group.as_ref();
    let group = group.map_or_else(String::new, |group| format!(" --group {}", quoted(group)));
    let odd = format!("diskfacts fleet odd {folder}{group}");
    let after = format!("{odd} --after-second-look");
    let mut closing = Closing::default();
    if !again.members.is_empty() {
        // Whom a verdict left undecided is measured once more.
        let of_this = if verdict.is_some() { &after } else { &odd };
        closing.next = vec![
            (
                format!("{of_this} --hosts"),
                "these hosts, one a line".to_owned(),
            ),
            (
                after.clone(),
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

/// When the later looks begin, and their runs.
fn later(
    args: &FleetOddArgs,
    fleet: &Fleet,
    of_group: &Runs,
    apart_s: i64,
) -> Result<(i64, Chosen), Failure> {
    let folder = quoted(&args.folder.display().to_string());
    let Some(group) = &args.group else {
        let from_s = of_group.later_from(apart_s).ok_or_else(|| {
            Failure::wrong_call(format!(
                "there is one look at this fleet so far: no two of its runs began more than \
                 --apart from each other. `diskfacts fleet odd {folder} --hosts` names who is to \
                 be measured again; add these runs, and ask again"
            ))
        })?;
        return Ok((from_s, of_group.since(from_s)));
    };
    // The first look is this group, and a later one whatever began behind it.
    let all = fleet.runs(None).map_err(failure)?;
    let from_s = of_group.last_s().map_or(i64::MIN, |s| s.saturating_add(1));
    if all.last_s() < Some(from_s) {
        return Err(Failure::wrong_call(format!(
            "no run of this fleet began after those of the group '{group}'. `diskfacts fleet odd \
             {folder} --group {} --hosts` names who is to be measured again; add these runs, and \
             ask again",
            quoted(group)
        )));
    }
    Ok((from_s, all.since(from_s)))
}
