//! The same of rows of iostat: what a device saw of one program's writes through
//! the page cache, and past it.

use crate::rules::requests::{NEAR, ONE};
use crate::rules::{Context, names};
use crate::words::{percent, ratio};
use diskfacts_plan::units::{parse_size, show_size};
use diskfacts_record::run::Reading;
use diskfacts_record::{Confidence, Finding, Severity, Trial};

pub(super) const NAME: &str = crate::rules::requests::NAME;

/// Requests so many times as large or as small as the writes are not the writes.
const OTHER: f64 = 1.5;
/// From here on several are on their way.
const SEVERAL: f64 = 2.0;

/// A row whose conditions say what the program wrote, and which way.
struct Row<'a> {
    reading: &'a Reading,
    trial: &'a Trial,
    raw: bool,
    block_size: u64,
    request_bytes: f64,
    depth: f64,
}

impl Row<'_> {
    /// Bytes of a request over those of a write.
    fn times(&self) -> f64 {
        self.request_bytes / self.block_size as f64
    }

    fn value(&self, name: &str) -> Option<f64> {
        self.reading.values.get(name).copied()
    }
}

fn rows<'a>(context: &Context<'a>) -> Vec<Row<'a>> {
    let readings = context
        .run
        .run
        .source
        .iter()
        .flat_map(|source| &source.readings);
    let row = |reading: &'a Reading| {
        let mut trials = context.run.trials.iter();
        let trial = trials.find(|trial| trial.line == Some(reading.line))?;
        // A heading of the document, or the stage of a plan that is printed so.
        let path = trial.settings.get("path").or(trial.settings.get("stage"))?;
        let raw = match path.as_str() {
            "raw" => true,
            "block" => false,
            _ => return None,
        };
        let value = |name: &str| {
            let value = reading.values.get(name).copied();
            value.filter(|value| value.is_finite() && *value > 0.0)
        };
        Some(Row {
            reading,
            trial,
            raw,
            block_size: parse_size(trial.settings.get("bs")?)
                .ok()
                .filter(|s| *s > 0)?,
            request_bytes: value("request_bytes")?,
            depth: value("queue_depth")?,
        })
    };
    readings.filter_map(row).collect()
}

pub(super) fn rows_of_one_writer(context: &Context<'_>) -> Vec<Finding> {
    let rows = rows(context);
    let single = rows
        .iter()
        .find(|row| row.raw && (row.times() - 1.0).abs() < NEAR && row.depth < ONE);
    let through = rows.iter().find(|row| {
        let other = row.times() >= OTHER || row.times() <= 1.0 / OTHER;
        !row.raw && other && row.depth >= SEVERAL
    });
    match (through, single) {
        (Some(through), Some(single)) => vec![finding(through, single)],
        _ => Vec::new(),
    }
}

fn size(bytes: f64) -> String {
    show_size(bytes.round() as u64)
}

fn finding(through: &Row<'_>, single: &Row<'_>) -> Finding {
    let verb = if through.times() > 1.0 {
        "merged"
    } else {
        "split"
    };
    let mut evidence = vec![line(through), line(single)];
    if let Some(merges) = through.value("merges_per_s").filter(|merges| *merges > 0.0) {
        let requests = through.value("requests_per_s").unwrap_or(f64::NAN);
        evidence.push(format!(
            "Line {}: {} merges per second for {} requests: each is made of {} pieces of {}, as \
             the page cache hands them down.",
            through.reading.line,
            ratio(merges),
            ratio(requests),
            ratio(merges / requests + 1.0),
            size(through.request_bytes / (merges / requests + 1.0))
        ));
    }
    let busy = single.depth.min(1.0);
    evidence.push(format!(
        "Line {}: a queue of {} behind one writer is one request at a time, and for {} of the time \
         none: the next one comes when the one before has come back.",
        single.reading.line,
        ratio(single.depth),
        percent(1.0 - busy)
    ));
    Finding {
        rule: NAME.into(),
        severity: Severity::Note,
        claim: format!(
            "On the block device writes of {} were {verb} into requests of {}, {} of them on \
             their way behind one writer; on the raw device each write of {} is one request, and \
             never more than one is on its way.",
            size(through.block_size as f64),
            size(through.request_bytes),
            ratio(through.depth),
            size(single.block_size as f64),
        ),
        evidence,
        confidence: Confidence::Certain,
        refuted_by: "Requests of the same size and depth for both, in rows of one machine and \
                     program."
            .into(),
        remedy: "Compare such rows by what the program did per second: on the raw device larger \
                 blocks or several writers make it faster, on the block device a sync at the end \
                 makes it one of the disk."
            .into(),
        stages: names([through.trial.stage.as_str(), single.trial.stage.as_str()]),
    }
}

fn line(row: &Row<'_>) -> String {
    format!(
        "Line {}, {}: requests of {} for writes of {}, {} on their way.",
        row.reading.line,
        if row.raw { "raw" } else { "block" },
        size(row.request_bytes),
        size(row.block_size as f64),
        ratio(row.depth)
    )
}
