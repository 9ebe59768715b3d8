//! Nothing was completed for a while in the middle of a trial.

use super::prelude::*;
use crate::stage_facts::stalled::{StageStalls, held_ns};
use crate::stalls::Stalls;

pub(super) const RULE: Rule = Rule {
    name: "stalled",
    needs: &[NoDocument, Alone],
    confidence: Confidence::Certain,
    check: Check::Stages(&[StageCheck(stalls, stalled)]),
    ..Rule::NOTE
};

/// Share of the time from which on stalls move the figures of a stage and not
/// only its slowest latencies.
const WARNING: f64 = 0.05;

fn stalls(facts: &StageFacts<'_>) -> Option<Seen> {
    let stalls = StageStalls::of(facts)?;
    let share = stalls.all.total_ns as f64 / 1e9 / facts.seconds();
    Some((share, vec![stalls.said(facts)]))
}

fn stalled(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let each = shown.facts().filter_map(StageStalls::of);
    let all = each.fold(Stalls::default(), |sum, of| sum.and(&of.all));
    let names = |facts: &StageFacts<'_>| shown.stages.iter().any(|one| one == facts.stage.name);
    let stages = || context.facts().filter(names);
    let held_ns: f64 = stages().map(|facts| held_ns(&facts)).sum();
    let excluded = stages().map(|facts| facts.stage).flat_map(|stage| {
        let long = stage.trials.iter().filter(|t| Stalls::is_most_of(t));
        long.map(|trial| format!("{} {}", stage.label(), trial.number))
    });
    let excluded = if_any(list(excluded), |excluded| {
        format!(
            "Claims that rest on mean latencies leave out trials that a stall took a quarter of or \
             more: {excluded}."
        )
    });
    let paused = (all.paused_ns > 0).then(|| {
        let [paused, total] = [all.paused_ns, all.total_ns].map(show_duration);
        format!(
            "In {paused} of {total} no thread of diskfacts ran, and none waited for a processor."
        )
    });
    let share = shown.most();
    let most = percent(share.min(1.0));
    let line = format!("Stalls make up to {most} of the time of a stage.");
    let is_own = 2 * all.paused_ns >= all.total_ns;
    let (who, remedy) = if is_own {
        let who = "diskfacts was stopped, or the whole machine was";
        (who, remedy(context.run, true))
    } else if 2.0 * held_ns >= all.total_ns as f64 {
        let who = "operations were held in front of the device, blocked in the kernel or without a \
                   processor";
        let remedy = "What limits the stage says by what or whom, and what to do.";
        (who, remedy.to_owned())
    } else {
        let who = "the device, its link or the host stalled";
        (who, remedy(context.run, false))
    };
    let longest = show_duration(all.longest_ns);
    RULE.claim(format!(
        "Nothing was completed for up to {longest} in the middle of {}: {who}.",
        shown.list()
    ))
    .severity(warning_if(share > WARNING))
    .headline(format!("I/O stalled for up to {longest}"))
    .evidence(excluded.into_iter().chain(paused).chain([line]))
    .remedy(remedy)
}

fn remedy(run: &Run, is_own: bool) -> String {
    let again = measure_longer(run, 2);
    if is_own {
        return format!(
            "Look for what stops it: `kill -STOP`, a debugger, a freezer of control groups, a \
             hypervisor that pauses this machine; then type `{again}`."
        );
    }
    match planted(run, "[faults.stall] or [faults.stuck]") {
        Some(planted) => format!(
            "{planted}; flash stands still for its garbage collection as well. Type `{again}` to \
             see whether they come again."
        ),
        None => format!(
            "Type `dmesg --ctime | tail -n 30` for resets and time-outs, look at `st` in `vmstat \
             1` for a host that pauses this machine, and type `{again}` to see whether they come \
             again."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each, only};
    use diskfacts_record::evidence::Asleep;

    #[test]
    fn a_short_stall_is_a_note_and_a_long_one_a_warning() {
        let mut run = testing::healthy();
        let mut first = true;
        each(&mut run, "random-read-qd32", |t| {
            if first {
                t.evidence.intervals.operations[20..25].fill(0);
            }
            first = false;
        });
        let finding = only(&run, RULE.name);
        assert_eq!(finding.severity, Severity::Note);
        assert!(finding.claim.contains("up to 100 ms"), "{finding:?}");
        assert!(
            finding.evidence[0].contains("1 stall in 1 trial"),
            "{finding:?}"
        );
        each(&mut run, "random-read-qd32", |t| {
            t.evidence.intervals.operations[20..25].fill(0);
        });
        assert_eq!(only(&run, RULE.name).severity, Severity::Warning);
    }

    #[test]
    fn what_blocks_the_threads_meanwhile_is_not_the_device() {
        let mut run = testing::healthy();
        let mut sleeps_in = |function: &str| {
            each(&mut run, "random-read-qd32", |t| {
                t.evidence.intervals.operations[20..35].fill(0);
                t.evidence.engine.asleep = Some(Asleep {
                    looks: 100,
                    functions: [(function.to_owned(), 50)].into(),
                });
            });
            let findings = crate::findings(&run);
            let found = findings.into_iter().find(|one| one.rule == RULE.name);
            found.expect("a stall").claim
        };
        let claim = sleeps_in("percpu_rwsem_wait");
        assert!(claim.contains("held in front of the device"), "{claim}");
        let claim = sleeps_in("io_cqring_wait");
        assert!(claim.ends_with("or the host stalled."), "{claim}");
    }

    #[test]
    fn a_stall_of_most_of_a_trial_is_named_with_its_trial() {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd32", |t| {
            if t.number == 2 {
                let counts = &mut t.evidence.intervals.operations;
                let (from, to) = (counts.len() / 5, counts.len() - 2);
                counts[from..to].fill(0);
                // What such a trial's mean becomes: a few operations waited for all of it.
                t.latency_ns.mean = t.latency_ns.mean.map(|mean| mean * 10.0);
            }
        });
        let finding = only(&run, RULE.name);
        assert!(finding.evidence[0].contains(" in trial 2, "), "{finding:?}");
        assert!(
            finding.evidence[1].ends_with("a quarter of or more: random-read-qd32 2."),
            "{finding:?}"
        );
        // The control: the same figures, and every interval has completions.
        testing::silent(&testing::healthy());
    }
}
