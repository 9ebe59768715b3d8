//! The built-in plans on disks without a fault: nothing is blamed that the simulated disk
//! itself knows not to have been there, and no two explanations of a stage exclude each
//! other.

use super::contradictions::of_stage;
use super::setup::Setup;
use diskfacts_record::{Confidence, Run};

/// Plans, and disks of which each has something that others have not.
const RUNS: &[(&str, &[&str])] = &[
    (
        "streams",
        &["hdd-7200-1tb", "hdd-7200-md-raid0x2", "ssd-sata", "raid6x8"],
    ),
    ("stride", &["hdd-10k", "nvme-consumer"]),
    ("write-matrix", &["hdd-7200-1tb", "nvme-datacenter"]),
    ("bonnie", &["san-entry", "ssd-raid1"]),
    ("zones", &["hdd-20tb-cmr"]),
    ("dd", &["hdd-7200-sync", "ssd-sata"]),
];

const TIME_NS: u64 = 60_000_000_000;

fn measured(plan: &str, profile: &str) -> Run {
    let mut setup = Setup::on(profile);
    setup.plan = diskfacts_plan::builtin::plan(plan).expect("it is built in");
    // A simulated disk has no folder for files.
    setup
        .plan
        .stages
        .retain(|stage| stage.workload.files.is_none());
    setup.time_ns = TIME_NS;
    setup.run()
}

#[test]
fn the_plans_blame_nothing_that_is_not_there_and_do_not_contradict_themselves() {
    let mut wrong = Vec::new();
    let mut looked_at = 0;
    for (plan, profiles) in RUNS {
        for profile in *profiles {
            let run = measured(plan, profile);
            for stage in &run.limits {
                looked_at += stage.limits.len();
                wrong.extend(of_stage(&run, stage, Confidence::Possible).map(|what| {
                    format!(
                        "{plan} {profile} {} {:?}: {what}",
                        stage.stage, stage.settings
                    )
                }));
            }
        }
    }
    assert!(looked_at > 500, "{looked_at} claims");
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
