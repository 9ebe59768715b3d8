//! Simulated operations per second of processor time.
//!
//! Goals: 2 million for a hard disk with one request in flight, 1 million with
//! 32, the strided reads of seed 000's 16 GiB plan well below a second, and the
//! map of a flash drive below 1 % of its capacity.
//! `cargo bench -p diskfacts-disk` runs it, `cargo bench -p diskfacts-disk --
//! "disk, random writes"` what has these words in its name; `cargo test` runs a
//! thousandth of it, as `--small` does, so that it does not rot.
//!
//! The time is that of this thread on a processor, from
//! /proc/thread-self/schedstat where there is one, so that other work on the
//! machine does not count; elsewhere it is the time that passes.

use diskfacts_disk::profile::{Drive, build_disk, profile};
use diskfacts_disk::ssd::{Ssd, SsdParameters};
use diskfacts_disk::{Completion, Device, Request};
use diskfacts_plan::rng::Rng;
use std::time::Instant;

/// Time of this thread on a processor so far, s.
fn processor_seconds(start: Instant) -> f64 {
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse::<f64>().ok())
        .map_or_else(|| start.elapsed().as_secs_f64(), |ns| ns / 1e9)
}

/// Keeps `depth` requests in flight until `count` are done; gives the virtual
/// time, s.
fn closed_loop(
    device: &mut dyn Device,
    depth: u64,
    count: u64,
    mut next: impl FnMut(u64) -> Request,
) -> f64 {
    let mut done: Vec<Completion> = Vec::with_capacity(64);
    let (mut sent, mut completed, mut now_ns) = (0, 0, 0);
    while sent < depth {
        device.submit(now_ns, &next(sent));
        sent += 1;
    }
    while completed < count {
        now_ns = device.next_event().expect("requests are in flight");
        device.advance(now_ns, &mut done);
        for _ in done.drain(..) {
            completed += 1;
            device.submit(now_ns, &next(sent));
            sent += 1;
        }
    }
    now_ns as f64 / 1e9
}

fn measure(what: &str, name: &str, depth: u64, count: u64, writes: bool) {
    let profile = profile(name).expect("a built-in profile");
    let mut device = build_disk(&profile, 1);
    let blocks = device.capacity() / 4096;
    let mut rng = Rng::new(7);
    let start = Instant::now();
    let before = processor_seconds(start);
    let virtual_s = closed_loop(&mut *device, depth, count, |tag| {
        let offset = rng.below(blocks) * 4096;
        if writes {
            Request::write(tag, offset, 4096)
        } else {
            Request::read(tag, offset, 4096)
        }
    });
    let seconds = processor_seconds(start) - before;
    let speed = if seconds > 0.0 {
        format!(
            "{:>7.2} million/s of processor",
            count as f64 / seconds / 1e6
        )
    } else {
        "too short to measure".to_owned()
    };
    println!(
        "{what:<44} {speed:<34} ({:>9.0} IOPS simulated)",
        count as f64 / virtual_s
    );
}

/// The strided reads of seed 000: one block at random out of each stretch.
fn strided(count_divisor: u64) {
    let profile = profile("hdd-7200-1tb").expect("a built-in profile");
    let start = Instant::now();
    let before = processor_seconds(start);
    let mut all = 0;
    for (skip, count) in [
        (64, 65_536),
        (128, 32_768),
        (256, 16_384),
        (1024, 4096),
        (65_536, 4096),
    ] {
        let mut device = build_disk(&profile, 1);
        let mut rng = Rng::new(skip);
        let count = count / count_divisor;
        closed_loop(&mut *device, 1, count, |tag| {
            let block = (tag * skip + rng.below(skip)) % (1 << 22);
            Request::read(tag, block * 4096, 4096)
        });
        all += count;
    }
    let seconds = processor_seconds(start) - before;
    println!("strided plan of 16 GiB, {all} reads: {seconds:.3} s of processor");
}

/// Memory of a flash drive's map with something written in each piece of it.
fn map(capacity: u64) {
    let Drive::Ssd(parameters) = profile("nvme-datacenter").expect("built in").drive else {
        unreachable!("a flash drive");
    };
    let mut device = Ssd::new(SsdParameters {
        capacity,
        ..parameters
    });
    // A piece of the map is made for 256 MiB.
    closed_loop(&mut device, 8, (capacity >> 28) - 8, |tag| {
        Request::write(tag, (tag << 28) % capacity, 4096)
    });
    let bytes = device.map_bytes();
    println!(
        "map of a flash drive of {} GiB at 4 KiB: {:.1} MiB, {:.3} % of its capacity",
        capacity >> 30,
        bytes as f64 / f64::from(1 << 20),
        100.0 * bytes as f64 / capacity as f64
    );
}

fn main() {
    let has = |wanted: &str| std::env::args().any(|argument| argument == wanted);
    let wanted = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    let is_wanted = |what: &str| wanted.as_ref().is_none_or(|words| what.contains(words));
    let is_small = has("--small") || !has("--bench");
    let scale = if is_small { 1000 } else { 1 };
    for (what, name, depth, count, writes) in [
        (
            "hard disk, random reads, depth 1",
            "hdd-7200-1tb",
            1,
            2_000_000,
            false,
        ),
        (
            "hard disk, random reads, depth 32",
            "hdd-7200-1tb",
            32,
            1_000_000,
            false,
        ),
        (
            "hard disk of 20 TB, random reads, depth 32",
            "hdd-20tb-cmr",
            32,
            1_000_000,
            false,
        ),
        (
            "hard disk, random writes, depth 1",
            "hdd-7200-1tb",
            1,
            1_000_000,
            true,
        ),
        (
            "hard disk, random writes, depth 32",
            "hdd-7200-1tb",
            32,
            500_000,
            true,
        ),
        (
            "flash drive, random reads, depth 32",
            "nvme-datacenter",
            32,
            2_000_000,
            false,
        ),
        (
            "flash drive, random writes, depth 32",
            "nvme-datacenter",
            32,
            2_000_000,
            true,
        ),
        (
            "RAID-6 of 8, random reads, depth 32",
            "raid6x8",
            32,
            200_000,
            false,
        ),
        (
            "RAID-6 of 8, random writes, depth 32",
            "raid6x8",
            32,
            50_000,
            true,
        ),
    ] {
        if is_wanted(what) {
            measure(what, name, depth, count / scale, writes);
        }
    }
    if is_wanted("strided plan") {
        strided(if is_small { 64 } else { 1 });
    }
    if is_wanted("map of a flash drive") {
        map(if is_small { 4 << 30 } else { 1 << 40 });
    }
}
