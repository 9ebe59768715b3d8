//! What is loaded is what was stored.

use crate::sample;
use diskfacts_record::evidence::RequestKind;
use diskfacts_record::trial::Histograms;
use diskfacts_record::{
    Burst, BurstOf, BurstRequest, Bursts, CoarseHistogram, Confidence, Figure, Finding, Histogram,
    LatencyOverTime, Layers, Outcome, Run, Severity, StageFigures, Status, Trial, Verdict,
};
use diskfacts_store::{Error, Store};
use proptest::prelude::*;
use std::path::PathBuf;

fn new_store() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    (folder, path)
}

fn any_float() -> impl Strategy<Value = f64> {
    use prop::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO
}

fn any_histogram() -> impl Strategy<Value = Histogram> {
    prop::collection::vec(any::<u64>(), 0..40).prop_map(|values| {
        let mut histogram = Histogram::new();
        for value in values {
            histogram.record(value);
        }
        histogram
    })
}

prop_compose! {
    fn any_over_time()(
        operations in prop::collection::vec((0_u64..10_000, any::<bool>(), any::<u64>()), 0..50),
    ) -> LatencyOverTime {
        let mut over_time = LatencyOverTime::new(20);
        for (at_ns, is_write, latency) in operations {
            let row = over_time.reach(at_ns);
            over_time.count_at(row, is_write, CoarseHistogram::index(latency), 1);
        }
        over_time
    }
}

prop_compose! {
    fn any_bursts()(
        name: String,
        requests in prop::collection::vec((0_u64..1000, 0_u64..1000, 0_u64..1 << 40, any::<Option<bool>>()), 0..20),
    ) -> Bursts {
        let mut began_ns = 0;
        let requests = requests.into_iter().map(|(step_ns, device_ns, sector, ours)| {
            began_ns += step_ns;
            BurstRequest {
                device: 0,
                operation: RequestKind::Write,
                offset_bytes: sector * 512,
                bytes: 4096,
                queued_ns: Some(began_ns),
                issued_ns: began_ns,
                completed_ns: began_ns + device_ns,
                ours,
                failed: false,
            }
        });
        let requests = requests.collect();
        Bursts { devices: vec![name], bursts: vec![Burst { of: BurstOf::First, from_ns: 7, requests }] }
    }
}

prop_compose! {
    fn any_trial()(
        stage: String,
        settings in prop::collection::btree_map(any::<String>(), any::<String>(), 0..3),
        seconds in any_float(),
        iops in any_float(),
        bytes: u64,
        ops: u64,
        page_cache in any_float(),
        device in prop::option::of(any_float()),
        drift in prop::option::of(any_float()),
        p99: Option<u64>,
        intervals: Vec<u64>,
        read in any_histogram(),
        write in any_histogram(),
        service in prop::option::of(any_histogram()),
        over_time in prop::option::of(any_over_time()),
        bursts in prop::option::of(any_bursts()),
    ) -> Trial {
        let mut trial = sample::trial(1);
        trial.stage = stage;
        trial.settings = settings;
        trial.seconds = seconds;
        trial.iops = iops;
        trial.bytes = bytes;
        trial.ops = ops;
        trial.layers = Layers { page_cache, device, ..Layers::default() };
        trial.latency_ns = (&read).into();
        trial.latency_ns.p99 = p99;
        trial.latency_service_ns = service.as_ref().map(Into::into);
        trial.evidence.clock.drift_ppm = drift;
        trial.evidence.intervals.operations = intervals;
        trial.evidence.bursts = bursts.as_ref().map(Into::into);
        trial.latency_over_time = over_time.as_ref().map(Into::into);
        trial.histograms = (&Histograms { read, write, service }).into();
        trial
    }
}

prop_compose! {
    fn any_figures()(stage: String, median in any_float(), spread in prop::option::of(any_float()), low in any_float(), high in any_float()) -> StageFigures {
        let figure = Figure { median, min: low, max: high, spread, ci95: Some([low, high]), ci_method: None, trials: 5 };
        serde_json::from_value(serde_json::json!({
            "stage": stage, "throughput_bytes_per_s": figure, "iops": figure,
            "latency_ns": {"samples": 0}, "layers": Layers::default(), "errors": 0,
        })).unwrap()
    }
}

prop_compose! {
    fn any_run()(
        host: Option<String>,
        target: String,
        notes: Vec<String>,
        seed: u64,
        overhead in prop::option::of(any_float()),
        mut trials in prop::collection::vec(any_trial(), 0..4),
        figures in prop::collection::vec(any_figures(), 0..3),
        words in prop::collection::vec(any::<String>(), 4),
        interrupted: bool,
    ) -> Run {
        for (order, trial) in (1..).zip(&mut trials) {
            trial.order = order;
        }
        let mut run = sample::run("20261121-024150-7f3a");
        run.run.status = if interrupted { Status::Interrupted } else { Status::Complete };
        run.run.notes = notes;
        run.run.seed = seed;
        run.run.overhead_ns_per_io = overhead;
        run.machine.host = host;
        run.target.given = target;
        run.trials = trials;
        run.figures = figures;
        run.findings = vec![Finding {
            rule: words[0].clone(),
            severity: Severity::Warning,
            headline: words[0].clone(),
            claim: words[1].clone(),
            evidence: words.clone(),
            confidence: Confidence::Likely,
            refuted_by: words[2].clone(),
            remedy: words[3].clone(),
            stages: words.clone(),
        }];
        run.verdicts = vec![Verdict {
            profile: words[0].clone(),
            outcome: Outcome::Close,
            needed: words[1].clone(),
            measured: Some(words[2].clone()),
            in_short: words[0].clone(),
            stage: None,
            source: words[3].clone(),
        }];
        run
    }
}

proptest! {
    // Each case creates a database and syncs it some ten times.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_loaded_run_equals_the_stored_one_with_its_histograms(run in any_run()) {
        let (_folder, path) = new_store();
        let mut store = Store::open(&path).unwrap();
        let mut begun = run.clone();
        begun.run.status = Status::Running;
        begun.trials.clear();
        begun.figures.clear();
        begun.findings.clear();
        begun.verdicts.clear();
        store.begin(&begun, None).unwrap();
        prop_assert_eq!(&store.load("last").unwrap(), &begun);
        for trial in &run.trials {
            store.add_trial(&run.run.id, trial).unwrap();
        }
        store.finish(&run).unwrap();
        drop(store);
        let loaded = Store::open_existing(&path).unwrap().load(&run.run.id).unwrap();
        prop_assert_eq!(loaded, run);
    }
}

#[test]
fn a_whole_run_is_stored_at_once() {
    let (_folder, path) = new_store();
    let mut run = sample::run("a");
    run.trials = (1..=7).map(sample::trial).collect();
    sample::complete(&mut run);
    let mut store = Store::open(&path).unwrap();
    store.begin(&run, None).unwrap();
    assert_eq!(store.load("a").unwrap(), run);
}

#[test]
fn the_end_of_a_run_brings_the_trials_that_could_not_be_stored_before() {
    let (_folder, path) = new_store();
    let mut store = Store::open(&path).unwrap();
    let mut run = sample::run("a");
    store.begin(&run, None).unwrap();
    run.trials = (1..=4).map(sample::trial).collect();
    store.add_trial("a", &run.trials[0]).unwrap();
    store.add_trial("a", &run.trials[2]).unwrap();
    sample::complete(&mut run);
    store.finish(&run).unwrap();
    assert_eq!(store.load("a").unwrap(), run);
}

#[test]
fn trials_come_back_in_the_order_of_execution() {
    let (_folder, path) = new_store();
    let mut store = Store::open(&path).unwrap();
    store.begin(&sample::run("a"), None).unwrap();
    for order in [3, 1, 2] {
        store.add_trial("a", &sample::trial(order)).unwrap();
    }
    let orders: Vec<u32> = store
        .load("a")
        .unwrap()
        .trials
        .iter()
        .map(|t| t.order)
        .collect();
    assert_eq!(orders, [1, 2, 3]);
}

#[test]
fn a_figure_that_is_not_a_number_is_refused_while_it_can_still_be_mended() {
    let (_folder, path) = new_store();
    let mut store = Store::open(&path).unwrap();
    store.begin(&sample::run("a"), None).unwrap();
    let mut trial = sample::trial(1);
    trial.iops = f64::NAN;
    let error = store.add_trial("a", &trial).unwrap_err();
    assert!(matches!(error, Error::Unstorable { .. }), "{error:?}");
    assert!(
        error
            .to_string()
            .contains("trial 1 (stage random-read-qd1)"),
        "{error}"
    );
    assert_eq!(store.load("a").unwrap().trials, []);
}

#[test]
fn runs_that_are_added_together_are_stored_all_or_none() {
    let (_folder, path) = new_store();
    let mut store = Store::open(&path).unwrap();
    store.begin(&sample::run("b"), None).unwrap();
    let together = ["a", "b", "c"].map(sample::run);
    let error = store.add(&together).unwrap_err();
    assert!(matches!(error, Error::RunExists { .. }), "{error:?}");
    assert!(store.load("a").is_err() && store.load("c").is_err());
    let together = ["a", "c"].map(sample::run);
    store.add(&together).unwrap();
    assert_eq!(store.load("a").unwrap(), together[0]);
    assert_eq!(store.load("c").unwrap(), together[1]);
}

#[test]
fn a_run_or_trial_is_never_stored_over_another() {
    let (_folder, path) = new_store();
    let mut store = Store::open(&path).unwrap();
    store.begin(&sample::run("a"), None).unwrap();
    let error = store.begin(&sample::run("a"), None).unwrap_err();
    assert!(matches!(error, Error::RunExists { .. }), "{error:?}");
    store.add_trial("a", &sample::trial(1)).unwrap();
    let error = store.add_trial("a", &sample::trial(1)).unwrap_err();
    assert!(
        matches!(error, Error::TrialExists { order: 1, .. }),
        "{error:?}"
    );
    let error = store.add_trial("b", &sample::trial(1)).unwrap_err();
    assert!(matches!(error, Error::UnknownRun { .. }), "{error:?}");
}

#[test]
fn what_an_import_does_not_know_is_loaded_as_unknown() {
    let (_folder, path) = new_store();
    let mut run = sample::run("20261121-024150-0001");
    let mut trial = sample::trial(1);
    (trial.seconds, trial.iops) = (f64::NAN, f64::NAN);
    run.trials = vec![trial];
    let mut store = Store::open(&path).unwrap();
    store.begin(&run, None).unwrap();
    let loaded = store.load("last").unwrap();
    assert!(loaded.trials[0].seconds.is_nan() && loaded.trials[0].iops.is_nan());
    assert!(loaded.trials[0].throughput_bytes_per_s.is_finite());
}
