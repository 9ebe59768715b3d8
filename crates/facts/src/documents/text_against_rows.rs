//! Numbers of a document's text that its own numbers contradict.
//!
//! A text sums up what was measured: `30% ... (39MB/s vs 27MB/s)`. The share follows
//! from the two rates, within what rounding leaves, and the rates from the rows. The
//! latency of rotation follows from the revolutions per minute.

use super::{Part, Shared, readings};
use crate::advise::{Measured, intervals};
use crate::rules::Context;
use crate::stages::Stage;
use crate::words::{lines, list};
use diskfacts_plan::units::{rate_digits, three_digits};
use diskfacts_record::{Confidence, Finding, Reading, Severity};

pub(super) const NAME: &str = "text-against-rows";

/// Points of a per cent by which a share may lie beyond what rounding of its rates
/// allows: writers round shares too.
const POINTS: f64 = 5.0;
/// How far a time may be from a half or a whole revolution, as a factor.
const TIMES: f64 = 2.0;
/// How near the median of a row must be to a rate that the text rounds to whole MB/s.
const ROUNDED: f64 = 1.0;

pub(super) fn wrong_sums(part: &Part<'_, '_>) -> Vec<Shared> {
    let mut evidence = Vec::new();
    let mut others = Vec::new();
    let readings = readings(part.run);
    for (i, reading) in readings.iter().enumerate() {
        if let Some(claimed) = Claimed::at(readings, i)
            && claimed.is_contradicted()
        {
            let mut runs = part.all.iter().enumerate();
            let rows = runs.find_map(|(run, context)| Some((run, claimed.rows(context)?)));
            let said = rows.as_ref().map_or("", |(_, said)| said);
            evidence.push(format!("{}{said}.", claimed.sentence()));
            let rows = rows.map(|(run, _)| run).filter(|run| *run != part.place);
            others.extend(rows.filter(|run| !others.contains(run)));
        }
        evidence.extend(rotation(reading));
    }
    if evidence.is_empty() {
        return Vec::new();
    }
    vec![(finding(evidence), others)]
}

fn finding(evidence: Vec<String>) -> Finding {
    let many = evidence.len();
    Finding {
        rule: NAME.into(),
        severity: Severity::Warning,
        claim: format!(
            "{} of the text {} not what {} own figures give.",
            if many == 1 {
                "A number".to_owned()
            } else {
                format!("{many} numbers")
            },
            if many == 1 { "is" } else { "are" },
            if many == 1 { "its" } else { "their" },
        ),
        evidence,
        // It is arithmetic; which of the numbers is wrong is not said.
        confidence: Confidence::Certain,
        refuted_by: "Other rows that the text speaks of, and the document does not have.".into(),
        remedy: "Quote the rows and not the text.".into(),
        stages: Vec::new(),
    }
}

/// A stage of the rows, and what was measured in it.
type Row<'s, 'a> = (&'s Stage<'a>, &'s Measured);

/// `30% ... (39MB/s vs 27MB/s)`
struct Claimed {
    line: u64,
    percent: f64,
    more: f64,
    less: f64,
    text: String,
}

impl Claimed {
    fn at(readings: &[Reading], i: usize) -> Option<Self> {
        let unit = |reading: &Reading, unit: &str| reading.values.get(unit).copied();
        let first = &readings[i];
        let percent = unit(first, "%")?;
        let (one, other) = (readings.get(i + 1)?, readings.get(i + 2)?);
        let (more, less) = (unit(one, "MB/s")?, unit(other, "MB/s")?);
        let together = first.line == one.line && one.line == other.line;
        let versus = format!("{more}MB/s vs {less}MB/s");
        let said = one.text.contains(&versus) || other.text.contains(&versus);
        let sound = percent > 0.0 && less > 0.0 && more > 0.0;
        (together && said && sound).then(|| Self {
            line: first.line,
            percent,
            more: more.max(less),
            less: less.min(more),
            text: first.text.clone(),
        })
    }

    /// By how many per cent the larger rate is more, at least and at most: both are
    /// rounded to whole numbers.
    fn bounds(&self) -> [f64; 2] {
        let low = (self.more - 0.5) / (self.less + 0.5);
        let high = (self.more + 0.5) / (self.less - 0.5).max(f64::MIN_POSITIVE);
        [low, high].map(|times| (times - 1.0) * 100.0)
    }

    fn is_contradicted(&self) -> bool {
        let [low, high] = self.bounds();
        self.percent < low - POINTS || self.percent > high + POINTS
    }

    fn sentence(&self) -> String {
        let [low, high] = self.bounds();
        format!(
            "Line {}: it says {} % ({} against {} MB/s), and these two are {:.0} % apart, {low:.0} \
             to {high:.0} % with what rounding leaves",
            self.line,
            three_digits(self.percent),
            three_digits(self.more),
            three_digits(self.less),
            (self.more / self.less - 1.0) * 100.0,
        )
    }

    /// The rows that it speaks of: two stages that differ in one setting, with medians
    /// that round to the rates; of several pairs that with the most values of its
    /// settings in the text.
    fn rows(&self, context: &Context<'_>) -> Option<String> {
        let rates: Vec<Vec<f64>> = context.stages.iter().map(Stage::rates).collect();
        let measured = intervals(&rates);
        let near = |rate: f64| {
            let all = context.stages.iter().zip(&measured);
            let near: Vec<Row<'_, '_>> = all
                .filter_map(|(stage, measured)| Some((stage, measured.as_ref()?)))
                .filter(|(_, m)| (m.value / 1e6 - rate).abs() <= ROUNDED)
                .collect();
            near
        };
        let mut best: Option<(usize, Row<'_, '_>, Row<'_, '_>)> = None;
        for more in near(self.more) {
            for less in near(self.less) {
                if differ(more.0, less.0) == 1 {
                    let words = self.words_of(more.0);
                    if best.as_ref().is_none_or(|(most, ..)| words > *most) {
                        best = Some((words, more, less));
                    }
                }
            }
        }
        let (_, more, less) = best?;
        let trials = more.0.trials.iter().chain(&less.0.trials);
        let numbers: Vec<u64> = trials.filter_map(|trial| trial.line).collect();
        let (low, high) = apart(more.0, less.0)?;
        Some(format!(
            "; by the rows ({}) {} against {} MB/s, {:+.0} %, {low:+.0} to {high:+.0} % from run \
             to run",
            lines(&numbers),
            rate_digits(more.1.value / 1e6),
            rate_digits(less.1.value / 1e6),
            (more.1.value / less.1.value - 1.0) * 100.0,
        ))
    }

    fn words_of(&self, stage: &Stage<'_>) -> usize {
        let text = self.text.to_lowercase();
        let values = stage.settings.values();
        values
            .filter(|value| text.contains(&value.to_lowercase()))
            .count()
    }
}

/// How many settings are not the same.
fn differ(one: &Stage<'_>, other: &Stage<'_>) -> usize {
    let mut keys: Vec<&String> = one.settings.keys().chain(other.settings.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let unlike = keys
        .iter()
        .filter(|key| one.settings.get(**key) != other.settings.get(**key));
    unlike.count()
}

/// Least and most per cent between a trial of the one and a trial of the other.
fn apart(more: &Stage<'_>, less: &Stage<'_>) -> Option<(f64, f64)> {
    let range = |stage: &Stage<'_>| {
        let sorted = crate::stats::finite_sorted(&stage.rates());
        Some((*sorted.first()?, *sorted.last()?))
    };
    let ((low, high), (least, most)) = (range(more)?, range(less)?);
    Some(((low / most - 1.0) * 100.0, (high / least - 1.0) * 100.0))
}

/// `the rotation latency (~0.1ms on 7200RPM)`
fn rotation(reading: &Reading) -> Option<String> {
    let ms = reading.values.get("ms").copied().filter(|ms| *ms > 0.0)?;
    let text = reading.text.to_lowercase();
    if !text.contains("rotation") {
        return None;
    }
    let before = text
        .split("rpm")
        .next()
        .filter(|before| before.len() < text.len())?;
    let digits = before.trim_end();
    let start = digits
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(0, |at| at + 1);
    let rpm: f64 = digits[start..].parse().ok().filter(|rpm| *rpm > 0.0)?;
    let whole = 60_000.0 / rpm;
    let half = whole / 2.0;
    if ms >= half / TIMES && ms <= whole * TIMES {
        return None;
    }
    let times = list(&[three_digits(half), three_digits(whole)]);
    Some(format!(
        "Line {}: it says {} ms for rotation at {rpm} rpm, where half and whole revolutions take \
         {times} ms (60 s / {rpm}).",
        reading.line,
        three_digits(ms),
    ))
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
        let claimed = Claimed::at(&readings, 0);
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
        assert!(Claimed::at(&readings, 0).is_none());
        assert!(Claimed::at(&readings, 1).is_none());
        let mut three = vec![reading("%", 0.0, "0% (1MB/s vs 1MB/s)"); 3];
        three[1] = reading("MB/s", 1.0, "0% (1MB/s vs 1MB/s)");
        three[2] = three[1].clone();
        assert!(Claimed::at(&three, 0).is_none());
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
