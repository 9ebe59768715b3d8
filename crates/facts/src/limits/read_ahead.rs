//! One reader in order through the page cache goes as fast as its read-ahead window
//! lets it: a window's bytes for each time that the device takes for one.
//!
//! The kernel asks for the next window when the reader comes to a mark in this one
//! (kernel, `mm/readahead.c`), so one to two windows are under way at a time, never
//! more: by Little's law bytes in flight = rate x latency, and a device that could
//! do more needs a window as large as its bandwidth times its latency.

use super::experiment::at_least;
use super::queue::{set, top};
use super::reference::{best_sequential_read, small_read_ns};
use super::{Candidate, Standing, Subject};
use crate::words::percent;
use diskfacts_plan::units::{exact_size, show_duration, show_size, show_throughput};
use diskfacts_plan::{CacheMode, Operation, Workload};
use diskfacts_record::{Confidence, Quantity};

pub(super) const NAME: &str = "read-ahead";

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

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let workload = subject.workload();
    let buffered = matches!(workload.cache, CacheMode::Buffered | CacheMode::Cold);
    if subject.imported()
        || workload.operation != Operation::Read
        || !subject.in_order()
        || !buffered
        || subject.from_memory() > 0.5
    {
        return None;
    }
    let device = top(subject)?;
    let window = device.read_ahead_bytes?;
    let work = subject.device_work()?;
    let rate = subject.rate()?;
    if work.reads < 1.0 {
        return None;
    }
    let request = work.read_bytes / work.reads;
    let latency_ns = work.waited_s * 1e9 / work.requests;
    // A reader that asks for more than a window at once gets it at once.
    let unit = (window as f64).max(workload.block_size as f64).max(4096.0);
    // Bytes under way, on average.
    let in_flight = work.waited_s / subject.seconds() * request;
    let readers = f64::from(workload.streams.max(1)) * f64::from(workload.queue_depth.max(1));
    if in_flight > WINDOWS * unit * readers || work.busy_s < DEVICE_BUSY * subject.seconds() {
        return None;
    }
    let gain = gain(subject, rate, latency_ns, window)?;
    let needed = gain
        .possible
        .map(|possible| possible * gain.latency_ns / 1e9);
    // No larger one is proposed than this: then the window is not what is too small.
    let proposed = Some(proposed(window, needed)).filter(|bytes| *bytes > window)?;
    let mut evidence = vec![
        format!(
            "The window of {} is {}; the device was asked for {} at a time, and took {} for that.",
            device.name,
            show_size(window),
            show_size(request as u64),
            show_duration(latency_ns as u64)
        ),
        format!(
            "{} were under way on average; {} / {} is {}.",
            show_size(in_flight as u64),
            show_size(in_flight as u64),
            show_duration(latency_ns as u64),
            show_throughput(in_flight / latency_ns * 1e9)
        ),
        gain.line,
    ];
    if let Some((needed, possible)) = needed.zip(gain.possible) {
        evidence.push(format!(
            "{} times {} are {} that have to be under way.",
            show_throughput(possible),
            show_duration(gain.latency_ns as u64),
            show_size(needed as u64)
        ));
    }
    let kib = (proposed / 1024).to_string();
    let past = Workload {
        cache: CacheMode::Direct,
        block_size: proposed.min(16 << 20),
        // One that is waited for and the next, as the kernel has them on their way.
        queue_depth: 2,
        ..workload.clone()
    };
    Some(Candidate {
        standing: Standing::cause(gain.share),
        claim: format!(
            "The read-ahead window of {} is too small: the reader waits for one piece of the \
             data after the other.",
            show_size(window)
        ),
        evidence,
        share: Some(gain.share),
        confidence: gain.confidence,
        refuted_by: "The same rate with a larger window.".into(),
        experiment: subject.experiment(
            "Direct reads as large as the proposed window: a higher rate speaks for it, the same \
             rate against it. Then the stage itself with the window set.",
            &[
                ("large-direct-reads", past),
                ("as-it-was", workload.clone()),
            ],
        )
        .decided_by(at_least(
            ("large-direct-reads", "as-it-was"),
            Quantity::Throughput,
            FASTER,
        )),
        remedy: format!(
            "{} That is {}.",
            set(
                subject,
                device,
                ("queue/read_ahead_kb", &kib),
                (
                    "host",
                    &format!("read_ahead = \"{}\"", exact_size(proposed))
                )
            ),
            show_size(proposed)
        ),
    })
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
fn by_processor(subject: &Subject<'_>) -> Option<f64> {
    let figures = subject.figures;
    let used_ns = figures.cpu_user_ns_per_io? + figures.cpu_system_ns_per_io?;
    let (mut waited_ns, mut ops) = (0.0, 0.0);
    for trial in subject.trials() {
        waited_ns += trial.cpu.wait_ns_per_io.unwrap_or(0.0) * trial.ops as f64;
        ops += trial.ops as f64;
    }
    let each_ns = used_ns + waited_ns / ops;
    let streams = f64::from(subject.workload().streams.max(1));
    let rate = streams * subject.workload().block_size as f64 / each_ns * 1e9;
    (rate.is_finite() && rate > 0.0).then_some(rate)
}

fn gain(subject: &Subject<'_>, rate: f64, latency_ns: f64, window: u64) -> Option<Gain> {
    let small = small_read_ns(subject);
    if let Some(better) = best_sequential_read(subject) {
        // However large its window, the reader copies what it reads.
        let possible = better
            .rate
            .min(by_processor(subject).unwrap_or(f64::INFINITY));
        let share = (1.0 - rate / possible).max(0.0);
        return (possible > FASTER * rate).then(|| Gain {
            share,
            possible: Some(possible),
            latency_ns: small.map_or(latency_ns, |(_, ns)| ns.max(latency_ns)),
            confidence: Confidence::Likely,
            line: format!(
                "{} reached {}{}: {} of the time would be saved at that rate.",
                better.label,
                show_throughput(better.rate),
                if possible < better.rate {
                    let possible = show_throughput(possible);
                    format!(", of which the processor lets this reader have {possible}")
                } else {
                    String::new()
                },
                percent(share)
            ),
        });
    }
    if subject.rotates() != Some(false) {
        return (latency_ns >= REVOLUTION_NS && window <= DEFAULT_BYTES).then(|| Gain {
            share: 1.0 - REVOLUTION_NS / latency_ns / 2.0,
            possible: None,
            latency_ns,
            confidence: Confidence::Possible,
            line: "Read in order, a request has no reason to wait for the arm or the platter; \
                   between two windows the platter turns on."
                .into(),
        });
    }
    if let Some((label, ns)) = small {
        // Of the time of a request, what a small one takes is not for its bytes.
        let share = (ns / latency_ns).min(1.0);
        return Some(Gain {
            share,
            possible: None,
            latency_ns: ns,
            confidence: Confidence::Likely,
            line: format!(
                "A small read takes {} ({label}): {} of the time is waiting that more bytes under \
                 way would share.",
                show_duration(ns as u64),
                percent(share)
            ),
        });
    }
    (window < DEFAULT_BYTES).then(|| Gain {
        share: 0.5,
        possible: None,
        latency_ns,
        confidence: Confidence::Possible,
        line: format!(
            "The window is smaller than the kernel's default, {}.",
            show_size(DEFAULT_BYTES)
        ),
    })
}
