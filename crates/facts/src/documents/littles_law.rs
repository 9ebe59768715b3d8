//! Whether rows of iostat agree with themselves by Little's law (J. D. C. Little,
//! "A Proof for the Queuing Formula L = λW", Operations Research 9(3), 1961):
//! requests per second, times the seconds that each takes in the queue and in the
//! device, are the requests that are there on average.

use crate::rules::{Context, names};
use crate::words::{count, lines, percent};
use diskfacts_plan::units::three_digits;
use diskfacts_record::run::Reading;
use diskfacts_record::{Confidence, Finding, Severity};

pub(super) const NAME: &str = "littles-law";

/// From here on a row cannot be of one interval. The counters of a request are
/// added at its end and those of the queue while it lasts, so a queue that grows
/// during a short interval leaves up to a tenth or so.
const APART: f64 = 0.2;

/// What the digits of a row leave open from which on either side may be twice the other.
const OPEN: f64 = 0.5;

/// From here on it is worth a word.
const GROWS: f64 = 0.05;

/// A row, and both sides of the law.
struct Row<'a> {
    reading: &'a Reading,
    per_s: f64,
    wait_ms: f64,
    depth: f64,
    /// What the depth may be off by the rounding of the three, a share.
    rounding: f64,
}

impl Row<'_> {
    fn expected(&self) -> f64 {
        self.per_s * self.wait_ms / 1e3
    }

    fn apart(&self) -> f64 {
        let (a, b) = (self.expected(), self.depth);
        if a <= 0.0 && b <= 0.0 {
            return 0.0;
        }
        (a - b).abs() / b.max(a)
    }

    /// Further apart than the law and the rounding allow.
    fn is_odd(&self) -> bool {
        self.apart() > APART + self.rounding
    }
}

fn rows<'a>(context: &Context<'a>) -> Vec<Row<'a>> {
    let Some(source) = &context.run.run.source else {
        return Vec::new();
    };
    // Solaris prints one decimal of each column, Linux two.
    let half_digit = match source.format.as_str() {
        "iostat-linux" => 0.005,
        "iostat-solaris" => 0.05,
        _ => return Vec::new(),
    };
    let row = |reading: &'a Reading| {
        let value = |name: &str| reading.values.get(name).copied().filter(|v| v.is_finite());
        let (per_s, wait_ms, depth) = (
            value("requests_per_s")?,
            value("wait_ms")?,
            value("queue_depth")?,
        );
        // Each of the three may be the sum of two columns, of which each is rounded.
        let off = 2.0 * half_digit * ((wait_ms + per_s) / 1e3 + 1.0);
        (per_s > 0.0 && depth > 0.0).then(|| Row {
            reading,
            per_s,
            wait_ms,
            depth,
            rounding: off / depth.max(per_s * wait_ms / 1e3),
        })
    };
    // What its digits leave open decides nothing: an idle disk's row has one digit.
    let rows = source.readings.iter().filter_map(row);
    rows.filter(|row| row.rounding < OPEN).collect()
}

pub(super) fn rows_against_the_law(context: &Context<'_>) -> Vec<Finding> {
    let rows = rows(context);
    let odd: Vec<&Row<'_>> = rows.iter().filter(|row| row.is_odd()).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let told: Vec<&Row<'_>> = if odd.is_empty() {
        rows.iter().collect()
    } else {
        odd.clone()
    };
    let mut evidence: Vec<String> = told.iter().map(|row| line(row)).collect();
    let furthest = rows.iter().map(Row::apart).fold(0.0, f64::max);
    let stages = context.stages.iter().map(|stage| stage.name);
    if odd.is_empty() {
        if furthest > GROWS {
            evidence.push(
                "A queue that grows or shrinks during the interval leaves such a difference: a \
                 request is counted when it ends."
                    .into(),
            );
        }
        return vec![Finding {
            rule: NAME.into(),
            severity: Severity::Note,
            claim: format!(
                "{} of iostat {} Little's law within {}: the requests in the queue and the device \
                 are those that come per second, times the time of each.",
                capital(&count(rows.len() as u64, "row")),
                if rows.len() == 1 { "follows" } else { "follow" },
                percent(furthest)
            ),
            evidence,
            confidence: Confidence::Certain,
            refuted_by: "A column that was read in another unit than it is printed in.".into(),
            remedy: "Use the rows as they are: depth, rate and time of a request are not three \
                     facts but two."
                .into(),
            stages: names(stages),
        }];
    }
    let numbers: Vec<u64> = odd.iter().map(|row| row.reading.line).collect();
    let sound = rows.len() - odd.len();
    if sound > 0 {
        evidence.push(format!(
            "{} of the document's rows {} the law.",
            sound,
            if sound == 1 { "follows" } else { "follow" }
        ));
    }
    vec![Finding {
        rule: NAME.into(),
        severity: Severity::Warning,
        claim: format!(
            "{} of iostat cannot be right as printed: by Little's law requests per second times \
             the time of each are those in the queue, and they are up to {} apart.",
            capital(&lines(&numbers)),
            percent(furthest)
        ),
        evidence,
        confidence: Confidence::Certain,
        refuted_by: "Another unit of one of the columns in that version of iostat.".into(),
        remedy: "Leave out rows in which the queue grew or shrank throughout, as the first of a \
                 call; take longer intervals, `iostat -x 10`."
            .into(),
        stages: names(stages),
    }]
}

fn line(row: &Row<'_>) -> String {
    let than = if row.expected() > row.depth {
        "less"
    } else {
        "more"
    };
    format!(
        "Line {}: {} requests per second of {} ms each make {}; the row says {}, {} {than}.",
        row.reading.line,
        three_digits(row.per_s),
        three_digits(row.wait_ms),
        three_digits(row.expected()),
        three_digits(row.depth),
        percent(row.apart())
    )
}

fn capital(text: &str) -> String {
    let (first, rest) = text.split_at(1);
    first.to_uppercase() + rest
}
