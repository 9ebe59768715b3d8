//! How long the threads that did the operations waited for a processor, and whose fault
//! that was.
//!
//! The pressure of `/proc/pressure/cpu` is of whoever waits on the machine: beside a busy
//! neighbour it is full while a throttled reader sleeps, and waits for nobody. The account
//! of a thread (`run_delay`) is its own.

use crate::stages::Stage;
use crate::words::{percent, ratio_of};
use diskfacts_record::Trial;

/// Share of the time that a thread ran from which on it did nothing else, and is the limit: a tenth
/// is left to waiting that batches and the kernel's ticks hide.
pub(crate) const SATURATED: f64 = 0.9;

/// Share of the time that threads wait for a processor from which on it matters. The kernel's own
/// threads wait for each other on a small machine, so a few percent are always there.
pub(crate) const WAIT: f64 = 0.2;

/// Share of what all processors did from which on the streams were in nobody's way but
/// their own: ticks and interrupts are a tenth at most.
pub(crate) const OWN: f64 = 0.8;

/// Share of the time of all processors that is idle from which on it was not them that was
/// waited for: one that runs out of work takes what is ready elsewhere (kernel:
/// `sched_balance_newidle`), so what may run on any of them does not wait beside so much.
pub(crate) const IDLE: f64 = 0.2;

/// Share of all processors' time that the hypervisor gives to others from which on it matters.
pub(crate) const STOLEN: f64 = 0.05;

/// Waiting for processors, of one stage.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessorWait {
    /// Share of their time for which the threads were ready to run and had no processor.
    pub(crate) share: f64,
    /// Share that these threads and the kernel for them had of all that the processors of
    /// the machine did; `None` where it was not counted.
    pub(crate) own: Option<f64>,
    /// Share of the time of all processors for which they had nothing to do.
    pub(crate) idle: Option<f64>,
}

impl ProcessorWait {
    /// That of a stage; `None` where the kernel did not account for it in some trial.
    pub(crate) fn of(stage: &Stage<'_>) -> Option<Self> {
        Self::of_trials(&stage.trials)
    }

    /// How long the threads waited, and for what, a sentence.
    pub(crate) fn evidence(&self, and: &str) -> String {
        format!(
            "The threads that did the operations were ready to run and {and} for {} of the time: \
             the kernel's account of each of them.",
            percent(self.share)
        )
    }

    /// The same of some trials.
    pub(crate) fn of_trials(trials: &[&Trial]) -> Option<Self> {
        let sum = |of: fn(&Trial) -> Option<f64>| -> Option<f64> {
            trials.iter().map(|trial| of(trial)).sum()
        };
        let waited = sum(|trial| Some(trial.cpu.wait_ns_per_io? * trial.ops as f64))?;
        let time = sum(|trial| {
            Some(trial.seconds * 1e9 * f64::from(trial.evidence.engine.threads.max(1)))
        })?;
        let used = sum(|trial| {
            let each_ns = trial.cpu.user_ns_per_io? + trial.cpu.system_ns_per_io?;
            Some(each_ns * trial.ops as f64)
        });
        let done = sum(|trial| {
            let all = trial.evidence.processors?;
            Some(all.user_ns as f64 + all.system_ns as f64 + all.interrupt_ns as f64)
        });
        let idle = sum(|trial| Some(trial.evidence.processors?.idle_ns as f64));
        let share = waited / time;
        let own = used.zip(done).map(|(used, done)| used / done);
        let idle = idle.zip(done).map(|(idle, done)| idle / (idle + done));
        share.is_finite().then(|| Self {
            share: share.clamp(0.0, 1.0),
            own: own.filter(|own| own.is_finite()),
            idle: idle.filter(|idle| idle.is_finite()),
        })
    }
}

/// Who has the processors that are waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The streams of the stage themselves.
    Own,
    /// Others, or it is not known.
    Others,
    /// Nobody: they were idle, and the stage was not let on them.
    Nobody,
}

/// Who has the processors that a stage waited for, the share of its time that it did, and what that
/// rests on, a sentence.
pub(crate) fn waited(stage: &Stage<'_>) -> Option<(Whose, f64, String)> {
    match ProcessorWait::of(stage) {
        Some(wait) => Some(by_thread(stage, &wait)),
        None => by_pressure(stage),
    }
}

/// By the accounts of the threads themselves.
fn by_thread(stage: &Stage<'_>, wait: &ProcessorWait) -> (Whose, f64, String) {
    let threads = stage.trials.iter().map(|t| t.evidence.engine.threads);
    let threads = threads.max().unwrap_or(1);
    let idle = wait.idle.filter(|idle| *idle >= IDLE);
    let whose = if idle.is_some() {
        Whose::Nobody
    } else if threads > 1 && wait.own.is_some_and(|own| own >= OWN) {
        Whose::Own
    } else {
        Whose::Others
    };
    let own = wait.own.map_or_else(String::new, |own| {
        let own = percent(own.min(1.0));
        format!(", and had {own} of what the processors of the machine did")
    });
    let idle = idle.map(percent).map_or_else(String::new, |idle| {
        format!("; they were idle for {idle} of it")
    });
    let were = if threads == 1 { "was" } else { "were" };
    let line = format!(
        "{} that did the operations {were} ready to run and had no processor for {} of the \
         time{own}{idle}.",
        ratio_of(f64::from(threads), "thread", "threads"),
        percent(wait.share)
    );
    (whose, wait.share, line)
}

/// By whoever waits on the machine.
fn by_pressure(stage: &Stage<'_>) -> Option<(Whose, f64, String)> {
    let pressure = |t: &Trial| t.evidence.pressure.map(|pressure| pressure.cpu_some_ns);
    let share = stage.known(pressure)? as f64 / 1e9 / stage.seconds();
    let of_time = percent(share.min(1.0));
    let line =
        format!("some task of the machine waited for a processor during {of_time} of the time.");
    share.is_finite().then_some((Whose::Others, share, line))
}
