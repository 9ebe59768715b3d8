//! The sum is the same whatever the tree and the order.

use crate::group::{MS, Setup, histogram, merge};
use diskfacts_gang::Ending;
use diskfacts_gang::channels::Way;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn what_is_gathered_is_the_sum_of_all_hosts_bit_for_bit(
        hosts in 1_usize..60,
        jitter_ns in 0_u64..2_000_000,
        seed in any::<u64>(),
    ) {
        let mut setup = Setup::of(hosts);
        setup.seed = seed;
        setup.trials = 1;
        let mut group = setup.group_over(move |_, _| Way { delay_ns: 1000, jitter_ns });
        group.run();
        let alone = (1..hosts).fold(histogram(0), |sum, rank| {
            merge(&sum, &histogram(rank)).expect("histograms")
        });
        prop_assert_eq!(group.judged().len(), 1);
        prop_assert_eq!(&group.judged()[0].summary, &alone);
    }
}

/// In the network's time, with what sending and receiving take of a host; the demand of a group of 200 whose
/// histograms have 2 KiB each. Clocks are compared again in it, all of them.
#[test]
fn what_two_hundred_hosts_measured_is_at_the_root_fifty_milliseconds_after_the_last_of_them() {
    let mut setup = Setup::of(200);
    setup.trials = 1;
    let mut group = setup.group();
    let stopped = group.run();
    assert_eq!(stopped.endings[0], Some(Ending::Over));
    assert_eq!(group.judged()[0].summary.len(), 2048);
    let truth = group.truth.borrow();
    let ends = truth.measured.iter().map(|(_, _, _, _, end)| *end);
    let last = ends.max().expect("200 hosts measured");
    let took_ns = stopped.at_ns - last;
    println!("{:.1} ms", took_ns as f64 / 1e6);
    assert!(took_ns <= 50 * MS, "{took_ns} ns");
}
