//! A copy as `diskfacts dd` makes it: a run with one stage and one trial.

use super::around::Around;
use super::begin::record as record_of;
use super::conclude::conclude;
use super::observing::Chosen;
use super::schedule::Next;
use super::{Ended, drawn, health, settings, trial, write_back};
use crate::args::Common;
use crate::exit::{Exit, Failure, OrFail};
use crate::progress::Display;
use crate::signals::Signals;
use crate::target::copy::Ends;
use diskfacts_engine::Progress;
use diskfacts_engine::copy::{Copy, CopyOutcome, run_copy};
use diskfacts_plan::dd::{Dd, End};
use diskfacts_plan::{Plan, Stage};
use diskfacts_record::evidence::CopyEnd;
use diskfacts_record::{Evidence, Run, Status};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::path::Path;

/// What to copy.
pub(crate) struct CopyRequest<'a> {
    /// How, in the terms of dd.
    pub(crate) dd: &'a Dd,
    /// Whose data may be destroyed.
    pub(crate) destroy_data_on: Option<&'a Path>,
    /// Where to store it.
    pub(crate) common: &'a Common,
}

/// Makes a copy, and the run that is its record. What a signal or an error cut
/// short is kept: a copy has no length that it must reach.
pub(crate) fn copy(request: &CopyRequest<'_>, signals: &Signals) -> Result<Ended, Failure> {
    let started = Timestamp::now();
    let dd = request.dd;
    let left_behind = crate::state::before_measuring()?;
    let mut ends = Ends::look(dd, request.destroy_data_on, signals)?;
    let _shared = settings::share(&ends.stack)?;
    signals.waits_for(&ends.stack, false);
    let opened = ends.open(signals)?;
    // What cannot be stored is not begun.
    let mut store = crate::storing::open(request.common).inspect_err(|_| ends.unmake())?;
    let workload = dd.workload(ends.measured);
    let plan = Plan {
        name: "dd".to_owned(),
        about: "One copy, as GNU dd makes it".to_owned(),
        trials: 1,
        time_ns: None,
        until: diskfacts_plan::Until::default(),
        choose: Vec::new(),
        precondition: Vec::new(),
        stages: vec![Stage {
            name: "copy".to_owned(),
            about: String::new(),
            workload: workload.clone(),
            settings: BTreeMap::new(),
            kernel: BTreeMap::new(),
            full: None,
        }],
    };
    let of = (started, drawn(started));
    let mut run = record_of(of, &ends.target, ends.stack.clone(), plan);
    run.run.notes.extend(left_behind);
    run.run.notes.append(&mut ends.notes);
    store
        .begin(&run, crate::storing::writer_of("self").as_ref())
        .or_failed()?;

    let stop = signals.stop();
    let progress = Progress {
        stop: signals.stop(),
        ..Progress::default()
    };
    let (input, output) = opened.files();
    let measured = match ends.measured {
        End::Input => &input,
        End::Output => &output,
    };
    let settles = measured.stored && ends.target.writable;
    let unsettled = write_back::before_copy(settles, measured.file);
    let mut around = measured.stored.then(|| {
        let observers = Chosen::counters(&run.stack);
        Around::growing(measured.file, &workload, &ends.target, observers, &stop)
    });
    let copied = {
        let copy = Copy {
            dd,
            measured: ends.measured,
            alignment: opened.alignment(),
            input,
            output,
        };
        Display::watch_copy(
            dd.bytes_max(),
            dd.block_size,
            &progress,
            || match &mut around {
                Some(around) => run_copy(&copy, &progress, around),
                None => run_copy(&copy, &progress, &mut ()),
            },
        )
    };
    let mut observed = Evidence::of_unseen(unsettled);
    if let Some(around) = &mut around {
        around.evidence(&mut observed);
    }
    drop(around);
    run.target.size_bytes = opened.measured_bytes(ends.measured);
    let mut broken = None;
    match copied.or_failed() {
        Ok(outcome) => {
            record(&mut run, outcome, observed);
            if let Some(trial) = run.trials.last() {
                broken = store.add_trial(&run.run.id, trial).or_failed().err();
            }
        }
        Err(error) => broken = Some(error),
    }
    if let Some(broken) = &broken {
        let note = format!("The run ended early: {}.", broken.sentence());
        run.run.notes.push(note);
        run.run.status = Status::Failed;
    }
    health::look_again(&mut run);
    run.run.ended = Some(Timestamp::now().to_string());
    conclude(&mut run, &[]);
    let not_stored = store.finish(&run).or_failed().err();
    Ok(Ended {
        stopped: stopped(&run, signals),
        run,
        store: store.path().to_owned(),
        not_stored,
    })
}

/// How to exit, when a signal ended the copy.
fn stopped(run: &Run, signals: &Signals) -> Option<Exit> {
    signals
        .came()
        .filter(|_| run.run.status == Status::Interrupted)
}

/// The trial of the run, and how it went.
fn record(run: &mut Run, outcome: CopyOutcome, mut observed: Evidence) {
    let CopyOutcome {
        trial: outcome,
        mut copied,
    } = outcome;
    let workload = run.plan.stages[0].workload.clone();
    let is_output = workload.operation.writes();
    let residency = observed.residency_after.filter(|_| is_output);
    copied.dirty_bytes = residency.and_then(|seen| seen.dirty_bytes);
    let short = copied.skip_missing_bytes > 0;
    if short {
        run.run.notes.push(format!(
            "The input ended {} bytes before all that skip= passes over: nothing was copied.",
            copied.skip_missing_bytes
        ));
    }
    run.run.status = match copied.ended {
        CopyEnd::Error => Status::Failed,
        CopyEnd::Stopped => Status::Interrupted,
        CopyEnd::Count | CopyEnd::Input if short => Status::Failed,
        CopyEnd::Count | CopyEnd::Input => Status::Complete,
    };
    if copied.ended == CopyEnd::Input
        && let Some(most) = workload.stop.bytes.filter(|most| copied.read_bytes < *most)
        && !short
    {
        run.run.notes.push(format!(
            "The input ended after {} of the {most} bytes that count= asks for.",
            copied.read_bytes
        ));
    }
    observed.copy = Some(copied);
    let next = Next {
        stage: 0,
        number: 1,
        order: 1,
        stop: workload.stop,
        seed: run.run.seed,
        left_ns: 0,
        prepare_ns: None,
    };
    let trial = trial::record(
        &run.plan.stages[0],
        &next,
        workload,
        outcome,
        observed,
        &run.stack,
    );
    run.trials.push(trial);
}
