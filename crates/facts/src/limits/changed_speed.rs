//! The rate went from one level to another while the stage was measured, and stayed there, went
//! to and fro between two, or rose or fell all the time. Which of many things did it is not known;
//! that it did, and when, is.

use super::credit_throttle::cap;
use super::prelude::*;
use crate::device_physics::no_drives;
use crate::stage_facts::cap::FROM_MEMORY;
use crate::stage_facts::processor;
use crate::stage_facts::rate_over_time::{Line, RateOverTime, Step, TwoLevels};
use crate::stage_facts::shared_device::SharedDevice;

pub(super) const LIMITER: Limiter = Limiter {
    name: "changed-speed",
    needs: &[NoDocument, Device, Closed],
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
/// Share of the time that each of the two levels has at least: of less the figure is that of the
/// other, and what began or ended like that is a finding about a trial.
const OF_TIME: f64 = WORTH_A_WORD;
/// Points for which each of two levels that take turns is held, on average: less is chance.
const HELD_POINTS: f64 = 3.0;
/// Standard deviations of a count between the two, of operations that come at random.
const APART: f64 = 4.0;
/// Batches of all that is in flight by which two intervals of one rate may differ: one that falls
/// just within the first, and one just behind the second.
const BATCHES: f64 = 2.0;

fn rate_stepped(facts: &StageFacts<'_>) -> Option<Candidate> {
    // What is written goes to the cache of a drive first, which is full after a while; and through
    // the page cache the host's.
    let through = facts.direct() != Some(true) || no_drives(facts.run()).is_none();
    unless(!facts.only_reads() && through || facts.memory_share() >= FROM_MEMORY)?;
    let course = RateOverTime::of(facts);
    unless(cap(facts).is_some() || course.points.len() < POINTS)?;
    let (step, line) = (course.step()?, course.line());
    if step.explained >= EXPLAINED.max(line.explained) {
        stepped(facts, &step)
    } else {
        drifted(facts, &line).or_else(|| alternated(facts, &course))
    }
}

fn stepped(facts: &StageFacts<'_>, step: &Step) -> Option<Candidate> {
    let plateaus = [step.before, step.after];
    let [before, after] = plateaus.map(|plateau| plateau.rate);
    let times = (before / after).max(after / before);
    unless(times < TIMES)?;
    let [first_s, then_s] = plateaus.map(|plateau| plateau.seconds);
    unless(first_s.min(then_s) < OF_TIME * (first_s + then_s))?;
    let low = if before < after {
        step.before
    } else {
        step.after
    };
    let confidence = likely_if(processor::not_of_others(
        facts,
        low.seconds * (1.0 - 1.0 / times),
    )?);
    let share = Some(step.lost()).filter(|share| *share > 0.0);
    let [from, to] = [before, after].map(|rate| facts.show_rate(rate));
    let [at, behind] = plateaus.map(|plateau| seconds(plateau.seconds));
    let (times, explained) = (ratio(times), percent(step.explained));
    let claim = format!(
        "The rate went from {from} to {to} after {at} of this stage and stayed there: the figure \
         is of both."
    );
    let line = format!(
        "One step, {times} times, explains {explained} of how much the rate scatters, over {at} \
         before it and {behind} behind it."
    );
    Some(Candidate::new(Standing::Cause, share, confidence, claim).evidence([line]))
}

fn drifted(facts: &StageFacts<'_>, line: &Line) -> Option<Candidate> {
    let (low, high) = (line.from.min(line.to), line.from.max(line.to));
    // Of a disk that turns the rate falls with the place, too.
    let of_place = facts.in_order() && facts.rotates() != Some(false);
    unless(line.explained < EXPLAINED || low <= 0.0 || high < TIMES * low || of_place)?;
    let mean = low.midpoint(high);
    let confidence = likely_if(processor::not_of_others(
        facts,
        line.seconds * (1.0 - mean / high),
    )?);
    let share = (line.to < line.from).then_some(1.0 - mean / high);
    let how = if line.to < line.from { "fell" } else { "rose" };
    let [from, to] = [line.from, line.to].map(|rate| facts.show_rate(rate));
    let claim = format!(
        "The rate {how} all the time, from {from} to {to}: the figure depends on how long is \
         measured."
    );
    let line = format!(
        "A straight line over {} explains {} of how much the rate scatters.",
        seconds(line.seconds),
        percent(line.explained)
    );
    Some(Candidate::new(Standing::Cause, share, confidence, claim).evidence([line]))
}

/// Two levels in turn. Who shares the device by turns is seen by what he moves; and what comes
/// through the page cache comes in windows.
fn alternated(facts: &StageFacts<'_>, course: &RateOverTime) -> Option<Candidate> {
    unless(facts.direct() != Some(true) || SharedDevice::of(facts).is_some())?;
    let levels = TwoLevels::of(course)?;
    let (low, high, all_s) = (levels.low, levels.high, levels.all_s);
    // Where all that is in flight completes at once, an interval has a batch more or less.
    let by_chance = (APART * levels.of_point.sqrt()).max(BATCHES * facts.outstanding());
    unless(high < TIMES * low || levels.apart < by_chance || levels.held < HELD_POINTS)?;
    unless(
        levels.explained < EXPLAINED || levels.slow_s.min(all_s - levels.slow_s) < OF_TIME * all_s,
    )?;
    let lost_s = levels.slow_s * (1.0 - low / high);
    let confidence = likely_if(processor::not_of_others(facts, lost_s)?);
    let [from, to] = [low, high].map(|rate| facts.show_rate(rate));
    let claim = format!(
        "The rate went to and fro between {from} and {to}: the figure is of both, by how long each \
         came."
    );
    let explained = percent(levels.explained);
    let [slow, all] = [levels.slow_s, all_s].map(seconds);
    let line = format!(
        "Two levels explain {explained} of how much the rate scatters; it was on the lower one for \
         {slow} of {all}."
    );
    let share = lost_s / all_s;
    Some(Candidate::new(Standing::Cause, share, confidence, claim).evidence([line]))
}

#[cfg(test)]
mod tests {
    use super::super::host_tests::said;
    use super::LIMITER;
    use crate::testing::{self, each};
    use diskfacts_record::Run;

    const READS: &str = "random-read-qd32";
    const WRITES: &str = "random-write-qd32";

    /// In each of the intervals of all trials of a stage so many operations.
    fn run(stage: &str, operations: impl Fn(u64) -> u64) -> Run {
        let mut run = testing::healthy();
        let mut at = 0;
        each(&mut run, stage, |trial| {
            trial.evidence.intervals.operations = (0..50).map(|i| operations(at + i)).collect();
            at += 50;
        });
        run
    }

    #[test]
    fn a_rate_that_falls_all_the_time_is_told_from_one_that_steps() {
        let claim = |run: &Run| said(run, READS, LIMITER.name).map(|limit| limit.claim);
        let drift = claim(&run(READS, |at| 1000 - 2 * at)).expect("it falls");
        assert!(drift.starts_with("The rate fell all the time"), "{drift}");
        let step = claim(&run(READS, |at| if at < 100 { 500 } else { 1000 })).expect("a step");
        assert!(step.contains("and stayed there"), "{step}");
        assert_eq!(claim(&run(READS, |at| 1000 + at % 7)), None);
        let turns = claim(&run(READS, |at| if at / 9 % 2 == 0 { 500 } else { 1000 }));
        assert!(turns.expect("two levels").contains("to and fro"));
        // One batch of all 64 that are in flight in an interval, or two, at one rate.
        let in_flight = |depth| {
            let mut run = run(READS, |at| if at / 9 % 2 == 0 { 64 } else { 128 });
            each(&mut run, READS, |trial| trial.workload.queue_depth = depth);
            claim(&run)
        };
        assert!(in_flight(4).is_some());
        assert_eq!(in_flight(64), None);
    }

    #[test]
    fn a_step_costs_as_much_of_the_time_as_it_lasted() {
        let share = |from: u64| {
            let mut run = run(READS, |at| {
                let scatter = 95 + at * 37 % 11;
                if at < from { 10 * scatter } else { 5 * scatter }
            });
            // No heat of flash explains it.
            testing::rotating(&mut run);
            let limit = said(&run, READS, LIMITER.name).expect("a step");
            limit.share.expect("it lost some")
        };
        // Of 250 intervals.
        for (from, expected) in [(125, 0.25), (200, 0.1)] {
            let share = share(from);
            assert!((share - expected).abs() < 0.03, "{from}: {share}");
        }
    }

    #[test]
    fn writes_step_where_no_drive_has_a_cache_for_them() {
        let mut run = run(WRITES, |at| if at < 100 { 500 } else { 1000 });
        assert_eq!(said(&run, WRITES, LIMITER.name), None);
        run.stack.devices[1].virtual_by = Some("it is a virtio device".into());
        assert!(said(&run, WRITES, LIMITER.name).is_some());
    }
}
