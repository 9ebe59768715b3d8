//! What was measured, laid out for choosing: each stage of each run with its
//! conditions and with what it could be told from the others by.

use super::Dimension;
use super::dimension::{self, CHOSEN};
use crate::context::Context;
use crate::layers::SERVED_FROM_CACHE;
use crate::stage_facts::{StageFacts, cache_burst};
use crate::stages::Stage;
use crate::words::percent;
use diskfacts_plan::CacheMode;
use diskfacts_record::{BlockDevice, Run, TargetKind, Trial};
use std::collections::{BTreeMap, BTreeSet};

/// Settings that say what was done, and not what could be chosen: two cells that
/// differ in one of them are two tests.
const CONDITIONS: [&str; 12] = [
    "beside",
    "offset",
    "size",
    "files",
    "bytes",
    "count",
    "access",
    "fixed",
    "val",
    "offset0",
    "chunk",
    "concurrency",
];

/// One stage of one run under one combination of settings.
#[derive(Debug)]
pub(super) struct Cell<'a> {
    pub(super) dimension: Dimension,
    pub(super) stage: &'a str,
    /// What it must have in common with others of the same test, by name.
    pub(super) conditions: Vec<(String, String)>,
    /// What it may be chosen by, in the order in which it is told.
    pub(super) attributes: Vec<(String, String)>,
    pub(super) trials: Vec<&'a Trial>,
    pub(super) run: &'a str,
}

/// What was measured and takes no part, with the reason: a sentence each.
pub(super) type LeftOut = Vec<String>;

/// The cells of all runs.
pub(super) fn of(runs: &[Run]) -> (Vec<Cell<'_>>, LeftOut) {
    let mut cells = Vec::new();
    let mut left_out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for run in runs {
        let context = Context::new(run);
        let varied = varied(&context);
        for (i, (stage, figures)) in context.each().enumerate() {
            let Some(dimension) = Dimension::measured_by(stage) else {
                let names = left_out.entry(NONE_OF_THESE.to_owned()).or_default();
                if !names.iter().any(|known| known == stage.name) {
                    names.push(stage.name.to_owned());
                }
                continue;
            };
            if let Some(why) = doubt(&StageFacts::new(&context, stage, figures)) {
                left_out.entry(why).or_default().push(stage.label());
                continue;
            }
            let workload = stage.workload();
            let unsaid = &stage.trials[0].unsaid;
            let mut conditions: Vec<(String, String)> =
                dimension::conditions(workload, unsaid, &varied[i])
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect();
            let (met, chosen): (Vec<_>, Vec<_>) = stage
                .settings
                .iter()
                .partition(|(key, _)| CONDITIONS.contains(&key.as_str()));
            conditions.extend(met.into_iter().map(|(k, v)| (k.clone(), v.clone())));
            let mut attributes = of_run(run);
            // What was set for a trial is nearer to it than what stood when the run began.
            attributes.retain(|(key, _)| !stage.settings.contains_key(key));
            attributes.extend(chosen.into_iter().map(|(k, v)| (k.clone(), v.clone())));
            cells.push(Cell {
                dimension,
                stage: stage.name,
                conditions,
                attributes,
                trials: stage.trials.clone(),
                run: &run.run.id,
            });
        }
    }
    let said = left_out
        .into_iter()
        .map(|(why, stages)| format!("{}: {why}.", crate::words::stage_list(&stages)))
        .collect();
    forget_unknown(&mut cells);
    (cells, said)
}

const NONE_OF_THESE: &str =
    "not compared, because it measures memory, files, single characters, or a rate that was set";

/// Why the figure of a stage is not one of its disk.
fn doubt(facts: &StageFacts<'_>) -> Option<String> {
    let (stage, figures) = (facts.stage, facts.figures);
    if figures.errors > 0 {
        return Some("not compared, because operations failed".to_owned());
    }
    let cached = figures.layers.page_cache;
    if stage.workload().cache != CacheMode::Warm && cached > SERVED_FROM_CACHE {
        return Some(format!(
            "not compared, because memory served {} of it",
            percent(cached)
        ));
    }
    if stage
        .trials
        .iter()
        .any(|trial| trial.direct_refused().is_some())
    {
        return Some("not compared, because its direct I/O was refused".to_owned());
    }
    cache_burst(facts).map(|_| "not compared, because a write cache took it".to_owned())
}

/// For each stage the conditions that a matrix of its run chooses between: those that
/// differ between the cells of the same name.
fn varied(context: &Context<'_>) -> Vec<Vec<&'static str>> {
    let mut seen: BTreeMap<&str, BTreeMap<&'static str, BTreeSet<String>>> = BTreeMap::new();
    for stage in &context.stages {
        let of_name = seen.entry(stage.name).or_default();
        for (name, value) in dimension::all_conditions(stage.workload()) {
            of_name.entry(name).or_default().insert(value);
        }
    }
    let differs = |stage: &Stage<'_>, name: &str| {
        let values = seen.get(stage.name).and_then(|of_name| of_name.get(name));
        values.is_some_and(|values| values.len() > 1)
    };
    let stages = context.stages.iter();
    stages
        .map(|stage| {
            let chosen = CHOSEN.into_iter();
            chosen.filter(|name| differs(stage, name)).collect()
        })
        .collect()
}

/// The target, not as it was typed: `.` is another place in another folder. A document and a
/// simulated disk have their names, and a loop device of ours another path each time.
pub(super) fn target(run: &Run) -> &str {
    match run.target.kind {
        TargetKind::Imported | TargetKind::Loop | TargetKind::Simulated => &run.target.given,
        _ => &run.target.path,
    }
}

/// A filesystem that was made anew is another one.
const FILESYSTEM_UUID: &str = "UUID of the filesystem";

/// Takes the UUIDs away where a run has a filesystem without one, as those of older
/// diskfacts have: what one does not know tells it from no other.
fn forget_unknown(cells: &mut [Cell<'_>]) {
    let has = |cell: &Cell<'_>, name: &str| cell.attributes.iter().any(|(key, _)| key == name);
    let unknown = |cell: &Cell<'_>| has(cell, "filesystem") && !has(cell, FILESYSTEM_UUID);
    if cells.iter().any(unknown) {
        for cell in cells {
            cell.attributes.retain(|(key, _)| key != FILESYSTEM_UUID);
        }
    }
}

/// What a run may be told from another by.
fn of_run(run: &Run) -> Vec<(String, String)> {
    let imported = run.target.kind == TargetKind::Imported;
    let stack = &run.stack;
    let scheduler = stack.leaves().find_map(|leaf| leaf.scheduler.clone());
    let read_ahead = stack.top().and_then(|top| top.read_ahead_bytes);
    let target = target(run);
    let disk = |leaf: &BlockDevice| {
        let own = leaf.serial.clone().or_else(|| leaf.wwid.clone());
        let own = own.or_else(|| leaf.backing_file.clone());
        own.unwrap_or_else(|| leaf.name.clone())
    };
    let disks: Vec<String> = stack.leaves().map(disk).collect();
    let sizes = stack.leaves().filter_map(|leaf| leaf.size_bytes);
    let sizes: Vec<String> = sizes.map(diskfacts_plan::units::exact_size).collect();
    let source = run.run.source.as_ref().map(|source| source.file.clone());
    [
        ("document", source.clone()),
        ("host", run.machine.host.clone()),
        (
            "target",
            // Where the document names none, its own name stands there.
            (!imported || source.as_deref() != Some(target)).then(|| target.to_owned()),
        ),
        ("disk", (!disks.is_empty()).then(|| disks.join(" + "))),
        (
            "filesystem",
            stack.filesystem.as_ref().map(|fs| fs.kind.clone()),
        ),
        (
            FILESYSTEM_UUID,
            stack.filesystem.as_ref().and_then(|fs| fs.uuid.clone()),
        ),
        (
            "size of the device",
            (!sizes.is_empty()).then(|| sizes.join(" + ")),
        ),
        ("scheduler", scheduler),
        (
            "read-ahead",
            read_ahead.map(diskfacts_plan::units::exact_size),
        ),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name.to_owned(), value?)))
    .collect()
}
