//! A strided line as a trial.

use super::trials::{Made, sequential};
use crate::formats::stride::{MB, Op, Place, Row as Line, Suffix};
use crate::import::row::Row;
use diskfacts_plan::{Operation, Pattern, Touch, Values, Workload};

/// Bytes and rates of a modification count what is read and what is written, in
/// the record; the line counts its block once.
fn times(operation: Operation) -> u64 {
    if operation.modifies() { 2 } else { 1 }
}

pub(super) fn trial(row: &Row, line: &Line) -> Made {
    let operation = match line.op {
        Op::Read => Operation::Read,
        Op::Write => Operation::Write,
        Op::Modify => Operation::Modify { percent: 100 },
    };
    // The header says so, or what stands behind the numbers.
    let header = |name: &str| row.settings.get(name).map(|value| value == "true");
    let fixed = match line.suffix {
        Some(Suffix::Fixed) => Some(true),
        Some(Suffix::NotFixed) => Some(false),
        Some(Suffix::At(_)) | None => header("fixed"),
    };
    let from_start = match row.settings.get("offset0").map(String::as_str) {
        Some("0") => Some(false),
        Some("1") => Some(true),
        _ => None,
    };
    let mut workload = Workload {
        span: Some(line.total_bytes()),
        pattern: Pattern::Stride {
            skip_blocks: line.skip_blocks,
            fixed: fixed.unwrap_or(false),
            from_start: from_start.unwrap_or(false),
        },
        touch: if header("access") == Some(true) {
            Touch::Every
        } else {
            Touch::None
        },
        values: (header("val") == Some(true)).then_some(Values {
            fill: false,
            seed: None,
        }),
        ..sequential(operation, line.block_size, false)
    };
    workload.stop.fraction = Some(line.fraction);
    let mut made = Made::new(line.op.word(), row, workload);
    made.cell = true;
    made.unsaid.extend(["cache", "sync"]);
    // Without a skip there is nothing to fix, and passes do not differ.
    if line.skip_blocks > 1 {
        if fixed.is_none() {
            made.unsaid.insert("pattern.stride.fixed");
        }
        if from_start.is_none() {
            made.unsaid.insert("pattern.stride.from_start");
        }
    }
    match line.place {
        Some(Place::Ext) => made.set("place", "ext"),
        Some(Place::Raw) => made.set("place", "raw"),
        None => {}
    }
    made.set("skip", line.skip_blocks.to_string());
    made.set("fraction", format!("1/{}", line.fraction));
    made.set("bs", line.block_size.to_string());
    match &line.suffix {
        Some(Suffix::Fixed) => made.set("fixed", "true"),
        Some(Suffix::NotFixed) => made.set("fixed", "false"),
        Some(Suffix::At(place)) => made.set("at", place.clone()),
        None => {}
    }
    made.seconds = line.seconds;
    made.operations = line.operations();
    made.bytes = made
        .operations
        .saturating_mul(line.block_size)
        .saturating_mul(times(operation));
    made.iops = operations_per_s(line);
    made.bytes_per_s = made.iops * (line.block_size * times(operation)) as f64;
    made
}

/// Operations per second, as exactly as the figures of a line say together: each
/// is rounded to three decimals, and of distant blocks the crossed span has the
/// most digits. The middle of what rounds to all of them; where the line does not
/// agree with itself, the operations that it prints.
fn operations_per_s(line: &Line) -> f64 {
    let mib = line.block_size as f64 / MB as f64;
    let mut figures = vec![
        (line.real_mib_per_s, mib),
        (line.span_mib_per_s, mib * line.skip_blocks as f64),
    ];
    // Where nothing is skipped, the line prints 0 for what it is not about.
    if line.skip_blocks > 1 {
        figures.push((line.seeks_per_s, 1.0));
    }
    let (mut least, mut most) = (0.0_f64, f64::INFINITY);
    for (figure, of_one) in figures {
        least = least.max((figure - HALF_DIGIT) / of_one);
        most = most.min((figure + HALF_DIGIT) / of_one);
    }
    if least <= most {
        f64::midpoint(least, most)
    } else if line.skip_blocks > 1 {
        line.seeks_per_s
    } else {
        line.real_mib_per_s / mib
    }
}

/// Half of the last of three decimals.
const HALF_DIGIT: f64 = 0.0005;
