//! What a plan asks of the kernel that is not done here.

use crate::exit::Failure;
use crate::target::simulated;
use diskfacts_host::settings::Setting;
use diskfacts_plan::Plan;
use std::path::Path;

/// Refuses a plan that asks for a setting that is not set here: figures of a setting
/// that was not in force would be figures of something else.
pub(super) fn check(plan: &Plan, target: &Path) -> Result<(), Failure> {
    let simulated = simulated::name(target).is_some();
    for stage in &plan.stages {
        let mut asked = stage.kernel.iter();
        let refused = asked.find(|(name, _)| simulated || Setting::parse(name).is_none());
        if let Some((name, value)) = refused {
            let why = if simulated {
                "a simulated disk takes no settings of the kernel in this version of diskfacts"
            } else {
                "this version of diskfacts does not set that"
            };
            return Err(Failure::wrong_call(format!(
                "the stage {} asks the kernel for {name} = {value}, and {why}; drop it from the \
                 plan file",
                stage.label()
            )));
        }
    }
    Ok(())
}
