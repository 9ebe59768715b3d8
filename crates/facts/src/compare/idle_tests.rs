//! Stages in which nothing was done.

use super::simulated::{of, selection};
use super::tests::stage;
use super::*;
use crate::testing::{self, each, set_rate};
use diskfacts_plan::{Arrivals, Rate};

#[test]
fn a_run_in_which_nothing_was_done_stands_aside_for_one_that_did_something() {
    let a = testing::healthy();
    let mut still = a.clone();
    each(&mut still, "log-write", |trial| {
        (trial.ops, trial.bytes) = (0, 0);
        set_rate(trial, 0.0);
    });
    for runs in [[&a, &still], [&still, &a]] {
        let comparison = compare(&selection([&a]), &selection(runs), SAME_WITHIN, &[]);
        let log = stage(&comparison, "log-write");
        assert_eq!(log.speed.as_ref().map(|s| s.count_b), Some(5), "{log:?}");
        let said = "; excluded: 5 trials in which nothing was done in B";
        assert!(log.statement.ends_with(said), "{log:?}");
    }
}

#[test]
fn where_no_operation_was_due_nothing_became_slower() {
    let a = testing::healthy();
    let rate = |run: &mut Run, ops: u64| {
        each(run, "log-write", |trial| {
            trial.workload.rate = Some(Rate {
                operations_per_s: 1,
                arrivals: Arrivals::Poisson,
            });
            (trial.ops, trial.bytes) = (ops, ops * 4096);
            set_rate(trial, ops as f64 / trial.seconds / trial.iops);
        });
    };
    let (mut some, mut none) = (a.clone(), a);
    rate(&mut some, 2);
    rate(&mut none, 0);
    let comparison = of(&some, &none);
    let log = stage(&comparison, "log-write");
    assert!(log.speed.is_none(), "{log:?}");
    assert_eq!(
        log.because,
        ["no valid trial: no operation was due in each of 5 trials in B"]
    );
}
