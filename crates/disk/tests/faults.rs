//! Planted flaws: each shows where it should, and nowhere else.

mod drives;

use diskfacts_disk::defects::{SlowZone, WeakSector};
use diskfacts_disk::faults::Faults;
use diskfacts_disk::faults::neighbour::NeighbourParameters;
use diskfacts_disk::faults::stall::StallParameters;
use diskfacts_disk::faults::stuck::StuckParameters;
use diskfacts_disk::faults::throttle::{CreditParameters, HeatParameters, ThrottleParameters};
use diskfacts_disk::profile::{Drive, Profile, build_disk, profile};
use diskfacts_disk::{Breakdown, Completion, Device, Extent, IoError, Kind, Request, device};
use drives::{random, run, sequential};

fn with(name: &str, faults: Faults) -> Profile {
    let mut profile = profile(name).unwrap();
    profile.faults = faults;
    profile
}

fn disk(faults: Faults) -> Box<dyn Device> {
    build_disk(&with("hdd-7200-1tb", faults), 1)
}

fn sum(done: &[Completion], part: fn(&Breakdown) -> u64) -> u64 {
    done.iter()
        .map(|completion| part(&completion.breakdown))
        .sum()
}

/// The load under which all of these are looked at.
fn load() -> Vec<Request> {
    random(Kind::Read, 4096, 64 << 20, 500, 3)
}

/// Which of the parts that only flaws cause are not zero.
fn symptoms(done: &[Completion]) -> Vec<&'static str> {
    [
        ("retry", sum(done, |parts| parts.retry_ns)),
        ("stall", sum(done, |parts| parts.stall_ns)),
        ("throttle", sum(done, |parts| parts.throttle_ns)),
        ("queue", sum(done, |parts| parts.queue_ns)),
        ("lost", sum(done, |parts| u64::from(parts.lost_revolutions))),
    ]
    .into_iter()
    .filter(|(_, total)| *total > 0)
    .map(|(name, _)| name)
    .collect()
}

fn slow_zone() -> Faults {
    let zone = SlowZone {
        extent: Extent {
            start: 0,
            end: 64 << 20,
        },
        time_percent: 5000,
    };
    Faults {
        slow_zones: vec![zone],
        ..Faults::default()
    }
}

fn weak_sector() -> Faults {
    let weak = WeakSector {
        offset: 8 << 20,
        retries: 3,
        readable: true,
    };
    Faults {
        weak_sectors: vec![weak],
        ..Faults::default()
    }
}

fn stuck(for_ns: u64) -> Faults {
    Faults {
        stuck: Some(StuckParameters {
            every_commands: 100,
            for_ns,
        }),
        ..Faults::default()
    }
}

fn stalls(for_ns: u64) -> Faults {
    Faults {
        stall: Some(StallParameters {
            every_ns: 1_000_000_000,
            for_ns,
        }),
        ..Faults::default()
    }
}

fn throttled(throttle: ThrottleParameters) -> Faults {
    Faults {
        throttle: Some(throttle),
        ..Faults::default()
    }
}

fn neighbour(every_ns: u64) -> Faults {
    Faults {
        neighbour: Some(NeighbourParameters {
            every_ns,
            len: 4096,
            writes: false,
            extent: Extent { start: 0, end: 0 },
        }),
        ..Faults::default()
    }
}

#[test]
fn each_flaw_shows_in_its_own_part_and_in_no_other() {
    let credit = ThrottleParameters::Credit(CreditParameters {
        base_iops: 10,
        burst_iops: 50,
        bucket: 100,
        io_unit: 256 << 10,
        bytes_per_s: 100_000_000,
    });
    let heat = ThrottleParameters::Heat(HeatParameters {
        cools_bytes_per_s: 100_000,
        limit: 1 << 20,
        resume: 1 << 19,
        throttled_bytes_per_s: 100_000,
    });
    let flaws: [(&str, Faults, &[&str]); 8] = [
        ("none", Faults::default(), &[]),
        ("slow zone", slow_zone(), &["retry"]),
        ("weak sector", weak_sector(), &["retry"]),
        ("stuck queue", stuck(2_000_000_000), &["stall"]),
        ("stalls", stalls(300_000_000), &["stall"]),
        ("credit", throttled(credit), &["throttle"]),
        ("heat", throttled(heat), &["throttle"]),
        ("neighbour", neighbour(20_000_000), &["queue"]),
    ];
    for (name, faults, expected) in flaws {
        // Each sector of the region is read, the weak one too.
        let requests = if name == "weak sector" {
            sequential(Kind::Read, 0, 64 << 10, 300)
        } else {
            load()
        };
        let (done, _) = run(&mut *disk(faults), 1, requests);
        assert_eq!(symptoms(&done), expected, "{name}");
        for completion in &done {
            assert_eq!(completion.latency_ns(), completion.breakdown.total_ns());
            assert_eq!(completion.result, Ok(()), "{name}");
        }
    }
}

#[test]
fn a_weak_sector_costs_a_revolution_for_each_try_until_it_is_written() {
    for readable in [true, false] {
        let mut device = disk(Faults {
            weak_sectors: vec![WeakSector {
                offset: 1 << 20,
                retries: 12,
                readable,
            }],
            ..Faults::default()
        });
        let mut others = Vec::new();
        let read = Request::read(1, 1 << 20, 4096);
        let done = device::run_one(&mut *device, 0, &read, &mut others);
        assert_eq!(done.breakdown.retries, 12);
        assert_eq!(done.breakdown.retry_ns, 12 * 8_333_333);
        let error = IoError::Unrecoverable { offset: 1 << 20 };
        assert_eq!(done.result, if readable { Ok(()) } else { Err(error) });
        // It heals when the write reaches the platter.
        let write = Request::write(2, 1 << 20, 4096);
        let done = device::run_one(&mut *device, done.done_ns, &write, &mut others);
        let flush = Request::flush(3);
        let done = device::run_one(&mut *device, done.done_ns, &flush, &mut others);
        let done = device::run_one(&mut *device, done.done_ns, &read, &mut others);
        assert_eq!((done.breakdown.retries, done.result), (0, Ok(())));
    }
}

#[test]
fn a_slow_zone_is_slower_by_what_was_planted() {
    let seconds = |time_percent: u64| {
        let zone = SlowZone {
            extent: Extent {
                start: 0,
                end: 1 << 30,
            },
            time_percent,
        };
        let slow_zones = if time_percent > 100 {
            vec![zone]
        } else {
            vec![]
        };
        let mut device = disk(Faults {
            slow_zones,
            ..Faults::default()
        });
        run(&mut *device, 4, sequential(Kind::Read, 0, 4 << 20, 100)).1 as f64
    };
    let ratio = seconds(400) / seconds(100);
    // Nothing is read ahead in the zone, so a little more than 4 times.
    assert!((3.9..5.0).contains(&ratio), "{ratio}");
    let behind = |time_percent| {
        let slow_zones = vec![SlowZone {
            extent: Extent {
                start: 1 << 40 >> 1,
                end: 1 << 39 | 1 << 30,
            },
            time_percent,
        }];
        let mut device = disk(Faults {
            slow_zones,
            ..Faults::default()
        });
        run(&mut *device, 4, sequential(Kind::Read, 0, 4 << 20, 100)).1
    };
    assert_eq!(behind(101), behind(1000), "elsewhere nothing changes");
}

#[test]
fn a_lying_cache_acknowledges_flushes_and_loses_what_they_should_have_saved() {
    for name in ["hdd-7200-sync", "nvme-consumer"] {
        let volatile_after_flush = |lying_flush: bool| {
            let faults = Faults {
                lying_flush,
                ..Faults::default()
            };
            let mut device = build_disk(&with(name, faults), 1);
            let (_, now_ns) = run(&mut *device, 4, random(Kind::Write, 4096, 1 << 30, 50, 1));
            let flush = Request::flush(99);
            let done = device::run_one(&mut *device, now_ns, &flush, &mut Vec::new());
            (device.volatile().len(), done.latency_ns())
        };
        let (honest, honest_ns) = volatile_after_flush(false);
        let (lost, lying_ns) = volatile_after_flush(true);
        assert_eq!(honest, 0, "{name}");
        assert!(lost > 0, "{name}");
        assert!(lying_ns * 2 < honest_ns, "{name}: {lying_ns} {honest_ns}");
    }
}

#[test]
fn stalls_keep_everything_back_and_stuck_commands_only_themselves() {
    let slowest = |faults: Faults, depth| {
        let (done, _) = run(&mut *disk(faults), depth, load());
        let slow = done
            .iter()
            .filter(|done| done.breakdown.stall_ns > 100_000_000);
        slow.count()
    };
    // 500 commands: five get stuck, and only they.
    assert_eq!(slowest(stuck(200_000_000), 16), 5);
    // A stall of the device hits all 16 that are in flight.
    let hit = slowest(stalls(200_000_000), 16);
    assert!(hit >= 16 && hit % 16 == 0, "{hit}");
}

#[test]
fn a_bucket_of_credits_gives_the_burst_rate_first_and_the_base_rate_for_ever() {
    let volume = profile("cloud-credit").unwrap();
    let mut small = volume.clone();
    if let Some(ThrottleParameters::Credit(credit)) = &mut small.faults.throttle {
        credit.bucket = 30_000;
    }
    let mut device = build_disk(&small, 1);
    let (done, _) = run(
        &mut *device,
        32,
        random(Kind::Read, 4096, 1 << 30, 40_000, 2),
    );
    let iops = |from: usize, to: usize| {
        let ns = done[to].done_ns - done[from].done_ns;
        (to - from) as f64 / (ns as f64 / 1e9)
    };
    let (burst, base) = (iops(1000, 20_000), iops(36_000, 39_000));
    assert!((2990.0..3010.0).contains(&burst), "{burst}");
    assert!((299.0..301.0).contains(&base), "{base}");
    // Large operations count for each 256 KiB, and bytes have a limit.
    let mut device = build_disk(&volume, 1);
    let (_, end_ns) = run(&mut *device, 8, sequential(Kind::Read, 0, 1 << 20, 1000));
    let rate = 1000.0 / (end_ns as f64 / 1e9);
    assert!((127.0..129.0).contains(&rate), "{rate} MiB/s");
}

#[test]
fn a_hot_device_throttles_and_recovers_when_it_rests() {
    let heat = HeatParameters {
        cools_bytes_per_s: 20_000_000,
        limit: 500_000_000,
        resume: 100_000_000,
        throttled_bytes_per_s: 50_000_000,
    };
    let faults = throttled(ThrottleParameters::Heat(heat));
    let mut device = build_disk(&with("nvme-datacenter", faults), 1);
    let (done, now_ns) = run(&mut *device, 4, sequential(Kind::Read, 0, 1 << 20, 1000));
    let rate = |from: usize, to: usize| {
        let ns = done[to].done_ns - done[from].done_ns;
        ((to - from) << 20) as f64 / (ns as f64 / 1e9)
    };
    assert!(rate(10, 400) > 1e9, "cool: {}", rate(10, 400));
    let hot = rate(700, 990);
    assert!((49e6..51e6).contains(&hot), "hot: {hot}");
    let rested_ns = now_ns + 60_000_000_000;
    let read = Request::read(1, 0, 1 << 20);
    let done = device::run_one(&mut *device, rested_ns, &read, &mut Vec::new());
    assert_eq!(done.breakdown.throttle_ns, 0);
}

#[test]
fn a_neighbour_takes_its_share_and_leaves_no_trace_in_the_statistics() {
    let mut alone = disk(Faults::default());
    let (_, alone_ns) = run(&mut *alone, 1, load());
    let mut noisy = disk(neighbour(30_000_000));
    let (done, noisy_ns) = run(&mut *noisy, 1, load());
    assert!(noisy_ns > alone_ns * 5 / 4, "{noisy_ns} {alone_ns}");
    assert_eq!(noisy.statistics(noisy_ns).read.ios, 500);
    assert_eq!(done.len(), 500);
    assert!(noisy.next_event().is_none_or(|next_ns| next_ns > noisy_ns));
    device::settle(&mut *noisy, noisy_ns, &mut Vec::new());
}

#[test]
fn a_neighbour_that_asks_for_more_than_the_disk_does_waits_as_everybody_does() {
    let few = || sequential(Kind::Read, 0, 4096, 20);
    let mut alone = disk(Faults::default());
    let (_, alone_ns) = run(&mut *alone, 1, few());
    let mut noisy = disk(neighbour(1000));
    let (done, noisy_ns) = run(&mut *noisy, 1, few());
    assert_eq!(done.len(), 20);
    // At most 256 others before each, a seek and some revolutions each.
    assert!(noisy_ns > alone_ns * 100, "{noisy_ns} {alone_ns}");
    assert!(noisy_ns < 20 * 257 * 60_000_000, "{noisy_ns}");
    device::settle(&mut *noisy, noisy_ns, &mut Vec::new());
}

#[test]
fn wrong_alignment_costs_a_revolution_per_write_with_the_cache_off() {
    let writes = |partition_start: u64| {
        let mut profile = profile("hdd-10k").unwrap();
        profile.faults.partition_start = partition_start;
        if let Drive::Hdd(hdd) = &mut profile.drive {
            hdd.write_cache.enabled = false;
        }
        let mut device = build_disk(&profile, 1);
        let load = sequential(Kind::Write, 0, 16 << 10, 200);
        let (done, end_ns) = run(&mut *device, 1, load);
        let lost = sum(&done, |parts| u64::from(parts.lost_revolutions));
        (end_ns as f64 / 200.0 / 6e6, lost)
    };
    let (aligned, lost) = writes(1 << 20);
    assert!((0.95..1.1).contains(&aligned), "{aligned} revolutions");
    assert_eq!(lost, 0);
    let (misaligned, lost) = writes(63 * 512);
    assert!(
        (1.95..2.1).contains(&misaligned),
        "{misaligned} revolutions"
    );
    assert_eq!(lost, 200);
}

#[test]
fn the_inner_half_is_smaller_and_slower() {
    let half = 500_107_862_016;
    let mut inner = disk(Faults {
        partition_start: half,
        ..Faults::default()
    });
    assert_eq!(inner.capacity(), 1_000_000_000_000 - half);
    let (_, inner_ns) = run(&mut *inner, 2, sequential(Kind::Read, 0, 1 << 20, 500));
    let mut whole = disk(Faults::default());
    let (_, outer_ns) = run(&mut *whole, 2, sequential(Kind::Read, 0, 1 << 20, 500));
    // 146.9 and 126.4 MB/s, as seed 000 measured them.
    let ratio = inner_ns as f64 / outer_ns as f64;
    assert!((1.15..1.18).contains(&ratio), "{ratio}");
    let beyond = Request::read(1, inner.capacity(), 4096);
    let done = device::run_one(&mut *inner, inner_ns, &beyond, &mut Vec::new());
    assert!(matches!(done.result, Err(IoError::BeyondEnd { .. })));
}
