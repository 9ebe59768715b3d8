//! What is said of requests, held against disks that count them: the rule
//! describes how writes go their way rather than a flaw.

use super::setup::Setup;
use diskfacts_plan::{On, builtin};

/// The rules that need the same writes in two ways.
pub(super) const RULES: [&str; 1] = ["writes-merged"];

fn raw_vs_block(profile: &str) -> Setup {
    let mut setup = Setup::on(profile);
    setup.plan = builtin::plan("raw-vs-block").expect("a built-in plan");
    setup
        .plan
        .stages
        .retain(|stage| stage.workload.on == On::Target);
    for stage in &mut setup.plan.stages {
        // Every stage says itself how long it takes.
        stage.workload.stop.time_ns = Some(2_000_000_000);
    }
    setup
}

#[test]
fn buffered_writes_are_merged_and_direct_ones_go_one_by_one() {
    for profile in ["hdd-7200-1tb", "ssd-sata"] {
        let run = raw_vs_block(profile).run();
        let findings: Vec<_> = run.findings.iter().filter(|f| f.rule == RULES[0]).collect();
        let [finding] = findings[..] else {
            panic!("{profile}: {:#?}", run.findings);
        };
        assert_eq!(finding.stages, ["block", "raw"], "{profile}");
        // The host of the simulation merges up to the largest request.
        let raw = run
            .trials
            .iter()
            .find(|trial| trial.stage == "raw")
            .expect("a trial");
        let counted = &raw.evidence.devices[0];
        assert_eq!(
            counted.write_bytes,
            counted.writes * (16 << 10),
            "{profile}"
        );
        assert_eq!(counted.write_merges, 0, "{profile}");
    }
}

#[test]
fn one_way_alone_says_nothing_of_the_other() {
    for name in ["block", "raw"] {
        let mut setup = raw_vs_block("ssd-sata");
        setup.only(name);
        let run = setup.run();
        assert!(run.findings.iter().all(|f| f.rule != RULES[0]), "{name}");
    }
}
