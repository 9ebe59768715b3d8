//! What is needed of one run of a group.

use super::keyed::Firsts;
use super::storage::Storage;
use diskfacts_plan::Workload;
use diskfacts_plan::plan::stage_label;
use diskfacts_record::evidence::Intervals;
use diskfacts_record::together::AgreedTrial;
use diskfacts_record::{Layers, PackedHistograms, Run, Status, Together, Trial};
use std::collections::BTreeMap;
use std::fmt;

/// One run of a group.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    pub(super) host: String,
    pub(super) run: String,
    pub(super) status: Status,
    pub(super) tool_version: String,
    pub(super) target: String,
    pub(super) plan: String,
    pub(super) kernel: Option<String>,
    pub(super) boot_id: Option<String>,
    pub(super) storage: Option<Storage>,
    pub(super) together: Together,
    /// In the order of the agreement.
    pub(super) trials: Vec<MemberTrial>,
}

/// A trial of the agreement on one host.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MemberTrial {
    pub(super) agreed: AgreedTrial,
    /// What was measured; absent where it was not done.
    pub(super) done: Option<Measured>,
}

/// What a host measured in a trial.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measured {
    /// From the first operation to the end, nanoseconds from the start of the group.
    pub(super) span_ns: [i64; 2],
    pub(super) workload: Workload,
    pub(super) bytes: u64,
    pub(super) ops: u64,
    pub(super) errors: u64,
    pub(super) intervals: Intervals,
    pub(super) histograms: PackedHistograms,
    pub(super) layers: Layers,
    /// Nanoseconds of all operations.
    pub(super) user_ns: Option<f64>,
    pub(super) system_ns: Option<f64>,
    /// What the devices of its stack counted: name, bytes read, bytes written.
    pub(super) devices: Vec<(String, u64, u64)>,
}

/// Why a run is none of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotAMember {
    run: String,
}

impl fmt::Display for NotAMember {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "the run {} was made by one host alone, so it has no common start with others; \
             `diskfacts measure TARGET --start-at TIME --group NAME` on each host makes runs that \
             can be added up",
            self.run
        )
    }
}

impl std::error::Error for NotAMember {}

impl Member {
    /// What is needed of a run.
    ///
    /// # Errors
    /// Where it was made by one host alone.
    pub fn of(run: &Run) -> Result<Self, NotAMember> {
        let Some(together) = &run.together else {
            return Err(NotAMember {
                run: run.run.id.clone(),
            });
        };
        let mut done = Done::of(run);
        let trials = together.trials.iter().map(|agreed| MemberTrial {
            agreed: agreed.clone(),
            done: done.take(agreed).and_then(|trial| measured(trial, agreed)),
        });
        Ok(Self {
            host: run
                .machine
                .host
                .clone()
                .unwrap_or_else(|| run.run.id.clone()),
            run: run.run.id.clone(),
            status: run.run.status,
            tool_version: run.run.tool_version.clone(),
            target: run.target.given.clone(),
            plan: run.plan.name.clone(),
            kernel: run.machine.kernel.clone(),
            boot_id: run.machine.boot_id.clone(),
            storage: Storage::of(&run.stack, run.machine.boot_id.as_deref()),
            trials: trials.collect(),
            together: together.clone(),
        })
    }

    /// Name of its group.
    pub fn group(&self) -> &str {
        &self.together.group
    }

    /// Operations that its histograms count.
    pub(super) fn count(&self) -> u64 {
        let done = self.trials.iter().filter_map(|trial| trial.done.as_ref());
        let counts = done.map(|done| done.histograms.count());
        counts.fold(0, u64::saturating_add)
    }
}

impl MemberTrial {
    /// The stage, with what was varied.
    pub(super) fn label(&self) -> String {
        stage_label(&self.agreed.stage, &self.agreed.settings)
    }

    /// Whether the host did not come to it.
    pub(super) fn is_left(&self) -> bool {
        self.done.is_none() && self.agreed.void.is_none()
    }
}

/// The trials of a run by what was agreed. Each is taken once: a run may come from anywhere and
/// say that a million were agreed on, and is not to have the one that it holds copied as often.
struct Done<'a>(Firsts<DoneKey<'a>, &'a Trial>);

/// Order, stage, and what was varied.
type DoneKey<'a> = (u32, &'a str, &'a BTreeMap<String, String>);

impl<'a> Done<'a> {
    fn of(run: &'a Run) -> Self {
        let key =
            |trial: &'a Trial| -> DoneKey<'a> { (trial.order, &trial.stage, &trial.settings) };
        Self(Firsts::of(
            run.trials.iter().map(|trial| (key(trial), trial)),
        ))
    }

    fn take(&mut self, agreed: &'a AgreedTrial) -> Option<&'a Trial> {
        let key: DoneKey<'_> = (agreed.order, &agreed.stage, &agreed.settings);
        self.0.take(&key)
    }
}

/// What was measured in the trial that was done for what was agreed; where it is not known when,
/// there is none.
fn measured(trial: &Trial, agreed: &AgreedTrial) -> Option<Measured> {
    let all = |per_io: Option<f64>| per_io.map(|ns| ns * trial.ops as f64);
    let devices = trial.evidence.devices.iter().filter(|device| device.leaf);
    Some(Measured {
        span_ns: [agreed.started_ns?, agreed.ended_ns?],
        workload: trial.workload.clone(),
        bytes: trial.bytes,
        ops: trial.ops,
        errors: trial.errors,
        intervals: trial.evidence.intervals.clone(),
        histograms: trial.histograms.clone(),
        layers: trial.layers,
        user_ns: all(trial.cpu.user_ns_per_io),
        system_ns: all(trial.cpu.system_ns_per_io),
        devices: devices
            .map(|device| (device.name.clone(), device.read_bytes, device.write_bytes))
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn agreed(order: u32, of: &Trial) -> AgreedTrial {
        AgreedTrial {
            order,
            stage: of.stage.clone(),
            settings: of.settings.clone(),
            number: of.number,
            at_ns: 0,
            length_ns: 1,
            started_ns: Some(0),
            ended_ns: Some(1),
            clock_error_ns: 0,
            late_ns: None,
            void: None,
            void_kind: None,
        }
    }

    #[test]
    fn a_trial_is_of_one_agreement() {
        let run = testing::healthy();
        let first = &run.trials[0];
        let here = agreed(first.order, first);
        let elsewhere = AgreedTrial {
            stage: "another".to_owned(),
            ..agreed(run.trials[1].order, &run.trials[1])
        };
        let mut done = Done::of(&run);
        assert_eq!(done.take(&here), Some(first));
        assert_eq!(done.take(&here), None, "it was copied once");
        assert_eq!(done.take(&elsewhere), None);
    }
}
