//! One reader in order through the page cache goes as fast as its read-ahead window
//! lets it: a window's bytes for each time that the device takes for one.
//!
//! The kernel asks for the next window when the reader comes to a mark in this one
//! (kernel, `mm/readahead.c`), so one to two windows are under way at a time, never
//! more: by Little's law bytes in flight = rate x latency, and a device that could
//! do more needs a window as large as its bandwidth times its latency.

use super::prelude::*;
use super::queue::set;
use super::reference::{best_sequential_read, small_read_ns};

pub(super) const LIMITER: Limiter = Limiter {
    name: "read-ahead",
    needs: &[NoDocument, OnlyReads, FromDisk],
    find: window_is_too_small,
    ..Limiter::BEHIND_THREADS
};

/// Windows under way at a time at most: the one that is read and the next.
const WINDOWS: f64 = 2.5;
/// Share of the time that the device was at work at least: a reader that waits for
/// it leaves it idle only while it takes what came.
const DEVICE_BUSY: f64 = 0.5;
/// How much faster another stage must be to show that more is possible.
const FASTER: f64 = 1.05;
/// A request that takes so long of a rotating disk waited for the sector to come
/// round again, ns: half a revolution at 7200 rpm, which a reader in order has no
/// reason for.
const REVOLUTION_NS: f64 = 4_000_000.0;
/// Largest window that is proposed: more memory for each open file costs others.
const PROPOSED_MAX: f64 = 64.0 * 1024.0 * 1024.0;
/// Smallest window at which nothing is said without a figure of what is possible:
/// the kernel's default, 128 KiB.
const DEFAULT_BYTES: u64 = 128 << 10;

/// What would go away with a larger window.
struct Gain {
    share: f64,
    /// Bytes per second that are possible, where the run shows it.
    possible: Option<f64>,
    /// Latency that does not depend on the size of the window, ns.
    latency_ns: f64,
    confidence: Confidence,
    line: String,
}

fn window_is_too_small(facts: &StageFacts<'_>) -> Option<Candidate> {
    let workload = facts.workload();
    let through = matches!(workload.cache, CacheMode::Buffered | CacheMode::Cold);
    unless(!facts.in_order() || !through)?;
    let device = facts.stack().top()?;
    let window = device.read_ahead_bytes?;
    let work = facts.device_work().filter(|work| work.reads >= 1.0)?;
    let rate = facts.rate()?;
    let request = work.read_bytes / work.reads;
    let latency_ns = work.waited_s * 1e9 / work.requests;
    // A reader that asks for more than a window at once gets it at once.
    let unit = (window as f64).max(workload.block_size as f64).max(4096.0);
    // Bytes under way, on average.
    let in_flight = work.waited_s / facts.seconds() * request;
    let readers = f64::from(workload.streams.max(1)) * f64::from(workload.queue_depth.max(1));
    unless(in_flight > WINDOWS * unit * readers || work.busy_s < DEVICE_BUSY * facts.seconds())?;
    let gain = gain(facts, rate, latency_ns, window)?;
    let needed = gain.possible.map(|rate| rate * gain.latency_ns / 1e9);
    // No larger one is proposed than this: then the window is not what is too small.
    let proposed = Some(proposed(window, needed)).filter(|bytes| *bytes > window)?;
    let (has, took) = (show_size(window), duration(latency_ns));
    let [request, under_way] = [request, in_flight].map(size);
    let sums = [
        format!(
            "The window of {} is {has}; the device was asked for {request} at a time, and took \
             {took} for that.",
            device.name
        ),
        format!(
            "{under_way} were under way on average; {under_way} / {took} is {}.",
            show_throughput(in_flight / latency_ns * 1e9)
        ),
        gain.line,
    ];
    let needed = needed.zip(gain.possible).map(|(needed, possible)| {
        format!(
            "{} times {} are {} that have to be under way.",
            show_throughput(possible),
            duration(gain.latency_ns),
            size(needed)
        )
    });
    let stages = facts.stages().and("large-direct-reads", |w| {
        w.cache = CacheMode::Direct;
        w.block_size = proposed.min(16 << 20);
        // One that is waited for and the next, as the kernel has them on their way.
        w.queue_depth = 2;
    });
    let stages = stages.and("as-it-was", |_| ()).at_least(
        ("large-direct-reads", "as-it-was"),
        Throughput,
        FASTER,
    );
    let claim = format!(
        "The read-ahead window of {has} is too small: the reader waits for one piece of the \
         data after the other."
    );
    let kib = (proposed / 1024).to_string();
    let key = format!("read_ahead = \"{}\"", exact_size(proposed));
    let set = set(facts, device, ("queue/read_ahead_kb", &kib), &key);
    let found = cause(gain.share, gain.confidence, claim)
        .evidence(sums)
        .evidence(needed)
        .settled_by(stages)
        .remedy(format!("{set} That is {}.", show_size(proposed)));
    Some(found)
}

/// The window to set: bandwidth times latency, twice, because only from a mark
/// within a window on the next is asked for; at least four times the one that is
/// too small where the bandwidth is not known.
fn proposed(window: u64, needed: Option<f64>) -> u64 {
    let least = (window.max(4096) as f64) * 2.0;
    let bytes = needed.map_or(least * 2.0, |needed| (2.0 * needed).max(least));
    (bytes.min(PROPOSED_MAX) as u64).next_power_of_two()
}

/// Bytes per second that the threads of the stage could take if they never waited for the
/// device: by their time on a processor, and that for which they were ready and had none.
fn by_processor(facts: &StageFacts<'_>) -> Option<f64> {
    let waited = |trial: &Trial| trial.cpu.wait_ns_per_io.unwrap_or(0.0) * trial.ops as f64;
    let waited_ns = facts.sum(|trial| Some(waited(trial)))?;
    let each_ns = facts.processor_ns()? + waited_ns / facts.ops();
    let streams = f64::from(facts.workload().streams.max(1));
    let rate = streams * facts.workload().block_size as f64 / each_ns * 1e9;
    (rate.is_finite() && rate > 0.0).then_some(rate)
}

fn gain(facts: &StageFacts<'_>, rate: f64, latency_ns: f64, window: u64) -> Option<Gain> {
    let small = small_read_ns(facts);
    let by_itself = |share: f64, confidence: Confidence, line: String| Gain {
        share,
        possible: None,
        latency_ns,
        confidence,
        line,
    };
    if let Some((label, better)) = best_sequential_read(facts) {
        // However large its window, the reader copies what it reads.
        let possible = better.min(by_processor(facts).unwrap_or(f64::INFINITY));
        let share = (1.0 - rate / possible).max(0.0);
        let [reached, lets] = [better, possible].map(show_throughput);
        let lets = if possible < better {
            format!(", of which the processor lets this reader have {lets}")
        } else {
            String::new()
        };
        return (possible > FASTER * rate).then(|| Gain {
            share,
            possible: Some(possible),
            latency_ns: small.map_or(latency_ns, |(_, ns)| ns.max(latency_ns)),
            confidence: Likely,
            line: format!(
                "{label} reached {reached}{lets}: {} of the time would be saved at that rate.",
                percent(share)
            ),
        });
    }
    if facts.rotates() != Some(false) {
        let line = "Read in order, a request has no reason to wait for the arm or the platter; \
                    between two windows the platter turns on.";
        let share = 1.0 - REVOLUTION_NS / latency_ns / 2.0;
        return (latency_ns >= REVOLUTION_NS && window <= DEFAULT_BYTES)
            .then(|| by_itself(share, Possible, line.to_owned()));
    }
    if let Some((label, ns)) = small {
        // Of the time of a request, what a small one takes is not for its bytes.
        let share = (ns / latency_ns).min(1.0);
        let line = format!(
            "A small read takes {} ({label}): {} of the time is waiting that more bytes under \
             way would share.",
            duration(ns),
            percent(share)
        );
        return Some(by_itself(share, Likely, line));
    }
    (window < DEFAULT_BYTES).then(|| {
        let default = show_size(DEFAULT_BYTES);
        let line = format!("The window is smaller than the kernel's default, {default}.");
        by_itself(0.5, Possible, line)
    })
}
