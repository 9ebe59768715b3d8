//! Stored histograms.

use diskfacts_record::Histogram;

/// What is read reads back as the same, and its figures lie within its limits
/// and in order.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    let Ok(histogram) = Histogram::from_bytes(input) else {
        return;
    };
    let stored = histogram.to_bytes();
    let again = Histogram::from_bytes(&stored).expect("what was just stored");
    assert_eq!(again, histogram);
    assert_eq!(again.to_bytes(), stored);

    let (Some(min), Some(max)) = (histogram.min(), histogram.max()) else {
        assert_eq!(histogram.count(), 0);
        return;
    };
    let quantiles = [0.0, 0.5, 0.9, 0.99, 0.999, 1.0]
        .map(|quantile| histogram.quantile(quantile).expect("it holds a value"));
    assert!(quantiles.is_sorted(), "{quantiles:?}");
    assert!(min <= quantiles[0] && quantiles[5] <= max);
    // A rank is a floating-point number, exact up to 2^53.
    if histogram.count() < 1 << 53 {
        assert_eq!(quantiles[5], max);
    }
    let counted: u64 = histogram.buckets().map(|(_, _, count)| count).sum();
    assert_eq!(counted, histogram.count());
    let below = histogram.share_at_or_below(max).expect("it holds a value");
    assert!((0.0..=1.0).contains(&below), "{below}");

    let mean = histogram.mean().expect("it holds a value");
    // The integers are exact and the division is not.
    let slack = 1.0 + 1e-9 * max as f64;
    assert!(
        (min as f64 - slack..=max as f64 + slack).contains(&mean),
        "a mean of {mean} in {min}..={max}"
    );
    let mut twice = histogram.clone();
    twice.add(&histogram);
    assert_eq!(twice.count(), 2 * histogram.count());
}
