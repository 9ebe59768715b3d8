//! What is said of matrices, cell by cell.

use super::effects;
use super::simulated::{run_of, set_rates};
use diskfacts_record::Run;
use diskfacts_record::effects::{Chosen, Settings, StageEffects};

const SCHEDULERS: (&str, &[&str]) = ("scheduler", &["none", "bfq"]);
const SIZES: (&str, &[&str]) = ("read_ahead_kb", &["128", "512", "4096"]);

/// A run whose rates are these by size and scheduler, with repeats 1 % apart.
fn matrix(rates: [[f64; 2]; 3]) -> Run {
    let mut run = run_of(&[SCHEDULERS, SIZES], 3);
    set_rates(&mut run, |places, number| {
        rates[places[0]][places[1]] * (1.0 + 0.01 * (f64::from(number) - 2.0))
    });
    run
}

fn only(run: &Run) -> StageEffects {
    let mut all = effects(run);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn settings(pairs: &[(&str, &str)]) -> Settings {
    let pairs = pairs
        .iter()
        .map(|(name, value)| ((*name).into(), (*value).into()));
    pairs.collect()
}

/// The ratio lies within a thousandth of this.
fn is_near(ratio: f64, expected: f64) -> bool {
    (ratio / expected - 1.0).abs() < 1e-3
}

#[test]
fn effects_that_multiply_are_main_effects_and_no_interaction() {
    let effects = only(&matrix([[1.0, 1.5], [2.0, 3.0], [4.0, 6.0]]));
    let [size, scheduler] = &effects.main_effects[..] else {
        panic!("two axes: {effects:?}");
    };
    let ratios: Vec<f64> = size.levels.iter().map(|level| level.ratio).collect();
    assert!(
        ratios
            .iter()
            .zip([0.5, 1.0, 2.0])
            .all(|(got, is)| is_near(*got, is))
    );
    assert_eq!(size.levels[2].value, "4096");
    assert!(is_near(scheduler.levels[1].ratio, 1.5_f64.sqrt()));
    assert!(size.beyond_noise && scheduler.beyond_noise);
    assert_eq!((size.over, size.left_out), (2, 0));
    assert!(!effects.interactions[0].beyond_noise);
    assert!(
        effects
            .noise
            .is_some_and(|noise| (noise - 0.01).abs() < 1e-3)
    );
    // Both are settings of the kernel, and none with 128 is how the disk was found.
    assert!(effects.axes.iter().all(|axis| axis.choice));
    let [answer] = &effects.answers[..] else {
        panic!("one answer: {effects:?}");
    };
    assert_eq!(answer.outcome, Chosen::Better);
    let best = settings(&[("scheduler", "bfq"), ("read_ahead_kb", "4096")]);
    assert_eq!(answer.best.as_ref(), Some(&best));
    let against = answer.against.as_ref().unwrap();
    assert!(against.in_force && is_near(against.ratio, 6.0));
    assert_eq!(answer.as_good, []);
}

#[test]
fn an_interaction_is_named_where_it_is_largest() {
    // bfq and 4096 together do half of what both alone say, on the average of the table.
    let effects = only(&matrix([[1.0, 1.0], [1.0, 1.0], [1.0, 0.5]]));
    let [pair] = &effects.interactions[..] else {
        panic!("one pair: {effects:?}");
    };
    assert!(pair.beyond_noise && pair.p < 0.001);
    assert_eq!(pair.axes, ["read_ahead_kb", "scheduler"]);
    assert_eq!(pair.largest.values[0], "4096");
    // ln 0.5 less a third of it for its row, half for its column, and a sixth back.
    let expected = 0.5_f64.powf(1.0 / 3.0);
    let ratio = pair.largest.ratio;
    assert!(
        is_near(ratio, expected) || is_near(ratio, 1.0 / expected),
        "{ratio}"
    );
}

fn any_beyond_noise(effects: &StageEffects) -> bool {
    let mut main = effects.main_effects.iter();
    main.any(|effect| effect.beyond_noise)
}

#[test]
fn where_all_cells_are_alike_nothing_is_best() {
    let effects = only(&matrix([[1.0; 2]; 3]));
    assert_eq!(effects.answers[0].outcome, Chosen::NoDifference);
    assert!(effects.answers[0].best.is_none() && effects.answers[0].against.is_none());
    assert!(!any_beyond_noise(&effects));
}

#[test]
fn what_is_in_force_is_best_where_others_are_only_slower() {
    let effects = only(&matrix([[1.0, 0.5], [1.0, 0.5], [1.0, 0.5]]));
    let answer = &effects.answers[0];
    assert_eq!(answer.outcome, Chosen::InForceIsBest);
    let now = settings(&[("scheduler", "none"), ("read_ahead_kb", "128")]);
    assert_eq!(answer.best.as_ref(), Some(&now));
    let against = answer.against.as_ref().unwrap();
    assert!(!against.in_force && against.settings["scheduler"] == "bfq");
    assert_eq!(answer.as_good.len(), 2);
    let in_force = effects
        .cells
        .iter()
        .filter(|cell| cell.in_force == Some(true));
    let in_force: Vec<&Settings> = in_force.map(|cell| &cell.settings).collect();
    assert_eq!(in_force, [&now]);
}

#[test]
fn without_what_is_in_force_the_best_is_held_against_the_slowest() {
    let mut run = matrix([[1.0, 1.5], [2.0, 3.0], [4.0, 6.0]]);
    for device in &mut run.stack.devices {
        device.read_ahead_bytes = Some(256 << 10);
    }
    let answer = only(&run).answers.remove(0);
    assert_eq!(answer.outcome, Chosen::Better);
    let against = answer.against.unwrap();
    assert!(!against.in_force && is_near(against.ratio, 6.0));
    assert_eq!(against.settings["scheduler"], "none");
}

#[test]
fn one_percent_is_not_worth_a_word_however_sure_it_is() {
    let mut run = run_of(&[SCHEDULERS, SIZES], 5);
    set_rates(
        &mut run,
        |places, _| if places[1] == 1 { 1.005 } else { 1.0 },
    );
    let effects = only(&run);
    assert_eq!(effects.answers[0].outcome, Chosen::NoDifference);
    assert!(effects.main_effects.iter().any(|effect| effect.p < 1e-6));
    assert!(!any_beyond_noise(&effects));
}

#[test]
fn missing_cells_are_named_and_what_would_be_compared_with_them_is_left_out() {
    let mut run = matrix([[1.0, 1.5], [2.0, 3.0], [4.0, 6.0]]);
    // bfq failed at 4096, and was never measured at 512.
    for trial in &mut run.trials {
        if trial.settings == settings(&[("scheduler", "bfq"), ("read_ahead_kb", "4096")]) {
            trial.errors = 1;
        }
    }
    let never = settings(&[("scheduler", "bfq"), ("read_ahead_kb", "512")]);
    run.trials.retain(|trial| trial.settings != never);
    let effects = only(&run);
    let missing: Vec<&str> = effects
        .cells
        .iter()
        .filter_map(|c| c.missing.as_deref())
        .collect();
    assert_eq!(missing, ["it was not measured", "operations failed"]);
    let [size, scheduler] = &effects.main_effects[..] else {
        panic!("two axes: {effects:?}");
    };
    // Sizes with none alone, schedulers at 128 alone.
    assert_eq!((size.over, size.left_out), (1, 1));
    assert_eq!((scheduler.over, scheduler.left_out), (1, 2));
    assert!(
        is_near(size.levels[2].ratio, 2.0) && is_near(scheduler.levels[1].ratio, 1.5_f64.sqrt())
    );
    assert!(effects.interactions.is_empty());
    // The best is looked for among those that were measured.
    let best = effects.answers[0].best.as_ref().unwrap();
    assert_eq!(best["read_ahead_kb"], "4096");
}

#[test]
fn other_axes_are_conditions_under_each_of_which_there_is_an_answer() {
    let mut run = run_of(&[SCHEDULERS, ("streams", &["1", "2"])], 3);
    run.plan.choose.clear();
    // bfq is better for two streams only.
    set_rates(&mut run, |places, number| {
        let rate = if places == [1, 1] { 2.0 } else { 1.0 };
        rate * (1.0 + 0.01 * (f64::from(number) - 2.0))
    });
    let effects = only(&run);
    let choices: Vec<bool> = effects.axes.iter().map(|axis| axis.choice).collect();
    assert_eq!(choices, [true, false]);
    let said: Vec<(Settings, Chosen)> = effects
        .answers
        .iter()
        .map(|answer| (answer.under.clone(), answer.outcome))
        .collect();
    assert_eq!(
        said,
        [
            (Settings::new(), Chosen::Better),
            (settings(&[("streams", "1")]), Chosen::NoDifference),
            (settings(&[("streams", "2")]), Chosen::Better),
        ]
    );
    let both = effects.answers[0].against.as_ref().unwrap();
    assert!(is_near(both.ratio, 2.0_f64.sqrt()), "{both:?}");
    // What the command names is to be chosen too.
    run.plan.choose = vec!["streams".into()];
    let effects = only(&run);
    assert_eq!(effects.answers.len(), 1);
    assert_eq!(effects.answers[0].best.as_ref().unwrap()["streams"], "2");
}

#[test]
fn too_few_repeats_say_nothing_and_say_so() {
    let mut run = matrix([[1.0, 1.5], [2.0, 3.0], [4.0, 6.0]]);
    run.trials.retain(|trial| trial.number < 3);
    let effects = only(&run);
    assert!(effects.main_effects.is_empty() && effects.answers.is_empty());
    assert!(effects.unknown[0].contains("--trials 5"), "{effects:?}");
    assert_eq!(effects.cells.len(), 6);
}

#[test]
fn stages_that_are_no_matrix_and_documents_have_none() {
    assert_eq!(effects(&crate::testing::healthy()), []);
    let mut run = matrix([[1.0; 2]; 3]);
    // Scattered names: each value with one of the other axis only.
    let mut kept = run.plan.stages.clone();
    for (i, stage) in kept.iter_mut().enumerate() {
        stage.settings = settings(&[("a", &i.to_string()), ("b", &i.to_string())]);
    }
    for trial in &mut run.trials {
        let at = run
            .plan
            .stages
            .iter()
            .position(|s| s.settings == trial.settings);
        trial.settings.clone_from(&kept[at.unwrap()].settings);
    }
    run.plan.stages = kept;
    assert_eq!(effects(&run), []);
    let mut run = matrix([[1.0, 1.5], [2.0, 3.0], [4.0, 6.0]]);
    run.target.kind = diskfacts_record::TargetKind::Imported;
    assert_eq!(effects(&run), []);
}
