//! What a diskfacts that was killed left in the folder that is measured.

use crate::exit::{Failure, OrFail};
use crate::target::Measured;
use diskfacts_engine::files::remove_leftovers;
use diskfacts_plan::Plan;
use diskfacts_record::TargetKind;

/// Removes it, when this run works on files too, and says so.
pub(super) fn remove(plan: &Plan, measured: &Measured) -> Result<Vec<String>, Failure> {
    let on_files = |plan: &Plan| {
        let mut stages = plan.stages.iter();
        stages.any(|stage| stage.workload.operation.on_files())
    };
    if measured.target.kind != TargetKind::Folder || !on_files(plan) {
        return Ok(Vec::new());
    }
    let folder = &measured.target.path;
    let found = remove_leftovers(&measured.folder()).or_failed()?;
    let removed = found
        .removed
        .iter()
        .map(|name| format!("Removed {folder}/{name}, which a killed diskfacts had left."));
    let kept = found.kept.iter().map(|(name, why)| {
        format!(
            "Left {folder}/{name} alone, though it looks like the work of a killed diskfacts: \
             {why}. If you know it to be needless, remove it."
        )
    });
    Ok(removed.chain(kept).collect())
}
