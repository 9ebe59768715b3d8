//! What is needed of a stage and what was measured of it, in words.

use super::Uncertain;
use crate::spread::NOISE;
use crate::uses::{Limit, Metric, Requirement};
use crate::words::percent;
use diskfacts_plan::units::{rate_digits, show_duration, show_throughput, three_digits};
use diskfacts_record::Outcome;

pub(super) fn metric_words(needed: &Requirement) -> String {
    let what = needed.what;
    match needed.metric {
        Metric::LatencyP99 => format!("p99 of {what}"),
        Metric::LatencyMean => format!("mean latency of {what}"),
        Metric::Throughput => what.to_owned(),
        Metric::Iops => format!("{what} per second"),
    }
}

pub(super) fn value_words(value: f64, metric: Metric) -> String {
    match metric {
        Metric::LatencyP99 | Metric::LatencyMean => show_duration(value as u64),
        Metric::Throughput => show_throughput(value),
        Metric::Iops => rate_digits(value),
    }
}

pub(super) fn needed_words(needed: &Requirement) -> String {
    let (how, limit) = match needed.limit {
        Limit::Below(limit) => ("below", limit),
        Limit::AtLeast(limit) => ("at least", limit),
    };
    let limit = match needed.metric {
        // A threshold is a round number; it is not one that was measured.
        Metric::Iops => format!("{limit}"),
        metric => value_words(limit, metric),
    };
    format!("{} {how} {limit}", metric_words(needed))
}

/// `86.0 < 262 MB/s` of what is missed, `p99 9.8 ~ 10 ms` of what is close; nothing of what is
/// met. The percentile is the one that was measured.
pub(super) fn in_short(
    value: f64,
    percentile: &str,
    outcome: Outcome,
    needed: &Requirement,
) -> String {
    let (sign, limit) = match (outcome, needed.limit) {
        (Outcome::Close, Limit::Below(limit) | Limit::AtLeast(limit)) => ("~", limit),
        (Outcome::Fail, Limit::Below(limit)) => (">", limit),
        (Outcome::Fail, Limit::AtLeast(limit)) => ("<", limit),
        (Outcome::Pass | Outcome::Unmeasured, _) => return String::new(),
    };
    match needed.metric {
        Metric::Throughput => format!(
            "{} {sign} {} MB/s",
            three_digits(value / 1e6),
            three_digits(limit / 1e6)
        ),
        Metric::Iops => format!("{} {sign} {}/s", three_digits(value), three_digits(limit)),
        Metric::LatencyP99 | Metric::LatencyMean => {
            let of = if needed.metric == Metric::LatencyP99 {
                percentile
            } else {
                "mean"
            };
            format!(
                "{of} {} {sign} {}",
                show_duration(value as u64),
                show_duration(limit as u64)
            )
        }
    }
}

/// The figure, and its range where that is worth telling.
pub(super) fn measured_words(figure: &Uncertain, needed: &Requirement) -> String {
    let show = |value| match needed.metric {
        // Both units of both ends would not be read.
        Metric::Throughput => format!("{} MB/s", rate_digits(value / 1e6)),
        metric => value_words(value, metric),
    };
    let (low, high) = (show(figure.low), show(figure.high));
    let value = value_words(figure.value, needed.metric);
    let metric = metric_words(needed);
    if figure.assumed {
        format!(
            "{metric} {value} (one trial; {} either way is assumed)",
            percent(NOISE)
        )
    } else if low == high {
        format!("{metric} {value}")
    } else {
        format!("{metric} {value}, from {low} to {high}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missed_says_by_how_much_and_what_is_met_nothing() {
        let needed = |metric, limit| Requirement {
            metric,
            limit,
            ..crate::uses()[0].requirements[0]
        };
        let rate = needed(Metric::Throughput, Limit::AtLeast(262e6));
        assert_eq!(in_short(86e6, "p99", Outcome::Fail, &rate), "86 < 262 MB/s");
        assert_eq!(in_short(86e6, "p99", Outcome::Pass, &rate), "");
        let p99 = needed(Metric::LatencyP99, Limit::Below(10e6));
        assert_eq!(
            in_short(1.83e7, "p99", Outcome::Fail, &p99),
            "p99 18.3 ms > 10 ms"
        );
        assert_eq!(
            in_short(9.8e6, "p99", Outcome::Close, &p99),
            "p99 9.8 ms ~ 10 ms"
        );
        let syncs = needed(Metric::Iops, Limit::AtLeast(50.0));
        assert_eq!(in_short(8.94, "p99", Outcome::Fail, &syncs), "8.94 < 50/s");
    }
}
