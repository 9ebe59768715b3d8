//! Fewer operations were in flight than asked for, so the figure is one of a
//! smaller queue depth.
//!
//! In an open loop the rate decides, and at a depth of one there is nothing to miss.

use super::prelude::*;

pub(super) const RULE: Rule = Rule {
    name: "depth-not-reached",
    needs: &[NoDocument, Blocks, Closed],
    check: Check::Stages(&[StageCheck(fewer_in_flight, not_reached)]),
    ..Rule::WARNING
};

/// Share of the depth asked for below which it is a finding.
const SHARE: f64 = 0.8;

fn fewer_in_flight(facts: &StageFacts<'_>) -> Option<Seen> {
    let asked = facts.workload().outstanding() as f64;
    let reached = facts.depth_while_starting()?;
    unless(asked < 2.0 || reached >= SHARE * asked)?;
    let engine = &facts.trials()[0].evidence.engine;
    let mut lines = vec![format!(
        "{asked:.0} in flight asked for, {} reached, by the {} engine on {}.",
        three_digits(reached),
        engine.name,
        count(u64::from(engine.threads), "thread")
    )];
    let reasons = engine.fallbacks.iter();
    lines.extend(reasons.map(|reason| format!("{}.", reason.trim_end_matches('.'))));
    Some((reached / asked, lines))
}

fn not_reached(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let lowest = percent(shown.least().min(1.0));
    let synchronous = |of: &StageFacts<'_>| of.trials()[0].evidence.engine.name == "sync";
    let direct = |of: &StageFacts<'_>| of.workload().cache == CacheMode::Direct;
    let remedy = if shown.facts().all(synchronous) {
        "set streams to the depth that you want and queue_depth = 1 in these stages (the sync \
         engine keeps one operation in flight per stream)"
    } else if shown.facts().all(direct) {
        "set streams = 2 and half the queue_depth in these stages"
    } else {
        "set streams = 2 and half the queue_depth in these stages, or cache = \"direct\", since \
         buffered operations end inside the call that starts them"
    };
    RULE.claim(format!(
        "The queue depth asked for was not reached in {}: down to {lowest} of it, so the device \
         could do less in parallel.",
        shown.list()
    ))
    .headline(format!("queue depth not reached: down to {lowest} of it"))
    .remedy(edit_plan(context.run, remedy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each, of_rule, only};

    #[test]
    fn a_queue_that_does_not_fill_is_found() {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd32", |t| {
            t.evidence.engine.mean_depth = 8.0;
        });
        let finding = only(&run, RULE.name);
        assert!(finding.claim.contains("25 %"), "{finding:?}");
        assert_eq!(
            finding.evidence,
            [
                "random-read-qd32: 32 in flight asked for, 8 reached, by the io_uring engine on 1 \
                 thread."
            ]
        );
    }

    #[test]
    fn an_engine_that_cannot_queue_is_named_with_its_reason() {
        let mut run = testing::healthy();
        for stage in ["random-read-qd32", "sequential-read"] {
            each(&mut run, stage, |t| {
                t.evidence.engine.name = "sync".into();
                t.evidence.engine.mean_depth = 1.0;
                t.evidence.engine.fallbacks = vec!["io_uring is disabled here (EPERM)".into()];
            });
        }
        let finding = only(&run, RULE.name);
        assert_eq!(finding.stages, ["sequential-read", "random-read-qd32"]);
        assert!(finding.evidence[1].contains("EPERM"), "{finding:?}");
        assert!(finding.remedy.contains("the sync engine"), "{finding:?}");
    }

    #[test]
    fn nearly_the_depth_and_a_long_final_sync_are_left_alone() {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd32", |t| {
            t.evidence.engine.mean_depth = 26.0;
        });
        each(&mut run, "random-write-qd32", |t| {
            t.evidence.engine.mean_depth = 16.0;
            t.evidence.issued.final_sync_ns = Some(500_000_000);
        });
        testing::silent(&run);
    }

    #[test]
    fn the_emptying_of_the_queue_is_not_held_against_a_short_trial() {
        let mut run = testing::healthy();
        // A full queue for 100 ms, which took 60 ms to empty.
        let drained = |t: &mut Trial| {
            t.workload.stop.time_ns = Some(100_000_000);
            t.seconds = 0.16;
            t.latency_ns.max = Some(90_000_000);
            t.evidence.engine.mean_depth = 32.0 * 0.13 / 0.16 * 0.9;
        };
        each(&mut run, "random-read-qd32", drained);
        testing::silent(&run);
        // Two thirds of it is found all the same.
        each(&mut run, "random-read-qd32", |t| {
            drained(t);
            t.evidence.engine.mean_depth *= 0.66;
        });
        assert!(of_rule(&run, RULE.name).is_some());
        // Ended by its operations: the slowest bounds the emptying.
        each(&mut run, "random-read-qd32", |t| {
            drained(t);
            t.workload.stop.operations = Some(1000);
        });
        testing::silent(&run);
    }
}
