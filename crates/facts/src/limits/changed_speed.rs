//! The rate went from one level to another while the stage was measured, and stayed there.
//! Which of many things did it is not known; that it did, and when, is.

use super::cap::{Cap, FROM_MEMORY};
use super::course::{Course, Step};
use super::prelude::*;
use super::throttle::show_rate;

pub(super) const LIMITER: Limiter = Limiter {
    name: "changed-speed",
    about: "speed changed while it was measured",
    // What is written goes to caches first, which are full after a while.
    needs: &[NoDocument, OnlyReads, Device, Closed],
    refuted_by: "A longer run whose rates stay on one level.",
    question: "The same once more, for longer: the second rate from the beginning speaks for a \
               device that has changed, the first for something that came and went.",
    remedy: "Look at what happened then: `dmesg -T`, `smartctl -x` or `nvme smart-log` \
             (heat, a slower link, reallocated sectors), an array that lost a member or is \
             rebuilt, a cloud volume's credit.",
    find: rate_stepped,
    ..Limiter::ANY
};

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

/// How sure a step is the device's: likely where there were processors enough, possible where
/// nobody looked. `None` where more wanted them than there were, so that others who began or
/// ended may have made it.
fn not_of_processors(subject: &Subject<'_>, step: &Step) -> Option<Confidence> {
    if subject.run().target.kind == TargetKind::Simulated {
        return Some(Likely);
    }
    let (low, high) = if step.before.rate < step.after.rate {
        (step.before, step.after)
    } else {
        (step.after, step.before)
    };
    let lost_s = low.seconds * (1.0 - low.rate / high.rate);
    let own = |trial: &Trial| trial.cpu.wait_ns_per_io.unwrap_or(0.0) * trial.ops as f64 / 1e9;
    let own_s = subject.sum(|trial| Some(own(trial)))?;
    let pressure = |trial: &Trial| Some(trial.evidence.pressure?.cpu_some_ns as f64 / 1e9);
    let seen_s: f64 = subject.trials().iter().filter_map(|t| pressure(t)).sum();
    let all_seen = subject.sum(pressure).is_some();
    let wanted =
        seen_s > WAITED_OF_LOST * lost_s || own_s > OWN_WAITED_OF_LOST * lost_s && !all_seen;
    (!wanted).then(|| likely_if(all_seen))
}

fn rate_stepped(subject: &Subject<'_>) -> Option<Candidate> {
    unless(subject.memory_share() >= FROM_MEMORY)?;
    let course = Course::of(subject);
    let step = course.step()?;
    let plateaus = [step.before, step.after];
    let [before, after] = plateaus.map(|plateau| plateau.rate);
    let times = (before / after).max(after / before);
    let is_step = step.explained >= EXPLAINED.max(course.explained_by_a_line());
    unless(
        Cap::of(subject).is_some() || !is_step || times < TIMES || course.points.len() < POINTS,
    )?;
    let confidence = not_of_processors(subject, &step)?;
    let share = Some((1.0 - after / before).max(0.0)).filter(|share| *share > 0.0);
    let [from, to] = [before, after].map(|rate| show_rate(subject, rate));
    let [at, behind] = plateaus.map(|plateau| seconds(plateau.seconds));
    let claim = format!(
        "The rate went from {from} to {to} after {at} of this stage and stayed there: the figure \
         is of both."
    );
    let line = format!(
        "One step, {} times, explains {} of how much the rate scatters, over {at} before it and \
         {behind} behind it.",
        ratio(times),
        percent(step.explained)
    );
    Some(Candidate::new(Standing::Cause, share, confidence, claim).evidence([line]))
}
