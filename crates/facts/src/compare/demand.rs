//! `--fail-if`: conditions under which a comparison is to fail.

use diskfacts_record::comparison::{
    Change, Comparison, Demand, Difference, Measure, StageComparison,
};

/// A condition on the stages of a comparison: `slower:5%`, `p99:slower:10%`,
/// `random-read-qd1:changed:3%`.
#[derive(Debug, Clone, PartialEq)]
pub struct Demanded {
    given: String,
    stage: Option<String>,
    measure: Option<Measure>,
    kind: Kind,
    share: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Slower,
    Faster,
    Changed,
    NotSame,
}

/// What is accepted, in words.
const ACCEPTED: &str = "[STAGE:][p50|p90|p99|p99.9:]slower|faster|changed|not-same:PERCENT%, as in \
                        slower:5%, p99:slower:20% or random-read-qd1:not-same:3%";

impl Demanded {
    /// Reads a condition.
    ///
    /// # Errors
    /// A sentence on what is wrong and what is accepted.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |what: String| format!("{what}; a condition is {ACCEPTED}");
        let (rest, percent) = text
            .trim()
            .rsplit_once(':')
            .ok_or_else(|| wrong(format!("'{text}' has no percentage behind a colon")))?;
        let (rest, kind) = rest.rsplit_once(':').map_or(("", rest), |(a, b)| (a, b));
        let kind = match kind {
            "slower" => Kind::Slower,
            "faster" => Kind::Faster,
            "changed" => Kind::Changed,
            "not-same" => Kind::NotSame,
            other => return Err(wrong(format!("'{other}' is no change"))),
        };
        let share = percent
            .trim()
            .strip_suffix('%')
            .and_then(|number| number.trim().parse::<f64>().ok())
            .filter(|number| number.is_finite() && (0.0..=10_000.0).contains(number))
            .ok_or_else(|| wrong(format!("'{percent}' is no percentage from 0% to 10000%")))?
            / 100.0;
        if kind == Kind::NotSame && share <= 0.0 {
            return Err(wrong(
                "not-same:0% would always hold: no interval lies within 0 %".to_owned(),
            ));
        }
        let (rest, last) = rest.rsplit_once(':').map_or(("", rest), |(a, b)| (a, b));
        let (stage, measure) = match last {
            "p50" => (rest.to_owned(), Some(Measure::LatencyP50Ns)),
            "p90" => (rest.to_owned(), Some(Measure::LatencyP90Ns)),
            "p99" => (rest.to_owned(), Some(Measure::LatencyP99Ns)),
            "p99.9" => (rest.to_owned(), Some(Measure::LatencyP999Ns)),
            "" => (String::new(), None),
            // A label may hold colons itself.
            _ if rest.is_empty() => (last.to_owned(), None),
            _ => (format!("{rest}:{last}"), None),
        };
        Ok(Self {
            given: text.trim().to_owned(),
            stage: (!stage.is_empty()).then_some(stage),
            measure,
            kind,
            share,
        })
    }

    /// The stage that it is limited to: its name or its label.
    pub fn stage(&self) -> Option<&str> {
        self.stage.as_deref()
    }

    /// Whether it is about the stage of this label.
    pub fn is_of(&self, label: &str) -> bool {
        self.stage.as_ref().is_none_or(|stage| {
            let name = label.split(" (").next().unwrap_or(label);
            stage == label || stage == name
        })
    }

    /// Holds it against a comparison.
    pub(crate) fn of(&self, comparison: &Comparison) -> Demand {
        let mut demand = Demand {
            given: self.given.clone(),
            holds: Vec::new(),
            judged: 0,
            unjudged: Vec::new(),
        };
        for stage in comparison.stages.iter().filter(|s| self.is_of(&s.stage)) {
            let judged = self.judge(stage);
            demand.judged += u32::from(judged.is_some());
            match judged {
                Some(true) => demand.holds.push(stage.stage.clone()),
                Some(false) => {}
                None => demand.unjudged.push(stage.stage.clone()),
            }
        }
        let missing = comparison
            .only_in_a
            .iter()
            .filter(|label| self.is_of(label));
        demand.unjudged.extend(missing.cloned());
        demand
    }

    /// Whether it holds for a stage; `None` where that cannot be told.
    fn judge(&self, stage: &StageComparison) -> Option<bool> {
        let difference = match self.measure {
            None => stage.speed.as_ref(),
            Some(measure) => {
                let mut of_stage = stage.latency.iter().chain(&stage.speed);
                of_stage.find(|difference| difference.measure == measure)
            }
        }?;
        // Without an interval only that everything stopped is beyond chance.
        if difference.interval.is_none() && difference.outcome == Change::Unclear {
            return None;
        }
        let large = loss_or_gain(difference) >= self.share;
        Some(match self.kind {
            Kind::Slower => difference.outcome == Change::Slower && large,
            Kind::Faster => difference.outcome == Change::Faster && large,
            Kind::Changed => matches!(difference.outcome, Change::Slower | Change::Faster) && large,
            Kind::NotSame => !difference
                .interval
                .is_some_and(|interval| super::is_within(interval, self.share)),
        })
    }
}

/// By which share a figure changed, without its sign.
fn loss_or_gain(difference: &Difference) -> f64 {
    difference.change.abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_text_is_a_condition_or_is_answered(
            text in prop_oneof![".{0,30}", "[a-z:%0-9.]{0,20}(slower|faster|not-same):[0-9.e+-]{0,8}%"],
        ) {
            match Demanded::parse(&text) {
                Ok(read) => prop_assert!(read.share >= 0.0 && read.share <= 100.0),
                Err(error) => prop_assert!(error.contains("as in slower:5%")),
            }
        }
    }

    #[test]
    fn conditions_are_read_from_broad_to_narrow() {
        let plain = Demanded::parse("slower:5%").unwrap();
        assert_eq!((plain.stage(), plain.measure), (None, None));
        assert!((plain.share - 0.05).abs() < 1e-12);
        let of_tail = Demanded::parse("p99.9:changed:20 %").unwrap();
        assert_eq!(of_tail.measure, Some(Measure::LatencyP999Ns));
        let of_stage = Demanded::parse("log-write:p50:faster:0.5%").unwrap();
        assert_eq!(of_stage.stage(), Some("log-write"));
        assert_eq!(of_stage.kind, Kind::Faster);
        let of_cell = Demanded::parse("read (target=a:b):not-same:3%").unwrap();
        assert_eq!(of_cell.stage(), Some("read (target=a:b)"));
        assert!(of_cell.is_of("read (target=a:b)") && !of_cell.is_of("read"));
        let of_name = Demanded::parse("read:slower:1%").unwrap();
        assert!(of_name.is_of("read (target=a:b)") && of_name.is_of("read"));
    }

    #[test]
    fn what_is_no_condition_is_answered_with_what_is() {
        for wrong in [
            "",
            "slower",
            "slower:5",
            "slower:-5%",
            "slower:x%",
            "slower:nan%",
            "worse:5%",
            "not-same:0%",
        ] {
            let error = Demanded::parse(wrong).expect_err(wrong);
            assert!(error.contains("as in slower:5%"), "{wrong}: {error}");
        }
    }
}
