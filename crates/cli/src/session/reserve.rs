//! The second step: all that the run needs of this machine is taken, and nothing of it
//! is used yet. What cannot be had ends the run here.

use super::refuse::Accepted;
use super::settings::Settings;
use super::together::{Agreement, Placement};
use super::{cache_proof, fit};
use crate::exit::{Failure, OrFail};
use crate::signals::Signals;
use crate::target::{self, Measured, Medium, Room, Wanted};
use diskfacts_host::MemoryLimit;
use diskfacts_plan::{On, Plan};
use diskfacts_record::Stack;
use diskfacts_store::Store;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What a run holds of the machine, each undone by its own drop, in the order in which
/// they stand here: on an error and in a panic too. A kill leaves the journal of the
/// settings, which the watchdog puts back, and an empty group; target, loop device and
/// file are gone with the process.
pub(super) struct Held {
    /// Old values in the journal, locks, watchdog: everything was tried once and is as before.
    pub(super) settings: Settings,
    /// The control group of this process.
    pub(super) _limit: Option<MemoryLimit>,
    /// The target: claimed, or made here.
    pub(super) measured: Measured,
    /// What lies under it.
    pub(super) stack: Stack,
}

/// A run that has all that it needs.
pub(super) struct Reserved<'a> {
    pub(super) accepted: Accepted<'a>,
    pub(super) held: Held,
    /// The plan as it fits the target, and notes on what was left out.
    pub(super) fitted: (Plan, Vec<String>),
    /// What it agrees on with the other hosts of its group, if it has one.
    pub(super) agreement: Option<Agreement>,
    pub(super) store: Store,
}

impl<'a> Accepted<'a> {
    pub(super) fn reserve(mut self, signals: &Signals) -> Result<Reserved<'a>, Failure> {
        let request = self.request;
        let (mut measured, stack) = target::open(&self.wanted()?, signals)?;
        if let Medium::File(open) = &measured.medium {
            let metadata = open.file.metadata().or_failed()?;
            let written = (metadata.dev(), metadata.ino());
            let path = Path::new(&measured.target.path);
            crate::storing::is_not(request.common, (path, Some(written)))?;
        }
        measured.notes.splice(0..0, std::mem::take(&mut self.notes));
        // Before the file is filled: what fills it counts for the limit too.
        let limit = cache_proof::begin(request.cache_proof, &request.plan, &mut measured)?;
        let fitted = fit::fit(&self.plan, (&measured, &stack), request.built_in)?;
        let agreement = self.start.as_ref().map(|start| {
            let agreement = Agreement::new(&fitted.0, start, request.time_ns);
            agreement.map_err(Failure::wrong_call)
        });
        let agreement = agreement.transpose()?;
        let changes = fitted.0.stages.iter().any(|stage| !stage.kernel.is_empty());
        signals.waits_for(&stack, changes);
        let settings = Settings::begin(&fitted.0, &measured, &stack, limit.as_ref())?;
        // After all that may be wrong with the call, which must leave no store
        // behind; before anything is measured, which must be kept.
        let store = crate::storing::open(request.common)?;
        Ok(Reserved {
            accepted: self,
            held: Held {
                settings,
                _limit: limit,
                measured,
                stack,
            },
            fitted,
            agreement,
            store,
        })
    }

    /// What this host uses of files that the hosts of its group share.
    pub(super) fn placement(&self) -> Option<Placement> {
        self.start.as_ref()?.placement
    }

    fn wanted(&self) -> Result<Wanted<'a>, Failure> {
        let request = self.request;
        let plan = &request.plan;
        let mut workloads = plan.stages.iter().map(|stage| &stage.workload);
        let writes = workloads
            .clone()
            .any(|workload| workload.writes_anything() && !workload.operation.on_files());
        Ok(Wanted {
            given: request.target,
            size: request
                .size
                .or(cache_proof::size(request.cache_proof, request.target)?),
            looped: request.looped,
            beside: workloads.any(|workload| workload.on == On::File),
            writes: writes || !plan.precondition.is_empty(),
            destroy_data_on: request.destroy_data_on,
            seed: self.seed,
            shared: self.placement().map(|placement| placement.times()),
            room: match &self.start {
                Some(start) if start.agrees() => Room::WhenAgreed,
                _ => Room::AtOnce,
            },
        })
    }
}
