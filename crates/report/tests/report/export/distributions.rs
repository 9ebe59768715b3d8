//! `HdrHistogram`'s formats, read by its Rust port.

use super::detailed;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use diskfacts_record::{Histogram, Run};
use diskfacts_report::export::{hgrm, hlog};
use hdrhistogram::Histogram as Theirs;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use proptest::prelude::*;

fn of(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    for value in values {
        histogram.record(*value);
    }
    histogram
}

fn read(encoded: &str) -> Theirs<u64> {
    let bytes = STANDARD.decode(encoded).unwrap();
    Deserializer::new().deserialize(&mut &bytes[..]).unwrap()
}

/// What each bucket holds, by the largest value in it.
fn buckets_of(theirs: &Theirs<u64>) -> Vec<(u64, u64)> {
    let recorded = theirs.iter_recorded();
    recorded
        .map(|bucket| {
            let value = bucket.value_iterated_to();
            (value, bucket.count_at_value())
        })
        .collect()
}

fn buckets(ours: &Histogram) -> Vec<(u64, u64)> {
    ours.buckets().map(|(_, to, count)| (to, count)).collect()
}

proptest! {
    #[test]
    fn each_bucket_reads_back(values in prop::collection::vec(prop_oneof![0..600_u64, 0..u64::MAX >> 1, (0..62_u32).prop_map(|bits| 1 << bits)], 1..200)) {
        let ours = of(&values);
        let theirs = read(&hlog::encoded(&ours));
        prop_assert_eq!(buckets_of(&theirs), buckets(&ours));
        prop_assert_eq!(theirs.len(), ours.count());
    }
}

#[test]
fn what_no_signed_integer_holds_is_in_the_last_bucket() {
    let ours = of(&[1, u64::MAX, u64::MAX - 1, 1 << 63]);
    let theirs = read(&hlog::encoded(&ours));
    assert_eq!(theirs.len(), 4);
    assert_eq!(theirs.count_at(i64::MAX.unsigned_abs()), 3);
    assert_eq!(read(&hlog::encoded(&Histogram::new())).len(), 0);
}

/// The entries of a log: when each begins and how long it is, in seconds, its largest value, and
/// its distribution.
pub(super) fn entries(log: &str) -> Vec<(String, [f64; 3], Theirs<u64>)> {
    let mut entries = Vec::new();
    for entry in IntervalLogIterator::new(log.as_bytes()) {
        if let LogEntry::Interval(interval) = entry.unwrap() {
            entries.push((
                interval.tag().unwrap().as_str().to_owned(),
                [
                    interval.start_timestamp().as_secs_f64(),
                    interval.duration().as_secs_f64(),
                    interval.max(),
                ],
                read(interval.encoded_histogram()),
            ));
        }
    }
    entries
}

#[test]
fn a_log_has_a_line_for_each_trial_that_has_a_distribution() {
    let mut first = detailed();
    let second = Run {
        run: diskfacts_record::RunInfo {
            started: "2026-11-21T03:00:00Z".to_owned(),
            ..first.run.clone()
        },
        ..detailed()
    };
    first.run.started = "2026-11-21T02:59:00Z".to_owned();
    // The one that began last is given first.
    let log = hlog::hlog(&[second, first.clone()]);
    let entries = entries(&log);
    assert_eq!(entries.len(), 2, "{log}");
    let trial = &first.trials[0];
    let mut ours = trial.histograms.read.unpack();
    trial.histograms.write.add_to(&mut ours);
    for ((tag, [begins, length, max_ms], theirs), at) in entries.iter().zip([0.0, 60.0]) {
        assert_eq!(tag, "random-read-qd32_(scheduler=none)");
        assert!((begins - at).abs() < 1e-6 && (length - trial.seconds).abs() < 1e-3);
        assert!((max_ms - ours.max().unwrap() as f64 / 1e6).abs() < 1e-3);
        assert_eq!(buckets_of(theirs), buckets(&ours));
    }
    assert!(log.contains("#[BaseTime: 1795"), "{log}");
}

/// Value in microseconds, percentile and operations below of each line.
fn lines(text: &str) -> Vec<(f64, f64, u64)> {
    let lines = text
        .lines()
        .skip(2)
        .take_while(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let cells: Vec<f64> = line
                .split_whitespace()
                .map(|cell| cell.parse().unwrap())
                .collect();
            (cells[0], cells[1], cells[2] as u64)
        })
        .collect()
}

#[test]
fn percentiles_are_those_of_the_same_distribution_in_their_histogram() {
    let values: Vec<u64> = (1..=10_000).map(|i| 50_000 + i * i / 100).collect();
    let ours = of(&values);
    let mut theirs = Theirs::<u64>::new_with_bounds(1, u64::MAX >> 2, 2).unwrap();
    for value in &values {
        theirs += *value;
    }
    let text = hgrm::hgrm(&ours);
    assert!(text.starts_with("       Value     Percentile TotalCount 1/(1-Percentile)\n\n"));
    let lines = lines(&text);
    let (last, rest) = lines.split_last().unwrap();
    assert_eq!((last.1, last.2), (1.0, 10_000));
    assert!((last.0 - 1_050.0).abs() < 1e-9, "{last:?}");
    // Five to each halving; 10 000 operations have thirteen of these.
    assert!((60..=70).contains(&rest.len()), "{}", rest.len());
    // Their smallest is the smallest of its bucket.
    for (value_us, percentile, below) in &rest[1..] {
        let value_ns = (value_us * 1e3).round() as u64;
        let of_theirs = theirs.value_at_quantile(*percentile).min(1_050_000);
        assert_eq!(value_ns, of_theirs, "{percentile}");
        assert_eq!(*below, theirs.count_between(0, value_ns));
    }
    assert!(text.contains("Total count    =        10000]"), "{text}");
    let mean = format!("#[Mean    = {:12.3}", theirs.mean() / 1e3);
    let close = text
        .lines()
        .any(|line| line.starts_with(&mean[..mean.len() - 3]));
    assert!(close, "{mean}\n{text}");
}

#[test]
fn a_distribution_of_one_value_is_two_lines() {
    let text = hgrm::hgrm(&of(&[5000]));
    assert_eq!(lines(&text), [(5.0, 0.0, 1), (5.0, 1.0, 1)]);
    assert!(lines(&hgrm::hgrm(&Histogram::new())).is_empty());
}

#[test]
fn the_stages_of_a_run_are_told_apart_by_their_settings() {
    let stages = hgrm::stages(&detailed());
    let labels: Vec<&str> = stages.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!(labels, ["random-read-qd32 (scheduler=none)"]);
    assert_eq!(stages[0].1.count(), 6);
}
