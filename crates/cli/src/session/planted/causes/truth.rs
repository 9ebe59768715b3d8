//! Whether the planted cause truly is what holds the stage back: what the simulated
//! disk says of the time of the operations, or what the same disk does without it.

use super::draw::WORK;
use super::{Cause, Draw};
use diskfacts_record::Run;
use diskfacts_record::evidence::TimeParts;

/// How it is known.
#[derive(Clone, Copy)]
pub(super) enum Truth {
    /// Without the plant the stage is so many times faster, at least.
    Gain(f64),
    /// This part of the operations' time is so large a share of it, at least.
    Share(fn(&TimeParts) -> u64, f64),
    /// Another stage of the plan, that the cause does not concern, is so many times
    /// faster, at least.
    Faster(&'static str, f64),
    /// The last stage but one of the plan is as fast, and has half of its depth at
    /// most.
    Knee,
    /// Memory of the host served nearly all bytes.
    Memory,
    /// The rate that was asked for was met, and nearly nothing waited.
    Met,
}

impl Truth {
    /// Whether it is so in the run of a planting that was drawn with `seed`.
    pub(super) fn holds(self, cause: &Cause, run: &Run, seed: u64) -> bool {
        match self {
            Self::Gain(least) => {
                let without = (cause.plant)(&mut Draw::new(seed), false);
                let mut without = without;
                without.plan.stages.retain(|stage| stage.name == WORK);
                rate(&without.run(), WORK) >= least * rate(run, WORK)
            }
            Self::Share(part, least) => {
                let time = time(run);
                part(&time) as f64 >= least * time.total_ns() as f64
            }
            Self::Faster(other, least) => rate(run, other) >= least * rate(run, WORK),
            Self::Knee => {
                let before = &run.plan.stages[run.plan.stages.len() - 2].name;
                rate(run, WORK) <= 1.15 * rate(run, before)
            }
            Self::Memory => layers(run) > 0.95,
            Self::Met => {
                let trials = || run.trials.iter().filter(|trial| trial.stage == WORK);
                let asked = trials().filter_map(|trial| trial.workload.rate);
                let met = trials()
                    .zip(asked)
                    .all(|(trial, rate)| trial.iops >= 0.97 * rate.operations_per_s as f64);
                let time = time(run);
                met && time.queue_ns * 4 < time.total_ns()
            }
        }
    }
}

/// Mean rate of a stage, bytes a second.
pub(super) fn rate(run: &Run, stage: &str) -> f64 {
    let of_stage = run.trials.iter().filter(|trial| trial.stage == stage);
    let rates: Vec<f64> = of_stage.map(|t| t.throughput_bytes_per_s).collect();
    rates.iter().sum::<f64>() / rates.len().max(1) as f64
}

/// Where the time of the stage went.
fn time(run: &Run) -> TimeParts {
    let of_stage = run.trials.iter().filter(|trial| trial.stage == WORK);
    of_stage
        .filter_map(|trial| trial.evidence.truth?.time)
        .fold(TimeParts::default(), |sum, time| sum.plus(&time))
}

/// Least share of memory among the trials of the stage.
fn layers(run: &Run) -> f64 {
    let of_stage = run.trials.iter().filter(|trial| trial.stage == WORK);
    of_stage
        .filter_map(|trial| Some(trial.evidence.truth?.layers.page_cache))
        .fold(1.0, f64::min)
}
