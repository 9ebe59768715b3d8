//! One reader in order through the page cache goes as fast as its read-ahead window
//! lets it: a window's bytes for each time that the device takes for one.
//!
//! The kernel asks for the next window when the reader comes to a mark in this one
//! (kernel, `mm/readahead.c`), so one to two windows are under way at a time, never
//! more: by Little's law bytes in flight = rate x latency, and a device that could
//! do more needs a window as large as its bandwidth times its latency.

use super::prelude::*;
use super::queue::set;
use crate::processor_wait::{ProcessorWait, WAIT};
use crate::stage_facts::processor;
use crate::stage_facts::read_ahead_window::Window;
use crate::stage_facts::reference::{best_sequential_read, small_read_ns};

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

fn window_is_too_small(facts: &StageFacts<'_>) -> Option<Candidate> {
    let window = Window::of(facts)?;
    // One that holds what is read is not too small: no larger one has more to ask for.
    let workload = facts.workload();
    let left = facts
        .run()
        .target
        .size_bytes
        .saturating_sub(workload.offset);
    unless(window.bytes >= workload.span.unwrap_or(left).min(left))?;
    unless(window.windows > WINDOWS || facts.busy()? < DEVICE_BUSY)?;
    let (share, confidence, by, possible) = gain(facts, &window)?;
    let needed = possible.map(|(rate, ns)| rate * ns / 1e9);
    // No larger one is proposed than this: then the window is not what is too small.
    let proposed = Some(proposed(window.bytes, needed)).filter(|bytes| *bytes > window.bytes)?;
    let (has, took) = (show_size(window.bytes), duration(window.latency_ns));
    let [request, under_way] = [window.request_bytes, window.in_flight_bytes].map(size);
    let sums = [
        format!(
            "The window of {} is {has}; the device was asked for {request} at a time, and took \
             {took} for that.",
            window.device.name
        ),
        format!(
            "{under_way} were under way on average; {under_way} / {took} is {}.",
            show_throughput(window.in_flight_bytes / window.latency_ns * 1e9)
        ),
        by,
    ];
    let needed = possible.map(|(rate, ns)| {
        format!(
            "{} times {} are {} that have to be under way.",
            show_throughput(rate),
            duration(ns),
            size(rate * ns / 1e9)
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
    let set = set(facts, window.device, ("queue/read_ahead_kb", &kib), &key);
    let found = cause(share, confidence, claim)
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

/// Bytes per second that are possible, where another stage shows it, and the latency that does
/// not depend on the size of the window, ns.
type Reachable = Option<(f64, f64)>;

/// Share of the time that would go away with a larger window, how sure that is, and by which figure.
fn gain(
    facts: &StageFacts<'_>,
    window: &Window<'_>,
) -> Option<(f64, Confidence, String, Reachable)> {
    let (rate, latency_ns) = (facts.rate()?, window.latency_ns);
    let small = small_read_ns(facts);
    // Requests are late, too, where who asks for the next has no processor.
    let waits = ProcessorWait::of(facts.stage).is_some_and(|wait| wait.share >= WAIT);
    let sure = likely_if(!waits);
    if let Some((label, better)) = best_sequential_read(facts) {
        // However large its window, the reader copies what it reads.
        let by_processor = processor::rate_without_device(facts);
        let most = better.min(by_processor.unwrap_or(f64::INFINITY));
        unless(most <= FASTER * rate)?;
        let [reached, lets] = [better, most].map(show_throughput);
        let lets = if most < better {
            format!(", of which the processor lets this reader have {lets}")
        } else {
            String::new()
        };
        let share = (1.0 - rate / most).max(0.0);
        let line = format!(
            "{label} reached {reached}{lets}: {} of the time would be saved at that rate.",
            percent(share)
        );
        let fixed_ns = small.map_or(latency_ns, |(_, ns)| ns.max(latency_ns));
        return Some((share, sure, line, Some((most, fixed_ns))));
    }
    if facts.rotates() != Some(false) {
        unless(latency_ns < REVOLUTION_NS || window.bytes > DEFAULT_BYTES)?;
        let line = "Read in order, a request has no reason to wait for the arm or the platter; \
                    between two windows the platter turns on.";
        let share = 1.0 - REVOLUTION_NS / latency_ns / 2.0;
        return Some((share, Possible, line.to_owned(), None));
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
        return Some((share, sure, line, None));
    }
    unless(window.bytes >= DEFAULT_BYTES)?;
    let default = show_size(DEFAULT_BYTES);
    let line = format!("The window is smaller than the kernel's default, {default}.");
    Some((0.5, Possible, line, None))
}
