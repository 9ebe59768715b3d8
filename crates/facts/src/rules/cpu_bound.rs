//! A thread of diskfacts ran nearly all the time: the figure is what this
//! machine's processor can issue, and the device may do more.
//!
//! Not said of stages that are meant to measure memory, of polling (which spins
//! by design), of an open loop that kept its rate, and of trials so short that
//! the kernel's share of their time is one of a few ticks.

use super::{Context, names};
use crate::stages::Stage;
use crate::stats;
use crate::words::{edit_plan, percent, stage_list};
use diskfacts_plan::CacheMode;
use diskfacts_plan::units::show_duration;
use diskfacts_record::{Confidence, Finding, Severity, StageFigures};

pub(super) const NAME: &str = "cpu-bound";

/// Share of the time that the busiest thread ran, from which on it is the
/// limit: a tenth is left to waiting that batches hide.
const BUSY: f64 = 0.9;

/// Trials below this, seconds, are some ticks of the kernel's processor clock
/// (4 ms with `CONFIG_HZ=250`) long, and [`too_short`](super::too_short) besides.
const SECONDS: f64 = 0.1;

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut evidence = Vec::new();
    let mut stages = Vec::new();
    let (mut user, mut system) = (0.0, 0.0);
    let mut streams = 1;
    for (stage, figures) in context.doing_something() {
        let Some(busy) = busiest(stage).filter(|busy| *busy > BUSY) else {
            continue;
        };
        let workload = stage.workload();
        if workload.cache == CacheMode::Warm
            || workload.iopoll
            || workload.sqpoll
            || workload.rate.is_some()
            || seconds(stage).is_none_or(|seconds| seconds < SECONDS)
        {
            continue;
        }
        stages.push(stage.name);
        streams = streams.max(workload.streams);
        evidence.push(format!(
            "{}: the busiest thread ran {} of the time{}.",
            stage.label(),
            percent(busy),
            cost(figures)
        ));
        user += figures.cpu_user_ns_per_io.unwrap_or(0.0);
        system += figures.cpu_system_ns_per_io.unwrap_or(0.0);
    }
    if stages.is_empty() {
        return Vec::new();
    }
    if let Some(overhead) = context.run.run.overhead_ns_per_io {
        evidence.push(format!(
            "diskfacts itself costs {} per operation here, measured without I/O.",
            show_duration(overhead.max(0.0) as u64)
        ));
    }
    let stages = names(stages);
    let part = if system >= user {
        "the kernel"
    } else {
        "diskfacts itself"
    };
    vec![Finding {
        rule: NAME.into(),
        severity: Severity::Warning,
        headline: format!("limited by a processor, not the device; mostly {part}"),
        claim: format!(
            "A processor of this machine was the limit in {}, not the device; most of its time \
             went to {part}.",
            stage_list(&stages)
        ),
        evidence,
        confidence: Confidence::Likely,
        refuted_by: "The same rate with twice the streams.".into(),
        remedy: edit_plan(
            context.run,
            &format!(
                "set streams = {} in these stages",
                streams.saturating_mul(2)
            ),
        ),
        stages,
    }]
}

/// Median length of the trials, seconds.
fn seconds(stage: &Stage<'_>) -> Option<f64> {
    let seconds: Vec<f64> = stage.trials.iter().map(|t| t.seconds).collect();
    stats::median(&seconds)
}

/// Median over the trials of the share that the busiest thread ran.
fn busiest(stage: &Stage<'_>) -> Option<f64> {
    let shares: Vec<f64> = stage
        .trials
        .iter()
        .filter_map(|t| t.cpu.busiest_thread)
        .collect();
    stats::median(&shares)
}

fn cost(figures: &StageFigures) -> String {
    match (figures.cpu_user_ns_per_io, figures.cpu_system_ns_per_io) {
        (Some(user), Some(system)) => format!(
            "; an operation took {} in user mode and {} in the kernel",
            show_duration(user.max(0.0) as u64),
            show_duration(system.max(0.0) as u64)
        ),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each, only};

    #[test]
    fn trials_of_a_few_ticks_are_not_judged() {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd32", |trial| {
            trial.cpu.busiest_thread = Some(0.99);
            trial.seconds = 0.05;
        });
        assert!(
            crate::findings(&run)
                .iter()
                .all(|finding| finding.rule != NAME)
        );
    }

    #[test]
    fn a_busy_generator_is_found_with_where_its_time_went() {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd32", |t| {
            t.cpu.busiest_thread = Some(0.97);
        });
        let finding = only(&run, NAME);
        assert_eq!(finding.stages, ["random-read-qd32"]);
        assert!(finding.claim.contains("the kernel"), "{finding:?}");
        assert_eq!(
            finding.evidence[0],
            "random-read-qd32: the busiest thread ran 97 % of the time; an operation took 200 ns \
             in user mode and 2 us in the kernel."
        );
        assert!(finding.remedy.contains("streams = 2"), "{finding:?}");
    }

    #[test]
    fn one_busy_trial_of_five_and_nearly_busy_ones_are_left_alone() {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd32", |t| {
            t.cpu.busiest_thread = Some(if t.number == 1 { 1.0 } else { 0.89 });
        });
        testing::silent(&run);
    }

    #[test]
    fn memory_polling_and_a_kept_rate_may_keep_a_processor_busy() {
        let mut run = testing::healthy();
        each(&mut run, "cached-random-read", |t| {
            t.cpu.busiest_thread = Some(1.0);
        });
        each(&mut run, "random-read-qd32", |t| {
            t.cpu.busiest_thread = Some(1.0);
            t.workload.iopoll = true;
            t.evidence.engine.features = vec!["iopoll".into()];
        });
        testing::silent(&run);
    }
}
