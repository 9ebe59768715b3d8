//! What the rows of iostat show of one program's writes through the page cache, and past
//! it: how large the requests are, and how many of them are in the queue.

use super::{number, readings};
use crate::rules::prelude::*;
use crate::rules::requests::{self, NEAR, ONE};
use diskfacts_plan::units::parse_size;
use diskfacts_record::Reading;

pub(super) const RULE: Rule = Rule {
    needs: &[Document],
    case: "document",
    check: Check::One(check),
    ..requests::RULE
};

/// Requests so many times as large or as small as the writes are not the writes.
const OTHER: f64 = 1.5;
/// From here on several are in the queue.
const SEVERAL: f64 = 2.0;

/// A row whose conditions say what the program wrote, and which way.
struct Row<'a> {
    reading: &'a Reading,
    trial: &'a Trial,
    /// `raw` or `block`.
    path: &'a str,
    block_size: u64,
    request_bytes: f64,
    depth: f64,
}

impl<'a> Row<'a> {
    fn of(context: &Context<'a>, reading: &'a Reading) -> Option<Self> {
        let mut trials = context.run.trials.iter();
        let trial = trials.find(|trial| trial.line == Some(reading.line))?;
        let setting = |name: &str| trial.settings.get(name).map(String::as_str);
        let positive = |name: &str| number(reading, name).filter(|number| *number > 0.0);
        Some(Self {
            reading,
            trial,
            // A heading of the document, or the stage of a plan that is printed so.
            path: setting("path").or(setting("stage"))?,
            block_size: parse_size(setting("bs")?).ok().filter(|size| *size > 0)?,
            request_bytes: positive("request_bytes")?,
            depth: positive("queue_depth")?,
        })
    }

    /// Bytes of a request over those of a write.
    fn times(&self) -> f64 {
        self.request_bytes / self.block_size as f64
    }

    fn sentence(&self) -> String {
        format!(
            "Line {}, {}: requests of {} for writes of {}, {} on their way.",
            self.reading.line,
            self.path,
            size(self.request_bytes),
            show_size(self.block_size),
            ratio(self.depth)
        )
    }
}

fn check(context: &Context<'_>) -> Option<Found> {
    let rows = readings(context).iter();
    let rows: Vec<Row<'_>> = rows.filter_map(|row| Row::of(context, row)).collect();
    let single =
        |row: &&Row<'_>| row.path == "raw" && (row.times() - 1.0).abs() < NEAR && row.depth < ONE;
    let through = |row: &&Row<'_>| {
        let other = row.times() >= OTHER || row.times() <= 1.0 / OTHER;
        row.path == "block" && other && row.depth >= SEVERAL
    };
    Some(finding(
        rows.iter().find(through)?,
        rows.iter().find(single)?,
    ))
}

fn finding(through: &Row<'_>, single: &Row<'_>) -> Found {
    let mut evidence = vec![through.sentence(), single.sentence()];
    let merges = number(through.reading, "merges_per_s").filter(|merges| *merges > 0.0);
    if let Some(merges) = merges {
        let requests = number(through.reading, "requests_per_s").unwrap_or(f64::NAN);
        let pieces = merges / requests + 1.0;
        let each = size(through.request_bytes / pieces);
        let [merges, requests, pieces] = [merges, requests, pieces].map(ratio);
        evidence.push(format!(
            "Line {}: {merges} merges per second for {requests} requests: each is made of {pieces} \
             pieces of {each}, as the page cache hands them down.",
            through.reading.line
        ));
    }
    evidence.push(format!(
        "Line {}: a queue of {} behind one writer is one request at a time, and for {} of the time \
         none: the next one comes when the one before has come back.",
        single.reading.line,
        ratio(single.depth),
        percent(1.0 - single.depth.min(1.0))
    ));
    let large = through.times() > 1.0;
    let verb = if large { "merged" } else { "split" };
    let requests = size(through.request_bytes);
    let stages = names([&*through.trial.stage, &*single.trial.stage]);
    RULE.claim(format!(
            "On the block device writes of {} were {verb} into requests of {requests}, {} of them \
             on their way behind one writer; on the raw device each write of {} is one request, and \
             never more than one is on its way.",
            show_size(through.block_size),
            ratio(through.depth),
            show_size(single.block_size),
        )).headline(format!("the page cache {verb} writes into requests of {requests}")).stages(stages).evidence(evidence)
}
