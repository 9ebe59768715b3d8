//! Quantiles of the normal distribution and of Student's.

/// The logarithm of the gamma function of a positive number, by the series of
/// Stirling with the argument raised above 10: Abramowitz and Stegun, "Handbook of
/// Mathematical Functions", 1964, 6.1.41 and 6.1.15.
fn ln_gamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < 10.0 {
        shift += x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    let series = inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0)));
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - shift
}

/// The regularised incomplete beta function, by its continued fraction: Abramowitz and
/// Stegun 26.5.8, in the order of evaluation of Lentz (Applied Optics 15, 1976).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast below the mean of the distribution.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let ln_front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln();
    let away = |v: f64| if v.abs() < 1e-300 { 1e-300 } else { v };
    let (mut upper, mut lower) = (1.0, 1.0 / away(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = lower;
    for step in 1..400 {
        let place = f64::from(step);
        let even = place * (b - place) * x / ((a + 2.0 * place - 1.0) * (a + 2.0 * place));
        let odd =
            -(a + place) * (a + b + place) * x / ((a + 2.0 * place) * (a + 2.0 * place + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            lower = 1.0 / away(1.0 + term * lower);
            upper = away(1.0 + term / upper);
            change = upper * lower;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    ln_front.exp() * fraction / a
}

/// The chance that Student's t with `degrees` of freedom exceeds `t`: Abramowitz and
/// Stegun 26.7.1.
pub(super) fn student_above(t: f64, degrees: f64) -> f64 {
    let both = incomplete_beta(degrees / 2.0, 0.5, degrees / (degrees + t * t));
    if t >= 0.0 {
        both / 2.0
    } else {
        1.0 - both / 2.0
    }
}

/// The value that Student's t with `degrees` of freedom exceeds with the chance
/// `above`, which is in `0..0.5`; by halving, to 12 digits.
pub(super) fn student_quantile(above: f64, degrees: f64) -> f64 {
    let mut high = 1.0;
    while student_above(high, degrees) > above && high < 1e12 {
        high *= 2.0;
    }
    let mut low = 0.0;
    for _ in 0..60 {
        let mid = f64::midpoint(low, high);
        if student_above(mid, degrees) > above {
            low = mid;
        } else {
            high = mid;
        }
    }
    high
}

/// The chance that a standard normal value lies farther from 0 than `z`, on either
/// side. Student's with many degrees of freedom is as near as the tests here need
/// (Abramowitz and Stegun 26.7.5: the difference falls as one over the degrees).
pub(super) fn normal_both_sides(z: f64) -> f64 {
    2.0 * student_above(z.abs(), 1e7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_students_t_are_those_of_the_tables() {
        for (above, degrees, table) in [
            (0.025, 1.0, 12.706_205),
            (0.025, 4.0, 2.776_445),
            (0.025, 9.0, 2.262_157),
            (0.005, 19.0, 2.860_935),
            (0.025, 30.0, 2.042_272),
            (0.025, 1e7, 1.959_964),
        ] {
            let got = student_quantile(above, degrees);
            assert!((got - table).abs() < 2e-6, "{degrees}: {got}");
        }
    }

    #[test]
    fn the_normal_chance_is_that_of_the_tables() {
        for (z, both) in [
            (0.0, 1.0),
            (1.0, 0.317_311),
            (1.959_964, 0.05),
            (3.0, 0.002_700),
        ] {
            assert!((normal_both_sides(z) - both).abs() < 1e-6, "{z}");
            assert!((normal_both_sides(-z) - both).abs() < 1e-6, "{z}");
        }
    }
}
