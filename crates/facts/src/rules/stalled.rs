//! Nothing was completed for a while in the middle of a trial.

use super::{Context, names};
use crate::simulated::planted;
use crate::stages::Stage;
use crate::stalls::Stalls;
use crate::words::{count, list, measure_longer, percent, stage_list};
use diskfacts_plan::units::show_duration;
use diskfacts_record::{Confidence, Finding, Run, Severity, Trial};

pub(super) const NAME: &str = "stalled";

/// A disk that turns may need so long for an operation without anything being
/// wrong, nanoseconds: a stroke over all of it and a revolution or two at 5400 rpm.
/// Where read-ahead completes many operations at once, that is an empty interval.
const TURN_NS: u64 = 40_000_000;

/// Share of the time from which on stalls move the figures of a stage and not
/// only its slowest latencies.
const WARNING: f64 = 0.05;

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut evidence = Vec::new();
    let mut stages = Vec::new();
    let mut longest_ns = 0;
    let mut largest_share = 0.0_f64;
    let (mut stalled_ns, mut paused_ns) = (0_u64, 0_u64);
    let turns = context.turning().next().is_some();
    let shortest_ns = if turns { TURN_NS } else { 0 };
    for (stage, _) in context.each() {
        if stage.workload().beside.is_some() {
            // It waits while the other has its turn, as it was meant to.
            continue;
        }
        let Some(found) = StageStalls::of(stage, shortest_ns) else {
            continue;
        };
        let seconds: f64 = stage.trials.iter().map(|t| t.seconds).sum();
        longest_ns = longest_ns.max(found.all.longest_ns);
        stalled_ns = stalled_ns.saturating_add(found.all.total_ns);
        paused_ns = paused_ns.saturating_add(found.all.paused_ns);
        largest_share = largest_share.max(found.all.total_ns as f64 / 1e9 / seconds);
        stages.push(stage.name);
        evidence.push(found.line(stage));
    }
    if stages.is_empty() {
        return Vec::new();
    }
    let stages = names(stages);
    let moves = largest_share > WARNING;
    let excluded: Vec<String> = context
        .each()
        .filter(|(stage, _)| stages.iter().any(|name| name == stage.name))
        .flat_map(|(stage, _)| {
            let long = stage.trials.iter().filter(|t| Stalls::is_most_of(t));
            long.map(|trial| format!("{} {}", stage.label(), trial.number))
        })
        .collect();
    if !excluded.is_empty() {
        evidence.push(format!(
            "Claims that rest on mean latencies leave out trials that a stall took a quarter of or \
             more: {}.",
            list(&excluded)
        ));
    }
    let is_own = 2 * paused_ns >= stalled_ns;
    if paused_ns > 0 {
        evidence.push(format!(
            "In {} of {} no thread of diskfacts ran, and none waited for a processor.",
            show_duration(paused_ns),
            show_duration(stalled_ns)
        ));
    }
    evidence.push(format!(
        "Stalls make up to {} of the time of a stage.",
        percent(largest_share.min(1.0))
    ));
    vec![Finding {
        rule: NAME.into(),
        severity: if moves {
            Severity::Warning
        } else {
            Severity::Note
        },
        headline: format!("nothing completed for up to {}", show_duration(longest_ns)),
        claim: format!(
            "Nothing was completed for up to {} in the middle of {}: {}.",
            show_duration(longest_ns),
            stage_list(&stages),
            if is_own {
                "diskfacts was stopped, or the whole machine was"
            } else {
                "the device, its link or the host stalled"
            }
        ),
        evidence,
        confidence: Confidence::Certain,
        refuted_by: "Operations that ended in the intervals counted as empty.".into(),
        remedy: remedy(context.run, is_own),
        stages,
    }]
}

/// Stalls of all trials of a stage.
struct StageStalls<'a> {
    all: Stalls,
    /// Trials that had one.
    trials: u64,
    /// That with the longest.
    worst: &'a Trial,
}

impl<'a> StageStalls<'a> {
    /// `None` where there was none.
    fn of(stage: &Stage<'a>, shortest_ns: u64) -> Option<Self> {
        let mut all = Stalls::default();
        let (mut trials, mut worst) = (0, None);
        for trial in &stage.trials {
            let here = Stalls::of(trial, shortest_ns);
            trials += u64::from(here.number > 0);
            if here.longest_ns > all.longest_ns {
                worst = Some(*trial);
            }
            all = all.and(&here);
        }
        worst.map(|worst| Self { all, trials, worst })
    }

    fn line(&self, stage: &Stage<'_>) -> String {
        let slowest = stage.trials.iter().filter_map(|t| t.latency_ns.max).max();
        let grid_ns = self.worst.evidence.intervals.length_ns.max(1);
        format!(
            "{}: {} in {}, {} in all; stalled for {} in trial {}, {} of {} in a row without a \
             completion{}.",
            stage.label(),
            count(self.all.number, "stall"),
            count(self.trials, "trial"),
            show_duration(self.all.total_ns),
            show_duration(self.all.longest_ns),
            self.worst.number,
            count(self.all.longest_ns / grid_ns, "interval"),
            show_duration(grid_ns),
            slowest.map_or_else(String::new, |ns| format!(
                "; the slowest operation took {}",
                show_duration(ns)
            ))
        )
    }
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
        let finding = only(&run, NAME);
        assert_eq!(finding.severity, Severity::Note);
        assert!(finding.claim.contains("up to 100 ms"), "{finding:?}");
        assert!(
            finding.evidence[0].contains("1 stall in 1 trial"),
            "{finding:?}"
        );
        each(&mut run, "random-read-qd32", |t| {
            t.evidence.intervals.operations[20..25].fill(0);
        });
        assert_eq!(only(&run, NAME).severity, Severity::Warning);
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
        let finding = only(&run, NAME);
        assert!(finding.evidence[0].contains(" in trial 2, "), "{finding:?}");
        assert!(
            finding.evidence[1].ends_with("a quarter of or more: random-read-qd32 2."),
            "{finding:?}"
        );
        // The control: the same figures, and every interval has completions.
        testing::silent(&testing::healthy());
    }
}
