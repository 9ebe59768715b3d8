//! What each of several streams got.

use crate::stats::median;
use diskfacts_record::Trial;

/// The rate of each stream, bytes per second: the median of its trials, so that one
/// that is always last stays last. Empty where there was one stream.
pub fn stream_rates(trials: &[&Trial]) -> Vec<f64> {
    let streams = trials.iter().map(|t| t.evidence.streams.len()).max();
    (0..streams.unwrap_or(0))
        .filter_map(|stream| {
            let rates: Vec<f64> = trials
                .iter()
                .filter_map(|t| Some(t.evidence.streams.get(stream)?.throughput_bytes_per_s))
                .collect();
            median(&rates)
        })
        .collect()
}
