//! The top of a run: how it went, on what, with what.

use super::look::Style;
use super::page::Page;
use super::words::{add_once, count, list, shell, stages_of};
use super::wrap::together;
use crate::notes::notes;
use diskfacts_facts::medium::turns;
use diskfacts_plan::Plan;
use diskfacts_plan::units::show_size;
use diskfacts_record::{
    BlockDevice, DeviceKind, Impairment, Run, Severity, Source, Stack, Status, TargetKind, Trial,
    Unsound,
};

/// Where the values of the rows begin.
const COLUMN: usize = 10;
/// Leaves that are described one by one.
const LEAVES: usize = 4;

pub(crate) fn write(page: &mut Page<'_>, run: &Run) {
    let (style, status) = status(run.run.status);
    let title = format!("diskfacts run {}:", run.run.id);
    page.titled(0, (Style::Heading, &title), 0, style, status);
    for text in troubles(run) {
        page.paragraph(0, Style::Bad, &text);
    }
    page.blank();
    if !run.run.command.is_empty() {
        page.verbatim(
            (Style::Heading, "Command"),
            COLUMN,
            &shell(&run.run.command),
        );
    }
    let findings = findings(run).map(|findings| ("Findings", vec![findings]));
    for (label, texts) in rows(run).into_iter().chain(findings) {
        for (i, text) in texts.iter().enumerate() {
            let label = if i == 0 { label } else { "" };
            page.labelled(0, (Style::Heading, label), COLUMN, Style::Plain, text);
        }
    }
}

/// How it was called, when it was made, on what and with what: each with its label.
pub(crate) fn rows(run: &Run) -> Vec<(&'static str, Vec<String>)> {
    let mut rows: Vec<(&'static str, Vec<String>)> = Vec::new();
    let mut row = |label, texts: Vec<String>| {
        if !texts.is_empty() {
            rows.push((label, texts));
        }
    };
    let labels = &run.run.labels;
    row("Name", labels.name.iter().cloned().collect());
    if !labels.tags.is_empty() {
        let tags: Vec<&str> = labels.tags.iter().map(String::as_str).collect();
        row("Tags", vec![tags.join(", ")]);
    }
    let membership = &run.run.membership;
    row("Group", membership.group.iter().cloned().collect());
    if !membership.labels.is_empty() {
        let pairs = membership.labels.iter();
        let pairs: Vec<String> = pairs.map(|(key, value)| format!("{key}={value}")).collect();
        row("Labels", vec![pairs.join(", ")]);
    }
    let note = labels.note.iter().flat_map(|note| note.lines());
    row("Note", note.map(str::to_owned).collect());
    if let Some(source) = &run.run.source {
        row("Imported", vec![when(run)]);
        row("Source", vec![self::source(source)]);
    } else {
        row("When", vec![when(run)]);
    }
    row("Target", vec![target(run)]);
    if !matches!(
        run.target.kind,
        TargetKind::Simulated | TargetKind::Stream | TargetKind::Imported
    ) {
        row("Stack", vec![stack(&run.stack)]);
    }
    row("Disk", leaves(run));
    if run.target.kind != TargetKind::Imported {
        // A simulated disk is worked out, the same on every machine.
        if run.target.kind != TargetKind::Simulated {
            row("Machine", vec![machine(run)]);
        }
        row("Plan", vec![plan(run)]);
        row("Engine", engine(run).into_iter().collect());
    }
    row("Notes", notes(run));
    rows
}

/// Why the run is not what was asked for, or its target not sound: a sentence each.
pub(crate) fn troubles(run: &Run) -> Vec<String> {
    let mut texts = unsound(run);
    texts.extend(trouble(run));
    texts
}

/// What was not sound under the target, a sentence each; the first word is in capitals.
fn unsound(run: &Run) -> Vec<String> {
    let sentence = |unsound: Unsound<'_>| {
        let kind = unsound.kind.words().to_uppercase();
        let told = |found: &Impairment| format!("{} ({}).", found.what, found.source);
        let began = unsound.before.map(told);
        let ended = unsound.after.filter(|found| unsound.before != Some(found));
        let ended = ended.map(|found| match began {
            Some(_) => format!("When the run ended: {}", told(found)),
            None => told(found),
        });
        let told: Vec<String> = began.into_iter().chain(ended).collect();
        format!(
            "{kind}{}: {}: {}",
            unsound.when(),
            unsound.name,
            told.join(" ")
        )
    };
    run.unsound().into_iter().map(sentence).collect()
}

/// Which document, and which lines of it.
pub(super) fn source(source: &Source) -> String {
    let lines = if source.first_line == source.last_line {
        format!("line {}", source.first_line)
    } else {
        format!("lines {} to {}", source.first_line, source.last_line)
    };
    format!(
        "{}, {lines}: {} of {}",
        source.file,
        count(source.rows, "row"),
        source.format
    )
}

pub(crate) fn status(status: Status) -> (Style, &'static str) {
    match status {
        Status::Complete => (Style::Good, "complete"),
        Status::Running => (Style::Doubtful, "not finished"),
        Status::Interrupted => (Style::Doubtful, "interrupted"),
        Status::Failed => (Style::Bad, "failed"),
    }
}

/// Why the run is not what was asked for, if it is not.
fn trouble(run: &Run) -> Vec<String> {
    let planned = run.plan.stages.len() as u64 * u64::from(run.plan.trials);
    let trials = run.planned_trials().count() as u64;
    let done = if run.plan.until.is_adaptive() && trials >= planned {
        count(trials, "trial")
    } else {
        format!("{trials} of {}", count(planned, "trial"))
    };
    let mut missing: Vec<&str> = run
        .plan
        .stages
        .iter()
        .map(|stage| stage.name.as_str())
        .filter(|name| !run.trials.iter().any(|trial| trial.stage == *name))
        .collect();
    // The cells of a matrix stand together.
    missing.dedup();
    let failures = failures(run);
    let status = match (run.run.status, &failures) {
        (Status::Complete, _) => None,
        (Status::Interrupted, _) => Some(format!(
            "INTERRUPTED: a signal ended it after {done}; what was complete is below."
        )),
        (Status::Running, _) => Some(format!(
            "NOT FINISHED: it was killed or is still running; {done} are stored."
        )),
        (Status::Failed, Some(failures)) => Some(format!("FAILED: {failures}; {done} were made.")),
        (Status::Failed, None) => Some(format!("FAILED: it could not go on after {done}.")),
    };
    let mut texts = Vec::new();
    if let Some(status) = status {
        texts.push(if missing.is_empty() {
            status
        } else {
            format!("{status} Not measured: {}.", list(&missing))
        });
    }
    if let (Some(failures), false) = (failures, run.run.status == Status::Failed) {
        texts.push(format!("ERRORS: {failures}."));
    }
    texts
}

/// `3 operations failed, in random-read-qd1`.
fn failures(run: &Run) -> Option<String> {
    let failed: u64 = run.trials.iter().map(|trial| trial.errors).sum();
    let mut stages = Vec::new();
    for trial in run.trials.iter().filter(|trial| trial.errors > 0) {
        add_once(&mut stages, trial.stage.as_str());
    }
    (failed > 0).then(|| {
        format!(
            "{} failed, in {}",
            count(failed, "operation"),
            list(&stages)
        )
    })
}

/// `2026-11-21 02:41:50 to 02:42:51 UTC` of two RFC 3339 times.
pub(crate) fn when(run: &Run) -> String {
    let words = |time: &str| -> Option<(String, String)> {
        let (date, clock) = time.strip_suffix('Z')?.split_once('T')?;
        let clock = clock.split_once('.').map_or(clock, |(whole, _)| whole);
        Some((date.to_owned(), clock.to_owned()))
    };
    let started = words(&run.run.started);
    let ended = run.run.ended.as_deref().and_then(words);
    let times = match (started, ended) {
        (Some((date, from)), Some((last, to))) if date == last => {
            format!("{date} {from} to {to} UTC")
        }
        (Some((date, from)), Some((last, to))) => format!("{date} {from} to {last} {to} UTC"),
        (Some((date, from)), None) => format!("{date} {from} UTC"),
        _ => run.run.started.clone(),
    };
    format!("{times}, diskfacts {}", run.run.tool_version)
}

pub(super) fn target(run: &Run) -> String {
    let target = &run.target;
    let size = show_size(target.size_bytes);
    let access = if target.writable {
        "read and written"
    } else {
        "only read"
    };
    let text = match target.kind {
        TargetKind::Folder => format!(
            "{}, a folder; measured in a new file of {size}",
            target.path
        ),
        TargetKind::File => format!("{}, a file of {size}, {access}", target.path),
        TargetKind::Device => format!("{}, a block device of {size}, {access}", target.path),
        TargetKind::Stream => format!("{}, bytes that lie on no disk", target.path),
        TargetKind::Loop => format!(
            "{}, a loop device of {size} over a new file in {}",
            target.path, target.given
        ),
        TargetKind::Simulated => {
            let name = if is_named_by_profile(run) {
                &target.given
            } else {
                &target.path
            };
            format!("{name}, a simulated disk of {size}, in virtual time")
        }
        TargetKind::Imported => "what a document says, measured by another program".to_owned(),
    };
    let said_so =
        target.given == target.path || target.kind == TargetKind::Loop || is_named_by_profile(run);
    if said_so {
        text
    } else {
        format!("{text} (given as {})", target.given)
    }
}

/// Whether the target was given as `sim:` and the name of the profile that it is.
fn is_named_by_profile(run: &Run) -> bool {
    let target = &run.target;
    target.kind == TargetKind::Simulated
        && target.given.strip_prefix("sim:") == Some(target.path.as_str())
}

/// The devices from top to bottom in one phrase: each level once, at its
/// deepest.
pub(crate) fn stack(stack: &Stack) -> String {
    let filesystem = stack.filesystem.as_ref();
    let mut text = match filesystem {
        Some(filesystem) => format!("{} at {}", filesystem.kind, filesystem.mount_point),
        None if stack.devices.is_empty() => return "unknown".to_owned(),
        None => String::new(),
    };
    if stack.devices.is_empty() {
        // Without sysfs it is mounted from a device all the same.
        let has_device = filesystem.is_some_and(|of| of.source.starts_with("/dev/"));
        text += if has_device {
            ", on devices that could not be seen"
        } else {
            ", on no block device"
        };
    }
    for level in levels(stack) {
        let names: Vec<String> = level.iter().map(|device| name_and_kind(device)).collect();
        if !text.is_empty() {
            text += " on ";
        }
        text += &list(&names);
    }
    text
}

fn levels(stack: &Stack) -> Vec<Vec<&BlockDevice>> {
    let mut levels: Vec<Vec<&BlockDevice>> = Vec::new();
    let mut next: Vec<&BlockDevice> = stack.top().into_iter().collect();
    // Devices stand on devices in no circle; the bound is for a damaged record.
    while !next.is_empty() && levels.len() <= stack.devices.len() {
        let mut below = Vec::new();
        for name in next.iter().flat_map(|device| &device.below) {
            if let Some(device) = stack.device(name) {
                add_once(&mut below, device);
            }
        }
        for level in &mut levels {
            level.retain(|device| !next.contains(device));
        }
        levels.push(next);
        next = below;
    }
    levels.retain(|level| !level.is_empty());
    levels
}

fn name_and_kind(device: &BlockDevice) -> String {
    match (device.kind, &device.layout) {
        (DeviceKind::Disk | DeviceKind::Partition | DeviceKind::Simulated, _) => {
            device.name.clone()
        }
        (_, Some(layout)) => format!("{} ({layout})", device.name),
        (DeviceKind::DeviceMapper, None) => format!("{} (device mapper)", device.name),
        (DeviceKind::SoftwareRaid, None) => format!("{} (RAID)", device.name),
        (DeviceKind::Loop, None) => match &device.backing_file {
            Some(file) => format!("{} (loop device over {file})", device.name),
            None => format!("{} (loop device)", device.name),
        },
        (DeviceKind::Zram, None) => format!("{} (compressed memory)", device.name),
        (DeviceKind::Other, None) => device.name.clone(),
    }
}

/// The leaves, each with what matters most for its speed.
pub(crate) fn leaves(run: &Run) -> Vec<String> {
    let all: Vec<&BlockDevice> = run.stack.leaves().collect();
    let mut texts: Vec<String> = all
        .iter()
        .take(LEAVES)
        .map(|leaf| self::leaf(run, leaf))
        .collect();
    if all.len() > LEAVES {
        texts.push(format!(
            "and {} more: 'diskfacts devices' describes them",
            all.len() - LEAVES
        ));
    }
    texts
}

fn leaf(run: &Run, device: &BlockDevice) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(device.model.clone());
    // A simulated disk is the target itself, whose name and size stand above it.
    let is_target = run.target.kind == TargetKind::Simulated && device.name == run.target.path;
    if !is_target {
        parts.extend(device.size_bytes.map(show_size));
    }
    parts.extend(device.rotational.map(|flag| {
        let said = match (flag, turns(run, device)) {
            (false, _) => "not rotating",
            (true, Some(_)) => "rotating",
            // Virtual disks have the flag whatever they are.
            (true, None) => "rotational=1",
        };
        said.to_owned()
    }));
    parts.extend(
        device
            .scheduler
            .as_ref()
            .map(|scheduler| format!("scheduler {scheduler}")),
    );
    parts.extend(
        device
            .write_cache
            .as_ref()
            .map(|cache| format!("{} cache", cache.replace(' ', "-"))),
    );
    if parts.is_empty() {
        parts.push("nothing else is known".to_owned());
    }
    let parts: Vec<String> = parts.iter().map(|part| together(part)).collect();
    let parts = parts.join(", ");
    if is_target {
        return parts;
    }
    format!("{}: {parts}", device.name)
}

fn machine(run: &Run) -> String {
    let machine = &run.machine;
    let mut parts: Vec<String> = Vec::new();
    parts.extend(machine.host.clone());
    parts.extend(machine.os.clone());
    parts.extend(machine.kernel.clone());
    let cpus = count(u64::from(machine.cpus), "CPU");
    parts.push(match &machine.cpu_model {
        Some(model) => format!("{cpus} ({model})"),
        None => format!("{cpus} ({})", machine.architecture),
    });
    parts.extend(
        machine
            .memory_bytes
            .map(|bytes| format!("{} memory", show_size(bytes))),
    );
    parts.extend(
        machine
            .virtualization
            .as_ref()
            .map(|kind| format!("in {kind}")),
    );
    parts.join(", ")
}

fn plan(run: &Run) -> String {
    let plan = &run.plan;
    let before: Vec<String> = plan.precondition.iter().map(|w| w.stage.label()).collect();
    let before = if before.is_empty() {
        String::new()
    } else {
        format!("; before them {}", list(&before))
    };
    format!(
        "{}: {}, {}{before}",
        plan.name,
        stages_of(plan),
        trials_of_each(plan)
    )
}

/// `5 trials of each`, or `6 trials of each and more until medians are within 3%`.
fn trials_of_each(plan: &Plan) -> String {
    let trials = format!("{} of each", count(u64::from(plan.trials), "trial"));
    match (plan.until.precision, plan.until.steady) {
        (None, false) => trials,
        (Some(share), false) => format!("{trials}, more until medians are within {share}"),
        (None, true) => format!("{trials}, more until they are steady"),
        (Some(share), true) => {
            format!("{trials}, more until they are steady and medians within {share}")
        }
    }
}

/// What did the I/O, over all trials.
fn engine(run: &Run) -> Option<String> {
    let mut engines: Vec<(&str, Vec<&str>)> = Vec::new();
    for Trial { evidence, .. } in &run.trials {
        let name = evidence.engine.name.as_str();
        let at = engines.iter().position(|(known, _)| *known == name);
        let at = at.unwrap_or_else(|| {
            engines.push((name, Vec::new()));
            engines.len() - 1
        });
        for feature in &evidence.engine.features {
            add_once(&mut engines[at].1, feature.as_str());
        }
    }
    let mut names: Vec<String> = engines
        .into_iter()
        .map(|(name, features)| match features.as_slice() {
            [] => name.to_owned(),
            features => format!("{name} (with {})", features.join(", ")),
        })
        .collect();
    if let (Some(ns), false) = (run.run.overhead_ns_per_io, names.is_empty()) {
        names.push(format!("diskfacts itself costs {ns:.0} ns per I/O"));
    }
    (!names.is_empty()).then(|| names.join("; "))
}

fn findings(run: &Run) -> Option<String> {
    let of = |severity, word| {
        let n = run.findings.iter().filter(|f| f.severity == severity);
        Some(count(n.count() as u64, word)).filter(|text| !text.starts_with("0 "))
    };
    let counts: Vec<String> = [
        of(Severity::Error, "error"),
        of(Severity::Warning, "warning"),
        of(Severity::Note, "note"),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!counts.is_empty()).then(|| format!("{}, explained below the figures", list(&counts)))
}
