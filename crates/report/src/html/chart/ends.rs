//! What is drawn around a figure: how sure it is, or, of too few trials for that, how far they
//! reach.

use diskfacts_record::Figure;

/// The ends of a whisker, in the unit of the figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ends {
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Whether they are a 95 % interval of the median; else the lowest and the highest trial.
    pub(crate) interval: bool,
}

impl Ends {
    /// `None` of a single trial: nothing is known of its spread.
    pub(crate) fn of(figure: &Figure) -> Option<Self> {
        let interval = figure.ci95.map(|[low, high]| Self {
            low,
            high,
            interval: true,
        });
        let range = Self {
            low: figure.min,
            high: figure.max,
            interval: false,
        };
        let known = figure.trials > 1 && figure.min.is_finite() && figure.max.is_finite();
        interval.or_else(|| known.then_some(range))
    }

    /// As one over it: of a rate the time per operation.
    pub(crate) fn inverse(self, factor: f64) -> Self {
        Self {
            low: factor / self.high,
            high: factor / self.low,
            ..self
        }
    }

    /// Whether the two have a value in common.
    pub(crate) fn overlap(self, other: Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }
}

/// What the whiskers of a drawing are; `None` where it has none.
pub(crate) fn meaning(all: impl IntoIterator<Item = Ends>) -> Option<&'static str> {
    let (mut intervals, mut ranges) = (false, false);
    for ends in all {
        intervals |= ends.interval;
        ranges |= !ends.interval;
    }
    match (intervals, ranges) {
        (true, false) => Some("Whiskers are 95 % intervals of the median."),
        (false, true) => Some(
            "Whiskers reach from the lowest to the highest trial: there are too few for an \
             interval.",
        ),
        (true, true) => Some(
            "Whiskers are 95 % intervals of the median, or reach from the lowest to the highest \
             trial where these are too few.",
        ),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(ci95: Option<[f64; 2]>, trials: u32) -> Figure {
        Figure {
            median: 100.0,
            min: 90.0,
            max: 120.0,
            spread: Some(0.3),
            ci95,
            ci_method: None,
            trials,
        }
    }

    #[test]
    fn an_interval_comes_before_the_range_and_one_trial_has_neither() {
        let known = Ends::of(&figure(Some([95.0, 105.0]), 9)).unwrap();
        assert!(known.interval);
        assert!((known.low - 95.0).abs() < 1e-9 && (known.high - 105.0).abs() < 1e-9);
        let range = Ends::of(&figure(None, 3)).unwrap();
        assert!(!range.interval);
        assert!((range.low - 90.0).abs() < 1e-9 && (range.high - 120.0).abs() < 1e-9);
        assert_eq!(Ends::of(&figure(None, 1)), None);
        assert_eq!(meaning([]), None);
        assert!(meaning([known]).unwrap().contains("95 %"));
        assert!(meaning([range]).unwrap().contains("lowest"));
        assert!(meaning([known, range]).unwrap().contains("or reach"));
    }

    #[test]
    fn a_rate_becomes_a_time_with_its_ends_the_other_way_round() {
        let rate = Ends::of(&figure(None, 3)).unwrap();
        let time = rate.inverse(1e9);
        assert!((time.low - 1e9 / 120.0).abs() < 1e-6 && (time.high - 1e9 / 90.0).abs() < 1e-6);
        let from = |low: f64| Ends {
            low,
            high: 200.0,
            ..rate
        };
        assert!(rate.overlap(from(119.0)) && from(119.0).overlap(rate));
        assert!(!rate.overlap(from(121.0)) && !from(121.0).overlap(rate));
    }
}
