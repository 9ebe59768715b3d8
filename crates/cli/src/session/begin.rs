//! The fourth step: the record of the run is begun and stored, so that what is killed
//! from here on is found as `killed` in the store.

use super::fill::Filled;
use super::reserve::Held;
use super::together::{Agreement, Meeting, Start};
use super::{id, io_priority, io_weight, leftovers, observing};
use crate::exit::{Failure, OrFail};
use crate::progress::Display;
use crate::target::Medium;
use diskfacts_engine::overhead_ns_per_io;
use diskfacts_host::{Roots, machine};
use diskfacts_plan::Plan;
use diskfacts_record::{Labels, Membership, Run, RunInfo, SCHEMA, Stack, Status, Target};
use diskfacts_store::Store;
use jiff::Timestamp;
use std::time::Instant;

/// A run that is stored, with no trial yet.
pub(super) struct Begun {
    pub(super) run: Run,
    pub(super) held: Held,
    pub(super) store: Store,
    pub(super) display: Display,
    pub(super) began: Instant,
    /// The trials that begin together with those of other hosts, and when they do.
    pub(super) together: Option<(Agreement, Start)>,
}

impl Filled<'_> {
    pub(super) fn begin(self, meeting: Option<&Meeting>) -> Result<Begun, Failure> {
        let reserved = self.reserved;
        let (accepted, mut held, mut store) = (reserved.accepted, reserved.held, reserved.store);
        let (plan, notes) = reserved.fitted;
        let (measured, stack) = (&mut held.measured, &held.stack);
        measured.notes.extend(notes);
        measured.notes.extend(leftovers::remove(&plan, measured)?);
        measured.notes.extend(io_priority::notes(&plan, stack));
        measured.notes.extend(io_weight::notes(&plan, stack));
        if matches!(measured.medium, Medium::File(_)) {
            measured.notes.extend(observing::leftovers());
            measured.notes.extend(observing::note(&plan, stack));
        }
        let mut run = record(
            (accepted.started, accepted.seed),
            &measured.target,
            stack.clone(),
            plan,
        );
        run.run.labels = accepted.request.labels.clone();
        let together = reserved.agreement.zip(accepted.start);
        run.together = together
            .as_ref()
            .map(|(agreement, start)| agreement.record(&run.plan, start, meeting));
        run.run.membership = accepted.request.membership.clone();
        if let Some(meeting) = meeting {
            run.run.membership.group = Some(meeting.group.clone());
        }
        run.run.budget_ns = Some(accepted.request.time_ns);
        run.run.overhead_ns_per_io = match measured.medium {
            Medium::File(_) => Some(overhead_ns_per_io().or_failed()?),
            // Measuring costs no virtual time.
            Medium::Simulated(_) => None,
        };
        run.run.notes = std::mem::take(&mut measured.notes);
        store
            .begin(&run, crate::storing::writer_of("self").as_ref())
            .or_failed()?;
        Ok(Begun {
            run,
            held,
            store,
            display: self.display,
            began: accepted.began,
            together,
        })
    }
}

/// The record of a run before its first trial.
pub(super) fn record(
    (started, seed): (Timestamp, u64),
    target: &Target,
    stack: Stack,
    plan: Plan,
) -> Run {
    let machine = machine(&Roots::default());
    Run {
        schema: SCHEMA,
        run: RunInfo {
            id: id(started, &machine, seed),
            started: started.to_string(),
            ended: None,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            command: std::env::args_os()
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            status: Status::Running,
            seed,
            budget_ns: None,
            overhead_ns_per_io: None,
            notes: Vec::new(),
            source: None,
            labels: Labels::default(),
            membership: Membership::default(),
        },
        machine,
        target: target.clone(),
        stack,
        plan,
        preconditioning: Vec::new(),
        trials: Vec::new(),
        claim_tests: Vec::new(),
        health_after: None,
        together: None,
        figures: Vec::new(),
        findings: Vec::new(),
        limits: Vec::new(),
        effects: Vec::new(),
        verdicts: Vec::new(),
    }
}
