//! Settings of the kernel around the trials: checked and tried before anything is
//! measured, set before each trial, put back at the end.
//!
//! What a stage does not ask for is as it was before the run, also between two
//! stages that do.

use super::{io_priority, kernel};
use crate::args::CacheProof;
use crate::exit::{Failure, OrFail, say};
use crate::state;
use crate::target::{Measured, Medium};
use diskfacts_host::settings::{Changes, Locks, Making, Setting, Wanted};
use diskfacts_host::{MemoryLimit, Roots};
use diskfacts_plan::{On, Plan, Stage};
use diskfacts_record::Stack;
use diskfacts_record::evidence::SettingInForce;
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What a stage asks for, and whether of what lies under the file beside the target.
type Asked = (bool, BTreeMap<String, String>);

/// The settings of a run.
#[derive(Debug, Default)]
pub(super) struct Settings {
    changes: Option<Changes>,
    /// Kept as long as is measured, so that nobody else changes settings.
    _shared: Locks,
    /// What the stages ask for, each once.
    asked: Vec<Asked>,
    /// What was not applied as asked; sentences.
    notes: BTreeSet<String>,
}

/// What is done before the target is opened: refuses what this process may not, and puts
/// back what dead runs left changed, before anything is looked at. Notes of the latter.
pub(super) fn look_first(
    plan: &Plan,
    simulated: bool,
    proof: Option<CacheProof>,
) -> Result<Vec<String>, Failure> {
    kernel::check(plan, simulated, proof)?;
    if simulated {
        return Ok(Vec::new());
    }
    io_priority::check(plan)?;
    state::before_measuring()
}

/// For who only measures what stands on `stack`: refused while settings of it are
/// being changed, and kept from being changed as long as the answer lives.
pub(super) fn share(stack: &Stack) -> Result<Locks, Failure> {
    // Who has no folder has no journals of his own.
    let folders = state::folders().unwrap_or_default();
    Locks::shared(&Roots::default(), &folders, stack, None).map_err(state::failure)
}

/// What of a stage's table `kernel` stands in files of the kernel.
fn asked(stage: &Stage) -> Asked {
    let files = stage.kernel.iter();
    let files = files.filter(|(name, _)| Setting::parse(name).is_some());
    let values = files.map(|(name, value)| (name.clone(), value.clone()));
    (stage.workload.on == On::File, values.collect())
}

impl Settings {
    /// [`begin_on`](Self::begin_on) what lies under the target. On a simulated disk nothing
    /// of the real kernel is touched.
    pub(super) fn begin(
        plan: &Plan,
        measured: &Measured,
        stack: &Stack,
        limit: Option<&MemoryLimit>,
    ) -> Result<Self, Failure> {
        if let Medium::Simulated(_) = measured.medium {
            return Ok(Self::default());
        }
        let beside = measured.beside.as_ref();
        let beside = beside.map_or(stack, |beside| &beside.stack);
        Self::begin_on(plan, (stack, beside), limit)
    }

    /// Checks and tries what the stages of `plan` ask for; nothing is changed when
    /// this returns, but all old values are in the journal. The watchdog leaves the
    /// group of `limit`, which has to be removed when this process is dead. The stacks
    /// are those of the target and of the file beside it.
    fn begin_on(
        plan: &Plan,
        (stack, beside): (&Stack, &Stack),
        limit: Option<&MemoryLimit>,
    ) -> Result<Self, Failure> {
        let mut all: Vec<Asked> = Vec::new();
        for of_stage in plan.stages.iter().map(asked) {
            if !of_stage.1.is_empty() && !all.contains(&of_stage) {
                all.push(of_stage);
            }
        }
        let wanted: Vec<Wanted<'_>> = all
            .iter()
            .map(|(on_file, settings)| Wanted {
                stack: if *on_file { beside } else { stack },
                settings,
            })
            .collect();
        let roots = Roots::default();
        // Who has no folder changes nothing, and can measure all the same.
        let folders = match state::folders() {
            Err(failure) if !all.is_empty() => return Err(failure),
            folders => folders.unwrap_or_default(),
        };
        let making = Making {
            roots: &roots,
            folders: &folders,
            executable: Path::new(state::EXECUTABLE),
            groups: limit
                .iter()
                .map(|limit| limit.before().to_owned())
                .collect(),
            command: command(),
            now: Timestamp::now().to_string(),
            steps: state::steps(),
        };
        let changes = Changes::begin(making, &wanted).map_err(state::failure)?;
        let shared =
            Locks::shared(&roots, &folders, stack, changes.as_ref()).map_err(state::failure)?;
        Ok(Self {
            changes,
            _shared: shared,
            asked: all,
            notes: BTreeSet::new(),
        })
    }

    /// Sets what the stage asks for, and all else as it was; says what is in force.
    pub(super) fn before(&mut self, stage: &Stage) -> Result<Vec<SettingInForce>, Failure> {
        let place = self.place(stage);
        let Some(changes) = &mut self.changes else {
            return Ok(Vec::new());
        };
        // Behind the last one stand stages that ask for nothing.
        changes.apply(place).or_failed()
    }

    /// Notes what was not in force, or not to the end.
    pub(super) fn after(&mut self, stage: &Stage, in_force: &mut [SettingInForce]) {
        let place = self.place(stage);
        if let Some(changes) = &self.changes {
            changes.look_again(place, in_force);
        }
        for seen in in_force {
            if let Some(note) = &seen.note {
                let on = seen.device.as_deref().unwrap_or("the machine");
                self.notes.insert(format!(
                    "`{} = {}` of {on} in stage {}: {note}.",
                    seen.name,
                    seen.asked,
                    stage.label()
                ));
            }
        }
    }

    fn place(&self, stage: &Stage) -> usize {
        let of_stage = asked(stage);
        let known = self.asked.iter().position(|known| *known == of_stage);
        known.unwrap_or(self.asked.len())
    }

    /// Puts everything back, and says what was not applied and what is gone; a failure
    /// where something is not as it was.
    pub(super) fn end(&mut self) -> (Vec<String>, Option<Failure>) {
        let mut notes: Vec<String> = std::mem::take(&mut self.notes).into_iter().collect();
        let Some(changes) = self.changes.take() else {
            return (notes, None);
        };
        let back = match changes.finish() {
            Ok(back) => back,
            Err(error) => return (notes, Some(state::failure(error))),
        };
        notes.extend(back.gone);
        // A run that a signal has ended says no failure, and these are lines to type.
        for failed in &back.failed {
            say(&format!("diskfacts: not put back: {failed}"));
        }
        let failure = (!back.failed.is_empty()).then(|| {
            Failure::failed(format!(
                "not all settings are as they were before the run: {}. The journal stays: `diskfacts \
                 restore` tries again, and so does the next run",
                back.failed.join("; ")
            ))
        });
        (notes, failure)
    }
}

/// The command line, for who finds the journal.
fn command() -> String {
    let mut words = std::env::args_os();
    let name = words.next().unwrap_or_default();
    let name = Path::new(&name).file_name().unwrap_or_default().to_owned();
    let words = std::iter::once(name).chain(words);
    let words: Vec<String> = words
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    words.join(" ")
}
