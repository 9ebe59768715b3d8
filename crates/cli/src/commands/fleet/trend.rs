//! `diskfacts fleet trend FOLDER --host H`: one disk over time.

use super::failure;
use crate::args::{Common, FleetTrendArgs};
use crate::commands::print;
use crate::exit::{Exit, Failure};
use crate::look;
use diskfacts_facts::fleet::{Member, Sample, trend};
use diskfacts_fleet::{Fleet, Runs};
use diskfacts_report::text::{self, Closing};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

pub(super) fn run(args: &FleetTrendArgs, common: &Common) -> Result<Exit, Failure> {
    let fleet = Fleet::open(&args.folder).map_err(failure)?;
    let runs = fleet.runs(None).map_err(failure)?;
    let samples = fleet
        .samples(&runs.of_host(&args.host), args.stage.as_deref())
        .map_err(failure)?;
    let mut stages: BTreeMap<(Member, String), [Vec<Sample>; 2]> = BTreeMap::new();
    for sample in &samples {
        if sample.member.host == args.host {
            let key = (sample.member.clone(), sample.stage.clone());
            stages.entry(key).or_default()[0].push(sample.clone());
        }
    }
    if stages.is_empty() {
        return Err(unknown(args, &runs));
    }
    for ((member, stage), [own, peers]) in &mut stages {
        let groups: BTreeSet<_> = own.iter().map(|sample| sample.peers.clone()).collect();
        let others = samples.iter().filter(|other| {
            other.stage == *stage && other.member != *member && groups.contains(&other.peers)
        });
        peers.extend(others.cloned());
    }
    let look = look::of_stdout(common.color);
    let mut all = String::new();
    for ((member, stage), [own, peers]) in &stages {
        match trend(own, peers) {
            Some(trend) => {
                let closing = Closing::default();
                all += &text::fleet_trend(member, stage, &trend, &closing, &look);
            }
            // Writing to a String cannot fail.
            None => {
                let _ = writeln!(
                    all,
                    "{} {}, {stage}: no run has a figure that nothing disturbed",
                    member.name(),
                    member.target
                );
            }
        }
    }
    print(&all)?;
    Ok(Exit::Done)
}

/// Nothing is there of this host, or of this stage.
fn unknown(args: &FleetTrendArgs, runs: &Runs) -> Failure {
    let folder = args.folder.display();
    let stage = args.stage.as_ref();
    let stage = stage.map_or_else(String::new, |stage| format!(" of the stage '{stage}'"));
    let hosts: Vec<&str> = runs.hosts().into_iter().take(12).collect();
    Failure::wrong_call(format!(
        "{folder} has no run{stage} by the host '{}'; it has some by {}",
        args.host,
        if hosts.is_empty() {
            "no host".to_owned()
        } else {
            hosts.join(", ")
        }
    ))
}
