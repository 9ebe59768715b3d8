//! What a plan does on the target before its first trial.

use super::schedule::Next;
use super::{foreseen, trial, write_back};
use crate::exit::{Failure, OrFail};
use crate::progress::Display;
use crate::signals::Signals;
use crate::target::{Measured, Medium};
use diskfacts_facts::{stats, stopping};
use diskfacts_plan::rng::Rng;
use diskfacts_plan::units::{show_duration, show_size};
use diskfacts_plan::{Observe, Precondition, Stage};
use diskfacts_record::{Preconditioning, Run, Stack, Trial};

/// The seeds of its rounds begin here, far behind those of the trials.
const FIRST_SEED: u64 = 1 << 40;

/// Does what the plan wants done first, and notes what that was; answers whether an
/// operation of it failed. It ends early when a signal comes, and where this host has no group
/// of hosts any more. A trial that the group calls off, because a host was lost, is not what is
/// done here: the target is to be as the plan wants it when that trial comes again.
pub(super) fn run(
    run: &mut Run,
    measured: &mut Measured,
    stack: &Stack,
    signals: &Signals,
    display: &mut Display,
) -> Result<bool, Failure> {
    if let Medium::File(_) = measured.medium {
        let (works, size) = (&run.plan.precondition, measured.target.size_bytes);
        if let Some(said) = foreseen::before_the_trials(works, size, measured.filled_per_s) {
            display.tell(&format!("diskfacts: note: {said}"));
        }
    }
    let mut failed = false;
    let mut order = 0;
    for (place, work) in run.plan.precondition.clone().iter().enumerate() {
        let mut stage = work.stage.clone();
        if stage.workload.observe == Observe::Auto {
            // Nobody looks for latencies of requests in what is in no figure.
            stage.workload.observe = Observe::counters();
        }
        let mut rounds: Vec<Trial> = Vec::new();
        let mut rates = Vec::new();
        while !stopping::is_preconditioned(work, &rates) && !is_ended(signals) {
            order += 1;
            let next = Next {
                stage: run.plan.stages.len() + place,
                number: rounds.len() as u32 + 1,
                order,
                stop: work.stage.workload.stop,
                seed: Rng::for_part(run.run.seed, FIRST_SEED + u64::from(order)).next_u64(),
                left: None,
                prepare_ns: None,
            };
            let ends = (signals, &signals.stop_filling());
            let round = trial::run(&next, &stage, measured, stack, ends, display, None);
            let mut round = round.or_failed()?.trial;
            if is_ended(signals) {
                break;
            }
            write_back::settle_round(&mut round, measured);
            failed |= round.errors > 0;
            rates.push(round.iops);
            let is_last = stopping::is_preconditioned(work, &rates);
            display.trial_ended(next.stage, &round, is_last);
            // They are in the document of the run, and in no figure.
            rounds.push(round.without_details());
        }
        if rounds.is_empty() {
            continue;
        }
        let done = record(work, rounds, &rates);
        run.run.notes.push(note(&work.stage, &done, &rates));
        run.preconditioning.push(done);
    }
    Ok(failed)
}

fn is_ended(signals: &Signals) -> bool {
    signals.came().is_some() || signals.is_called_off()
}

fn record(work: &Precondition, rounds: Vec<Trial>, rates: &[f64]) -> Preconditioning {
    let is_steady = || stats::steadiness(rates).is_some_and(|steadiness| steadiness.is_steady());
    Preconditioning {
        name: work.stage.name.clone(),
        settings: work.stage.settings.clone(),
        steady: work.steady.then(is_steady),
        seconds: rounds.iter().map(|round| round.seconds).sum(),
        bytes: rounds.iter().map(|round| round.bytes).sum(),
        rounds,
    }
}

/// `Before the trials: age, 7 rounds, 2 GiB in 40 s; steady by SNIA's rule (the last five
/// rounds range over 4 % and slope by 1 %). It is excluded from the results.`
fn note(stage: &Stage, done: &Preconditioning, rates: &[f64]) -> String {
    let rounds = match done.rounds.len() {
        1 => "1 round".to_owned(),
        rounds => format!("{rounds} rounds"),
    };
    // Seconds of preconditioning are far below what a float holds exactly.
    let time = show_duration((done.seconds * 1e9) as u64);
    let said = format!(
        "Before the trials: {}, {rounds}, {} in {time}",
        stage.label(),
        show_size(done.bytes)
    );
    let steady = match (done.steady, stats::steadiness(rates)) {
        (None, _) => String::new(),
        (Some(is_steady), Some(steadiness)) => format!(
            "; {} by SNIA's rule (the last five rounds range over {:.0} % and slope by {:.0} %)",
            if is_steady { "steady" } else { "NOT steady" },
            steadiness.range * 100.0,
            steadiness.slope * 100.0
        ),
        (Some(_), None) => "; NOT steady by SNIA's rule: too few rounds".to_owned(),
    };
    format!("{said}{steady}. It is excluded from the results.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::begin;
    use crate::target::{self, Room, Wanted};
    use diskfacts_plan::file;
    use diskfacts_testkit::Scratch;
    use jiff::Timestamp;
    use std::sync::atomic::Ordering;

    /// What is done before the trials of a plan, on a file of its own.
    fn done(signals: &Signals) -> Run {
        let plan = r#"
            name = "aged"
            trials = 1

            [[stage]]
            name = "random-write"
            operation = "write"
            block_size = "4KiB"
            bytes = "64KiB"

            [[precondition]]
            name = "age"
            operation = "write"
            block_size = "4KiB"
            engine = "sync"
            bytes = "1MiB"
            rounds = 3
        "#;
        let plan = file::parse(plan).expect("a plan");
        // In memory, where there is room for it.
        let scratch = Scratch::inside(std::path::Path::new("/dev/shm")).or_else(|_| Scratch::new());
        let scratch = scratch.expect("a folder");
        let folder = scratch.join(".");
        let wanted = Wanted {
            given: &folder,
            size: Some(4 << 20),
            looped: false,
            beside: false,
            writes: true,
            destroy_data_on: None,
            seed: 1,
            shared: None,
            room: Room::AtOnce,
        };
        let opened = target::open(&wanted, signals);
        let (mut measured, stack) = opened.unwrap_or_else(|why| panic!("{}", why.sentence()));
        let at = (Timestamp::UNIX_EPOCH, 1);
        let mut run = begin::record(at, &measured.target, stack.clone(), plan);
        let mut display = Display::nothing();
        let failed = super::run(&mut run, &mut measured, &stack, signals, &mut display);
        assert!(failed.is_ok_and(|failed| !failed));
        run
    }

    #[test]
    fn a_trial_that_other_hosts_call_off_is_not_what_is_done_before() {
        let signals = Signals::default();
        // Another host was lost while it preconditioned, and its group lives on.
        signals.stop_trial().store(true, Ordering::SeqCst);
        let run = done(&signals);
        let [age] = run.preconditioning.as_slice() else {
            panic!("{:?}", run.run.notes);
        };
        let bytes: Vec<u64> = age.rounds.iter().map(|round| round.bytes).collect();
        assert_eq!(bytes, [1 << 20; 3]);
    }

    #[test]
    fn what_is_cut_short_by_the_end_of_the_group_is_no_round() {
        let signals = Signals::default();
        signals.stop_filling().store(true, Ordering::SeqCst);
        let run = done(&signals);
        assert_eq!((run.preconditioning.len(), run.run.notes.len()), (0, 0));
    }
}
