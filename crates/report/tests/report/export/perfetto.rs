//! Traces, against what the format asks for ("Trace Event Format"), and the requests that they
//! are of.

use super::detailed;
use diskfacts_record::{BurstRequest, Run};
use diskfacts_report::export::perfetto::perfetto;
use serde_json::Value;

/// The events of the document, each as the format has it.
pub(super) fn events(text: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(text).unwrap();
    assert_eq!(document["displayTimeUnit"], "ns");
    let events = document["traceEvents"].as_array().unwrap().clone();
    for event in &events {
        assert!(event["pid"].is_u64() && event["tid"].is_u64(), "{event}");
        match event["ph"].as_str() {
            Some("M") => {
                let known = ["process_name", "thread_name"];
                assert!(known.contains(&event["name"].as_str().unwrap()), "{event}");
                assert!(event["args"]["name"].is_string(), "{event}");
            }
            Some("X") => {
                assert!(event["ts"].as_f64() >= Some(0.0), "{event}");
                assert!(event["dur"].as_f64() >= Some(0.0), "{event}");
                assert!(
                    event["name"].is_string() && event["cat"].is_string(),
                    "{event}"
                );
            }
            _ => panic!("{event}"),
        }
    }
    events
}

fn slices<'a>(events: &'a [Value], cat: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["cat"] == cat).collect()
}

#[test]
fn each_request_is_a_slice_at_its_time_with_its_parts_in_it() {
    let run = detailed();
    let events = events(&perfetto(std::slice::from_ref(&run)));
    let bursts = run.trials[0].evidence.bursts.as_ref().unwrap().unpack();
    let mut expected: Vec<(f64, f64, u64)> = Vec::new();
    for burst in &bursts.bursts {
        for request in &burst.requests {
            let began_ns = burst.from_ns + request.began_ns();
            expected.push((
                began_ns as f64 / 1e3,
                request.took_ns() as f64 / 1e3,
                request.bytes,
            ));
        }
    }
    let requests = slices(&events, "request");
    let mut seen: Vec<(f64, f64, u64)> = requests
        .iter()
        .map(|slice| {
            let bytes = slice["args"]["bytes"].as_u64().unwrap();
            (
                slice["ts"].as_f64().unwrap(),
                slice["dur"].as_f64().unwrap(),
                bytes,
            )
        })
        .collect();
    let order = |a: &(f64, f64, u64), b: &(f64, f64, u64)| a.0.total_cmp(&b.0);
    expected.sort_by(order);
    seen.sort_by(order);
    assert_eq!(seen, expected);
    // Two of the four stood in the queue that is known of three; the flush was issued at once.
    assert_eq!(slices(&events, "part").len(), 4 + 3);
    for part in slices(&events, "part") {
        let within = requests.iter().any(|whole| {
            let end =
                |slice: &Value| slice["ts"].as_f64().unwrap() + slice["dur"].as_f64().unwrap();
            whole["tid"] == part["tid"]
                && whole["pid"] == part["pid"]
                && whole["ts"].as_f64() <= part["ts"].as_f64()
                && end(part) <= end(whole) + 1e-6
        });
        assert!(within, "{part}");
    }
}

#[test]
fn requests_at_the_same_time_lie_beside_each_other() {
    // Five at a time: each takes as long as five begin one after the other.
    let mut deep = detailed();
    let packed = deep.trials[0].evidence.bursts.take().unwrap();
    let mut bursts = packed.unpack();
    let one = bursts.bursts[0].requests[0];
    bursts.bursts.truncate(1);
    bursts.bursts[0].requests = (0..40)
        .map(|i| BurstRequest {
            queued_ns: Some(i * 1000),
            issued_ns: i * 1000 + 10,
            completed_ns: i * 1000 + 5000,
            ..one
        })
        .collect();
    deep.trials[0].evidence.bursts = Some((&bursts).into());
    let of_deep = events(&perfetto(std::slice::from_ref(&deep)));
    let places = of_deep
        .iter()
        .filter(|event| event["name"] == "thread_name");
    assert_eq!(places.count(), 5);
    let events = events(&perfetto(&[detailed(), deep, detailed()]));
    let requests = slices(&events, "request");
    for (place, one) in requests.iter().enumerate() {
        for other in &requests[place + 1..] {
            if (&one["pid"], &one["tid"]) != (&other["pid"], &other["tid"]) {
                continue;
            }
            let span = |slice: &Value| {
                let from = slice["ts"].as_f64().unwrap();
                (from, from + slice["dur"].as_f64().unwrap())
            };
            let ((a, b), (c, d)) = (span(one), span(other));
            assert!(b <= c + 1e-6 || d <= a + 1e-6, "{one} {other}");
        }
    }
    let names: Vec<&str> = events
        .iter()
        .filter(|event| event["name"] == "process_name")
        .map(|event| event["args"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names.len(), 5, "two devices of two runs, and one");
    assert!(
        names[0].starts_with("random-read-qd32 (scheduler=none): md0 (run "),
        "{names:?}"
    );
}

#[test]
fn a_run_without_single_requests_is_an_empty_trace() {
    let run: Run = crate::fixtures::healthy();
    assert!(events(&perfetto(&[run])).is_empty());
}
