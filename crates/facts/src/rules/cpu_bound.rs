//! A thread of diskfacts ran nearly all the time: the figure is what this
//! machine's processor can issue, and the device may do more.
//!
//! Not said of stages that are meant to measure memory, of polling (which spins
//! by design), of an open loop that kept its rate, and of trials so short that
//! the kernel's share of their time is one of a few ticks.

use super::prelude::*;

pub(super) const RULE: Rule = Rule {
    name: "cpu-bound",
    about: "a processor was the limit, not the device",
    needs: &[Needs::Evidence],
    severity: Severity::Warning,
    confidence: Confidence::Likely,
    refuted_by: "The same rate with twice the streams.",
    check: Check::One(check),
};

/// Share of the time that the busiest thread ran, from which on it is the
/// limit: a tenth is left to waiting that batches hide.
const BUSY: f64 = 0.9;

/// Trials below this, seconds, are some ticks of the kernel's processor clock
/// (4 ms with `CONFIG_HZ=250`) long, and [`too_short`](super::too_short) besides.
const SECONDS: f64 = 0.1;

/// Share of the bytes that memory served from which on no device could have been the limit.
const FROM_MEMORY: f64 = 0.5;

fn check(context: &Context<'_>) -> Option<Finding> {
    let mut shown = Shown::by(context.doing_something(), |stage, figures| {
        let workload = stage.workload();
        let busy = stage.median(|t| t.cpu.busiest_thread)?;
        let seconds = stage.median(|t| Some(t.seconds))?;
        // What memory serves is copied by a processor, and that it did is a finding of its own.
        let by_design = workload.cache == CacheMode::Warm
            || figures.layers.page_cache > FROM_MEMORY
            || workload.iopoll
            || workload.sqpoll
            || workload.rate.is_some();
        if busy <= BUSY || by_design || seconds < SECONDS {
            return None;
        }
        let (user, system) = (figures.cpu_user_ns_per_io, figures.cpu_system_ns_per_io);
        let cost = user.zip(system).map_or_else(String::new, |(user, system)| {
            let (user, system) = (whole(user), whole(system));
            format!("; an operation took {user} in user mode and {system} in the kernel")
        });
        let busy = percent(busy);
        let line = format!("the busiest thread ran {busy} of the time{cost}.");
        let ns = [user, system].map(|ns| ns.unwrap_or(0.0));
        Some(((ns, workload.streams), [line]))
    })?;
    if let Some(overhead) = context.run.run.overhead_ns_per_io {
        shown.lines.push(format!(
            "diskfacts itself costs {} per operation here, measured without I/O.",
            whole(overhead)
        ));
    }
    let all = |of: usize| shown.seen.iter().map(|(ns, _)| ns[of]).sum::<f64>();
    let part = if all(1) >= all(0) {
        "the kernel"
    } else {
        "diskfacts itself"
    };
    let streams = shown.seen.iter().map(|(_, streams)| *streams).max()?;
    let twice = streams.saturating_mul(2);
    Some(Finding {
        headline: format!("limited by a processor, not the device; mostly {part}"),
        claim: format!(
            "A processor of this machine was the limit in {}, not the device; most of its time \
             went to {part}.",
            shown.list()
        ),
        remedy: edit_plan(
            context.run,
            &format!("set streams = {twice} in these stages"),
        ),
        ..shown.finding(&RULE)
    })
}

/// Whole nanoseconds.
fn whole(ns: f64) -> String {
    show_duration(ns.max(0.0) as u64)
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
