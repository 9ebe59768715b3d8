//! What is seen of a run while it measures: one line on a terminal, and elsewhere a line
//! for each stage that is done.

use super::look::Look;
use super::words::{count, half_width, three_digits};
use super::wrap::{columns, cut};
use diskfacts_plan::units::show_duration;

/// A stage while it is measured.
#[derive(Debug, Clone, Copy)]
pub struct Standing<'a> {
    /// Its name, with its settings if it has some.
    pub stage: &'a str,
    /// What each time is called: `trial`, or `round` of what is done before the trials.
    pub called: &'a str,
    /// Which of its trials runs, from 1.
    pub trial: u32,
    /// How often it is done: at least, and at most.
    pub trials: (u32, u32),
    /// Operations per second of its trials so far.
    pub rates: &'a [f64],
    /// Operations per second now; absent before the first.
    pub now: Option<f64>,
    /// Bytes per operation; absent of files, which have many sizes.
    pub block_size: Option<u64>,
    /// How long the run takes yet, where that can be told.
    pub left: Option<Left>,
}

/// How long a run takes yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// Nanoseconds.
    pub ns: u64,
    /// Whether it may take less: a precision may be reached before.
    pub at_most: bool,
}

/// A stage that has all its trials.
#[derive(Debug, Clone, Copy)]
pub struct Done<'a> {
    /// Its name, with its settings if it has some.
    pub stage: &'a str,
    /// What each time is called: `trial`, or `round` of what is done before the trials.
    pub called: &'a str,
    /// Operations per second of its trials.
    pub rates: &'a [f64],
    /// Bytes per operation; absent of files.
    pub block_size: Option<u64>,
}

/// The line of a terminal, no wider than the look: `random-read-qd1: trial 3 of 6 to 30,
/// 0.30 MB/s, 74.4 IOPS +/- 8.4 %, at most 41 s left`. What does not fit is left out, the
/// least needed first; a name alone that does not fit is cut.
pub fn progress(standing: &Standing<'_>, look: &Look) -> String {
    let trial = format!(
        "{} {}",
        standing.called,
        numbered(standing.trial, standing.trials)
    );
    let so_far = figures(standing.rates, standing.block_size, look);
    let now = standing
        .now
        .map(|rate| figures(&[rate], standing.block_size, look));
    let (figure, more) = match (so_far, now) {
        (Some(figure), _) => (figure.rate, figure.rest),
        (None, Some(Some(now))) => (format!("now {}", now.rate), now.rest),
        (None, _) => ("preparing".to_owned(), String::new()),
    };
    let left = standing.left.map(left_words).unwrap_or_default();
    let name = look.clean(standing.stage);
    let whole = |parts: &[&str]| {
        let parts: Vec<&str> = parts.iter().copied().filter(|p| !p.is_empty()).collect();
        format!("{name}: {}", parts.join(", "))
    };
    let with_more = format!("{figure}{more}");
    let candidates = [
        whole(&[&trial, &with_more, &left]),
        whole(&[&trial, &figure, &left]),
        whole(&[&figure, &left]),
        whole(&[&left]),
        name.clone().into_owned(),
    ];
    let fits = |line: &&String| columns(line) <= look.width;
    match candidates.iter().find(fits) {
        Some(line) => line.clone(),
        None => cut(&name, look.width),
    }
}

/// The line of a stage that is done: `random-read-qd1, 6 trials: 0.30 MB/s, 74.4 IOPS +/-
/// 8.4 %`. It has no control characters.
pub fn stage_done(done: &Done<'_>, look: &Look) -> String {
    let trials = count(done.rates.len() as u64, done.called);
    let name = look.clean(done.stage);
    match figures(done.rates, done.block_size, look) {
        Some(figure) => format!("{name}, {trials}: {}{}", figure.rate, figure.rest),
        None => format!("{name}, {trials}: no figure"),
    }
}

/// How far an amount of bytes is: `filling a file of 64 MiB to measure: 45 %, 3 s left`, no
/// wider than the look. `seconds` have passed since the first of `done` bytes.
pub fn amount(what: &str, done: u64, of: Option<u64>, seconds: f64, look: &Look) -> String {
    let what = look.clean(what);
    let per_s = if seconds > 0.0 {
        done as f64 / seconds
    } else {
        0.0
    };
    let rate = (per_s > 0.0).then(|| format!("{} MB/s", three_digits(per_s / 1e6)));
    let share = of.filter(|of| *of > 0).map(|of| {
        // Down, so that 100 % is all of it.
        format!("{} %", (done.min(of) as f64 / of as f64 * 100.0).floor())
    });
    let left = of.filter(|_| per_s > 0.0).map(|of| {
        let left_s = of.saturating_sub(done) as f64 / per_s;
        left_words(Left {
            ns: (left_s * 1e9) as u64,
            at_most: false,
        })
    });
    let parts: Vec<String> = [share, rate, left].into_iter().flatten().collect();
    let line = if parts.is_empty() {
        what.to_string()
    } else {
        format!("{what}: {}", parts.join(", "))
    };
    cut(&line, look.width)
}

/// `3 of 6`, or `3 of 6 to 30` where it may be done more often.
pub(super) fn numbered(trial: u32, (least, most): (u32, u32)) -> String {
    if most <= least {
        format!("{trial} of {least}")
    } else if trial <= least {
        format!("{trial} of {least} to {most}")
    } else {
        format!("{trial} of at most {most}")
    }
}

/// A figure of the first page: what is shown in any case, and what where there is room.
struct Shown {
    rate: String,
    rest: String,
}

/// The median of some trials, and how wide they lie, by the arithmetic of the first page; `None`
/// without any.
fn figures(rates: &[f64], block_size: Option<u64>, look: &Look) -> Option<Shown> {
    let figure = diskfacts_facts::figure(rates.iter().copied());
    if figure.trials == 0 {
        return None;
    }
    let median = figure.median;
    let spread = half_width(&figure).map(|half| format!(" {} {half}", look.plus_minus()));
    let spread = spread.unwrap_or_default();
    Some(match block_size {
        None => Shown {
            rate: format!("{} files/s", three_digits(median)),
            rest: spread,
        },
        Some(block_size) => Shown {
            rate: format!("{} MB/s", three_digits(median * block_size as f64 / 1e6)),
            rest: format!(", {} IOPS{spread}", three_digits(median)),
        },
    })
}

/// How long it takes yet, to the second and from two minutes on to the minute, so that the
/// line does not flicker; the time may be over before the work is.
fn left_words(left: Left) -> String {
    const SECOND_NS: u64 = 1_000_000_000;
    const MINUTE_NS: u64 = 60 * SECOND_NS;
    let unit_ns = if left.ns > 2 * MINUTE_NS {
        MINUTE_NS
    } else {
        SECOND_NS
    };
    let at_most = if left.at_most { "at most " } else { "" };
    match left.ns.div_ceil(unit_ns) {
        0 => "nearly done".to_owned(),
        units => format!(
            "{at_most}{} left",
            show_duration(units.saturating_mul(unit_ns))
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STANDING: Standing<'_> = Standing {
        stage: "random-read-qd1",
        called: "trial",
        trial: 3,
        trials: (6, 30),
        rates: &[70.0, 80.0],
        now: Some(73.0),
        block_size: Some(4096),
        left: Some(Left {
            ns: 41_000_000_000,
            at_most: true,
        }),
    };

    fn on(width: usize) -> Look {
        Look {
            width,
            ..Look::default()
        }
    }

    #[test]
    fn the_line_has_the_stage_the_trial_the_figure_so_far_and_the_time_left() {
        assert_eq!(
            progress(&STANDING, &on(100)),
            "random-read-qd1: trial 3 of 6 to 30, 0.31 MB/s, 75.0 IOPS +/- 6.7 %, at most 41 s left"
        );
        let first = Standing {
            trial: 1,
            trials: (1, 1),
            rates: &[],
            left: Some(Left {
                ns: 0,
                at_most: false,
            }),
            ..STANDING
        };
        assert_eq!(
            progress(&first, &on(100)),
            "random-read-qd1: trial 1 of 1, now 0.30 MB/s, 73.0 IOPS, nearly done"
        );
        let before = Standing {
            now: None,
            left: None,
            block_size: None,
            ..first
        };
        assert_eq!(
            progress(&before, &on(100)),
            "random-read-qd1: trial 1 of 1, preparing"
        );
    }

    #[test]
    fn no_width_is_exceeded_and_the_time_left_goes_last() {
        for width in 0..120 {
            let line = progress(&STANDING, &on(width));
            assert!(columns(&line) <= width, "{width}: {line}");
            let wide = Standing {
                stage: "\u{8aad}\u{307f}\u{8fbc}\u{307f}",
                ..STANDING
            };
            let look = Look {
                unicode: true,
                ..on(width)
            };
            let line = progress(&wide, &look);
            assert!(columns(&line) <= width, "{width}: {line}");
            let line = amount("filling a file", 1 << 20, Some(1 << 30), 1.0, &on(width));
            assert!(columns(&line) <= width, "{width}: {line}");
        }
        assert_eq!(
            progress(&STANDING, &on(40)),
            "random-read-qd1: at most 41 s left"
        );
        assert_eq!(progress(&STANDING, &on(6)), "random");
    }

    #[test]
    fn a_stage_that_is_done_is_told_in_a_line_without_control_characters() {
        let done = Done {
            stage: "a\x1b[2J",
            called: "trial",
            rates: &[100.0, 110.0, 90.0],
            block_size: None,
        };
        assert_eq!(
            stage_done(&done, &Look::default()),
            "a\\u{1b}[2J, 3 trials: 100 files/s +/- 10 %"
        );
        let none = Done {
            stage: "a",
            rates: &[],
            ..done
        };
        assert_eq!(
            stage_done(&none, &Look::default()),
            "a, 0 trials: no figure"
        );
    }

    #[test]
    fn the_time_left_is_in_whole_seconds_and_then_in_whole_minutes() {
        for (ns, said) in [
            (0, "nearly done"),
            (1, "1 s left"),
            (2_000_000_001, "3 s left"),
            (538_200_000_000, "9 min left"),
        ] {
            let left = Left { ns, at_most: false };
            assert_eq!(left_words(left), said);
        }
    }

    #[test]
    fn an_amount_is_told_by_its_share_its_rate_and_the_time_left() {
        assert_eq!(
            amount("filling", 250_000_000, Some(1_000_000_000), 1.0, &on(80)),
            "filling: 25 %, 250 MB/s, 3 s left"
        );
        assert_eq!(
            amount("copying", 250_000_000, None, 2.0, &on(80)),
            "copying: 125 MB/s"
        );
        assert_eq!(amount("copying", 0, Some(7), 0.0, &on(80)), "copying: 0 %");
    }
}
