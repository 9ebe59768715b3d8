//! Two causes at once, one in the disk and one in its host, drawn at random: whichever is
//! named, nothing is said that cannot be, and no two statements exclude each other.

use super::{Setup, contradictions, host, in_parallel, seed_of, storage, tell};
use crate::session::planted::causes::draw::Draw;
use diskfacts_disk::profile::{Drive, Profile};
use diskfacts_record::{Confidence, StageLimits};
use std::mem::discriminant;

/// Pairs that are drawn.
const PAIRS: usize = 100;
/// What is said of two causes at once, the one under the other, though it is not in the time that
/// the simulated disk tells, and why that is no contradiction; nothing else is let through.
const LET: &[(&str, &str, &str)] = &[
    // Of a request that is split the disk tells the parts of its time only as a whole.
    ("thermal-throttle", "request-splitting", "thermal-throttle"),
    // A writer waits for room in memory, and not for the network that write-back takes: that a
    // link is behind is so, of which speed is guessed from a rate that is near to one.
    ("network", "dirty-throttling", "network"),
];

fn is_let(names: &str, what: &str) -> bool {
    LET.iter().any(|(below, above, limiter)| {
        names == format!("{below} under {above}") && what.starts_with(&format!("{limiter}: "))
    })
}

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
            let wrong: Vec<String> = contradictions::of_stage(&run, stage, Confidence::Likely)
                .filter(|what| !is_let(&names, what))
                .collect();
            let told = (!wrong.is_empty()).then(|| tell(&stage.limits));
            told.map(|told| format!("{names}, {}: {}\n{told}", stage.stage, wrong.join("; ")))
        };
        let passed = contradictions::of_verdicts(&run).into_iter();
        let passed = passed.map(|what| format!("{names}: {what}"));
        let stages = run.limits.iter().filter_map(of_stage);
        stages.chain(passed).collect::<Vec<_>>()
    })
    .into_iter()
    .flatten()
    .collect();
    println!("DISKFACTS_CAUSES_SEED={seed}\n{}", wrong.join("\n"));
    assert!(wrong.is_empty(), "{} of {PAIRS} pairs", wrong.len());
}
