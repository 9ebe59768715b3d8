//! What is odd about the rows of a whole document: missing values, decimal
//! marks, the unit behind the same word.

use super::Document;
use super::row::{Format, Measured};
use crate::formats::dd;
use diskfacts_plan::SyncMode;

/// Adds a note for each oddity.
pub(super) fn note(document: &mut Document) {
    units(document);
    odd_repeats(document);
    cold_start(document);
}

/// What a MB or a K is in each format that is there.
fn units(document: &mut Document) {
    for (format, unit) in [
        (Format::Stride, "MB of strided lines are 2^20 bytes"),
        (Format::Dd, "MB of dd are 10^6 bytes"),
        (Format::Hdparm, "MB of hdparm are 2^20 bytes"),
        (Format::Bonnie, "K of bonnie++ are 2^10 bytes"),
        (Format::WriteMatrix, "MB of this benchmark are 2^20 bytes"),
        (Format::IostatLinux, "kB of this iostat are 2^10 bytes"),
        (
            Format::IostatSolaris,
            "M and k of this iostat are 2^20 and 2^10 bytes",
        ),
        (Format::Text, "MB of running text are taken as 10^6 bytes"),
    ] {
        let first = document.rows.iter().find(|row| row.format == format);
        if let Some(line) = first.map(|row| row.line) {
            document.note(line, format!("{unit}."));
        }
    }
}

/// Share by which the first synced write may be slower than the others of its
/// block size; ten of the eleven others of the benchmark's own results lie within
/// 3 %.
const COLD: f64 = 0.05;

/// The first synced mode of the write benchmark, where it is slower than the
/// others of its size: then the drive was not at work yet.
fn cold_start(document: &mut Document) {
    let mut synced = Vec::new();
    for row in &document.rows {
        if let Measured::WriteMatrix(cell) = &row.measured
            && cell.mode.sync.each_write()
        {
            synced.push((row.line, cell.block_size, cell.mode.sync, cell.mib_per_s));
        }
    }
    let Some(&(line, size, SyncMode::Fdatasync, first)) = synced.first() else {
        return;
    };
    let mut others: Vec<f64> = synced[1..]
        .iter()
        .filter(|(_, other, _, _)| *other == size)
        .map(|(_, _, _, rate)| *rate)
        .collect();
    others.sort_by(f64::total_cmp);
    let Some(median) = others.get(others.len() / 2) else {
        return;
    };
    if first < median * (1.0 - COLD) {
        let text = format!(
            "The first synced mode has {first:.2} MB/s, the others with this block size \
             {median:.2}: it may have met a drive that was not at work yet."
        );
        document.note(line, text);
    }
}

/// Notes on repeats whose number is missing, and on the rarer decimal mark.
fn odd_repeats(document: &mut Document) {
    let mut missing = Vec::new();
    let mut marks = [Vec::new(), Vec::new()];
    for row in &document.rows {
        let Measured::Repeat(repeat) = &row.measured else {
            continue;
        };
        match repeat.rate {
            None => missing.push(row.line),
            Some(rate) if rate.decimals > 0 => {
                marks[usize::from(repeat.mark == dd::DecimalMark::Comma)].push(row.line);
            }
            Some(_) => {}
        }
    }
    for line in missing {
        document.note(
            line,
            "The number is missing here; the row is kept without it.",
        );
    }
    let [points, commas] = marks;
    if let (Some(first), true) = (commas.first(), points.len() < commas.len()) {
        let text = format!(
            "From here on {} numbers have a decimal comma, and {} a point.",
            commas.len(),
            points.len()
        );
        document.note(*first, text);
        for line in points {
            document.note(
                line,
                "This number has a decimal point, unlike most others here.",
            );
        }
    } else if let Some(first) = commas.first() {
        let text = format!(
            "From here on {} numbers have a decimal comma.",
            commas.len()
        );
        document.note(*first, text);
    }
}
