//! Disks without a flaw, drawn around the built-in ones: nothing is to be found.

use super::draw::{Draw, vary_hdd, vary_ssd};
use super::{Setup, in_parallel, seed_of};
use crate::session::planted::{claims, survey};
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

/// Surveys of disks drawn around each of the profiles, unless `DISKFACTS_SURVEYS` says how many: one
/// of flash takes ten times as long as all of [`Setup::on`].
const SURVEYS: usize = 3;
/// Operations of a stage that memory serves, of which no disk is seen.
const FROM_MEMORY: u64 = 100_000;
/// The usual time of a survey, virtual; flash does as much in a twentieth of it.
const SURVEY_NS: u64 = 60_000_000_000;
const FLASH: u64 = 20;

/// What is warned of in a survey with all of its stages and is neither so, which [`survey`] tells
/// with the reasons, nor that its trials are short: of flash they are a twentieth of a minute's,
/// and an array whose operations take long has too few of them in a minute.
fn warned(name: &str, seed: u64) -> Vec<Finding> {
    let mut setup = draw(name, seed);
    setup.plan = diskfacts_plan::builtin::plan("survey").expect("it is built in");
    setup.stage("cached-random-read").workload.stop.operations = Some(FROM_MEMORY);
    let turns = setup.profile.is_rotational();
    setup.time_ns = SURVEY_NS / if turns { 1 } else { FLASH };
    let mut run = setup.run();
    let found = std::mem::take(&mut run.findings);
    let is_let = |finding: &Finding| {
        finding.rule == "too-short" || survey::is_so(finding, &run, survey::is_protected(name))
    };
    let grave = found
        .into_iter()
        .filter(|finding| finding.severity >= Severity::Warning);
    grave.filter(|finding| !is_let(finding)).collect()
}

#[test]
fn surveys_of_disks_without_a_flaw_have_no_warning() {
    let seed = seed_of("DISKFACTS_SOUND_SEED");
    let names: Vec<&str> = profiles().collect();
    let each = std::env::var("DISKFACTS_SURVEYS");
    let each = each.map_or(SURVEYS, |each| each.parse().expect("a number"));
    let count = names.len() * each;
    let found = in_parallel(count, |index| {
        let name = names[index % names.len()];
        let found = warned(name, seed.wrapping_add(1 + index as u64));
        (!found.is_empty()).then(|| format!("{name}\n{}", claims(&found)))
    });
    let found: Vec<String> = found.into_iter().flatten().collect();
    println!(
        "DISKFACTS_SOUND_SEED={seed}: {} of {count} surveys of disks without a flaw have a \
         warning\n{}",
        found.len(),
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
