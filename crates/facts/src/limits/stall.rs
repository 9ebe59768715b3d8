//! The device stood still for a part of the time.

use super::cap::Cap;
use super::gaps::Gaps;
use super::{Candidate, Standing, Subject};
use crate::simulated::planted;
use crate::stalls::Stalls;
use crate::words::{count, percent};
use diskfacts_plan::units::show_duration;
use diskfacts_record::Confidence;

pub(super) const NAME: &str = "stall";

/// Below this share of the time a silence is a detail of the tail.
const SHARE_MIN: f64 = 0.05;
/// Intervals that a silence fills from which on its length is known to a third.
const LONG: f64 = 3.0;

/// Whether other work is of another kind or place, so that a weak place of this stage is
/// not what both have met.
fn is_elsewhere(subject: &Subject<'_>, other: &Subject<'_>) -> bool {
    let ends = |one: &Subject<'_>| {
        let workload = one.workload();
        let rest = one.run().target.size_bytes.saturating_sub(workload.offset);
        let end = workload
            .offset
            .saturating_add(workload.span.unwrap_or(rest));
        (workload.offset, end)
    };
    let (mine, theirs) = (ends(subject), ends(other));
    other.only_writes() != subject.only_writes() || mine.1 <= theirs.0 || theirs.1 <= mine.0
}

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    if !subject.reaches_device() || subject.workload().rate.is_some() {
        return None;
    }
    // It waits while what runs beside it has its turn, as it was meant to.
    if subject.workload().beside.is_some() {
        return None;
    }
    // A limit pays out its budget slice by slice, and holds back between.
    if super::cgroup_throttle::is_reached(subject) {
        return None;
    }
    // The kernel lets writers sleep for up to 200 ms at a time until enough is written back.
    if super::dirty_throttling::waiting(subject).is_some() {
        return None;
    }
    let gaps = Gaps::of(subject);
    let share = gaps.share();
    // One alone may be chance, unless a trial stood still for much of its time.
    let long = gaps.longest_s >= LONG * gaps.grid_s
        && subject.trials().iter().any(|t| Stalls::is_most_of(t));
    if gaps.number == 0 || (gaps.number < 2 && !long) || share < SHARE_MIN {
        return None;
    }
    // What pays out a budget, or holds back until a timer, leaves the device idle between.
    if Cap::of(subject).is_some_and(|cap| gaps.longest_s <= cap.window_s()) {
        return None;
    }
    // Silences in other work too are the device's; those of one stage may be its place.
    let elsewhere = subject
        .others()
        .filter(|other| is_elsewhere(subject, other))
        .filter(|other| Gaps::of(other).share() >= SHARE_MIN / 2.0);
    let elsewhere = elsewhere.count();
    let regular = gaps.regular();
    let ns = |seconds: f64| show_duration((seconds * 1e9) as u64);
    let mut evidence = vec![format!(
        "{} in {}: {} in all, {} of the time, the longest {}.",
        count(gaps.number as u64, "silence"),
        ns(gaps.seconds),
        ns(gaps.total_s),
        percent(share),
        ns(gaps.longest_s)
    )];
    if regular {
        let mean = gaps.distances_s.iter().sum::<f64>() / gaps.distances_s.len() as f64;
        evidence.push(format!("They come at equal distances, each {}.", ns(mean)));
    }
    if elsewhere > 0 {
        evidence.push(format!(
            "{} of the run had silences too.",
            count(elsewhere as u64, "other stage")
        ));
    }
    Some(Candidate {
        standing: Standing::cause(share),
        claim: format!(
            "The device answered nothing for {} of the time, up to {} at once.",
            percent(share),
            ns(gaps.longest_s)
        ),
        evidence,
        share: Some(share),
        confidence: if regular || elsewhere > 0 {
            Confidence::Certain
        } else {
            Confidence::Possible
        },
        refuted_by: "Operations that ended in the intervals that are counted as empty.".into(),
        experiment: subject.again(
            "If the device stands still, silences come again as often in the same time, whatever is \
             done to it; if a place on it is slow, they come where that is read.",
        ),
        remedy: planted(subject.run(), "[faults.stall] and [faults.stuck]").map_or_else(
            || {
                "Look at what the kernel says at that time (`dmesg -T`: resets, timeouts), at the \
                 cable and the controller, and whether the drive does something of its own \
                 (`smartctl -a`: a self test)."
                    .into()
            },
            |sentence| format!("{sentence}."),
        ),
    })
}
