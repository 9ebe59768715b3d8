//! A copy as `diskfacts dd` makes it: a run with one stage and one trial, and a row of
//! steps of its own.
//!
//! | step | makes | and if the run ends there |
//! | --- | --- | --- |
//! | `at` | `Looked`: both ends, the locks of what lies under them | what dead runs left changed is put back |
//! | `open` | `Opened`: both ends open, the store | a new output is gone, and one that was named is as it was |
//! | `begin` | `Begun`: the run is in the store | the same; the store has a run without a trial |
//! | `copy` | `Copied`: the trial, stored | an output that was named is cut to where it is written, as dd does; what was written stays |
//! | `conclude` | `Ended`: what follows from it | |

use super::around::Around;
use super::begin::record as record_of;
use super::conclude::conclude;
use super::observing::Chosen;
use super::schedule::Next;
use super::{Ended, drawn, health, settings, trial, write_back};
use crate::args::Common;
use crate::exit::{Exit, Failure, OrFail};
use crate::progress::{Display, DisplayCpu};
use crate::signals::Signals;
use crate::target::copy::{Ends, OpenEnds};
use diskfacts_engine::Progress;
use diskfacts_engine::copy::{Copy, CopyOutcome, run_copy};
use diskfacts_host::settings::Locks;
use diskfacts_plan::dd::{Dd, End};
use diskfacts_plan::{Plan, Stage, Workload};
use diskfacts_record::evidence::CopyEnd;
use diskfacts_record::{Evidence, Labels, Run, Status};
use diskfacts_store::Store;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::path::Path;

/// What to copy.
pub(crate) struct CopyRequest<'a> {
    /// How, in the terms of dd.
    pub(crate) dd: &'a Dd,
    /// Whose data may be destroyed.
    pub(crate) destroy_data_on: Option<&'a Path>,
    /// What the run is called.
    pub(crate) labels: Labels,
    /// Where to store it.
    pub(crate) common: &'a Common,
}

/// Makes a copy, and the run that is its record. What a signal or an error cut
/// short is kept: a copy has no length that it must reach.
pub(crate) fn copy(request: &CopyRequest<'_>, signals: &Signals) -> Result<Ended, Failure> {
    let looked = Looked::at(request, signals)?;
    let opened = looked.open(signals)?;
    let begun = opened.begin()?;
    let copied = begun.copy(signals);
    Ok(copied.conclude(signals))
}

/// Both ends looked at; nothing is opened, made or cut short.
struct Looked<'a> {
    request: &'a CopyRequest<'a>,
    started: Timestamp,
    /// What dead runs had left changed.
    left_behind: Vec<String>,
    ends: Ends<'a>,
    /// Kept as long as is copied, so that nobody changes settings.
    _shared: Locks,
}

/// Both ends open. Where the run ends before its first byte, a new output is taken away
/// again ([`OpenEnds`]).
struct Opened<'a> {
    store: Store,
    open: OpenEnds,
    looked: Looked<'a>,
}

/// A run that is stored, of which nothing is copied yet.
struct Begun<'a> {
    run: Run,
    opened: Opened<'a>,
}

/// A run whose copy is over, and its trial stored.
struct Copied<'a> {
    begun: Begun<'a>,
    /// Why it could not be made, or not be stored.
    broken: Option<Failure>,
}

impl<'a> Looked<'a> {
    fn at(request: &'a CopyRequest<'a>, signals: &Signals) -> Result<Self, Failure> {
        let started = Timestamp::now();
        let left_behind = crate::state::before_measuring()?;
        let ends = Ends::look(request.dd, request.destroy_data_on, signals)?;
        crate::storing::is_not(request.common, ends.written())?;
        Ok(Self {
            request,
            started,
            left_behind,
            _shared: settings::share(&ends.stack)?,
            ends,
        })
    }

    fn open(mut self, signals: &Signals) -> Result<Opened<'a>, Failure> {
        signals.waits_for(&self.ends.stack, false);
        let open = self.ends.open(signals)?;
        // What cannot be stored is not begun.
        let store = crate::storing::open(self.request.common)?;
        Ok(Opened {
            store,
            open,
            looked: self,
        })
    }
}

impl<'a> Opened<'a> {
    fn begin(mut self) -> Result<Begun<'a>, Failure> {
        let looked = &mut self.looked;
        let plan = plan_of(looked.request.dd.workload(looked.ends.measured));
        let of = (looked.started, drawn(looked.started));
        let mut run = record_of(of, &looked.ends.target, looked.ends.stack.clone(), plan);
        run.run.labels = looked.request.labels.clone();
        run.run.notes.append(&mut looked.left_behind);
        run.run.notes.append(&mut looked.ends.notes);
        self.store
            .begin(&run, crate::storing::writer_of("self").as_ref())
            .or_failed()?;
        Ok(Begun { run, opened: self })
    }
}

impl<'a> Begun<'a> {
    fn copy(mut self, signals: &Signals) -> Copied<'a> {
        // What is written from here on is kept, whatever ends it.
        let begun = self.opened.open.begin_output();
        let broken = match begun.and_then(|()| self.copied(signals)) {
            Ok((outcome, observed)) => {
                record(&mut self.run, outcome, observed);
                let trial = self.run.trials.last();
                trial.and_then(|trial| {
                    let added = self.opened.store.add_trial(&self.run.run.id, trial);
                    added.or_failed().err()
                })
            }
            Err(error) => Some(error),
        };
        let measured = self.opened.looked.ends.measured;
        self.run.target.size_bytes = self.opened.open.measured_bytes(measured);
        Copied {
            begun: self,
            broken,
        }
    }

    /// What the engine measured of it, and what was observed.
    fn copied(&self, signals: &Signals) -> Result<(CopyOutcome, Evidence), Failure> {
        let Looked { request, ends, .. } = &self.opened.looked;
        let dd = request.dd;
        let stop = signals.stop();
        let progress = Progress {
            stop: signals.stop(),
            ..Progress::default()
        };
        let (input, output) = self.opened.open.files();
        let measured = match ends.measured {
            End::Input => &input,
            End::Output => &output,
        };
        let settles = measured.stored && ends.target.writable;
        let unsettled = write_back::before_copy(settles, measured.file);
        let workload = &self.run.plan.stages[0].workload;
        let mut around = measured.stored.then(|| {
            let observers = Chosen::counters(&self.run.stack);
            Around::growing(measured.file, workload, &ends.target, observers, &stop)
        });
        let copy = Copy {
            dd,
            measured: ends.measured,
            alignment: self.opened.open.alignment(),
            input,
            output,
        };
        let copied = Display::watch_copy(
            self.opened.looked.request.common.quiet,
            (dd.bytes_max(), dd.block_size),
            &progress,
            &DisplayCpu::default(),
            || match &mut around {
                Some(around) => run_copy(&copy, &progress, around),
                None => run_copy(&copy, &progress, &mut ()),
            },
        );
        let mut observed = Evidence::of_unseen(unsettled);
        if let Some(around) = &mut around {
            around.evidence(&mut observed);
        }
        Ok((copied.or_failed()?, observed))
    }
}

impl Copied<'_> {
    /// What follows from it, stored with it. Both ends are let go of after that.
    fn conclude(self, signals: &Signals) -> Ended {
        let Begun { mut run, opened } = self.begun;
        if let Some(broken) = &self.broken {
            let note = format!("The run ended early: {}.", broken.sentence());
            run.run.notes.push(note);
            run.run.status = Status::Failed;
        }
        health::look_again(&mut run);
        run.run.ended = Some(Timestamp::now().to_string());
        conclude(&mut run, &[]);
        let mut store = opened.store;
        let not_stored = store.finish(&run).or_failed().err();
        Ended {
            stopped: stopped(&run, signals),
            run,
            store: store.path().to_owned(),
            not_stored,
        }
    }
}

/// The plan of which a copy is the one stage.
fn plan_of(workload: Workload) -> Plan {
    Plan {
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
            workload,
            settings: BTreeMap::new(),
            kernel: BTreeMap::new(),
            full: None,
        }],
    }
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
            "The input ended {} bytes before all that skip= skips: nothing was copied.",
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
        left: None,
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
