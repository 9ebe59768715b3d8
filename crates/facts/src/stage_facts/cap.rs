//! A cap on operations or bytes per second, as the intervals of the trials show it: an
//! exact pace ([`Overlay`]) while the device has next to nothing to do.
//!
//! A device that always takes equally long keeps an exact pace too, and so does one that
//! turns, a link, a processor. What they do not do is idle while operations wait: when one
//! of them is full, its operations a second times what one takes alone are one at work at
//! least (utilisation law: Denning and Buzen, Computing Surveys 10, 1978). So there is a cap
//! only where the shortest latency says that the device is busy for less than half
//! of the time, and a burst, bunches or several in flight show what an operation takes
//! when nothing holds it back. With one in flight and none of these there is none.

use super::overlay::{CLOSE, COARSE, Overlay, Pace};
use super::processor;
use crate::device_physics::no_drives;
use crate::prelude::*;

/// Operations at work, by the pace and the shortest latency, up to which the device idles.
pub(crate) const AT_WORK: f64 = 0.5;
/// Operations that come back together, at most: of more a trial does not hold enough.
const LUMP_MAX: f64 = 8.0;
/// Paces this near to each other are one.
const SAME: f64 = 0.01;
/// Share of what is read that memory serves from which on the intervals are of two kinds of
/// reads: those of a burst are a few percent of all.
pub(crate) const FROM_MEMORY: f64 = 0.02;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    /// The same operations per second with blocks of other sizes.
    Operations,
    /// The same bytes per second with blocks of other sizes.
    Bytes,
    /// One size of blocks does not tell.
    Unknown,
}

/// A cap that the trials of a stage show.
#[derive(Debug, Clone)]
pub(crate) struct Cap {
    pub(crate) pace: Pace,
    pub(crate) counted: Counted,
    /// Another stage with the same.
    same: Option<String>,
    /// Whether more than an exact pace shows it: another stage at the same, or operations
    /// that nothing held back.
    pub(crate) is_shown_twice: bool,
}

impl Cap {
    /// Of a stage; `None` where there is no exact pace, or where the device itself may
    /// keep it.
    pub(crate) fn of(facts: &StageFacts<'_>) -> Option<Self> {
        let all = || facts.all().map(|stage| Pace::of(&stage)).collect();
        let paces: &Vec<Option<Pace>> = facts.context.paces.get_or_init(all);
        let is_own = |other: &StageFacts<'_>| std::ptr::eq(other.stage, facts.stage);
        let each = || facts.all().zip(paces);
        let (_, pace) = each().find(|(stage, _)| is_own(stage))?;
        let pace = pace.clone()?;
        // What memory served at the beginning is no burst that somebody let pass.
        unless(pace.shows_a_cap && !facts.only_writes() && facts.memory_share() >= FROM_MEMORY)?;
        let alike = each().filter_map(|(other, theirs)| {
            let theirs = theirs.as_ref().filter(|_| !is_own(&other))?;
            let is_shown = pace.shows_a_cap || theirs.shows_a_cap;
            let counted = pace.same(facts, theirs, &other).filter(|_| is_shown)?;
            Some((counted, other.stage.label()))
        });
        // What tells operations from bytes is worth more.
        let same = alike.min_by_key(|(counted, _)| *counted == Counted::Unknown);
        unless(!pace.shows_a_cap && same.is_none())?;
        let sure =
            (same.is_some() && pace.is_exact()) || (facts.scattered() && pace.is_seen_unheld());
        // A device that stands still at equal distances does as much between two of them.
        let stands_still = same.is_none() && pace.is_bunched;
        let (counted, same) = same.map_or((Counted::Unknown, None), |(counted, label)| {
            (counted, Some(label))
        });
        Some(Self {
            pace,
            counted,
            same,
            is_shown_twice: sure && !stands_still,
        })
    }

    /// Seconds over which the pace is exact; silences within them are a part of it.
    pub(crate) fn window_s(&self) -> f64 {
        self.pace.interval_s * self.pace.overlay.window as f64
    }

    /// What of the time of the operations would go away without it.
    pub(crate) fn share(&self, facts: &StageFacts<'_>) -> f64 {
        let each_ns = facts.outstanding() * 1e9 / self.pace.per_s;
        let alone_ns = self.pace.alone_ns.unwrap_or(each_ns);
        (1.0 - alone_ns / each_ns).clamp(0.0, 1.0)
    }

    /// What shows it.
    pub(crate) fn evidence(&self, facts: &StageFacts<'_>) -> Vec<String> {
        let Pace { overlay, per_s, .. } = &self.pace;
        let window = seconds(self.window_s());
        let bunches = self.pace.is_bunched.then(|| {
            format!(
                "They come together, and most of the {window} nothing does: a budget that is paid \
                 out in slices."
            )
        });
        let burst = (overlay.burst > 0.0).then(|| {
            format!(
                "Each trial begins with {:.0} operations more than that.",
                overlay.burst
            )
        });
        let alone_ns = self.pace.alone_ns.filter(|_| self.pace.idles());
        let idle = alone_ns.map(|alone_ns| {
            format!(
                "{}: the device idles while operations wait.",
                in_service(*per_s, "operations", alone_ns)
            )
        });
        let same = self.same.as_ref().map(|label| match self.counted {
            Counted::Operations => format!(
                "{label} has the same operations/s with blocks of another size: operations are \
                 counted."
            ),
            Counted::Bytes => format!(
                "{label} has the same bytes/s with blocks of another size: bytes are counted."
            ),
            Counted::Unknown => format!("{label}, which is other work, has the same."),
        });
        let unknown = (self.counted == Counted::Unknown).then(|| {
            let size = show_size(facts.workload().block_size);
            format!(
                "Whether operations or bytes are counted blocks of one size, {size}, do not tell."
            )
        });
        let pace = format!(
            "With the trials laid over each other, each {window} has {} operations: {} of {} such \
             times are off by more than {}.",
            rate_digits(overlay.pace * overlay.window as f64),
            percent(overlay.off),
            overlay.windows,
            rate_digits(overlay.tolerance)
        );
        let lines = [Some(pace), bunches, burst, idle, same, unknown];
        lines.into_iter().flatten().collect()
    }
}

impl Pace {
    fn of<'a>(facts: &StageFacts<'a>) -> Option<Self> {
        unless(
            !facts.reaches_device()
                || facts.workload().rate.is_some()
                || facts.figures.layers.drive_cache > 0.5,
        )?;
        let trials = facts.trials();
        let length_ns = trials.first()?.evidence.intervals.length_ns;
        let row = |trial: &&'a Trial| {
            let intervals = &trial.evidence.intervals;
            unless(length_ns == 0 || intervals.length_ns != length_ns)?;
            Some(intervals.operations.split_last()?.1)
        };
        let rows: Vec<&[u64]> = trials.iter().map(row).collect::<Option<_>>()?;
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

    pub(crate) fn is_exact(&self) -> bool {
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
    fn same(
        &self,
        facts: &StageFacts<'_>,
        theirs: &Self,
        other: &StageFacts<'_>,
    ) -> Option<Counted> {
        let off = self.off.max(theirs.off);
        let near = |a: f64, b: f64| (a / b - 1.0).abs() <= off;
        let same_operations = near(self.per_s, theirs.per_s);
        let (a, b) = (facts.workload(), other.workload());
        let (mine, its) = (a.block_size as f64, b.block_size as f64);
        if mine >= 2.0 * its || its >= 2.0 * mine {
            return match (same_operations, near(self.per_s * mine, theirs.per_s * its)) {
                (true, _) => Some(Counted::Operations),
                (false, true) => Some(Counted::Bytes),
                (false, false) => None,
            };
        }
        let depths = (a.outstanding(), b.outstanding());
        let unlike =
            a.operation != b.operation || depths.0.max(depths.1) >= 2 * depths.0.min(depths.1);
        (unlike && a.block_size == b.block_size && same_operations).then_some(Counted::Unknown)
    }
}
