//! Operations that waited for a processor which others had.

use super::StageFacts;
use super::processor::{IDLE, Machine};
use crate::cpu_quota;
use crate::prelude::*;
use crate::processor_wait::ProcessorWait;

/// Of the time that operations waited, the share that others must have been in user mode.
/// Beside four `dd bs=4k` from `/dev/zero` to `/dev/null` that was half of it, beside
/// loops of a shell all; a `dd bs=1M` is there for a hundredth of its time, and is missed
/// here: then the time in the kernel may be other programs'.
const OTHERS_IN_USER_MODE: f64 = 0.2;
/// Time of others in user mode, nanoseconds: ten ticks of `/proc/stat`, at 100 a second.
const TICKS_NS: f64 = 1e8;

/// That others had the processors: the machine was not idle, what this process used of it
/// is a small part, and tasks waited for their turn.
///
/// How long its threads waited is their own account, where the kernel keeps one. Else:
/// a closed loop always has operations in flight, and while the device has none of them
/// and the thread does not run, they wait for a processor, if nothing else holds them. Threads of
/// the kernel that work for the stage (encryption, arrays, completions) are nobody else, and are
/// never in user mode: so others must have been there, for longer than the ticks of `/proc/stat`
/// can be wrong about.
#[derive(Debug, Clone)]
pub(crate) struct ProcessorTaken {
    /// Share of the time that operations waited for a processor.
    pub(crate) share: f64,
    /// Share of the time that the device worked.
    pub(crate) device: f64,
    /// Share of the time of all processors for which they had nothing to do.
    pub(crate) idle: f64,
    /// By which figures, each a sentence.
    pub(crate) evidence: [String; 2],
}

impl ProcessorTaken {
    pub(crate) fn of(facts: &StageFacts<'_>) -> Option<Self> {
        let workload = facts.workload();
        let account = ProcessorWait::of(facts.stage);
        // Where only the pressure of the machine is known, several streams may wait for each
        // other. And they may wait for the next period of their own group.
        let own_doing = workload.rate.is_some() || workload.streams > 1 && account.is_none();
        unless(own_doing || cpu_quota::holds_back(facts.stage))?;
        // Threads that are bound to some processors wait while others are idle.
        let machine = Machine::of(facts).filter(|one| account.is_some() || one.idle <= IDLE)?;
        let waited = facts.sum(|trial| Some(trial.evidence.pressure?.cpu_some_ns as f64))?;
        let time = facts.seconds() * 1e9;
        let iops = facts.iops()?;
        let own_user = facts.figures.cpu_user_ns_per_io? * iops / 1e9;
        let own = own_user + facts.figures.cpu_system_ns_per_io? * iops / 1e9;
        let device = facts.busy()?;
        let waited = (waited / time).min(1.0);
        let rest = 1.0 - own - device;
        let share = account.map_or(rest.min(waited), |wait| wait.share);
        let others_user = machine.user_ns / time - own_user;
        let few = others_user < OTHERS_IN_USER_MODE * share || others_user * time < TICKS_NS;
        unless(!share.is_finite() || few)?;
        let processors = format!(
            "The processors of the machine were idle in {} of the time, and somebody waited for \
             one in {}.",
            percent(machine.idle),
            percent(waited)
        );
        let how_long = account.map(|wait| wait.evidence("had no processor"));
        let how_long = how_long.unwrap_or_else(|| {
            let [own, device, rest] = [own, device, rest.max(0.0)].map(percent);
            format!(
                "An operation used {own} of its time on a processor, the device worked in \
                 {device}: the remaining {rest} it waited for its turn, or for what others held."
            )
        });
        Some(Self {
            share,
            device,
            idle: machine.idle,
            evidence: [processors, how_long],
        })
    }
}
