//! Whether rows of iostat agree with themselves by Little's law (J. D. C. Little, "A Proof
//! for the Queuing Formula L = λW", Operations Research 9(3), 1961): requests per second,
//! times the seconds that each takes in the queue and in the device, are the requests that
//! are there on average.

use super::{number, readings};
use crate::rules::prelude::*;
use crate::words::lines;
use diskfacts_record::Reading;

pub(super) const RULE: Rule = Rule {
    name: "littles-law",
    needs: &[Document],
    confidence: Confidence::Certain,
    check: Check::One(check),
    ..Rule::NOTE
};

/// From here on a row cannot be of one interval. The counters of a request are added at
/// its end and those of the queue while it lasts, so a queue that grows during a short
/// interval leaves up to a tenth or so.
const APART: f64 = 0.2;
/// What the digits of a row leave open from which on either side may be twice the other.
const OPEN: f64 = 0.5;
/// From here on it is worth a word.
const GROWS: f64 = 0.05;
/// Half of the last digit of each column, by the format.
const HALF_DIGITS: [(&str, f64); 2] = [("iostat-linux", 0.005), ("iostat-solaris", 0.05)];

/// A row held to the law.
struct Row<'a> {
    reading: &'a Reading,
    per_s: f64,
    wait_ms: f64,
    depth: f64,
    /// The depth by the law.
    expected: f64,
    /// How far the two depths are apart, as a share of the larger one, and what of it the
    /// rounding of the three columns may be.
    apart: f64,
    rounding: f64,
}

impl<'a> Row<'a> {
    fn of(reading: &'a Reading, half_digit: f64) -> Option<Self> {
        let [per_s, wait_ms, depth] =
            ["requests_per_s", "wait_ms", "queue_depth"].map(|name| number(reading, name));
        let (per_s, wait_ms, depth) = (per_s?, wait_ms?, depth?);
        let expected = per_s * wait_ms / 1e3;
        let larger = depth.max(expected);
        // Each of the three may be the sum of two columns, of which each is rounded.
        let off = 2.0 * half_digit * ((wait_ms + per_s) / 1e3 + 1.0);
        let row = Self {
            reading,
            per_s,
            wait_ms,
            depth,
            expected,
            apart: (expected - depth).abs() / larger,
            rounding: off / larger,
        };
        // What its digits leave open decides nothing: an idle disk's row has one digit.
        (per_s > 0.0 && depth > 0.0 && row.rounding < OPEN).then_some(row)
    }

    fn sentence(&self) -> String {
        let less = self.expected > self.depth;
        let than = if less { "less" } else { "more" };
        let [per_s, each_ms, expected, depth] =
            [self.per_s, self.wait_ms, self.expected, self.depth].map(three_digits);
        format!(
            "Line {}: {per_s} requests per second of {each_ms} ms each make {expected}; the row \
             says {depth}, {} {than}.",
            self.reading.line,
            percent(self.apart)
        )
    }
}

fn follow(rows: usize) -> &'static str {
    if rows == 1 { "follows" } else { "follow" }
}

fn check(context: &Context<'_>) -> Option<Found> {
    let source = context.run.run.source.as_ref();
    let format = source.map_or("", |source| &source.format);
    let (_, half_digit) = HALF_DIGITS.iter().find(|(known, _)| *known == format)?;
    let rows = readings(context).iter();
    let rows: Vec<Row<'_>> = rows.filter_map(|row| Row::of(row, *half_digit)).collect();
    let furthest = rows.iter().map(|row| row.apart).reduce(f64::max)?;
    let apart = percent(furthest);
    let odd = |row: &&Row<'_>| row.apart > APART + row.rounding;
    let (odd, sound): (Vec<&Row<'_>>, Vec<_>) = rows.iter().partition(odd);
    let told = if odd.is_empty() { &sound } else { &odd };
    let evidence: Vec<String> = told.iter().map(|row| row.sentence()).collect();
    let stages = names(context.stages.iter().map(|stage| stage.name));
    let mut base = RULE.claim("").stages(stages).evidence(evidence);
    if odd.is_empty() {
        if furthest > GROWS {
            base.evidence.push(
                "A queue that grows or shrinks during the interval leaves such a difference: a \
                 request is counted when it ends."
                    .into(),
            );
        }
        return Some(
            base.said(format!(
                "{} of iostat {} Little's law within {apart}: the requests in the queue and the \
                 device are those that come per second, times the time of each.",
                count(rows.len() as u64, "row"),
                follow(rows.len())
            ))
            .headline(format!("rows agree with Little's law within {apart}")),
        );
    }
    if !sound.is_empty() {
        let (rows, follow) = (sound.len(), follow(sound.len()));
        let line = format!("{rows} of the document's rows {follow} the law.");
        base.evidence.push(line);
    }
    Some(
        base.said(format!(
            "{} of iostat cannot be right as printed: by Little's law requests per second times \
             the time of each are those in the queue, and they are up to {apart} apart.",
            lines(odd.iter().map(|row| row.reading.line))
        ))
        .severity(Severity::Warning)
        .headline(format!("rows contradict Little's law by up to {apart}"))
        .case("contradicted"),
    )
}
