//! After the trials of the plan: what is claimed of them and not certain is tested, the
//! most doubtful first. Each test is two stages in turn, one as the claim's and one that
//! differs from it in what the claim is about; what comes of them is worked out from the
//! record, as everything else.

use super::fit;
use super::measure::{Clock, How, Kept, Trials};
use super::schedule::{Schedule, is_late};
use diskfacts_facts::limits;
use diskfacts_plan::{Plan, Until, file};
use diskfacts_record::{ClaimTest, Confidence, Limit, Run, StageLimits};
use std::time::Duration;

/// Trials of either stage: with five a side the interval of their ratio is about twice as
/// wide as with twenty.
const TRIALS: u32 = 5;
/// A trial of a test: as long as those of the stage, within these. A tenth of a second is
/// the slice in which limits are enforced; longer than two seconds gains little.
const TRIAL_NS: (u64, u64) = (250_000_000, 2_000_000_000);

/// How many claims are tested, and in whose time.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Testing {
    /// None.
    None,
    /// As many as the time of the run is left for.
    InTimeLeft,
    /// At most so many, in time of their own.
    OwnTime(u32),
}

impl Trials<'_> {
    /// Tests claims until there is none left, nothing of the time, or a signal came.
    pub(super) fn test_claims(&mut self, testing: Testing, clock: &Clock, how: &mut How) {
        let (most, own_time) = match testing {
            Testing::None => return,
            Testing::InTimeLeft => (u32::MAX, false),
            Testing::OwnTime(most) => (most, true),
        };
        // Each pair of stage and limiter once, be it that it cannot be tested here.
        let mut looked_at: Vec<(String, String)> = Vec::new();
        let mut done = 0;
        while done < most && how.broken.is_none() && self.signals.came().is_none() {
            // What is done before the trials is not done again before a test.
            let may = self.run.plan.precondition.is_empty();
            let doubt = may.then(|| most_doubtful(self.run, done + 1, &looked_at));
            let Some(doubt) = doubt.flatten() else {
                break;
            };
            looked_at.push((of(&doubt), doubt.limiter.clone()));
            let Some(plan) = self.fitted(&doubt) else {
                continue;
            };
            let budget_ns = self.run.run.budget_ns.unwrap_or(0);
            let left_ns = budget_ns.saturating_sub(clock.elapsed_ns(self.measured));
            // With as much again for what is done around the trials.
            if !own_time && left_ns < 2 * time_of(&plan) {
                continue;
            }
            done += 1;
            self.test(doubt, &plan, how);
        }
    }

    /// The two stages as a plan that this target can do.
    fn fitted(&self, doubt: &ClaimTest) -> Option<Plan> {
        let plan = Plan {
            name: "settle".to_owned(),
            about: String::new(),
            trials: TRIALS,
            time_ns: None,
            until: Until::default(),
            choose: Vec::new(),
            precondition: Vec::new(),
            stages: doubt.stages.clone(),
        };
        let on = (&*self.measured, &self.run.stack);
        let (plan, notes) = fit::fit(&plan, on, false).ok()?;
        let turns = self.turns();
        // What a disk that turns writes back for half a minute costs more than it tells.
        let leaves_much = plan.stages.iter().any(|stage| is_late(stage, turns));
        (plan.stages.len() == 2 && notes.is_empty() && !leaves_much).then_some(plan)
    }

    fn test(&mut self, test: ClaimTest, plan: &Plan, how: &mut How) {
        let test = ClaimTest {
            // As they fit the target.
            stages: plan.stages.clone(),
            ..test
        };
        self.run.claim_tests.push(test);
        // So that what a kill leaves is a run whose stages are known.
        how.broken = (self.keep)(self.run, Kept::BeforeTrials).err();
        let clock = Clock::starting_now(self.measured, self.signals);
        let seed = self.run.run.seed.wrapping_add(self.run.trials.len() as u64);
        let mut schedule = Schedule::new(plan, self.turns(), seed, (time_of(plan), 0));
        self.display.go_on_with(plan);
        self.rounds(&mut schedule, &plan.stages, &clock, how);
    }
}

/// Nanoseconds that the trials of a plan take together, whose stages say how long.
fn time_of(plan: &Plan) -> u64 {
    let each = plan.stages.iter().map(|stage| &stage.workload.stop);
    let round_ns: u64 = each.filter_map(|stop| stop.time_ns).sum();
    u64::from(plan.trials) * round_ns
}

/// The stage that a test is about, with its settings.
fn of(test: &ClaimTest) -> String {
    diskfacts_plan::plan::stage_label(&test.stage, &test.settings)
}

/// The claim that is the first of its stage and the least sure, and that figures decide.
fn most_doubtful(run: &Run, number: u32, looked_at: &[(String, String)]) -> Option<ClaimTest> {
    let said = limits(run);
    let firsts = said
        .iter()
        .filter_map(|stage| Some((stage, stage.limits.first()?)));
    let mut doubts: Vec<(&StageLimits, &Limit)> = firsts
        .filter(|(_, limit)| limit.confidence != Confidence::Certain)
        .filter(|(stage, limit)| {
            let label = diskfacts_plan::plan::stage_label(&stage.stage, &stage.settings);
            let is = |(of, limiter): &(String, String)| *of == label && *limiter == limit.limiter;
            !looked_at.iter().any(is)
        })
        .collect();
    // The least sure first; the sort is stable and keeps the order of the run.
    doubts.sort_by_key(|(_, limit)| match limit.confidence {
        Confidence::Possible => 0,
        Confidence::Likely => 1,
        Confidence::Certain => 2,
    });
    doubts
        .into_iter()
        .find_map(|(stage, limit)| doubt(run, number, stage, limit))
}

/// What tests this; `None` where no figure decides it.
fn doubt(run: &Run, number: u32, stage: &StageLimits, limit: &Limit) -> Option<ClaimTest> {
    let trials = run.trials.iter().filter(|trial| {
        trial.stage == stage.stage && trial.settings == stage.settings && trial.errors == 0
    });
    let longest = trials.map(|trial| trial.seconds).fold(0.0, f64::max);
    let trial = Duration::try_from_secs_f64(longest).unwrap_or_default();
    let trial_ns = u64::try_from(trial.as_nanos()).unwrap_or(u64::MAX);
    let mut prediction = limit.experiment.prediction.clone()?;
    let plan = file::parse(limit.experiment.plan.as_deref()?).ok()?;
    let named = |name: &mut String, what: &str| {
        let mut found = plan
            .stages
            .iter()
            .find(|stage| stage.name == *name)?
            .clone();
        found.name = format!("test-{number}-{name}");
        found.workload.stop.time_ns = Some(trial_ns.clamp(TRIAL_NS.0, TRIAL_NS.1));
        found.about = format!("{what} of the test of {} of {}", limit.limiter, stage.stage);
        name.clone_from(&found.name);
        Some(found)
    };
    let control = named(&mut prediction.control, "the control")?;
    let changed = named(&mut prediction.changed, "the change")?;
    Some(ClaimTest {
        stage: stage.stage.clone(),
        settings: stage.settings.clone(),
        limiter: limit.limiter.clone(),
        claim: limit.claim.clone(),
        prediction,
        stages: vec![control, changed],
    })
}
