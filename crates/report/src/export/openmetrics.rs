//! Metrics in the text of `OpenMetrics` 1.0, which is also that of Prometheus (0.0.4): only gauges
//! and histograms, which both know, and no time stamps, which the textfile collector of the node
//! exporter refuses.

use super::{clean, exact_seconds, stages};
use diskfacts_record::{Outcome, Run, Severity, StageFigures, Status};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Upper limits of the buckets of latency: 2^k - 1 ns, from a microsecond to a minute. Buckets
/// of our histograms end there, so that the counts are exact, and they are the same for every
/// run, so that they add up.
fn limits_ns() -> impl Iterator<Item = u64> {
    (10..=36).map(|power| (1 << power) - 1)
}

/// The figures of runs. Of several with the same host, target and plan the one that began last
/// is shown.
pub fn openmetrics(runs: &[Run]) -> String {
    let mut newest: BTreeMap<String, &Run> = BTreeMap::new();
    for run in runs {
        let known = newest.entry(labels_of(run).0).or_insert(run);
        if known.run.started < run.run.started {
            *known = run;
        }
    }
    let runs: Vec<Shown<'_>> = newest
        .into_iter()
        .map(|(labels, run)| Shown {
            run,
            labels: Labels(labels),
        })
        .collect();
    let mut out = String::new();
    run_metrics(&mut out, &runs);
    stage_metrics(&mut out, &runs);
    latencies(&mut out, &runs);
    use_metrics(&mut out, &runs);
    out.push_str("# EOF\n");
    out
}

/// A run with the labels that name it.
struct Shown<'a> {
    run: &'a Run,
    labels: Labels,
}

fn labels_of(run: &Run) -> Labels {
    Labels(String::new())
        .with("host", run.machine.host.as_deref().unwrap_or_default())
        .with("target", &run.target.path)
        .with("plan", &run.plan.name)
}

/// `name="value"`, with commas between.
#[derive(Clone)]
struct Labels(String);

impl Labels {
    fn with(&self, name: &str, value: &str) -> Self {
        let mut labels = self.0.clone();
        if !labels.is_empty() {
            labels.push(',');
        }
        // What is clean has no line end.
        let value = clean(value).replace('\\', "\\\\").replace('"', "\\\"");
        // Writing to a String cannot fail.
        let _ = write!(labels, "{name}=\"{value}\"");
        Self(labels)
    }
}

fn family(out: &mut String, name: &str, kind: &str, unit: Option<&str>, help: &str) {
    let _ = writeln!(out, "# TYPE {name} {kind}");
    if let Some(unit) = unit {
        let _ = writeln!(out, "# UNIT {name} {unit}");
    }
    let _ = writeln!(out, "# HELP {name} {help}");
}

/// Gauges of one name; nothing at all where none has a value.
fn gauges(
    out: &mut String,
    (name, unit, help): (&str, Option<&str>, &str),
    values: impl Iterator<Item = (Labels, Option<f64>)>,
) {
    let known = values.filter_map(|(labels, value)| {
        let value = value.filter(|value| value.is_finite());
        Some((labels, value?))
    });
    for (number, (Labels(labels), value)) in known.enumerate() {
        if number == 0 {
            family(out, name, "gauge", unit, help);
        }
        let _ = writeln!(out, "{name}{{{labels}}} {value}");
    }
}

fn run_metrics(out: &mut String, runs: &[Shown<'_>]) {
    gauges(
        out,
        (
            "diskfacts_run_start_timestamp_seconds",
            Some("seconds"),
            "When the run began, seconds since 1970.",
        ),
        runs.iter().map(|shown| {
            let began = shown.run.run.started.parse::<Timestamp>().ok();
            let seconds = began.map(|began| began.as_millisecond() as f64 / 1e3);
            (shown.labels.clone(), seconds)
        }),
    );
    gauges(
        out,
        (
            "diskfacts_run_complete",
            None,
            "Whether all of the run was done: 1, or 0.",
        ),
        runs.iter().map(|shown| {
            let is_complete = shown.run.run.status == Status::Complete;
            (shown.labels.clone(), Some(f64::from(u8::from(is_complete))))
        }),
    );
    let severities = [
        ("error", Severity::Error),
        ("warning", Severity::Warning),
        ("note", Severity::Note),
    ];
    gauges(
        out,
        (
            "diskfacts_run_findings",
            None,
            "Findings by severity; an error says that figures are wrong or data is at risk.",
        ),
        runs.iter().flat_map(|shown| {
            severities.iter().map(|(name, severity)| {
                let findings = shown.run.findings.iter();
                let number = findings
                    .filter(|finding| finding.severity == *severity)
                    .count();
                (shown.labels.with("severity", name), Some(number as f64))
            })
        }),
    );
}

type OfFigures = fn(&StageFigures) -> Option<f64>;

/// Each figure of a stage that is one number.
const STAGE_GAUGES: &[(&str, Option<&str>, &str, OfFigures)] = &[
    (
        "diskfacts_stage_throughput_bytes_per_second",
        Some("bytes_per_second"),
        "Median of the trials.",
        |figures| Some(figures.throughput_bytes_per_s.median),
    ),
    (
        "diskfacts_stage_throughput_ci95_low_bytes_per_second",
        Some("bytes_per_second"),
        "Low end of the 95 % interval of the median.",
        |figures| figures.throughput_bytes_per_s.ci95.map(|[low, _]| low),
    ),
    (
        "diskfacts_stage_throughput_ci95_high_bytes_per_second",
        Some("bytes_per_second"),
        "High end of the 95 % interval of the median.",
        |figures| figures.throughput_bytes_per_s.ci95.map(|[_, high]| high),
    ),
    (
        "diskfacts_stage_operations_per_second",
        Some("operations_per_second"),
        "Median of the trials.",
        |figures| Some(figures.iops.median),
    ),
    (
        "diskfacts_stage_ci95_low_operations_per_second",
        Some("operations_per_second"),
        "Low end of the 95 % interval of the median.",
        |figures| figures.iops.ci95.map(|[low, _]| low),
    ),
    (
        "diskfacts_stage_ci95_high_operations_per_second",
        Some("operations_per_second"),
        "High end of the 95 % interval of the median.",
        |figures| figures.iops.ci95.map(|[_, high]| high),
    ),
    (
        "diskfacts_stage_trials",
        None,
        "Trials that are in the figures.",
        |figures| Some(f64::from(figures.iops.trials)),
    ),
    (
        "diskfacts_stage_errors",
        None,
        "Operations that failed.",
        |figures| Some(figures.errors as f64),
    ),
    (
        "diskfacts_stage_page_cache_ratio",
        Some("ratio"),
        "Share of the bytes that memory served.",
        |figures| Some(figures.layers.page_cache),
    ),
    (
        "diskfacts_stage_device_ratio",
        Some("ratio"),
        "Share of the bytes that reached the device.",
        |figures| figures.layers.device,
    ),
];

/// The labels of a stage: its settings in one, because each run has others.
fn of_stage(shown: &Shown<'_>, stage: &str, settings: &BTreeMap<String, String>) -> Labels {
    let settings: Vec<String> = settings.iter().map(|(k, v)| format!("{k}={v}")).collect();
    shown
        .labels
        .with("stage", stage)
        .with("settings", &settings.join(","))
}

/// The figures of all stages, each with its labels. Two that only differ in what their settings
/// would be called are one, and the first is shown.
fn all_figures<'a>(runs: &'a [Shown<'a>]) -> Vec<(Labels, &'a StageFigures)> {
    let mut seen = BTreeSet::new();
    let figures = runs.iter().flat_map(|shown| {
        let of_run = shown.run.figures.iter();
        of_run.map(move |figures| (of_stage(shown, &figures.stage, &figures.settings), figures))
    });
    figures
        .filter(|(labels, _)| seen.insert(labels.0.clone()))
        .collect()
}

fn stage_metrics(out: &mut String, runs: &[Shown<'_>]) {
    let figures = all_figures(runs);
    for (name, unit, help, value) in STAGE_GAUGES {
        let values = figures.iter();
        let values = values.map(|(labels, figures)| (labels.clone(), value(figures)));
        gauges(out, (name, *unit, help), values);
    }
    gauges(
        out,
        (
            "diskfacts_stage_latency_percentile_seconds",
            Some("seconds"),
            "Percentiles of the latency that the number of operations supports.",
        ),
        figures.iter().flat_map(|(labels, figures)| {
            let latency = &figures.latency_ns;
            let percentiles = [
                ("50", latency.p50),
                ("90", latency.p90),
                ("99", latency.p99),
                ("99.9", latency.p99_9),
                ("99.99", latency.p99_99),
                ("100", latency.max),
            ];
            percentiles.map(|(percentile, ns)| {
                let seconds = ns.map(|ns| ns as f64 / 1e9);
                (labels.with("percentile", percentile), seconds)
            })
        }),
    );
}

fn latencies(out: &mut String, runs: &[Shown<'_>]) {
    const NAME: &str = "diskfacts_stage_latency_seconds";
    let mut seen = BTreeSet::new();
    for shown in runs {
        for stage in stages(shown.run) {
            let Labels(labels) = of_stage(shown, stage.stage, stage.settings);
            let histogram = stage.histogram();
            if histogram.is_empty() || !seen.insert(labels.clone()) {
                continue;
            }
            if seen.len() == 1 {
                family(
                    out,
                    NAME,
                    "histogram",
                    Some("seconds"),
                    "Latency of the operations.",
                );
            }
            let mut buckets = histogram.buckets().peekable();
            let mut below = 0;
            for limit_ns in limits_ns() {
                while let Some((_, _, count)) = buckets.next_if(|(_, to_ns, _)| *to_ns <= limit_ns)
                {
                    below += count;
                }
                let limit = exact_seconds(limit_ns);
                let _ = writeln!(out, "{NAME}_bucket{{{labels},le=\"{limit}\"}} {below}");
            }
            let count = histogram.count();
            let sum = histogram.sum() as f64 / 1e9;
            let _ = writeln!(out, "{NAME}_bucket{{{labels},le=\"+Inf\"}} {count}");
            let _ = writeln!(out, "{NAME}_count{{{labels}}} {count}");
            let _ = writeln!(out, "{NAME}_sum{{{labels}}} {sum}");
        }
    }
}

fn use_metrics(out: &mut String, runs: &[Shown<'_>]) {
    let mut seen = BTreeSet::new();
    let verdicts = runs.iter().flat_map(|shown| {
        shown.run.verdicts.iter().map(|verdict| {
            let labels = shown.labels.with("use", &verdict.profile);
            let labels = labels.with("needed", &verdict.needed);
            let passes = match verdict.outcome {
                Outcome::Pass => Some(1.0),
                Outcome::Fail => Some(0.0),
                Outcome::Close | Outcome::Unmeasured => None,
            };
            (labels, passes)
        })
    });
    let verdicts = verdicts.filter(|(labels, _)| seen.insert(labels.0.clone()));
    gauges(
        out,
        (
            "diskfacts_use_pass",
            None,
            "Whether a requirement of a use is met: 1, or 0; absent where that is not sure.",
        ),
        verdicts,
    );
}
