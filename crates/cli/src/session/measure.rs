//! The fifth step: the target is preconditioned, and the trials are done, each with the
//! settings that its stage asks for and each stored when it ends. Between two trials a
//! signal, an error or the end of the time ends them.

use super::around::WarmingTooSlow;
use super::begin::Begun;
use super::schedule::{Next, Schedule};
use super::settings::Settings;
use super::test_claims::Testing;
use super::together::{
    Agreement, Appointment, Cancelled, LaunchedGroup, Rendezvous, Start, StoppedWaiting,
};
use super::trial::Done;
use super::{precondition, trial};
use crate::exit::{Failure, OrFail};
use crate::progress::Display;
use crate::signals::Signals;
use crate::target::{Measured, Medium};
use diskfacts_engine::TrialError;
use diskfacts_plan::Stage;
use diskfacts_record::together::VoidKind;
use diskfacts_record::{Run, Stack, Status, Trial, Unseen};
use std::time::Instant;

/// A run whose trials are over.
pub(super) struct Tried {
    pub(super) begun: Begun,
    pub(super) how: How,
}

/// How the trials ended.
#[derive(Default)]
pub(super) struct How {
    /// An operation of theirs failed.
    pub(super) failed: bool,
    /// Why they could not go on.
    pub(super) broken: Option<Failure>,
}

impl Begun {
    pub(super) fn measure(
        mut self,
        testing: Testing,
        signals: &Signals,
        group: Option<&mut LaunchedGroup>,
    ) -> Tried {
        let store = &mut self.store;
        let how = Trials {
            run: &mut self.run,
            measured: &mut self.held.measured,
            settings: &mut self.held.settings,
            keep: &mut |run, kept| match kept {
                Kept::Trial(trial) => store.add_trial(&run.run.id, trial).or_failed(),
                Kept::ChangedTrial(trial) => store.replace_trial(&run.run.id, trial).or_failed(),
                Kept::BeforeTrials => store.finish(run).or_failed(),
            },
            signals,
            display: &mut self.display,
        }
        .all(self.began, testing, self.together.as_ref(), group);
        self.display.finish();
        Tried { begun: self, how }
    }
}

/// What of a run is kept.
pub(super) enum Kept<'a> {
    /// A trial that has ended.
    Trial(&'a Trial),
    /// One that was kept already, and of which more is known now.
    ChangedTrial(&'a Trial),
    /// What was done before the trials.
    BeforeTrials,
}

/// Keeps this of a run.
type Keep<'a> = dyn FnMut(&Run, Kept<'_>) -> Result<(), Failure> + 'a;

/// What came of a trial.
pub(super) enum Outcome {
    Trial(Box<Trial>),
    /// A signal came, so it is no trial of its stage.
    CutShort,
    /// It was stopped and continued, so its figures are of no use.
    Spoiled,
    /// It could not be prepared in its time; why.
    TooSlow(String),
    /// It is no trial of its group; what kind of reason, and why.
    Void(VoidKind, String),
}

/// What the trials of a run are done with.
pub(super) struct Trials<'a> {
    pub(super) run: &'a mut Run,
    pub(super) measured: &'a mut Measured,
    pub(super) settings: &'a mut Settings,
    pub(super) keep: &'a mut Keep<'a>,
    pub(super) signals: &'a Signals,
    pub(super) display: &'a mut Display,
}

/// The time that counts for the trials, from when it began.
pub(super) struct Clock {
    began: Instant,
    /// Nanoseconds since then that do not count.
    apart_ns: u64,
    /// Of whoever stops all of this with Ctrl-Z: that time does not count either.
    signals: Signals,
    /// Nanoseconds that it had been stopped before.
    stopped_ns: u64,
}

impl Clock {
    /// One that begins now, on the clock of the target.
    pub(super) fn starting_now(measured: &Measured, signals: &Signals) -> Self {
        let began = Instant::now();
        Self {
            began,
            // The virtual time that has passed on a simulated target.
            apart_ns: measured.elapsed_ns(began),
            signals: signals.clone(),
            stopped_ns: signals.stopped().ns,
        }
    }

    /// Nanoseconds that have passed.
    pub(super) fn elapsed_ns(&self, measured: &Measured) -> u64 {
        let since_ns = measured.elapsed_ns(self.began);
        let stopped_ns = match measured.medium {
            Medium::File(_) => self.signals.stopped().ns - self.stopped_ns,
            // Virtual time stands still of itself.
            Medium::Simulated(_) => 0,
        };
        since_ns.saturating_sub(self.apart_ns + stopped_ns)
    }
}

impl Trials<'_> {
    /// Preconditions the target, does all trials that the budget of the run, which
    /// began then, has time for, and tests what follows from them.
    pub(super) fn all(
        mut self,
        began: Instant,
        testing: Testing,
        together: Option<&(Agreement, Start)>,
        group: Option<&mut LaunchedGroup>,
    ) -> How {
        let mut how = How::default();
        let before_ns = self.measured.elapsed_ns(began);
        self.settle_the_first(&mut how);
        match self.before() {
            Ok(failed) => how.failed = failed,
            Err(error) => how.broken = Some(error),
        }
        if let Some((agreement, start)) = together {
            let mut clock = start.clock(self.signals);
            let rendezvous: Option<&mut dyn Rendezvous> = match (group, &mut clock) {
                (Some(group), _) => Some(group),
                (None, Some(clock)) => Some(clock),
                (None, None) => None,
            };
            if let Some(rendezvous) = rendezvous {
                self.together(agreement, rendezvous, &mut how);
            }
            self.settle_the_last(0, &mut how);
            return how;
        }
        // It takes what time it needs; that of the plan is for the trials.
        let clock = Clock {
            began,
            apart_ns: self.measured.elapsed_ns(began).saturating_sub(before_ns),
            signals: self.signals.clone(),
            stopped_ns: self.signals.stopped().ns,
        };
        let time = (self.run.run.budget_ns.unwrap_or(0), before_ns);
        let mut schedule = Schedule::new(&self.run.plan, self.turns(), self.run.run.seed, time)
            .on_a_target_filled_at(self.measured.filled_per_s);
        let foreseen = schedule.note();
        let stages = self.run.plan.stages.clone();
        self.rounds(&mut schedule, &stages, &clock, &mut how);
        let notes = &mut self.run.run.notes;
        // What came of it says more than what was foreseen.
        notes.extend(schedule.left_out().or(foreseen));
        if how.broken.is_none() && self.signals.came().is_none() {
            notes.extend(schedule.reached());
            self.test_claims(testing, &clock, &mut how);
        }
        self.settle_the_last(clock.elapsed_ns(self.measured), &mut how);
        how
    }

    /// Whether a disk under the target says that it turns.
    pub(super) fn turns(&self) -> bool {
        let mut leaves = self.run.stack.leaves();
        leaves.any(|leaf| leaf.rotational == Some(true))
    }

    /// Does all trials of a schedule of these stages.
    pub(super) fn rounds(
        &mut self,
        schedule: &mut Schedule,
        stages: &[Stage],
        clock: &Clock,
        how: &mut How,
    ) {
        let stack = self.run.stack.clone();
        let before = u32::try_from(self.run.trials.len()).unwrap_or(u32::MAX);
        self.display.set_trials(schedule.trials());
        while how.broken.is_none() && self.signals.came().is_none() {
            let Some(mut next) = schedule.next(clock.elapsed_ns(self.measured)) else {
                break;
            };
            next.order = next.order.saturating_add(before);
            let stage = &stages[next.stage];
            let settled = self.settle_before(stage, how);
            match settled.and_then(|unseen| self.one(&next, stage, &stack, unseen, None)) {
                Ok(Outcome::Trial(trial)) => {
                    how.failed |= trial.errors > 0;
                    // Seconds of a trial are far below what a float holds exactly.
                    schedule.took((trial.seconds * 1e9) as u64, trial.iops);
                    let is_last = schedule.is_over(next.stage);
                    how.broken = self.keep_trial(*trial, next.stage, is_last).err();
                }
                Ok(Outcome::CutShort) => break,
                Ok(Outcome::Spoiled) => {
                    schedule.again();
                    self.run.run.notes.push(format!(
                        "Ctrl-Z stopped a trial of {}, which was done again.",
                        stage.label()
                    ));
                }
                Ok(Outcome::TooSlow(why) | Outcome::Void(_, why)) => {
                    schedule.give_up();
                    let stage = stage.label();
                    self.run.run.notes.push(format!("Left out {stage}: {why}."));
                }
                Err(error) => how.broken = Some(error),
            }
        }
        if how.broken.is_none() && self.signals.came().is_none() {
            self.display.trials_ended();
        }
    }

    /// A trial of a stage has ended, the last of them if so.
    pub(super) fn keep_trial(
        &mut self,
        trial: Trial,
        stage: usize,
        is_last: bool,
    ) -> Result<(), Failure> {
        let kept = (self.keep)(self.run, Kept::Trial(&trial));
        self.display.trial_ended(stage, &trial, is_last);
        self.run.trials.push(trial);
        self.display.run_so_far(self.run);
        kept
    }

    /// What the plan does on the target first; answers whether an operation of it failed.
    fn before(&mut self) -> Result<bool, Failure> {
        let stack = self.run.stack.clone();
        let failed =
            precondition::run(self.run, self.measured, &stack, self.signals, self.display)?;
        if !self.run.preconditioning.is_empty() {
            (self.keep)(self.run, Kept::BeforeTrials)?;
        }
        Ok(failed)
    }

    /// One trial with its settings, and what could not be seen to before it.
    pub(super) fn one(
        &mut self,
        next: &Next,
        stage: &Stage,
        stack: &Stack,
        unseen: Option<Unseen>,
        mut appointment: Option<Appointment<'_>>,
    ) -> Result<Outcome, Failure> {
        let mut in_force = self.settings.before(stage)?;
        let (signals, display) = (self.signals, &*self.display);
        let is_real = matches!(self.measured.medium, Medium::File(_));
        let stopped = signals.stopped();
        let at = appointment.as_mut();
        let ends = (signals, &signals.stop_trial());
        let measured = trial::run(next, stage, self.measured, stack, ends, display, at);
        self.settings.after(stage, &mut in_force);
        let is_spoiled = is_real && signals.stopped() != stopped;
        if let Err(TrialError::Prepare(error)) = &measured
            && error.is::<StoppedWaiting>()
        {
            return Ok(Outcome::CutShort);
        }
        if let Err(TrialError::Prepare(error)) = &measured
            && let Some(Cancelled(why)) = error.downcast_ref::<Cancelled>()
        {
            return Ok(Outcome::Void(VoidKind::CalledOff, why.clone()));
        }
        if let Err(TrialError::Late { late_ns, .. }) = &measured
            && let Some(Appointment { trial, rendezvous }) = &mut appointment
        {
            trial.late_ns = Some(*late_ns);
            rendezvous.missed(trial, *late_ns);
            let why = measured.err().map(|error| error.to_string());
            return Ok(Outcome::Void(VoidKind::Late, why.unwrap_or_default()));
        }
        if let Err(TrialError::Prepare(error)) = &measured
            && let Some(why) = error.downcast_ref::<WarmingTooSlow>()
        {
            // Filling the cache had no time where all of it was stopped.
            return Ok(if is_spoiled {
                Outcome::Spoiled
            } else {
                Outcome::TooSlow(why.to_string())
            });
        }
        let Done {
            mut trial,
            started_monotonic_ns,
        } = measured.or_failed()?;
        if signals.came().is_some() {
            return Ok(Outcome::CutShort);
        }
        if is_spoiled {
            return Ok(Outcome::Spoiled);
        }
        trial.evidence.settings.splice(0..0, in_force);
        trial.evidence.unseen.extend(unseen);
        if let Some((at, started_ns)) = appointment.zip(started_monotonic_ns) {
            let ended_ns = started_ns.saturating_add((trial.seconds * 1e9) as u64);
            let is_kept = at.rendezvous.done(at.trial, (started_ns, ended_ns));
            if !is_kept {
                let kind = at.trial.void_kind.unwrap_or(VoidKind::CalledOff);
                let why = at.trial.void.clone();
                return Ok(Outcome::Void(kind, why.unwrap_or_default()));
            }
        }
        Ok(Outcome::Trial(Box::new(trial)))
    }
}

/// Why a run has no operation in any trial, and what to do.
fn nothing_measured(run: &Run) -> String {
    let agreed = run.together.iter().flat_map(|together| &together.trials);
    match agreed.filter_map(|trial| trial.void.as_ref()).next_back() {
        Some(void) => format!(
            "Nothing was measured: no trial of the group is valid on this host; the last is void \
             because {}. Longer trials have more room for hosts that are late: a longer --time, or \
             fewer trials with --stage and --trials.",
            void.trim_end_matches('.')
        ),
        None => "Nothing was measured: no operation completed in any trial. Give the stages more \
                 with `time` in the plan, or the run with --time."
            .to_owned(),
    }
}

impl How {
    /// Writes it into the record.
    pub(super) fn tell(mut self, run: &mut Run, signals: &Signals) {
        let nothing = !run.trials.iter().any(|trial| trial.ops > 0);
        if nothing && !self.failed && self.broken.is_none() && signals.came().is_none() {
            self.failed = true;
            let why = nothing_measured(run);
            run.run.notes.push(why);
        }
        run.run.status = match (&self.broken, signals.came()) {
            (Some(_), _) => Status::Failed,
            (None, Some(_)) => Status::Interrupted,
            (None, None) if self.failed => Status::Failed,
            (None, None) => Status::Complete,
        };
        if let Some(broken) = self.broken {
            let note = format!("The run ended early: {}.", broken.sentence());
            run.run.notes.push(note);
        }
    }
}
