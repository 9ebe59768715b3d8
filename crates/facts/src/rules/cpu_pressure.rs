//! Tasks waited for a processor while a trial ran: latencies hold that wait.

use super::prelude::*;
use crate::cpu_quota;
use crate::processor_wait::{WAIT, Whose, waited};

pub(super) const RULE: Rule = Rule {
    name: "cpu-pressure",
    confidence: Possible,
    check: Check::Stages(&[
        StageCheck(|facts| waits(facts, Whose::Others), others),
        StageCheck(|facts| waits(facts, Whose::Nobody), nobody),
        StageCheck(|facts| waits(facts, Whose::Own), own),
    ]),
    ..Rule::NOTE
};

/// Share of a trial's time from which on it is a note, and a warning.
const NOTE: f64 = WAIT;
const WARNING: f64 = 0.5;

/// A stage that waited for processors that this one has.
fn waits(facts: &StageFacts<'_>, whose: Whose) -> Option<Seen> {
    // What waits for the next period of its own group does not wait for a processor.
    unless(cpu_quota::holds_back(facts.stage))?;
    let (of, share, line) = waited(facts.stage)?;
    // Beside idle processors a quarter of the time was seen without any limit, where the
    // kernel's threads of a loop device wake up where the stage runs, and are not taken
    // elsewhere at once.
    let worth = match whose {
        Whose::Nobody => WARNING,
        Whose::Own | Whose::Others => NOTE,
    };
    (of == whose && share > worth).then(|| (share, vec![line]))
}

fn others(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    shown.keep_worst();
    let share = percent(shown.most().min(1.0));
    RULE.claim(format!(
        "Tasks waited for a processor during up to {share} of {}: latencies hold some of that \
         wait.",
        shown.list()
    ))
    .severity(warning_if(shown.most() > WARNING))
    .headline(format!("tasks waited for a processor {share} of the time"))
    .remedy(format!(
        "Find what else runs with `top`, and in a container its limit with `cat \
         /sys/fs/cgroup/cpu.max`; then type `{}`.",
        measure(context.run)
    ))
}

fn nobody(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    shown.keep_worst();
    let share = percent(shown.most().min(1.0));
    RULE.claim(format!(
        "The threads of {} waited for a processor during up to {share} of the time while the \
         machine had idle ones: a limit on processor time, or a binding to some processors, holds \
         them back.",
        shown.list()
    ))
    .severity(warning_if(shown.most() > WARNING))
    .headline(format!("kept from idle processors {share} of the time"))
    .case("throttled")
    .remedy(format!(
        "Look at the limit of the control group (`cpu.max` and `nr_throttled` in `cpu.stat`; \
         version 1: `cpu.cfs_quota_us`) and at the binding (`taskset -p $$`, `cpuset.cpus`); then \
         type `{}`.",
        measure(context.run)
    ))
}

fn own(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    shown.keep_worst();
    let share = percent(shown.most().min(1.0));
    RULE.claim(format!(
        "The streams of {} waited for each other's processors during up to {share} of the time: \
         there are more of them than this machine can run at once.",
        shown.list()
    ))
    .headline(format!(
        "more streams than processors: waited {share} of the time"
    ))
    .case("own-streams")
    .remedy(edit_plan(
        context.run,
        "set fewer streams, and a larger queue_depth, in these stages",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each, only};

    fn waited(run: &mut diskfacts_record::Run, ms: u64) {
        each(run, "random-read-qd32", |t| {
            t.cpu.wait_ns_per_io = None;
            t.evidence.pressure.as_mut().unwrap().cpu_some_ns = ms * 1_000_000;
        });
    }

    #[test]
    fn a_third_is_a_note_and_two_thirds_are_a_warning() {
        let mut run = testing::healthy();
        waited(&mut run, 330);
        let finding = only(&run, RULE.name);
        assert_eq!(finding.severity, Severity::Note);
        assert!(finding.evidence[0].contains("33 %"), "{finding:?}");
        waited(&mut run, 660);
        assert_eq!(only(&run, RULE.name).severity, Severity::Warning);
    }

    #[test]
    fn a_fifth_and_an_unknown_pressure_are_left_alone() {
        let mut run = testing::healthy();
        waited(&mut run, 190);
        testing::silent(&run);
        each(&mut run, "random-read-qd32", |t| t.evidence.pressure = None);
        testing::silent(&run);
    }

    /// Sets for what share of the time each thread waited, and what of the processors'
    /// work was the stage's own.
    fn threads_waited(run: &mut diskfacts_record::Run, share: f64, own: f64) {
        each(run, "random-read-qd32", |t| {
            let used = t.cpu.user_ns_per_io.unwrap() + t.cpu.system_ns_per_io.unwrap();
            let threads = f64::from(t.evidence.engine.threads);
            t.cpu.wait_ns_per_io = Some(share * t.seconds * 1e9 * threads / t.ops as f64);
            t.evidence.processors = Some(diskfacts_record::evidence::Processors {
                user_ns: (used * t.ops as f64 / own) as u64,
                ..Default::default()
            });
        });
    }

    #[test]
    fn what_others_wait_for_is_not_in_the_latencies_of_threads_that_sleep() {
        let mut run = testing::healthy();
        waited(&mut run, 990);
        threads_waited(&mut run, 0.02, 0.1);
        testing::silent(&run);
        threads_waited(&mut run, 0.6, 0.1);
        let finding = only(&run, RULE.name);
        assert_eq!(finding.severity, Severity::Warning);
        assert!(
            finding.evidence[0].contains("had no processor for 60 % of the time"),
            "{finding:?}"
        );
    }

    #[test]
    fn streams_that_have_the_processors_themselves_blame_nobody_else() {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd32", |t| {
            t.evidence.engine.threads = 8;
        });
        threads_waited(&mut run, 0.6, 0.95);
        let finding = only(&run, RULE.name);
        assert_eq!(finding.severity, Severity::Note);
        assert!(
            finding.claim.contains("waited for each other"),
            "{finding:?}"
        );
        assert!(!finding.remedy.contains("top"), "{finding:?}");
    }

    #[test]
    fn who_waits_beside_idle_processors_is_held_back_and_blames_no_streams() {
        for (threads, idle) in [(1, 9.0), (4, 1.0)] {
            let mut run = testing::healthy();
            threads_waited(&mut run, 0.8, 0.9);
            each(&mut run, "random-read-qd32", |t| {
                t.evidence.engine.threads = threads;
                t.cpu.wait_ns_per_io = Some(0.8e9 * f64::from(threads) * t.seconds / t.ops as f64);
                let processors = t.evidence.processors.as_mut().unwrap();
                processors.idle_ns = (processors.user_ns as f64 * idle) as u64;
            });
            let finding = only(&run, RULE.name);
            assert!(
                finding.claim.contains("while the machine had idle ones"),
                "{finding:?}"
            );
            assert!(finding.remedy.contains("cpu.stat"), "{finding:?}");
        }
        // One thread has no other streams to wait for.
        let mut run = testing::healthy();
        threads_waited(&mut run, 0.6, 0.95);
        each(&mut run, "random-read-qd32", |t| {
            let of_all = f64::from(t.evidence.engine.threads);
            t.evidence.engine.threads = 1;
            t.cpu.wait_ns_per_io = t.cpu.wait_ns_per_io.map(|ns| ns / of_all);
        });
        assert!(!only(&run, RULE.name).claim.contains("each other"));
    }
}
