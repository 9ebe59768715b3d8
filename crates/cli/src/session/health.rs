//! Whether what lies under the target is still sound when the run ends.

use diskfacts_host::{Roots, health_after};
use diskfacts_record::{Run, TargetKind};

/// Looks again at what the run stood on. A simulated disk and a stream have nothing that
/// could be looked at.
pub(super) fn look_again(run: &mut Run) {
    if !matches!(run.target.kind, TargetKind::Simulated | TargetKind::Stream) {
        run.health_after = Some(health_after(&Roots::default(), &run.stack));
    }
}
