//! Numbers of a document's text that its own numbers contradict.
//!
//! A text sums up what was measured: `30% ... (39MB/s vs 27MB/s)`. The share follows
//! from the two rates, within what rounding leaves, and the rates from the rows. The
//! latency of rotation follows from the revolutions per minute.

use super::{differ_in, number, readings};
use crate::advise::intervals;
use crate::rules::prelude::*;
use crate::rules::{Part, Shared};
use crate::stats::finite_sorted;
use crate::words::lines;
use diskfacts_record::Reading;

pub(super) const RULE: Rule = Rule {
    name: "text-against-rows",
    needs: &[Document],
    // It is arithmetic; which of the numbers is wrong is not said.
    check: Check::Beside(check),
    ..Rule::WARNING
};

/// Points of a per cent by which a share may lie beyond what rounding of its rates
/// allows: writers round shares too.
const POINTS: f64 = 5.0;
/// How far a time may be from a half or a whole revolution, as a factor.
const TIMES: f64 = 2.0;
/// How near the median of a row must be to a rate that the text rounds to whole MB/s.
const ROUNDED: f64 = 1.0;

fn check(part: &Part<'_, '_>) -> Vec<Shared> {
    let (mut evidence, mut others) = (Vec::new(), Vec::new());
    let readings = readings(part.run());
    for (i, reading) in readings.iter().enumerate() {
        let claimed = Claimed::at(&readings[i..]).filter(Claimed::is_contradicted);
        if let Some(claimed) = claimed {
            let mut runs = part.all.iter().enumerate();
            let rows = runs.find_map(|(run, context)| Some((run, claimed.rows(context)?)));
            let (run, said) = rows.unwrap_or((part.place, String::new()));
            evidence.push(format!("{}{said}.", claimed.sentence()));
            if run != part.place && !others.contains(&run) {
                others.push(run);
            }
        }
        evidence.extend(rotation(reading));
    }
    let what = match evidence.len() {
        0 => return Vec::new(),
        1 => "A number of the text is not what its own figures give.".to_owned(),
        many => format!("{many} numbers of the text are not what their own figures give."),
    };
    let finding = RULE
        .claim(what)
        .headline("numbers of the text contradict its own rows")
        .stages(Vec::new())
        .evidence(evidence);
    vec![(finding, others)]
}

/// `30% ... (39MB/s vs 27MB/s)`
struct Claimed<'a> {
    line: u64,
    percent: f64,
    more: f64,
    less: f64,
    text: &'a str,
}

impl<'a> Claimed<'a> {
    /// A share, and the two rates behind it.
    fn at(readings: &'a [Reading]) -> Option<Self> {
        let [share, one, other, ..] = readings else {
            return None;
        };
        let percent = number(share, "%")?;
        let (a, b) = (number(one, "MB/s")?, number(other, "MB/s")?);
        let together = share.line == one.line && one.line == other.line;
        let versus = format!("{a}MB/s vs {b}MB/s");
        let said = one.text.contains(&versus) || other.text.contains(&versus);
        let sound = percent > 0.0 && a > 0.0 && b > 0.0;
        (together && said && sound).then(|| Self {
            line: share.line,
            percent,
            more: a.max(b),
            less: a.min(b),
            text: &share.text,
        })
    }

    /// By how many per cent the larger rate is more, at least and at most: both are
    /// rounded to whole numbers.
    fn bounds(&self) -> [f64; 2] {
        let low = (self.more - 0.5) / (self.less + 0.5);
        let high = (self.more + 0.5) / (self.less - 0.5).max(f64::MIN_POSITIVE);
        [low, high].map(more_by)
    }

    fn is_contradicted(&self) -> bool {
        let [low, high] = self.bounds();
        self.percent < low - POINTS || self.percent > high + POINTS
    }

    fn sentence(&self) -> String {
        let [low, high] = self.bounds();
        let [said, more, less] = [self.percent, self.more, self.less].map(three_digits);
        format!(
            "Line {}: it says {said} % ({more} against {less} MB/s), and these two are {:.0} % \
             apart, {low:.0} to {high:.0} % with what rounding leaves",
            self.line,
            more_by(self.more / self.less)
        )
    }

    /// The rows that it speaks of: two stages that differ in one setting, with medians
    /// that round to the rates; of several pairs the first of those with the most values
    /// of its settings in the text.
    fn rows(&self, context: &Context<'_>) -> Option<String> {
        let rates: Vec<Vec<f64>> = context.stages.iter().map(Stage::rates).collect();
        let medians = intervals(&rates).into_iter().map(|m| Some(m?.value / 1e6));
        let rows: Vec<(&Stage<'_>, Option<f64>)> = context.stages.iter().zip(medians).collect();
        let near = |rate: f64| {
            let near = rows
                .iter()
                .filter_map(|(stage, median)| Some((*stage, (*median)?)));
            near.filter(move |(_, median)| (median - rate).abs() <= ROUNDED)
        };
        let text = self.text.to_lowercase();
        let pairs = near(self.more).flat_map(|more| near(self.less).map(move |less| (more, less)));
        let ((more, m), (less, l)) = pairs
            .filter(|((more, _), (less, _))| differ_in(more, less).len() == 1)
            // The first of equals, of which the last is taken.
            .rev()
            .max_by_key(|((more, _), _)| {
                let values = more.settings.values();
                values
                    .filter(|value| text.contains(&value.to_lowercase()))
                    .count()
            })?;
        // Least and most between a trial of the one and a trial of the other.
        let [more_trials, less_trials] = [more, less].map(|stage| finite_sorted(&stage.rates()));
        let low = more_trials.first()? / less_trials.last()?;
        let high = more_trials.last()? / less_trials.first()?;
        let lines = lines([more.lines(), less.lines()].concat());
        let [by, low, high] = [m / l, low, high].map(more_by);
        let [m, l] = [m, l].map(rate_digits);
        Some(format!(
            "; by the rows ({lines}) {m} against {l} MB/s, {by:+.0} %, {low:+.0} to {high:+.0} % \
             from run to run"
        ))
    }
}

/// A ratio as what the one is more than the other, per cent.
fn more_by(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

/// `the rotation latency (~0.1ms on 7200RPM)`
fn rotation(reading: &Reading) -> Option<String> {
    let ms = number(reading, "ms").filter(|ms| *ms > 0.0)?;
    let text = reading.text.to_lowercase();
    let (before, _) = text
        .split_once("rpm")
        .filter(|_| text.contains("rotation"))?;
    let digits = before.trim_end();
    let rest = digits.trim_end_matches(|c: char| c.is_ascii_digit());
    let rpm: f64 = digits[rest.len()..].parse().ok().filter(|rpm| *rpm > 0.0)?;
    let whole = 60_000.0 / rpm;
    let half = whole / 2.0;
    (ms < half / TIMES || ms > whole * TIMES).then(|| {
        let [ms, half, whole] = [ms, half, whole].map(three_digits);
        format!(
            "Line {}: it says {ms} ms for rotation at {rpm} rpm, where half and whole revolutions \
             take {half} and {whole} ms (60 s / {rpm}).",
            reading.line
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(unit: &str, value: f64, text: &str) -> Reading {
        Reading {
            line: 9,
            text: text.to_owned(),
            values: [(unit.to_owned(), value)].into(),
        }
    }

    fn of(percent: f64, more: f64, less: f64) -> bool {
        let text = format!("{percent}% with deadline ({more}MB/s vs {less}MB/s)");
        let readings = [
            reading("%", percent, &text),
            reading("MB/s", more, &text),
            reading("MB/s", less, &text),
        ];
        let claimed = Claimed::at(&readings);
        claimed.expect("a share of two rates").is_contradicted()
    }

    #[test]
    fn a_share_must_follow_from_its_rates_within_rounding() {
        assert!(of(30.0, 39.0, 27.0));
        assert!(!of(44.0, 39.0, 27.0));
        assert!(!of(40.0, 71.0, 51.0));
        // 5 may be 4.5: 422 %.
        assert!(!of(400.0, 23.0, 5.0));
        assert!(of(500.0, 23.0, 5.0));
    }

    #[test]
    fn shares_without_two_rates_beside_them_are_not_judged() {
        let text = "50% worse (48MB/s), even worse";
        let readings = [reading("%", 50.0, text), reading("MB/s", 48.0, text)];
        assert!(Claimed::at(&readings).is_none());
        assert!(Claimed::at(&readings[1..]).is_none());
        let mut three = vec![reading("%", 0.0, "0% (1MB/s vs 1MB/s)"); 3];
        three[1] = reading("MB/s", 1.0, "0% (1MB/s vs 1MB/s)");
        three[2] = three[1].clone();
        assert!(Claimed::at(&three).is_none());
    }

    #[test]
    fn a_revolution_takes_what_the_speed_says() {
        let said = |ms, text: &str| rotation(&reading("ms", ms, text));
        let text = "must wait the rotation latency (~0.1ms on 7200RPM).";
        let found = said(0.1, text).expect("it is wrong");
        assert!(found.contains("4.17 and 8.33 ms"), "{found}");
        assert_eq!(said(4.2, text), None);
        assert_eq!(said(8.3, text), None);
        assert_eq!(said(0.1, "a latency of 0.1ms"), None);
        assert_eq!(said(0.1, "rotation at 0 RPM"), None);
    }
}
