//! Disks without a flaw, drawn around the built-in ones: nothing is to be found.

use super::draw::{Draw, vary_hdd, vary_ssd};
use super::{Setup, in_parallel, seed_of};
use crate::session::planted::claims;
use diskfacts_disk::profile::{Drive, profiles};
use diskfacts_record::Finding;
use diskfacts_record::finding::Severity;

/// Disks drawn around each of the profiles.
const EACH: usize = 16;

fn draw(name: &str, seed: u64) -> Setup {
    let mut draw = Draw::new(seed);
    let mut setup = Setup::on(name);
    setup.seed = draw.number();
    match &mut setup.profile.drive {
        Drive::Hdd(drive) => vary_hdd(&mut draw, drive),
        Drive::Ssd(drive) => vary_ssd(&mut draw, drive),
    }
    setup
}

/// Operations of a stage that memory serves, of which no disk is seen.
const FROM_MEMORY: u64 = 20_000;
/// The usual time of a survey, virtual; flash does as much in a twentieth of it.
const SURVEY_NS: u64 = 60_000_000_000;
const FLASH: u64 = 20;

/// Warnings of a survey of a sound disk that are so, and why; nothing else is let through.
const LET: &[(&str, &str)] = &[];

fn surveyed(name: &str, seed: u64) -> Vec<Finding> {
    let mut setup = draw(name, seed);
    setup.plan = diskfacts_plan::builtin::plan("survey").expect("it is built in");
    setup.stage("cached-random-read").workload.stop.operations = Some(FROM_MEMORY);
    let turns = setup.profile.is_rotational();
    setup.time_ns = SURVEY_NS / if turns { 1 } else { FLASH };
    let mut run = setup.run();
    let is_let = |finding: &Finding| LET.iter().any(|(rule, _)| *rule == finding.rule);
    run.findings
        .retain(|finding| finding.severity >= Severity::Warning && !is_let(finding));
    run.findings
}

#[test]
fn surveys_of_two_hundred_disks_without_a_flaw_have_no_warning() {
    let seed = seed_of("DISKFACTS_SOUND_SEED");
    let names: Vec<&str> = profiles().collect();
    let each = std::env::var("DISKFACTS_SURVEYS").map_or(EACH, |each| each.parse().unwrap());
    let count = names.len() * each;
    let began = std::time::Instant::now();
    let found = in_parallel(count, |index| {
        let name = names[index % names.len()];
        let began = std::time::Instant::now();
        let found = surveyed(name, seed.wrapping_add(1 + index as u64));
        println!("{name} {:?}", began.elapsed());
        (!found.is_empty()).then(|| format!("{name}\n{}", claims(&found)))
    });
    let found: Vec<String> = found.into_iter().flatten().collect();
    println!(
        "DISKFACTS_SOUND_SEED={seed}: {} of {count} surveys of disks without a flaw have a \
         warning, {:?}\n{}",
        found.len(),
        began.elapsed(),
        found.join("\n")
    );
    assert!(found.is_empty(), "seed {seed}");
}

#[test]
fn two_hundred_disks_without_a_flaw_have_no_warning() {
    let seed = seed_of("DISKFACTS_SOUND_SEED");
    let names: Vec<&str> = profiles().collect();
    let count = names.len() * EACH;
    let found = in_parallel(count, |index| {
        let name = names[index % names.len()];
        let seed = seed.wrapping_add(1 + index as u64);
        let mut run = draw(name, seed).run();
        let is_grave = |finding: &Finding| finding.severity >= Severity::Warning;
        run.findings.retain(is_grave);
        (!run.findings.is_empty()).then(|| format!("{name}\n{}", claims(&run.findings)))
    });
    let found: Vec<String> = found.into_iter().flatten().collect();
    println!(
        "DISKFACTS_SOUND_SEED={seed}: {} of {count} disks without a flaw have a warning\n{}",
        found.len(),
        found.join("\n")
    );
    assert!(count >= 200 && found.is_empty(), "seed {seed}");
}
