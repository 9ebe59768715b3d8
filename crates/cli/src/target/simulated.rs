//! A simulated disk: `sim:PROFILE`, or `sim:FILE.toml` with a profile of one's
//! own. Nothing real is touched, so it may be written without asking.

use super::{Measured, Medium, Wanted};
use crate::exit::{Failure, OrFail};
use crate::named_text::read_text;
use anyhow::Context;
use diskfacts_disk::profile::{Profile, parse, profile};
use diskfacts_engine::sim::{Computer, Plant, stack};
use diskfacts_record::run::DirectIo;
use diskfacts_record::{Stack, Target, TargetKind};
use std::path::Path;

/// What a target of this kind begins with.
const PREFIX: &str = "sim:";

/// What stands behind `sim:`, where a target begins with it. A file of such a
/// name is meant by `./sim:...`.
pub(crate) fn name(given: &Path) -> Option<String> {
    let given = given.to_string_lossy();
    given.strip_prefix(PREFIX).map(str::to_owned)
}

/// The profile of this name; or in this file, when the name ends in `.toml`.
pub(crate) fn profile_of(name: &str) -> Result<Profile, Failure> {
    let is_file = Path::new(name)
        .extension()
        .is_some_and(|extension| extension == "toml");
    if !is_file {
        return profile(name).map_err(|unknown| {
            Failure::wrong_call(format!(
                "{unknown}. `diskfacts sim` says what each is; a profile of your own is measured \
                 as sim:FILE.toml"
            ))
        });
    }
    let what = format!("the simulated disk {name}");
    let text = read_text(
        Path::new(name),
        &what,
        "; `diskfacts sim` lists those built in",
    )?;
    parse(&text)
        .with_context(|| format!("the simulated disk {name} cannot be understood"))
        .or_wrong_call()
}

/// What it is, and the stack under it, without building it.
pub(super) fn describe(given: &Path, name: &str) -> Result<(Target, Stack), Failure> {
    Ok(described(given, &profile_of(name)?, &Plant::default()))
}

fn described(given: &Path, profile: &Profile, plant: &Plant) -> (Target, Stack) {
    let stack = stack(profile, plant);
    let sector = u32::try_from(profile.drive.logical_sector()).ok();
    let target = Target {
        given: given.display().to_string(),
        path: profile.name.clone(),
        kind: TargetKind::Simulated,
        size_bytes: stack.top().and_then(|disk| disk.size_bytes).unwrap_or(0),
        writable: true,
        obstacles: Vec::new(),
        extents: None,
        direct: sector.map(|sector| DirectIo {
            memory_alignment_bytes: sector,
            offset_alignment_bytes: sector,
        }),
    };
    (target, stack)
}

pub(super) fn open(wanted: &Wanted<'_>, name: &str) -> Result<(Measured, Stack), Failure> {
    let given = wanted.given.display();
    if wanted.size.is_some() {
        return Err(Failure::wrong_call(format!(
            "--size is for the file that is made in a folder; {given} has the size of its profile. To measure a part of it, give the stages of a plan file a span"
        )));
    }
    if wanted.destroy_data_on.is_some() {
        return Err(Failure::wrong_call(format!(
            "{given} is a simulated disk, which holds no data; drop --destroy-data-on"
        )));
    }
    let profile = profile_of(name)?;
    Ok(build(
        wanted.given,
        &profile,
        wanted.seed,
        &Plant::default(),
    ))
}

/// A computer with the disk of this profile, and with the flaws of `plant`.
pub(crate) fn build(
    given: &Path,
    profile: &Profile,
    seed: u64,
    plant: &Plant,
) -> (Measured, Stack) {
    let (mut target, stack) = described(given, profile, plant);
    let computer = Computer::new(profile, seed, *plant);
    target.extents = computer.extents();
    let measured = Measured {
        target,
        medium: Medium::Simulated(Box::new(computer)),
        place: None,
        notes: Vec::new(),
        under: None,
        filled_per_s: None,
        beside: None,
        own_part: None,
    };
    (measured, stack)
}
