//! From values to places of a drawing: linear and logarithmic scales, their ticks, and the
//! units that values are shown in.

use super::LOOK;
use crate::text::words::{grouped, percent};
use diskfacts_plan::units::{show_size, three_digits};

/// What a value is of; how it is written follows from that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Nanoseconds: `12 µs`.
    Ns,
    /// Bytes: `64 KiB`.
    Bytes,
    /// Bytes per second, written in 10^6 of them: `83.4`.
    BytesPerS,
    /// Operations or files per second: `98,680`.
    PerS,
    /// A share of a whole: `37 %`.
    Share,
    /// A number of things, or of none: `32`.
    Plain,
}

impl Unit {
    /// A value as a label has it; [`Unit::name`] says what it is of.
    pub(crate) fn show(self, value: f64) -> String {
        match self {
            Self::Ns if value < 0.5 => "0".to_owned(),
            Self::Ns => LOOK.duration(value.round() as u64),
            Self::Bytes => show_size(value.round() as u64),
            Self::BytesPerS => grouped(&three_digits(value / 1e6)),
            Self::PerS | Self::Plain => grouped(&three_digits(value)),
            Self::Share => percent(value),
        }
    }

    /// What stands in a title, because labels do not say it; empty where they do.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::BytesPerS => "MB/s",
            Self::PerS => "IOPS",
            Self::Ns | Self::Bytes | Self::Share | Self::Plain => "",
        }
    }
}

/// Where values lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    logarithmic: bool,
    /// The least and the greatest value.
    pub(crate) domain: (f64, f64),
    /// The places of these two.
    pub(crate) range: (f64, f64),
}

impl Scale {
    /// From `low` to `high`; where these are equal, from 0 on or a little around them.
    pub(crate) fn linear(low: f64, high: f64) -> Self {
        let domain = match (low, high) {
            (low, high) if low < high => (low, high),
            (same, _) if same > 0.0 => (0.0, same),
            (same, _) => (same, same + 1.0),
        };
        Self {
            logarithmic: false,
            domain,
            range: (0.0, 1.0),
        }
    }

    /// From `low` to `high`, both above 0: what is not is taken for the least that is.
    pub(crate) fn logarithmic(low: f64, high: f64) -> Self {
        let low = low.max(f64::MIN_POSITIVE);
        let domain = if low < high {
            (low, high)
        } else {
            (low / 2.0, low * 2.0)
        };
        Self {
            logarithmic: true,
            domain,
            range: (0.0, 1.0),
        }
    }

    /// The same between two places.
    pub(crate) fn onto(self, from: f64, to: f64) -> Self {
        Self {
            range: (from, to),
            ..self
        }
    }

    /// The same, widened until it begins and ends with a tick, of which there are at most about
    /// `most`.
    pub(crate) fn rounded(self, most: usize) -> Self {
        let (low, high) = self.domain;
        let domain = if self.logarithmic {
            (below(low), above(high))
        } else {
            let step = step(high - low, most);
            (step.floor(low), step.ceil(high))
        };
        Self { domain, ..self }
    }

    fn along(&self, value: f64) -> f64 {
        let (low, high) = self.domain;
        if self.logarithmic {
            (value.max(f64::MIN_POSITIVE) / low).ln() / (high / low).ln()
        } else {
            (value - low) / (high - low)
        }
    }

    /// The place of a value; one beyond the domain lies at its end.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let (from, to) = self.range;
        from + self.along(value).clamp(0.0, 1.0) * (to - from)
    }

    /// The value of a place, for tests that read a drawing.
    #[cfg(test)]
    pub(crate) fn value(&self, place: f64) -> f64 {
        let (from, to) = self.range;
        let (low, high) = self.domain;
        let along = (place - from) / (to - from);
        if self.logarithmic {
            low * (high / low).powf(along)
        } else {
            low + along * (high - low)
        }
    }

    /// Round values within the domain, rising, at most about `most`: multiples of 1, 2 or 5
    /// times a power of ten; of a logarithm powers of ten, or 1, 2 and 5 times these where it
    /// has few of them.
    pub(crate) fn ticks(&self, most: usize) -> Vec<f64> {
        let (low, high) = self.domain;
        if !self.logarithmic {
            return step(high - low, most).within(low, high);
        }
        let within = |value: &f64| *value >= low * (1.0 - 1e-9) && *value <= high * (1.0 + 1e-9);
        let powers = || (low.log10().floor() as i32..=high.log10().ceil() as i32).map(power);
        let fine: Vec<f64> = powers()
            .flat_map(|power| [power, 2.0 * power, 5.0 * power])
            .filter(within)
            .collect();
        if fine.len() <= most {
            return fine;
        }
        let decades: Vec<f64> = powers().filter(within).collect();
        let every = decades.len().div_ceil(most.max(1)).max(1);
        decades.into_iter().step_by(every).collect()
    }
}

/// A power of ten, exact where it can be.
fn power(exponent: i32) -> f64 {
    if exponent < 0 {
        1.0 / 10_f64.powi(-exponent)
    } else {
        10_f64.powi(exponent)
    }
}

/// The greatest of 1, 2, 5, 10, ... that is no more than this, and the least that is no less.
fn below(value: f64) -> f64 {
    let power = power(value.log10().floor() as i32);
    let steps = [5.0, 2.0, 1.0].map(|step| step * power);
    let found = steps.into_iter().find(|step| *step <= value * (1.0 + 1e-9));
    found.unwrap_or(power)
}

fn above(value: f64) -> f64 {
    let power = power(value.log10().floor() as i32);
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    let found = steps.into_iter().find(|step| *step >= value * (1.0 - 1e-9));
    found.unwrap_or(10.0 * power)
}

/// The step of a linear scale: 1, 2 or 5 times a power of ten.
struct Step {
    times: f64,
    exponent: i32,
}

fn step(span: f64, most: usize) -> Step {
    let least = span / most.max(1) as f64;
    let exponent = least.log10().floor() as i32;
    let mut rounded = [1.0, 2.0, 5.0, 10.0].into_iter();
    let times = rounded.find(|times| times * power(exponent) >= least * (1.0 - 1e-9));
    Step {
        times: times.unwrap_or(10.0),
        exponent,
    }
}

impl Step {
    /// So many steps. Divided by a power of ten where that is exact, so that 3 of 0.1 are 0.3.
    fn many(&self, n: f64) -> f64 {
        if self.exponent < 0 {
            n * self.times / 10_f64.powi(-self.exponent)
        } else {
            n * self.times * 10_f64.powi(self.exponent)
        }
    }

    fn in_steps(&self, value: f64) -> f64 {
        value / self.many(1.0)
    }

    fn floor(&self, value: f64) -> f64 {
        self.many((self.in_steps(value) + 1e-9).floor())
    }

    fn ceil(&self, value: f64) -> f64 {
        self.many((self.in_steps(value) - 1e-9).ceil())
    }

    fn within(&self, low: f64, high: f64) -> Vec<f64> {
        let first = (self.in_steps(low) - 1e-9).ceil() as i64;
        let last = (self.in_steps(high) + 1e-9).floor() as i64;
        (first..=last).map(|n| self.many(n as f64)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_ticks_are_round_and_exact() {
        let ticks = |low, high, most| Scale::linear(low, high).ticks(most);
        assert_eq!(ticks(0.0, 1.0, 5), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
        assert_eq!(ticks(0.0, 0.35, 4), [0.0, 0.1, 0.2, 0.3]);
        assert_eq!(ticks(13.0, 87.0, 4), [20.0, 40.0, 60.0, 80.0]);
        let rounded = Scale::linear(0.0, 87.0).rounded(5);
        assert_eq!(rounded.domain, (0.0, 100.0));
    }

    #[test]
    fn logarithmic_ticks_are_decades_or_finer_where_there_are_few() {
        let ticks = |low, high, most| Scale::logarithmic(low, high).ticks(most);
        assert_eq!(ticks(1e3, 1e9, 4), [1e3, 1e5, 1e7, 1e9]);
        assert_eq!(ticks(10.0, 100.0, 5), [10.0, 20.0, 50.0, 100.0]);
        assert_eq!(ticks(0.5, 2.0, 5), [0.5, 1.0, 2.0]);
        let rounded = Scale::logarithmic(13.0, 870.0).rounded(5);
        assert_eq!(rounded.domain, (10.0, 1000.0));
        assert_eq!(
            Scale::logarithmic(10.0, 1000.0).rounded(5).domain,
            (10.0, 1000.0)
        );
    }

    #[test]
    fn a_place_has_its_value_and_what_lies_beyond_lies_at_the_end() {
        let linear = Scale::linear(0.0, 10.0).onto(100.0, 0.0);
        let places = [0.0, 2.5, 10.0, 12.0].map(|v| linear.at(v).round() as u32);
        assert_eq!(places, [100, 75, 0, 0]);
        assert!((linear.value(75.0) - 2.5).abs() < 1e-9);
        let log = Scale::logarithmic(1.0, 1000.0).onto(0.0, 300.0);
        let places = [1.0, 10.0, 1000.0, 0.0].map(|v| log.at(v).round() as u32);
        assert_eq!(places, [0, 100, 300, 0]);
        assert!((log.value(100.0) - 10.0).abs() < 1e-9);
    }

    #[test]
    fn a_domain_of_one_value_has_room_around_it() {
        assert_eq!(Scale::linear(5.0, 5.0).domain, (0.0, 5.0));
        assert_eq!(Scale::linear(0.0, 0.0).domain, (0.0, 1.0));
        assert_eq!(Scale::logarithmic(8.0, 8.0).domain, (4.0, 16.0));
    }

    #[test]
    fn values_are_shown_in_fitting_units() {
        assert_eq!(Unit::Ns.show(12_000.0), "12 µs");
        assert_eq!(Unit::Ns.show(0.0), "0");
        assert_eq!(Unit::Bytes.show(65_536.0), "64 KiB");
        assert_eq!(Unit::BytesPerS.show(83.44e6), "83.4");
        assert_eq!(Unit::PerS.show(98_680.0), "98,680");
        assert_eq!(Unit::Share.show(0.374), "37 %");
        assert_eq!(Unit::Plain.show(32.0), "32");
    }
}
