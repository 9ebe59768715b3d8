//! Where a disk stops streaming and starts seeking ([`strides`](crate::strides)).

use super::prelude::*;
use crate::spread::TRIALS_MIN;
use crate::strides::{Crossing, crossings};

pub(super) const RULE: Rule = Rule {
    name: "stride-curve",
    needs: &[Drives],
    check: Check::Several(|context| crossings(context).iter().map(finding).collect()),
    ..Rule::NOTE
};

fn finding(found: &Crossing<'_>) -> Found {
    let (curve, first, last) = (found.curve, found.first, found.last);
    let what = match curve.operation {
        Operation::Read => "Reads",
        Operation::Write => "Writes",
        Operation::Mixed { .. } => "Reads and writes",
        Operation::Modify { .. } => "Modifications",
        Operation::Create | Operation::Stat | Operation::Delete => "Files",
    };
    let place: Vec<&str> = curve.place.into_iter().flatten().collect();
    let place = if_any(place.join(", "), |place| format!(" ({place})")).unwrap_or_default();
    let [at_first, at_last] = [first, last].map(|p| show_size(p.distance));
    let (seek, crossing) = (duration(first.ns), found.size());
    RULE.claim(format!(
        "{what} of {} at a distance{place} stream up to {at_last} and seek from {at_first} on: \
             there, going past what lies between takes as long as a seek, {seek}.",
        show_size(curve.block_size)
    ))
    .headline(format!(
        "streams up to strides of {at_last}, seeks from {at_first}"
    ))
    .confidence(likely_if(found.trials >= TRIALS_MIN))
    .refuted_by(format!(
        "A repeat in which an operation at {} takes less than {} of what it takes at \
             {at_last}: then it seeks instead of reading through.",
        show_size(last.distance / 2),
        percent(0.4)
    ))
    .remedy(remedy(curve.operation, &crossing))
    .stages(vec![curve.stage.to_owned()])
    .evidence(found.evidence())
}

fn remedy(operation: Operation, crossing: &str) -> String {
    let together = "keep what is used together within that distance";
    match operation {
        Operation::Read => format!(
            "Read what lies less than {crossing} apart in one piece, and throw away what is not \
             needed; {together}."
        ),
        // What lies between cannot be thrown away when it is written.
        Operation::Write => format!(
            "Gather writes, and write them by rising place: up to {crossing} apart, many in a row \
             cost less than as many seeks; {together}."
        ),
        Operation::Mixed { .. } | Operation::Modify { .. } => format!(
            "Do operations by rising place: up to {crossing} apart, many in a row cost less than \
             as many seeks; {together}."
        ),
        Operation::Create | Operation::Stat | Operation::Delete => {
            format!("Up to {crossing} apart there is no seek; {together}.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, of_rule};
    use diskfacts_record::Run;

    /// The plan `stride` on a disk whose operations take so long at a distance.
    fn run(ns: impl Fn(u64) -> f64) -> Run {
        let mut plan = diskfacts_plan::builtin::plan("stride").expect("it is built in");
        plan.trials = 3;
        plan.stages.retain(|stage| stage.settings["what"] == "read");
        let mut run = testing::run_of(plan, testing::stack());
        run.target.size_bytes = 16 << 30;
        for trial in &mut run.trials {
            let Pattern::Stride { skip_blocks, .. } = trial.workload.pattern else {
                panic!("a strided stage");
            };
            trial.iops = 1e9 / ns(skip_blocks * 4096);
        }
        run
    }

    /// 120 MB/s, and seeks of 6 ms.
    fn turning(distance: u64) -> f64 {
        let streaming = distance as f64 / 120e6 * 1e9;
        streaming.min(6e6 + (distance as f64).sqrt() * 10.0)
    }

    #[test]
    fn the_distance_is_found_at_which_seeking_is_quicker() {
        let finding = of_rule(&run(turning), RULE.name).expect("it speaks");
        assert_eq!(
            finding.claim,
            "Reads of 4 KiB at a distance stream up to 512 KiB and seek from 1 MiB on: there, \
             going past what lies between takes as long as a seek, 6.01 ms."
        );
        assert!(finding.evidence[0].contains("120.0 MB/s"), "{finding:?}");
        // 120 MB/s times 6.01 ms are 721 kB, 704 KiB.
        assert!(finding.evidence[2].ends_with("at 768 KiB."), "{finding:?}");
        assert_eq!(finding.confidence, Confidence::Likely);
        assert!(finding.remedy.starts_with("Read what"), "{finding:?}");
    }

    #[test]
    fn who_writes_is_not_told_to_read() {
        for operation in [
            Operation::Write,
            Operation::Mixed { read_percent: 50 },
            Operation::Modify { percent: 50 },
        ] {
            let mut run = run(turning);
            for trial in &mut run.trials {
                trial.workload.operation = operation;
            }
            let finding = of_rule(&run, RULE.name).expect("it speaks");
            let remedy = &finding.remedy;
            assert!(remedy.contains("by rising place"), "{remedy}");
            assert!(!remedy.contains("Read"), "{remedy}");
        }
    }

    #[test]
    fn it_is_silent_where_nothing_turns_and_where_nothing_seeks() {
        assert_eq!(of_rule(&run(|_| 100e3), RULE.name), None);
        assert_eq!(of_rule(&run(|distance| distance as f64), RULE.name), None);
        // A step from one regime to the next and back is no crossing.
        let odd = |distance: u64| {
            if distance == 64 << 20 {
                distance as f64 / 120e6 * 1e9
            } else {
                turning(distance)
            }
        };
        assert_eq!(of_rule(&run(odd), RULE.name), None);
    }

    #[test]
    fn a_short_target_has_too_few_distances() {
        let mut short = run(turning);
        short.target.size_bytes = 4 << 20;
        assert_eq!(of_rule(&short, RULE.name), None);
    }

    #[test]
    fn failed_operations_and_queues_are_no_curve() {
        let mut failed = run(turning);
        failed.trials.iter_mut().for_each(|trial| trial.errors = 1);
        assert_eq!(of_rule(&failed, RULE.name), None);
        let mut deep = run(turning);
        deep.trials
            .iter_mut()
            .for_each(|trial| trial.workload.queue_depth = 8);
        assert_eq!(of_rule(&deep, RULE.name), None);
    }
}
