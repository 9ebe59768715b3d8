//! What a plan asks of the kernel.

use crate::exit::Failure;
use diskfacts_plan::Plan;

/// Refuses a plan that asks for a setting that is not set here: figures of a setting
/// that was not in force would be figures of something else.
pub(super) fn check(plan: &Plan) -> Result<(), Failure> {
    for stage in &plan.stages {
        if let Some((name, value)) = stage.kernel.first_key_value() {
            return Err(Failure::wrong_call(format!(
                "the stage {} asks the kernel for {name} = {value}, and this version of diskfacts \
                 changes no settings of the kernel; set it yourself and drop it from the plan file",
                stage.label()
            )));
        }
    }
    Ok(())
}
