//! A thread of diskfacts ran nearly all the time: the figure is what this
//! machine's processor can issue, and the device may do more.
//!
//! Not said of stages that are meant to measure memory, and of trials so short that
//! the kernel's share of their time is one of a few ticks.

use super::prelude::*;
use crate::processor_wait::SATURATED;
use crate::stage_facts::processor::{self, Processor, own_cost};

pub(super) const RULE: Rule = Rule {
    name: "cpu-bound",
    needs: &[NoDocument, Something, NotWarm, Closed],
    confidence: Confidence::Likely,
    check: Check::Stages(&[StageCheck(thread_is_busy, processor_limits)]),
    ..Rule::WARNING
};

/// Trials below this, seconds, are some ticks of the kernel's processor clock
/// (4 ms with `CONFIG_HZ=250`) long, and [`too_short`](super::too_short) besides.
const SECONDS: f64 = 0.1;

/// Share of the bytes that memory served from which on no device could have been the limit: a
/// processor copies them, and that it does is a finding of its own.
const FROM_MEMORY: f64 = 0.5;

fn busy(facts: &StageFacts<'_>) -> Option<Processor> {
    let seconds = facts.stage.median(|t| Some(t.seconds))?;
    unless(seconds < SECONDS || facts.memory_share() > FROM_MEMORY)?;
    processor::of(facts).filter(|processor| processor.busy > SATURATED)
}

fn thread_is_busy(facts: &StageFacts<'_>) -> Option<Seen> {
    let processor = busy(facts)?;
    let lines = processor.evidence("the busiest thread ran");
    Some((processor.busy, lines))
}

fn processor_limits(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let of_kernel = busy(shown.worst()).is_some_and(|processor| !processor.in_user);
    let part = if of_kernel {
        "the kernel"
    } else {
        "diskfacts itself"
    };
    let streams = shown.facts().map(|facts| facts.workload().streams).max();
    let twice = streams.unwrap_or(1).saturating_mul(2);
    RULE.claim(format!(
        "A processor of this machine was the limit in {}, not the device; most of its time went \
         to {part}.",
        shown.list()
    ))
    .headline(format!(
        "limited by a processor, not the device; mostly {part}"
    ))
    .evidence(own_cost(context.run))
    .remedy(edit_plan(
        context.run,
        &format!("set streams = {twice} in these stages"),
    ))
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
                .all(|finding| finding.rule != RULE.name)
        );
    }

    #[test]
    fn a_busy_generator_is_found_with_where_its_time_went() {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd32", |t| {
            t.cpu.busiest_thread = Some(0.97);
        });
        let finding = only(&run, RULE.name);
        assert_eq!(finding.stages, ["random-read-qd32"]);
        assert!(finding.claim.contains("the kernel"), "{finding:?}");
        assert_eq!(
            finding.evidence[0],
            "random-read-qd32: the busiest thread ran 97 % of the time."
        );
        let divided = "2 us in the kernel and 200 ns in user mode: 91 %";
        assert!(finding.evidence[1].contains(divided), "{finding:?}");
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
