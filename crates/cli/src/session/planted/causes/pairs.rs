//! Two causes at once, one in the disk and one in its host, drawn at random: whichever is
//! named, nothing is said that cannot be, and no two statements exclude each other.

use super::{Setup, contradictions, host, in_parallel, seed_of, storage, tell};
use crate::session::planted::causes::draw::Draw;
use diskfacts_disk::profile::{Drive, Profile};
use diskfacts_record::{Confidence, StageLimits};
use std::mem::discriminant;

/// Pairs that are drawn.
const PAIRS: usize = 100;
/// Stages of which something is said that cannot be, at most: of a request that is split the
/// simulated disk tells the parts of its time only as a whole.
const WRONG_MAX: usize = 2;

/// What leaves a disk that turns as fast as it is. Elsewhere a neighbour that asks for most
/// of what another disk does, whatever came of what it asked before, is waited for ever longer.
const FAST: [&str; 3] = ["media-rate", "seek", "zone"];

/// The work of one of them, on the disk of the one and under the host of the other.
fn drawn(seed: u64) -> (String, Setup) {
    let mut draw = Draw::new(seed);
    let kind = |drive: &Drive| discriminant(drive);
    loop {
        let below = &storage::CAUSES[draw.range(0, storage::CAUSES.len() as u64 - 1) as usize];
        let above = &host::CAUSES[draw.range(0, host::CAUSES.len() as u64 - 1) as usize];
        if above.name == "other-process" && !FAST.contains(&below.name) {
            continue;
        }
        let (disk, computer) = (
            (below.plant)(&mut draw, true),
            (above.plant)(&mut draw, true),
        );
        // What a host does to flash it need not do to a disk that turns.
        if kind(&disk.profile.drive) != kind(&computer.profile.drive) {
            continue;
        }
        let plan = if draw.chance(50) {
            disk.plan
        } else {
            computer.plan
        };
        let setup = Setup {
            profile: Profile {
                host: computer.profile.host,
                ..disk.profile
            },
            plant: computer.plant,
            plan,
            seed: disk.seed,
            time_ns: disk.time_ns,
            testing: disk.testing,
        };
        return (format!("{} under {}", below.name, above.name), setup);
    }
}

#[test]
fn of_two_causes_at_once_nothing_is_said_that_excludes_itself() {
    let seed = seed_of("DISKFACTS_CAUSES_SEED");
    let wrong: Vec<String> = in_parallel(PAIRS, |index| {
        let (names, setup) = drawn(seed.wrapping_add(1 + index as u64));
        let run = setup.run();
        let of_stage = |stage: &StageLimits| {
            let wrong: Vec<String> =
                contradictions::of_stage(&run, stage, Confidence::Likely).collect();
            let told = (!wrong.is_empty()).then(|| tell(&stage.limits));
            told.map(|told| format!("{names}, {}: {}\n{told}", stage.stage, wrong.join("; ")))
        };
        run.limits.iter().filter_map(of_stage).collect::<Vec<_>>()
    })
    .into_iter()
    .flatten()
    .collect();
    println!("DISKFACTS_CAUSES_SEED={seed}\n{}", wrong.join("\n"));
    assert!(wrong.len() <= WRONG_MAX, "{} of {PAIRS} pairs", wrong.len());
}
