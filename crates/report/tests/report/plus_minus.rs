//! What stands behind `+/-` of a rate means one thing, wherever it stands.

use crate::fixtures;
use diskfacts_facts::figure;
use diskfacts_record::{Figure, Run};
use diskfacts_report::text::{self, Closing, Done, Left, Look, Standing};

const LOOK: Look = Look {
    width: 80,
    colour: false,
    unicode: false,
};

/// Of nine trials, whose interval is 80 to 120 (the second to the eighth) and whose range 10 to 190.
const RATES: [f64; 9] = [10.0, 80.0, 90.0, 95.0, 100.0, 105.0, 110.0, 120.0, 190.0];

/// As they are, about another median.
fn about(median: f64) -> Figure {
    figure(RATES.iter().map(|rate| rate * median / 100.0))
}

/// With these trials of each stage and each cell.
fn with_rates(mut run: Run) -> Run {
    for figures in &mut run.figures {
        figures.iops = about(figures.iops.median);
        figures.throughput_bytes_per_s = about(figures.throughput_bytes_per_s.median);
    }
    let cells = run
        .effects
        .iter_mut()
        .flat_map(|effects| &mut effects.cells);
    for cell in cells {
        cell.rate = cell.rate.map(|rate| about(rate.median));
    }
    run
}

/// What stands in the column `+/-` of the first page, in the rows of its stages.
fn column(page: &str) -> Vec<String> {
    let (_, table) = page.split_once("+/-").expect("the head of the table");
    let (table, _) = table.split_once("+/-").expect("what the column means");
    let rows = table.lines().skip(1);
    let shares = rows.filter_map(|row| row.split_once(" %")?.0.split(' ').next_back());
    shares.map(|share| format!("{share} %")).collect()
}

/// What stands behind each `+/-` that has a number, as `20 %`.
fn widths(text: &str) -> Vec<String> {
    let behind = text.split("+/-").skip(1).filter_map(|rest| {
        let (number, _) = rest.split_once(" %")?;
        let number = number.trim();
        number.parse::<f64>().ok().map(|_| format!("{number} %"))
    });
    behind.collect()
}

#[test]
fn plus_minus_is_half_the_interval_on_every_page_and_in_the_progress() {
    let closing = Closing {
        stored: String::new(),
        next: Vec::new(),
        show: "diskfacts show last".to_owned(),
    };
    let standing = Standing {
        stage: "reader",
        called: "trial",
        trial: 10,
        trials: (6, 30),
        rates: &RATES,
        now: None,
        block_size: Some(4096),
        left: None::<Left>,
    };
    let done = Done {
        stage: "reader",
        called: "trial",
        rates: &RATES,
        block_size: Some(4096),
    };
    let tuned = with_rates(fixtures::tuned());
    let healthy = with_rates(fixtures::healthy());
    for (place, text) in [
        ("progress", text::progress(&standing, &LOOK)),
        ("a stage that is done", text::stage_done(&done, &LOOK)),
        ("the whole page", text::run(&healthy, &closing, &LOOK)),
        (
            "the bars of a matrix",
            text::summary(&tuned, &closing, &LOOK),
        ),
        ("the table of a matrix", text::run(&tuned, &closing, &LOOK)),
    ] {
        let widths = widths(&text);
        assert!(!widths.is_empty(), "{place}: {text}");
        assert!(
            widths.iter().all(|width| width == "20 %"),
            "{place}: {text}"
        );
    }
    let page = text::summary(&healthy, &closing, &LOOK);
    assert_eq!(column(&page), vec!["20 %"; healthy.figures.len()], "{page}");
}
