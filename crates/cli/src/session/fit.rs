//! A plan on a target: stages that cannot be done here are left out, with a
//! sentence that says so; spans are made definite.

use crate::exit::Failure;
use crate::target::{Measured, Medium};
use diskfacts_plan::units::show_size;
use diskfacts_plan::{EngineChoice, Plan, Workload};
use diskfacts_record::TargetKind;

/// The plan as it fits the target, and notes on what was left out. A built-in
/// plan adapts to the target; a plan that somebody wrote is refused when it asks
/// for what cannot be.
pub(super) fn fit(
    plan: &Plan,
    measured: &Measured,
    built_in: bool,
) -> Result<(Plan, Vec<String>), Failure> {
    let mut plan = plan.clone();
    let mut notes = Vec::new();
    if !measured.target.writable {
        leave_out_writes(&mut plan, measured, &mut notes)?;
    }
    let constraints = measured.constraints();
    let mut refused = Vec::new();
    plan.stages.retain_mut(|stage| {
        if built_in {
            shorten_span(&mut stage.workload, constraints.size);
        }
        let mut problems: Vec<String> = stage
            .workload
            .problems_on(&constraints)
            .iter()
            .map(ToString::to_string)
            .collect();
        problems.extend(needs_real_time(&stage.workload, measured));
        if problems.is_empty() {
            make_definite(&mut stage.workload, constraints.size);
            return true;
        }
        for problem in problems {
            // The cells of a matrix often share a problem.
            let said = format!("{}: {problem}", stage.name);
            if !refused.contains(&said) {
                refused.push(said);
            }
        }
        false
    });
    if plan.stages.is_empty() || (!built_in && !refused.is_empty()) {
        return Err(Failure::wrong_call(format!(
            "{} ({}) cannot be measured as the plan {} asks:\n  {}\n{}",
            measured.target.path,
            show_size(measured.target.size_bytes),
            plan.name,
            refused.join("\n  "),
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
            .map(|problem| format!("Left out {problem}.")),
    );
    Ok((plan, notes))
}

fn leave_out_writes(
    plan: &mut Plan,
    measured: &Measured,
    notes: &mut Vec<String>,
) -> Result<(), Failure> {
    let mut left_out = Vec::new();
    plan.stages.retain(|stage| {
        let reads_only = !stage.workload.operation.writes();
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
    (is_virtual && workload.engine == EngineChoice::Null).then(|| {
        "engine: \"null\" measures what measuring costs on this machine, in real time; a simulated disk has only virtual time".to_owned()
    })
}

fn shorten_span(workload: &mut Workload, size: u64) {
    let left = size.saturating_sub(workload.offset);
    workload.span = workload.span.map(|span| span.min(left));
}

fn make_definite(workload: &mut Workload, size: u64) {
    let left = size.saturating_sub(workload.offset);
    workload.span = Some(workload.span.unwrap_or(left));
}
