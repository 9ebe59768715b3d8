//! The document of `fleet odd --json`.

use super::document;
use diskfacts_facts::fleet::{
    Judged, Member, Outcome, Screen, SecondLook, Suspect, Verdict, Why, WhyCleared, WhyMissing,
    WhyUndecided,
};
use diskfacts_record::SCHEMA;
use serde::Serialize;
use std::collections::BTreeMap;

/// The document of `fleet odd --json`; `docs/reference/fleet.md` has its keys.
///
/// # Panics
/// Never, as [`run`](super::run).
pub fn fleet_odd(screen: &Screen, verdict: Option<&Verdict>, again: &SecondLook) -> String {
    document(&Fleet {
        schema: SCHEMA,
        members: screen.members,
        least: screen.options.least,
        suspects: screen
            .suspects
            .iter()
            .enumerate()
            .map(|(at, suspect)| Suspected::of(screen, suspect, judged(verdict, at)))
            .collect(),
        second_look: Again {
            trials: again.trials,
            not_before_s: again.not_before_s,
            members: again
                .members
                .iter()
                .map(|again| AgainOne {
                    host: &again.member.host,
                    machine: again.member.machine.as_deref(),
                    target: &again.member.target,
                    why: match again.why {
                        Why::Suspect => "suspect",
                        Why::Peer => "peer",
                    },
                })
                .collect(),
        },
        too_few: screen
            .too_few
            .iter()
            .map(|few| TooFew {
                stage: &few.stage,
                peers: &few.peers.0,
                members: few.members.iter().map(One::of).collect(),
            })
            .collect(),
        missing: screen
            .missing
            .iter()
            .map(|missing| Missing {
                host: &missing.member.host,
                machine: missing.member.machine.as_deref(),
                target: &missing.member.target,
                stage: &missing.stage,
                why: match missing.why {
                    WhyMissing::NotMeasured => "not-measured".to_owned(),
                    WhyMissing::AllDisturbed(by) => format!("all-disturbed: {}", by.word()),
                    WhyMissing::NoFigure => "no-figure".to_owned(),
                },
            })
            .collect(),
        trials_left_out: screen
            .left_out
            .iter()
            .map(|(by, trials)| (by.word(), *trials))
            .collect(),
        older_runs: screen.older_runs,
    })
}

#[derive(Serialize)]
struct Fleet<'a> {
    schema: u32,
    members: usize,
    least: f64,
    suspects: Vec<Suspected<'a>>,
    second_look: Again<'a>,
    too_few: Vec<TooFew<'a>>,
    missing: Vec<Missing<'a>>,
    trials_left_out: BTreeMap<&'static str, u64>,
    older_runs: u64,
}

#[derive(Serialize)]
struct Suspected<'a> {
    host: &'a str,
    machine: Option<&'a str>,
    target: &'a str,
    run: &'a str,
    stage: &'a str,
    measure: &'static str,
    value: f64,
    peers_median: f64,
    peers: usize,
    slower: f64,
    /// Not a number where the peers do not differ.
    deviations: Option<f64>,
    outcome: &'static str,
    slower_after: Option<f64>,
    interval: Option<[f64; 2]>,
    p: Option<f64>,
    q: Option<f64>,
    looks: usize,
}

impl<'a> Suspected<'a> {
    fn of(screen: &'a Screen, suspect: &Suspect, judged: Option<&Judged>) -> Self {
        let cell = &screen.cells[suspect.cell];
        let value = &cell.values[suspect.value];
        Self {
            host: &value.member.host,
            machine: value.member.machine.as_deref(),
            target: &value.member.target,
            run: &value.run,
            stage: &cell.stage,
            measure: cell.measure.word(),
            value: value.median,
            peers_median: cell.median,
            peers: cell.values.len() - 1,
            slower: suspect.slower,
            deviations: Some(suspect.deviations).filter(|number| number.is_finite()),
            outcome: judged.map_or("suspect", |judged| outcome(judged.outcome)),
            slower_after: judged.and_then(|judged| judged.slower),
            interval: judged.and_then(|judged| judged.interval),
            p: judged.map(|judged| judged.p),
            q: judged.map(|judged| judged.q),
            looks: judged.map_or(1, |judged| judged.looks),
        }
    }
}

fn judged(verdict: Option<&Verdict>, suspect: usize) -> Option<&Judged> {
    let mut judged = verdict?.judged.iter();
    judged.find(|judged| judged.suspect == suspect)
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Odd => "odd",
        Outcome::Cleared(WhyCleared::NotAgain) => "cleared: not again",
        Outcome::Cleared(WhyCleared::LessThanLeast) => "cleared: less than least",
        Outcome::Undecided(WhyUndecided::NotAgain) => "undecided: not measured again",
        Outcome::Undecided(WhyUndecided::TooSoon) => "undecided: too soon",
        Outcome::Undecided(WhyUndecided::TooFewPeers) => "undecided: too few peers",
        Outcome::Undecided(WhyUndecided::MayBeDisturbed) => "undecided: may be disturbed",
        Outcome::Undecided(WhyUndecided::NearLeast) => "undecided: near least",
    }
}

#[derive(Serialize)]
struct Again<'a> {
    trials: u32,
    not_before_s: i64,
    members: Vec<AgainOne<'a>>,
}

#[derive(Serialize)]
struct AgainOne<'a> {
    host: &'a str,
    machine: Option<&'a str>,
    target: &'a str,
    why: &'static str,
}

#[derive(Serialize)]
struct TooFew<'a> {
    stage: &'a str,
    peers: &'a BTreeMap<String, String>,
    members: Vec<One<'a>>,
}

#[derive(Serialize)]
struct One<'a> {
    host: &'a str,
    machine: Option<&'a str>,
    target: &'a str,
}

impl<'a> One<'a> {
    fn of(member: &'a Member) -> Self {
        Self {
            host: &member.host,
            machine: member.machine.as_deref(),
            target: &member.target,
        }
    }
}

#[derive(Serialize)]
struct Missing<'a> {
    host: &'a str,
    machine: Option<&'a str>,
    target: &'a str,
    stage: &'a str,
    why: String,
}
