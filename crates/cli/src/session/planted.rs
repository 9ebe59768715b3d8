//! Planted truths: each rule is held against a simulated computer with one flaw,
//! by the path that a real measurement takes: plan, engine, record, findings.
//! The rule fires and all others stay silent, and without a flaw all do.

mod budget;
mod cases;
mod causes;
mod contradictions;
mod documents;
mod limits;
mod limits_host;
mod matrix;
mod plans;
mod positions;
mod precondition;
mod profiles;
mod read_ahead;
mod requests;
mod seeds;
mod setup;
mod survey;
mod time;
mod truth;
mod volumes;

use diskfacts_disk::faults::stall::StallParameters;
use diskfacts_disk::profile::profiles;
use diskfacts_facts::rules;
use diskfacts_record::{Confidence, Finding, Run};
use setup::Setup;

fn rules_of(run: &Run) -> Vec<&str> {
    let mut names: Vec<&str> = run.findings.iter().map(|f| f.rule.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn claims(findings: &[Finding]) -> String {
    let claims = findings.iter().map(|finding| {
        format!(
            "{}: {}\n    {}\n",
            finding.rule,
            finding.claim,
            finding.evidence.join("\n    ")
        )
    });
    claims.collect()
}

/// What a remedy for a simulated disk may not say: commands for a disk that does not
/// exist, and sentences that end twice or begin in the middle of another.
fn odd_remedy(finding: &Finding) -> Option<&'static str> {
    const ODD: [&str; 10] = [
        "blockdev", "hdparm", "sdparm", "smartctl", "pidstat", "filefrag", "lsblk", "..", ": Type",
        ": In ",
    ];
    ODD.into_iter().find(|odd| finding.remedy.contains(odd))
}

#[test]
fn each_flaw_is_found_and_nothing_else() {
    let mut wrong = Vec::new();
    for (rule, plant) in cases::CASES {
        let mut setup = Setup::on("ssd-sata");
        plant(&mut setup);
        let run = setup.run();
        if rules_of(&run) != [*rule] {
            wrong.push(format!("planted {rule}, found\n{}", claims(&run.findings)));
        }
        for what in contradictions::of_run(&run, Confidence::Likely) {
            wrong.push(format!("planted {rule}: {what}"));
        }
        for finding in &run.findings {
            if let Some(odd) = odd_remedy(finding) {
                wrong.push(format!("planted {rule}: {odd} in {}", finding.remedy));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_stall_of_most_of_each_trial_is_the_first_thing_that_is_said_of_it() {
    let run = |stalls: bool| {
        let mut setup = Setup::on("nvme-consumer");
        setup.only("random-read").workload.stop.time_ns = Some(1_500_000_000);
        if stalls {
            // Nine tenths of the time, so that most intervals have no completion.
            setup.profile.faults.stall = Some(StallParameters {
                every_ns: 1_000_000_000,
                for_ns: 900_000_000,
            });
        }
        setup.run()
    };
    let stalled = run(true);
    assert!(
        rules_of(&stalled).contains(&"stalled"),
        "{}",
        claims(&stalled.findings)
    );
    let limits = &stalled.limits[0].limits;
    assert_eq!(limits[0].limiter, "stall", "{limits:?}");
    let of_means = ["device-parallelism", "one-at-a-time", "device-queue"];
    let from_means = |name: &str| of_means.contains(&name);
    assert!(!limits.iter().any(|l| from_means(&l.limiter)), "{limits:?}");
    let sound = run(false);
    assert!(!rules_of(&sound).contains(&"stalled"));
    assert!(sound.limits[0].limits.iter().all(|l| l.limiter != "stall"));
}

/// The rules of what no simulated computer has: filesystems that do as they like, and counters
/// that can be switched off. They are planted on this machine, in `tests/situations`.
const OF_REAL_KERNELS: [&str; 2] = ["buffered-fallback", "uncounted"];

#[test]
fn every_rule_has_a_flaw_that_is_planted() {
    let planted: Vec<&str> = cases::CASES
        .iter()
        .map(|(rule, _)| *rule)
        .chain(documents::RULES)
        .chain(volumes::RULES)
        .chain(matrix::RULES)
        .chain(positions::RULES)
        .chain(read_ahead::RULES)
        .chain(requests::RULES)
        .chain(OF_REAL_KERNELS)
        .collect();
    let of_documents = diskfacts_facts::documents::rules()
        .iter()
        .map(|rule| rule.name);
    // A rule may speak of runs and of documents.
    let mut known: Vec<&str> = rules::all()
        .iter()
        .map(|rule| rule.name)
        .chain(of_documents)
        .collect();
    known.sort_unstable();
    known.dedup();
    for rule in &known {
        let times = planted.iter().filter(|name| *name == rule).count();
        assert_eq!(times, 1, "cases for {rule}");
    }
    assert_eq!(planted.len(), known.len(), "{planted:?}");
}

#[test]
fn a_disk_without_a_planted_flaw_has_no_findings() {
    let mut wrong = Vec::new();
    for name in profiles() {
        let run = Setup::on(name).run();
        assert_eq!(run.trials.len(), 5 * run.plan.stages.len());
        if !run.findings.is_empty() {
            wrong.push(format!("{name}\n{}", claims(&run.findings)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
