//! What a plan asks of the kernel: what can be had here, and may be.

use super::io_weight;
use crate::args::CacheProof;
use crate::exit::{Failure, OrFail};
use diskfacts_host::{Caches, Roots, may_drop_caches};
use diskfacts_plan::kernel::{DROP_CACHES, IO_WEIGHT};
use diskfacts_plan::{Plan, Stage};
use diskfacts_record::evidence::SettingInForce;

/// Refuses a plan that asks for a setting that is not set here: figures of a setting
/// that was not in force would be figures of something else. And one that this process
/// has no right to, before anything is measured.
pub(super) fn check(
    plan: &Plan,
    simulated: bool,
    proof: Option<CacheProof>,
) -> Result<(), Failure> {
    for stage in &plan.stages {
        let mut asked = stage.kernel.iter();
        let known = |name: &String| name == DROP_CACHES || name == IO_WEIGHT;
        if let Some((name, value)) = asked.find(|(name, _)| simulated || !known(name)) {
            let why = if simulated {
                "a simulated disk has none of this machine's settings; name a real target, or \
                 drop it from the plan file"
            } else {
                "this version of diskfacts does not change that setting; set it yourself and \
                 drop it from the plan file"
            };
            return Err(Failure::wrong_call(format!(
                "the stage {} asks the kernel for {name} = {value}, and {why}",
                stage.label()
            )));
        }
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
