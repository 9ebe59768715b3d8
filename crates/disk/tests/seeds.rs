//! The measured figures of the documents, against simulation.
//!
//! `cargo test -p diskfacts-disk --test seeds -- --nocapture` prints every cell.

use diskfacts_disk::reproduce::{Cell, Gate, Reproduction, reproduce};
use std::sync::LazyLock;

static RESULT: LazyLock<Reproduction> = LazyLock::new(|| reproduce(1));

fn line_of(cell: &Cell) -> String {
    let simulated = cell
        .simulated
        .map_or("not simulated".to_owned(), |value| format!("{value:.3}"));
    let error = cell
        .error()
        .map_or(String::new(), |error| format!("{:+.1} %", error * 100.0));
    let gate = cell.gate.map_or(String::new(), |gate| gate.to_string());
    format!(
        "seed {} line {} | {} | {:.3} {} | {simulated} | {error} | {gate} {}",
        cell.seed,
        cell.lines[0],
        cell.what,
        cell.measured,
        cell.unit,
        cell.reason.unwrap_or("")
    )
}

#[test]
fn every_gate_holds() {
    for cell in &RESULT.cells {
        println!("{}", line_of(cell));
    }
    for point in &RESULT.open_points {
        println!(
            "{}\n  {}\n  decides: {}",
            point.question, point.settled, point.decides
        );
        for prediction in &point.predictions {
            println!("  {prediction:?}");
        }
    }
    for verdict in &RESULT.verdicts {
        let holds = if verdict.holds { "holds" } else { "is missed" };
        println!(
            "{} {holds} ({}): {}",
            verdict.gate, verdict.limit, verdict.found
        );
    }
    let gates: Vec<Gate> = RESULT.verdicts.iter().map(|verdict| verdict.gate).collect();
    assert_eq!(gates, Gate::ALL);
    for verdict in RESULT
        .verdicts
        .iter()
        .filter(|verdict| verdict.gate.is_binding())
    {
        assert!(
            verdict.holds,
            "{} ({}): {}",
            verdict.gate, verdict.limit, verdict.found
        );
    }
    assert!(RESULT.holds());
}

#[test]
fn every_measured_row_is_in_a_cell() {
    let lines = |seed: u32| {
        let cells = RESULT.cells.iter().filter(|cell| cell.seed == seed);
        let mut lines: Vec<u32> = cells.flat_map(|cell| cell.lines.clone()).collect();
        lines.sort_unstable();
        lines.dedup();
        lines.len()
    };
    // 42 strided and 23 dd lines; 182 streams; six bonnie and three hdparm
    // lines; 294 of the matrix; five figures of the text, two of them in one
    // line, and five lines of iostat.
    assert_eq!([0, 1, 2, 3, 4].map(lines), [65, 182, 9, 294, 9]);
}

#[test]
fn a_cell_is_gated_or_says_why_not() {
    for cell in &RESULT.cells {
        let is_limited = cell.gate.is_some_and(Gate::is_binding);
        assert_eq!(is_limited, cell.reason.is_none(), "{}", line_of(cell));
        assert!(cell.simulated.is_some() || cell.reason.is_some());
        assert!(cell.measured > 0.0, "{}", line_of(cell));
    }
}

#[test]
fn the_random_skip_explains_what_the_fixed_one_does_not() {
    let point = &RESULT.open_points[1];
    let rms = |hypothesis: &str| {
        let errors: Vec<f64> = point
            .predictions
            .iter()
            .filter(|prediction| prediction.hypothesis.contains(hypothesis))
            .filter_map(|prediction| Some(prediction.value / prediction.measured? - 1.0))
            .collect();
        assert_eq!(errors.len(), 18);
        (errors.iter().map(|error| error * error).sum::<f64>() / 18.0).sqrt()
    };
    let (random, fixed) = (rms("at random"), rms("fixed"));
    assert!(random < 0.04 && fixed > 0.15, "{random} {fixed}");
}

#[test]
fn threshold_and_split_differ_between_one_and_a_quarter_and_one_and_two_thirds_mebibytes() {
    let point = &RESULT.open_points[0];
    let value = |hypothesis: &str, kib: u32| {
        let of = format!("write and flush of {kib} KiB");
        let found = point.predictions.iter().find(|prediction| {
            prediction.experiment == of && prediction.hypothesis.contains(hypothesis)
        });
        found.map_or(0, |prediction| prediction.value.round() as u32)
    };
    let threshold = [1024, 1408, 1536, 1792, 2048].map(|kib| value("3 MiB", kib));
    assert_eq!(threshold, [1, 1, 1, 2, 2]);
    let split = [1024, 1408, 1536, 1792, 2048].map(|kib| value("any number", kib));
    assert_eq!(split, [1, 2, 2, 2, 2]);
    // One command after another would take four revolutions at 4 MiB.
    assert_eq!(value("before the next", 4096), 4);
}
