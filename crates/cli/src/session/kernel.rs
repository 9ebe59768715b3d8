//! What a plan asks of the kernel: what can be had here, and may be.

use super::io_weight;
use crate::args::CacheProof;
use crate::exit::{Failure, OrFail};
use crate::target::{Measured, Medium};
use diskfacts_host::{Caches, Roots, may_drop_caches};
use diskfacts_plan::kernel::{DROP_CACHES, IO_WEIGHT};
use diskfacts_plan::{Plan, Stage};
use diskfacts_record::Stack;
use diskfacts_record::evidence::SettingInForce;

/// Refuses what a plan asks for and this process has no right to, before anything is
/// measured. A simulated computer has settings of its own, which are set in virtual
/// time.
pub(super) fn check(
    plan: &Plan,
    simulated: bool,
    proof: Option<CacheProof>,
) -> Result<(), Failure> {
    if simulated {
        return Ok(());
    }
    let asks = |name| plan.stages.iter().any(|s| s.kernel.contains_key(name));
    if asks(IO_WEIGHT) && proof == Some(CacheProof::MemoryLimit) {
        return Err(Failure::wrong_call(
            "io_weight and --cache-proof memory-limit each need a control group of their own, and a \
             process is in one; use --cache-proof drop",
        ));
    }
    io_weight::check(plan)?;
    if asks(DROP_CACHES) {
        may_drop_caches(&Roots::default()).or_failed()?;
    }
    Ok(())
}

/// The caches of the machine that are dropped before each trial of a stage.
pub(super) fn dropped_before(stage: &Stage) -> Option<Caches> {
    Caches::named(stage.kernel.get(DROP_CACHES)?)
}

/// That they were dropped, for the record of the trial.
pub(super) fn dropped(stage: &Stage) -> Option<SettingInForce> {
    let asked = stage.kernel.get(DROP_CACHES)?;
    Some(SettingInForce {
        device: None,
        name: DROP_CACHES.to_owned(),
        asked: asked.clone(),
        before: None,
        in_force: Some(asked.clone()),
        note: None,
    })
}

/// Holds what the stages ask of the kernel against what this target has, as far as that
/// can be told before it is set. Stages of a built-in plan that ask for what is not there
/// are left out, with a note; of what somebody wrote, in a plan file or behind `--vary`,
/// nothing is.
pub(super) fn fit(
    plan: &mut Plan,
    measured: &Measured,
    stack: &Stack,
    built_in: bool,
    notes: &mut Vec<String>,
) -> Result<(), Failure> {
    let mut told: Vec<String> = Vec::new();
    let mut refused: Vec<String> = Vec::new();
    let chosen = plan.choose.clone();
    let name = plan.name.clone();
    plan.stages.retain(|stage| {
        let Some((setting, why)) = fault(stage, measured, stack) else {
            return true;
        };
        let list = if built_in && !chosen.contains(&setting) {
            &mut told
        } else if let Medium::File(_) = measured.medium {
            // Trying it before anything is measured says more.
            return true;
        } else {
            &mut refused
        };
        if !list.contains(&why) {
            list.push(why);
        }
        false
    });
    if !refused.is_empty() || (plan.stages.is_empty() && !told.is_empty()) {
        refused.extend(told);
        return Err(Failure::wrong_call(format!(
            "{} cannot be set as {name} asks; drop it from the plan, or choose what there is:\n  {}",
            measured.target.path,
            refused.join("\n  ")
        )));
    }
    notes.extend(told.iter().map(|why| format!("Left out {why}.")));
    Ok(())
}

/// The first setting that this target does not take, and why.
fn fault(stage: &Stage, measured: &Measured, stack: &Stack) -> Option<(String, String)> {
    if let Medium::Simulated(computer) = &measured.medium {
        let error = computer.check_kernel(&stage.kernel).err()?;
        return Some((error.name.clone(), error.to_string()));
    }
    let asked = stage.kernel.get("scheduler")?;
    let lacks = |device: &&diskfacts_record::BlockDevice| {
        !device.schedulers.is_empty() && !device.schedulers.contains(asked)
    };
    let device = stack.queue_devices().into_iter().find(lacks)?;
    let why = format!(
        "scheduler = {asked}: {} has {}; a scheduler that is a module is there after `modprobe \
         {asked}`, if the kernel was built with it",
        device.name,
        device.schedulers.join(", ")
    );
    Some(("scheduler".to_owned(), why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::simulated;
    use diskfacts_disk::profile::profile;
    use diskfacts_engine::sim::Plant;
    use diskfacts_plan::file;
    use std::path::Path;

    const PLAN: &str = "name = \"x\"\n[[stage]]\nname = \"a\"\noperation = \"read\"\n\
        [stage.vary]\nscheduler = [\"bfq\", \"kyber\"]\nstreams = [1, 2]\n";

    fn fitted(text: &str, built_in: bool) -> Result<(usize, Vec<String>), String> {
        let disk = profile("hdd-7200-1tb").expect("a built-in profile");
        let given = Path::new("sim:hdd-7200-1tb");
        let (measured, stack) = simulated::build(given, &disk, 1, &Plant::default());
        let mut plan = file::parse(text).expect("a plan");
        let mut notes = Vec::new();
        fit(&mut plan, &measured, &stack, built_in, &mut notes)
            .map(|()| (plan.stages.len(), notes))
            .map_err(|failure| failure.sentence())
    }

    #[test]
    fn a_built_in_plan_leaves_out_what_is_not_there_and_says_so_once() {
        let (left, notes) = fitted(PLAN, true).expect("it fits");
        assert_eq!(left, 2);
        let [note] = notes.as_slice() else {
            panic!("{notes:?}");
        };
        assert!(note.starts_with("Left out scheduler = kyber: "), "{note}");
        assert!(note.contains("none, mq-deadline, bfq"), "{note}");
    }

    #[test]
    fn what_somebody_asked_for_is_refused_where_it_is_not_there() {
        let of_file = fitted(PLAN, false).expect_err("kyber is not there");
        assert!(of_file.contains("scheduler = kyber"), "{of_file}");
        // As `tune` says of what stands behind --vary.
        let chosen = format!("choose = [\"scheduler\"]\n{PLAN}");
        assert!(fitted(&chosen, true).is_err());
        let only = PLAN.replace("\"bfq\", ", "");
        assert!(fitted(&only, true).is_err(), "nothing would be left");
    }
}
