//! Student's t distribution.

/// So many degrees of freedom are as good as the normal distribution: its chances
/// differ by less than 1e-6 (Abramowitz and Stegun 26.7.5: the difference falls as one
/// over the degrees).
pub(super) const LARGE: f64 = 1e6;

/// The chance that a t of `df` degrees of freedom is at least as far from 0 as
/// `t`, on either side: the regularized incomplete beta function
/// `I(df / (df + t^2); df / 2, 1 / 2)` (Abramowitz and Stegun, "Handbook of
/// Mathematical Functions", 1964, 26.7.1). `df` is above 0 and need not be
/// whole. Within 1e-9 of the exact value for `df` up to 1e5.
pub fn t_two_sided(t: f64, df: f64) -> f64 {
    let square = t * t;
    if square == 0.0 {
        return 1.0;
    }
    if !square.is_finite() {
        return 0.0;
    }
    incomplete_beta(df / (df + square), df / 2.0, 0.5).clamp(0.0, 1.0)
}

/// The t that is exceeded on either side with the chance `alpha`, in `(0, 1)`: the
/// inverse of [`t_two_sided`], to 11 digits. Newton's method on the logarithm of
/// the chance, whose slope the density gives, within a bracket that is halved
/// where it would leave it.
pub fn t_critical(alpha: f64, df: f64) -> f64 {
    let ln_beta = ln_gamma(df / 2.0) + ln_gamma(0.5) - ln_gamma(f64::midpoint(df, 1.0));
    let ln_density =
        |t: f64| -f64::midpoint(df, 1.0) * (t * t / df).ln_1p() - 0.5 * df.ln() - ln_beta;
    let (mut low, mut high) = (0.0, 2.0);
    while t_two_sided(high, df) > alpha && high < 1e150 {
        low = high;
        high *= 2.0;
    }
    let mut t = high;
    while high - low > 1e-11 * high {
        let p = t_two_sided(t, df);
        if p > alpha {
            low = t;
        } else {
            high = t;
        }
        let step = p * (p / alpha).ln() / (2.0 * ln_density(t).exp());
        let next = t + step;
        if step.abs() <= 1e-12 * t {
            return next;
        }
        t = if low < next && next < high {
            next
        } else {
            f64::midpoint(low, high)
        };
    }
    t
}

/// I(x; a, b), by the continued fraction 8.17.22 of the NIST Digital Library of
/// Mathematical Functions, evaluated by the modified method of Lentz (Thompson
/// and Barnett, "Coulomb and Bessel Functions of Complex Arguments and Order",
/// Journal of Computational Physics 64, 1986).
pub(super) fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // It converges quickly below the mean only; above it the other tail is taken.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let ln_front =
        a * x.ln() + b * (-x).ln_1p() - (ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b)) - a.ln();
    let (mut fraction, mut above, mut below) = (1.0, 1.0, 0.0);
    for step in 0..500_u32 {
        let half = f64::from(step / 2);
        let term = if step == 0 {
            1.0
        } else if step.is_multiple_of(2) {
            half * (b - half) * x / ((a + 2.0 * half - 1.0) * (a + 2.0 * half))
        } else {
            -(a + half) * (a + b + half) * x / ((a + 2.0 * half) * (a + 2.0 * half + 1.0))
        };
        below = 1.0 / not_zero(1.0 + term * below);
        above = not_zero(1.0 + term / above);
        fraction *= above * below;
        if (above * below - 1.0).abs() < 1e-14 && step > 0 {
            break;
        }
    }
    ln_front.exp() * (fraction - 1.0)
}

/// What is divided by must not be 0; Lentz's method takes something tiny.
fn not_zero(value: f64) -> f64 {
    const TINY: f64 = 1e-300;
    if value.abs() < TINY { TINY } else { value }
}

/// The logarithm of the gamma function for `x > 0`: Stirling's series
/// (Abramowitz and Stegun, 6.1.41) from 10 on, and the recurrence below.
fn ln_gamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < 10.0 {
        shift += x.ln();
        x += 1.0;
    }
    let square = x * x;
    let series = (1.0 / 12.0
        - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / (1680.0 * square)) / square) / square)
        / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn critical_values_are_those_of_the_published_table() {
        // Two-sided 5 %, 1 % and 0.1 %.
        for (df, five, one, tenth) in [
            (1.0, 12.706, 63.657, 636.619),
            (2.0, 4.303, 9.925, 31.599),
            (4.0, 2.776, 4.604, 8.610),
            (8.0, 2.306, 3.355, 5.041),
            (18.0, 2.101, 2.878, 3.922),
            (30.0, 2.042, 2.750, 3.646),
            (120.0, 1.980, 2.617, 3.373),
            (1e9, 1.960, 2.576, 3.291),
        ] {
            for (alpha, known) in [(0.05, five), (0.01, one), (0.001, tenth)] {
                let got = t_critical(alpha, df);
                assert!((got - known).abs() <= 6e-4, "{df} {alpha}: {got}");
            }
        }
    }

    #[test]
    fn with_many_degrees_it_is_the_normal_distribution() {
        for (z, both) in [
            (0.0, 1.0),
            (1.0, 0.317_310_5),
            (1.959_964, 0.05),
            (3.0, 0.002_699_8),
        ] {
            assert!((t_two_sided(z, LARGE) - both).abs() < 1e-6, "{z}");
            assert!((t_two_sided(-z, LARGE) - both).abs() < 1e-6, "{z}");
        }
        assert!((t_critical(0.05, LARGE) - 1.959_964).abs() < 4e-6);
    }

    #[test]
    fn one_and_two_degrees_of_freedom_have_exact_answers() {
        for t in [0.01, 0.5, 1.0, 3.0, 40.0, 1e6_f64] {
            let cauchy = 1.0 - 2.0 * t.atan() / std::f64::consts::PI;
            // 1 - t / sqrt(2 + t^2), without the loss of digits.
            let root = (2.0 + t * t).sqrt();
            let two = 2.0 / (root * (root + t));
            assert!((t_two_sided(t, 1.0) - cauchy).abs() < 1e-10, "{t}");
            assert!((t_two_sided(t, 2.0) / two - 1.0).abs() < 1e-9, "{t}");
        }
        assert!((t_two_sided(0.0, 3.0) - 1.0).abs() < f64::EPSILON);
        assert!(t_two_sided(f64::INFINITY, 3.0) < f64::EPSILON);
    }

    #[test]
    fn the_critical_value_is_the_inverse_also_between_whole_degrees() {
        for df in [1.0, 1.7, 4.3, 11.9, 77.7] {
            for alpha in [0.5, 0.05, 1e-3, 1e-6] {
                let back = t_two_sided(t_critical(alpha, df), df);
                assert!((back / alpha - 1.0).abs() < 1e-6, "{df} {alpha}: {back}");
            }
        }
    }
}
