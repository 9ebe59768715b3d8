//! Metrics, read by the parser of Prometheus's own client for Python, and by one here that knows
//! the grammar.

use super::detailed;
use crate::fixtures;
use diskfacts_record::Run;
use diskfacts_report::export::openmetrics::openmetrics;
use diskfacts_testkit::{Missing, or_skip, require_tool};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A name, its labels and its value.
pub(super) type Sample = (String, BTreeMap<String, String>, f64);

/// Reads the samples by the grammar of `OpenMetrics` 1.0.
pub(super) fn samples(text: &str) -> Vec<Sample> {
    let body = text.strip_suffix("# EOF\n").expect("it ends with its end");
    let lines = body.lines().filter(|line| !line.starts_with('#'));
    lines.map(sample).collect()
}

fn sample(line: &str) -> Sample {
    let (name, rest) = line.split_once('{').unwrap_or_else(|| panic!("{line}"));
    assert!(
        name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'),
        "{line}"
    );
    let mut labels = BTreeMap::new();
    let mut rest = rest;
    loop {
        let (label, behind) = rest.split_once("=\"").unwrap_or_else(|| panic!("{line}"));
        assert!(
            label.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'),
            "{line}"
        );
        let mut value = String::new();
        let mut chars = behind.chars();
        loop {
            match chars.next().unwrap_or_else(|| panic!("{line}")) {
                '"' => break,
                '\\' => value.push(match chars.next() {
                    Some('n') => '\n',
                    Some(c @ ('"' | '\\')) => c,
                    other => panic!("\\{other:?} in {line}"),
                }),
                c => value.push(c),
            }
        }
        assert!(labels.insert(label.to_owned(), value).is_none(), "{line}");
        rest = chars.as_str();
        if let Some(behind) = rest.strip_prefix("} ") {
            let value = behind.parse().unwrap_or_else(|_| panic!("{line}"));
            return (name.to_owned(), labels, value);
        }
        rest = rest.strip_prefix(',').unwrap_or_else(|| panic!("{line}"));
    }
}

fn of<'a>(samples: &'a [Sample], name: &str) -> Vec<&'a Sample> {
    samples.iter().filter(|(of, ..)| of == name).collect()
}

/// A value that is a whole number.
fn whole(value: f64) -> u64 {
    assert!(value.fract() == 0.0 && value >= 0.0, "{value}");
    value as u64
}

#[test]
fn the_figures_are_those_of_the_run_in_base_units() {
    let run = fixtures::healthy();
    let samples = samples(&openmetrics(std::slice::from_ref(&run)));
    let rates = of(&samples, "diskfacts_stage_operations_per_second");
    assert_eq!(rates.len(), run.figures.len());
    for ((_, labels, value), figures) in rates.iter().zip(&run.figures) {
        assert_eq!(labels["stage"], figures.stage);
        assert_eq!(
            (labels["host"].as_str(), labels["plan"].as_str()),
            ("web1", "survey")
        );
        assert_eq!(value.to_bits(), figures.iops.median.to_bits());
    }
    let p99 = of(&samples, "diskfacts_stage_latency_percentile_seconds");
    let p99: Vec<_> = p99
        .iter()
        .filter(|(_, labels, _)| labels["percentile"] == "99")
        .collect();
    let known = run
        .figures
        .iter()
        .filter_map(|figures| figures.latency_ns.p99);
    let known: Vec<f64> = known.map(|ns| ns as f64 / 1e9).collect();
    assert_eq!(
        p99.iter().map(|(_, _, value)| *value).collect::<Vec<_>>(),
        known
    );
    let began = of(&samples, "diskfacts_run_start_timestamp_seconds");
    assert_eq!(whole(began[0].2), 1_795_228_910);
}

#[test]
fn the_buckets_of_a_latency_count_what_the_histogram_does() {
    let run = detailed();
    let samples = samples(&openmetrics(std::slice::from_ref(&run)));
    let trial = &run.trials[0];
    let mut histogram = trial.histograms.read.unpack();
    trial.histograms.write.add_to(&mut histogram);
    let buckets = of(&samples, "diskfacts_stage_latency_seconds_bucket");
    assert_eq!(buckets.len(), 28);
    let mut before = 0.0;
    for (_, labels, below) in &buckets {
        let limit_s: f64 = labels["le"].parse().unwrap_or(f64::INFINITY);
        let counted: u64 = histogram
            .buckets()
            .filter(|(_, to_ns, _)| *to_ns as f64 <= (limit_s * 1e9).round())
            .map(|(_, _, count)| count)
            .sum();
        assert_eq!(whole(*below), counted, "{labels:?}");
        assert!(*below >= before);
        before = *below;
    }
    assert_eq!(whole(before), 6);
    assert_eq!(
        whole(of(&samples, "diskfacts_stage_latency_seconds_count")[0].2),
        6
    );
    let sum = of(&samples, "diskfacts_stage_latency_seconds_sum")[0].2;
    assert!((sum - histogram.sum() as f64 / 1e9).abs() < 1e-12);
}

#[test]
fn of_runs_with_the_same_host_target_and_plan_the_last_is_shown() {
    let older = fixtures::healthy();
    let mut newer = fixtures::healthy();
    newer.run.started = "2026-11-22T00:00:00Z".to_owned();
    newer.figures[0].iops.median = 7.0;
    let mut elsewhere = fixtures::healthy();
    elsewhere.machine.host = Some("web2".to_owned());
    for runs in [
        [older.clone(), newer.clone(), elsewhere.clone()],
        [newer, elsewhere, older],
    ] {
        let samples = samples(&openmetrics(&runs));
        let rates = of(&samples, "diskfacts_stage_operations_per_second");
        assert_eq!(rates.len(), 2 * runs[0].figures.len());
        assert_eq!(whole(rates[0].2), 7);
        let mut series: Vec<_> = samples
            .iter()
            .map(|(name, labels, _)| (name, labels))
            .collect();
        let all = series.len();
        series.sort();
        series.dedup();
        assert_eq!(series.len(), all, "no series comes twice");
    }
}

#[test]
fn without_runs_there_is_only_the_end() {
    assert_eq!(openmetrics(&[]), "# EOF\n");
}

/// A Python that has Prometheus's client.
fn python() -> Result<PathBuf, Missing> {
    let first = require_tool("python3", "python3-prometheus-client")?;
    // One that somebody installed for himself may stand before Debian's, which has the package.
    let has_client = |python: &PathBuf| {
        let mut asked = Command::new(python);
        asked
            .args(["-c", "import prometheus_client"])
            .stderr(Stdio::null());
        asked.status().is_ok_and(|status| status.success())
    };
    let mut pythons = [first, PathBuf::from("/usr/bin/python3")].into_iter();
    pythons.find(has_client).ok_or_else(|| {
        Missing::new(
            "prometheus_client of Python",
            "apt-get install python3-prometheus-client",
        )
    })
}

/// Reads it by both of their parsers, and says which families there are, and their samples.
pub(super) fn read_by_prometheus(text: &str) -> Result<Vec<String>, Missing> {
    const READS: &str = "
import sys
from prometheus_client import openmetrics, parser
import prometheus_client.openmetrics.parser as om
text = sys.stdin.read()
old = {f.name: len(f.samples) for f in parser.text_string_to_metric_families(text)}
for f in om.text_string_to_metric_families(text):
    print(f.name, f.type, f.unit, len(f.samples))
    assert old[f.name] == len(f.samples), f.name
";
    let python = python()?;
    let mut child = Command::new(python)
        .args(["-c", READS])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it was just there");
    let mut input = child.stdin.take().expect("it is piped");
    input.write_all(text.as_bytes()).expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{text}");
    let read = String::from_utf8(output.stdout).expect("names");
    Ok(read.lines().map(str::to_owned).collect())
}

#[test]
fn prometheus_reads_them_in_both_of_its_formats() {
    let each = fixtures::all().into_iter().map(|(name, mut run)| {
        run.target.path = name.to_owned();
        run
    });
    let runs: Vec<Run> = each.collect();
    let read = or_skip!(read_by_prometheus(&openmetrics(&runs)));
    let latency = read
        .iter()
        .find(|line| line.starts_with("diskfacts_stage_latency_seconds "));
    assert_eq!(
        latency.map(String::as_str),
        Some("diskfacts_stage_latency_seconds histogram seconds 30")
    );
    assert!(
        read.iter()
            .any(|line| line.starts_with("diskfacts_use_pass gauge")),
        "{read:?}"
    );
}
