//! The three lines of GNU dd in the C locale:
//!
//! ```text
//! 1024+0 records in
//! 1024+0 records out
//! 1073741824 bytes (1.1 GB, 1.0 GiB) copied, 0.519 s, 2.1 GB/s
//! ```

use crate::formats::dd::Summary;
use diskfacts_plan::Plan;
use diskfacts_plan::dd::StatusLines;
use diskfacts_record::Run;
use std::fmt::Write as _;

/// Whether a plan is that of a copy.
pub(super) fn has(plan: &Plan) -> bool {
    plan.stages
        .iter()
        .any(|stage| stage.workload.copy.is_some())
}

/// The lines of each copy, as far as its `status=` wants them.
pub(super) fn lines(run: &Run) -> String {
    let mut out = String::new();
    for trial in &run.trials {
        let parts = (&trial.workload.copy, &trial.evidence.copy);
        let (Some(copying), Some(copied)) = parts else {
            continue;
        };
        if copying.dd.status == StatusLines::None {
            continue;
        }
        for (records, way) in [(copied.records_in, "in"), (copied.records_out, "out")] {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "{}+{} records {way}", records.full, records.partial);
        }
        if copying.dd.status == StatusLines::All {
            // Seconds of a copy are far below what a float holds exactly.
            let nanoseconds = (trial.seconds * 1e9).round() as u64;
            let _ = writeln!(out, "{}", Summary::of(copied.write_bytes, nanoseconds));
        }
    }
    out
}
