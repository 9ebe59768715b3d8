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

/// What is said on a sound disk and is not so, by plan, disk and limiter, with what may mislead: known
/// faults of the limiters. Nothing else is let through.
const LET: &[(&str, &str, &str)] = &[
    // At a distance of its own each read of the array waits for the arm: a wait that is about the
    // same for all, as a round trip is.
    ("stride", "hdd-7200-md-raid0x2", "network"),
    // The rate of the platters, at one position, is that of a link too.
    ("zones", "raid6x8", "interface and media-rate"),
    // Through the page cache one read in some hundred waits until a window of 4 MiB is read ahead,
    // some 50 ms of a slow disk; of an array one in thirty comes to the next stripe.
    ("readahead-matrix", "hdd-7200-sync", "retries"),
    (
        "readahead-matrix",
        "hdd-7200-sync",
        "retries and media-rate",
    ),
    ("fleet", "raid6x8", "retries"),
    ("fleet", "raid6x8", "retries and media-rate"),
    // What memory took at first was written back meanwhile, from an odd place on.
    ("dd", "hdd-10k", "page-cache and alignment"),
    // What the cache of the array had read ahead is a burst, and the disks after it are no limit
    // that somebody set.
    ("dd", "san-entry", "credit-throttle"),
];

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

fn is_let(plan: &str, profile: &str, what: &str) -> bool {
    LET.iter().any(|(of, on, limiter)| {
        *of == plan && *on == profile && what.contains(&format!(": {limiter}: "))
    })
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
            .filter(|what| !is_let(plan, profile, what));
        let wrong = wrong.map(|what| format!("{plan} {profile} {what}"));
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
