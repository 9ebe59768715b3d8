//! Operations that took much longer than the others, and requests that a device had longer, by the
//! trace events of a sample, with where they lie.

use super::StageFacts;
use super::gaps::Gaps;
use crate::prelude::*;
use crate::revolution::Spindle;
use diskfacts_record::evidence::Outliers;

/// Fewest of one trial that tell a place: the shortest range of a few is short by chance.
const LEAST: u64 = 10;
/// Share of the requests in a range that are slow where the range is, and share of what was
/// visited that it is at most.
const OF_RANGE: f64 = 0.5;
const OF_VISITED: f64 = 0.25;
/// They are a few up to one in so many. The same of a place with more, as in [`Outliers`]: nearly
/// all in it are slow.
const ONE_IN: u64 = 4;
const OF_LARGE_RANGE: f64 = 0.9;
const LARGE: f64 = 0.75;

/// Of each trial the first are slow on any disk: the arm comes from elsewhere, and in an array
/// once more at the next drive.
const AT_FIRST: u64 = 2;

/// Share of the operations by which what is usual is told: where many are slow, the median is one
/// of them; a few fast ones are not.
pub(crate) const HALF: f64 = 0.5;

/// Operations that took much longer than most.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Slow {
    /// How many, and of how many.
    pub(crate) number: u64,
    pub(crate) of: u64,
    /// What they took beyond what is usual, of all time of the operations.
    pub(crate) share: f64,
    /// What they took beyond it on average, ns.
    pub(crate) each_ns: f64,
    /// What is usual, ns.
    pub(crate) usual_ns: f64,
}

impl Slow {
    /// Of a disk that turns: by two revolutions. `None` where latencies are not known, where there
    /// are [`AT_FIRST`] in each trial, and of those that wait for what is read ahead.
    pub(crate) fn by_revolutions(facts: &StageFacts<'_>) -> Option<Self> {
        let turn_ns = Spindle::of(facts).turn_ns();
        let slow = Self::beyond(facts, HALF, |usual_ns| usual_ns * 1.2 + 2.0 * turn_ns)?;
        let at_first = AT_FIRST * facts.trials().len() as u64;
        (slow.number > at_first && !slow.wait_for_a_window(facts)).then_some(slow)
    }

    /// Whether they take what the stage's rate brings the kernel's read-ahead window in: through
    /// the page cache the others find what was read ahead, and one waits for the next window.
    fn wait_for_a_window(&self, facts: &StageFacts<'_>) -> bool {
        let stack = facts
            .run()
            .stack
            .under(&facts.trials()[0].evidence.settings);
        let window = stack.devices.iter().filter_map(|one| one.read_ahead_bytes);
        let bytes_per_s = facts.rate();
        let windows = window.max().zip(bytes_per_s).map(|(bytes, per_s)| {
            // Half a window more: it is asked for while the one before is under way.
            1.5 * bytes as f64 / per_s * 1e9
        });
        !facts.asks_direct() && windows.is_some_and(|most_ns| self.each_ns <= most_ns)
    }

    /// Those beyond so much, given what is usual, ns: what this share of all takes at most.
    pub(crate) fn beyond(
        facts: &StageFacts<'_>,
        usual: f64,
        limit_ns: impl Fn(f64) -> f64,
    ) -> Option<Self> {
        let histogram = facts.histogram()?;
        let usual_ns = histogram.quantile(usual)? as f64;
        let limit_ns = limit_ns(usual_ns);
        let (mut number, mut excess_ns) = (0, 0.0);
        for (low, high, count) in histogram.buckets() {
            let middle = low as f64 + (high - low) as f64 / 2.0;
            if middle > limit_ns {
                number += count;
                excess_ns += (middle - usual_ns) * count as f64;
            }
        }
        let total_ns = histogram.mean()? * histogram.count() as f64;
        (number > 0 && total_ns > 0.0).then(|| Self {
            number,
            of: histogram.count(),
            share: (excess_ns / total_ns).min(1.0),
            each_ns: excess_ns / number as f64,
            usual_ns,
        })
    }

    /// Whether one drive was at them all the time. An arm that does one again does nothing else
    /// meanwhile, so nothing comes back: where other streams are served, a read waits for its
    /// turn, and through the page cache for what is read ahead.
    pub(crate) fn keep_the_drive(&self, facts: &StageFacts<'_>, gaps: &Gaps) -> bool {
        let alone = facts.outstanding() <= 1.0 && facts.asks_direct();
        alone || gaps.total_s >= 0.5 * self.number as f64 * self.each_ns / 1e9
    }
}

/// A write that waits takes this many times what most take: they go to the drive's
/// buffer, this one waits for a block to be emptied.
const TAIL: f64 = 4.0;
/// The shortest time in which a block of flash is erased, nanoseconds (data sheets of NAND:
/// 0.7 to 10 ms). Shorter waits are those for a buffer that is programmed to the flash, as
/// on a drive that has nothing to clean.
const ERASE_NS: f64 = 700e3;
/// Share of the time of all writes from which on such waits are more than single events, and so
/// many times what most take that the mean is at least.
const SHARE_MIN: f64 = 0.15;
const MEAN_MIN: f64 = 1.2;
/// Share of the writes by which what most take is told.
const QUARTER: f64 = 0.25;

/// The writes of a stage that wait for blocks of flash to be emptied: most go to a buffer, and a
/// few wait for long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Erasing {
    pub(crate) slow: Slow,
    /// What those take more than that wait, ns.
    limit_ns: f64,
    longest_ns: u64,
}

impl Erasing {
    /// Of a stage that only writes, to flash.
    pub(crate) fn of(facts: &StageFacts<'_>) -> Option<Self> {
        unless(!facts.only_writes() || facts.rotates() != Some(false))?;
        let limit_ns = |fast_ns: f64| (TAIL * fast_ns).max(ERASE_NS);
        let slow = Slow::beyond(facts, QUARTER, limit_ns)?;
        let histogram = facts.histogram()?;
        let fast_ns = slow.usual_ns;
        (slow.share >= SHARE_MIN && histogram.mean()? >= MEAN_MIN * fast_ns).then(|| Self {
            slow,
            limit_ns: limit_ns(fast_ns),
            longest_ns: histogram.max().unwrap_or(0),
        })
    }

    /// What shows it.
    pub(crate) fn evidence(&self) -> [String; 2] {
        let [fast, limit] = [self.slow.usual_ns, self.limit_ns].map(duration);
        let number = percent(self.slow.number as f64 / self.slow.of as f64);
        let (longest, share) = (show_duration(self.longest_ns), percent(self.slow.share));
        [
            format!(
                "A quarter of the writes take up to {fast}, and {number} of them more than \
                 {limit}: up to {longest}."
            ),
            format!("Time beyond {fast} is {share} of the write time."),
        ]
    }
}

/// The slow requests of a device.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SlowRequests<'a> {
    device: &'a str,
    seen: Outliers,
}

impl<'a> SlowRequests<'a> {
    /// Those of the trial and the device that had most.
    pub(crate) fn of(facts: &StageFacts<'a>) -> Option<Self> {
        let trials = facts.trials().iter();
        let layers = trials.filter_map(|trial| trial.evidence.block_layer.as_ref());
        let devices = layers.flat_map(|layer| &layer.devices);
        let seen = devices.filter_map(|one| {
            let (device, seen) = (one.name.as_str(), one.outliers?);
            Some(Self { device, seen })
        });
        seen.max_by_key(|slow| slow.seen.requests)
    }

    /// Share of what slow operations took longer that the device had.
    pub(crate) fn share_of(&self, slow: &Slow) -> f64 {
        let each_ns = slow.each_ns * slow.number as f64 / slow.of as f64;
        let excess_ns = (self.seen.device_ns - self.seen.usual_ns) * self.seen.requests as f64;
        excess_ns / self.seen.sampled as f64 / each_ns
    }

    /// Whether they lie in one place of the device.
    pub(crate) fn are_in_a_place(&self) -> bool {
        self.seen.requests >= LEAST && self.lie_within(OF_VISITED, OF_RANGE)
    }

    /// Whether they are many, and lie in a place that is no small one.
    pub(crate) fn are_in_a_large_place(&self) -> bool {
        self.seen.requests * ONE_IN > self.seen.sampled && self.lie_within(LARGE, OF_LARGE_RANGE)
    }

    /// Whether their range is so small a share of what was visited, and so many there are slow.
    fn lie_within(&self, of_visited: f64, of_range: f64) -> bool {
        let seen = &self.seen;
        let length = (seen.to_bytes - seen.from_bytes) as f64;
        length <= of_visited * seen.visited_bytes as f64
            && seen.requests as f64 >= of_range * seen.within as f64
    }

    /// Share of the sample's time that they took longer.
    pub(crate) fn share(&self) -> f64 {
        let seen = &self.seen;
        let [slow, all] = [seen.requests, seen.sampled].map(|number| number as f64);
        let all_ns = slow * seen.device_ns + (all - slow) * seen.usual_ns;
        slow * (seen.device_ns - seen.usual_ns) / all_ns
    }

    /// `sda is slow from 10 GB to 12 GB: 20 ms a request there, 100 us elsewhere`.
    pub(crate) fn place(&self) -> String {
        let (device, [from, to, there, elsewhere]) = (self.device, self.words());
        format!(
            "{device} is slow from {from} to {to}: {there} a request there, {elsewhere} elsewhere"
        )
    }

    /// What was sampled.
    pub(crate) fn line(&self) -> String {
        let (seen, [from, to, slow, usual]) = (&self.seen, self.words());
        format!(
            "By trace events {} had {} of {} requests for {slow}, the others for {usual}; nine of \
             ten lie from {from} to {to}, with {} in all.",
            self.device, seen.requests, seen.sampled, seen.within
        )
    }

    /// From where to where they lie, and what they and the others take.
    fn words(&self) -> [String; 4] {
        let [from, to] = [self.seen.from_bytes, self.seen.to_bytes].map(show_size);
        let [slow, usual] = [self.seen.device_ns, self.seen.usual_ns].map(duration);
        [from, to, slow, usual]
    }
}
