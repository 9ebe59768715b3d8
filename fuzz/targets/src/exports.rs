//! Runs and comparisons in the formats of other tools: whatever they are called.

use diskfacts_record::{Comparison, Run};
use diskfacts_report::export::csv::{Csv, Table};
use diskfacts_report::export::{github, hgrm, hlog, junit, markdown, openmetrics, perfetto};
use diskfacts_report::json;
use serde_json::{Value, json};

/// A run with histograms and single requests.
const RUN: &str = include_str!("../../corpus/exports/run.json");

/// Characters of a name: it stands in a hundred lines, and a longer one tells no more.
const NAME_MAX: usize = 100;

/// A document of a run, or else a name that stands wherever a text from outside does: each format
/// has as many rows, samples, slices, test cases and lines as there are things to tell of, and
/// nothing that a terminal would take for a command.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let name: String = text.chars().take(NAME_MAX).collect();
    let read = json::read_run(&text).and_then(Result::ok);
    let run = read.unwrap_or_else(|| {
        let run = json::read_run(RUN).and_then(Result::ok);
        called(run.expect("the run of the corpus"), &name)
    });
    of_run(&run);
    of_comparison(&name);
}

/// The run with this text in the place of every one from outside.
fn called(mut run: Run, text: &str) -> Run {
    let own = || text.to_owned();
    run.run.id = own();
    run.run.started = own();
    run.run.labels.name = Some(own());
    run.run.labels.note = Some(own());
    run.run.labels.tags = [own()].into();
    run.machine.host = Some(own());
    run.target.given = own();
    run.target.path = own();
    run.plan.name = own();
    for figures in &mut run.figures {
        figures.stage = own();
        figures.settings = [(own(), own())].into();
    }
    for trial in &mut run.trials {
        trial.stage = own();
        trial.settings = [(own(), own())].into();
        if let Some(packed) = &trial.evidence.bursts {
            let mut bursts = packed.unpack();
            bursts.devices.iter_mut().for_each(|name| *name = own());
            trial.evidence.bursts = Some((&bursts).into());
        }
    }
    run
}

fn of_run(run: &Run) {
    let intervals = run
        .trials
        .iter()
        .map(|trial| trial.evidence.intervals.operations.len());
    let bins = run.trials.iter().map(|trial| {
        let histograms = &trial.histograms;
        let all = [&histograms.read, &histograms.write];
        let service = histograms.service.as_ref();
        all.into_iter()
            .chain(service)
            .map(|packed| packed.buckets().len())
            .sum::<usize>()
    });
    for (table, rows) in [
        (Table::Stages, run.figures.len()),
        (Table::Trials, run.trials.len()),
        (Table::Intervals, intervals.sum()),
        (Table::Bins, bins.sum()),
    ] {
        let mut csv = Csv::new(Vec::new(), table).expect("memory takes it");
        csv.run(run).expect("memory takes it");
        let bytes = csv.finish().expect("memory takes it");
        let mut reader = csv::Reader::from_reader(&bytes[..]);
        let read: Vec<csv::StringRecord> =
            reader.records().map(|row| row.expect("a row")).collect();
        assert_eq!(read.len(), rows, "{table:?}");
        for cell in read.iter().flat_map(|row| row.iter()) {
            let is_number = cell.parse::<f64>().is_ok();
            assert!(
                is_number || !cell.starts_with(['=', '+', '-', '@', '\t', '\r']),
                "{cell:?}"
            );
        }
        assert_still(&String::from_utf8(bytes).expect("text"));
    }
    let metrics = openmetrics::openmetrics(std::slice::from_ref(run));
    assert_still(&metrics);
    assert!(metrics.ends_with("# EOF\n") && metrics.matches("\n# EOF\n").count() <= 1);
    metrics
        .lines()
        .filter(|line| !line.starts_with('#'))
        .for_each(assert_sample);

    let log = hlog::hlog(std::slice::from_ref(run));
    assert_still(&log);
    for line in log.lines().filter(|line| line.starts_with("Tag=")) {
        assert_eq!(line.split(',').count(), 5, "{line}");
    }
    for (_, histogram) in hgrm::stages(run) {
        assert_still(&hgrm::hgrm(&histogram));
    }
    let trace = perfetto::perfetto(std::slice::from_ref(run));
    assert_still(&trace);
    let trace: Value = serde_json::from_str(&trace).expect("a document");
    let events = trace["traceEvents"].as_array().expect("events");
    let requests = events
        .iter()
        .filter(|event| event["cat"] == "request")
        .count();
    let bursts = run
        .trials
        .iter()
        .filter_map(|trial| trial.evidence.bursts.as_ref());
    let kept = bursts.flat_map(|packed| packed.unpack().bursts);
    assert_eq!(
        requests,
        kept.map(|burst| burst.requests.len()).sum::<usize>()
    );
}

/// One name, labels with their values in quotation marks, one number.
fn assert_sample(line: &str) {
    let (name, rest) = line.split_once('{').expect("labels");
    assert!(name.starts_with("diskfacts_"), "{line}");
    let mut is_quoted = false;
    let mut chars = rest.char_indices();
    let end = loop {
        match chars.next().expect("the labels end") {
            (_, '\\') if is_quoted => drop(chars.next()),
            (_, '"') => is_quoted = !is_quoted,
            (at, '}') if !is_quoted => break at,
            _ => {}
        }
    };
    assert!(
        rest[end + 1..].trim_start().parse::<f64>().is_ok(),
        "{line}"
    );
}

fn of_comparison(text: &str) {
    let side = json!({ "given": text, "runs": [] });
    let stage = |change: &str| {
        json!({
            "stage": format!("{change}{text}"), "stage_b": null, "change": change,
            "statement": text, "because": [text], "speed": null, "latency": [],
        })
    };
    let comparison: Comparison = serde_json::from_value(json!({
        "schema": 1, "summary": text, "a": side, "b": side, "conditions": [],
        "stages": [stage("same"), stage("slower")],
        "only_in_a": [format!("gone{text}")], "only_in_b": [], "overall": null,
        "correction": {
            "method": "holm", "speeds": 1, "speeds_alpha": 0.05, "latencies": 0,
            "latencies_alpha": 0.05,
        },
        "same_within": 0.05,
        "demands": [{
            "given": "slower:5%", "holds": [format!("slower{text}")], "judged": 2,
            "unjudged": [format!("gone{text}")],
        }],
    }))
    .expect("a comparison");
    let document = junit::junit(&comparison, false);
    assert_still(&document);
    let mut reader = quick_xml::Reader::from_str(&document);
    let mut cases = 0;
    loop {
        match reader.read_event().expect("XML") {
            quick_xml::events::Event::Start(start) if start.name().0 == "testcase" => cases += 1,
            quick_xml::events::Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(cases, 3);
    let commands = github::commands(&comparison, false);
    assert_still(&commands);
    assert_eq!(commands.lines().count(), 3);
    assert!(
        commands
            .lines()
            .all(|line| line.starts_with("::error title=") || line.starts_with("::notice title="))
    );
    let table = markdown::markdown(&comparison);
    assert_still(&table);
    assert_eq!(
        table.lines().filter(|line| line.starts_with('|')).count(),
        5
    );
    assert!(!table.contains(['<', '`', '[', '\\']), "{table}");
}

/// Nothing in it moves a cursor.
fn assert_still(text: &str) {
    let moves = text.chars().find(|c| c.is_control() && *c != '\n');
    assert_eq!(moves, None, "{text:?}");
}
