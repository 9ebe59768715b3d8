//! The host above a disk: page cache, read-ahead, write-back, schedulers.

mod drives;

use diskfacts_disk::host::{BlockParameters, BlockQueue, Host, HostParameters, Scheduler};
use diskfacts_disk::profile::{build_disk, profile};
use diskfacts_disk::{Completion, Device, Kind, Layer, Request, Statistics, device};
use drives::{buffered, random, run, sequential};

fn disk() -> Box<dyn Device> {
    build_disk(&profile("hdd-7200-1tb").unwrap(), 1)
}

fn host(parameters: HostParameters) -> Host {
    Host::new(parameters, disk())
}

/// What iostat would show.
fn iostat(host: &Host, now_ns: u64) -> Statistics {
    host.members()[0].statistics(now_ns)
}

#[test]
fn what_was_read_is_in_the_page_cache() {
    let mut host = host(HostParameters::linux());
    let read = Request::read(1, 1 << 20, 8192).buffered();
    let mut others = Vec::new();
    let cold = device::run_one(&mut host, 0, &read, &mut others);
    assert_eq!(cold.breakdown.layer, Layer::Media);
    let warm = device::run_one(&mut host, cold.done_ns, &read, &mut others);
    assert_eq!(warm.breakdown.layer, Layer::PageCache);
    // A call and a copy.
    assert_eq!(warm.latency_ns(), 600 + 1862);
    assert_eq!(warm.latency_ns(), warm.breakdown.host_ns);
    assert_eq!(iostat(&host, warm.done_ns).read.ios, 1);
}

#[test]
fn a_direct_read_passes_by_the_page_cache_and_a_direct_write_empties_it() {
    let mut host = host(HostParameters::linux());
    let mut others = Vec::new();
    let direct = Request::read(1, 0, 8192);
    let first = device::run_one(&mut host, 0, &direct, &mut others);
    let again = device::run_one(&mut host, first.done_ns, &direct, &mut others);
    assert_ne!(again.breakdown.layer, Layer::PageCache);
    let cached = device::run_one(&mut host, again.done_ns, &direct.buffered(), &mut others);
    let cached = device::run_one(&mut host, cached.done_ns, &direct.buffered(), &mut others);
    assert_eq!(cached.breakdown.layer, Layer::PageCache);
    let write = Request::write(2, 0, 8192);
    let written = device::run_one(&mut host, cached.done_ns, &write, &mut others);
    let read = device::run_one(&mut host, written.done_ns, &direct.buffered(), &mut others);
    assert_ne!(read.breakdown.layer, Layer::PageCache);
}

#[test]
fn a_direct_read_sees_what_a_buffered_write_left_dirty() {
    let mut host = host(HostParameters::linux());
    let mut others = Vec::new();
    let write = Request::write(1, 4096, 8192).buffered();
    let written = device::run_one(&mut host, 0, &write, &mut others);
    assert_eq!(iostat(&host, written.done_ns).write.ios, 0);
    let read = Request::read(2, 4096, 4096);
    let done = device::run_one(&mut host, written.done_ns, &read, &mut others);
    assert_eq!(
        iostat(&host, done.done_ns).write.ios,
        1,
        "written back first"
    );
}

#[test]
fn sequential_reads_of_small_blocks_reach_the_disk_as_read_ahead_windows() {
    let mut host = host(HostParameters::linux());
    let count = 16_384;
    let load = buffered(sequential(Kind::Read, 0, 4096, count));
    let (done, end_ns) = run(&mut host, 1, load);
    let statistics = iostat(&host, end_ns);
    let mean = statistics.read.sectors * 512 / statistics.read.ios;
    assert!((100 << 10..=128 << 10).contains(&mean), "{mean}");
    let hits = done
        .iter()
        .filter(|done| done.breakdown.layer == Layer::PageCache)
        .count();
    // All but the first of each window.
    assert!(hits as f64 > 0.9 * count as f64, "{hits}");
    let rate = (count * 4096) as f64 / (end_ns as f64 / 1e9);
    assert!(rate > 0.97 * 146.4e6, "{rate}");
}

#[test]
fn random_reads_read_nothing_ahead() {
    let mut host = host(HostParameters::linux());
    let load = buffered(random(Kind::Read, 4096, 100 << 30, 300, 2));
    let (_, end_ns) = run(&mut host, 1, load);
    let statistics = iostat(&host, end_ns);
    assert_eq!((statistics.read.ios, statistics.read.sectors), (300, 2400));
}

#[test]
fn buffered_writes_return_at_once_until_too_much_is_dirty() {
    let parameters = HostParameters {
        dirty_background: 16 << 20,
        dirty_limit: 32 << 20,
        ..HostParameters::linux()
    };
    let mut host = host(parameters);
    let load = buffered(sequential(Kind::Write, 0, 64 << 10, 4000));
    let (done, end_ns) = run(&mut host, 1, load);
    let first: Vec<&Completion> = done.iter().take(400).collect();
    assert!(first.iter().all(|done| done.latency_ns() < 50_000));
    let waited = done.iter().filter(|done| done.breakdown.cache_wait_ns > 0);
    assert!(waited.count() > 100, "writers are held back");
    // In the long run it writes at the disk's rate.
    let rate = f64::from(3000 * 65_536) / ((end_ns - done[999].done_ns) as f64 / 1e9);
    assert!((0.85 * 146.4e6..1.05 * 146.4e6).contains(&rate), "{rate}");
    let dirty: u64 = host
        .volatile()
        .iter()
        .map(diskfacts_disk::Extent::len)
        .sum();
    // And the drive's own cache.
    assert!(dirty <= (32 + 9) << 20, "{dirty}");
}

#[test]
fn dirty_data_is_written_when_it_is_old() {
    let mut host = host(HostParameters::linux());
    let write = Request::write(1, 0, 1 << 20).buffered();
    let done = device::run_one(&mut host, 0, &write, &mut Vec::new());
    assert_eq!(iostat(&host, done.done_ns).write.ios, 0);
    let end_ns = device::settle(&mut host, done.done_ns, &mut Vec::new());
    assert!(
        (30_000_000_000..31_000_000_000).contains(&end_ns),
        "{end_ns}"
    );
    assert_eq!(iostat(&host, end_ns).write.sectors, 2048);
    assert!(host.volatile().is_empty());
}

#[test]
fn an_fsync_writes_data_then_journal_then_flushes() {
    let parameters = HostParameters {
        journal_bytes: 4096,
        ..HostParameters::linux()
    };
    let mut host = host(parameters);
    let load = buffered(sequential(Kind::Write, 0, 64 << 10, 10));
    let (_, now_ns) = run(&mut host, 1, load);
    let flush = Request::flush(99).buffered();
    let done = device::run_one(&mut host, now_ns, &flush, &mut Vec::new());
    let statistics = iostat(&host, done.done_ns);
    // 640 KiB in requests of 512 KiB at most, and the journal's block.
    assert_eq!(statistics.write.ios, 3);
    assert_eq!(statistics.write.sectors, 1280 + 8);
    assert_eq!(statistics.flush.ios, 1);
    assert!(host.volatile().is_empty());
    assert!(
        done.latency_ns() > 8_000_000,
        "a revolution at least: {done:?}"
    );
}

#[test]
fn a_write_of_part_of_a_page_reads_the_rest_of_it() {
    let mut host = host(HostParameters::linux());
    let write = Request::write(1, 5000, 100).buffered();
    let done = device::run_one(&mut host, 0, &write, &mut Vec::new());
    assert_eq!(iostat(&host, done.done_ns).read.ios, 1);
    let again = Request::write(2, 6000, 100).buffered();
    let done = device::run_one(&mut host, done.done_ns, &again, &mut Vec::new());
    assert_eq!(iostat(&host, done.done_ns).read.ios, 1, "the page is there");
    assert!(done.latency_ns() < 10_000);
}

#[test]
fn the_page_cache_is_as_large_as_the_memory() {
    let parameters = HostParameters {
        memory: 64 << 20,
        dirty_background: 8 << 20,
        dirty_limit: 16 << 20,
        ..HostParameters::linux()
    };
    let second_pass_hits = |mib: u64| {
        let mut host = host(parameters);
        let load = || buffered(sequential(Kind::Read, 0, 1 << 20, mib));
        let (_, now_ns) = run(&mut host, 1, load());
        let reads = iostat(&host, now_ns).read.sectors;
        let mut now_ns = now_ns;
        for request in load() {
            now_ns = device::run_one(&mut host, now_ns, &request, &mut Vec::new()).done_ns;
        }
        iostat(&host, now_ns).read.sectors == reads
    };
    assert!(second_pass_hits(40));
    assert!(!second_pass_hits(200));
}

#[test]
fn neighbours_are_joined_up_to_the_largest_request() {
    let parameters = BlockParameters {
        scheduler: Scheduler::deadline(),
        max_request: 64 << 10,
        depth: 1,
    };
    let mut queue = BlockQueue::new(parameters, disk());
    let mut done = Vec::new();
    // One goes at once; the others meet in the queue.
    for request in sequential(Kind::Read, 0, 4096, 64) {
        queue.submit(0, &request);
    }
    let end_ns = device::settle(&mut queue, 0, &mut done);
    assert_eq!(done.len(), 64);
    let statistics = queue.statistics(end_ns);
    assert_eq!(statistics.read.ios, 5, "1, 16, 16, 16, 15 blocks");
    assert_eq!(statistics.read.merges, 59);
    assert_eq!(statistics.read.sectors, 64 * 8);
    for completion in &done {
        assert_eq!(completion.latency_ns(), completion.breakdown.total_ns());
    }
}

/// Two readers far from each other, each with one request in flight.
fn two_readers(scheduler: Scheduler) -> (u64, u64, Vec<Completion>) {
    let parameters = BlockParameters {
        scheduler,
        max_request: 512 << 10,
        depth: 1,
    };
    let mut queue = BlockQueue::new(parameters, disk());
    let mut next = [0, 900_000_000_000 / 4096 * 4096];
    let mut done = Vec::new();
    let mut bytes = [0, 0];
    let mut now_ns = 0;
    let mut submit = |queue: &mut BlockQueue, now_ns: u64, stream: u32| {
        let at = &mut next[stream as usize];
        let request = Request::read(u64::from(stream), *at, 128 << 10).of_stream(stream);
        *at += 128 << 10;
        queue.submit(now_ns, &request);
    };
    submit(&mut queue, 0, 0);
    submit(&mut queue, 0, 1);
    while now_ns < 5_000_000_000 {
        now_ns = queue.next_event().unwrap();
        let from = done.len();
        queue.advance(now_ns, &mut done);
        for completion in done[from..].iter().copied() {
            bytes[completion.tag as usize] += completion.len;
            submit(&mut queue, now_ns, completion.tag as u32);
        }
    }
    (bytes[0], bytes[1], done)
}

#[test]
fn fair_turns_give_two_distant_readers_many_times_what_alternation_gives() {
    let (a, b, _) = two_readers(Scheduler::deadline());
    let (fair_a, fair_b, done) = two_readers(Scheduler::cfq());
    let gain = (fair_a + fair_b) as f64 / (a + b) as f64;
    assert!(gain > 5.0, "{gain}");
    let share = fair_a as f64 / (fair_a + fair_b) as f64;
    assert!((0.35..0.7).contains(&share), "each its turn: {share}");
    // The one whose turn it is not sees its time go by in the queue.
    let longest = done.iter().map(Completion::latency_ns).max().unwrap();
    assert!((95_000_000..150_000_000).contains(&longest), "{longest}");
}

#[test]
fn idling_for_a_stream_that_has_no_more_is_told_as_the_hosts_time() {
    let parameters = BlockParameters {
        scheduler: Scheduler::cfq(),
        max_request: 512 << 10,
        depth: 1,
    };
    let mut queue = BlockQueue::new(parameters, disk());
    queue.submit(0, &Request::read(1, 0, 4096).of_stream(1));
    queue.submit(0, &Request::read(2, 1 << 30, 4096).of_stream(2));
    let mut done = Vec::new();
    device::settle(&mut queue, 0, &mut done);
    assert_eq!(done[0].tag, 1);
    assert_eq!(done[1].breakdown.idled_ns, 8_000_000);
    assert_eq!(done[1].latency_ns(), done[1].breakdown.total_ns());
}

#[test]
fn an_fsync_has_no_more_under_way_than_write_back_may() {
    let parameters = HostParameters {
        write_back_depth: 8,
        ..HostParameters::linux()
    };
    let mut host = host(parameters);
    let mut done = Vec::new();
    let mib = 1 << 20;
    for index in 0..64 {
        // Apart from each other, so that nothing is joined.
        let write = Request::write(index, 4 * index * mib, 64 << 10).buffered();
        host.submit(0, &write);
    }
    host.submit(0, &Request::flush(64).buffered());
    // What is dirtied behind it belongs to no sync.
    host.submit(0, &Request::write(65, 4096 * mib, 64 << 10).buffered());
    let mut most = 0;
    while done.iter().all(|c: &Completion| c.tag != 64) {
        let now_ns = host.next_event().expect("the flush is under way");
        host.advance(now_ns, &mut done);
        most = most.max(iostat(&host, now_ns).in_flight);
    }
    let flushed_ns = done.iter().find(|c| c.tag == 64).unwrap().done_ns;
    assert_eq!(most, 8);
    assert_eq!(iostat(&host, flushed_ns).write.ios, 64);
    let end = 4096 * mib;
    assert!(host.volatile().iter().all(|lost| lost.start >= end));
    assert_eq!(host.volatile().len(), 1, "{:?}", host.volatile());
}

#[test]
fn two_syncs_at_once_each_wait_for_what_was_dirty() {
    let parameters = HostParameters {
        write_back_depth: 4,
        ..HostParameters::linux()
    };
    let mut host = host(parameters);
    for index in 0..32 {
        let write = Request::write(index, index << 22, 64 << 10).buffered();
        host.submit(0, &write);
    }
    host.submit(0, &Request::flush(100).buffered());
    host.submit(0, &Request::flush(101).buffered());
    let mut done = Vec::new();
    device::settle(&mut host, 0, &mut done);
    let of = |tag| done.iter().find(|c| c.tag == tag).expect("it ended");
    assert_eq!(iostat(&host, of(101).done_ns).write.ios, 32);
    for flush in [of(100), of(101)] {
        assert_eq!(flush.result, Ok(()));
        assert_eq!(flush.latency_ns(), flush.breakdown.total_ns());
    }
    assert_eq!(host.volatile(), []);
}
