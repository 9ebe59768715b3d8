//! Explanations that leave no room for another. Each limiter looks at the stage alone; what
//! two of them say may be true of the same figures, and not both.

use super::candidate::{Candidate, Standing};
use super::limiter::Limiter;
use super::prelude::WORTH_A_WORD;

/// What others take of a disk from which on long waits may be for them, and not the disk's
/// own: of a disk that turns a twentieth of the bytes, anywhere, is half of the time.
const OF_OTHERS: f64 = 0.05;
const HALF: f64 = 0.5;

/// Causes that leave the medium and its link idle, or busy with something else.
const HOLD_BACK: &str = "retries stall slow-requests slow-member thermal-throttle credit-throttle \
                         cgroup-throttle write-cache-off flush-per-write raid-small-write \
                         request-splitting other-process cpu-generator cpu-kernel cpu-quota";

/// Limiters that are not said of a stage of which one of these others is, where that accounts
/// for so large a share of the time; without a share, where it may be the answer. In the order in
/// which they are applied: what is left out leaves nothing else out, so a limiter is decided on
/// before those that it excludes.
const TABLE: [(&str, &str, f64); 17] = [
    // Who waits for others waits long now and then, and a device that serves them is not still.
    ("retries", "other-process", OF_OTHERS),
    // A process that is let run again has to get going.
    ("stall", "other-process stopped blocked", OF_OTHERS),
    // What the processor does for an operation is the same for all of them, as a way is.
    ("network", "cpu-generator cpu-kernel cpu-quota", HALF),
    // That few are at work though several are in flight has one of these causes.
    (
        "thermal-throttle",
        "device-queue cgroup-throttle request-splitting stall other-process",
        HALF,
    ),
    // One step has one cause: of reads in large blocks it is likelier the drive's heat. And
    // what a queue lets through one by one keeps the pace of the device.
    (
        "credit-throttle",
        "thermal-throttle device-queue garbage-collection cpu-generator cpu-kernel",
        HALF,
    ),
    // A cache that is held back takes nothing.
    (
        "write-cache",
        "stall credit-throttle cgroup-throttle write-cache-off raid-small-write request-splitting \
         other-process",
        Standing::CAUSE_MIN,
    ),
    // A step that something is known to make is not of unknown cause.
    (
        "changed-speed",
        "write-cache thermal-throttle credit-throttle cgroup-throttle garbage-collection zone \
         other-process",
        WORTH_A_WORD,
    ),
    // What makes some operations wait is why they take longer than the others.
    (
        "slow-requests",
        "retries stall slow-member garbage-collection thermal-throttle credit-throttle \
         cgroup-throttle changed-speed device-queue blocked stopped other-process cpu-quota",
        WORTH_A_WORD,
    ),
    // What does not get to a device, or is held back on its way, does not fill it.
    (
        "device-parallelism",
        "device-queue serialised direct-as-buffered slow-member credit-throttle cgroup-throttle \
         cpu-generator cpu-kernel cpu-quota",
        HALF,
    ),
    ("device-parallelism", "buffered-depth offered-load", 0.0),
    // What a cache takes the medium does not limit, nor the sectors that it has.
    ("media-rate", "write-cache", HALF),
    ("alignment", "page-cache", HALF),
    // What waits for a cause for that much of its time is not at the rate of its medium, nor
    // of its link.
    ("media-rate", HOLD_BACK, Standing::CAUSE_MIN),
    ("interface", HOLD_BACK, Standing::CAUSE_MIN),
    // Nor does its arm move meanwhile, and what comes in between is in the time of each.
    ("positioning", HOLD_BACK, Standing::CAUSE_MIN),
    ("seek", "stall", HALF),
    ("one-at-a-time", "stall", HALF),
];

/// Whether a limiter is one of these.
fn is_in(names: &str, limiter: &str) -> bool {
    names.split(' ').any(|name| name == limiter)
}

/// Leaves out what another of these that stays leaves no room for.
pub(super) fn apply(candidates: &mut Vec<(&Limiter, Candidate)>) {
    for (said, unless, least) in TABLE {
        let excludes = |(limiter, candidate): &(&Limiter, Candidate)| {
            let kind = &candidate.kind;
            let may_be = kind.standing != Standing::Beside;
            is_in(unless, limiter.name) && kind.share.map_or(may_be, |share| share >= least)
        };
        if candidates.iter().any(excludes) {
            candidates.retain(|(limiter, _)| limiter.name != said);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::candidate;
    use super::super::{about, all};
    use super::*;
    use diskfacts_record::Confidence;

    /// What is left of these, each with all of the time.
    fn left(names: &[&'static str]) -> Vec<&'static str> {
        let of = |name: &&'static str| {
            let limiter = all().find(|limiter| limiter.name == *name);
            let whole = candidate(Standing::Cause, Some(1.0), Confidence::Likely);
            (limiter.expect("a limiter"), whole)
        };
        let mut candidates = names.iter().map(of).collect();
        apply(&mut candidates);
        candidates.into_iter().map(|(one, _)| one.name).collect()
    }

    #[test]
    fn what_is_left_out_itself_leaves_nothing_else_out() {
        let (heat, credit) = ("thermal-throttle", "credit-throttle");
        let full = "device-parallelism";
        assert_eq!(left(&[full, credit]), [credit]);
        assert_eq!(left(&[full, credit, heat]), [full, heat]);
        let (still, others) = ("stall", "other-process");
        assert_eq!(left(&["media-rate", still]), [still]);
        assert_eq!(left(&[heat, still]), [still]);
        assert_eq!(left(&[still, others]), [others]);
    }

    #[test]
    fn of_a_device_that_stood_still_the_mean_is_not_the_arm_nor_a_latency() {
        assert_eq!(left(&["seek", "stall"]), ["stall"]);
        assert_eq!(left(&["one-at-a-time", "stall"]), ["stall"]);
    }

    #[test]
    fn what_memory_took_had_no_sectors_that_were_read_first() {
        assert_eq!(left(&["alignment", "page-cache"]), ["page-cache"]);
    }

    #[test]
    fn what_is_not_the_answer_leaves_no_answer_out() {
        let beside = |share| candidate(Standing::Beside, share, Confidence::Possible);
        let names = |other: &str, share| {
            let of = |name: &str| all().find(|limiter| limiter.name == name).expect("one");
            let step = candidate(Standing::Cause, Some(0.5), Confidence::Likely);
            let mut candidates = vec![
                (of("changed-speed"), step),
                (
                    of("positioning"),
                    candidate(Standing::Nature, Some(0.9), Confidence::Likely),
                ),
                (of(other), beside(share)),
            ];
            apply(&mut candidates);
            candidates.len()
        };
        assert_eq!(names("zone", None), 3);
        assert_eq!(names("write-cache-off", None), 3);
        assert_eq!(names("other-process", Some(0.06)), 3);
        // Of reads by others that take a good part of the time both may come.
        assert_eq!(names("other-process", Some(0.2)), 2);
        assert_eq!(names("other-process", Some(0.4)), 1);
    }

    #[test]
    fn each_is_decided_on_before_what_it_excludes() {
        for (place, (said, unless, _)) in TABLE.iter().enumerate() {
            for (later, ..) in &TABLE[place + 1..] {
                assert!(
                    !is_in(unless, later),
                    "{later} excludes {said} before it is decided on"
                );
            }
        }
    }

    #[test]
    fn each_name_of_the_table_is_a_limiter() {
        for (said, unless, _) in TABLE {
            for name in [said].into_iter().chain(unless.split(' ')) {
                assert!(about(name).is_some(), "{name}");
            }
        }
    }
}
