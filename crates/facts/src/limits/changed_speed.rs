//! The rate went from one level to another while the stage was measured, and stayed there.
//! Which of many things did it is not known; that it did, and when, is.

use super::cap::Cap;
use super::course::{Course, Step};
use super::throttle::show_rate;
use super::{Candidate, Standing, Subject};
use crate::words::{percent, ratio};
use diskfacts_plan::units::show_duration;
use diskfacts_record::{Confidence, TargetKind};

pub(super) const NAME: &str = "changed-speed";

/// So many times as fast or as slow: trials of a quiet disk differ by a tenth at most.
const TIMES: f64 = 1.25;
/// Share of all scatter that the one step explains at least, and more than a straight line
/// does: of a rate that falls all the time a step explains three quarters and a line all, of
/// one that steps in the middle it is the other way round. Of chance alone the best step of
/// 20 points explains so much in 1 of 1000 series (simulated, normal), of 12 points in 18.
const EXPLAINED: f64 = 0.6;
const POINTS: usize = 20;

/// A step may be the work of others on the processors, who began or ended there, where tasks
/// waited for a processor for so much of the time that the lower level lost. Threads of the
/// kernel that work for the stage (loop devices, encryption) have no account of their own, so
/// all who waited count; half, because others may have waited at the same moment.
const WAITED_OF_LOST: f64 = 0.5;
/// The same where only the stage's own threads are known to have waited. Whoever keeps those
/// of the kernel from a processor keeps these too, when they want one: the one who asks for
/// little waits for a small part of what the others do.
const OWN_WAITED_OF_LOST: f64 = 0.05;

/// What is known of who wanted the processors while the rate changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Processors {
    /// There were enough of them.
    Free,
    /// More wanted them than there were, so that others who began or ended may have made the
    /// step.
    Wanted,
    /// Nobody looked.
    Unseen,
}

fn processors(subject: &Subject<'_>, step: &Step) -> Processors {
    if subject.run().target.kind == TargetKind::Simulated {
        return Processors::Free;
    }
    let (low, high) = if step.before.rate < step.after.rate {
        (step.before, step.after)
    } else {
        (step.after, step.before)
    };
    let lost_s = low.seconds * (1.0 - low.rate / high.rate);
    let (mut waited_s, mut own_s, mut all_seen) = (0.0, 0.0, true);
    for trial in subject.trials() {
        own_s += trial.cpu.wait_ns_per_io.unwrap_or(0.0) * trial.ops as f64 / 1e9;
        match &trial.evidence.pressure {
            Some(pressure) => waited_s += pressure.cpu_some_ns as f64 / 1e9,
            None => all_seen = false,
        }
    }
    if waited_s > WAITED_OF_LOST * lost_s || own_s > OWN_WAITED_OF_LOST * lost_s && !all_seen {
        Processors::Wanted
    } else if all_seen {
        Processors::Free
    } else {
        Processors::Unseen
    }
}

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    // What is written goes to caches first, which are full after a while.
    let reads = subject.only_reads() && subject.reaches_device() && subject.from_memory() < 0.02;
    if subject.imported() || !reads || subject.workload().rate.is_some() {
        return None;
    }
    let course = Course::of(subject);
    let step = course.step()?;
    let (before, after) = (step.before.rate, step.after.rate);
    let times = (before / after).max(after / before);
    let is_step = step.explained >= EXPLAINED.max(course.explained_by_a_line());
    if Cap::of(subject).is_some() || !is_step || times < TIMES || course.points.len() < POINTS {
        return None;
    }
    let confidence = match processors(subject, &step) {
        Processors::Free => Confidence::Likely,
        Processors::Unseen => Confidence::Possible,
        Processors::Wanted => return None,
    };
    let share = (1.0 - after / before).max(0.0);
    let at = show_duration((step.before.seconds * 1e9) as u64);
    Some(Candidate {
        standing: Standing::Cause,
        claim: format!(
            "The rate went from {} to {} after {at} of this stage and stayed there: the figure is \
             of both.",
            show_rate(subject, before),
            show_rate(subject, after)
        ),
        evidence: vec![format!(
            "One step, {} times, explains {} of how much the rate scatters, over {} before it and \
             {} behind it.",
            ratio(times),
            percent(step.explained),
            at,
            show_duration((step.after.seconds * 1e9) as u64)
        )],
        share: (share > 0.0).then_some(share),
        confidence,
        refuted_by: "A longer run whose rates stay on one level.".into(),
        experiment: subject.again(
            "The same once more, for longer: the second rate from the beginning speaks for a \
             device that has changed, the first for something that came and went.",
        ),
        remedy: "Look at what happened then: `dmesg -T`, `smartctl -x` or `nvme smart-log` \
                 (heat, a slower link, reallocated sectors), an array that lost a member or is \
                 rebuilt, a cloud volume's credit."
            .into(),
    })
}
