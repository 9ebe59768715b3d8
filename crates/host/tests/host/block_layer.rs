//! Requests of a loop device, followed while a known number of them was made.

use crate::aligned::{Aligned, direct};
use crate::alone::alone;
use diskfacts_host::observe::{BlockLayerObserver, Observer};
use diskfacts_host::trace::{Pace, Tracefs};
use diskfacts_host::{Roots, stack_of};
use diskfacts_record::evidence::{
    BlockLayer, Bucket, DeviceRequests, OperationRequests, RequestKind,
};
use diskfacts_record::{BurstRequest, Evidence, Stack};
use diskfacts_testkit::{LoopDevice, or_skip, require_root, require_tool, skip};
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

const MIB: u64 = 1 << 20;

/// The observer of a device; `None` where a test cannot run.
fn observer(device: &LoopDevice) -> Option<(BlockLayerObserver, Stack)> {
    let roots = Roots::default();
    let usable = Tracefs::open(&roots)
        .and_then(|tracefs| tracefs.need_events(&["block/block_io_start", "block/block_rq_issue"]));
    if let Err(error) = usable {
        skip(&error.to_string());
        return None;
    }
    let stack = stack_of(&roots, device.path()).expect("a stack");
    Some((BlockLayerObserver::new(&roots, &stack, Pace::Whole), stack))
}

/// What is seen of `device` while `work` is done.
fn seen(device: &LoopDevice, work: impl FnOnce()) -> Option<BlockLayer> {
    let (mut observer, _) = observer(device)?;
    observer.start();
    work();
    observer.halt();
    let mut evidence = Evidence::default();
    observer.stop(&mut evidence);
    assert_eq!(evidence.unseen, [], "all is seen");
    let seen = evidence.block_layer.expect("what was seen");
    assert_eq!(seen.lost_events, 0);
    Some(seen)
}

fn of<'a>(seen: &'a BlockLayer, device: &LoopDevice) -> &'a DeviceRequests {
    let found = seen
        .devices
        .iter()
        .find(|found| found.name == device.name());
    found.expect("the device")
}

fn only(device: &DeviceRequests) -> &OperationRequests {
    let [operation] = &device.operations[..] else {
        panic!("one kind of request: {:?}", device.operations);
    };
    operation
}

/// `count` operations of `block` bytes from each of `threads` threads, one after the
/// other over the device.
fn operate(device: &Path, threads: u64, count: u64, block: usize, writes: bool) {
    thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                let file = direct(device);
                let mut memory = Aligned::new(block);
                for i in 0..count {
                    let offset = (thread * count + i) * block as u64 % (32 * MIB);
                    let bytes = memory.bytes(block);
                    let done = if writes {
                        file.write_all_at(bytes, offset)
                    } else {
                        file.read_exact_at(bytes, offset)
                    };
                    done.expect("the operation");
                }
            });
        }
    });
}

#[test]
fn requests_are_exactly_the_operations_that_were_made() {
    let _alone = alone();
    let device = or_skip!(LoopDevice::new(32 * MIB));
    for (threads, block, writes) in [
        (1, 512, false),
        (1, 4096, true),
        (8, 4096, false),
        (32, 4096, true),
        (4, 65536, false),
    ] {
        let count = 640 / threads;
        let seen = seen(&device, || {
            operate(device.path(), threads, count, block, writes);
        });
        let Some(seen) = seen else { return };
        let requests = of(&seen, &device);
        let operations = only(requests);
        let kind = if writes {
            RequestKind::Write
        } else {
            RequestKind::Read
        };
        assert_eq!(operations.operation, kind);
        assert_eq!((operations.issued, operations.completed), (640, 640));
        let bytes = block as u64;
        assert_eq!(operations.bytes, 640 * bytes);
        let size = Bucket {
            from: bytes,
            to: bytes,
            count: 640,
        };
        assert_eq!(operations.sizes, [size]);
        assert_eq!(
            (
                operations.unfinished,
                operations.waiting,
                operations.issue_unseen,
                operations.errors
            ),
            (0, 0, 0, 0)
        );
        assert_eq!(
            (operations.queued_ns.samples, operations.device_ns.samples),
            (640, 640)
        );
        // A device does one thread's requests one after the other, at most all at once.
        let most = requests.in_flight_max.expect("nothing was lost");
        assert!((1..=threads).contains(&most), "{most} of {threads}");
        assert!(requests.in_flight_mean.expect("nothing was lost") <= most as f64);
        // Little's law on the same events.
        let busy_ns = operations.device_ns.mean.expect("samples") * 640.0;
        let mean = busy_ns / seen.window_ns as f64;
        assert!((requests.in_flight_mean.expect("it") - mean).abs() < 1e-6 * mean.max(1.0));
        if threads == 1 {
            assert_eq!(requests.seeks.in_order, 639, "{:?}", requests.seeks);
        }
    }
}

#[test]
fn single_requests_add_up_to_the_sums_and_say_who_made_them() {
    let _alone = alone();
    let device = or_skip!(LoopDevice::new(32 * MIB));
    let dd = or_skip!(require_tool("dd", "coreutils"));
    let Some((mut observer, _)) = observer(&device) else {
        return;
    };
    observer.start();
    let file = direct(device.path());
    let mut memory = Aligned::new(4096);
    for i in 0..100 {
        let read = file.read_exact_at(memory.bytes(4096), i * 8192);
        read.expect("the operation");
    }
    let other = Command::new(dd)
        .arg(format!("if={}", device.path().display()))
        .args(["of=/dev/null", "bs=8k", "count=50", "iflag=direct"])
        .stderr(Stdio::null())
        .status();
    assert!(other.expect("dd").success());
    observer.halt();
    let mut evidence = Evidence::default();
    observer.stop(&mut evidence);
    let bursts = evidence.bursts.expect("requests were done").unpack();
    let of_device = |request: &&BurstRequest| bursts.devices[request.device] == device.name();
    let requests = bursts.bursts.iter().flat_map(|burst| &burst.requests);
    let requests: Vec<&BurstRequest> = requests.filter(of_device).collect();
    let made = |ours, bytes| {
        let each = requests.iter().filter(|request| request.ours == Some(ours));
        each.filter(|request| request.bytes == bytes).count()
    };
    assert_eq!(
        (made(true, 4096), made(false, 8192)),
        (100, 50),
        "{requests:?}"
    );
    assert_eq!(requests.len(), 150);
    let seen = evidence.block_layer.expect("what was seen");
    let operations = only(of(&seen, &device));
    let at_device: u64 = requests.iter().map(|r| r.completed_ns - r.issued_ns).sum();
    let queued: u64 = requests.iter().map(|r| r.issued_ns - r.began_ns()).sum();
    for (sum, latency) in [
        (at_device, operations.device_ns),
        (queued, operations.queued_ns),
    ] {
        let mean = latency.mean.expect("samples");
        assert!(
            (sum as f64 / 150.0 - mean).abs() < 1e-6 * mean,
            "{sum} {mean}"
        );
    }
}

#[test]
fn large_operations_are_as_many_requests_as_the_device_takes_at_a_time() {
    let _alone = alone();
    let device = or_skip!(LoopDevice::new(32 * MIB));
    let limit = Path::new("/sys/block")
        .join(device.name())
        .join("queue/max_sectors_kb");
    fs::write(&limit, "64").expect("a limit on the loop device that this test made");
    let work = || operate(device.path(), 1, 20, 1 << 20, false);
    let Some(seen) = seen(&device, work) else {
        return;
    };
    let reads = only(of(&seen, &device));
    assert_eq!(reads.bytes, 20 * MIB);
    let size = Bucket {
        from: 65536,
        to: 65536,
        count: 320,
    };
    assert_eq!(reads.sizes, [size]);
    assert_eq!((reads.issued, reads.completed), (320, 320));
}

#[test]
fn every_sync_is_a_flush_of_the_device() {
    let _alone = alone();
    let device = or_skip!(LoopDevice::new(32 * MIB));
    let cache = Path::new("/sys/block")
        .join(device.name())
        .join("queue/write_cache");
    let cache = fs::read_to_string(cache).expect("the cache of the loop device");
    assert_eq!(
        cache.trim(),
        "write back",
        "a loop device has one to be flushed"
    );
    let seen = seen(&device, || {
        let file = direct(device.path());
        let mut memory = Aligned::new(4096);
        for i in 0..50 {
            file.write_all_at(memory.bytes(4096), i * 4096)
                .expect("a write");
            file.sync_data().expect("a sync");
        }
    });
    let Some(seen) = seen else { return };
    let [writes, flushes] = &of(&seen, &device).operations[..] else {
        panic!("{seen:?}");
    };
    for (operations, kind) in [(writes, RequestKind::Write), (flushes, RequestKind::Flush)] {
        assert_eq!(operations.operation, kind);
        assert_eq!((operations.issued, operations.completed), (50, 50));
        assert_eq!(
            (operations.queued_ns.samples, operations.device_ns.samples),
            (50, 50)
        );
        let odd = operations.unfinished + operations.waiting + operations.issue_unseen;
        assert_eq!(odd, 0, "{operations:?}");
    }
    assert_eq!(of(&seen, &device).in_flight_max, Some(1));
}

#[test]
fn another_observer_at_the_same_time_sees_its_own_device_only() {
    let _alone = alone();
    let devices = [
        or_skip!(LoopDevice::new(32 * MIB)),
        or_skip!(LoopDevice::new(32 * MIB)),
    ];
    let Some((mut first, _)) = observer(&devices[0]) else {
        return;
    };
    let Some((mut second, _)) = observer(&devices[1]) else {
        return;
    };
    first.start();
    second.start();
    operate(devices[0].path(), 2, 50, 4096, false);
    operate(devices[1].path(), 1, 30, 4096, true);
    // One goes on without the other.
    let mut evidence = Evidence::default();
    first.stop(&mut evidence);
    operate(devices[1].path(), 1, 10, 4096, true);
    let seen = evidence.block_layer.expect("what was seen");
    assert_eq!(only(of(&seen, &devices[0])).issued, 100);
    let mut evidence = Evidence::default();
    second.stop(&mut evidence);
    let seen = evidence.block_layer.expect("what was seen");
    assert_eq!(only(of(&seen, &devices[1])).issued, 40);
}

#[test]
fn an_observer_can_be_started_again_and_leaves_nothing_behind() {
    let _alone = alone();
    let device = or_skip!(LoopDevice::new(32 * MIB));
    let Some((mut observer, _)) = observer(&device) else {
        return;
    };
    for count in [10, 20] {
        observer.start();
        operate(device.path(), 1, count, 4096, false);
        let mut evidence = Evidence::default();
        observer.stop(&mut evidence);
        let seen = evidence.block_layer.expect("what was seen");
        assert_eq!(only(of(&seen, &device)).issued, count);
    }
    let tracefs = Tracefs::open(&Roots::default()).expect("tracefs");
    let left = fs::read_dir(tracefs.instances()).expect("instances");
    let own = format!("diskfacts-{}-", std::process::id());
    let names = left.map(|entry| entry.expect("an entry").file_name());
    let own = names
        .filter(|name| name.to_string_lossy().starts_with(&own))
        .count();
    assert_eq!(own, 0);
}

#[test]
fn where_there_are_no_events_it_is_said_what_is_missing_and_the_rest_goes_on() {
    let _alone = alone();
    or_skip!(require_root());
    let device = or_skip!(LoopDevice::new(MIB));
    let stack = stack_of(&Roots::default(), device.path()).expect("a stack");
    // A kernel with tracefs, and without the events of the block layer.
    let tree = tempfile::tempdir().expect("a folder");
    fs::create_dir_all(tree.path().join("sys/kernel/tracing/events")).expect("a tree");
    let mut observer = BlockLayerObserver::new(&Roots::under(tree.path()), &stack, Pace::Whole);
    let mut evidence = Evidence::default();
    observer.start();
    observer.stop(&mut evidence);
    assert_eq!(evidence.block_layer, None);
    let unseen = &evidence.unseen[0];
    assert_eq!(unseen.what, "block_layer");
    assert!(
        unseen
            .why
            .contains("block/block_rq_issue, block/block_rq_complete"),
        "{}",
        unseen.why
    );
    assert!(
        unseen.why.contains("CONFIG_BLK_DEV_IO_TRACE"),
        "{}",
        unseen.why
    );
}
