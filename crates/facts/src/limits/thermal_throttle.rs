//! The rate steps down after a while under load, and stays down.

use super::throttle::{Held, of_bytes, show_rate};
use super::{Candidate, Standing, Subject};
use crate::simulated::planted;
use crate::words::ratio;
use diskfacts_record::Confidence;

pub(super) const NAME: &str = "thermal-throttle";

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    if !subject.reaches_device() || subject.workload().rate.is_some() {
        return None;
    }
    // A disk that turns slows down with its place and its cache, hardly with heat.
    if subject.rotates() == Some(true) {
        return None;
    }
    let held = Held::of(subject)?;
    // A cache that is full makes writes step down too, to what is behind it.
    let reads = subject.only_reads();
    if !(reads || held.flat) || (!of_bytes(subject) && held.flat) {
        return None;
    }
    let share = held.share();
    let moved =
        held.step.before.rate * held.step.before.seconds * subject.workload().block_size as f64;
    Some(Candidate {
        standing: Standing::cause(share),
        claim: format!(
            "Under load the rate steps down from {} to {} and stays there, as a drive does that \
             has become too warm.",
            show_rate(subject, held.step.before.rate),
            show_rate(subject, held.step.after.rate)
        ),
        evidence: vec![
            held.line(subject),
            format!(
                "The step, {} times, came after {} of load.",
                ratio(held.step.before.rate / held.step.after.rate),
                diskfacts_plan::units::show_size(moved as u64)
            ),
        ],
        share: Some(share),
        confidence: if reads { Confidence::Likely } else { Confidence::Possible },
        refuted_by: "A temperature below the drive's limit when the rate fell.".into(),
        experiment: subject.again(
            "After a pause of ten minutes the first seconds are fast again if it was heat, and the \
             temperature that `smartctl -A` or `nvme smart-log` shows rises until the rate falls.",
        ),
        remedy: planted(subject.run(), "[faults.heat]").map_or_else(
            || {
                "Look at the temperature and at how often it was too high: `nvme smart-log \
                 /dev/nvme0` (thermal management), `smartctl -x /dev/sdX`. Air over the drive, or a \
                 heat sink on it, moves the limit."
                    .into()
            },
            |sentence| format!("{sentence}."),
        ),
    })
}
