//! What nearly every limiter is written with.

pub(super) use super::candidate::{Candidate, Standing, cause};
pub(super) use super::experiment::{Settling, Stages};
pub(super) use super::limiter::Limiter;
pub(super) use super::limiter::Need::{
    Alone, Blocks, Buffered, Closed, Device, Direct, EachSynced, FromDisk, MayRotate, NoDocument,
    NoPlatter, OnlyReads, OnlyWrites, Platter, Written,
};
pub(super) use super::subject::{Same, Subject};
pub(super) use crate::simulated::is_simulated;
pub(super) use crate::stats;
pub(super) use crate::words::{count, edit_plan, list, percent, ratio, ratio_of, shell};
pub(super) use diskfacts_plan::units::{
    exact_size, rate_digits, show_duration, show_size, show_throughput, three_digits,
};
pub(super) use diskfacts_plan::{CacheMode, Operation, SyncMode};
pub(super) use diskfacts_record::Confidence::{self, Certain, Likely, Possible};
pub(super) use diskfacts_record::Quantity::{Iops, Throughput};
pub(super) use diskfacts_record::{BlockDevice, DeviceKind, Spent, TargetKind, Trial};

/// Share of the time, or of a file, from which on a cause is worth a word: trials of one stage
/// differ by a few percent, and nobody changes anything for less than a tenth.
pub(super) const WORTH_A_WORD: f64 = 0.1;

/// The same of what should not be there at all, or is the device's nature: less is within
/// what trials differ by.
pub(super) const DETAIL: f64 = 0.05;

/// A time of so many nanoseconds, for people.
pub(super) fn duration(ns: f64) -> String {
    show_duration(ns.round() as u64)
}

/// A time of so many seconds, for people.
pub(super) fn seconds(s: f64) -> String {
    duration(s * 1e9)
}

/// So many bytes, for people.
pub(super) fn size(bytes: f64) -> String {
    show_size(bytes.round() as u64)
}

/// Certain where it was counted, else likely.
pub(super) fn certain_if(counted: bool) -> Confidence {
    if counted { Certain } else { Likely }
}

/// Likely where more than one figure says it, else possible.
pub(super) fn likely_if(sure: bool) -> Confidence {
    if sure { Likely } else { Possible }
}

/// Ends a function that has nothing to say where something is so: `unless(it_is)?`.
pub(super) fn unless(it_is: bool) -> Option<()> {
    (!it_is).then_some(())
}
