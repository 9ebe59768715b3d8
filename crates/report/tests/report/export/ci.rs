//! Comparisons for continuous integration: `JUnit`'s XML, workflow commands, and Markdown.

use diskfacts_record::together::{
    AgreedBy, HostFigures, Layout, LostHost, Merged, MergedStage, MergedTrial,
};
use diskfacts_record::{Comparison, Confidence, Figure, Finding, Latency, Severity};
use diskfacts_report::export::{github, junit, markdown};
use diskfacts_testkit::{or_skip, require_tool};
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

/// A comparison with a stage of every kind, whose names are these.
pub(super) fn comparison(name: impl Fn(&str) -> String) -> Comparison {
    let difference = |change: f64, interval: Option<[f64; 2]>, outcome: &str| {
        json!({
            "measure": "iops", "a": 1000.0, "b": 1000.0 * (1.0 + change), "count_a": 5,
            "count_b": 5, "unit": "trial", "change": change, "interval": interval,
            "confidence": 0.95, "p": 0.01, "p_adjusted": 0.02, "outcome": outcome,
        })
    };
    let stage = |stage: &str, change: &str, speed: serde_json::Value| {
        json!({
            "stage": name(stage), "stage_b": null, "change": change,
            "statement": format!("{} is {change}.", name(stage)), "because": [],
            "speed": speed, "latency": [],
        })
    };
    let mut other = stage("other", "not_comparable", json!(null));
    other["because"] = json!([format!("Its block size is {} in B.", name("8 KiB"))]);
    let side = |given: &str| json!({ "given": name(given), "runs": [] });
    serde_json::from_value(json!({
        "schema": 1,
        "summary": format!("B is 4.1 % slower; {} is.", name("slow")),
        "a": side("base.dfrun"), "b": side("last"),
        "conditions": [],
        "stages": [
            stage("same", "same", difference(0.001, Some([-0.01, 0.012]), "same")),
            stage("slow", "slower", difference(-0.2, Some([-0.25, -0.15]), "slower")),
            stage("vague", "unclear", difference(-0.1, None, "unclear")),
            other,
        ],
        "only_in_a": [name("gone")], "only_in_b": [name("new")],
        "overall": null,
        "correction": {
            "method": "holm", "speeds": 3, "speeds_alpha": 0.05, "latencies": 0,
            "latencies_alpha": 0.05,
        },
        "same_within": 0.05,
        "demands": [{
            "given": "slower:5%", "holds": [name("slow")], "judged": 2,
            "unjudged": [name("vague"), name("gone")],
        }],
    }))
    .unwrap()
}

/// An element of a document: its name, its attributes, its elements, and the text right in it.
#[derive(Debug, Default)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) attributes: BTreeMap<String, String>,
    pub(super) elements: Vec<Element>,
    pub(super) text: String,
}

impl Element {
    fn of(start: &BytesStart<'_>) -> Self {
        let attributes = start.attributes().map(|attribute| {
            let attribute = attribute.unwrap();
            let value = attribute.normalized_value(XmlVersion::Implicit1_0).unwrap();
            (attribute.key.0.to_owned(), value.into_owned())
        });
        Self {
            name: start.name().0.to_owned(),
            attributes: attributes.collect(),
            ..Self::default()
        }
    }

    fn all(&self, name: &str) -> Vec<&Self> {
        self.elements
            .iter()
            .filter(|element| element.name == name)
            .collect()
    }
}

/// The root of a document.
pub(super) fn xml(text: &str) -> Element {
    let mut reader = Reader::from_str(text);
    let mut open = vec![Element::default()];
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) => open.push(Element::of(&start)),
            Event::Empty(start) => open.last_mut().unwrap().elements.push(Element::of(&start)),
            Event::End(_) => {
                let element = open.pop().unwrap();
                open.last_mut().unwrap().elements.push(element);
            }
            Event::Text(text) => open
                .last_mut()
                .unwrap()
                .text
                .push_str(&text.xml10_content()),
            Event::GeneralRef(reference) => {
                let name = reference.xml10_content();
                let text = quick_xml::escape::unescape(&format!("&{name};"))
                    .unwrap()
                    .into_owned();
                open.last_mut().unwrap().text.push_str(&text);
            }
            Event::Decl(_) => {}
            Event::Eof => break,
            other => panic!("{other:?}"),
        }
    }
    let [root] = <[Element; 1]>::try_from(open.remove(0).elements).unwrap();
    root
}

/// Holds a document against what the schema of Jenkins asks for (`junit-10.xsd` of its xUnit
/// plugin).
pub(super) fn check_junit(root: &Element) {
    let allowed = |element: &Element, attributes: &[&str], elements: &[&str]| {
        for name in element.attributes.keys() {
            assert!(
                attributes.contains(&name.as_str()),
                "{name} of {}",
                element.name
            );
        }
        for inner in &element.elements {
            assert!(
                elements.contains(&inner.name.as_str()),
                "{} in {}",
                inner.name,
                element.name
            );
        }
    };
    assert_eq!(root.name, "testsuites");
    let counts = ["name", "time", "tests", "failures", "errors"];
    allowed(root, &counts, &["testsuite"]);
    for suite in &root.elements {
        let of_suite = [&counts[..], &["skipped"]].concat();
        allowed(suite, &of_suite, &["testcase", "system-out"]);
        let cases = suite.all("testcase");
        for case in &cases {
            allowed(
                case,
                &["classname", "name", "time"],
                &["failure", "error", "skipped", "system-out"],
            );
            assert_eq!(case.elements.len(), 1);
            for inner in &case.elements {
                allowed(inner, &["message", "type"], &[]);
            }
        }
        let number = |name: &str| {
            cases
                .iter()
                .filter(|case| !case.all(name).is_empty())
                .count()
        };
        let counted = |of: &Element, name: &str| of.attributes[name].parse::<usize>().unwrap();
        for of in [root, suite] {
            assert_eq!(counted(of, "tests"), cases.len());
            assert_eq!(counted(of, "failures"), number("failure"));
            assert_eq!(counted(of, "errors"), number("error"));
        }
        assert_eq!(counted(suite, "skipped"), number("skipped"));
    }
}

#[test]
fn each_stage_is_a_test_case_that_fails_where_a_condition_holds() {
    for (allow, expected) in [
        (
            false,
            [
                "system-out",
                "failure",
                "error",
                "skipped",
                "error",
                "skipped",
            ],
        ),
        (
            true,
            [
                "system-out",
                "failure",
                "skipped",
                "skipped",
                "skipped",
                "skipped",
            ],
        ),
    ] {
        let text = junit::junit(&comparison(str::to_owned), allow);
        let root = xml(&text);
        check_junit(&root);
        let suite = &root.elements[0];
        assert_eq!(suite.attributes["name"], "last against base.dfrun");
        let cases = suite.all("testcase");
        let names: Vec<&str> = cases
            .iter()
            .map(|case| case.attributes["name"].as_str())
            .collect();
        assert_eq!(names, ["same", "slow", "vague", "other", "gone", "new"]);
        let outcomes: Vec<&str> = cases
            .iter()
            .map(|case| case.elements[0].name.as_str())
            .collect();
        assert_eq!(outcomes, expected);
        let failure = &cases[1].elements[0];
        assert_eq!(failure.attributes["message"], "slower:5% holds");
        assert_eq!(failure.text, "slow is slower.");
        let other = &cases[3].elements[0];
        assert!(
            other.text.contains("Its block size is 8 KiB in B."),
            "{}",
            other.text
        );
    }
}

#[test]
fn xmllint_takes_the_document() {
    let xmllint = or_skip!(require_tool("xmllint", "libxml2-utils"));
    let text = junit::junit(
        &comparison(|name| format!("{name} ]]> <&\"' \u{1b}\0 F\u{fc}nf")),
        false,
    );
    let mut child = Command::new(xmllint)
        .args(["--noout", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(text.as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "{}\n{text}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn each_condition_that_holds_or_could_not_be_judged_is_an_annotation() {
    assert_eq!(
        github::commands(&comparison(str::to_owned), false),
        "::error title=slow%3A slower%3A5%25::slow is slower.\n\
         ::error title=vague%3A slower%3A5%25 could not be judged::vague is unclear.\n\
         ::error title=gone%3A slower%3A5%25 could not be judged::Only A has this stage.\n\
         ::notice title=diskfacts compare::B is 4.1 %25 slower; slow is.\n"
    );
    let allowed = github::commands(&comparison(str::to_owned), true);
    assert_eq!(allowed.matches("::warning ").count(), 2);
    assert_eq!(allowed.matches("::error ").count(), 1);
}

#[test]
fn the_summary_is_a_table_of_the_stages() {
    let text = markdown::markdown(&comparison(str::to_owned));
    assert_eq!(
        text,
        "### diskfacts: last against base.dfrun\n\
         \n\
         B is 4.1 % slower; slow is.\n\
         \n\
         | stage | B against A | change | 95 % interval | conditions |\n\
         | --- | --- | ---: | ---: | --- |\n\
         | same | the same | IOPS +0.1 % | -1.0 % to +1.2 % |  |\n\
         | slow | slower | IOPS -20.0 % | -25.0 % to -15.0 % | **slower&#58;5%** holds |\n\
         | vague | unclear | IOPS -10.0 % |  | slower&#58;5% could not be judged |\n\
         | other | not comparable |  |  |  |\n\
         | gone | on one side only |  |  | slower&#58;5% could not be judged |\n\
         | new | on one side only |  |  |  |\n"
    );
}

/// Two of three hosts, of which one has a name that wants to be more than text.
pub(super) fn together(name: impl Fn(&str) -> String) -> Merged {
    let figure = |median: f64| Figure {
        median,
        min: median * 0.98,
        max: median * 1.02,
        spread: None,
        ci95: Some([median * 0.97, median * 1.03]),
        ci_method: None,
        trials: 3,
    };
    let host = |host: &str, iops: f64, of_median: Option<f64>| HostFigures {
        host: name(host),
        iops,
        throughput_bytes_per_s: iops * 4096.0,
        of_median,
        latency_ns: Latency {
            samples: 1000,
            p50: Some(120_000),
            p99: of_median.map(|_| 900_000),
            ..Latency::default()
        },
        errors: 0,
    };
    let trial = |number: u32, void: Option<String>| MergedTrial {
        number,
        order: number,
        length_ns: 1_000_000_000,
        hosts: 2,
        void,
        window_ns: Some([0, 1_000_000_000]),
        start_spread_ns: 20_000,
        clock_error_ns: 5000,
        ops: 3000.0,
        ops_uncertainty: 3.0,
        iops: 3000.0,
        throughput_bytes_per_s: 3000.0 * 4096.0,
        stonewall_bytes_per_s: None,
        last_done_bytes_per_s: None,
    };
    Merged {
        schema: 1,
        group: name("n3"),
        agreed_by: AgreedBy::Mpi,
        start: "2026-11-27T13:00:00Z".to_owned(),
        agreement: "0123456789abcdef".to_owned(),
        layout: Layout::Slice,
        shift: 1,
        plan: "shared".to_owned(),
        tool_version: "0.1.0".to_owned(),
        hosts_expected: 3,
        hosts_complete: 2,
        hosts_unnamed: 0,
        lost: vec![LostHost {
            host: name("c3"),
            from_order: Some(2),
            why: "It was silent for 5 s.".to_owned(),
            rank: Some(2),
        }],
        hosts: Vec::new(),
        stages: vec![MergedStage {
            stage: name("read"),
            settings: BTreeMap::from([("depth".to_owned(), "4".to_owned())]),
            hosts_counted: 2,
            throughput_bytes_per_s: figure(3000.0 * 4096.0),
            iops: figure(3000.0),
            latency_ns: Latency {
                samples: 3000,
                p50: Some(120_000),
                p99: Some(900_000),
                max: Some(4_000_000),
                ..Latency::default()
            },
            layers: serde_json::from_value(json!({
                "page_cache": 0.25, "drive_cache": 0.0, "media": 0.0, "unknown": 0.75, "device": 0.75,
            }))
            .unwrap(),
            cpu_user_ns_per_io: None,
            cpu_system_ns_per_io: None,
            errors: 0,
            spread: None,
            hosts: vec![host("c1", 1000.0, Some(0.67)), host("c2", 2000.0, None)],
            trials: vec![
                trial(1, None),
                trial(2, Some(format!("{} was late", name("c2")))),
            ],
            devices: Vec::new(),
        }],
        findings: vec![Finding {
            rule: "host-lost".to_owned(),
            severity: Severity::Warning,
            headline: String::new(),
            claim: format!("{} was lost", name("c3")),
            evidence: Vec::new(),
            confidence: Confidence::Certain,
            refuted_by: String::new(),
            remedy: String::new(),
            stages: Vec::new(),
        }],
    }
}

#[test]
fn hosts_that_measured_together_are_a_table_for_each_stage() {
    let text = markdown::hosts(&together(str::to_owned));
    insta::assert_snapshot!("together_markdown", text);
}

#[test]
fn the_amount_of_two_trials_is_the_middle_between_them() {
    let mut merged = together(str::to_owned);
    for (trial, rate) in merged.stages[0].trials.iter_mut().zip([200e6, 100e6]) {
        trial.stonewall_bytes_per_s = Some(rate);
        trial.last_done_bytes_per_s = Some(rate / 2.0);
    }
    let text = markdown::hosts(&merged);
    let said = "150.0 MB/s until the first host was done, 75.0 MB/s until the last was";
    assert!(text.contains(said), "{text}");
}
