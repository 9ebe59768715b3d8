//! What nearly every rule and limiter is written with.

pub(crate) use crate::simulated::is_simulated;
pub(crate) use crate::stage_facts::{Same, StageFacts};
pub(crate) use crate::stages::join;
pub(crate) use crate::stats;
pub(crate) use crate::words::{
    count, duration, edit_plan, in_service, list, percent, ratio, ratio_of, shell,
};
pub(crate) use diskfacts_plan::units::{
    exact_size, rate_digits, show_duration, show_size, show_throughput, three_digits,
};
pub(crate) use diskfacts_plan::{CacheMode, Operation, Pattern, SyncMode};
pub(crate) use diskfacts_record::Confidence::{self, Certain, Likely, Possible};
pub(crate) use diskfacts_record::{BlockDevice, DeviceKind, Spent, TargetKind, Trial};

/// Share of the time, or of a file, from which on a cause is worth a word: trials of one stage
/// differ by a few percent, and nobody changes anything for less than a tenth.
pub(crate) const WORTH_A_WORD: f64 = 0.1;

/// The same of what should not be there at all, or is the device's nature: less is within
/// what trials differ by.
pub(crate) const DETAIL: f64 = 0.05;

/// A time of so many seconds, for people.
pub(crate) fn seconds(s: f64) -> String {
    duration(s * 1e9)
}

/// So many bytes, for people.
pub(crate) fn size(bytes: f64) -> String {
    show_size(bytes.round() as u64)
}

/// Certain where it was counted, else likely.
pub(crate) fn certain_if(counted: bool) -> Confidence {
    if counted { Certain } else { Likely }
}

/// Likely where more than one figure says it, else possible.
pub(crate) fn likely_if(sure: bool) -> Confidence {
    if sure { Likely } else { Possible }
}

/// Ends a function that has nothing to say where something is so: `unless(it_is)?`.
pub(crate) fn unless(it_is: bool) -> Option<()> {
    (!it_is).then_some(())
}
