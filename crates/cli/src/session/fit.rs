//! A plan on a target: stages that cannot be done here are left out, with a
//! sentence that says so; spans are made definite.

use super::kernel;
use crate::exit::Failure;
use crate::target::{Measured, Medium};
use diskfacts_plan::units::show_size;
use diskfacts_plan::{Constraints, EngineChoice, On, Pattern, Plan, Problem, Stage, Workload};
use diskfacts_record::{Stack, TargetKind};

/// The plan as it fits the target, and notes on what was left out. A built-in
/// plan adapts to the target; a plan that somebody wrote is refused when it asks
/// for what cannot be.
pub(super) fn fit(
    plan: &Plan,
    (measured, stack): (&Measured, &Stack),
    built_in: bool,
) -> Result<(Plan, Vec<String>), Failure> {
    let mut plan = plan.clone();
    let mut notes = Vec::new();
    kernel::fit(&mut plan, measured, stack, built_in, &mut notes)?;
    leave_out_files(&mut plan, measured, &mut notes)?;
    if !measured.target.writable {
        leave_out_writes(&mut plan, measured, &mut notes)?;
    }
    let constraints = measured.constraints();
    let (mut refused, mut impossible) = (Refused::default(), Refused::default());
    plan.stages.retain_mut(|stage| {
        stage.workload.resolve(constraints.size);
        if built_in && !stage.workload.operation.on_files() {
            shorten_span(&mut stage.workload, constraints.size);
        }
        let problems = stage.workload.problems_on(&constraints);
        let real_time = needs_real_time(&stage.workload, measured);
        let no_file = needs_a_file(&stage.workload, measured);
        if problems.is_empty() && real_time.is_none() && no_file.is_none() {
            if !stage.workload.operation.on_files() {
                make_definite(&mut stage.workload, constraints.size);
            }
            return true;
        }
        for problem in problems {
            refused.add(stage, &problem, &constraints);
        }
        if let Some(problem) = real_time {
            refused.say(stage, &problem);
        }
        // Left out of a plan that somebody wrote too: it may come from `plans`.
        if let Some(problem) = no_file {
            impossible.say(stage, &problem);
        }
        false
    });
    fit_precondition(&mut plan, measured, &mut refused);
    let refused = refused.sentences(&constraints);
    let impossible = impossible.sentences(&constraints);
    if plan.stages.is_empty() || (!built_in && !refused.is_empty()) {
        return Err(Failure::wrong_call(format!(
            "{} ({}) cannot be measured as the plan {} asks:\n  {}\n{}",
            measured.target.path,
            show_size(measured.target.size_bytes),
            plan.name,
            [&refused[..], &impossible[..]].concat().join("\n  "),
            if built_in {
                format!(
                    "Name a larger target; or type `diskfacts plans {} > my.toml`, change it there, and measure with --plan my.toml",
                    plan.name
                )
            } else {
                "Change that in the plan file, or name another target".to_owned()
            }
        )));
    }
    notes.extend(
        refused
            .into_iter()
            .chain(impossible)
            .map(|problem| format!("Left out {problem}.")),
    );
    Ok((plan, notes))
}

/// Makes definite what is done before the trials. Nothing of it is left out: what was
/// measured then would be something else than the plan says.
fn fit_precondition(plan: &mut Plan, measured: &Measured, refused: &mut Refused) {
    let constraints = measured.constraints();
    for work in &mut plan.precondition {
        let stage = &mut work.stage;
        stage.workload.resolve(constraints.size);
        let problems = stage.workload.problems_on(&constraints);
        if problems.is_empty() {
            make_definite(&mut stage.workload, constraints.size);
        }
        for problem in problems {
            refused.add(stage, &problem, &constraints);
        }
        if let Some(problem) = needs_real_time(&stage.workload, measured) {
            refused.say(stage, &problem);
        }
        if !measured.target.writable {
            let path = &measured.target.path;
            refused.say(
                stage,
                &format!(
                    "it writes before the trials, and {path} is only read; if what it holds may \
                     be destroyed, add --destroy-data-on {path}"
                ),
            );
        }
    }
}

/// What stands against the stages of a plan. The cells of a matrix often share a
/// problem: it is told once, and blocks that are too large in one sentence.
#[derive(Debug, Default)]
struct Refused {
    /// The name of the stage, and what is told of it.
    told: Vec<(String, Told)>,
}

#[derive(Debug, PartialEq)]
enum Told {
    Sentence(String),
    /// The smallest and the largest size of the blocks that do not fit, bytes.
    BlocksTooLarge(u64, u64),
    /// The shortest and the longest skip that leads out of the span, and its
    /// blocks.
    SkipsTooLong(u64, u64, u64, u64),
}

impl Refused {
    fn add(&mut self, stage: &Stage, problem: &Problem, target: &Constraints) {
        let size = stage.workload.block_size;
        let blocks = stage.workload.blocks_on(target.size);
        if let Pattern::Stride { skip_blocks, .. } = stage.workload.pattern
            && *problem == Problem::skip_too_long((skip_blocks, skip_blocks), blocks, size)
        {
            self.skip_too_long(stage, skip_blocks, (blocks, size));
            return;
        }
        if *problem != Problem::blocks_too_large((size, size), target) {
            self.say(stage, &problem.to_string());
            return;
        }
        for (name, told) in &mut self.told {
            if let Told::BlocksTooLarge(smallest, largest) = told
                && *name == stage.name
            {
                *smallest = size.min(*smallest);
                *largest = size.max(*largest);
                return;
            }
        }
        let told = Told::BlocksTooLarge(size, size);
        self.told.push((stage.name.clone(), told));
    }

    fn skip_too_long(&mut self, stage: &Stage, skip: u64, of: (u64, u64)) {
        for (name, told) in &mut self.told {
            if let Told::SkipsTooLong(shortest, longest, blocks, size) = told
                && *name == stage.name
                && (*blocks, *size) == of
            {
                *shortest = skip.min(*shortest);
                *longest = skip.max(*longest);
                return;
            }
        }
        let told = Told::SkipsTooLong(skip, skip, of.0, of.1);
        self.told.push((stage.name.clone(), told));
    }

    fn say(&mut self, stage: &Stage, sentence: &str) {
        let told = (stage.name.clone(), Told::Sentence(sentence.to_owned()));
        if !self.told.contains(&told) {
            self.told.push(told);
        }
    }

    fn sentences(self, target: &Constraints) -> Vec<String> {
        let sentence = |(name, told)| match told {
            Told::Sentence(sentence) => format!("{name}: {sentence}"),
            Told::BlocksTooLarge(smallest, largest) => {
                let problem = Problem::blocks_too_large((smallest, largest), target);
                format!("{name}: {problem}")
            }
            Told::SkipsTooLong(shortest, longest, blocks, size) => {
                let problem = Problem::skip_too_long((shortest, longest), blocks, size);
                format!("{name}: {problem}")
            }
        };
        self.told.into_iter().map(sentence).collect()
    }
}

/// Files are created, looked up and deleted in a folder only.
fn leave_out_files(
    plan: &mut Plan,
    measured: &Measured,
    notes: &mut Vec<String>,
) -> Result<(), Failure> {
    if measured.target.kind == TargetKind::Folder {
        return Ok(());
    }
    let mut left_out = Vec::new();
    plan.stages.retain(|stage| {
        let on_files = stage.workload.operation.on_files();
        if on_files && !left_out.contains(&stage.name) {
            left_out.push(stage.name.clone());
        }
        !on_files
    });
    if left_out.is_empty() {
        return Ok(());
    }
    let (what, folder) = match measured.target.kind {
        TargetKind::Device => ("a device", "one on a filesystem of that device"),
        TargetKind::Loop => ("a loop device", "its folder without --loop"),
        TargetKind::Stream => ("a stream", "one on a disk"),
        TargetKind::Imported => ("a document", "one on a disk"),
        TargetKind::Simulated => ("a simulated disk, which has no filesystem", "a real one"),
        TargetKind::File | TargetKind::Folder => ("a file", "the one that it lies in"),
    };
    let sentence = format!(
        "files are created, looked up and deleted in a folder, and {} is {what}. To measure that, \
         name a folder, {folder} for example",
        measured.target.path
    );
    if plan.stages.is_empty() {
        return Err(Failure::wrong_call(format!(
            "every stage of the plan {} works on files: {sentence}",
            plan.name
        )));
    }
    notes.push(format!(
        "Left out the stages that work on files ({}): {sentence}.",
        left_out.join(", ")
    ));
    Ok(())
}

fn leave_out_writes(
    plan: &mut Plan,
    measured: &Measured,
    notes: &mut Vec<String>,
) -> Result<(), Failure> {
    let mut left_out = Vec::new();
    plan.stages.retain(|stage| {
        let reads_only = !stage.workload.writes_anything();
        if !reads_only && !left_out.contains(&stage.name) {
            left_out.push(stage.name.clone());
        }
        reads_only
    });
    if left_out.is_empty() {
        return Ok(());
    }
    let what = match measured.target.kind {
        TargetKind::Device => "a device",
        _ => "an existing file",
    };
    let sentence = format!(
        "{} is {what}, and only read. To measure writing, name a folder, where diskfacts makes its own file; or, if what it holds may be destroyed, add --destroy-data-on {}",
        measured.target.path, measured.target.path
    );
    if plan.stages.is_empty() {
        return Err(Failure::wrong_call(format!(
            "every stage of the plan {} writes, but {sentence}",
            plan.name
        )));
    }
    notes.push(format!(
        "Left out the stages that write ({}): {sentence}.",
        left_out.join(", ")
    ));
    Ok(())
}

/// Why a workload cannot be done in virtual time, if it cannot.
fn needs_real_time(workload: &Workload, measured: &Measured) -> Option<String> {
    let is_virtual = matches!(measured.medium, Medium::Simulated(_));
    let beside = workload.beside.as_ref();
    let comes_first = beside.is_some_and(|beside| beside.io_priority.is_some());
    let why = match workload.engine {
        _ if workload.io_priority.is_some() || comes_first => {
            "io_priority: the I/O schedulers of the simulated host look at no priorities; drop it, or name a real target"
        }
        _ if workload.values.is_some() => {
            "values: a simulated disk has no content that could be checked; drop it"
        }
        EngineChoice::Null => {
            "engine: \"null\" measures what measuring costs on this machine, in real time; a simulated disk has only virtual time"
        }
        EngineChoice::Mmap => {
            "engine: \"mmap\" works in the memory of this machine, and a simulated disk has no content that could be mapped; use engine = \"auto\""
        }
        EngineChoice::Auto | EngineChoice::Sync | EngineChoice::IoUring => return None,
    };
    is_virtual.then(|| why.to_owned())
}

/// Why a workload cannot be done on a file beside the target, if it cannot.
fn needs_a_file(workload: &Workload, measured: &Measured) -> Option<String> {
    if workload.on == On::Target || measured.target.kind == TargetKind::Loop {
        return None;
    }
    Some(match measured.target.kind {
        TargetKind::Folder => {
            "on = \"file\" is what the other stages do too: the target is itself \
                               a file in this folder"
                .to_owned()
        }
        _ => "on = \"file\" needs a folder on the same disk: name the folder, and add --loop SIZE \
              for a device beside the file"
            .to_owned(),
    })
}

fn shorten_span(workload: &mut Workload, size: u64) {
    if let Some(beside) = &mut workload.beside {
        shorten_span(beside, size);
    }
    let left = size.saturating_sub(workload.offset);
    workload.span = workload.span.map(|span| span.min(left));
}

fn make_definite(workload: &mut Workload, size: u64) {
    if let Some(beside) = &mut workload.beside {
        make_definite(beside, size);
    }
    let left = size.saturating_sub(workload.offset);
    workload.span = Some(workload.span.unwrap_or(left));
}
