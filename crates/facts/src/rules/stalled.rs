//! Nothing was completed for a while in the middle of a trial.

use super::prelude::*;
use crate::stage_facts::stalled::{Held, StageStalls};
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
    let each = shown
        .facts()
        .filter_map(|facts| Some((facts, StageStalls::of(facts)?)));
    let each: Vec<_> = each.collect();
    let all = each
        .iter()
        .fold(Stalls::default(), |sum, (_, of)| sum.and(&of.all));
    let names = |facts: &StageFacts<'_>| shown.stages.iter().any(|one| one == facts.stage.name);
    let stages = context.facts().filter(names);
    let excluded = stages.map(|facts| facts.stage).flat_map(|stage| {
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
    let (who, remedies) = by_whom(context.run, &each);
    let longest = show_duration(all.longest_ns);
    RULE.claim(format!(
        "Nothing was completed for up to {longest} in the middle of {}: {who}.",
        shown.list()
    ))
    .severity(warning_if(share > WARNING))
    .headline(format!("I/O stalled for up to {longest}"))
    .evidence(excluded.into_iter().chain(paused).chain([line]))
    .remedy(remedies)
}

/// Who stalled them, of several that differ with their names, and what to do about it.
fn by_whom(run: &Run, each: &[(&StageFacts<'_>, StageStalls<'_>)]) -> (String, String) {
    let (mut who, mut remedies) = (Vec::new(), Vec::new());
    for kind in [Held::Stopped, Held::Before, Held::There] {
        let of_kind = each.iter().filter(|(facts, of)| of.held(facts) == kind);
        let labels: Vec<String> = of_kind.map(|(facts, _)| facts.stage.label()).collect();
        if labels.len() == each.len() {
            return (kind.by().to_owned(), remedy(run, kind));
        } else if !labels.is_empty() {
            who.push(format!("{} ({})", kind.by(), list(labels)));
            remedies.push(remedy(run, kind));
        }
    }
    (who.join("; "), remedies.join(" "))
}

fn remedy(run: &Run, held: Held) -> String {
    let again = measure_longer(run, 2);
    if held == Held::Stopped {
        return format!(
            "Look for what stops it: `kill -STOP`, a debugger, a freezer of control groups, a \
             hypervisor that pauses this machine; then type `{again}`."
        );
    }
    if held == Held::Before {
        return "What limits the stage says by what or whom, and what to do.".to_owned();
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
    fn what_a_machine_always_waits_for_does_not_hold_a_stall() {
        let mut run = testing::healthy();
        let wait = |trial: &mut diskfacts_record::Trial, share: f64| {
            let time_ns = trial.seconds * 1e9 * f64::from(trial.evidence.engine.threads.max(1));
            trial.cpu.wait_ns_per_io = Some(share * time_ns / trial.ops as f64);
        };
        let mut claim = |usual: f64, stalled: f64| {
            each(&mut run, "random-read-qd32", |t| {
                let is_stalled = t.number == 2;
                wait(t, if is_stalled { stalled } else { usual });
                if is_stalled {
                    t.evidence.intervals.operations[20..25].fill(0);
                }
            });
            only(&run, RULE.name).claim
        };
        for shares in [(0.0, 0.06), (0.18, 0.18)] {
            let claim = claim(shares.0, shares.1);
            assert!(claim.ends_with("or the host stalled."), "{claim}");
        }
        let claim = claim(0.05, 0.3);
        assert!(claim.contains("held in front of the device"), "{claim}");
    }

    #[test]
    fn stages_that_stalled_for_different_things_are_told_apart() {
        let mut run = testing::healthy();
        for (stage, paused) in [("random-read-qd32", true), ("random-read-qd1", false)] {
            each(&mut run, stage, |t| {
                let intervals = &mut t.evidence.intervals;
                intervals.operations[20..35].fill(0);
                let pause = diskfacts_record::evidence::Pause {
                    begins_ns: 20 * intervals.length_ns,
                    ns: 15 * intervals.length_ns,
                };
                t.evidence.engine.pauses = Some(if paused { vec![pause] } else { Vec::new() });
            });
        }
        let findings = crate::findings(&run);
        let found = findings.into_iter().find(|one| one.rule == RULE.name);
        let claim = found.expect("stalls").claim;
        for of in [
            "the whole machine was (random-read-qd32)",
            "or the host stalled (random-read-qd1)",
        ] {
            assert!(claim.contains(of), "{claim}");
        }
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
