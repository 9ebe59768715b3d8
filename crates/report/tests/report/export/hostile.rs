//! Text that wants to be more than text, in every place of a run where text from outside stands,
//! through every format and its reader.

use super::{ci, csv, distributions, openmetrics, perfetto};
use crate::fixtures;
use diskfacts_record::{Bursts, Outcome, Run, Verdict};
use diskfacts_report::export::csv::Table;
use diskfacts_report::export::openmetrics::openmetrics as metrics;
use diskfacts_report::export::perfetto::perfetto as trace;
use diskfacts_report::export::{github, hlog, junit, markdown};
use diskfacts_testkit::{HOSTILE, or_skip};

/// A run all of whose texts from outside are this.
fn run_of(text: &str) -> Run {
    let mut run = fixtures::rare();
    let own = || text.to_owned();
    run.run.id = own();
    run.run.started = own();
    run.run.tool_version = own();
    run.run.labels.name = Some(own());
    run.run.labels.note = Some(own());
    run.run.labels.tags = [own()].into();
    run.machine.host = Some(own());
    run.target.given = own();
    run.target.path = own();
    run.plan.name = own();
    for figures in &mut run.figures {
        figures.stage = own();
        figures.settings = figures
            .settings
            .values()
            .map(|value| (own(), value.clone() + text))
            .collect();
    }
    for trial in &mut run.trials {
        trial.stage = own();
        trial.settings = trial
            .settings
            .values()
            .map(|value| (own(), value.clone() + text))
            .collect();
        if let Some(packed) = &trial.evidence.bursts {
            let bursts = Bursts {
                devices: vec![own(), own()],
                ..packed.unpack()
            };
            trial.evidence.bursts = Some((&bursts).into());
        }
    }
    run.verdicts = vec![Verdict {
        profile: own(),
        outcome: Outcome::Pass,
        needed: own(),
        measured: Some(own()),
        in_short: own(),
        stage: Some(own()),
        source: own(),
    }];
    run
}

/// What stands in the place of a text: the same, but for what moves a cursor or turns the
/// direction of writing.
fn shown(text: &str) -> String {
    let moves = |c: char| {
        c.is_control()
            || matches!(
                c,
                '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{202a}'..='\u{202e}'
            )
            || matches!(c, '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
    };
    let escaped = text.chars().map(|c| {
        if moves(c) {
            c.escape_default().to_string()
        } else {
            c.to_string()
        }
    });
    escaped.collect()
}

/// Nothing in it commands a terminal.
fn assert_still(text: &str) {
    let moves = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert!(!text.contains(moves), "{text:?}");
}

#[test]
fn a_cell_is_the_text_and_no_formula() {
    for text in HOSTILE {
        let run = run_of(text);
        let (head, rows) = csv::table(Table::Stages, std::slice::from_ref(&run));
        assert_eq!(rows.len(), run.figures.len(), "{text:?}");
        for column in [
            "run", "name", "note", "tags", "host", "target", "plan", "stage",
        ] {
            let cell = csv::cell(&head, &rows[0], column);
            assert_still(cell);
            assert!(
                !cell.starts_with(['=', '+', '-', '@', '\t', '\r', '＝']),
                "{cell:?}"
            );
            let shown = shown(text);
            let guarded = format!("'{shown}");
            assert!(cell == shown || cell == guarded, "{text:?}: {cell:?}");
            assert_eq!(
                cell == guarded,
                shown.starts_with(['=', '+', '-', '@', '\'', '＝'])
            );
        }
        let settings = csv::cell(&head, &rows[0], "settings");
        assert!(
            serde_json::from_str::<serde_json::Value>(settings).is_ok(),
            "{settings}"
        );
        for table in [Table::Trials, Table::Intervals, Table::Bins] {
            let (head, rows) = csv::table(table, std::slice::from_ref(&run));
            assert!(rows.iter().all(|row| row.len() == head.len()), "{text:?}");
        }
    }
}

#[test]
fn a_label_is_the_text_and_no_metric() {
    let harmless = openmetrics::samples(&metrics(&[run_of("name")]));
    for text in HOSTILE {
        let written = metrics(&[run_of(text)]);
        assert_still(&written);
        let samples = openmetrics::samples(&written);
        // When it began is not known of such a text.
        let names = |of: &[openmetrics::Sample]| -> Vec<String> {
            of.iter().map(|(name, ..)| name.clone()).collect()
        };
        assert_eq!(names(&samples), names(&harmless), "{text:?}");
        for (_, labels, _) in &samples {
            assert_eq!(labels["target"], shown(text), "{text:?}");
        }
    }
}

#[test]
fn prometheus_reads_every_text_as_one_label() {
    let runs: Vec<Run> = HOSTILE.iter().map(|text| run_of(text)).collect();
    let read = or_skip!(openmetrics::read_by_prometheus(&metrics(&runs)));
    let passes = read
        .iter()
        .find(|line| line.starts_with("diskfacts_use_pass "));
    let expected = format!("diskfacts_use_pass gauge  {}", HOSTILE.len());
    assert_eq!(passes, Some(&expected));
}

#[test]
fn a_tag_is_no_other_column() {
    for text in HOSTILE {
        let log = hlog::hlog(&[run_of(text)]);
        assert_still(&log);
        let entries = distributions::entries(&log);
        assert_eq!(entries.len(), 1, "{text:?}");
        assert!(!entries[0].0.contains([',', ' ', '"']), "{text:?}");
    }
}

#[test]
fn a_name_in_a_trace_is_the_text() {
    for text in HOSTILE {
        let written = trace(&[run_of(text)]);
        assert_still(&written);
        let events = perfetto::events(&written);
        let processes: Vec<&str> = events
            .iter()
            .filter(|event| event["name"] == "process_name")
            .map(|event| event["args"]["name"].as_str().unwrap())
            .collect();
        assert_eq!(processes.len(), 2, "{text:?}");
        let shown = shown(text);
        assert!(processes[0].contains(&shown), "{shown:?} in {processes:?}");
    }
}

#[test]
fn a_test_case_is_named_by_the_text() {
    for text in HOSTILE {
        let written = junit::junit(&ci::comparison(|name| format!("{name}{text}")), false);
        assert_still(&written);
        let root = ci::xml(&written);
        ci::check_junit(&root);
        let cases = &root.elements[0].elements;
        assert_eq!(cases.len(), 7, "{text:?}");
        let valid = shown(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}");
        assert_eq!(
            cases[0].attributes["name"],
            format!("same{valid}"),
            "{text:?}"
        );
    }
}

#[test]
fn a_workflow_command_is_one_line_and_says_the_text() {
    for text in HOSTILE {
        let written = github::commands(&ci::comparison(|name| format!("{name}{text}")), false);
        assert_still(&written);
        let lines: Vec<&str> = written.lines().collect();
        assert_eq!(lines.len(), 4, "{text:?}");
        let levels = lines.iter().map(|line| line.split(' ').next().unwrap());
        assert_eq!(
            levels.collect::<Vec<_>>(),
            ["::error", "::error", "::error", "::notice"]
        );
        // As the runner reads it: up to the second `::`, and the properties at their commas.
        let (head, message) = lines[0][2..].split_once("::").unwrap();
        assert_eq!(head.matches(',').count(), 0, "{text:?}");
        let data = |text: &str| {
            text.replace("%0D", "\r")
                .replace("%0A", "\n")
                .replace("%25", "%")
        };
        let title = head.strip_prefix("error title=").unwrap();
        let title = data(&title.replace("%3A", ":").replace("%2C", ","));
        assert_eq!(title, format!("slow{}: slower:5%", shown(text)));
        assert_eq!(data(message), format!("slow{} is slower.", shown(text)));
    }
}

#[test]
fn a_summary_has_no_markup_but_ours() {
    let rows = |text: &str| text.lines().filter(|line| line.starts_with('|')).count();
    for text in HOSTILE {
        let written = markdown::markdown(&ci::comparison(|name| format!("{name}{text}")));
        assert_still(&written);
        assert_eq!(rows(&written), 8, "{text:?}");
        for line in written.lines().filter(|line| line.starts_with("| ")) {
            assert_eq!(line.matches('|').count(), 6, "{line}");
        }
        // What we write ourselves has stars, bars and numbers of characters, and nothing of these.
        assert!(
            !written.contains(['<', '>', '`', '[', ']', '_', '~', '@', '\\']),
            "{written}"
        );
        assert!(
            !written.contains("://") && !written.to_lowercase().contains("www."),
            "{written}"
        );
        // As a reader of Markdown shows it.
        let title = written.lines().next().unwrap();
        let given = unescaped(title.strip_prefix("### diskfacts: ").unwrap());
        assert_eq!(given, format!("last{0} against base.dfrun{0}", shown(text)));
    }
}

#[test]
fn hosts_as_markdown_have_no_markup_but_ours() {
    for text in HOSTILE {
        let written = markdown::hosts(&ci::together(|name| format!("{name}{text}")));
        assert_still(&written);
        for line in written.lines().filter(|line| line.starts_with('|')) {
            assert_eq!(line.matches('|').count(), 8, "{line}");
        }
        assert!(
            !written.contains(['<', '>', '`', '[', ']', '_', '~', '@', '\\']),
            "{written}"
        );
        let title = written.lines().next().unwrap();
        let title = unescaped(title.strip_prefix("### diskfacts: ").unwrap());
        let group = format!("Group n3{0}: 2 of 3 hosts; lost: c3{0}", shown(text));
        assert_eq!(title, group);
    }
}

/// With each `&#N;` as its character.
fn unescaped(text: &str) -> String {
    let mut parts = text.split("&#");
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        let (number, rest) = part.split_once(';').unwrap();
        out.push(char::from_u32(number.parse().unwrap()).unwrap());
        out.push_str(rest);
    }
    out
}
