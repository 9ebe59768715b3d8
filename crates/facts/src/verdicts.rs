//! How the target does for known uses.
//!
//! A requirement passes or fails when the figure and its uncertainty lie on one
//! side of the threshold, and is close when the uncertainty reaches it. The
//! uncertainty of a rate is the range of its trials, of a percentile its
//! interval over all operations and the range of the trials' own percentiles.
//! With one trial neither is known, and a tenth of the figure is taken for it,
//! the range from which on trials are called noisy.
//!
//! A figure that is not one of the disk (memory or a write cache served it, operations
//! failed, or nobody knows what lies under the target) decides nothing: unmeasured, with
//! what was seen. One that something beside the disk held back is no failure of the disk,
//! unless it had failed without that too; and one of trials that are too short is no success:
//! short trials make a disk look better than it is, by its caches, and not worse.

mod held_back;
mod words;

use crate::context::Context;
use crate::layers;
use crate::layers::SERVED_FROM_CACHE;
use crate::rules;
use crate::spread::NOISE;
use crate::stage_facts::{StageFacts, cache_burst};
use crate::stages::Stage;
use crate::stats;
use crate::uses::{Limit, Metric, Requirement, Use, uses};
use crate::words::percent;
use diskfacts_plan::CacheMode;
use diskfacts_plan::units::show_throughput;
use diskfacts_record::{Finding, Outcome, Run, Severity, StageFigures, TargetKind, Verdict};
use words::{in_short, measured_words, metric_words, needed_words, value_words};

/// The verdicts on all requirements of all uses, in the order of [`uses()`]; a
/// use passes when all of its verdicts do. A stage that was measured under
/// several settings has one verdict for each. None of an imported run: what its
/// stages did is not known well enough to be held against a use.
pub fn verdicts(run: &Run) -> Vec<Verdict> {
    let context = Context::new(run);
    of(&context, &crate::findings::of(&context))
}

/// The same, with what was found in the run.
pub(crate) fn of(context: &Context<'_>, findings: &[Finding]) -> Vec<Verdict> {
    let run = context.run;
    // A copy is a piece of work, and not a measurement made to judge a disk by.
    let mut stages = run.plan.stages.iter();
    let is_copy = stages.any(|stage| stage.workload.copy.is_some());
    if is_copy || run.target.kind == TargetKind::Imported {
        return Vec::new();
    }
    uses()
        .iter()
        .flat_map(|usage| usage.requirements.iter().map(move |needed| (usage, needed)))
        .flat_map(|(usage, needed)| of_requirement(context, findings, usage, needed))
        .collect()
}

fn of_requirement(
    context: &Context<'_>,
    findings: &[Finding],
    usage: &Use,
    needed: &Requirement,
) -> Vec<Verdict> {
    let verdict = |judged: Judged, stage: String| Verdict {
        profile: usage.name.to_owned(),
        outcome: judged.outcome,
        needed: needed_words(needed),
        measured: judged.measured,
        in_short: judged.in_short,
        stage: Some(stage),
        source: format!("{}, {}", needed.source.title, needed.source.url),
    };
    let measured: Vec<Verdict> = context
        .facts()
        .filter(|facts| facts.stage.name == needed.stage && (needed.suits)(facts.workload()))
        .map(|facts| verdict(judge(&facts, findings, needed), facts.stage.label()))
        .collect();
    if measured.is_empty() {
        return vec![verdict(Judged::unknown(None), needed.stage.to_owned())];
    }
    measured
}

/// What a stage comes to for one requirement.
struct Judged {
    outcome: Outcome,
    measured: Option<String>,
    in_short: String,
}

impl Judged {
    /// Nobody knows; `measured` says why, of what was measured.
    fn unknown(measured: Option<String>) -> Self {
        Self {
            outcome: Outcome::Unmeasured,
            measured,
            in_short: String::new(),
        }
    }
}

fn judge(facts: &StageFacts<'_>, findings: &[Finding], needed: &Requirement) -> Judged {
    let figures = facts.figures;
    let measured = Uncertain::of(facts.stage, figures, needed.metric);
    let figure = measured.or_else(|| Uncertain::at_least(facts.stage, figures, needed));
    let Some(figure) = figure else {
        return Judged::unknown(None);
    };
    let words = match measured {
        Some(figure) => measured_words(&figure, needed),
        None => format!(
            "{} at least {}, the median; too few operations for more",
            metric_words(needed),
            value_words(figure.low, needed.metric)
        ),
    };
    if figures.errors > 0 {
        let words = format!("{words}, but {} operations failed", figures.errors);
        return Judged::unknown(Some(words));
    }
    let cached = facts.memory_share();
    let meant = facts.workload().cache == CacheMode::Warm;
    if cached > SERVED_FROM_CACHE && !meant {
        let words = format!("{words}, but memory served {} of it", percent(cached));
        return Judged::unknown(Some(words));
    }
    if let Some((read, rate)) = cache_burst(facts) {
        let words = format!(
            "{words}, but a write cache took it: {} reads {}",
            read.stage.name,
            show_throughput(rate)
        );
        return Judged::unknown(Some(words));
    }
    if layers::is_unknown(&facts.run().stack) {
        let words = format!("{words}, but what lies under the target is not known");
        return Judged::unknown(Some(words));
    }
    let outcome = figure.against(needed.limit);
    let percentile = if measured.is_some() { "p99" } else { "p50" };
    let judged = |words| Judged {
        outcome,
        measured: Some(words),
        in_short: in_short(figure.value, percentile, outcome, needed),
    };
    let doubts: &[(&str, &str)] = match outcome {
        Outcome::Pass => FLATTERING,
        Outcome::Fail => HINDERING,
        // Either way it is no answer.
        Outcome::Close | Outcome::Unmeasured => &[],
    };
    let found = |rule: &str| {
        findings.iter().any(|finding| {
            finding.rule == rule
                && finding.severity >= Severity::Warning
                && finding.stages.iter().any(|name| name == facts.stage.name)
                && rules::sees(rule, facts)
        })
    };
    let doubts: Vec<&(&str, &str)> = doubts.iter().filter(|(rule, _)| found(rule)).collect();
    let Some((_, doubt)) = doubts.first() else {
        return judged(words);
    };
    let rules = doubts.iter().map(|(rule, _)| *rule);
    let without = (outcome == Outcome::Fail)
        .then(|| held_back::at_best(facts, &figure, rules, needed))
        .flatten();
    match without {
        Some(best) if best.against(needed.limit) == Outcome::Fail => {
            let best = value_words(best.best(needed.limit), needed.metric);
            judged(format!(
                "{words}; {doubt}, and without that it is {best} at best"
            ))
        }
        _ => Judged::unknown(Some(format!("{words}, but {doubt}"))),
    }
}

/// Warnings with which a good figure says little of the disk, each with what it says.
const FLATTERING: &[(&str, &str)] = &[
    (
        "too-short",
        "its trials are too short to stand for more than themselves",
    ),
    (
        "sync-without-flush",
        "its syncs did not flush the disk's write cache",
    ),
    (
        "flush-not-to-medium",
        "its syncs were acknowledged before the medium had the data",
    ),
];

/// Warnings with which a bad figure is not the disk's.
const HINDERING: &[(&str, &str)] = &[
    ("cpu-bound", "a processor was the limit, not the disk"),
    ("cpu-pressure", "it waited for a processor meanwhile"),
    ("cpu-stolen", "the hypervisor gave its processors to others"),
    ("other-io", "others used the disk meanwhile"),
];

/// A figure and how far it may be off.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Uncertain {
    value: f64,
    low: f64,
    high: f64,
    /// The range is assumed, not measured.
    assumed: bool,
}

impl Uncertain {
    /// `None` when it was not measured, or the number of samples does not
    /// support it.
    fn of(stage: &Stage<'_>, figures: &StageFigures, metric: Metric) -> Option<Self> {
        let trials = &stage.trials;
        let rate = |figure: &diskfacts_record::Figure| {
            (figure.trials > 0)
                .then(|| Self::within(figure.median, &[figure.min, figure.max], trials.len()))
        };
        match metric {
            Metric::Throughput => rate(&figures.throughput_bytes_per_s),
            Metric::Iops => rate(&figures.iops),
            Metric::LatencyMean => {
                let means: Vec<f64> = trials.iter().filter_map(|t| t.latency_ns.mean).collect();
                Some(Self::within(figures.latency_ns.mean?, &means, trials.len()))
            }
            Metric::LatencyP99 => {
                let value = figures.latency_ns.p99? as f64;
                let interval = figures.latency_ci95_ns.p99.into_iter().flatten();
                let others: Vec<f64> = interval.map(|ns| ns as f64).collect();
                Some(Self::within(value, &others, trials.len()))
            }
        }
        .filter(|figure| figure.value.is_finite() && figure.value > 0.0)
    }

    /// Of a percentile that too few operations support the median, where that is too long
    /// already: no higher percentile is shorter.
    fn at_least(stage: &Stage<'_>, figures: &StageFigures, needed: &Requirement) -> Option<Self> {
        let Limit::Below(most) = needed.limit else {
            return None;
        };
        let is_percentile = matches!(needed.metric, Metric::LatencyP99);
        let median = figures.latency_ns.p50.filter(|_| is_percentile)? as f64;
        let interval = figures.latency_ci95_ns.p50.into_iter().flatten();
        let others: Vec<f64> = interval.map(|ns| ns as f64).collect();
        let figure = Self::within(median, &others, stage.trials.len());
        (figure.low >= most).then_some(figure)
    }

    /// The range of `others` and the value itself; a tenth of it either way,
    /// which is assumed, when there was one trial.
    fn within(value: f64, others: &[f64], trials: usize) -> Self {
        let mut all = stats::finite_sorted(others);
        let assumed = trials < 2;
        if assumed {
            all.extend([value * (1.0 - NOISE), value * (1.0 + NOISE)]);
        }
        Self {
            value,
            low: all.iter().copied().fold(value, f64::min),
            high: all.iter().copied().fold(value, f64::max),
            assumed,
        }
    }

    /// The end of the range that is nearest to what is needed.
    fn best(&self, limit: Limit) -> f64 {
        match limit {
            Limit::Below(_) => self.low,
            Limit::AtLeast(_) => self.high,
        }
    }

    fn against(&self, limit: Limit) -> Outcome {
        let (good, bad) = match limit {
            Limit::Below(limit) => (self.high < limit, self.low >= limit),
            Limit::AtLeast(limit) => (self.low >= limit, self.high < limit),
        };
        match (good, bad) {
            (true, _) => Outcome::Pass,
            (_, true) => Outcome::Fail,
            _ => Outcome::Close,
        }
    }
}

#[cfg(test)]
mod hindering_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each, set_latencies};
    use diskfacts_record::PackedHistograms;

    pub(super) fn of<'a>(verdicts: &'a [Verdict], usage: &str) -> Vec<&'a Verdict> {
        verdicts.iter().filter(|v| v.profile == usage).collect()
    }

    pub(super) fn outcomes(run: &Run, usage: &str) -> Vec<Outcome> {
        of(&verdicts(run), usage)
            .iter()
            .map(|v| v.outcome)
            .collect()
    }

    #[test]
    fn a_fast_disk_passes_for_all_and_every_verdict_names_its_source() {
        let run = testing::healthy();
        for verdict in verdicts(&run) {
            assert_eq!(verdict.outcome, Outcome::Pass, "{verdict:?}");
            assert!(verdict.source.contains("https://"), "{verdict:?}");
            assert!(verdict.stage.is_some());
        }
        let all = verdicts(&run);
        let etcd = of(&all, "etcd");
        assert_eq!(etcd[0].needed, "p99 of write + fdatasync below 10 ms");
        let measured = etcd[0].measured.as_deref().unwrap();
        assert_eq!(measured, "p99 of write + fdatasync 110 us");
        let kafka = of(&all, "kafka")[0].measured.as_deref().unwrap();
        assert_eq!(
            kafka,
            "sequential write 2097 MB/s, from 2076 MB/s to 2118 MB/s"
        );
        assert_eq!(etcd[1].needed, "write + fdatasync per second at least 50");
        let backup = of(&all, "backup");
        assert_eq!(backup[0].needed, "sequential write at least 194.4 MB/s");
    }

    #[test]
    fn a_percentile_of_few_operations_is_no_shorter_than_their_median() {
        let outcome = |ns: u64| {
            let mut run = testing::healthy();
            each(&mut run, "log-write", |t| {
                set_latencies(t, &[(ns, 4)]);
            });
            let all = verdicts(&run);
            let of_p99 = of(&all, "etcd")[0].clone();
            (of_p99.outcome, of_p99.measured, of_p99.in_short)
        };
        let (long, words, short) = outcome(20_000_000);
        assert_eq!(short, "p50 20 ms > 10 ms");
        assert_eq!(long, Outcome::Fail);
        let words = words.expect("it says so");
        assert!(words.contains("at least 20 ms, the median"), "{words}");
        assert_eq!(
            outcome(5_000_000),
            (Outcome::Unmeasured, None, String::new())
        );
    }

    #[test]
    fn latency_far_from_the_threshold_decides_and_near_it_is_close() {
        let mut run = testing::healthy();
        each(&mut run, "log-write", |t| {
            set_latencies(t, &[(30_000_000, 1000)]);
        });
        assert_eq!(outcomes(&run, "etcd"), [Outcome::Fail, Outcome::Pass]);
        assert_eq!(outcomes(&run, "postgres-wal"), [Outcome::Fail]);
        // One trial of five beyond it.
        each(&mut run, "log-write", |t| {
            let slow = if t.number == 3 { 12_000_000 } else { 6_000_000 };
            set_latencies(t, &[(1_000_000, 985), (slow, 15)]);
        });
        assert_eq!(outcomes(&run, "etcd"), [Outcome::Close, Outcome::Pass]);
    }

    #[test]
    fn the_interval_of_a_percentile_alone_can_reach_the_threshold() {
        let mut run = testing::healthy();
        run.trials.retain(|t| t.number <= 2);
        // In each trial 0.9 % are slow: p99 is fast, its interval is not.
        each(&mut run, "log-write", |t| {
            set_latencies(t, &[(1_000_000, 991), (15_000_000, 9)]);
        });
        let all = verdicts(&run);
        let etcd = of(&all, "etcd")[0];
        assert_eq!(etcd.outcome, Outcome::Close, "{etcd:?}");
    }

    #[test]
    fn throughput_is_close_when_a_trial_reaches_the_threshold() {
        let mut run = testing::healthy();
        let needed = 250.0 * f64::from(1 << 20);
        for (factors, outcome) in [
            ([1.1, 1.2, 1.3], Outcome::Pass),
            ([0.9, 1.2, 1.3], Outcome::Close),
            ([0.9, 0.8, 0.7], Outcome::Fail),
        ] {
            each(&mut run, "sequential-write", |t| {
                t.throughput_bytes_per_s = needed * factors[t.number as usize % 3];
            });
            assert_eq!(outcomes(&run, "kafka"), [outcome], "{factors:?}");
        }
    }

    #[test]
    fn one_trial_within_a_tenth_of_the_threshold_is_close() {
        let mut run = testing::healthy();
        run.trials.retain(|t| t.number == 1);
        let needed = 250.0 * f64::from(1 << 20);
        for (factor, outcome) in [
            (1.05, Outcome::Close),
            (1.2, Outcome::Pass),
            (0.8, Outcome::Fail),
        ] {
            each(&mut run, "sequential-write", |t| {
                t.throughput_bytes_per_s = needed * factor;
            });
            assert_eq!(outcomes(&run, "kafka"), [outcome], "{factor}");
        }
    }

    #[test]
    fn a_stage_that_was_left_out_is_unmeasured() {
        let mut run = testing::healthy();
        run.trials.retain(|t| !t.workload.operation.writes());
        assert_eq!(outcomes(&run, "etcd"), [Outcome::Unmeasured; 2]);
        assert_eq!(
            outcomes(&run, "video"),
            [Outcome::Unmeasured, Outcome::Pass]
        );
    }

    #[test]
    fn a_percentile_without_samples_or_histograms_is_unmeasured() {
        let mut run = testing::healthy();
        each(&mut run, "log-write", |t| {
            set_latencies(t, &[(1_000_000, 50)]);
        });
        assert_eq!(outcomes(&run, "etcd")[0], Outcome::Unmeasured);
        let mut run = testing::healthy();
        for trial in &mut run.trials {
            trial.histograms = PackedHistograms::default();
        }
        assert_eq!(outcomes(&run, "etcd")[0], Outcome::Unmeasured);
        // The mean adds up without histograms.
        assert_eq!(outcomes(&run, "postgres-wal"), [Outcome::Pass]);
    }

    #[test]
    fn another_stage_of_the_same_name_decides_nothing() {
        let mut run = testing::healthy();
        each(&mut run, "log-write", |t| {
            t.workload.sync = diskfacts_plan::SyncMode::None;
        });
        assert_eq!(outcomes(&run, "etcd")[0], Outcome::Unmeasured);
    }

    #[test]
    fn figures_of_memory_and_of_failing_disks_decide_nothing() {
        let mut run = testing::on(testing::memory_stack());
        let all = verdicts(&run);
        let kafka = of(&all, "kafka")[0];
        assert_eq!(kafka.outcome, Outcome::Unmeasured);
        assert!(
            kafka
                .measured
                .as_ref()
                .unwrap()
                .contains("memory served 100 %"),
            "{kafka:?}"
        );
        run = testing::healthy();
        testing::rotating(&mut run);
        each(&mut run, "sequential-write", |t| {
            t.throughput_bytes_per_s *= 2.0;
        });
        for usage in ["kafka", "video", "backup"] {
            let all = verdicts(&run);
            let written = of(&all, usage)[0];
            assert_eq!(written.outcome, Outcome::Unmeasured, "{written:?}");
            let measured = written.measured.as_deref().unwrap();
            assert!(
                measured.contains("but a write cache took it: sequential-read reads 2097 MB/s"),
                "{measured}"
            );
        }
        run = testing::healthy();
        each(&mut run, "sequential-write", |t| t.errors = 1);
        assert_eq!(outcomes(&run, "kafka"), [Outcome::Unmeasured]);
    }

    #[test]
    fn what_lies_on_nothing_that_is_known_decides_nothing() {
        let mut stack = testing::memory_stack();
        stack.filesystem.as_mut().unwrap().kind = "overlay".into();
        let mut run = testing::on(stack);
        for verdict in verdicts(&run) {
            assert_eq!(verdict.outcome, Outcome::Unmeasured, "{verdict:?}");
            let measured = verdict.measured.as_deref().unwrap();
            assert!(
                measured.ends_with("under the target is not known"),
                "{measured}"
            );
        }
        // A server is known to be one.
        run.stack.filesystem.as_mut().unwrap().kind = "nfs4".into();
        assert_eq!(outcomes(&run, "kafka"), [Outcome::Pass]);
    }

    #[test]
    fn syncs_that_flush_nothing_pass_for_no_log() {
        let mut run = testing::healthy();
        for device in &mut run.stack.devices {
            device.write_cache = Some("write back".into());
        }
        assert_eq!(outcomes(&run, "etcd"), [Outcome::Pass; 2]);
        each(&mut run, "log-write", |trial| {
            for device in &mut trial.evidence.devices {
                device.flushes = Some(0);
            }
        });
        for usage in ["etcd", "postgres-wal"] {
            let all = verdicts(&run);
            let doubted = of(&all, usage)[0];
            assert_eq!(doubted.outcome, Outcome::Unmeasured, "{doubted:?}");
            let measured = doubted.measured.as_deref().unwrap();
            assert!(
                measured.ends_with("but its syncs did not flush the disk's write cache"),
                "{measured}"
            );
        }
    }

    #[test]
    fn what_makes_a_figure_doubtful_are_rules_of_the_table() {
        for (rule, _) in FLATTERING.iter().chain(HINDERING) {
            assert!(
                crate::rules::all().iter().any(|known| known.name == *rule),
                "{rule}"
            );
        }
    }

    #[test]
    fn the_disk_fails_for_nothing_that_held_it_back_and_passes_by_no_short_trial() {
        let mut run = testing::healthy();
        each(&mut run, "log-write", |t| {
            set_latencies(t, &[(30_000_000, 33)]);
            t.ops = 33;
        });
        assert_eq!(outcomes(&run, "postgres-wal"), [Outcome::Fail]);
        each(&mut run, "log-write", |t| {
            t.cpu.wait_ns_per_io = Some(0.7 * t.seconds * 1e9 / t.ops as f64);
        });
        let all = verdicts(&run);
        let held = of(&all, "postgres-wal")[0];
        assert_eq!(held.outcome, Outcome::Unmeasured, "{held:?}");
        let measured = held.measured.as_deref().unwrap();
        assert!(
            measured.ends_with("waited for a processor meanwhile"),
            "{measured}"
        );
        // It had missed 50 a second without that too.
        each(&mut run, "log-write", |t| {
            set_latencies(t, &[(90_000_000, 10)]);
            t.iops = 10.0;
            t.cpu.wait_ns_per_io = Some(0.7 * t.seconds * 1e9 / t.ops as f64);
            t.evidence.pressure.as_mut().unwrap().cpu_some_ns = (t.seconds * 0.71e9) as u64;
        });
        let all = verdicts(&run);
        let failed = of(&all, "etcd")[1];
        assert_eq!(failed.outcome, Outcome::Fail, "{failed:?}");
        let measured = failed.measured.as_deref().unwrap();
        assert!(
            measured.ends_with("meanwhile, and without that it is 34.5 at best"),
            "{measured}"
        );
        // What is good in spite of it is good.
        assert_eq!(outcomes(&run, "kafka"), [Outcome::Pass]);
        each(&mut run, "log-write", |t| {
            set_latencies(t, &[(1_000_000, 1000)]);
        });
        assert_eq!(outcomes(&run, "postgres-wal"), [Outcome::Pass]);
        each(&mut run, "log-write", |t| t.seconds = 0.01);
        assert_eq!(outcomes(&run, "postgres-wal"), [Outcome::Unmeasured]);
    }
}
