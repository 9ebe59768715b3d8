//! The latency that the block layer's events give for a device, beside what that
//! device itself took: a disk of known delay that writes down the arrival and the
//! answer of each request.
//!
//! Both are measurements of the same requests. A stall of the machine within the
//! disk is in both; what only the block layer sees are two threads that wake up
//! between it and the disk.

use crate::alone::alone;
use diskfacts_host::observe::{BlockLayerObserver, PressureObserver};
use diskfacts_host::trace::{Pace, Tracefs};
use diskfacts_host::{Observers, Roots, stack_of};
use diskfacts_record::Evidence;
use diskfacts_record::evidence::{OperationRequests, RequestKind};
use diskfacts_testkit::{DelayedDisk, Missing, Served, ServedKind, or_skip, require_tool, skip};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How far the medians may be apart.
const WITHIN: f64 = 0.05;

/// What is done to a disk.
struct Load {
    delay: Duration,
    kind: RequestKind,
    /// Processes, each with one request at a time.
    processes: u64,
    /// Requests of each.
    each: u64,
}

impl Load {
    /// Reads or writes block by block, in processes of their own, as the disk
    /// requires.
    fn run(&self, device: &Path) {
        let dd = require_tool("dd", "coreutils").expect("dd is on every Debian");
        let (from, to, skip, direct) = match self.kind {
            RequestKind::Write => (Path::new("/dev/zero"), device, "seek", "oflag"),
            _ => (device, Path::new("/dev/null"), "skip", "iflag"),
        };
        let start = |process: u64| {
            Command::new(&dd)
                .arg(format!("if={}", from.display()))
                .arg(format!("of={}", to.display()))
                .args([
                    "bs=4k",
                    &format!("count={}", self.each),
                    &format!("{direct}=direct"),
                ])
                .arg(format!("{skip}={}", process * self.each))
                .stderr(Stdio::null())
                .spawn()
                .expect("dd")
        };
        let children: Vec<Child> = (0..self.processes).map(start).collect();
        for mut child in children {
            assert!(child.wait().expect("its end").success());
        }
    }

    fn requests(&self) -> u64 {
        self.processes * self.each
    }
}

/// What was seen of the requests of a load: by the block layer, and how long some
/// task waited for a processor meanwhile.
fn seen(disk: &DelayedDisk, load: &Load) -> (OperationRequests, Option<u64>) {
    let roots = Roots::default();
    let stack = stack_of(&roots, disk.device().path()).expect("a stack");
    let mut observers = Observers::default();
    observers.add(PressureObserver::new(&roots));
    observers.add(BlockLayerObserver::new(&roots, &stack, Pace::Whole));
    observers.start();
    load.run(disk.device().path());
    let mut evidence = Evidence::default();
    observers.stop(&mut evidence);
    let seen = evidence.block_layer;
    let seen = seen.unwrap_or_else(|| panic!("block_layer: {:?}", evidence.unseen));
    assert_eq!(seen.lost_events, 0);
    let name = disk.device().name();
    let device = seen.devices.into_iter().find(|device| device.name == name);
    let operations = device.expect("the device").operations.into_iter();
    let mut wanted = operations.filter(|operation| operation.operation == load.kind);
    (
        wanted.next().expect("its requests"),
        evidence.pressure.map(|pressure| pressure.cpu_some_ns),
    )
}

fn median(served: &[Served]) -> Duration {
    let mut times: Vec<Duration> = served.iter().map(Served::service).collect();
    times.sort_unstable();
    times[times.len() / 2]
}

/// Compares the two medians: what the events say, and the truth, nanoseconds. Also
/// gives the time that some task waited for a processor.
fn medians(load: &Load) -> Result<(f64, f64, Option<u64>), Missing> {
    let disk = DelayedDisk::new(1 << 20, load.delay)?;
    // What looked at a new device is no part of this.
    disk.served();
    let (seen, waited_ns) = seen(&disk, load);
    let mut served = disk.served();
    served
        .retain(|request| (request.kind == ServedKind::Write) == (load.kind == RequestKind::Write));
    // Exactly these requests, each seen by both.
    assert_eq!(served.len() as u64, load.requests());
    assert_eq!(
        (seen.issued, seen.completed),
        (load.requests(), load.requests())
    );
    assert_eq!((seen.bytes, seen.errors), (load.requests() * 4096, 0));
    // No request can be done before the disk has answered it.
    let fastest = served.iter().map(Served::service).min().expect("some");
    let least_ns = seen.device_ns.min.expect("some");
    assert!(fastest >= load.delay, "{fastest:?}");
    assert!(u128::from(least_ns) >= fastest.as_nanos(), "{least_ns} ns");
    let measured_ns = seen.device_ns.p50.expect("a median of so many");
    let truth = median(&served);
    eprintln!(
        "{:?}, {:?}: {measured_ns} ns beside {truth:?}; some task waited for a processor for \
         {waited_ns:?} ns",
        load.kind, load.delay
    );
    Ok((measured_ns as f64, truth.as_nanos() as f64, waited_ns))
}

/// Whether this machine shows the events of the block layer.
fn events() -> Result<(), Missing> {
    Tracefs::open(&Roots::default())
        .and_then(|tracefs| tracefs.need_events(&["block/block_rq_issue"]))
        .map_err(|error| Missing::new("events of the block layer", error))
}

#[test]
fn the_latency_of_a_device_is_what_the_device_itself_took() {
    let _alone = alone();
    or_skip!(events());
    // So long that a thread which waits for a processor, on a busy machine, makes
    // little of it.
    for kind in [RequestKind::Read, RequestKind::Write] {
        let load = Load {
            delay: Duration::from_millis(100),
            kind,
            processes: 4,
            each: 10,
        };
        let (measured, truth, _) = or_skip!(medians(&load));
        let ratio = measured / truth;
        assert!((ratio - 1.0).abs() <= WITHIN, "{ratio}");
    }
}

/// As long as a disk that turns takes, and as a fast one.
///
/// The thread of the loop device is one like others, and waits for a processor when
/// they are busy. That time is not the disk's, and the block layer rightly counts it.
/// One request at a time waits no longer, all added up, than some task did, and no
/// more than half of the requests wait more than twice the mean: so much is allowed
/// beside the 5 %. On a machine at rest that is nothing.
#[test]
fn short_latencies_are_what_the_device_took_and_what_a_busy_machine_adds() {
    let _alone = alone();
    or_skip!(events());
    for ms in [4, 10] {
        let load = Load {
            delay: Duration::from_millis(ms),
            kind: RequestKind::Read,
            processes: 1,
            each: 101,
        };
        let (measured, truth, waited_ns) = or_skip!(medians(&load));
        let Some(waited_ns) = waited_ns else {
            return skip("/proc/pressure/cpu: a kernel with CONFIG_PSI, started with psi=1");
        };
        let allowed = truth * WITHIN + 2.0 * waited_ns as f64 / load.requests() as f64;
        assert!(
            measured >= truth * (1.0 - WITHIN) && measured <= truth + allowed,
            "{measured} ns beside {truth} ns, {allowed} ns allowed"
        );
    }
}
