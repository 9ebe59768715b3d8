//! Documents become runs.

use super::{DOCUMENTS, runs_of as of};
use diskfacts_plan::Operation;
use diskfacts_record::{Run, TargetKind};
use diskfacts_report::{classic, json};

fn formats(runs: &[Run]) -> Vec<(&str, u64, usize)> {
    let each = runs.iter().map(|run| {
        let source = run.run.source.as_ref().unwrap();
        (source.format.as_str(), source.rows, run.trials.len())
    });
    each.collect()
}

#[test]
fn each_format_of_a_document_is_a_run_that_says_where_it_is_from() {
    let runs = of(DOCUMENTS[1]);
    assert_eq!(
        formats(&runs),
        [("dd", 183, 182), ("text", 22, 0), ("readahead", 40, 0)]
    );
    for run in &runs {
        assert_eq!(run.target.kind, TargetKind::Imported);
        assert_eq!(run.run.source.as_ref().unwrap().file, "results.txt");
    }
    let source = runs[0].run.source.as_ref().unwrap();
    assert_eq!((source.first_line, source.last_line), (17, 613));
    assert_eq!(source.readings[0].line, 400);
    let reading = &runs[2].run.source.as_ref().unwrap().readings[0];
    assert_eq!(
        reading.values["request_page"].to_bits(),
        10_596_f64.to_bits()
    );
    assert_eq!(
        formats(&of(DOCUMENTS[2])),
        [("hdparm", 3, 3), ("bonnie", 6, 36)]
    );
}

#[test]
fn repeats_are_trials_of_one_stage_under_the_settings_of_the_document() {
    let runs = of(DOCUMENTS[1]);
    let trials: Vec<_> = runs[0]
        .trials
        .iter()
        .filter(|t| {
            let is = |name: &str, value: &str| t.settings.get(name).is_some_and(|v| v == value);
            is("read_ahead", "4096K")
                && is("scheduler", "cfq")
                && is("read_ahead_by", "vanilla")
                && !t.settings.contains_key("beside")
        })
        .collect();
    assert_eq!(
        trials.iter().map(|t| t.number).collect::<Vec<_>>(),
        [1, 2, 3]
    );
    let rates: Vec<f64> = trials.iter().map(|t| t.throughput_bytes_per_s).collect();
    assert!(
        rates
            .iter()
            .zip([80.8e6, 80.8e6, 80.3e6])
            .all(|(a, b)| (a - b).abs() < 1.0)
    );
    // A rate alone says neither seconds nor bytes; both are unknown, not 0 s.
    assert!(trials[0].seconds.is_nan() && trials[0].bytes == 0);
    assert_eq!(trials[0].workload.block_size, 64 << 10);
    assert_eq!(trials[0].workload.stop.bytes, Some(80_000 * (64 << 10)));
}

#[test]
fn the_imported_write_matrix_prints_the_lines_it_was_read_from() {
    let mut run = of(DOCUMENTS[3]).remove(0);
    run.figures = run
        .trials
        .iter()
        .map(|trial| {
            let figure = |median: f64| {
                serde_json::json!({ "median": median, "min": median, "max": median,
                    "spread": null, "ci95": null, "trials": 1 })
            };
            serde_json::from_value(serde_json::json!({
                "stage": trial.stage, "settings": trial.settings,
                "throughput_bytes_per_s": figure(trial.throughput_bytes_per_s),
                "iops": figure(trial.iops), "latency_ns": trial.latency_ns,
                "latency_read_ns": null, "latency_write_ns": null, "layers": trial.layers,
                "cpu_user_ns_per_io": null, "cpu_system_ns_per_io": null, "errors": 0,
            }))
            .unwrap()
        })
        .collect();
    let lines: Vec<&str> = DOCUMENTS[3].lines().skip(271).take(294).collect();
    assert_eq!(classic::run(&run), lines.join("\n") + "\n");
}

#[test]
fn what_a_document_does_not_say_is_null_in_the_json() {
    let run = of(DOCUMENTS[1]).remove(0);
    let document: serde_json::Value = serde_json::from_str(&json::run(&run)).unwrap();
    let trial = &document["trials"][1];
    for null in [
        &document["machine"]["architecture"],
        &document["machine"]["cpus"],
        &document["target"]["size_bytes"],
        &trial["seconds"],
        &trial["bytes"],
        &trial["ops"],
        &trial["latency_ns"]["p50"],
    ] {
        assert!(null.is_null(), "{null}");
    }
    assert_eq!(trial["throughput_bytes_per_s"], 102e6);
    assert_eq!(trial["layers"]["unknown"], 1.0);
}

#[test]
fn fios_json_is_read_with_all_of_its_jobs() {
    let runs = of(include_str!("../../documents/fio-3.33.json"));
    assert_eq!(formats(&runs).len(), 1);
    let run = &runs[0];
    assert_eq!(run.run.source.as_ref().unwrap().format, "fio");
    let stages: Vec<(&str, &str)> = run
        .trials
        .iter()
        .map(|t| (t.stage.as_str(), t.settings["job"].as_str()))
        .collect();
    assert_eq!(
        stages,
        [("write", "fill"), ("read", "mixed"), ("write", "mixed")]
    );
    for trial in &run.trials {
        assert!(trial.seconds > 0.0 && trial.bytes > 0 && trial.ops > 0);
        assert!(trial.latency_ns.p99 >= trial.latency_ns.p50 && trial.latency_ns.p50.is_some());
        let rate = trial.bytes as f64 / trial.seconds;
        assert!((trial.throughput_bytes_per_s / rate - 1.0).abs() < 0.05);
    }
}

#[test]
fn the_strided_lines_of_the_document_come_back_to_the_character() {
    let run = of(DOCUMENTS[0]).remove(0);
    let is_row = |line: &&str| line.contains("seeks/sec");
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text
            .lines()
            .filter(is_row)
            .map(|line| line.trim_end().to_owned())
            .collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&classic::run(&run)), sorted(DOCUMENTS[0]));
    let modify = run.trials.iter().find(|t| t.stage == "modify").unwrap();
    assert_eq!(
        modify.workload.operation,
        Operation::Modify { percent: 100 }
    );
    assert_eq!(modify.workload.stop.fraction, Some(512));
}

#[test]
fn what_is_not_said_of_a_trial_is_listed_and_null() {
    let value = |run: &Run| -> serde_json::Value { serde_json::from_str(&json::run(run)).unwrap() };
    let device = of(DOCUMENTS[4]).remove(0);
    let document = value(&device);
    let workload = &document["trials"][0]["workload"];
    for key in [
        "pattern",
        "block_size",
        "queue_depth",
        "streams",
        "cache",
        "sync",
    ] {
        assert!(workload[key].is_null(), "{key}: {}", workload[key]);
        let stage = &document["plan"]["stages"][0]["workload"];
        assert!(stage[key].is_null(), "{key}: {}", stage[key]);
    }
    // No request read, so all of them wrote.
    assert_eq!(workload["operation"], "write");
    let strided = value(&of(DOCUMENTS[0])[0]);
    let pattern = &strided["trials"][0]["workload"]["pattern"]["stride"];
    assert_eq!(pattern["skip_blocks"], 128);
    assert!(pattern["fixed"].is_null() && pattern["from_start"].is_null());
}

#[test]
fn the_document_of_an_imported_run_reads_back_as_the_run() {
    for text in DOCUMENTS {
        for run in of(text) {
            let document = json::run(&run);
            let read: Run = serde_json::from_str(&document).unwrap();
            assert_eq!(json::run(&read), document);
            assert_eq!(read.trials.len(), run.trials.len());
            for (read, trial) in read.trials.iter().zip(&run.trials) {
                assert_eq!(read.unsaid, trial.unsaid);
                assert_eq!((read.bytes, read.ops), (trial.bytes, trial.ops));
            }
        }
    }
}

#[test]
fn a_row_of_iostat_keeps_what_it_says_of_the_device() {
    let run = of(DOCUMENTS[4]).remove(0);
    let reading = &run.run.source.as_ref().unwrap().readings[0];
    assert_eq!(reading.line, 16);
    for (name, value) in [
        ("requests_per_s", 115.0),
        ("wait_ms", 1325.4),
        ("queue_depth", 140.86),
        ("request_bytes", 1006.4 * 512.0),
        ("busy", 1.0),
    ] {
        let got = reading.values[name];
        assert!((got - value).abs() < 1e-6, "{name}: {got}");
    }
    let wait = run.trials[0].latency_ns.mean.unwrap();
    assert!((wait - 1325.4e6).abs() < 1.0, "{wait}");
}

/// Looked up while the document is read, and counted here by comparing each trial with
/// all before it.
#[test]
fn each_trial_has_its_number_among_the_repeats_of_its_stage_and_settings() {
    let twice = |text: &str| format!("{text}\n{text}");
    for document in DOCUMENTS {
        for run in of(&twice(document)) {
            for (at, trial) in run.trials.iter().enumerate() {
                let is_same = |before: &&diskfacts_record::Trial| {
                    (&before.stage, &before.settings) == (&trial.stage, &trial.settings)
                };
                let before = run.trials[..at].iter().filter(is_same).count();
                assert_eq!(trial.number as usize, before + 1, "{}", trial.stage);
                assert_eq!(trial.order as usize, at + 1);
            }
            let mut cells: Vec<_> = run.plan.stages.iter().collect();
            cells.sort_by_key(|stage| (&stage.name, &stage.settings));
            let both = cells.len();
            cells.dedup_by_key(|stage| (stage.name.clone(), stage.settings.clone()));
            assert_eq!(cells.len(), both, "a stage stands twice");
        }
    }
}
