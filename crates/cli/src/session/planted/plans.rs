//! The built-in plans on disks without a fault: nothing is blamed that the simulated disk
//! itself knows not to have been there, and no two statements of a run exclude each other.

use super::causes::{in_parallel, seed_of};
use super::contradictions::{of_run, of_stage};
use super::setup::Setup;
use diskfacts_disk::profile::profiles;
use diskfacts_plan::rng::Rng;
use diskfacts_plan::{CacheMode, builtin};
use diskfacts_record::{Confidence, Run};

/// Plans, and disks of which each has something that others have not: of these what is only
/// possible is looked at too.
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

/// A plan of which a simulated disk does nothing: it asks for no disk.
const OF_NO_DISK: [&str; 1] = ["overhead"];

/// Disks that each of the plans is run on besides, unless `DISKFACTS_PLANS_DRAWN` says how many.
const DRAWN: usize = 4;

/// The time of a run, virtual: the usual one on what turns; flash does as much in a twentieth.
const TIME_NS: u64 = 60_000_000_000;
const FLASH: u64 = 20;
/// Operations of a stage that memory serves, of which no disk is seen.
const FROM_MEMORY: u64 = 20_000;

fn measured(plan: &str, profile: &str) -> Run {
    let mut setup = Setup::on(profile);
    setup.plan = builtin::plan(plan).expect("it is built in");
    // A simulated disk has no folder for files.
    setup
        .plan
        .stages
        .retain(|stage| stage.workload.files.is_none());
    setup.time_ns = TIME_NS;
    setup.run()
}

/// The same of any plan, as much of it as the disk can do, with a chance of its own.
fn drawn(plan: &str, profile: &str, seed: u64) -> Option<Run> {
    let mut setup = Setup::on(profile);
    setup.plan = builtin::plan(plan).expect("it is built in");
    setup.seed = seed;
    let turns = setup.profile.is_rotational();
    setup.time_ns = TIME_NS / if turns { 1 } else { FLASH };
    for stage in &mut setup.plan.stages {
        let workload = &mut stage.workload;
        if workload.cache == CacheMode::Warm {
            workload.stop.operations.get_or_insert(FROM_MEMORY);
        }
    }
    setup.run_built_in()
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

/// Every plan, each on some of the disks, and the chance of each pair, whichever others are drawn.
fn pairs(seed: u64) -> Vec<(&'static str, &'static str, u64)> {
    let many = std::env::var("DISKFACTS_PLANS_DRAWN");
    let many = many.map_or(DRAWN, |many| many.parse().expect("a number"));
    let (mut rng, mut number) = (Rng::new(seed), 0);
    let plans = builtin::names().filter(|plan| !OF_NO_DISK.contains(plan));
    plans
        .flat_map(|plan| {
            let mut disks: Vec<(&str, &str, u64)> = profiles()
                .zip(number..)
                .map(|(disk, number)| (plan, disk, Rng::for_part(seed, number).next_u64()))
                .collect();
            number += disks.len() as u64;
            while disks.len() > many {
                let place = rng.below(disks.len() as u64) as usize;
                disks.remove(place);
            }
            disks
        })
        .collect()
}

/// Runs of sound disks of which something was once said that is not so, with their chance: a read
/// that waits for what is read ahead, or for the next drive of an array, was tried again; the arm
/// of a server was the way there; sectors were read that memory had; what an array's cache had was
/// a burst of credit.
const ONCE_WRONG: [(&str, &str, u64); 5] = [
    (
        "readahead-matrix",
        "hdd-7200-sync",
        3_121_470_027_528_899_904,
    ),
    ("fleet", "raid6x8", 18_272_356_809_521_660_369),
    ("stride", "hdd-7200-md-raid0x2", 138_284_752_850_141_734),
    ("dd", "hdd-10k", 17_378_378_349_654_143_931),
    ("dd", "san-entry", 1_790_937_110_947_395_388),
];

#[test]
fn what_was_once_said_wrongly_is_not_said() {
    let wrong = in_parallel(ONCE_WRONG.len(), |index| {
        let (plan, profile, seed) = ONCE_WRONG[index];
        let run = drawn(plan, profile, seed).expect("the plan can be done there");
        of_run(&run, Confidence::Likely)
    });
    let wrong = wrong.concat();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_plan_blames_nothing_likely_that_is_not_there_and_does_not_contradict_itself() {
    let seed = seed_of("DISKFACTS_PLANS_SEED");
    let pairs = pairs(seed);
    let outcomes = in_parallel(pairs.len(), |index| {
        let (plan, profile, seed) = pairs[index];
        let run = drawn(plan, profile, seed);
        let run = run.unwrap_or_else(|| panic!("{plan} can be done on {profile}"));
        let wrong = of_run(&run, Confidence::Likely);
        let wrong = wrong
            .into_iter()
            .map(|what| format!("{plan} {profile} {what}"));
        let claims: usize = run.limits.iter().map(|stage| stage.limits.len()).sum();
        (claims, wrong.collect::<Vec<_>>())
    });
    let looked_at: usize = outcomes.iter().map(|(claims, _)| claims).sum();
    let wrong: Vec<String> = outcomes.into_iter().flat_map(|(_, wrong)| wrong).collect();
    println!(
        "DISKFACTS_PLANS_SEED={seed}: {} of {looked_at} claims are wrong: {pairs:?}\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(looked_at > 500, "{looked_at} claims");
    assert!(wrong.is_empty(), "{} wrong", wrong.len());
}
