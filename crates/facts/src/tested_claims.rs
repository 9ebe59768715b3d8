//! What came of the claims that a run tested.
//!
//! A claim predicts what one stage is to another that differs from it in one thing. Both
//! are measured in turn, so that what comes and goes falls on both, and the 99 % interval
//! of the ratio has to lie on one side of what divides the prediction from its opposite.

use crate::context::Context;
use crate::stage_facts::StageFacts;
use crate::stats;
use crate::words::ratio;
use diskfacts_plan::units::{rate_digits, show_throughput};
use diskfacts_record::{ClaimTest, Prediction, Quantity, Side, TestOutcome, TestedClaim, Trial};

/// Chance that the interval of the ratio does not hold it.
const ALPHA: f64 = 0.01;

/// Share of the control's figure that the changed stage has at least where it is to have no
/// more: what is much slower shows something else, that took the place of what was claimed.
const NO_LESS: f64 = 0.75;

/// Trials of either stage without which nothing is decided.
const TRIALS_MIN: usize = 3;

/// A ratio of two rates, with its interval.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ratio {
    pub(crate) estimate: f64,
    /// At 99 %.
    pub(crate) interval: [f64; 2],
}

impl Ratio {
    /// That of the second to the first, by their trials; `None` of too few.
    pub(crate) fn of(control: &[f64], changed: &[f64]) -> Option<Self> {
        if control.len().min(changed.len()) < TRIALS_MIN {
            return None;
        }
        let logarithms = |rates: &[f64]| rates.iter().map(|rate| rate.ln()).collect::<Vec<_>>();
        let difference = stats::centre_difference(&logarithms(control), &logarithms(changed))?;
        Some(Self {
            estimate: difference.estimate.exp(),
            interval: difference.interval(ALPHA).map(f64::exp),
        })
    }

    /// What it decides of a prediction.
    fn decides(&self, predicted: &Prediction) -> TestOutcome {
        let (ratio, [low, high]) = (predicted.ratio, self.interval);
        let (held, refuted) = match predicted.side {
            Side::AtLeast => (low >= ratio, high < ratio),
            Side::AtMost => (high <= ratio && low >= NO_LESS, low > ratio),
        };
        match (held, refuted) {
            (true, _) => TestOutcome::Held,
            (_, true) => TestOutcome::Refuted,
            _ => TestOutcome::Undecided,
        }
    }
}

/// A claim that was tested, with the rates of both stages in which nothing failed.
struct Tested<'a> {
    test: &'a ClaimTest,
    control: Vec<f64>,
    changed: Vec<f64>,
    /// Of the changed stage to its control; `None` where they have too few trials.
    ratio: Option<Ratio>,
}

/// The claims about a stage that were tested.
pub(crate) fn of_stage(facts: &StageFacts<'_>) -> Vec<TestedClaim> {
    tests_of(facts).map(|tested| tested.claim()).collect()
}

fn tests_of<'a>(facts: &StageFacts<'a>) -> impl Iterator<Item = Tested<'a>> {
    let (context, stage) = (facts.context, facts.stage);
    let tests = context.run.claim_tests.iter();
    tests
        .filter(|test| test.stage == stage.name && test.settings == *stage.settings)
        .map(|test| Tested::of(context, test))
}

/// Those of what this limiter said of it.
fn of_limiter<'a>(facts: &StageFacts<'a>, limiter: &str) -> impl Iterator<Item = Tested<'a>> {
    tests_of(facts).filter(move |tested| tested.test.limiter == limiter)
}

/// Whether a test of the run has refuted what this limiter said of a stage.
pub(crate) fn is_refuted(facts: &StageFacts<'_>, limiter: &str) -> bool {
    of_limiter(facts, limiter).any(|tested| tested.outcome() == TestOutcome::Refuted)
}

/// What was gained in the test of what a limiter said of a stage, if it held, and was one of
/// more without it.
pub(crate) fn gain<'a>(facts: &StageFacts<'a>, limiter: &str) -> Option<(&'a ClaimTest, Ratio)> {
    of_limiter(facts, limiter).find_map(|tested| {
        let held = tested.outcome() == TestOutcome::Held;
        // Some predict that nothing is lost where something else is changed.
        let predicted = &tested.test.prediction;
        let of_more = predicted.side == Side::AtLeast && predicted.ratio > 1.0;
        Some((tested.test, tested.ratio.filter(|_| held && of_more)?))
    })
}

impl<'a> Tested<'a> {
    fn of(context: &Context<'_>, test: &'a ClaimTest) -> Self {
        let of = |trial: &&Trial| match test.prediction.quantity {
            Quantity::Iops => trial.iops,
            Quantity::Throughput => trial.throughput_bytes_per_s,
        };
        let rates = |name: &str| -> Vec<f64> {
            let tests = context.tests.iter().map(|(stage, _)| stage);
            let found = tests.filter(|stage| stage.name == name && stage.is_sound());
            let rates = found.flat_map(|stage| stage.trials.iter().map(of));
            rates
                .filter(|rate| rate.is_finite() && *rate > 0.0)
                .collect()
        };
        let [control, changed] =
            [&test.prediction.control, &test.prediction.changed].map(|name| rates(name));
        Self {
            test,
            ratio: Ratio::of(&control, &changed),
            control,
            changed,
        }
    }

    fn outcome(&self) -> TestOutcome {
        let decided = self.ratio.map(|ratio| ratio.decides(&self.test.prediction));
        decided.unwrap_or(TestOutcome::Undecided)
    }

    /// As it stands in the record.
    fn claim(&self) -> TestedClaim {
        TestedClaim {
            limiter: self.test.limiter.clone(),
            claim: self.test.claim.clone(),
            outcome: self.outcome(),
            evidence: self.evidence(),
        }
    }

    fn evidence(&self) -> String {
        let predicted = &self.test.prediction;
        let (control, changed) = (&predicted.control, &predicted.changed);
        let Some(found) = self.ratio else {
            return format!(
                "{changed} and {control} have too few trials without errors to decide it."
            );
        };
        let [before, after] = [&self.control, &self.changed].map(|rates| {
            let median = stats::median(rates).unwrap_or(0.0);
            match predicted.quantity {
                Quantity::Iops => format!("{} operations/s", rate_digits(median)),
                Quantity::Throughput => show_throughput(median),
            }
        });
        let side = match predicted.side {
            Side::AtLeast => "at least",
            Side::AtMost => "at most",
        };
        let [low, high] = found.interval.map(ratio);
        format!(
            "{changed} {after}, {control} {before}: {} times (99 % interval {low} to {high}); \
             predicted was {side} {} times.",
            ratio(found.estimate),
            ratio(predicted.ratio)
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::{figures, findings, limits, testing};
    use diskfacts_record::{ClaimTest, Prediction, Quantity, Run, Side, StageLimits, TestOutcome};

    const STAGE: &str = "random-read-qd1";
    const PAIR: (&str, &str) = ("test-1-twice", "test-1-as-it-was");

    fn prediction(side: Side, ratio: f64) -> Prediction {
        Prediction {
            control: PAIR.1.to_owned(),
            changed: PAIR.0.to_owned(),
            quantity: Quantity::Iops,
            side,
            ratio,
        }
    }

    fn at_least(ratio: f64) -> Prediction {
        prediction(Side::AtLeast, ratio)
    }

    fn at_most(ratio: f64) -> Prediction {
        prediction(Side::AtMost, ratio)
    }

    /// A sound run with a test of what limits a stage, whose two stages have these rates.
    fn tested(prediction: Prediction, control: &[f64], changed: &[f64]) -> Run {
        let mut run = testing::healthy();
        let limiter = limits(&run)
            .into_iter()
            .find(|limits| limits.stage == STAGE)
            .and_then(|limits| limits.limits.into_iter().next())
            .expect("something limits it");
        let own = run.plan.stages.iter().find(|stage| stage.name == STAGE);
        let own = own.expect("a stage of the plan").clone();
        let trial = run.trials.iter().find(|trial| trial.stage == STAGE);
        let trial = trial.expect("it has trials").clone();
        let mut stages = Vec::new();
        for (name, rates) in [(PAIR.1, control), (PAIR.0, changed)] {
            let mut stage = own.clone();
            stage.name = name.to_owned();
            stages.push(stage);
            for (number, rate) in (1..).zip(rates) {
                let mut trial = trial.clone();
                trial.stage = name.to_owned();
                trial.number = number;
                trial.iops = *rate;
                run.trials.push(trial);
            }
        }
        run.claim_tests = vec![ClaimTest {
            stage: STAGE.to_owned(),
            settings: own.settings,
            limiter: limiter.limiter,
            claim: limiter.claim,
            prediction,
            stages,
        }];
        run
    }

    fn of(run: &Run) -> StageLimits {
        let all = limits(run);
        let names: Vec<&str> = all.iter().map(|limits| limits.stage.as_str()).collect();
        assert!(!names.contains(&PAIR.0), "{names:?}");
        let found = all.into_iter().find(|limits| limits.stage == STAGE);
        found.expect("the stage is there")
    }

    #[test]
    fn an_interval_on_one_side_of_what_divides_decides_and_one_on_both_does_not() {
        let control = [1000.0, 1010.0, 990.0, 1005.0, 995.0];
        let same = [1001.0, 1011.0, 991.0, 1006.0, 996.0];
        let faster = [2000.0, 2020.0, 1980.0, 2010.0, 1990.0];
        let between = [1180.0, 1190.0, 1200.0, 1210.0, 1220.0];
        let slower = [500.0, 505.0, 495.0, 502.0, 498.0];
        for (changed, at_least_1_2, at_most_1_2) in [
            (&same[..], TestOutcome::Refuted, TestOutcome::Held),
            (&faster, TestOutcome::Held, TestOutcome::Refuted),
            (&between, TestOutcome::Undecided, TestOutcome::Undecided),
            // So slow that it shows something else.
            (&slower, TestOutcome::Refuted, TestOutcome::Undecided),
            // Too few to say.
            (&faster[..2], TestOutcome::Undecided, TestOutcome::Undecided),
        ] {
            for (prediction, wanted) in [(at_least(1.2), at_least_1_2), (at_most(1.2), at_most_1_2)]
            {
                let found = of(&tested(prediction, &control, changed)).tested;
                assert_eq!(found.len(), 1);
                assert_eq!(found[0].outcome, wanted, "{}", found[0].evidence);
            }
        }
    }

    #[test]
    fn what_is_refuted_explains_nothing_any_more_and_what_holds_does() {
        let control = [1000.0, 1010.0, 990.0, 1005.0, 995.0];
        let run = |prediction| tested(prediction, &control, &control);
        let before = of(&testing::healthy());
        let held = of(&run(at_most(1.2)));
        assert_eq!(held.limits[0].limiter, before.limits[0].limiter);
        let refuted = of(&run(at_least(1.2)));
        let name = &refuted.tested[0].limiter;
        assert_eq!(*name, before.limits[0].limiter);
        assert!(refuted.limits.iter().all(|limit| limit.limiter != *name));
        // The next takes its place.
        assert_eq!(refuted.limits.len() + 1, before.limits.len());
    }

    #[test]
    fn a_test_that_nothing_is_lost_has_gained_nothing() {
        let control = [1000.0, 1010.0, 990.0, 1005.0, 995.0];
        let slower = [970.0, 980.0, 960.0, 975.0, 965.0];
        let faster = [2000.0, 2020.0, 1980.0, 2010.0, 1990.0];
        let gain = |ratio, changed| {
            let found = of(&tested(at_least(ratio), &control, changed));
            assert_eq!(found.tested[0].outcome, TestOutcome::Held);
            let limiter = &found.tested[0].limiter;
            let limit = found.limits.iter().find(|limit| limit.limiter == *limiter);
            let gain = limit.expect("it held").gain.clone();
            gain.filter(|gain| gain.with.contains(PAIR.0))
        };
        assert_eq!(gain(0.9, &slower), None);
        let times = gain(1.2, &faster).expect("twice the rate").times;
        assert!((1.9..2.1).contains(&times), "{times}");
    }

    #[test]
    fn what_tests_a_claim_is_in_no_figure_and_no_finding_speaks_of_it() {
        // As noisy as only a finding could like.
        let noisy = [100.0, 5000.0, 30.0, 900.0, 2.0];
        let run = tested(at_least(1.2), &noisy, &noisy);
        assert_eq!(figures(&run), figures(&testing::healthy()));
        assert_eq!(findings(&run), findings(&testing::healthy()));
    }
}
