//! Tasks waited for a processor while a trial ran: latencies hold that wait.

use super::{Context, names};
use crate::limits::cpu_quota;
use crate::processor_wait::ProcessorWait;
use crate::stages::Stage;
use crate::words::{self, edit_plan, measure, percent, stage_list, worst};
use diskfacts_record::{Confidence, Finding, Severity, Trial};

pub(super) const NAME: &str = "cpu-pressure";

/// Share of a trial's time from which on it is a note, and a warning. The
/// kernel's own threads wait for each other on a small machine, so a few
/// percent are always there.
const NOTE: f64 = 0.2;
const WARNING: f64 = 0.5;

/// Share of what all processors did from which on the streams were in nobody's way but
/// their own: ticks and interrupts are a tenth at most.
const OWN: f64 = 0.8;

/// Share of the time of all processors that is idle from which on it was not them that was
/// waited for: one that runs out of work takes what is ready elsewhere (kernel:
/// `sched_balance_newidle`), so what may run on any of them does not wait beside so much.
const IDLE: f64 = 0.2;

/// Who has the processors that are waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// The streams of the stage themselves.
    Own,
    /// Others, or it is not known.
    Others,
    /// Nobody: they were idle, and the stage was not let on them.
    Nobody,
}

impl Whose {
    fn headline(self, share: f64) -> String {
        let share = percent(share);
        match self {
            Self::Own => format!("more streams than processors: waited {share} of the time"),
            Self::Others => format!("tasks waited for a processor {share} of the time"),
            Self::Nobody => format!("kept from idle processors {share} of the time"),
        }
    }
}

/// How long a stage waited.
struct Waited {
    whose: Whose,
    share: f64,
    /// What it rests on, a sentence.
    told: String,
}

impl Waited {
    /// The share from which on it is said. Beside idle processors a quarter of the time was
    /// seen without any limit, where the kernel's threads of a loop device wake up where the
    /// stage runs, and are not taken elsewhere at once.
    fn worth(&self) -> f64 {
        match self.whose {
            Whose::Nobody => WARNING,
            Whose::Own | Whose::Others => NOTE,
        }
    }
}

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    // What waits for the next period of its own group does not wait for a processor.
    let stages = context
        .each()
        .map(|(stage, _)| stage)
        .filter(|stage| !cpu_quota::holds_back(stage));
    let waited: Vec<_> = stages
        .filter_map(|stage| Some((stage.name, waited(stage)?)))
        .filter(|(_, waited)| waited.share > waited.worth())
        .collect();
    [Whose::Others, Whose::Nobody, Whose::Own]
        .into_iter()
        .filter_map(|whose| {
            let of: Vec<_> = waited.iter().filter(|(_, w)| w.whose == whose).collect();
            (!of.is_empty()).then(|| finding(context, whose, &of))
        })
        .collect()
}

fn waited(stage: &Stage<'_>) -> Option<Waited> {
    if let Some(wait) = ProcessorWait::of(stage) {
        let threads = stage.trials.iter().map(|t| t.evidence.engine.threads).max();
        let several = threads.is_some_and(|threads| threads > 1);
        let threads = words::ratio_of(f64::from(threads.unwrap_or(1)), "thread", "threads");
        let whose = if wait.idle.is_some_and(|idle| idle >= IDLE) {
            Whose::Nobody
        } else if several && wait.own.is_some_and(|own| own >= OWN) {
            Whose::Own
        } else {
            Whose::Others
        };
        let idle = wait.idle.filter(|_| whose == Whose::Nobody);
        let idle = idle.map_or_else(String::new, |idle| {
            format!("; they were idle for {} of it", percent(idle))
        });
        return Some(Waited {
            whose,
            share: wait.share,
            told: format!(
                "{}: {threads} that did the operations {} ready to run and had no processor \
                 for {} of the time{}{idle}.",
                stage.label(),
                if threads.starts_with("1 ") {
                    "was"
                } else {
                    "were"
                },
                percent(wait.share),
                wait.own.map_or_else(String::new, |own| format!(
                    ", and had {} of what the processors of the machine did",
                    percent(own.min(1.0))
                ))
            ),
        });
    }
    let seconds: f64 = stage.trials.iter().map(|t| t.seconds).sum();
    let waited: Option<u64> = stage.trials.iter().map(|t| waited_ns(t)).sum();
    let share = waited? as f64 / 1e9 / seconds;
    share.is_finite().then(|| Waited {
        whose: Whose::Others,
        share,
        told: format!(
            "{}: some task of the machine waited for a processor during {} of the time.",
            stage.label(),
            percent(share.min(1.0))
        ),
    })
}

fn finding(context: &Context<'_>, whose: Whose, of: &[&(&str, Waited)]) -> Finding {
    let most = of.iter().map(|(_, w)| w.share).fold(0.0, f64::max);
    let stages = names(of.iter().map(|(name, _)| *name));
    let evidence = of.iter().map(|(_, w)| (w.share, w.told.clone())).collect();
    let (claim, refuted_by, remedy) = match whose {
        Whose::Others => (
            format!(
                "Tasks waited for a processor during up to {} of {}: latencies hold some of that \
                 wait.",
                percent(most.min(1.0)),
                stage_list(&stages)
            ),
            "The same latencies while the first line of `/proc/pressure/cpu` stays near 0.",
            format!(
                "Find what else runs with `top`, and in a container its limit with `cat \
                 /sys/fs/cgroup/cpu.max`; then type `{}`.",
                measure(context.run)
            ),
        ),
        Whose::Nobody => (
            format!(
                "The threads of {} waited for a processor during up to {} of the time while the \
                 machine had idle ones: a limit on processor time, or a binding to some \
                 processors, holds them back.",
                stage_list(&stages),
                percent(most.min(1.0))
            ),
            "The same latencies outside the control group, or bound to no processor.",
            format!(
                "Look at the limit of the control group (`cpu.max` and `nr_throttled` in `cpu.stat`; \
                 version 1: `cpu.cfs_quota_us`) and at the binding (`taskset -p $$`, \
                 `cpuset.cpus`); then type `{}`.",
                measure(context.run)
            ),
        ),
        Whose::Own => (
            format!(
                "The streams of {} waited for each other's processors during up to {} of the \
                 time: there are more of them than this machine can run at once.",
                stage_list(&stages),
                percent(most.min(1.0))
            ),
            "The same latencies with as many streams as there are processors.",
            edit_plan(
                context.run,
                "set fewer streams, and a larger queue_depth, in these stages",
            ),
        ),
    };
    Finding {
        rule: NAME.into(),
        severity: if most > WARNING && whose != Whose::Own {
            Severity::Warning
        } else {
            Severity::Note
        },
        headline: whose.headline(most.min(1.0)),
        claim,
        evidence: worst(evidence),
        confidence: Confidence::Possible,
        refuted_by: refuted_by.into(),
        remedy,
        stages,
    }
}

fn waited_ns(trial: &Trial) -> Option<u64> {
    trial.evidence.pressure.map(|pressure| pressure.cpu_some_ns)
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
        let finding = only(&run, NAME);
        assert_eq!(finding.severity, Severity::Note);
        assert!(finding.evidence[0].contains("33 %"), "{finding:?}");
        waited(&mut run, 660);
        assert_eq!(only(&run, NAME).severity, Severity::Warning);
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
        let finding = only(&run, NAME);
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
        let finding = only(&run, NAME);
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
            let finding = only(&run, NAME);
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
        assert!(!only(&run, NAME).claim.contains("each other"));
    }
}
