//! Writers through the page cache had to wait, because too many pages were dirty:
//! from then on they go as fast as the disk writes back.
//!
//! The kernel holds writers back from half way between the limit of write-back and
//! that of dirty pages on (`dirty_freerun_ceiling`, `balance_dirty_pages` in
//! mm/page-writeback.c), with pauses of up to 200 ms between writes that go at the
//! speed of memory.

use super::{Candidate, Standing, Subject};
use crate::dirty_pages;
use crate::simulated::edit_profile;
use crate::stats;
use crate::words::percent;
use diskfacts_plan::units::{exact_size, show_duration, show_size, show_throughput};
use diskfacts_plan::{CacheMode, SyncMode};
use diskfacts_record::Confidence;
use diskfacts_record::evidence::WriteBack;

pub(super) const NAME: &str = "dirty-throttling";

/// Share of the time that writers waited from which on it is worth a word.
const WAITED: f64 = 0.1;

/// The same where the limit was not seen to be reached, but what became dirty was written
/// back in the same time: each device has a share of the limit of its own, which nobody
/// tells (`__wb_calc_thresh` in mm/page-writeback.c).
const WAITED_BY_RATE: f64 = 0.5;
/// Share of what became dirty that was written back meanwhile. Writers that nobody holds
/// back go at the speed of memory, and what they write piles up.
const WRITTEN_BACK: f64 = 0.5;

/// What waiting for dirty pages came to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    /// Share of the trials' time that writes waited.
    share: f64,
    /// A write that does not wait, ns.
    unhindered_ns: f64,
    /// Dirty pages of the trial that had most of them, and its limits.
    fullest: WriteBack,
    /// Whether they were counted at the limit.
    at_limit: bool,
}

/// The waiting of buffered writers, when the limit on dirty pages was reached and
/// they did wait.
pub(super) fn waiting(subject: &Subject<'_>) -> Option<Waiting> {
    let workload = subject.workload();
    let buffered = subject
        .trials()
        .iter()
        .all(|trial| !trial.evidence.engine.direct);
    if !buffered || !workload.operation.writes() || workload.sync.each_write() {
        return None;
    }
    let of_trials = || {
        let trials = subject.trials().iter();
        trials.filter_map(|trial| trial.evidence.write_back)
    };
    let most = |dirty: &WriteBack| dirty.dirty_after_bytes.max(dirty.dirtied_bytes);
    let at_limit = of_trials()
        .filter(|dirty| dirty_pages::reached_ceiling(dirty, workload.sync))
        .max_by_key(most);
    let as_fast_as_written = |dirty: &WriteBack| {
        let written = dirty.written_bytes as f64;
        dirty.dirtied_bytes > 0 && written >= WRITTEN_BACK * dirty.dirtied_bytes as f64
    };
    // A sync at the end writes all of it, whoever was held back before.
    let by_rate = !workload.sync.at_end() && of_trials().all(|dirty| as_fast_as_written(&dirty));
    let fullest = at_limit.or_else(|| of_trials().filter(|_| by_rate).max_by_key(most))?;
    let unhindered_ns = unhindered(subject)?;
    let shares: Vec<f64> = subject
        .trials()
        .iter()
        .filter_map(|trial| {
            let mean = trial.latency_ns.mean?;
            let samples = trial.latency_ns.samples as f64;
            let streams = f64::from(workload.streams.max(1));
            Some((mean - unhindered_ns).max(0.0) * samples / (trial.seconds * 1e9 * streams))
        })
        .collect();
    let share = stats::median(&shares)?.min(1.0);
    let least = if at_limit.is_some() {
        WAITED
    } else {
        WAITED_BY_RATE
    };
    (share >= least).then_some(Waiting {
        share,
        unhindered_ns,
        fullest,
        at_limit: at_limit.is_some(),
    })
}

/// What a write takes that does not wait: processor time where it is known, else
/// the fastest.
fn unhindered(subject: &Subject<'_>) -> Option<f64> {
    let figures = subject.figures;
    let processor = figures.cpu_user_ns_per_io.zip(figures.cpu_system_ns_per_io);
    let fastest = figures.latency_ns.min.map(|ns| ns as f64);
    match processor.map(|(user, system)| user + system) {
        // Other threads of the process may have cost more than the writes did.
        Some(ns) if ns > 0.0 => Some(subject.latency_ns().map_or(ns, |mean| ns.min(mean))),
        _ => fastest,
    }
}

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let Waiting {
        share,
        unhindered_ns,
        fullest,
        at_limit,
    } = waiting(subject)?;
    let mean_ns = subject.latency_ns()?;
    let seconds = subject.seconds();
    let written: f64 = subject
        .trials()
        .iter()
        .filter_map(|trial| trial.evidence.write_back)
        .map(|dirty| dirty.written_bytes as f64)
        .sum();
    let evidence = vec![
        format!(
            "{} were dirty in the end and {} became dirty, where writers are held back from {} \
             on at the latest, sooner on a device with a small share of it: half way between {} \
             and the limit of {}.",
            show_size(fullest.dirty_after_bytes),
            show_size(fullest.dirtied_bytes),
            show_size(dirty_pages::ceiling(&fullest) as u64),
            show_size(fullest.dirty_background_bytes),
            show_size(fullest.dirty_limit_bytes)
        ),
        format!(
            "A write took {} on average, and {} when nothing held it back: {} of the time was \
             waiting.",
            show_duration(mean_ns as u64),
            show_duration(unhindered_ns as u64),
            percent(share)
        ),
        format!(
            "{} was written in the meantime, and {} written back.",
            subject.rate().map_or_else(|| "It".into(), show_throughput),
            show_throughput(written / seconds)
        ),
    ];
    // Twice, because writers are held back from half way on; and never less than there is.
    let most = fullest.dirtied_bytes.max(fullest.dirty_limit_bytes);
    let enough = most.saturating_mul(2).next_power_of_two();
    let mut past = subject.workload().clone();
    past.cache = CacheMode::Direct;
    past.sync = SyncMode::None;
    let remedy = edit_profile(
        subject.run(),
        &format!("set dirty_limit = \"{}\" under [host]", exact_size(enough)),
    )
    .unwrap_or_else(|| {
        format!(
            "What lasts can only be written as fast as the disk is. A burst of {} fits when the \
             limit is {}: `sysctl vm.dirty_bytes={enough} vm.dirty_background_bytes={}`, where \
             there is so much memory; all of it is lost in a power cut.",
            show_size(fullest.dirtied_bytes),
            show_size(enough),
            enough / 4
        )
    });
    Some(Candidate {
        standing: Standing::cause(share),
        claim: format!(
            "Writers waited for write-back in {} of the time: {}.",
            percent(share),
            if at_limit {
                "the limit on dirty pages was reached"
            } else {
                "no more became dirty than was written back meanwhile"
            }
        ),
        evidence,
        share: Some(share),
        // Where the clock stopped with dirty pages at the limit, they were counted there.
        confidence: if subject.workload().sync.at_end() || !at_limit {
            Confidence::Likely
        } else {
            Confidence::Certain
        },
        refuted_by: "The same rate with a limit that is never reached.".into(),
        experiment: subject.experiment(
            "Past the page cache: about the same rate says that the disk's own is what is left \
             once the limit is reached; a much higher one, that write-back is slower than it \
             could be.",
            &[("past-the-cache", past)],
        ),
        remedy,
    })
}
