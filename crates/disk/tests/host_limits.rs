//! What a host's block layer and its filesystem add: pieces of large requests, a
//! number of requests, a control group's rate, and a journal.

mod drives;

use diskfacts_disk::host::{BlockLimits, Host, HostParameters, JournalParameters, RateLimits};
use diskfacts_disk::profile::{build_disk, parse, profile, profile_text};
use diskfacts_disk::{Completion, Device, Kind, Request, Statistics, device};
use drives::{random, sequential};

const MIB: u64 = 1 << 20;

fn host(disk: &str, limits: BlockLimits) -> Host {
    let profile = profile(disk).unwrap();
    Host::new(profile.host_or_default(), build_disk(&profile, 1)).with_limits(limits)
}

fn iostat(host: &Host, now_ns: u64) -> Statistics {
    host.members()[0].statistics(now_ns)
}

/// All of `requests` at once; when the last one ended, and the completions.
fn all_at_once(host: &mut Host, requests: Vec<Request>) -> (u64, Vec<Completion>) {
    let count = requests.len();
    let mut done = Vec::new();
    for request in requests {
        host.submit(0, &request);
    }
    let end_ns = device::settle(host, 0, &mut done);
    assert_eq!(done.len(), count);
    for completion in &done {
        assert_eq!(completion.latency_ns(), completion.breakdown.total_ns());
    }
    (end_ns, done)
}

#[test]
fn a_large_request_is_cut_and_ends_with_its_last_piece() {
    let splits = BlockLimits {
        splits: true,
        ..BlockLimits::default()
    };
    for (limits, requests) in [(BlockLimits::default(), 1), (splits, 5)] {
        let mut host = host("ssd-sata", limits);
        // Four of 512 KiB, and a rest.
        let read = Request::read(7, 0, 2 * MIB + 4096);
        let (end_ns, done) = all_at_once(&mut host, vec![read]);
        let [only] = done[..] else {
            panic!("{done:?}");
        };
        assert_eq!(
            (only.tag, only.len, only.result),
            (7, 2 * MIB + 4096, Ok(()))
        );
        assert_eq!(only.done_ns, end_ns);
        let counted = iostat(&host, end_ns).read;
        assert_eq!((counted.ios, counted.sectors), (requests, 4104));
        assert_eq!(counted.merges, 0, "pieces are not joined again");
    }
}

#[test]
fn no_more_requests_are_held_than_there_is_room_for() {
    let limits = BlockLimits {
        requests: Some(4),
        ..BlockLimits::default()
    };
    let mut limited = host("ssd-sata", limits);
    let mut free = host("ssd-sata", BlockLimits::default());
    let reads = |host: &Host| random(Kind::Read, 4096, host.capacity(), 200, 1);
    let mut most = 0;
    for request in reads(&limited) {
        limited.submit(0, &request);
    }
    let mut done = Vec::new();
    while let Some(next_ns) = limited.next_event() {
        limited.advance(next_ns, &mut done);
        most = most.max(iostat(&limited, next_ns).in_flight);
    }
    assert_eq!((done.len(), most), (200, 4));
    let requests = reads(&free);
    let (free_ns, _) = all_at_once(&mut free, requests);
    let limited_ns = done.iter().map(|c| c.done_ns).max().unwrap();
    assert!(limited_ns > 2 * free_ns, "{limited_ns} {free_ns}");
    // What waits outside is in nobody's counters.
    let counted = iostat(&limited, limited_ns).read;
    assert!(counted.ticks_ns <= 4 * limited_ns, "{counted:?}");
}

#[test]
fn a_control_groups_rate_holds_and_its_wait_is_told_as_throttling() {
    let limits = BlockLimits {
        rates: RateLimits {
            reads_per_s: Some(200),
            ..RateLimits::default()
        },
        ..BlockLimits::default()
    };
    let mut host = host("ssd-sata", limits);
    let requests = random(Kind::Read, 4096, host.capacity(), 401, 1);
    let (end_ns, done) = all_at_once(&mut host, requests);
    assert!((1_900_000_000..2_020_000_000).contains(&end_ns), "{end_ns}");
    let throttled_ns: u64 = done.iter().map(|c| c.breakdown.throttle_ns).sum();
    let total_ns: u64 = done.iter().map(Completion::latency_ns).sum();
    assert!(
        throttled_ns * 100 > total_ns * 99,
        "{throttled_ns} of {total_ns}"
    );
    assert!(iostat(&host, end_ns).busy_ns * 5 < end_ns);
    // Writes have no limit.
    let mut host = self::host("ssd-sata", limits);
    let (end_ns, _) = all_at_once(&mut host, sequential(Kind::Write, 0, 4096, 401));
    assert!(end_ns < 100_000_000, "{end_ns}");
}

#[test]
fn a_sync_on_a_filesystem_with_a_journal_writes_it_and_flushes_twice() {
    let journal = JournalParameters {
        transaction: 8192,
        start: 1 << 30,
        len: 20_480,
    };
    let profile = profile("ssd-sata").unwrap();
    for direct in [true, false] {
        let disk = build_disk(&profile, 1);
        let mut host = Host::new(HostParameters::linux(), disk).with_journal(journal);
        let mut now_ns = 0;
        for index in 0..10 {
            let mut write = Request::write(1, index * 4096, 4096);
            let mut flush = Request::flush(2);
            write.flags.direct = direct;
            flush.flags.direct = direct;
            for request in [write, flush] {
                let done = device::run_one(&mut host, now_ns, &request, &mut Vec::new());
                assert_eq!(done.latency_ns(), done.breakdown.total_ns());
                now_ns = done.done_ns;
            }
        }
        let counted = iostat(&host, now_ns);
        // The data, a transaction, and the block that commits it.
        assert_eq!((counted.write.ios, counted.flush.ios), (30, 20), "{direct}");
        assert_eq!(counted.write.sectors, 10 * (8 + 16 + 8), "{direct}");
        let written = host.traffic();
        assert_eq!(
            (written.journal_commits, written.journal_bytes),
            (10, 10 * 12_288)
        );
        assert_eq!(host.volatile(), []);
    }
}

#[test]
fn every_request_over_a_network_waits_for_the_round_trip() {
    let text = |round_trip: &str| {
        let network = "[network]\nserver = \"1GB/s\"\nlink = \"1GB/s\"\nclient_request = \"4KiB\"\n\
                       server_window = \"4KiB\"\nunoverlapped = \"4KiB\"\n";
        format!(
            "{}\n{network}{round_trip}",
            profile_text("ssd-sata").unwrap()
        )
    };
    let latency = |round_trip: &str, request: &Request| {
        let profile = parse(&text(round_trip)).unwrap();
        let mut disk = diskfacts_disk::profile::build_below_host(&profile, 1);
        let done = device::run_one(&mut *disk, 0, request, &mut Vec::new());
        assert_eq!(done.latency_ns(), done.breakdown.total_ns());
        done.latency_ns()
    };
    for request in [
        Request::read(1, 0, 4096),
        Request::write(1, 0, 4096),
        Request::flush(1),
    ] {
        let far_ns = latency("round_trip = \"0.5ms\"", &request);
        assert_eq!(far_ns, latency("", &request) + 500_000, "{request:?}");
    }
}

#[test]
fn what_a_host_in_use_is_set_to_holds_from_then_on() {
    let mut host = host("hdd-7200-1tb", BlockLimits::default());
    let parameters = *host.parameters();
    let mut now_ns = 0;
    // Neighbours, more than the disk takes at a time: merges, and bytes of a request.
    let mut batch = |host: &mut Host| {
        let before = iostat(host, now_ns).read;
        let mut done = Vec::new();
        for request in sequential(Kind::Read, 0, 4096, 200) {
            host.submit(now_ns, &request);
        }
        now_ns = device::settle(host, now_ns, &mut done);
        let after = iostat(host, now_ns).read;
        let requests = after.ios - before.ios;
        (after.merges - before.merges, 200 * 4096 / requests)
    };
    let (merges, _) = batch(&mut host);
    assert!(merges > 100, "{merges}");
    let apart = BlockLimits {
        no_merges: true,
        ..BlockLimits::default()
    };
    host.tune(parameters, apart);
    assert_eq!(batch(&mut host), (0, 4096));
    let mut small = parameters;
    small.block.max_request = 8192;
    host.tune(small, BlockLimits::default());
    let (merges, bytes) = batch(&mut host);
    assert!(
        merges > 0 && (4096..=8192).contains(&bytes),
        "{merges} {bytes}"
    );
    host.tune(parameters, BlockLimits::default());
    assert!(batch(&mut host).0 > 100);
}
