//! A trial over all hosts that did it.

use super::member::{Measured, Member, MemberTrial};
use super::window::Counted;
use diskfacts_plan::Workload;
use diskfacts_plan::units::show_duration;
use diskfacts_record::together::MergedTrial;
use std::collections::{BTreeSet, HashMap};

/// A trial of the agreement, on the hosts that did it.
pub(super) struct GroupTrial<'a> {
    pub(super) order: u32,
    pub(super) number: u32,
    length_ns: u64,
    /// The hosts that did it, by name.
    pub(super) done: Vec<(&'a str, &'a Measured)>,
    /// Where each of them is in `done`.
    places: HashMap<&'a str, usize>,
    /// Clock errors of these hosts, nanoseconds.
    clock_errors_ns: Vec<u64>,
    /// The others, with why they did not.
    missing: Vec<(&'a str, String)>,
}

/// A rate that may be wrong by more than this share of it is no figure.
const UNCERTAINTY_MAX: f64 = 0.1;

/// Hosts named one by one in a sentence.
const NAMED: usize = 3;

impl<'a> GroupTrial<'a> {
    /// The trial of this place in the agreement.
    pub(super) fn at(place: usize, members: &[(&'a str, &'a Member)]) -> Option<Self> {
        let (_, first) = members.first()?;
        let agreed = &first.trials.get(place)?.agreed;
        let mut trial = Self {
            order: agreed.order,
            number: agreed.number,
            length_ns: agreed.length_ns,
            done: Vec::new(),
            places: HashMap::new(),
            clock_errors_ns: Vec::new(),
            missing: Vec::new(),
        };
        for (name, member) in members {
            let of_host = member.trials.get(place)?;
            match done(of_host) {
                Ok(measured) => {
                    trial.places.insert(name, trial.done.len());
                    trial.done.push((name, measured));
                    trial.clock_errors_ns.push(of_host.agreed.clock_error_ns);
                }
                Err(why) => trial.missing.push((name, why)),
            }
        }
        Some(trial)
    }

    /// The names of the hosts that did it.
    pub(super) fn hosts(&self) -> BTreeSet<&'a str> {
        self.done.iter().map(|(name, _)| *name).collect()
    }

    /// What the host of this name measured.
    pub(super) fn of_host(&self, name: &str) -> Option<&'a Measured> {
        self.places.get(name).map(|place| self.done[*place].1)
    }

    /// What the sum is over: from the latest start to the earliest end, nanoseconds from the
    /// start of the group.
    ///
    /// Where a sync ends the trial, from the first start to the last end: a write counts when
    /// it is durable, and until its host's sync has returned nobody knows which are. `None` where
    /// there was no time in which all hosts measured.
    pub(super) fn window(&self) -> Option<[i64; 2]> {
        let from = self.spans().map(|[from, _]| from).max()?;
        let to = self.spans().map(|[_, to]| to).min()?;
        let common = (from < to).then_some([from, to])?;
        if self.done.iter().any(|(_, measured)| syncs_at_end(measured)) {
            return self.first_start_to_last_end();
        }
        Some(common)
    }

    fn first_start_to_last_end(&self) -> Option<[i64; 2]> {
        let from = self.spans().map(|[from, _]| from).min()?;
        let to = self.spans().map(|[_, to]| to).max()?;
        (from < to).then_some([from, to])
    }

    fn spans(&self) -> impl Iterator<Item = [i64; 2]> + '_ {
        self.done.iter().map(|(_, measured)| measured.span_ns)
    }

    fn start_spread_ns(&self) -> u64 {
        let starts = || self.spans().map(|[from, _]| from);
        let (Some(first), Some(last)) = (starts().min(), starts().max()) else {
            return 0;
        };
        last.abs_diff(first)
    }

    /// The two largest errors together.
    fn clock_error_ns(&self) -> u64 {
        let mut errors = self.clock_errors_ns.clone();
        errors.sort_unstable_by(|a, b| b.cmp(a));
        errors.iter().take(2).copied().fold(0, u64::saturating_add)
    }

    /// Why it is in no figure, where those are of these hosts.
    pub(super) fn void(&self, counted: &BTreeSet<&str>) -> Option<String> {
        if self.done.is_empty() {
            return Some(format!("no host did it: {}", self.why_missing(|_| true)?));
        }
        let failed = self.done.iter().filter(|(_, measured)| measured.errors > 0);
        let failed: Vec<&str> = failed.map(|(name, _)| *name).collect();
        if !failed.is_empty() {
            return Some(format!("operations failed on {}", some(&failed)));
        }
        if self.window().is_none() {
            return Some("there was no time in which all hosts measured".to_owned());
        }
        if self.hosts() != *counted {
            let fewer = self.why_missing(|name| counted.contains(name));
            return Some(fewer.unwrap_or_else(|| {
                "more hosts did it than the trials that are counted".to_owned()
            }));
        }
        let silent = self.done.iter().filter(|(_, measured)| {
            measured.ops > 0 && measured.intervals.operations.iter().all(|n| *n == 0)
        });
        let silent: Vec<&str> = silent.map(|(name, _)| *name).collect();
        (!silent.is_empty())
            .then(|| format!("{} did not count operations over time", some(&silent)))
    }

    /// `not on c2 (it was ready 1.2 s after the agreed start)`
    fn why_missing(&self, of: impl Fn(&str) -> bool) -> Option<String> {
        let missing: Vec<&(&str, String)> =
            self.missing.iter().filter(|(name, _)| of(name)).collect();
        let said: Vec<String> = missing
            .iter()
            .take(NAMED)
            .map(|(name, why)| format!("not on {name} ({why})"))
            .collect();
        let more = missing.len().saturating_sub(NAMED);
        match (said.is_empty(), more) {
            (true, _) => None,
            (false, 0) => Some(said.join(", ")),
            (false, more) => Some(format!("{}, and not on {more} more", said.join(", "))),
        }
    }

    /// Operations of a host per second within the window, and bytes; over the host's own time
    /// where that ends with a sync, so that one whose sync is slow is seen.
    pub(super) fn rates(measured: &Measured, window: [i64; 2]) -> (f64, f64) {
        let window = if syncs_at_end(measured) {
            measured.span_ns
        } else {
            window
        };
        let iops = operations_within(measured, window).ops / seconds(window);
        (iops, iops * bytes_per_operation(measured))
    }

    /// What it came to.
    pub(super) fn merged(&self, counted: &BTreeSet<&str>) -> MergedTrial {
        let mut merged = MergedTrial {
            number: self.number,
            order: self.order,
            length_ns: self.length_ns,
            hosts: u32::try_from(self.done.len()).unwrap_or(u32::MAX),
            void: self.void(counted),
            window_ns: self.window(),
            start_spread_ns: self.start_spread_ns(),
            clock_error_ns: self.clock_error_ns(),
            ops: 0.0,
            ops_uncertainty: 0.0,
            iops: 0.0,
            throughput_bytes_per_s: 0.0,
            stonewall_bytes_per_s: None,
            last_done_bytes_per_s: None,
        };
        let Some(window) = merged.window_ns.filter(|_| merged.void.is_none()) else {
            return merged;
        };
        let mut bytes = 0.0;
        for (_, measured) in &self.done {
            let counted = operations_within(measured, window);
            merged.ops += counted.ops;
            merged.ops_uncertainty += counted.uncertainty;
            bytes += counted.ops * bytes_per_operation(measured);
        }
        let seconds = seconds(window);
        merged.iops = merged.ops / seconds;
        merged.throughput_bytes_per_s = bytes / seconds;
        if self
            .done
            .iter()
            .any(|(_, measured)| is_bounded(&measured.workload))
        {
            merged.stonewall_bytes_per_s = self.stonewall();
            merged.last_done_bytes_per_s = self.last_done();
        }
        if merged.ops_uncertainty > UNCERTAINTY_MAX * merged.ops {
            merged.void = Some(format!(
                "all hosts measured together for {}, which is too short to count operations in: \
                 the rate may be wrong by {:.0} %",
                show_duration(window[1].abs_diff(window[0])),
                merged.ops_uncertainty / merged.ops * 100.0
            ));
        }
        merged
    }

    /// Bytes per second until the first host had ended. Where a sync ends the trial, nobody knows
    /// how much of the others' was durable by then.
    fn stonewall(&self) -> Option<f64> {
        if self.done.iter().any(|(_, measured)| syncs_at_end(measured)) {
            return None;
        }
        let from = self.spans().map(|[from, _]| from).min()?;
        let to = self.spans().map(|[_, to]| to).min()?;
        let window = [from, to];
        let bytes: f64 = self
            .done
            .iter()
            .map(|(_, measured)| {
                operations_within(measured, window).ops * bytes_per_operation(measured)
            })
            .sum();
        (from < to).then(|| bytes / seconds(window))
    }

    /// Bytes per second until the last host had.
    fn last_done(&self) -> Option<f64> {
        let bytes: f64 = self
            .done
            .iter()
            .map(|(_, measured)| measured.bytes as f64)
            .sum();
        Some(bytes / seconds(self.first_start_to_last_end()?))
    }
}

/// What a host measured in a trial of the group, or why it has none.
fn done(trial: &MemberTrial) -> Result<&Measured, String> {
    if let Some(why) = &trial.agreed.void {
        return Err(why.clone());
    }
    let done = trial.done.as_ref();
    done.ok_or_else(|| "its run did not come to it".to_owned())
}

/// Operations of a host within a window; all of them where its sync ended the trial, since the
/// window ends behind it.
fn operations_within(measured: &Measured, window: [i64; 2]) -> Counted {
    if syncs_at_end(measured) {
        return Counted {
            ops: measured.ops as f64,
            uncertainty: 0.0,
        };
    }
    Counted::of(&measured.intervals, measured.span_ns, window)
}

/// Whether its time ends with a sync of all that it wrote.
fn syncs_at_end(measured: &Measured) -> bool {
    measured.workload.sync.at_end()
}

/// All of a trial have one size, or those of a mix come in one mix.
fn bytes_per_operation(measured: &Measured) -> f64 {
    if measured.ops == 0 {
        return 0.0;
    }
    measured.bytes as f64 / measured.ops as f64
}

/// Whether it ends after an amount.
fn is_bounded(workload: &Workload) -> bool {
    let stop = &workload.stop;
    stop.bytes.is_some() || stop.operations.is_some() || stop.fraction.is_some()
}

fn seconds([from, to]: [i64; 2]) -> f64 {
    (i128::from(to) - i128::from(from)) as f64 / 1e9
}

/// `c1, c2, c3 and 4 more`
fn some(names: &[&str]) -> String {
    let shown = names.iter().take(NAMED).copied();
    let shown = shown.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
