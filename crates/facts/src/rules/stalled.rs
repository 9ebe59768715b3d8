//! Nothing was completed for a while in the middle of a trial.

use super::{Context, names};
use crate::simulated::planted;
use crate::stats;
use crate::words::{count, measure_longer, percent, stage_list};
use diskfacts_plan::units::show_duration;
use diskfacts_record::evidence::Intervals;
use diskfacts_record::{Confidence, Finding, Run, Severity};

pub(super) const NAME: &str = "stalled";

/// Operations per interval, in the median, from which on an empty one is not
/// chance: were they spread at random, one in 20 000 would be empty (a Poisson
/// count of mean 10 is 0 with chance e^-10).
const MANY: f64 = 10.0;

/// A disk that turns may need so long for an operation without anything being
/// wrong, nanoseconds: a stroke over all of it and a revolution or two at 5400 rpm.
/// Where read-ahead completes many operations at once, that is an empty interval.
const TURN_NS: u64 = 40_000_000;

/// Share of the time from which on stalls move the figures of a stage and not
/// only its slowest latencies.
const WARNING: f64 = 0.05;

/// Stalls of one trial.
#[derive(Debug, Default, PartialEq, Eq)]
struct Stalls {
    number: u64,
    longest_ns: u64,
    total_ns: u64,
}

/// Runs of empty intervals between others. Before the first operation has come
/// back there is nothing that stopped; and the last interval ends with the last
/// operation, so none of them is merely the end of the trial.
/// Those that last no longer than `shortest_ns` are not counted.
fn stalls(intervals: &Intervals, shortest_ns: u64) -> Stalls {
    let mut found = Stalls::default();
    let counts: Vec<f64> = intervals.operations.iter().map(|n| *n as f64).collect();
    if stats::median(&counts).is_none_or(|median| median < MANY) {
        return found;
    }
    let first = counts.iter().position(|n| *n > 0.0).unwrap_or(0);
    let runs = intervals.operations[first..].chunk_by(|a, b| (*a == 0) == (*b == 0));
    for run in runs.filter(|run| run[0] == 0) {
        let ns = intervals.length_ns.saturating_mul(run.len() as u64);
        if ns <= shortest_ns {
            continue;
        }
        found.number += 1;
        found.longest_ns = found.longest_ns.max(ns);
        found.total_ns = found.total_ns.saturating_add(ns);
    }
    found
}

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut evidence = Vec::new();
    let mut stages = Vec::new();
    let mut longest_ns = 0;
    let mut largest_share = 0.0_f64;
    let mut leaves = context.run.stack.leaves();
    let turns = leaves.any(|leaf| leaf.rotational == Some(true));
    let shortest_ns = if turns { TURN_NS } else { 0 };
    for (stage, _) in context.each() {
        if stage.workload().beside.is_some() {
            // It waits while the other has its turn, as it was meant to.
            continue;
        }
        let seconds: f64 = stage.trials.iter().map(|t| t.seconds).sum();
        let mut all = Stalls::default();
        let mut trials = 0;
        for trial in &stage.trials {
            let here = stalls(&trial.evidence.intervals, shortest_ns);
            trials += u64::from(here.number > 0);
            all.number += here.number;
            all.longest_ns = all.longest_ns.max(here.longest_ns);
            all.total_ns = all.total_ns.saturating_add(here.total_ns);
        }
        if all.number == 0 {
            continue;
        }
        longest_ns = longest_ns.max(all.longest_ns);
        largest_share = largest_share.max(all.total_ns as f64 / 1e9 / seconds);
        stages.push(stage.name);
        let slowest = stage.trials.iter().filter_map(|t| t.latency_ns.max).max();
        evidence.push(format!(
            "{}: {} in {}, {} in all{}.",
            stage.label(),
            count(all.number, "stall"),
            count(trials, "trial"),
            show_duration(all.total_ns),
            slowest.map_or_else(String::new, |ns| format!(
                "; the slowest operation took {}",
                show_duration(ns)
            ))
        ));
    }
    if stages.is_empty() {
        return Vec::new();
    }
    let stages = names(stages);
    let moves = largest_share > WARNING;
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
        claim: format!(
            "Nothing was completed for up to {} in the middle of {}: the device, its link or the \
             host stood still.",
            show_duration(longest_ns),
            stage_list(&stages)
        ),
        evidence,
        confidence: Confidence::Certain,
        refuted_by: "Operations that ended in the intervals counted as empty.".into(),
        remedy: remedy(context.run),
        stages,
    }]
}

fn remedy(run: &Run) -> String {
    let again = measure_longer(run, 2);
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

    fn of(operations: &[u64]) -> Stalls {
        stalls(&intervals(operations), 0)
    }

    fn intervals(operations: &[u64]) -> Intervals {
        Intervals {
            length_ns: 20_000_000,
            operations: operations.to_vec(),
        }
    }

    #[test]
    fn what_a_disk_that_turns_needs_for_an_operation_is_no_stall() {
        let short = intervals(&[50, 0, 0, 50, 50, 0, 50]);
        assert_eq!(stalls(&short, TURN_NS), Stalls::default());
        let long = intervals(&[50, 0, 0, 0, 50, 50, 0, 50]);
        assert_eq!(
            (stalls(&long, TURN_NS).number, stalls(&long, 0).number),
            (1, 2)
        );
    }

    #[test]
    fn runs_of_empty_intervals_are_stalls() {
        assert_eq!(
            of(&[50, 0, 0, 50, 50, 0, 50, 50, 50]),
            Stalls {
                number: 2,
                longest_ns: 40_000_000,
                total_ns: 60_000_000
            }
        );
        assert_eq!(of(&[]), Stalls::default());
    }

    #[test]
    fn slow_targets_have_empty_intervals_by_nature() {
        assert_eq!(of(&[3, 0, 4, 0, 2]), Stalls::default());
        assert_eq!(of(&[9, 9, 0, 9, 9]), Stalls::default());
    }

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
}
