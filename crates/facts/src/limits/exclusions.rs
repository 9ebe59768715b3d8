//! Explanations that leave no room for another. Each limiter looks at the stage alone; what
//! two of them say may be true of the same figures, and not both.

use super::{
    Candidate, Standing, buffered_depth, cgroup_throttle, changed_speed, cpu_generator, cpu_kernel,
    cpu_quota, credit_throttle, device_parallelism, device_queue, flush_per_write,
    garbage_collection, interface, media_rate, network, offered_load, other_process, positioning,
    raid_small_write, request_splitting, retries, serialised, stall, stopped, thermal_throttle,
    write_cache_off, zone,
};

/// A limiter that is not said of a stage of which one of these others is.
struct Exclusion {
    said: &'static str,
    unless: &'static [&'static str],
    /// The others account for this share of the time, or have a claim without a share.
    least: f64,
}

const HALF: f64 = 0.5;

/// What others take of a disk from which on long waits may be for them, and not the disk's
/// own: of a disk that turns a twentieth of the bytes, anywhere, is half of the time.
const OF_OTHERS: f64 = 0.05;

/// Causes that leave the medium and its link idle, or busy with something else.
const HOLD_BACK: [&str; 13] = [
    retries::NAME,
    stall::NAME,
    thermal_throttle::NAME,
    credit_throttle::NAME,
    cgroup_throttle::NAME,
    write_cache_off::NAME,
    flush_per_write::NAME,
    raid_small_write::NAME,
    request_splitting::NAME,
    other_process::NAME,
    cpu_generator::NAME,
    cpu_kernel::NAME,
    cpu_quota::NAME,
];

/// In the order in which they are applied: what is left out leaves nothing else out, so a
/// limiter is decided on before those that it excludes.
const TABLE: [Exclusion; 11] = [
    // Who waits for others waits long now and then, and a device that serves them is not still.
    Exclusion {
        said: retries::NAME,
        unless: &[other_process::NAME],
        least: OF_OTHERS,
    },
    // A process that is let run again has to get going.
    Exclusion {
        said: stall::NAME,
        unless: &[other_process::NAME, stopped::NAME],
        least: OF_OTHERS,
    },
    // What the processor does for an operation is the same for all of them, as a way is.
    Exclusion {
        said: network::NAME,
        unless: &[cpu_generator::NAME, cpu_kernel::NAME, cpu_quota::NAME],
        least: HALF,
    },
    // That few are at work though several are in flight has one of these causes.
    Exclusion {
        said: thermal_throttle::NAME,
        unless: &[
            device_queue::NAME,
            cgroup_throttle::NAME,
            request_splitting::NAME,
            stall::NAME,
            other_process::NAME,
        ],
        least: HALF,
    },
    // One step has one cause: of reads in large blocks it is likelier the drive's heat. And
    // what a queue lets through one by one keeps the pace of the device.
    Exclusion {
        said: credit_throttle::NAME,
        unless: &[
            thermal_throttle::NAME,
            device_queue::NAME,
            garbage_collection::NAME,
            cpu_generator::NAME,
            cpu_kernel::NAME,
        ],
        least: HALF,
    },
    // A step that something is known to make is not of unknown cause.
    Exclusion {
        said: changed_speed::NAME,
        unless: &[
            thermal_throttle::NAME,
            credit_throttle::NAME,
            cgroup_throttle::NAME,
            zone::NAME,
            other_process::NAME,
        ],
        least: 0.0,
    },
    // What does not get to a device, or is held back on its way, does not fill it.
    Exclusion {
        said: device_parallelism::NAME,
        unless: &[
            device_queue::NAME,
            serialised::NAME,
            credit_throttle::NAME,
            cgroup_throttle::NAME,
            cpu_generator::NAME,
            cpu_kernel::NAME,
            cpu_quota::NAME,
        ],
        least: HALF,
    },
    Exclusion {
        said: device_parallelism::NAME,
        unless: &[buffered_depth::NAME, offered_load::NAME],
        least: 0.0,
    },
    // What waits for a cause for that much of its time is not at the rate of its medium, nor
    // of its link.
    Exclusion {
        said: media_rate::NAME,
        unless: &HOLD_BACK,
        least: Standing::CAUSE_MIN,
    },
    Exclusion {
        said: interface::NAME,
        unless: &HOLD_BACK,
        least: Standing::CAUSE_MIN,
    },
    // Nor does its arm move meanwhile, and what comes in between is in the time of each.
    Exclusion {
        said: positioning::NAME,
        unless: &HOLD_BACK,
        least: Standing::CAUSE_MIN,
    },
];

/// Leaves out what another of these that stays leaves no room for.
pub(super) fn apply(candidates: &mut Vec<(&'static str, Candidate)>) {
    for row in &TABLE {
        let excludes = |(name, candidate): &(&'static str, Candidate)| {
            row.unless.contains(name) && candidate.share.unwrap_or(1.0) >= row.least
        };
        if candidates.iter().any(excludes) {
            candidates.retain(|(name, _)| *name != row.said);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::candidate;
    use super::*;
    use diskfacts_record::Confidence;

    /// What is left of these, each with all of the time.
    fn left(names: &[&'static str]) -> Vec<&'static str> {
        let of = |name: &&'static str| {
            let whole = candidate(Standing::Cause, Some(1.0), Confidence::Likely);
            (*name, whole)
        };
        let mut candidates = names.iter().map(of).collect();
        apply(&mut candidates);
        candidates.into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn what_is_left_out_itself_leaves_nothing_else_out() {
        let (heat, credit) = (thermal_throttle::NAME, credit_throttle::NAME);
        let full = device_parallelism::NAME;
        assert_eq!(left(&[full, credit]), [credit]);
        assert_eq!(left(&[full, credit, heat]), [full, heat]);
        let (still, others) = (stall::NAME, other_process::NAME);
        assert_eq!(left(&[media_rate::NAME, still]), [still]);
        assert_eq!(left(&[heat, still]), [still]);
        assert_eq!(left(&[still, others]), [others]);
    }

    #[test]
    fn each_is_decided_on_before_what_it_excludes() {
        for (place, row) in TABLE.iter().enumerate() {
            for later in &TABLE[place + 1..] {
                assert!(
                    !row.unless.contains(&later.said),
                    "{} excludes {} before it is decided on",
                    later.said,
                    row.said
                );
            }
        }
    }
}
