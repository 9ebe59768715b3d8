//! The limiters held against causes that they were not written for: each cause is
//! planted ten times in a simulated computer whose disk, workload and strength of
//! the cause are drawn, and the limiter of its name has to be named first.
//!
//! A planting counts only where the truth says that the cause holds the stage back
//! (`truth`); else another is drawn. `DISKFACTS_CAUSES_SEED` and
//! `DISKFACTS_SOUND_SEED` draw others than those that are tested always.

mod draw;
mod host;
mod likely;
mod pairs;
mod sound;
mod storage;
mod truth;

use super::budget;
use super::contradictions;
use super::setup::Setup;
use crate::session::Testing;
use crate::session::conclude::conclude;
use diskfacts_record::{Confidence, Limit, Run, TestOutcome, TestedClaim};
use draw::{Draw, WORK};
use likely::Likely;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use truth::Truth;

/// Plantings of each cause.
const EACH: usize = 10;
/// Drawings after which a cause is said not to come about.
const DRAWS_MAX: u64 = 40;
/// Threads that simulate.
const THREADS: usize = 2;
/// The seed that is taken where none is given.
const SEED: u64 = 20_240_607;
/// Share of the plantings that has to be named rightly, percent.
const PERCENT_MIN: usize = 97;
/// Claims that each planting tests.
const TESTS: u32 = 3;
/// Share of the tests that may say the opposite of the truth, percent.
const TESTS_WRONG_MAX: usize = 1;

/// A cause, named as the limiter that is to name it.
struct Cause {
    name: &'static str,
    truth: Truth,
    /// Draws a computer, with the cause or, all else equal, without it.
    plant: fn(&mut Draw, bool) -> Setup,
}

/// What came of one planting.
struct Outcome {
    /// The limiter that was named first, and what it says.
    first: String,
    told: String,
    redraws: u64,
    /// Claims about the stage that were tested, and what their tests say that is not so.
    tested: usize,
    test_wrong: Vec<String>,
    /// The limiter that is named first after the tests.
    first_tested: String,
    /// What the budget has otherwise than the truth.
    off: Vec<String>,
    /// What the run says that cannot be, or cannot be together.
    contradictions: Vec<String>,
    /// What it says to be likely before its tests.
    likely: Likely,
}

/// Share of what is said to be likely and was not tested that may be not so, percent; less than.
const LIKELY_WRONG_MAX: usize = 5;

/// The seed that this variable gives, else the usual one.
pub(super) fn seed_of(variable: &str) -> u64 {
    let given = std::env::var(variable).ok();
    given.map_or(SEED, |text| text.parse().expect("a seed is a number"))
}

/// What `of` gives for each number below `count`, done by some threads.
pub(super) fn in_parallel<T: Send>(count: usize, of: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let done: Mutex<BTreeMap<usize, T>> = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        return;
                    }
                    let outcome = of(index);
                    done.lock()
                        .expect("nobody panics with it")
                        .insert(index, outcome);
                }
            });
        }
    });
    let done = done.into_inner().expect("nobody panicked");
    done.into_values().collect()
}

/// What is said to have limited the stage, the first first.
fn limits(run: &Run) -> &[Limit] {
    let of_stage = run.limits.iter().find(|limits| limits.stage == WORK);
    of_stage.map_or(&[], |limits| &limits.limits)
}

/// What stands under the heads of the table: the limits and what they rest on.
fn tell(limits: &[Limit]) -> String {
    let mut text = String::new();
    for limit in limits.iter().take(4) {
        let share = limit.share.unwrap_or(f64::NAN);
        let _ = writeln!(
            text,
            "    {} ({share:.2}): {}\n        {}",
            limit.limiter,
            limit.claim,
            limit.evidence.join("\n        ")
        );
    }
    text
}

/// What the budgets of a run have otherwise than the truth.
fn off(run: &Run) -> Vec<String> {
    let figures = run.figures.iter().filter(|figures| figures.stage == WORK);
    figures
        .flat_map(|figures| budget::differences(run, figures))
        .collect()
}

/// The run as it was before its tests.
fn untested(tested: &Run) -> Run {
    let mut run = tested.clone();
    run.trials.retain(|trial| !tested.is_test(&trial.stage));
    run.claim_tests.clear();
    conclude(&mut run, &[]);
    run
}

/// What tests say that is not so: that the cause is none, or that what is named first in
/// its place holds.
fn wrong_tests(cause: &Cause, tests: &[TestedClaim], first: Option<&Limit>) -> Vec<String> {
    let wrong = tests.iter().filter(|test| match test.outcome {
        TestOutcome::Refuted => test.limiter == cause.name,
        TestOutcome::Held => {
            test.limiter != cause.name && first.is_some_and(|first| first.limiter == test.limiter)
        }
        TestOutcome::Undecided => false,
    });
    let name = cause.name;
    let line = |test: &TestedClaim| {
        let (limiter, outcome) = (&test.limiter, test.outcome);
        format!("{name} planted, {limiter} {outcome:?}: {}", test.evidence)
    };
    wrong.map(line).collect()
}

/// Draws until the cause truly is what holds the stage back.
fn planted(cause: &Cause, seed: u64) -> Outcome {
    for redraws in 0..DRAWS_MAX {
        let seed = diskfacts_plan::rng::Rng::for_part(seed, redraws).next_u64();
        let mut setup = (cause.plant)(&mut Draw::new(seed), true);
        setup.testing = Testing::OwnTime(TESTS);
        let tested = setup.run();
        let run = untested(&tested);
        if !cause.truth.holds(cause, &run, seed) {
            continue;
        }
        let after = tested.limits.iter().find(|limits| limits.stage == WORK);
        let tests = after.map_or(&[][..], |limits| &limits.tested);
        let first_tested = after.and_then(|after| after.limits.first());
        let limits = limits(&run);
        return Outcome {
            tested: tests.len(),
            test_wrong: wrong_tests(cause, tests, first_tested),
            first_tested: first_tested.map_or("nothing", |l| &l.limiter).to_owned(),
            first: limits.first().map_or("nothing", |l| &l.limiter).to_owned(),
            told: tell(limits),
            redraws,
            off: off(&run),
            contradictions: contradictions::of_run(&run, Confidence::Likely),
            likely: Likely::of(&run, cause),
        };
    }
    panic!(
        "{}: {DRAWS_MAX} drawings, and it held back none",
        cause.name
    );
}

#[test]
fn the_limiter_of_a_planted_cause_is_named_first() {
    let seed = seed_of("DISKFACTS_CAUSES_SEED");
    let only = std::env::var("DISKFACTS_CAUSES_ONLY").ok();
    let causes: Vec<&Cause> = storage::CAUSES
        .iter()
        .chain(host::CAUSES)
        .filter(|cause| only.as_ref().is_none_or(|only| only == cause.name))
        .collect();
    let outcomes = in_parallel(causes.len() * EACH, |index| {
        let cause = causes[index / EACH];
        planted(cause, seed.wrapping_add(1 + index as u64))
    });
    let (mut right, mut table, mut wrong) = (0, String::new(), String::new());
    let (mut off, mut contradictions) = (Vec::new(), Vec::new());
    let (mut tested, mut test_wrong, mut right_tested) = (0, Vec::new(), 0);
    let (mut likely, mut likely_wrong, mut misled) = (0, Vec::new(), 0);
    for (cause, outcomes) in causes.iter().zip(outcomes.chunks(EACH)) {
        let mut named: BTreeMap<&str, usize> = BTreeMap::new();
        for outcome in outcomes {
            let name = cause.name;
            let named_so = |text: &String| format!("{name}, {text}");
            off.extend(outcome.off.iter().map(named_so));
            tested += outcome.tested;
            test_wrong.extend_from_slice(&outcome.test_wrong);
            likely += outcome.likely.claims;
            likely_wrong.extend_from_slice(&outcome.likely.wrong);
            misled += usize::from(!outcome.likely.wrong.is_empty());
            right_tested += usize::from(outcome.first_tested == name);
            contradictions.extend(outcome.contradictions.iter().map(named_so));
            *named.entry(&outcome.first).or_default() += 1;
            if outcome.first != cause.name {
                let (first, told) = (&outcome.first, &outcome.told);
                let _ = writeln!(wrong, "{} planted, {first} named\n{told}", cause.name);
            }
        }
        let hits = named.remove(cause.name).unwrap_or(0);
        right += hits;
        let redraws: u64 = outcomes.iter().map(|outcome| outcome.redraws).sum();
        let others: Vec<String> = named.iter().map(|(n, c)| format!("{n} {c}")).collect();
        let _ = writeln!(
            table,
            "{:<20} {hits:>2} of {EACH}  redrawn {redraws:>3}  {}",
            cause.name,
            others.join(", ")
        );
    }
    let count = outcomes.len();
    println!(
        "{wrong}\nDISKFACTS_CAUSES_SEED={seed}: {right} of {count} plantings are named first, \
         {right_tested} after tests; {} of {tested} tests say what is not so\n{table}{}",
        test_wrong.len(),
        test_wrong.join("\n")
    );
    println!(
        "{} of {likely} claims that are likely before tests are not so, in {misled} of {count} \
         plantings\n{}",
        likely_wrong.len(),
        likely_wrong.join("\n")
    );
    assert!(
        test_wrong.len() * 100 <= tested * TESTS_WRONG_MAX,
        "seed {seed}, {tested} tests\n{}",
        test_wrong.join("\n")
    );
    assert!(
        likely_wrong.len() * 100 < likely * LIKELY_WRONG_MAX,
        "seed {seed}, {likely} claims\n{}",
        likely_wrong.join("\n")
    );
    assert!(causes.len() >= 20 || only.is_some());
    assert!(right * 100 >= count * PERCENT_MIN, "seed {seed}\n{table}");
    assert!(right_tested >= right, "seed {seed}\n{table}");
    assert!(off.is_empty(), "seed {seed}\n{}", off.join("\n"));
    assert!(
        contradictions.is_empty(),
        "seed {seed}\n{}",
        contradictions.join("\n")
    );
}
