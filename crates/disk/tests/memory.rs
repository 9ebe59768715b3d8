//! What a simulated drive takes of the host's memory, by counting what is
//! allocated. A program of its own, with one test: what others allocate at the
//! same time would be counted too.

mod drives;

use diskfacts_disk::hdd::{Hdd, HddParameters};
use diskfacts_disk::profile::{Drive, profile, profiles};
use diskfacts_disk::ssd::{Ssd, SsdParameters};
use diskfacts_disk::{Completion, Device, Kind, Request};
use drives::{random, sequential};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// Runs a load on what `make` makes, with eight requests in flight; gives the
/// most that drive and run held at a time, bytes.
fn peak<D: Device>(make: impl FnOnce() -> D, load: &[Request]) -> usize {
    let mut done: Vec<Completion> = Vec::with_capacity(64);
    let before = ALLOCATED.current_usage();
    ALLOCATED.reset_peak_usage();
    let mut device = make();
    let (mut load, mut in_flight, mut now_ns) = (load.iter(), 0, 0);
    loop {
        while in_flight < 8
            && let Some(request) = load.next()
        {
            device.submit(now_ns, request);
            in_flight += 1;
        }
        if in_flight == 0 {
            break;
        }
        now_ns = device.next_event().expect("something is in flight");
        device.advance(now_ns, &mut done);
        in_flight -= done.len();
        done.clear();
    }
    ALLOCATED.peak_usage() - before
}

#[test]
fn memory_does_not_grow_with_a_hard_disk_and_stays_below_a_hundredth_of_a_flash_drive() {
    for name in profiles() {
        match profile(name).expect("it is built in").drive {
            Drive::Hdd(hdd) => hard_disk(name, &hdd),
            Drive::Ssd(ssd) => flash_drive(name, &ssd),
        }
    }
}

fn hard_disk(name: &str, parameters: &HddParameters) {
    let mut large = parameters.clone();
    large.capacity *= 1000;
    for zone in &mut large.zones {
        zone.start *= 1000;
    }
    for kind in [Kind::Read, Kind::Write] {
        let peak_of = |parameters: &HddParameters| {
            let load = random(kind, 4096, parameters.capacity, 20_000, 1);
            peak(|| Hdd::new(parameters.clone()), &load)
        };
        let (small, large) = (peak_of(parameters), peak_of(&large));
        assert!(small > 0, "{name}: nothing was counted");
        // Writes that wait in the drive's cache are remembered one by one.
        assert!(small < 4 << 20, "{name}, {kind:?}: {small} bytes");
        let ratio = large as f64 / small as f64;
        assert!(
            (0.8..1.25).contains(&ratio),
            "{name}, {kind:?}: {small} {large}"
        );
    }
}

fn flash_drive(name: &str, parameters: &SsdParameters) {
    // A small one with the same pages and dies, so that all of it is written
    // soon: what is kept for each page does not depend on how many there are.
    let capacity = 4 << 30;
    let small = SsdParameters {
        capacity,
        pages_per_block: 16,
        write_buffer: parameters.write_buffer.min(4 << 20),
        ..parameters.clone()
    };
    let mut load = sequential(Kind::Write, 0, 1 << 20, capacity >> 20);
    load.extend(random(Kind::Write, 4096, capacity, 50_000, 3));
    let taken = peak(|| Ssd::new(small), &load);
    let share = taken as f64 / capacity as f64;
    println!("{name}: {:.3} % of the capacity", 100.0 * share);
    // Four bytes each way for every 4 KiB, and the spare flash.
    assert!((0.001..0.01).contains(&share), "{name}: {share}");
    // One of a terabyte, a write to each 1024th of it: the map is made where
    // it is written.
    let whole = SsdParameters {
        capacity: 1 << 40,
        ..parameters.clone()
    };
    let load: Vec<Request> = (0..1024)
        .map(|tag| Request::write(tag, tag << 30, 4096))
        .collect();
    let taken = peak(|| Ssd::new(whole), &load);
    assert!(taken < (1 << 40) / 1000, "{name}: {taken} bytes");
}
