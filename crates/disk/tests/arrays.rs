//! Arrays: what they gain, and what their redundancy costs.

mod drives;

use diskfacts_disk::defects::WeakSector;
use diskfacts_disk::faults::Faults;
use diskfacts_disk::profile::{Drive, Profile, RaidParameters, build_disk, profile, profiles};
use diskfacts_disk::raid::Level;
use diskfacts_disk::{Completion, Device, IoError, Kind, Request, Statistics, device};
use drives::{random, run, sequential};

/// The hard disks of all profiles.
fn hard_disks() -> impl Iterator<Item = &'static str> {
    profiles().filter(|name| profile(name).unwrap().is_rotational())
}

/// An array of the disks of seed 000.
fn array(level: Level, members: usize, gather_ns: u64) -> Profile {
    array_of("hdd-7200-1tb", level, members, gather_ns)
}

/// An array of the disks of a profile, without what else the profile has.
fn array_of(name: &str, level: Level, members: usize, gather_ns: u64) -> Profile {
    let mut profile = profile(name).unwrap();
    profile.network = None;
    profile.host = None;
    profile.faults = Faults::default();
    // Small, so that seeks are alike whatever the level makes of the capacity.
    if let Drive::Hdd(hdd) = &mut profile.drive {
        hdd.write_cache.enabled = false;
    }
    profile.raid = Some(RaidParameters {
        level,
        members,
        chunk: 64 << 10,
        gather_ns,
        spindle_ppm: 0,
    });
    profile
}

fn single() -> Profile {
    single_of("hdd-7200-1tb")
}

fn single_of(name: &str) -> Profile {
    let mut single = array_of(name, Level::Stripe, 2, 0);
    single.raid = None;
    single
}

fn seconds(profile: &Profile, depth: usize, requests: Vec<Request>) -> f64 {
    let mut device = build_disk(profile, 1);
    run(&mut *device, depth, requests).1 as f64 / 1e9
}

fn member_statistics(device: &dyn Device, now_ns: u64) -> Vec<Statistics> {
    let of = |member: &dyn Device| member.statistics(now_ns);
    device.members().into_iter().map(of).collect()
}

#[test]
fn a_four_way_stripe_is_four_disks() {
    for name in hard_disks() {
        let stripe = array_of(name, Level::Stripe, 4, 0);
        let disk = single_of(name);
        let capacity = disk.capacity() / (1 << 20) * (1 << 20);
        // Deep enough that no disk is ever idle; four times the requests, on
        // four times the span.
        let one = seconds(&disk, 32, random(Kind::Read, 4096, capacity, 2000, 3));
        let load = random(Kind::Read, 4096, 4 * capacity, 8000, 3);
        let gain = one * 4.0 / seconds(&stripe, 128, load);
        assert!((3.7..4.1).contains(&gain), "{name}: random reads: {gain}");
        let one = seconds(&disk, 4, sequential(Kind::Read, 0, 1 << 20, 500));
        let load = sequential(Kind::Read, 0, 4 << 20, 500);
        let gain = one * 4.0 / seconds(&stripe, 4, load);
        assert!((3.8..4.05).contains(&gain), "{name}: in sequence: {gain}");
    }
}

#[test]
fn a_mirror_reads_like_two_disks_and_writes_like_one() {
    for name in hard_disks() {
        let (disk, mirror) = (single_of(name), array_of(name, Level::Mirror, 2, 0));
        let load = |kind| random(kind, 4096, disk.capacity(), 2000, 3);
        let one = seconds(&disk, 16, load(Kind::Read));
        let reads = one / seconds(&mirror, 32, load(Kind::Read));
        assert!((1.8..2.2).contains(&reads), "{name}: reads: {reads}");
        let one = seconds(&disk, 1, load(Kind::Write));
        let writes = one / seconds(&mirror, 1, load(Kind::Write));
        // The slower of two arms: below 1, by up to a sixth of a revolution and
        // the spread of the seeks.
        assert!((0.75..1.0).contains(&writes), "{name}: writes: {writes}");
    }
}

#[test]
fn small_writes_with_parity_cost_their_reads_and_writes() {
    for name in hard_disks() {
        for (level, members, reads, writes) in [
            (Level::Parity, 6, 2, 2),
            (Level::DoubleParity, 8, 3, 3),
            // Narrow ones read the rest of the stripe, which is less.
            (Level::Parity, 3, 1, 2),
            (Level::DoubleParity, 4, 1, 3),
            (Level::Mirror, 2, 0, 2),
            (Level::StripedMirrors, 4, 0, 2),
            (Level::Stripe, 4, 0, 1),
        ] {
            let array = array_of(name, level, members, 0);
            let revolution_ns = match &array.drive {
                Drive::Hdd(hdd) => hdd.revolution_ns,
                Drive::Ssd(_) => panic!("a hard disk"),
            };
            let least_ns = small_writes_cost(&array, reads, writes);
            if reads > 1 {
                // Read, then write the same place a revolution later: never
                // faster, but for the command's way to the drive and back.
                let name = format!("{name}, RAID-{} of {members}", level.number());
                assert!(least_ns * 1000 >= revolution_ns * 999, "{name}: {least_ns}");
            }
        }
    }
}

#[test]
fn small_writes_to_the_built_in_arrays_cost_what_their_level_says() {
    for (name, reads, writes) in [
        ("hdd-7200-md-raid0x2", 0, 1),
        ("raid6x8", 3, 3),
        ("raid10x4", 0, 2),
        ("ssd-raid1", 0, 2),
    ] {
        let profile = profile(name).unwrap();
        assert!(profile.raid.is_some(), "{name}");
        small_writes_cost(&profile, reads, writes);
    }
}

/// Writes 200 blocks of 4 KiB here and there, and checks how many reads and
/// writes of members each takes; gives the shortest latency, ns.
fn small_writes_cost(profile: &Profile, reads: u64, writes: u64) -> u64 {
    let mut device = build_disk(profile, 1);
    let count = 200;
    let load = random(Kind::Write, 4096, 10 << 30, count, 5);
    let (done, end_ns) = run(&mut *device, 4, load);
    let statistics = member_statistics(&*device, end_ns);
    let total = |of: fn(&Statistics) -> u64| statistics.iter().map(of).sum::<u64>();
    let what = format!("{}, {:?}", profile.name, profile.raid);
    assert_eq!(total(|member| member.read.ios), count * reads, "{what}");
    assert_eq!(total(|member| member.write.ios), count * writes, "{what}");
    done.iter().map(Completion::latency_ns).min().unwrap()
}

#[test]
fn two_writes_to_one_stripe_follow_each_other() {
    let second_after_first = |offsets: [u64; 2]| {
        let mut device = build_disk(&array(Level::Parity, 6, 0), 1);
        let mut done = Vec::new();
        for (tag, offset) in (0..).zip(offsets) {
            device.submit(0, &Request::write(tag, offset, 4096));
        }
        device::settle(&mut *device, 0, &mut done);
        done[1].done_ns - done[0].done_ns
    };
    // The second reads its parity when the first has written it, and writes a
    // revolution later; in another stripe the two overlap.
    let same = second_after_first([0, 64 << 10]);
    assert!(same >= 2 * 8_333_333 - 1_000_000, "{same}");
    let other = second_after_first([0, 5 * (64 << 10)]);
    assert!(other < same, "{other} {same}");
}

#[test]
fn whole_stripes_are_written_without_reading() {
    let mut device = build_disk(&array(Level::DoubleParity, 8, 0), 1);
    let stripe = 6 * (64 << 10);
    let (_, end_ns) = run(&mut *device, 2, sequential(Kind::Write, 0, stripe, 50));
    for member in member_statistics(&*device, end_ns) {
        assert_eq!((member.read.ios, member.write.ios), (0, 50));
    }
}

#[test]
fn stripes_that_are_gathered_are_written_without_reading() {
    let quarter = 6 * (64 << 10) / 4;
    let reads = |gather_ns: u64| {
        let mut device = build_disk(&array(Level::DoubleParity, 8, gather_ns), 1);
        let (_, end_ns) = run(&mut *device, 8, sequential(Kind::Write, 0, quarter, 80));
        let statistics = member_statistics(&*device, end_ns);
        statistics.iter().map(|member| member.read.ios).sum::<u64>()
    };
    assert_eq!(reads(3_000_000), 0);
    assert!(reads(0) > 80);
}

#[test]
fn what_waits_for_the_rest_of_its_stripe_goes_when_the_time_is_over_or_at_a_flush() {
    let wait_ns = 50_000_000;
    let part = Request::write(1, 0, 4096);
    let mut device = build_disk(&array(Level::Parity, 4, wait_ns), 1);
    let done = device::run_one(&mut *device, 0, &part, &mut Vec::new());
    assert!(done.breakdown.queue_ns >= wait_ns, "{done:?}");
    let mut device = build_disk(&array(Level::Parity, 4, wait_ns), 1);
    device.submit(0, &part);
    let mut others = Vec::new();
    device::run_one(&mut *device, 1000, &Request::flush(2), &mut others);
    let (_, end_ns) = run(&mut *device, 1, Vec::new());
    assert_eq!(end_ns, 0);
    if others.is_empty() {
        device::settle(&mut *device, 1000, &mut others);
    }
    assert!(others[0].breakdown.queue_ns < wait_ns, "{others:?}");
}

#[test]
fn a_sector_that_a_member_cannot_read_comes_from_the_others_and_is_healed() {
    let slow_reads = |level: Level, members: usize, member: usize| -> Vec<u32> {
        let mut profile = array(level, members, 0);
        profile.faults.member = member;
        profile.faults.weak_sectors = vec![WeakSector {
            offset: 3 << 20,
            retries: 10,
            readable: false,
        }];
        let mut device = build_disk(&profile, 1);
        let load = random(Kind::Read, 64 << 10, 16 << 20, 2000, 7);
        let (done, _) = run(&mut *device, 1, load);
        assert!(done.iter().all(|done| done.result.is_ok()), "{level:?}");
        done.iter()
            .map(|done| done.breakdown.retries)
            .filter(|retries| *retries > 0)
            .collect()
    };
    assert_eq!(slow_reads(Level::Parity, 4, 1), [10], "once, then healed");
    assert_eq!(slow_reads(Level::DoubleParity, 6, 1), [10]);
    for (level, members) in [(Level::Mirror, 2), (Level::StripedMirrors, 4)] {
        // Each copy is read where its head is nearest, so one of the two is.
        let both = [slow_reads(level, members, 0), slow_reads(level, members, 1)];
        assert!(both.contains(&vec![10]), "{level:?}: {both:?}");
        assert!(both.iter().flatten().count() <= 2, "{level:?}: {both:?}");
    }
    let mut alone = array(Level::Stripe, 2, 0);
    alone.faults.weak_sectors = vec![WeakSector {
        offset: 0,
        retries: 10,
        readable: false,
    }];
    let mut device = build_disk(&alone, 1);
    let read = Request::read(1, 0, 4096);
    let done = device::run_one(&mut *device, 0, &read, &mut Vec::new());
    assert_eq!(done.result, Err(IoError::Unrecoverable { offset: 0 }));
}

#[test]
fn sequential_reads_of_a_parity_array_run_at_the_rate_of_its_data_disks() {
    let six = array(Level::DoubleParity, 8, 0);
    let one = seconds(&single(), 4, sequential(Kind::Read, 0, 1 << 20, 200));
    let all = seconds(&six, 4, sequential(Kind::Read, 0, 6 << 20, 200));
    let gain = one * 6.0 / all;
    assert!((5.5..6.05).contains(&gain), "{gain}");
}

#[test]
fn spindles_that_turn_unlike_pass_by_each_other() {
    let mut array = array(Level::Stripe, 2, 0);
    array.raid.as_mut().unwrap().spindle_ppm = 1000;
    let mut device = build_disk(&array, 1);
    // Write-cache is off: each write waits for its sector, on either member.
    let period_ns = |device: &mut Box<dyn Device>, offset: u64| {
        let write = Request::write(1, offset, 4096);
        let mut now_ns = 0;
        let mut ends = Vec::new();
        for _ in 0..1001 {
            let done = device::run_one(&mut **device, now_ns, &write, &mut Vec::new());
            now_ns = done.done_ns;
            ends.push(now_ns);
        }
        (ends[1000] - ends[0]) / 1000
    };
    assert_eq!(period_ns(&mut device, 0), 8_333_333);
    let mut device = build_disk(&array, 1);
    assert_eq!(period_ns(&mut device, 64 << 10), 8_333_333 + 8_333);
}
