//! The process that measures did not run: somebody stopped it, or the machine was paused.

use super::{Candidate, Standing, Subject};
use crate::pauses::Pauses;
use crate::words::{count, percent};
use diskfacts_plan::units::show_duration;
use diskfacts_record::Confidence;

pub(super) const NAME: &str = "stopped";

/// Share of the time from which on it is worth a word, as of silences of a device.
const SHARE_MIN: f64 = 0.05;

/// Of a pause of the machine the hypervisor counts no less than this share as stolen, where it
/// counts at all.
const STOLEN: f64 = 0.5;

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let pauses = Pauses::of(subject.trials().iter().copied());
    let paused_s = pauses.total_ns as f64 / 1e9;
    // Of a document not even the time need be known.
    if pauses.number == 0 || paused_s < SHARE_MIN * subject.seconds() {
        return None;
    }
    let share = (paused_s / subject.seconds()).min(1.0);
    let stolen = subject.trials().iter().map(|t| t.evidence.cpu_steal_ns);
    let stolen: Option<u64> = stolen.sum();
    let by_machine = stolen.is_some_and(|ns| ns as f64 / 1e9 >= STOLEN * paused_s);
    let (who, remedy) = if by_machine {
        (
            "the hypervisor had its processors meanwhile",
            "The host is too full, migrates this machine or takes a snapshot of it: ask who runs \
             it, and measure again (`st` in `vmstat 1` is 0 then).",
        )
    } else {
        (
            "something stopped it",
            "Look for who does it: job control (Ctrl-Z), `kill -STOP`, a debugger or tracer, the \
             freezer of its control group (`cgroup.freeze`), a hypervisor that pauses the whole \
             machine for a snapshot or to move it. Then measure again.",
        )
    };
    let mut evidence = vec![format!(
        "{} of 20 ms or more, {} in all, the longest {}: a thread that waits for no device and is \
         woken each 10 ms was not woken, and the kernel counted no wait for a processor.",
        count(pauses.number, "pause"),
        show_duration(pauses.total_ns),
        show_duration(pauses.longest_ns)
    )];
    evidence.extend(stolen.map(|ns| {
        format!(
            "The hypervisor took {} of processor time meanwhile (steal).",
            show_duration(ns)
        )
    }));
    Some(Candidate {
        standing: Standing::cause(share),
        claim: format!(
            "diskfacts itself did not run for {} of the time, up to {} at once: {who}.",
            percent(share),
            show_duration(pauses.longest_ns)
        ),
        evidence,
        share: Some(share),
        confidence: Confidence::Certain,
        refuted_by: "A thread of this process that ran meanwhile.".into(),
        experiment: subject
            .again("Without what stops it no pause is counted, and the rate is higher by as much."),
        remedy: remedy.into(),
    })
}
