//! What a comparison comes to, in words.

use super::QUANTILES;
use super::cells::{Cell, Pair};
use crate::words::{count, list};
use diskfacts_record::Trial;
use diskfacts_record::comparison::{
    Change, Comparison, Difference, Measure, Overall, Spread, StageComparison, Unit,
};

/// More than these trials are not asked for.
const TRIALS_MAX: f64 = 1000.0;

/// A share with two digits: `3.1`, `0.24`, `12`; without its unit.
pub(super) fn digits(share: f64) -> String {
    let value = share.abs() * 100.0;
    if value == 0.0 {
        return "0".to_owned();
    }
    if value >= 1e5 {
        return "more than 100,000".to_owned();
    }
    if value < 0.005 {
        return "less than 0.01".to_owned();
    }
    let decimals = match value {
        small if small < 0.995 => 2,
        middle if middle < 9.95 => 1,
        _ => 0,
    };
    let text = format!("{value:.decimals$}");
    if decimals == 0 {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `3.1 % slower`, for a change of a speed.
fn side(change: f64) -> String {
    let word = if change < 0.0 { "slower" } else { "faster" };
    format!("{} % {word}", digits(change))
}

/// A change of the figure as one of speed: what takes longer is slower.
fn of_speed(measure: Measure, change: f64) -> f64 {
    if measure.more_is_better() {
        change
    } else {
        -change
    }
}

/// The smaller and the larger of two shares, without their signs.
fn by_size([x, y]: [f64; 2]) -> (f64, f64) {
    let (x, y) = (x.abs(), y.abs());
    (x.min(y), x.max(y))
}

/// How far `b` can be from `a`, either taken as the whole.
fn furthest([low, high]: [f64; 2]) -> f64 {
    high.max(1.0 / (1.0 + low) - 1.0).max(0.0)
}

/// The sentence of a stage.
pub(crate) fn stage(
    change: Change,
    because: &[String],
    speed: Option<&Difference>,
    same_within: f64,
) -> String {
    let Some(speed) = speed.filter(|_| change != Change::NotComparable) else {
        return format!("not comparable, because {}", because.join("; "));
    };
    let on = if speed.measure.more_is_better() {
        ""
    } else {
        ", by the median latency"
    };
    let said = difference(speed);
    match (change, speed.interval) {
        (Change::Unclear, Some([low, high])) => {
            let [low, high] = [low, high].map(|end| of_speed(speed.measure, end));
            format!(
                "not significant: from {} to {}{on}{}",
                side(low.min(high)),
                side(low.max(high)),
                more_trials(speed, same_within)
            )
        }
        // The same figure, as of a run beside itself.
        (Change::Unclear, None) if speed.change.abs() < 5e-4 => format!(
            "no difference{on}; {}, so no spread is known, and chance may hide one",
            a_single(speed.unit)
        ),
        (Change::Unclear, None) => format!(
            "{}{on}; {}, so no spread is known, and it may be chance",
            side(of_speed(speed.measure, speed.change)),
            a_single(speed.unit)
        ),
        _ => format!("{said}{on}"),
    }
}

/// `; excluded: 1 trial with errors in A and 2 in B`, behind the sentence of a stage.
pub(super) fn excluded(pair: &Pair<'_>) -> Option<String> {
    let failed = |trial: &Trial| trial.errors > 0;
    let with_errors = excluded_of(pair, "with errors", failed);
    let idle = excluded_of(pair, "in which nothing was done", |trial| !failed(trial));
    let which: Vec<String> = with_errors.into_iter().chain(idle).collect();
    (!which.is_empty()).then(|| format!("; excluded: {}", which.join(", ")))
}

fn excluded_of(pair: &Pair<'_>, why: &str, is: impl Fn(&Trial) -> bool) -> Option<String> {
    let of = |cell: &Cell<'_>| cell.excluded.iter().filter(|trial| is(trial)).count() as u64;
    let trials = |excluded: u64| format!("{} {why}", count(excluded, "trial"));
    match (of(&pair.a), of(&pair.b)) {
        (0, 0) => None,
        (a, 0) => Some(format!("{} in A", trials(a))),
        (0, b) => Some(format!("{} in B", trials(b))),
        (a, b) => Some(format!("{} in A and {b} in B", trials(a))),
    }
}

/// `the same within 2.1 %`, `slower by 3 to 8 %`, of one figure; empty where it is
/// unclear.
pub(super) fn difference(difference: &Difference) -> String {
    let word = match difference.outcome {
        Change::Same => {
            let within = difference.interval.map_or(0.0, furthest);
            return format!("the same within {} %", digits(within));
        }
        Change::Faster => "faster",
        Change::Slower => "slower",
        Change::Unclear | Change::NotComparable => return String::new(),
    };
    match difference.interval {
        Some(interval) => {
            let (low, high) = by_size(interval);
            let (low, high) = (digits(low), digits(high));
            if low == high {
                format!("{word} by {low} %")
            } else {
                format!("{word} by {low} to {high} %")
            }
        }
        // What stopped altogether.
        None => format!(
            "{word} by {} %: nothing was done any more",
            digits(difference.change)
        ),
    }
}

/// What there is where no spread is known.
fn a_single(unit: Unit) -> &'static str {
    match unit {
        Unit::Trial => "one trial each",
        Unit::Run => "one run each",
        Unit::Host => "one host",
    }
}

fn word(unit: Unit) -> &'static str {
    match unit {
        Unit::Trial => "trial",
        Unit::Run => "run",
        Unit::Host => "host",
    }
}

/// How many observations would do, by the square root that governs the width of
/// an interval; empty where that is no use.
fn more_trials(speed: &Difference, same_within: f64) -> String {
    let Some([low, high]) = speed.interval else {
        return String::new();
    };
    let half = (high.ln_1p() - low.ln_1p()) / 2.0;
    let now = f64::from(speed.count_a.min(speed.count_b));
    let needed = (now * (half / same_within.ln_1p()).powi(2)).ceil();
    if !needed.is_finite() || needed <= now || needed > TRIALS_MAX {
        return String::new();
    }
    let whose = match speed.unit {
        Unit::Host => "hosts".to_owned(),
        unit => format!("{}s on either side", word(unit)),
    };
    format!(
        "; some {needed} {whose} would tell {} %",
        digits(same_within)
    )
}

/// What all of it comes to.
pub(crate) fn summary(comparison: &Comparison) -> String {
    let stages = &comparison.stages;
    if stages.is_empty() {
        return "Nothing can be compared: the two have no stage in common.".to_owned();
    }
    let Some(overall) = &comparison.overall else {
        let reason = stages
            .iter()
            .find_map(|stage| stage.because.first())
            .map_or(String::new(), |reason| format!(" The first: {reason}."));
        return format!(
            "Nothing can be compared: of {} in common none is comparable.{reason}",
            count(stages.len() as u64, "stage")
        );
    };
    format!("{} {}", average(comparison, overall), counted(comparison))
}

/// `B is close to A: on average 0.4 % slower (95 % sure: ...)`.
fn average(comparison: &Comparison, overall: &Overall) -> String {
    let sure = overall.interval.map_or_else(String::new, |[low, high]| {
        let over = match overall.over {
            Some(Spread::Stages) => "95 % interval over the stages",
            _ => "95 % interval",
        };
        format!(" ({over}: from {} to {})", side(low), side(high))
    });
    let over = if overall.stages == 1 {
        String::new()
    } else {
        format!(
            " on average over {}",
            count(u64::from(overall.stages), "stage")
        )
    };
    let is_sure = overall
        .interval
        .is_some_and(|[low, high]| low > 0.0 || high < 0.0);
    let lead = if is_close(comparison, overall) {
        "B is close to A:"
    } else if !is_sure {
        "Overall, the difference is not significant: B is"
    } else if overall.change < 0.0 {
        "B is slower than A:"
    } else {
        "B is faster than A:"
    };
    format!("{lead} {}{over}{sure}.", side(overall.change))
}

/// Whether every comparable stage is within the share that counts as none.
fn is_close(comparison: &Comparison, overall: &Overall) -> bool {
    let comparable = |stage: &&StageComparison| stage.change != Change::NotComparable;
    let mut stages = comparison.stages.iter().filter(comparable);
    let small = |change: f64| change.max(1.0 / (1.0 + change) - 1.0) <= comparison.same_within;
    stages.all(|stage| {
        stage
            .speed
            .as_ref()
            .is_some_and(|speed| speed.change > -1.0)
    }) && small(overall.least)
        && small(overall.most)
}

/// How many stages are what.
fn counted(comparison: &Comparison) -> String {
    let of = |change: Change| -> Vec<&StageComparison> {
        let stages = comparison.stages.iter();
        stages.filter(|stage| stage.change == change).collect()
    };
    let mut parts = Vec::new();
    let same = of(Change::Same);
    if !same.is_empty() {
        let within = same
            .iter()
            .filter_map(|stage| Some(furthest(stage.speed.as_ref()?.interval?)));
        let within = within.fold(0.0, f64::max);
        parts.push(format!(
            "{} the same within {} %",
            are(same.len()),
            digits(within)
        ));
    }
    for (change, word) in [(Change::Slower, "slower"), (Change::Faster, "faster")] {
        let stages = of(change);
        let size = |stage: &StageComparison| {
            let speed = stage.speed.as_ref();
            speed.map_or(0.0, |speed| speed.change.ln_1p().abs())
        };
        let most = stages.iter().max_by(|x, y| size(x).total_cmp(&size(y)));
        if let Some(most) = most {
            let lead = if stages.len() == 1 {
                ""
            } else {
                "most of all "
            };
            parts.push(format!(
                "{} {word} ({lead}{}: {})",
                are(stages.len()),
                most.stage,
                most.statement
            ));
        }
    }
    let unclear = of(Change::Unclear);
    if !unclear.is_empty() {
        let single = unclear
            .iter()
            .all(|stage| stage.speed.as_ref().is_some_and(|s| s.interval.is_none()));
        parts.push(if single {
            let overall = comparison.overall.as_ref();
            let (least, most) = overall.map_or((0.0, 0.0), |all| (all.least, all.most));
            let by = match comparison.fleet {
                Some(_) => "one host",
                None => "one trial on either side",
            };
            format!(
                "{} known by {by}, from {} to {}, which may be chance",
                are(unclear.len()),
                side(least),
                side(most)
            )
        } else {
            format!("{} not significantly different", are(unclear.len()))
        });
    }
    let void = of(Change::NotComparable);
    if !void.is_empty() {
        parts.push(format!("{} not comparable", are(void.len())));
    }
    let tails = tails(comparison);
    format!(
        "Of {} {}.{tails}",
        count(comparison.stages.len() as u64, "stage"),
        list(&parts)
    )
}

fn are(n: usize) -> String {
    format!("{n} {}", if n == 1 { "is" } else { "are" })
}

/// Stages whose latencies changed where the speed did not.
fn tails(comparison: &Comparison) -> String {
    let hidden: Vec<&str> = comparison
        .stages
        .iter()
        .filter(|stage| matches!(stage.change, Change::Same | Change::Unclear))
        .filter(|stage| {
            let mut latency = stage.latency.iter();
            latency.any(|d| matches!(d.outcome, Change::Faster | Change::Slower))
        })
        .map(|stage| stage.stage.as_str())
        .collect();
    match hidden.as_slice() {
        [] => String::new(),
        few if few.len() <= QUANTILES.len() => {
            format!(
                " Latencies differ where the speed does not, in {}.",
                list(few)
            )
        }
        many => format!(
            " Latencies differ where the speed does not, in {} stages.",
            many.len()
        ),
    }
}
