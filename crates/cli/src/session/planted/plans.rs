//! The built-in plans on disks without a fault: nothing is blamed that the simulated disk
//! itself knows not to have been there, and no two statements of a run exclude each other.

use super::causes::{in_parallel, seed_of};
use super::contradictions::of_run;
use super::setup::Setup;
use diskfacts_disk::profile::profiles;
use diskfacts_plan::rng::Rng;
use diskfacts_plan::{CacheMode, builtin};
use diskfacts_record::{Confidence, Run};

/// Plans of which a simulated disk can do nothing: it has no folder for files, and no kernel
/// whose settings could be changed.
const NOT_SIMULATED: [&str; 0] = [];

/// The time of a run, virtual: the usual one on what turns; flash does as much in a twentieth of it.
const TIME_NS: u64 = 60_000_000_000;
const FLASH: u64 = 20;
/// Operations of a stage that memory serves, of which no disk is seen.
const FROM_MEMORY: u64 = 20_000;

fn measured(plan: &str, profile: &str, seed: u64) -> Option<Run> {
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
    let seed = seed_of("DISKFACTS_PLANS_SEED");
    let runs: Vec<(&str, &str)> = builtin::names()
        .flat_map(|plan| profiles().map(move |profile| (plan, profile)))
        .collect();
    let outcomes = in_parallel(runs.len(), |index| {
        let (plan, profile) = runs[index];
        let began = std::time::Instant::now();
        let seed = Rng::for_part(seed, index as u64).next_u64();
        let Some(run) = measured(plan, profile, seed) else {
            println!("{plan} {profile}: none");
            return None;
        };
        let looked_at: usize = run.limits.iter().map(|stage| stage.limits.len()).sum();
        println!(
            "{plan} {profile}: {looked_at} claims, {:?}",
            began.elapsed()
        );
        let wrong = of_run(&run, Confidence::Possible);
        let named = wrong
            .into_iter()
            .map(|what| format!("{plan} {profile} {what}"));
        Some((looked_at, named.collect::<Vec<_>>()))
    });
    let looked_at: usize = outcomes.iter().flatten().map(|(claims, _)| claims).sum();
    let wrong: Vec<String> = outcomes
        .into_iter()
        .flatten()
        .flat_map(|(_, wrong)| wrong)
        .collect();
    println!(
        "DISKFACTS_PLANS_SEED={seed}: {} of {looked_at} claims are wrong",
        wrong.len()
    );
    assert!(looked_at > 500, "{looked_at} claims");
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
