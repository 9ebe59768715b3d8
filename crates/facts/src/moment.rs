//! What happened at some time of a trial, against the rest of it; and which trial of several
//! is unlike the others.

use crate::stalls::{Stall, stalls_of};
use diskfacts_record::evidence::Pause;
use diskfacts_record::{CoarseHistogram, Trial};

/// A time of a trial: whole intervals of its latencies over time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// When it begins, nanoseconds from the start of the trial.
    pub from_ns: u64,
    /// When it ends; the end of the trial at the latest.
    pub to_ns: u64,
    /// Length of each of its intervals, nanoseconds.
    pub length_ns: u64,
    /// Operations that completed in it.
    pub then: CoarseHistogram,
    /// Those of the rest of the trial.
    pub rest: CoarseHistogram,
    /// How long the rest is, nanoseconds.
    pub rest_ns: u64,
    /// Times without a completion, where those are not usual, that overlap it.
    pub stalls: Vec<Stall>,
    /// Times in which this process did not run that overlap it; `None` where none would be
    /// known.
    pub pauses: Option<Vec<Pause>>,
}

/// Why nothing can be said of a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoMoment {
    /// No latencies over time were stored of the trial.
    NotStored,
    /// It lies behind the end of the trial.
    Beyond {
        /// When the trial ended, nanoseconds.
        end_ns: u64,
    },
}

/// What happened in a trial from one time to another, nanoseconds from its start, in the
/// intervals that hold any of it; at one moment, in the interval that holds it.
///
/// # Errors
/// When nothing is known of that time.
pub fn moment(trial: &Trial, from_ns: u64, to_ns: u64) -> Result<Moment, NoMoment> {
    let over_time = trial.latency_over_time.as_ref();
    let over_time = over_time.ok_or(NoMoment::NotStored)?.unpack();
    let length_ns = over_time.length_ns();
    let last = over_time.rows() as u64 - 1;
    // The last interval is as long as the trial is; a final sync may come behind it.
    let seconds_ns = (trial.seconds * 1e9) as u64;
    let last_begins_ns = last.saturating_mul(length_ns);
    let end_ns = seconds_ns.max(last_begins_ns.saturating_add(1));
    if from_ns >= end_ns {
        return Err(NoMoment::Beyond { end_ns });
    }
    // Below 64, as all rows are.
    let row_of = |ns: u64| (ns / length_ns).min(last) as usize;
    let rows = row_of(from_ns)..row_of(to_ns.saturating_sub(1).max(from_ns)) + 1;
    let (mut then, mut rest) = (CoarseHistogram::new(), CoarseHistogram::new());
    for row in 0..over_time.rows() {
        let part = if rows.contains(&row) {
            &mut then
        } else {
            &mut rest
        };
        part.add(&over_time.measured(row, &trial.workload));
    }
    let since_ns = rows.start as u64 * length_ns;
    let until_ns = if rows.end == over_time.rows() {
        end_ns
    } else {
        rows.end as u64 * length_ns
    };
    let overlaps = |at_ns: u64, ns: u64| at_ns < until_ns && at_ns.saturating_add(ns) > since_ns;
    let mut stalls = stalls_of(trial, 0);
    stalls.retain(|stall| overlaps(stall.begins_ns, stall.ns));
    let mut pauses = trial.evidence.engine.pauses.clone();
    if let Some(pauses) = &mut pauses {
        pauses.retain(|pause| overlaps(pause.begins_ns, pause.ns));
    }
    Ok(Moment {
        from_ns: since_ns,
        to_ns: until_ns,
        length_ns,
        then,
        rest,
        rest_ns: end_ns - (until_ns - since_ns),
        stalls,
        pauses,
    })
}

/// Which of several trials spent its time least as the others did: on operations of other
/// latencies. It is the one whose distribution of latencies, each weighted by itself, is
/// farthest from the mean of the others' (the largest distance of the two distribution
/// functions, as of Kolmogorov and Smirnov); of equals the slowest, then the first. So one
/// stall counts by its time, and not as one operation among thousands. It is asked of the
/// trials whose latencies over time are known. `None` of no trial.
pub fn most_unlike<'a>(trials: &[&'a Trial]) -> Option<&'a Trial> {
    let spent: Vec<Vec<f64>> = trials.iter().map(|trial| time_by_latency(trial)).collect();
    let others = (trials.len() as f64 - 1.0).max(1.0);
    let mut unlike: Option<(f64, f64, &Trial)> = None;
    for (trial, own) in trials.iter().zip(&spent) {
        let mean_of_others = |bucket: usize| {
            let sum: f64 = spent.iter().map(|all| all[bucket]).sum();
            (sum - own[bucket]) / others
        };
        let distances = (0..own.len()).map(|bucket| (own[bucket] - mean_of_others(bucket)).abs());
        let distance = distances.fold(0.0, f64::max);
        let slowness = trial.latency_ns.mean.unwrap_or(0.0);
        // What only rounding tells apart is equal.
        let is_more = unlike.is_none_or(|(most, slowest, _)| {
            distance > most + 1e-9 || (distance > most - 1e-9 && slowness > slowest)
        });
        if is_more {
            unlike = Some((distance, slowness, trial));
        }
    }
    unlike.map(|(_, _, trial)| trial)
}

/// The share of the time of all operations that went to those of up to each bucket's
/// latency.
fn time_by_latency(trial: &Trial) -> Vec<f64> {
    let mut spent = vec![0.0; CoarseHistogram::BUCKETS];
    // A document has no histograms beside these.
    if let Some(over_time) = &trial.latency_over_time {
        let over_time = over_time.unpack();
        for row in 0..over_time.rows() {
            for (low, high, n) in over_time.measured(row, &trial.workload).buckets() {
                let middle = low + (high - low) / 2;
                spent[CoarseHistogram::index(low)] += middle as f64 * n as f64;
            }
        }
    }
    let total: f64 = spent.iter().sum();
    let mut sum = 0.0;
    for share in &mut spent {
        sum += *share / total.max(1.0);
        *share = sum;
    }
    spent
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use diskfacts_record::LatencyOverTime;
    use diskfacts_record::trial::Histograms;

    const MS: u64 = 1_000_000;

    /// Of 200 ms, with operations that complete at these milliseconds with these latencies.
    fn trial(operations: &[(u64, u64)]) -> Trial {
        let mut trial = testing::healthy().trials.remove(0);
        trial.seconds = 0.19;
        let mut histograms = Histograms::default();
        let mut over_time = LatencyOverTime::new(20 * MS);
        let mut counts = vec![0; 10];
        for (at_ms, latency_ns) in operations {
            let row = over_time.reach(at_ms * MS);
            over_time.count_at(row, false, CoarseHistogram::index(*latency_ns), 1);
            histograms.read.record(*latency_ns);
            counts[row] += 1;
        }
        trial.evidence.intervals.length_ns = 20 * MS;
        trial.evidence.intervals.operations = counts;
        trial.latency_ns = (&histograms.read).into();
        trial.latency_over_time = Some((&over_time).into());
        trial
    }

    /// An operation each millisecond, but for these.
    fn steady(silent: std::ops::Range<u64>) -> Trial {
        let before_end = (0..190).filter(|ms| !silent.contains(ms));
        let operations: Vec<(u64, u64)> = before_end
            .map(|ms| (ms, if ms == silent.end { 60 * MS } else { MS }))
            .collect();
        trial(&operations)
    }

    #[test]
    fn a_moment_is_the_interval_that_holds_it_and_the_rest_is_the_rest() {
        let trial = steady(0..0);
        for at_ns in [40 * MS, 59 * MS] {
            let found = moment(&trial, at_ns, at_ns).expect("it is known");
            assert_eq!((found.from_ns, found.to_ns), (40 * MS, 60 * MS));
            assert_eq!((found.then.count(), found.rest.count()), (20, 170));
            assert_eq!((found.length_ns, found.rest_ns), (20 * MS, 170 * MS));
        }
        let found = moment(&trial, 50 * MS, 80 * MS).expect("it is known");
        assert_eq!((found.from_ns, found.to_ns), (40 * MS, 80 * MS));
        let last = moment(&trial, 185 * MS, 900 * MS).expect("it is known");
        assert_eq!((last.from_ns, last.to_ns), (180 * MS, 190 * MS));
        assert_eq!(last.then.count(), 10);
    }

    #[test]
    fn what_is_not_known_is_said() {
        let mut trial = steady(0..0);
        let beyond = moment(&trial, 190 * MS, 191 * MS);
        assert_eq!(beyond, Err(NoMoment::Beyond { end_ns: 190 * MS }));
        trial.latency_over_time = None;
        assert_eq!(moment(&trial, 0, 0), Err(NoMoment::NotStored));
    }

    #[test]
    fn stalls_and_pauses_of_that_time_belong_to_it_and_others_do_not() {
        let mut trial = steady(60..120);
        trial.evidence.engine.pauses = Some(vec![
            Pause {
                begins_ns: 10 * MS,
                ns: 20 * MS,
            },
            Pause {
                begins_ns: 70 * MS,
                ns: 30 * MS,
            },
        ]);
        let found = moment(&trial, 100 * MS, 100 * MS).expect("it is known");
        let stall = Stall {
            begins_ns: 60 * MS,
            ns: 60 * MS,
        };
        assert_eq!(found.stalls, [stall]);
        assert_eq!(found.pauses, Some(Vec::new()));
        let found = moment(&trial, 80 * MS, 80 * MS).expect("it is known");
        let pause = Pause {
            begins_ns: 70 * MS,
            ns: 30 * MS,
        };
        assert_eq!(found.pauses, Some(vec![pause]));
        let found = moment(&trial, 140 * MS, 140 * MS).expect("it is known");
        assert_eq!(found.stalls, []);
    }

    #[test]
    fn the_trial_with_a_stall_is_unlike_the_others_and_so_is_one_that_is_faster() {
        let (even, stalled) = (steady(0..0), steady(60..120));
        let fast: Vec<(u64, u64)> = (0..190).map(|ms| (ms, MS / 2)).collect();
        let fast = trial(&fast);
        let number = |trials: &[&Trial]| {
            let unlike = most_unlike(trials).expect("there are trials");
            trials.iter().position(|trial| std::ptr::eq(*trial, unlike))
        };
        assert_eq!(number(&[&even, &even, &stalled, &even]), Some(2));
        assert_eq!(number(&[&even, &fast, &even]), Some(1));
        // Of two, each is as unlike the other.
        assert_eq!(number(&[&fast, &even]), Some(1));
        assert_eq!(number(&[&even, &fast]), Some(0));
        assert_eq!(number(&[&even]), Some(0));
        assert!(most_unlike(&[]).is_none());
    }
}
