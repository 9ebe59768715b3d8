//! The JSON documents; `docs/reference/json.md` and, for simulated disks,
//! `docs/reference/simulated-disks.md` describe every key, and
//! `docs/reference/run.schema.json` is the JSON Schema of [`run`].

mod advise;
mod compare;
mod fleet;
mod imported;
mod read;
mod read_ahead;
mod reproduction;
mod runs;
mod together;
mod watch;

pub use advise::advice;
pub use compare::comparison;
pub use fleet::fleet_odd;
pub use imported::imports;
pub use read::{RunError, read_run};
pub use read_ahead::{WatchedReadAhead, read_ahead};
pub use reproduction::reproduction;
pub use runs::runs;
pub use together::together;
pub use watch::{watch_part, watch_total};

use diskfacts_disk::profile::{Drive, Filled, Profile};
use diskfacts_disk::reproduce::seed_of;
use diskfacts_record::{Run, SCHEMA, Stack, Target, TargetKind, Trial};
use serde::Serialize;

/// The document of `measure --json` and `show RUN --json`: one object, its keys
/// in the order of the reference, and a line end.
///
/// A float that is not a number becomes `null`, as JSON has no word for it. So
/// do the counts that an imported run does not know, and whole histograms and single requests,
/// which are in [`run_in_full`].
///
/// # Panics
/// Never: no map of a run has keys that are not text.
pub fn run(run: &Run) -> String {
    let trials = run.trials.iter().map(Trial::without_details);
    run_in_full(&with_trials(run, trials.collect()))
}

/// The document of `--json=full`: that of [`run`] with the whole histograms of its trials and
/// their single requests. It reads back as the same run.
///
/// # Panics
/// Never, as [`run`].
pub fn run_in_full(run: &Run) -> String {
    if run.target.kind == TargetKind::Imported {
        document(&imported::with_nulls(run))
    } else {
        document(run)
    }
}

/// The run with other trials.
fn with_trials(run: &Run, trials: Vec<Trial>) -> Run {
    // Field by field, so that the trials that it has are not copied.
    Run {
        schema: run.schema,
        run: run.run.clone(),
        machine: run.machine.clone(),
        target: run.target.clone(),
        stack: run.stack.clone(),
        plan: run.plan.clone(),
        preconditioning: run.preconditioning.clone(),
        trials,
        claim_tests: run.claim_tests.clone(),
        health_after: run.health_after.clone(),
        together: run.together.clone(),
        figures: run.figures.clone(),
        effects: run.effects.clone(),
        findings: run.findings.clone(),
        limits: run.limits.clone(),
        verdicts: run.verdicts.clone(),
    }
}

/// The document of `devices [TARGET] --json`: `schema`, `target` (`null` when
/// none was named) and `stack`, the last two as in the document of a run.
///
/// # Panics
/// Never, as [`run`].
pub fn devices(target: Option<&Target>, stack: &Stack) -> String {
    #[derive(Serialize)]
    struct Devices<'a> {
        schema: u32,
        target: Option<&'a Target>,
        stack: &'a Stack,
    }
    document(&Devices {
        schema: SCHEMA,
        target,
        stack,
    })
}

/// The document of `sim --json`: `schema` and `profiles`.
///
/// # Panics
/// Never, as [`run`].
pub fn profiles(profiles: &[Profile]) -> String {
    #[derive(Serialize)]
    struct Profiles<'a> {
        schema: u32,
        profiles: Vec<Described<'a>>,
    }
    document(&Profiles {
        schema: SCHEMA,
        profiles: profiles.iter().map(Described::of).collect(),
    })
}

/// The document of `sim PROFILE --json`: `schema`, `profile`, its text `toml`,
/// and what is `filled` in for the keys that it leaves out.
///
/// # Panics
/// Never, as [`run`].
pub fn profile(profile: &Profile, toml: &str, filled: &[Filled]) -> String {
    #[derive(Serialize)]
    struct Printed<'a> {
        schema: u32,
        profile: Described<'a>,
        toml: &'a str,
        filled: Vec<Key<'a>>,
    }
    document(&Printed {
        schema: SCHEMA,
        profile: Described::of(profile),
        toml,
        filled: filled.iter().map(Key::of).collect(),
    })
}

/// A key that was filled in.
#[derive(Serialize)]
struct Key<'a> {
    table: &'a str,
    key: &'a str,
    value: &'a str,
}

impl<'a> Key<'a> {
    fn of(filled: &'a Filled) -> Self {
        Self {
            table: &filled.table,
            key: filled.key,
            value: &filled.value,
        }
    }
}

/// A simulated disk as a document describes it.
#[derive(Serialize)]
struct Described<'a> {
    name: &'a str,
    about: &'a str,
    drive: &'static str,
    rpm: Option<f64>,
    raid: Option<Array>,
    capacity_bytes: u64,
    logical_sector_bytes: u64,
    physical_sector_bytes: u64,
    network: bool,
    host: bool,
    seed: Option<u32>,
}

#[derive(Serialize)]
struct Array {
    level: u32,
    members: usize,
}

impl<'a> Described<'a> {
    fn of(profile: &'a Profile) -> Self {
        let (drive, rpm) = match &profile.drive {
            Drive::Hdd(hdd) => ("hdd", Some(60e9 / hdd.revolution_ns as f64)),
            Drive::Ssd(_) => ("ssd", None),
        };
        Self {
            name: &profile.name,
            about: &profile.about,
            drive,
            rpm,
            raid: profile.raid.map(|raid| Array {
                level: raid.level.number(),
                members: raid.members,
            }),
            capacity_bytes: profile.capacity(),
            logical_sector_bytes: profile.drive.logical_sector(),
            physical_sector_bytes: profile.physical_sector(),
            network: profile.network.is_some(),
            host: profile.host.is_some(),
            seed: seed_of(&profile.name),
        }
    }
}

fn document(value: &impl Serialize) -> String {
    // Serializing to memory fails only for maps with other keys than text.
    let mut text = serde_json::to_string_pretty(value).expect("every key is text");
    text.push('\n');
    text
}
