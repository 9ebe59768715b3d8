//! The strided-block measurement in its own lines.

use crate::fixtures;
use diskfacts_plan::{Operation, Pattern, Stop, Touch, builtin};
use diskfacts_record::{Run, TargetKind};
use diskfacts_report::classic;
use diskfacts_report::formats::stride::{Op, Place, Row, Suffix};

const TAKASHI: &str = include_str!("../documents/000_406dd5c1dd98a7d4.txt");

/// A run whose trials are what these lines say.
fn run_of(rows: &[Row]) -> Run {
    let mut run = fixtures::healthy();
    let (stage, trial) = (run.plan.stages[0].clone(), run.trials[0].clone());
    run.plan.stages.clear();
    run.trials.clear();
    for (i, row) in rows.iter().enumerate() {
        let mut stage = stage.clone();
        stage.name = format!("s{i}");
        stage.settings.clear();
        let workload = &mut stage.workload;
        workload.operation = match row.op {
            Op::Read => Operation::Read,
            Op::Write => Operation::Write,
            Op::Modify => Operation::Modify { percent: 100 },
        };
        workload.pattern = Pattern::Stride {
            skip_blocks: row.skip_blocks,
            fixed: row.suffix == Some(Suffix::Fixed),
            from_start: false,
        };
        workload.block_size = row.block_size;
        workload.span = Some(row.total_bytes());
        workload.queue_depth = 1;
        workload.streams = 1;
        workload.stop = Stop {
            fraction: Some(row.fraction),
            ..Stop::default()
        };
        let mut trial = trial.clone();
        trial.stage.clone_from(&stage.name);
        trial.settings.clear();
        trial.ops = row.operations();
        trial.errors = 0;
        trial.seconds = seconds(row);
        trial.workload = stage.workload.clone();
        run.plan.stages.push(stage);
        run.trials.push(trial);
    }
    run.target.kind = match rows[0].place {
        Some(Place::Raw) => TargetKind::Device,
        Some(Place::Ext) | None => TargetKind::File,
    };
    run.target.size_bytes = 1 << 40;
    run
}

/// The seconds of a line to more digits than it has: in the middle of those that
/// round to all of its figures.
fn seconds(row: &Row) -> f64 {
    let done = row.operations() as f64;
    let mib = done * row.block_size as f64 / f64::from(1 << 20);
    let mut figures = vec![
        (mib * row.skip_blocks as f64, row.span_mib_per_s),
        (mib, row.real_mib_per_s),
    ];
    if row.skip_blocks > 1 {
        figures.push((done, row.seeks_per_s));
    }
    let (mut least, mut most) = (row.seconds - 0.005, row.seconds + 0.005);
    for (amount, figure) in figures {
        least = least.max(amount / (figure + 0.0005));
        most = most.min(amount / (figure - 0.0005));
    }
    assert!(least < most, "the figures of {row} agree");
    f64::midpoint(least, most)
}

fn rows() -> Vec<(&'static str, Row)> {
    let rows = TAKASHI.lines().filter_map(|line| {
        let row: Row = line.parse().ok()?;
        Some((line.trim_end(), row))
    });
    rows.collect()
}

#[test]
fn every_line_of_the_document_comes_of_a_trial_to_the_character() {
    let rows = rows();
    assert_eq!(rows.len(), 42);
    for (line, row) in rows {
        let run = run_of(std::slice::from_ref(&row));
        let printed = classic::run(&run);
        let (header, printed) = printed.split_once('\n').expect("a header and a line");
        let fixed = row.suffix == Some(Suffix::Fixed);
        assert_eq!(
            header,
            format!("offset0:0, access:false, fixed:{fixed}, val:false")
        );
        // Who measured only one target need not say which, nor fixed or not.
        let line = match (&row.place, &row.suffix) {
            (None, _) => format!("ext: {line}"),
            (_, Some(_)) => line.rsplit_once(", ").expect("a suffix").0.to_owned(),
            _ => line.to_owned(),
        };
        assert_eq!(printed.trim_end(), line);
    }
}

#[test]
fn fixed_and_drawn_skips_beside_each_other_are_told_on_their_lines() {
    let beside: Vec<(&str, Row)> = rows()
        .into_iter()
        .filter(|(_, row)| {
            row.place == Some(Place::Raw)
                && matches!(row.suffix, Some(Suffix::Fixed | Suffix::NotFixed))
        })
        .collect();
    let only_rows: Vec<Row> = beside.iter().map(|(_, row)| row.clone()).collect();
    let lines: Vec<&str> = beside.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(
        classic::run(&run_of(&only_rows)),
        format!("{}\n{}\n", lines[0], lines[1])
    );
}

#[test]
fn a_header_stands_above_each_group_of_options() {
    let row = rows()[0].1.clone();
    let mut run = run_of(&[row.clone(), row.clone(), row]);
    for (stage, trial) in run.plan.stages.iter_mut().zip(&mut run.trials).skip(1) {
        stage.workload.touch = Touch::Every;
        trial.workload.touch = Touch::Every;
    }
    let printed = classic::run(&run);
    let headers: Vec<(usize, &str)> = printed
        .lines()
        .enumerate()
        .filter(|(_, line)| line.starts_with("offset0"))
        .collect();
    assert_eq!(
        headers,
        [
            (0, "offset0:0, access:false, fixed:false, val:false"),
            (3, "offset0:0, access:true, fixed:false, val:false")
        ]
    );
}

#[test]
fn what_a_line_cannot_say_is_left_out_and_told() {
    let row = rows()[0].1.clone();
    let said = |change: &dyn Fn(&mut Run)| {
        let mut run = run_of(&[row.clone(), row.clone()]);
        change(&mut run);
        let lines = classic::run(&run).lines().count();
        assert_eq!(lines, 2, "a header and the other trial");
        classic::notes(&run).pop().expect("a note")
    };
    let failed = said(&|run| run.trials[0].errors = 1);
    assert!(
        failed.starts_with("Left out s0: operations failed"),
        "{failed}"
    );
    let size = said(&|run| run.trials[0].workload.span = Some(3 << 30));
    assert!(size.contains("powers of two"), "{size}");
    let part = said(&|run| {
        run.trials[0].ops = 8191;
        run.trials[0].workload.stop.fraction = None;
    });
    assert!(part.contains("use --full"), "{part}");
    let time = said(&|run| run.trials[0].seconds = 0.004);
    assert!(time.contains("hundredths"), "{time}");
}

#[test]
fn only_plans_that_the_lines_can_say_have_them() {
    let mut plan = builtin::plan("stride").expect("it is built in");
    assert!(classic::has(&plan));
    plan.stages[3].workload.queue_depth = 2;
    assert!(!classic::has(&plan));
}
