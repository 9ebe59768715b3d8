//! Trials that begin together with those of other hosts.
//!
//! What is to begin when is an [`Agreement`], worked out before anything is written. Each trial
//! is prepared, waits at the [`Rendezvous`] until its moment, and is void where it would begin
//! too late: then it is left out, because what others measure must not be disturbed by it at
//! another time, and the next begins when it was to.

mod agreement;
mod clock;
mod group;
mod placement;
mod rendezvous;
mod shared;

use super::measure::{How, Outcome, Trials};
use super::schedule::Next;
use crate::exit::Failure;
use diskfacts_plan::Stage;
use diskfacts_plan::units::show_duration;
use diskfacts_record::Stack;
use diskfacts_record::together::{AgreedTrial, VoidKind};

pub(super) use agreement::{Agreement, Start};
pub(super) use group::Meeting;
pub(crate) use group::{GATHERED_HOSTS_MAX, Gathered, LaunchedGroup};
pub(super) use placement::Placement;
pub(super) use rendezvous::{Cancelled, Rendezvous, StoppedWaiting};

/// What a target lies on, as far as this machine can tell it from another of its own.
pub(super) fn storage_of(stack: &Stack) -> Option<String> {
    let leaves = stack.leaves();
    let names = leaves.map(|leaf| format!("{} {}:{}", leaf.name, leaf.major, leaf.minor));
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    if !names.is_empty() {
        return Some(names.join(" + "));
    }
    let filesystem = stack.filesystem.as_ref()?;
    Some(format!("{} {}", filesystem.kind, filesystem.source))
}

/// A trial of the agreement, with who waits for its moment.
pub(super) struct Appointment<'a> {
    pub(super) trial: &'a mut AgreedTrial,
    pub(super) rendezvous: &'a mut dyn Rendezvous,
}

impl Trials<'_> {
    /// Does the trials of an agreement, each at its moment.
    pub(super) fn together(
        &mut self,
        agreement: &Agreement,
        rendezvous: &mut dyn Rendezvous,
        how: &mut How,
    ) {
        let stages = self.run.plan.stages.clone();
        let rounds = agreement.rounds();
        self.display.set_trials((rounds, rounds));
        let seed = self.run.run.seed;
        while how.broken.is_none() && self.signals.came().is_none() {
            let next = match rendezvous.next(agreement) {
                Ok(Some(index)) => agreement.trials[index].next(seed),
                Ok(None) => break,
                Err(ended) => {
                    how.broken = Some(ended);
                    break;
                }
            };
            let is_last = next.number == rounds;
            if let Err(broken) = self.at_its_moment(next, &stages, rendezvous, is_last, how) {
                how.broken = Some(broken);
            }
        }
        if let Some(together) = &mut self.run.together {
            together.lost = rendezvous.lost();
        }
        if how.broken.is_none() && self.signals.came().is_none() {
            self.display.trials_ended();
        }
    }

    fn at_its_moment(
        &mut self,
        mut next: Next,
        stages: &[Stage],
        rendezvous: &mut dyn Rendezvous,
        is_last: bool,
        how: &mut How,
    ) -> Result<(), Failure> {
        let stage = &stages[next.stage];
        let Some(mut agreed) = self.agreed(next.order) else {
            return Ok(());
        };
        let ahead_ns = rendezvous.ahead_ns(&agreed);
        let late_ns = ahead_ns.map_or(0, |ahead| u64::try_from(-ahead).unwrap_or(0));
        let outcome = if late_ns > agreed.late_ns_max() {
            agreed.late_ns = Some(late_ns);
            let why = format!(
                "this host came to it {} after its start, because what was before it took that \
                 long",
                show_duration(late_ns)
            );
            Outcome::Void(VoidKind::Late, why)
        } else {
            // What fills a cache for longer than this comes too late.
            next.prepare_ns = ahead_ns.map(|ahead| u64::try_from(ahead).unwrap_or(0));
            let unseen = self.settle_before(stage, how)?;
            let stack = self.run.stack.clone();
            let appointment = Appointment {
                trial: &mut agreed,
                rendezvous: &mut *rendezvous,
            };
            self.one(&next, stage, &stack, unseen, Some(appointment))?
        };
        match outcome {
            Outcome::CutShort => return Ok(()),
            Outcome::Void(kind, why) => agreed.make_void(kind, why),
            Outcome::TooSlow(why) => {
                agreed.make_void(VoidKind::Unprepared, format!("it was not prepared: {why}"));
            }
            Outcome::Spoiled => {
                let why = "Ctrl-Z stopped it on this host".to_owned();
                agreed.make_void(VoidKind::Stopped, why);
                rendezvous.missed(&agreed, agreed.length_ns);
            }
            Outcome::Trial(trial) => {
                how.failed |= trial.errors > 0;
                self.put_agreed(&agreed);
                self.keep_trial(*trial, next.stage, is_last)?;
                return Ok(());
            }
        }
        if let Some(why) = agreed.void.as_ref().filter(|_| rendezvous.speaks()) {
            let label = stage.label();
            let number = agreed.number;
            self.display.tell(&format!(
                "diskfacts: note: trial {number} of {label} is void: {why}"
            ));
        }
        self.put_agreed(&agreed);
        Ok(())
    }

    /// The trial of this order as it was agreed on.
    fn agreed(&self, order: u32) -> Option<AgreedTrial> {
        let together = self.run.together.as_ref()?;
        let mut trials = together.trials.iter();
        trials.find(|trial| trial.order == order).cloned()
    }

    /// What became of it.
    fn put_agreed(&mut self, agreed: &AgreedTrial) {
        let trials = self.run.together.iter_mut().flat_map(|t| &mut t.trials);
        for trial in trials.filter(|trial| trial.order == agreed.order) {
            trial.clone_from(agreed);
        }
    }
}
