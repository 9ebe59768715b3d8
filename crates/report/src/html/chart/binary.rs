//! Labels of axes of bytes: powers of two, as people say sizes.

use diskfacts_plan::units::show_size;

/// Most labels of an axis.
const LABELS: u64 = 5;

/// Multiples of a power of two from 0 to this.
pub(crate) fn linear(size: u64) -> Vec<(f64, String)> {
    let step = size.div_ceil(LABELS).next_power_of_two().max(1);
    let multiples = (0..=size / step).map(|n| n * step);
    multiples.map(labelled).collect()
}

/// Powers of two from one distance to another, evenly apart.
pub(crate) fn logarithmic(low: u64, high: u64) -> Vec<(f64, String)> {
    let (first, last) = (low.max(1).next_power_of_two(), high.max(1));
    let powers = u64::from(last.ilog2().saturating_sub(first.ilog2()));
    let every = powers.div_ceil(LABELS).max(1);
    let exponents = (u64::from(first.ilog2())..=u64::from(last.ilog2())).step_by(every as usize);
    exponents.map(|exponent| labelled(1 << exponent)).collect()
}

fn labelled(bytes: u64) -> (f64, String) {
    (bytes as f64, show_size(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(ticks: Vec<(f64, String)>) -> Vec<String> {
        ticks.into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn sizes_are_powers_of_two_and_few() {
        assert_eq!(
            names(linear(960_197_124_096)),
            ["0 B", "256 GiB", "512 GiB", "768 GiB"]
        );
        assert_eq!(names(linear(1 << 30)).last().unwrap(), "1 GiB");
        assert_eq!(
            names(logarithmic(4096, 1 << 30)),
            ["4 KiB", "64 KiB", "1 MiB", "16 MiB", "256 MiB"]
        );
        assert_eq!(names(logarithmic(512, 512)), ["512 B"]);
        assert_eq!(names(linear(0)), ["0 B"]);
    }
}
