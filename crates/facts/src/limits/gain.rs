//! What would be gained without a limiter: as it was measured, else as the time predicts it.
//!
//! In a closed loop of `n` operations that take `L` each, of which a part is the limiter's,
//! the rate without that part is `n / (L - part)` (Little's law; the bounds of Denning and
//! Buzen, "The Operational Analysis of Queueing Network Models", Computing Surveys 10, 1978):
//! `1 / (1 - share)` times as high, and at most that, because another resource may be next. So a
//! prediction is made only up to what some stage of the run shows the device to do: beyond that
//! nobody knows what is next, and the share of the time is all that is said.

use super::prelude::*;
use super::{interface, media_rate, one_at_a_time};
use crate::stage_facts::ladder::Ladder;
use crate::stage_facts::reference::most_iops;
use crate::tested_claims::{self, Ratio};
use diskfacts_record::{Gain, GainBasis};

/// Share of the time from which on nothing is predicted: what would be next then is all that
/// there is to know.
const SHARE_MAX: f64 = 0.98;
/// A prediction of what another stage does is that stage's rate, within what trials differ by.
const AS_SHOWN: f64 = 1.1;

/// The gain without this limiter; `None` where nothing would be gained by it, or nobody
/// knows.
pub(super) fn of(limiter: &str, facts: &StageFacts<'_>, candidate: &Candidate) -> Option<Gain> {
    // A rate that is asked for is no higher without anything.
    unless(facts.workload().rate.is_some() || candidate.kind.standing == Standing::NotTheDevice)?;
    by_test(limiter, facts)
        .or_else(|| by_depth(limiter, facts))
        .or_else(|| by_time(limiter, facts, candidate))
}

fn measured(with: String, times: f64, interval: [f64; 2]) -> Gain {
    Gain {
        times,
        interval,
        basis: GainBasis::Measured,
        with,
    }
}

/// What the run measured to test it.
fn by_test(limiter: &str, facts: &StageFacts<'_>) -> Option<Gain> {
    let (test, ratio) = tested_claims::gain(facts, limiter)?;
    let with = format!("without it ({})", test.prediction.changed);
    Some(measured(with, ratio.estimate, ratio.interval))
}

/// What another stage measured with more in flight.
fn by_depth(limiter: &str, facts: &StageFacts<'_>) -> Option<Gain> {
    let is_depth = limiter == one_at_a_time::LIMITER.name;
    let ladder = is_depth.then(|| Ladder::of(facts)).flatten()?;
    let deeper = ladder.best_deeper()?;
    // The interval is of all trials; the figure is that of the medians, which the tables show.
    let [low, high] = Ratio::of(&ladder.own.rates, &deeper.rates)?.interval;
    let times = deeper.iops / ladder.own.iops;
    let with = format!("with {} in flight ({})", deeper.depth, deeper.label);
    Some(measured(with, times, [low.min(times), high.max(times)]))
}

/// What follows from its share of the time. What the rate would be is one figure; how many
/// times as high that is has the interval of the rate that was measured, or its range where
/// the trials are too few for one.
fn by_time(limiter: &str, facts: &StageFacts<'_>, candidate: &Candidate) -> Option<Gain> {
    // Their share says how full the medium or the link is, and not of what part of the time.
    unless([media_rate::LIMITER.name, interface::LIMITER.name].contains(&limiter))?;
    let is_load = candidate.kind.standing == Standing::Load;
    let share = candidate
        .kind
        .share
        .filter(|share| *share > 0.0 && *share <= SHARE_MAX && !is_load)?;
    let times = 1.0 / (1.0 - share);
    let rate = &facts.figures.iops;
    unless(times * rate.median > AS_SHOWN * most_iops(facts)?)?;
    let [low, high] = rate.ci95.unwrap_or([rate.min, rate.max]);
    let of = |measured: f64| (times * rate.median / measured).max(1.0);
    (low > 0.0).then(|| Gain {
        times,
        interval: [of(high), of(low)],
        basis: GainBasis::Predicted,
        with: "without it".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each};
    use diskfacts_record::{Limit, Run};

    const QD1: &str = "random-read-qd1";
    const QD32: &str = "random-read-qd32";

    fn limit(run: &Run, stage: &str, limiter: &str) -> Limit {
        let all = crate::limits(run);
        let of_stage = all.into_iter().find(|limits| limits.stage == stage);
        let mut limits = of_stage.expect("the stage").limits.into_iter();
        let found = limits.find(|limit| limit.limiter == limiter);
        found.unwrap_or_else(|| panic!("{limiter} of {stage}"))
    }

    /// Rates of the trials around a mean, those of one stage as many times as high.
    fn rates(run: &mut Run, stage: &str, mean: f64) {
        each(run, stage, |trial| {
            trial.iops = mean * (1.0 + 0.01 * (f64::from(trial.number) - 3.0));
        });
    }

    #[test]
    fn a_depth_that_was_measured_says_what_it_gained() {
        let mut run = testing::healthy();
        rates(&mut run, QD1, 10_000.0);
        rates(&mut run, QD32, 37_000.0);
        let gain = limit(&run, QD1, one_at_a_time::LIMITER.name)
            .gain
            .expect("a gain");
        assert_eq!(gain.basis, GainBasis::Measured);
        assert!((gain.times - 3.7).abs() < 0.01, "{gain:?}");
        let [low, high] = gain.interval;
        assert!(
            3.5 < low && low < 3.7 && 3.7 < high && high < 3.9,
            "{gain:?}"
        );
        assert_eq!(gain.with, "with 32 in flight (random-read-qd32)");

        let is_deeper = |name: &str| name.starts_with("random-read-qd") && name != QD1;
        run.trials.retain(|trial| !is_deeper(&trial.stage));
        run.plan.stages.retain(|stage| !is_deeper(&stage.name));
        let alone = limit(&run, QD1, one_at_a_time::LIMITER.name);
        assert_eq!(alone.gain, None, "nobody measured more in flight");
    }

    #[test]
    fn how_full_a_medium_is_predicts_no_gain() {
        let run = testing::healthy();
        let context = crate::context::Context::new(&run);
        let facts = context.facts().find(|facts| facts.stage.name == QD1);
        let facts = facts.expect("the stage");
        let candidate = Candidate::new(Standing::Nature, 0.05, Likely, "It is so.");
        let gain = |limiter: &str| by_time(limiter, &facts, &candidate);
        assert!(gain("positioning").is_some());
        for full in [media_rate::LIMITER, interface::LIMITER] {
            assert_eq!(gain(full.name), None);
        }
    }

    /// Random writes at this rate on flash that cleans, where reads of the same size reach that one.
    fn cleaning(writes: f64, reads: f64) -> Limit {
        let mut run = testing::healthy();
        for device in &mut run.stack.devices {
            device.rotational = Some(false);
        }
        each(&mut run, "random-write-qd32", |trial| {
            testing::set_latencies(trial, &[(100_000, 800), (5_000_000, 100)]);
        });
        rates(&mut run, "random-write-qd32", writes);
        rates(&mut run, QD32, reads);
        limit(&run, "random-write-qd32", "garbage-collection")
    }

    #[test]
    fn a_share_of_the_time_predicts_what_is_left_without_it_and_no_more_than_was_seen() {
        let shown = cleaning(1000.0, 100_000.0);
        let (gain, share) = (shown.gain.as_ref().expect("one"), shown.share.expect("one"));
        assert_eq!(gain.basis, GainBasis::Predicted);
        assert!(
            (gain.times - 1.0 / (1.0 - share)).abs() < 1e-9,
            "{shown:#?}"
        );
        let [low, high] = gain.interval;
        assert!(
            1.0 <= low && low <= gain.times && gain.times <= high,
            "{shown:#?}"
        );
        let unseen = cleaning(80_000.0, 100_000.0);
        assert_eq!(unseen.gain, None, "{unseen:#?}");
    }

    #[test]
    fn what_is_asked_for_at_a_rate_or_is_of_memory_gains_nothing() {
        let limits = crate::limits(&testing::healthy());
        let cached = limits
            .iter()
            .find(|limits| limits.stage == "cached-random-read");
        for limit in &cached.expect("the stage").limits {
            if limit.limiter == "page-cache" {
                assert_eq!(limit.gain, None, "{limit:#?}");
            }
        }
        let mut run = testing::healthy();
        let rate = diskfacts_plan::Rate {
            operations_per_s: 100,
            arrivals: diskfacts_plan::Arrivals::Fixed,
        };
        each(&mut run, QD1, |trial| trial.workload.rate = Some(rate));
        for stage in crate::limits(&run).iter().filter(|one| one.stage == QD1) {
            assert!(stage.limits.iter().all(|limit| limit.gain.is_none()));
        }
    }
}
