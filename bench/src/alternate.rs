//! Ours and theirs in turn, and the ratios of each round.

use anyhow::Result;

/// What one run of one tool gave.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    /// Operations per second.
    pub(crate) iops: f64,
    /// Processor time in user mode per operation, nanoseconds.
    pub(crate) user_ns: f64,
    /// The same in the kernel.
    pub(crate) system_ns: f64,
}

impl Figures {
    fn ns_per_io(self) -> f64 {
        1e9 / self.iops
    }

    fn cpu_ns(self) -> f64 {
        self.user_ns + self.system_ns
    }
}

/// What is to be shown.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Goal {
    /// Our time per operation, nanoseconds.
    NsPerIoAtMost(f64),
    /// Our user time per operation, nanoseconds.
    UserNsPerIoAtMost(f64),
    /// Our IOPS over theirs.
    IopsRatioAtLeast(&'static str, f64),
    /// Our processor time per operation over theirs.
    CpuRatioAtMost(&'static str, f64),
}

type Run<'a> = &'a dyn Fn() -> Result<Figures>;

/// Runs a case in rounds, prints it, and answers whether its goals are met.
pub(crate) fn case(
    name: &str,
    rounds: usize,
    goals: &[Goal],
    ours: Run<'_>,
    theirs: &[(&str, Run<'_>)],
) -> Result<bool> {
    let mut table: Vec<Vec<Figures>> = vec![Vec::new(); theirs.len() + 1];
    for round in 0..rounds {
        // Who is first changes from round to round.
        for turn in 0..=theirs.len() {
            let who = (turn + round) % (theirs.len() + 1);
            let figures = match who {
                0 => ours()?,
                peer => (theirs[peer - 1].1)()?,
            };
            table[who].push(figures);
        }
    }
    println!("{name}");
    let names: Vec<&str> = std::iter::once("diskfacts")
        .chain(theirs.iter().map(|(name, _)| *name))
        .collect();
    for (name, runs) in names.iter().zip(&table) {
        println!(
            "  {name:<18} {:>10.0} IOPS  {:>8.1} ns per I/O  CPU {:>7.1} user + {:>7.1} system ns",
            median(runs.iter().map(|f| f.iops)),
            median(runs.iter().map(|f| f.ns_per_io())),
            median(runs.iter().map(|f| f.user_ns)),
            median(runs.iter().map(|f| f.system_ns)),
        );
    }
    for (peer, runs) in names.iter().zip(&table).skip(1) {
        println!(
            "  diskfacts / {peer:<18} IOPS {}  CPU {}",
            spread(ratios(&table[0], runs, |f| f.iops)),
            spread(ratios(&table[0], runs, Figures::cpu_ns)),
        );
    }
    let mut all = true;
    for goal in goals {
        let (said, met) = judge(*goal, &names, &table);
        println!("  {} {said}", if met { "met:   " } else { "MISSED:" });
        all &= met;
    }
    println!();
    Ok(all)
}

fn judge(goal: Goal, names: &[&str], table: &[Vec<Figures>]) -> (String, bool) {
    let of = |peer: &str| names.iter().position(|name| *name == peer).map_or(0, |i| i);
    match goal {
        Goal::NsPerIoAtMost(limit) => {
            let got = median(table[0].iter().map(|f| f.ns_per_io()));
            (
                format!("{got:.1} ns per I/O, at most {limit}"),
                got <= limit,
            )
        }
        Goal::UserNsPerIoAtMost(limit) => {
            let got = median(table[0].iter().map(|f| f.user_ns));
            (
                format!("{got:.1} ns of user time per I/O, at most {limit}"),
                got <= limit,
            )
        }
        Goal::IopsRatioAtLeast(peer, limit) => {
            let got = median(ratios(&table[0], &table[of(peer)], |f| f.iops));
            (
                format!("{got:.2} times the IOPS of {peer}, at least {limit}"),
                got >= limit,
            )
        }
        Goal::CpuRatioAtMost(peer, limit) => {
            let got = median(ratios(&table[0], &table[of(peer)], Figures::cpu_ns));
            (
                format!("{got:.2} times the CPU per I/O of {peer}, at most {limit}"),
                got <= limit,
            )
        }
    }
}

fn ratios<'a>(
    ours: &'a [Figures],
    theirs: &'a [Figures],
    of: impl Fn(Figures) -> f64 + 'a,
) -> impl Iterator<Item = f64> + 'a {
    ours.iter().zip(theirs).map(move |(a, b)| of(*a) / of(*b))
}

pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

/// The 95 % interval of a median: between which of the sorted values it lies whatever their
/// distribution, because each lies below it with a chance of one half (Conover, *Practical
/// Nonparametric Statistics*, 1999, 3.2). None of fewer than six values.
pub(crate) fn median_interval(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    // The chance that at most this many of them lie below the median.
    let (mut chance, mut at_most) = (0.5f64.powi(i32::try_from(values.len()).ok()?), 0.0);
    let mut outside = 0;
    while outside < values.len() && at_most + chance <= 0.025 {
        at_most += chance;
        outside += 1;
        chance *= (values.len() + 1 - outside) as f64 / outside as f64;
    }
    let first = outside.checked_sub(1)?;
    Some((values[first], values[values.len() - outside]))
}

fn spread(values: impl Iterator<Item = f64>) -> String {
    let values: Vec<f64> = values.collect();
    let (low, high) = values
        .iter()
        .fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
    format!("{:.2} ({low:.2} to {high:.2})", median(values.into_iter()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(iops: f64) -> Figures {
        Figures {
            iops,
            user_ns: 10.0,
            system_ns: 30.0,
        }
    }

    #[test]
    fn the_interval_of_a_median_needs_six_values_and_leaves_out_more_of_many() {
        let counted = |n: u32| median_interval((1..=n).rev().map(f64::from));
        assert_eq!(counted(5), None);
        assert_eq!(counted(6), Some((1.0, 6.0)));
        // The ranks of Conover's table A3 for a half and n = 10 and 20.
        assert_eq!(counted(10), Some((2.0, 9.0)));
        assert_eq!(counted(20), Some((6.0, 15.0)));
    }

    #[test]
    fn a_goal_is_judged_by_the_median_of_the_rounds() {
        let names = ["diskfacts", "fio"];
        let table = vec![
            vec![figures(200.0), figures(150.0), figures(400.0)],
            vec![figures(100.0), figures(100.0), figures(100.0)],
        ];
        assert!(judge(Goal::IopsRatioAtLeast("fio", 2.0), &names, &table).1);
        assert!(!judge(Goal::IopsRatioAtLeast("fio", 2.01), &names, &table).1);
        assert!(judge(Goal::CpuRatioAtMost("fio", 1.0), &names, &table).1);
        assert!(!judge(Goal::CpuRatioAtMost("fio", 0.99), &names, &table).1);
        assert!(!judge(Goal::NsPerIoAtMost(1.0), &names, &table).1);
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        assert!((median([4.0, 1.0, 2.0, 3.0].into_iter()) - 2.5).abs() < 1e-12);
    }
}
