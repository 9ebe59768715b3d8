//! The sum is the same whatever the tree and the order.

use crate::group::{Setup, histogram, merge};
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
