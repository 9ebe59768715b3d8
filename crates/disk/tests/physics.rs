//! What holds for every simulated disk, whatever its parameters.

mod drives;

use diskfacts_disk::hdd::Hdd;
use diskfacts_disk::hdd::seek::SeekCurve;
use diskfacts_disk::profile::{Drive, Profile, build, build_disk, profile, profiles};
use diskfacts_disk::{Completion, Device, IoError, Kind, Layer, Request, device};
use drives::{buffered, mixed, random, run, sequential};
use std::collections::BTreeSet;

fn all() -> impl Iterator<Item = Profile> {
    profiles().map(|name| profile(name).unwrap())
}

/// The hard disks, each drive by itself.
fn hard_disks() -> Vec<(String, diskfacts_disk::hdd::HddParameters)> {
    all()
        .filter_map(|profile| match profile.drive {
            Drive::Hdd(hdd) => Some((profile.name, hdd)),
            Drive::Ssd(_) => None,
        })
        .collect()
}

#[test]
fn every_request_completes_once_and_its_parts_add_up() {
    for profile in all() {
        for (what, mut device) in [
            ("disk", build_disk(&profile, 5)),
            ("whole", build(&profile, 5)),
        ] {
            for depth in [1, 7, 40] {
                let load = mixed(device.capacity(), device.logical_sector(), 400, depth);
                let load = if what == "whole" {
                    buffered(load)
                } else {
                    load
                };
                check_load(&profile.name, &mut *device, depth as usize, load);
                device = if what == "whole" {
                    build(&profile, 5)
                } else {
                    build_disk(&profile, 5)
                };
            }
        }
    }
}

fn check_load(name: &str, device: &mut dyn Device, depth: usize, load: Vec<Request>) {
    let asked = load.clone();
    let (done, _) = run(device, depth, load);
    let tags: BTreeSet<u64> = done.iter().map(|completion| completion.tag).collect();
    assert_eq!(tags.len(), asked.len(), "{name}: each tag once");
    assert_eq!(done.len(), asked.len(), "{name}: as many as asked");
    assert!(
        done.is_sorted_by_key(|completion| completion.done_ns),
        "{name}: in order of time"
    );
    for completion in &done {
        let request = &asked[completion.tag as usize];
        assert_eq!(
            completion.breakdown.total_ns(),
            completion.latency_ns(),
            "{name}: {request:?} {completion:?}"
        );
        assert_eq!(
            (completion.kind, completion.len),
            (request.kind, request.len)
        );
        let is_good = device::check(request, device.capacity(), device.logical_sector()).is_ok();
        // The page cache takes bytes that are no whole sectors.
        if request.flags.direct {
            assert_eq!(completion.result.is_ok(), is_good, "{name}: {request:?}");
        }
    }
    let statistics = device.statistics(done.last().map_or(0, |last| last.done_ns));
    assert_eq!(statistics.in_flight, 0, "{name}");
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_one_another() {
    for profile in all() {
        let trace = |seed: u64| -> Vec<Completion> {
            let mut device = build(&profile, seed);
            let load = mixed(device.capacity(), device.logical_sector(), 300, 9);
            run(&mut *device, 8, load).0
        };
        assert_eq!(trace(1), trace(1), "{}", profile.name);
        if profile.is_rotational() {
            assert_ne!(trace(1), trace(2), "{}: spindles", profile.name);
        }
    }
}

/// FNV-1a over every number of a run.
fn fingerprint(done: &[Completion]) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut add = |value: u64| {
        for byte in value.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for completion in done {
        let parts = completion.breakdown;
        for value in [
            completion.tag,
            completion.submitted_ns,
            completion.done_ns,
            u64::from(completion.result.is_ok()),
            completion.kind as u64,
            completion.len,
            parts.queue_ns,
            parts.overhead_ns,
            parts.seek_ns,
            parts.rotation_ns,
            parts.transfer_ns,
            parts.bus_ns,
            parts.cache_wait_ns,
            parts.collection_ns,
            parts.program_ns,
            parts.retry_ns,
            parts.stall_ns,
            parts.throttle_ns,
            parts.network_ns,
            parts.host_ns + parts.idled_ns,
            u64::from(parts.lost_revolutions),
            u64::from(parts.retries),
            parts.layer as u64,
        ] {
            add(value);
        }
    }
    hash
}

/// A run is the same, byte for byte, on every machine: these numbers were
/// written down on one, and every other must find them. They change whenever
/// the model or a profile does; then take the new ones from the message.
#[test]
fn a_run_is_the_same_on_every_machine() {
    let found: Vec<(String, u64)> = all()
        .map(|profile| {
            let mut device = build(&profile, 1);
            let load = mixed(device.capacity(), device.logical_sector(), 500, 3);
            (profile.name, fingerprint(&run(&mut *device, 4, load).0))
        })
        .collect();
    let expected: Vec<(String, u64)> = FINGERPRINTS
        .iter()
        .map(|(name, hash)| ((*name).to_owned(), *hash))
        .collect();
    assert_eq!(found, expected, "{found:#018x?}");
}

const FINGERPRINTS: [(&str, u64); 13] = [
    ("hdd-7200-1tb", 0x6915_b255_f827_610b),
    ("hdd-7200-sync", 0x161f_a041_8d32_0904),
    ("hdd-7200-md-raid0x2", 0xf7ea_95bb_0311_2564),
    ("raid6x8", 0x77ec_6d9e_f6fe_7ab1),
    ("raid10x4", 0x7094_2475_1280_48d3),
    ("ssd-raid1", 0xa3cf_e96d_3fdc_0d8c),
    ("hdd-10k", 0x7a6b_8537_de5c_4e05),
    ("san-entry", 0x2a64_7dae_806b_34f2),
    ("hdd-20tb-cmr", 0x7590_5aef_c953_da03),
    ("ssd-sata", 0xfd15_a274_79c4_bc0a),
    ("nvme-datacenter", 0x06c1_9aaf_e88b_5db3),
    ("nvme-consumer", 0x7e86_93bb_b044_4ea2),
    ("cloud-credit", 0x8968_cc00_98cf_366f),
];

#[test]
fn an_operation_beyond_the_end_is_an_io_error() {
    for profile in all() {
        let mut disk = build(&profile, 1);
        let capacity = disk.capacity();
        let sector = disk.logical_sector();
        let request = Request::read(1, capacity - sector, 2 * sector);
        let done = device::run_one(&mut *disk, 0, &request, &mut Vec::new());
        let beyond = IoError::BeyondEnd {
            offset: capacity - sector,
            end: capacity + sector,
            capacity,
        };
        assert_eq!(done.result, Err(beyond), "{}", profile.name);
        let last = Request::read(2, capacity - sector, sector);
        let done = device::run_one(&mut *disk, done.done_ns, &last, &mut Vec::new());
        assert_eq!(done.result, Ok(()), "{}", profile.name);
    }
}

#[test]
fn littles_law_holds_exactly() {
    for profile in all() {
        let mut device = build_disk(&profile, 2);
        let load = random(Kind::Read, 4096, 1 << 30, 500, 4);
        let (done, end_ns) = run(&mut *device, 16, load);
        let statistics = device.statistics(end_ns);
        let latencies: u64 = done.iter().map(Completion::latency_ns).sum();
        // Requests in flight, over time = arrivals times their mean stay.
        assert_eq!(statistics.weighted_ns, latencies, "{}", profile.name);
        assert_eq!(statistics.read.ticks_ns, latencies);
        assert_eq!(statistics.read.ios, 500);
        assert_eq!(statistics.read.sectors, 500 * 8);
        assert_eq!(statistics.busy_ns, end_ns, "{}: never idle", profile.name);
    }
}

#[test]
fn a_flush_leaves_nothing_that_a_power_cut_could_lose() {
    for profile in all() {
        for is_buffered in [false, true] {
            let mut device = build(&profile, 3);
            let load = random(Kind::Write, 8192, 256 << 20, 300, 8);
            let load = if is_buffered { buffered(load) } else { load };
            let (_, now_ns) = run(&mut *device, 16, load);
            let mut flush = Request::flush(1);
            flush.flags.direct = !is_buffered;
            device::run_one(&mut *device, now_ns, &flush, &mut Vec::new());
            let left = device.volatile();
            assert!(left.is_empty(), "{}: {left:?}", profile.name);
        }
    }
}

#[test]
fn without_a_flush_a_power_cut_loses_acknowledged_writes_if_the_cache_is_volatile() {
    for name in ["hdd-7200-sync", "raid6x8", "nvme-consumer"] {
        let mut device = build_disk(&profile(name).unwrap(), 3);
        let load = random(Kind::Write, 8192, 256 << 20, 20, 8);
        let (done, _) = run(&mut *device, 1, load);
        assert!(!device.volatile().is_empty(), "{name}");
        // The array has to read for its parity first.
        let is_array = name == "raid6x8";
        let from_cache = done[0].breakdown.layer == Layer::DriveCache;
        assert_ne!(from_cache, is_array, "{name}");
    }
    let mut protected = build_disk(&profile("nvme-datacenter").unwrap(), 3);
    let load = random(Kind::Write, 8192, 256 << 20, 20, 8);
    run(&mut *protected, 1, load);
    assert!(protected.volatile().is_empty(), "capacitors");
}

#[test]
fn a_write_with_force_unit_access_is_durable_when_it_is_acknowledged() {
    for profile in all() {
        let mut device = build_disk(&profile, 3);
        let mut now_ns = 0;
        for tag in 0..50 {
            let offset = (tag * 7919 % 1000) * 65_536;
            let request = Request::write(tag, offset, 16_384).fua();
            let done = device::run_one(&mut *device, now_ns, &request, &mut Vec::new());
            now_ns = done.done_ns;
            let left = device.volatile();
            assert!(left.is_empty(), "{}: {left:?}", profile.name);
        }
    }
}

#[test]
fn the_mean_rotational_wait_is_half_a_revolution() {
    for (name, parameters) in hard_disks() {
        let revolution_ns = parameters.revolution_ns;
        let mut disk = Hdd::new(parameters);
        let load = random(Kind::Read, 4096, disk.capacity(), 20_000, 6);
        let (done, _) = run(&mut disk, 1, load);
        let waits: Vec<u64> = done
            .iter()
            .filter(|completion| completion.breakdown.seek_ns > 0)
            .map(|completion| completion.breakdown.rotation_ns)
            .collect();
        let mean = waits.iter().sum::<u64>() as f64 / waits.len() as f64;
        let share = mean / revolution_ns as f64;
        // Uniform over a revolution: the mean of 20000 is within 0.7 % at
        // three standard deviations.
        assert!((share - 0.5).abs() < 0.007, "{name}: {share}");
        assert!(waits.iter().all(|wait| *wait < revolution_ns), "{name}");
    }
}

#[test]
fn each_zone_streams_at_its_rate() {
    for (name, parameters) in hard_disks() {
        let zones = parameters.zones.clone();
        for zone in [0, zones.len() / 2, zones.len() - 1] {
            let mut disk = Hdd::new(parameters.clone());
            // In the middle, away from the borders, which are moved to whole
            // groups of tracks.
            let end = zones
                .get(zone + 1)
                .map_or(parameters.capacity, |next| next.start);
            let start = zones[zone].start.midpoint(end) >> 20 << 20;
            let count = ((end - start) >> 20).min(1000);
            let load = sequential(Kind::Read, start, 1 << 20, count);
            let (done, _) = run(&mut disk, 1, load);
            // Without the first, which seeks.
            let (first, last) = (done[0].done_ns, done[done.len() - 1].done_ns);
            let rate = ((count - 1) << 20) as f64 / ((last - first) as f64 / 1e9);
            let expected = zones[zone].bytes_per_s as f64;
            let error = rate / expected - 1.0;
            assert!(error.abs() < 0.003, "{name}, zone {zone}: {error}");
        }
    }
}

#[test]
fn sequential_reads_stream_whatever_their_size_and_depth() {
    for (name, parameters) in hard_disks() {
        let rate = parameters.zones[0].bytes_per_s as f64;
        for (len, depth) in [(64 << 10, 1), (64 << 10, 32), (1 << 20, 4), (16 << 20, 2)] {
            let mut disk = Hdd::new(parameters.clone());
            let count = (256 << 20) / len;
            let load = sequential(Kind::Read, 0, len, count);
            let (done, _) = run(&mut disk, depth, load);
            let (first, last) = (done[0].done_ns, done[done.len() - 1].done_ns);
            let got = ((count - 1) * len) as f64 / ((last - first) as f64 / 1e9);
            // A command's overhead and its bytes on the interface may take longer.
            let interface_s = parameters.command_overhead_ns as f64 / 1e9
                + len as f64 / parameters.bus_bytes_per_s as f64;
            let floor = rate.min(len as f64 / interface_s);
            assert!(
                (0.98 * floor..1.02 * rate).contains(&got),
                "{name}: {len} bytes, depth {depth}: {got} {floor}"
            );
        }
    }
}

#[test]
fn sequential_writes_stream_through_the_write_cache() {
    for (name, parameters) in hard_disks() {
        let rate = parameters.zones[0].bytes_per_s as f64;
        let mut parameters = parameters;
        // Soon full, whatever the cache's size is.
        let dirty = parameters.write_cache.capacity.min(16 << 20);
        parameters.write_cache.capacity = dirty;
        let mut disk = Hdd::new(parameters);
        let count = 1000;
        let load = sequential(Kind::Write, 0, 1 << 20, count);
        let (done, _) = run(&mut disk, 1, load);
        // Once the cache is full the platter sets the pace.
        let from = (dirty >> 20) as usize + 100;
        let (first, last) = (done[from].done_ns, done[done.len() - 1].done_ns);
        let got = ((done.len() - 1 - from) << 20) as f64 / ((last - first) as f64 / 1e9);
        let error = got / rate - 1.0;
        assert!(error.abs() < 0.02, "{name}: {error}");
    }
}

#[test]
fn a_write_that_covers_a_part_of_a_sector_reads_it_first() {
    let Drive::Hdd(mut parameters) = profile("hdd-20tb-cmr").unwrap().drive else {
        panic!("a hard disk");
    };
    assert_eq!(parameters.physical_sector, 4096);
    parameters.write_cache.enabled = false;
    for (offset, len, lost) in [
        (0, 4096, 0),
        (4096, 1 << 20, 0),
        (512, 512, 1),
        (512, 4096 - 512, 1),
        (4096, 512, 1),
        (4096 + 512, 8192, 1),
        // The last sector lies more than a revolution behind the first.
        (4096, (4 << 20) + 512, 2),
    ] {
        let mut disk = Hdd::new(parameters.clone());
        let write = Request::write(1, offset, len);
        let done = device::run_one(&mut disk, 0, &write, &mut Vec::new());
        assert_eq!(done.breakdown.lost_revolutions, lost, "{offset} {len}");
        assert!(done.breakdown.rotation_ns >= u64::from(lost) * parameters.revolution_ns);
    }
}

#[test]
fn a_longer_seek_never_takes_less_time() {
    for (name, parameters) in hard_disks() {
        let disk = Hdd::new(parameters.clone());
        let curve = SeekCurve::new(&parameters.seek, disk.cylinders());
        let step = (disk.cylinders() / 20_000).max(1) as usize;
        let times: Vec<u64> = (0..disk.cylinders())
            .step_by(step)
            .map(|distance| curve.time_ns(distance))
            .collect();
        assert!(times.is_sorted(), "{name}");
        assert!(
            times[times.len() - 1] <= parameters.seek.full_stroke_ns,
            "{name}"
        );
    }
}

#[test]
fn ordering_among_32_commands_gains_and_forgets_none() {
    for (name, parameters) in hard_disks() {
        if parameters.queue_depth < 32 {
            continue;
        }
        let iops = |depth: usize| {
            let mut disk = Hdd::new(parameters.clone());
            let load = random(Kind::Read, 4096, disk.capacity(), 3000, 6);
            let (done, end_ns) = run(&mut disk, depth, load);
            let slowest = done.iter().map(Completion::latency_ns).max().unwrap();
            // The age limit, and those that were over it already.
            assert!(slowest < 1_500_000_000, "{name}: {slowest}");
            3000.0 / (end_ns as f64 / 1e9)
        };
        let gain = iops(32) / iops(1);
        // Measured gains of real drives lie between 1.3 and 2.5.
        assert!((1.3..2.5).contains(&gain), "{name}: {gain}");
    }
}

#[test]
fn a_disk_takes_the_same_memory_whatever_its_capacity() {
    let Drive::Hdd(small) = profile("hdd-7200-1tb").unwrap().drive else {
        panic!("a hard disk");
    };
    let mut large = small.clone();
    large.capacity *= 1000;
    for zone in &mut large.zones {
        zone.start *= 1000;
    }
    // Everything a drive keeps is shown by its Debug form.
    let size = |parameters: &diskfacts_disk::hdd::HddParameters| {
        let mut disk = Hdd::new(parameters.clone());
        let load = random(Kind::Read, 4096, parameters.capacity, 200, 1);
        run(&mut disk, 8, load);
        format!("{disk:?}").len() as f64
    };
    let ratio = size(&large) / size(&small);
    assert!((0.8..1.2).contains(&ratio), "{ratio}");
}
