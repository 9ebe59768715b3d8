//! Clocks, whatever they have and however they run; and that all start at one moment.

use crate::group::{MS, SECOND, Setup};
use diskfacts_gang::Ending;
use diskfacts_gang::channels::{HostClock, Way};
use proptest::prelude::*;

fn clock() -> impl Strategy<Value = HostClock> {
    // 1000 s apart, and up to 300 ppm fast or slow: two of them differ by no more than Linux may
    // slew one.
    (-1000 * SECOND..1000 * SECOND, -300_000_i64..300_000).prop_map(|(offset_ns, drift_ppb)| {
        HostClock {
            offset_ns,
            drift_ppb,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn every_true_start_and_end_is_within_its_bound(
        clocks in prop_oneof![
            4 => proptest::collection::vec(clock(), 2..24),
            // Three levels.
            1 => proptest::collection::vec(clock(), 274..280),
        ],
        delays in proptest::array::uniform4(0_u64..200_000),
        jitter_ns in 0_u64..300_000,
        seed in any::<u64>(),
    ) {
        let hosts = clocks.len();
        let mut setup = Setup::of(0);
        setup.clocks = clocks.clone();
        setup.seed = seed;
        setup.trials = 1;
        // So long that 1 % of it is more than any bound here: a start that is later by the bound
        // alone would make the trial void, and it would be repeated.
        setup.lasts_ns = if hosts > 100 { 400 * MS } else { 2000 * MS };
        // There and back differ.
        let mut group = setup.group_over(move |from, to| Way {
            delay_ns: delays[(from * 3 + to) % 4],
            jitter_ns,
        });
        let stopped = group.run();
        prop_assert_eq!(stopped.endings, vec![Some(Ending::Over); hosts]);
        let judged = group.judged();
        prop_assert_eq!(judged.len(), 1);
        prop_assert_eq!(&judged[0].void, &None);
        prop_assert_eq!(judged[0].windows.len(), hosts);
        let truth = group.truth.borrow();
        for window in &judged[0].windows {
            let rank = window.rank as usize;
            let (_, _, _, start, end) =
                truth.measured.iter().find(|row| row.0 == rank).expect("it measured");
            // The simulation's own conversions round by 2 ns.
            for (said, true_ns) in [(window.start_ns, start), (window.end_ns, end)] {
                let error = said.abs_diff(clocks[0].at(*true_ns));
                prop_assert!(
                    error <= window.bound_ns + 2,
                    "rank {rank}: off by {error} ns, bound {} ns", window.bound_ns
                );
            }
        }
    }
}

#[test]
fn hosts_with_clocks_a_thousand_seconds_apart_start_within_their_bounds() {
    let mut group = Setup::of(20).group();
    group.run();
    let truth = group.truth.borrow();
    let starts = |trial| {
        let rows = truth.measured.iter().filter(move |row| row.1 == trial);
        rows.map(|row| row.3)
    };
    for judged in group.judged() {
        let number = judged.trial.number;
        let (first, last) = (starts(number).min(), starts(number).max());
        let skew = last.expect("a start") - first.expect("a start");
        let bounds = judged.windows.iter().map(|window| window.bound_ns);
        let bound = bounds.max().expect("hosts").cast_signed();
        // And what 80 ppm make of the 55 ms until the start.
        assert!(skew <= 2 * (bound + 5000), "{skew} ns, bound {bound} ns");
    }
}

#[test]
fn a_bound_is_not_wider_than_the_way_makes_it() {
    let mut group = Setup::of(2).group_over(|_, _| Way {
        delay_ns: 8000,
        jitter_ns: 0,
    });
    group.run();
    for judged in group.judged() {
        let bound = judged.windows[1].bound_ns;
        // Half of 16 us, of up to two calls of 2 us each, and what was rounded.
        assert!((8000..10_100).contains(&bound), "{bound} ns");
        assert_eq!(
            judged.windows[0].bound_ns, 1,
            "the root's own clock is the root's"
        );
    }
}

#[test]
fn a_slow_way_gives_a_start_that_is_far_enough_away() {
    let mut group = Setup::of(3).group_over(|from, to| Way {
        delay_ns: if from == 2 || to == 2 {
            40 * MS as u64
        } else {
            1000
        },
        jitter_ns: 0,
    });
    group.run();
    assert_eq!(group.judged().len(), 2);
    for judged in group.judged() {
        assert_eq!(
            judged.void, None,
            "40 ms away, with 50 ms of slack alone it would be late"
        );
    }
}
