//! A cap on operations or bytes per second, as the intervals of the trials show it: an
//! exact pace ([`Overlay`]) while the device has next to nothing to do.
//!
//! A device that always takes equally long keeps an exact pace too, and so does one that
//! turns, a link, a processor. What they do not do is idle while operations wait: when one
//! of them is full, its operations a second times what one takes alone are one at work at
//! least (utilisation law: Denning and Buzen, Computing Surveys 10, 1978). So a cap is
//! claimed only where the shortest latency says that the device is busy for less than half
//! of the time, and a burst, bunches or several in flight show what an operation takes
//! when nothing holds it back. With one in flight and none of these nothing is said.

use super::prelude::*;
use super::tested;
use crate::device_physics::no_drives;
use crate::stage_facts::overlay::{CLOSE, COARSE, Overlay, Pace};
use crate::stage_facts::processor;

/// Operations at work, by the pace and the shortest latency, up to which the device idles.
pub(super) const AT_WORK: f64 = 0.5;
/// Operations that come back together, at most: of more a trial does not hold enough.
const LUMP_MAX: f64 = 8.0;
/// Paces this near to each other are one.
const SAME: f64 = 0.01;
/// A figure that is so much above the base holds a part of the burst.
pub(super) const OF_BURST: f64 = 1.01;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    /// The same operations per second with blocks of other sizes.
    Operations,
    /// The same bytes per second with blocks of other sizes.
    Bytes,
    /// One size of blocks does not tell.
    Unknown,
}

/// A cap that the trials of a stage show.
#[derive(Debug, Clone)]
pub(super) struct Cap {
    pace: Pace,
    of: Of,
    /// Another stage with the same.
    same: Option<String>,
    confidence: Confidence,
}

/// Share of what is read that memory serves from which on the intervals are of two kinds of
/// reads: those of a burst are a few percent of all.
pub(super) const FROM_MEMORY: f64 = 0.02;

impl Cap {
    /// Of a stage; `None` where there is no exact pace, or where the device itself may
    /// keep it.
    pub(super) fn of(facts: &StageFacts<'_>) -> Option<Self> {
        // Then the same intervals are something else's.
        unless(tested::is_refuted(facts, "credit-throttle"))?;
        let all = || facts.all().map(|stage| Pace::of(&stage)).collect();
        let paces: &Vec<Option<Pace>> = facts.context.paces.get_or_init(all);
        let is_own = |other: &StageFacts<'_>| std::ptr::eq(other.stage, facts.stage);
        let (mut own, mut others) = (None, Vec::new());
        for (stage, pace) in facts.all().zip(paces) {
            match pace {
                Some(pace) if is_own(&stage) => own = Some(pace.clone()),
                Some(pace) => others.push((stage, pace)),
                None => {}
            }
        }
        let pace = own?;
        // What memory served at the beginning is no burst that somebody let pass.
        unless(pace.shows_a_cap && !facts.only_writes() && facts.memory_share() >= FROM_MEMORY)?;
        let alike = others.iter().filter_map(|(other, theirs)| {
            let is_shown = pace.shows_a_cap || theirs.shows_a_cap;
            let of = pace.same(facts, theirs, other).filter(|_| is_shown)?;
            Some((of, other.stage.label()))
        });
        // What tells operations from bytes is worth more.
        let same = alike.min_by_key(|(of, _)| *of == Of::Unknown);
        unless(!pace.shows_a_cap && same.is_none())?;
        let sure =
            (same.is_some() && pace.is_exact()) || (facts.scattered() && pace.is_seen_unheld());
        // A device that stands still at equal distances does as much between two of them.
        let stands_still = same.is_none() && pace.is_bunched;
        let (of, same) = same.map_or((Of::Unknown, None), |(of, label)| (of, Some(label)));
        Some(Self {
            pace,
            of,
            same,
            confidence: likely_if(sure && !stands_still),
        })
    }

    /// Operations per second.
    pub(super) fn per_s(&self) -> f64 {
        self.pace.per_s
    }

    /// Seconds over which the pace is exact; silences within them are a part of it.
    pub(super) fn window_s(&self) -> f64 {
        self.pace.interval_s * self.pace.overlay.window as f64
    }

    /// What of the time of the operations would go away without it.
    fn share(&self, facts: &StageFacts<'_>) -> f64 {
        let each_ns = facts.outstanding() * 1e9 / self.pace.per_s;
        let alone_ns = self.pace.alone_ns.unwrap_or(each_ns);
        (1.0 - alone_ns / each_ns).clamp(0.0, 1.0)
    }

    /// What is said of it.
    pub(super) fn candidate(&self, facts: &StageFacts<'_>) -> Candidate {
        let Pace { overlay, per_s, .. } = &self.pace;
        // The base, in the unit that is counted.
        let operations = format!("{} operations/s", rate_digits(*per_s));
        let bytes = show_throughput(per_s * facts.workload().block_size as f64);
        let rate = match self.of {
            Of::Operations => operations,
            Of::Bytes => bytes,
            Of::Unknown => format!("{operations}, which is {bytes}"),
        };
        let burst = overlay.burst;
        let of_burst = facts.iops().is_some_and(|iops| iops > OF_BURST * per_s);
        let claim = if burst > 0.0 && of_burst {
            format!(
                "The figure holds a burst, {burst:.0} operations at once at the beginning of a \
                 trial; then operations are throttled to {rate}."
            )
        } else {
            let exactly = if self.pace.is_exact() {
                "exactly"
            } else {
                "about"
            };
            format!("Throttled to {exactly} {rate}.")
        };
        cause(self.share(facts), self.confidence, claim).evidence(self.evidence(facts))
    }

    fn evidence(&self, facts: &StageFacts<'_>) -> Vec<String> {
        let Pace { overlay, per_s, .. } = &self.pace;
        let window = seconds(self.window_s());
        let mut lines = vec![format!(
            "With the trials laid over each other, each {window} has {} operations: {} of {} such \
             times are off by more than {}.",
            rate_digits(overlay.pace * overlay.window as f64),
            percent(overlay.off),
            overlay.windows,
            rate_digits(overlay.tolerance)
        )];
        if self.pace.is_bunched {
            lines.push(format!(
                "They come together, and most of the {window} nothing does: a budget that is paid \
                 out in slices."
            ));
        }
        if overlay.burst > 0.0 {
            let burst = overlay.burst;
            lines.push(format!(
                "Each trial begins with {burst:.0} operations more than that."
            ));
        }
        if let Some(alone_ns) = self.pace.alone_ns.filter(|_| self.pace.idles()) {
            lines.push(format!(
                "{}: the device idles while operations wait.",
                in_service(*per_s, "operations", alone_ns)
            ));
        }
        lines.extend(self.same.iter().map(|label| match self.of {
            Of::Operations => format!(
                "{label} has the same operations/s with blocks of another size: operations are \
                 counted."
            ),
            Of::Bytes => format!(
                "{label} has the same bytes/s with blocks of another size: bytes are counted."
            ),
            Of::Unknown => format!("{label}, which is other work, has the same."),
        }));
        if self.of == Of::Unknown {
            let size = show_size(facts.workload().block_size);
            lines.push(format!(
                "Whether operations or bytes are counted blocks of one size, {size}, do not tell."
            ));
        }
        lines
    }
}

impl Pace {
    fn of(facts: &StageFacts<'_>) -> Option<Self> {
        let trials = facts.trials();
        let length_ns = trials.first()?.evidence.intervals.length_ns;
        let mut lengths = trials
            .iter()
            .map(|trial| trial.evidence.intervals.length_ns);
        unless(
            !facts.reaches_device()
                || facts.workload().rate.is_some()
                || facts.figures.layers.drive_cache > 0.5
                || length_ns == 0
                || lengths.any(|length| length != length_ns),
        )?;
        let counts = trials
            .iter()
            .map(|trial| &trial.evidence.intervals.operations);
        let rows = counts.map(|counts| Some(counts.split_last()?.1));
        let rows: Vec<&[u64]> = rows.collect::<Option<_>>()?;
        // What waits for the same timer comes back together.
        let lump = facts.outstanding().min(LUMP_MAX);
        let close = Overlay::of(&rows, &CLOSE, 1.0).or_else(|| Overlay::of(&rows, &CLOSE, lump));
        let overlay = close.or_else(|| Overlay::of(&rows, &COARSE, lump))?;
        // A trial ends anywhere within what comes back together.
        let operations = overlay.pace * overlay.window as f64 * overlay.windows as f64;
        let interval_s = length_ns as f64 / 1e9;
        let shortest = trials.iter().filter_map(|trial| trial.latency_ns.min);
        let shortest: Vec<f64> = shortest.map(|ns| ns as f64).collect();
        let sorted = stats::finite_sorted(&shortest);
        let mut pace = Self {
            overlay,
            interval_s,
            per_s: overlay.pace / interval_s,
            alone_ns: sorted.get(sorted.len().saturating_sub(1) / 4).copied(),
            is_bunched: overlay.bunch >= 2.0 * facts.outstanding(),
            off: SAME + lump * (rows.len() as f64).sqrt() / operations,
            shows_a_cap: false,
        };
        pace.shows_a_cap = close.is_some() && pace.is_of_a_cap(facts);
        Some(pace)
    }

    /// Whether the device has next to nothing to do.
    fn idles(&self) -> bool {
        self.alone_ns
            .is_some_and(|ns| self.per_s * ns / 1e9 <= AT_WORK)
    }

    /// Whether operations are seen that nothing held back.
    fn is_seen_unheld(&self) -> bool {
        self.overlay.burst > 0.0 || self.is_bunched
    }

    fn is_exact(&self) -> bool {
        self.off <= 2.0 * SAME
    }

    fn is_of_a_cap(&self, facts: &StageFacts<'_>) -> bool {
        let turns = facts.rotates() == Some(true);
        let waits = facts.outstanding() >= 2.0 && !turns && processor::of(facts).is_none();
        // A drive reads ahead into its memory what is read in order, and takes writes into
        // it: that is a burst and then the rate of the medium.
        let unforeseen = facts.scattered() || (!turns && no_drives(facts.run()).is_some());
        facts.only_reads() && unforeseen && self.idles() && (self.is_seen_unheld() || waits)
    }

    /// What both have in common, where it is work that a device does at another rate.
    fn same(&self, facts: &StageFacts<'_>, theirs: &Self, other: &StageFacts<'_>) -> Option<Of> {
        let off = self.off.max(theirs.off);
        let near = |a: f64, b: f64| (a / b - 1.0).abs() <= off;
        let same_operations = near(self.per_s, theirs.per_s);
        let (a, b) = (facts.workload(), other.workload());
        let (mine, its) = (a.block_size as f64, b.block_size as f64);
        if mine >= 2.0 * its || its >= 2.0 * mine {
            return match (same_operations, near(self.per_s * mine, theirs.per_s * its)) {
                (true, _) => Some(Of::Operations),
                (false, true) => Some(Of::Bytes),
                (false, false) => None,
            };
        }
        let depths = (a.outstanding(), b.outstanding());
        let unlike =
            a.operation != b.operation || depths.0.max(depths.1) >= 2 * depths.0.min(depths.1);
        (unlike && a.block_size == b.block_size && same_operations).then_some(Of::Unknown)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{self, each};
    use diskfacts_plan::{Arrivals, Rate};
    use diskfacts_record::{Limit, Run, Trial};

    /// Nanoseconds, and how many of them.
    type Latencies<'a> = &'a [(u64, u64)];

    /// What happened in a trial: its intervals of 20 ms, and latencies.
    fn set(trial: &mut Trial, counts: &[u64], latencies: Latencies<'_>) {
        let ops: u64 = counts.iter().sum();
        testing::set_rate(trial, ops as f64 / trial.iops);
        trial.ops = ops;
        trial.seconds = counts.len() as f64 * 0.02;
        trial.iops = ops as f64 / trial.seconds;
        trial.throughput_bytes_per_s = trial.iops * trial.workload.block_size as f64;
        trial.bytes = ops * trial.workload.block_size;
        trial.evidence.intervals.operations = counts.to_vec();
        testing::set_latencies(trial, latencies);
        trial.latency_ns.min = Some(latencies[0].0);
    }

    /// A run of the survey of which a stage ran so.
    fn with(stage: &str, counts: &[u64], latencies: Latencies<'_>) -> Run {
        let mut run = testing::healthy();
        each(&mut run, stage, |trial| set(trial, counts, latencies));
        run
    }

    fn limits(run: &Run, stage: &str) -> Vec<Limit> {
        let found = crate::limits(run);
        let found = found.into_iter().find(|limits| limits.stage == stage);
        found.map(|limits| limits.limits).unwrap_or_default()
    }

    fn names(run: &Run, stage: &str) -> Vec<String> {
        let limits = limits(run, stage);
        limits.into_iter().map(|limit| limit.limiter).collect()
    }

    fn burst(first: u64, then: u64) -> Vec<u64> {
        let mut counts = vec![then; 50];
        counts[0] = first;
        counts
    }

    const HELD: [(u64, u64); 2] = [(300_000, 60), (64_000_000, 490)];

    #[test]
    fn five_hundred_a_second_after_a_tenth_of_a_second_at_once_is_a_throttle_and_no_full_device() {
        let run = with("random-read-qd32", &burst(60, 10), &HELD);
        let limits = limits(&run, "random-read-qd32");
        assert_eq!(limits[0].limiter, "credit-throttle", "{limits:#?}");
        let claim = &limits[0].claim;
        for words in ["burst, 50 operations", "500.0 operations/s"] {
            assert!(claim.contains(words), "{claim}");
        }
        let full = limits
            .iter()
            .any(|limit| limit.limiter == "device-parallelism");
        assert!(!full, "{limits:#?}");
    }

    #[test]
    fn one_in_flight_shows_a_throttle_by_its_burst_and_by_its_bunches_and_not_without() {
        let stage = "random-read-qd1";
        let latencies = [(300_000, 60), (2_000_000, 490)];
        let run = with(stage, &burst(60, 10), &latencies);
        assert_eq!(names(&run, stage)[0], "credit-throttle");
        let mut slices = [20, 0, 0, 0, 0].repeat(10);
        slices[0] = 19;
        let run = with(stage, &slices, &[(300_000, 190), (95_000_000, 10)]);
        let names_of_slices = names(&run, stage);
        assert_eq!(names_of_slices[0], "credit-throttle");
        assert!(
            !names_of_slices.contains(&"stall".to_owned()),
            "{names_of_slices:?}"
        );
        // A device that always takes 2 ms.
        let run = with(stage, &[10; 50], &[(2_000_000, 500)]);
        assert!(!names(&run, stage).contains(&"credit-throttle".to_owned()));
        // And one of which one operation came from its memory.
        let run = with(stage, &[10; 50], &[(300_000, 1), (2_000_000, 499)]);
        assert!(!names(&run, stage).contains(&"credit-throttle".to_owned()));
    }

    #[test]
    fn devices_that_keep_an_exact_pace_by_themselves_are_no_throttles() {
        let stage = "random-read-qd32";
        // Each takes 64 ms and 32 go side by side; or one after the other each 2 ms.
        let together = [32, 0, 0, 0].repeat(12);
        let cases: [(&[u64], Latencies<'_>); 4] = [
            (&together, &[(80_000_000, 384)]),
            (&[10; 50], &[(64_000_000, 500)]),
            (&[10; 50], &[(2_000_000, 1), (64_000_000, 499)]),
            // As fast as the processor lets it, 2 us each.
            (&[10_000; 50], &[(2_000, 1), (64_000, 999)]),
        ];
        for (counts, latencies) in cases {
            let run = with(stage, counts, latencies);
            let found = names(&run, stage);
            assert!(
                !found.contains(&"credit-throttle".to_owned()),
                "{counts:?}: {found:?}"
            );
        }
        // One for each revolution, the first from the drive's memory.
        let mut run = with(stage, &[12; 50], &[(100_000, 1), (53_000_000, 599)]);
        testing::rotating(&mut run);
        assert!(!names(&run, stage).contains(&"credit-throttle".to_owned()));
        // A processor that is full.
        let mut run = with(stage, &[10; 50], &[(2_000, 1), (64_000_000, 499)]);
        each(&mut run, stage, |trial| {
            trial.cpu.busiest_thread = Some(0.99);
        });
        assert!(!names(&run, stage).contains(&"credit-throttle".to_owned()));
        // A rate that the plan asked for.
        let mut run = with(stage, &burst(60, 10), &HELD);
        each(&mut run, stage, |trial| {
            trial.workload.rate = Some(Rate {
                operations_per_s: 500,
                arrivals: Arrivals::Fixed,
            });
        });
        assert!(!names(&run, stage).contains(&"credit-throttle".to_owned()));
        // Syncs that each take equally long, and a burst into a buffer.
        let run = with(
            "log-write",
            &burst(60, 10),
            &[(100_000, 60), (2_000_000, 490)],
        );
        assert!(!names(&run, "log-write").contains(&"credit-throttle".to_owned()));
        // The rate of a medium after what the drive's memory had.
        let mut run = with(
            "sequential-read",
            &burst(12, 2),
            &[(1_000_000, 12), (40_000_000, 98)],
        );
        testing::rotating(&mut run);
        assert!(!names(&run, "sequential-read").contains(&"credit-throttle".to_owned()));
    }

    #[test]
    fn blocks_of_two_sizes_tell_whether_operations_or_bytes_are_counted() {
        let sizes = |run: &Run| {
            let size = |stage: &str| run.plan.stage(stage).expect("a stage").workload.block_size;
            size("sequential-read") / size("random-read-qd32")
        };
        let mut run = with("random-read-qd32", &burst(60, 10), &HELD);
        each(&mut run, "sequential-read", |trial| {
            set(trial, &burst(60, 10), &[(300_000, 60), (16_000_000, 490)]);
        });
        for stage in ["random-read-qd32", "sequential-read"] {
            let limit = limits(&run, stage).remove(0);
            assert_eq!(limit.limiter, "credit-throttle", "{limit:#?}");
            let said = limit
                .evidence
                .iter()
                .any(|line| line.contains("operations are counted"));
            assert!(said, "{limit:#?}");
        }
        // So many bytes: 2 large blocks in each interval.
        let small = 2 * sizes(&run);
        let mut run = with(
            "random-read-qd32",
            &burst(6 * small, small),
            &[(10_000, 50), (1_000_000, 500)],
        );
        each(&mut run, "sequential-read", |trial| {
            set(trial, &burst(12, 2), &[(1_000_000, 12), (80_000_000, 98)]);
        });
        let limits = limits(&run, "sequential-read");
        assert_eq!(limits[0].limiter, "credit-throttle", "{limits:#?}");
        let said = limits[0]
            .evidence
            .iter()
            .any(|line| line.contains("bytes are counted"));
        assert!(said, "{limits:#?}");
        let heat = limits
            .iter()
            .any(|limit| limit.limiter == "thermal-throttle");
        assert!(!heat, "{limits:#?}");
    }

    #[test]
    fn a_hypervisors_disk_is_held_at_a_rate_of_bytes_by_whatever_reads_it() {
        let mut run = with(
            "sequential-read",
            &burst(12, 2),
            &[(1_000_000, 12), (80_000_000, 98)],
        );
        assert!(!names(&run, "sequential-read").contains(&"credit-throttle".to_owned()));
        run.stack.devices[1].virtual_by = Some("it is a virtio device".into());
        let limit = limits(&run, "sequential-read").remove(0);
        assert_eq!(limit.limiter, "credit-throttle", "{limit:#?}");
        assert!(limit.claim.contains("MB/s"), "{limit:#?}");
    }

    #[test]
    fn a_healthy_run_has_no_cap() {
        let run = testing::healthy();
        for stage in &run.plan.stages {
            let found = names(&run, &stage.name);
            assert!(!found.contains(&"credit-throttle".to_owned()), "{found:?}");
        }
    }
}
