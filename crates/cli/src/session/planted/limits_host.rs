//! What limited a stage on the side of the host, where that is known: each limiter is
//! named first for a simulated computer with its cause planted, by the path that a
//! real measurement takes.

use super::limits::{Case, named_first};
use super::setup::Setup;
use diskfacts_disk::Extent;
use diskfacts_disk::faults::neighbour::NeighbourParameters;
use diskfacts_disk::host::{HostParameters, JournalParameters, RateLimits};
use diskfacts_engine::sim::{CpuCost, Processor};
use diskfacts_plan::{CacheMode, Operation, SyncMode};

const MS: u64 = 1_000_000;
const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

const CASES: &[Case] = &[
    ("page-cache", "warm-read", || Setup::on("ssd-sata")),
    ("page-cache", "buffered-write", || {
        // All of it fits, and nothing makes it go down in so short a time.
        let mut setup = Setup::on("hdd-7200-1tb");
        buffered_writes(&mut setup, 64 * MIB);
        setup
    }),
    ("offered-load", "steady-rate", || Setup::on("nvme-consumer")),
    ("read-ahead", "buffered-read", || {
        let mut setup = Setup::on("nvme-consumer");
        buffered_read(&mut setup);
        host(&mut setup).read_ahead = 16 * KIB;
        setup
    }),
    ("read-ahead", "buffered-read", || {
        // Nothing beside it says what the array could do.
        let mut setup = Setup::on("nvme-consumer");
        buffered_read(&mut setup);
        setup.only("buffered-read");
        host(&mut setup).read_ahead = 32 * KIB;
        setup
    }),
    ("request-splitting", "sequential-read", || {
        let mut setup = Setup::on("hdd-7200-1tb");
        let workload = &mut setup.only("sequential-read").workload;
        workload.block_size = MIB;
        workload.queue_depth = 1;
        host(&mut setup).block.max_request = 4 * KIB;
        setup.plant.block.splits = true;
        setup
    }),
    ("device-queue", "random-read-qd8", || {
        let mut setup = Setup::on("nvme-consumer");
        host(&mut setup).block.depth = 1;
        setup
    }),
    ("device-queue", "random-read-qd8", || {
        let mut setup = Setup::on("ssd-sata");
        setup.only("random-read-qd8");
        host(&mut setup).block.depth = 2;
        setup
    }),
    ("device-queue", "random-read-qd8", || {
        let mut setup = Setup::on("nvme-consumer");
        setup.plant.block.requests = Some(2);
        setup
    }),
    ("cgroup-throttle", "random-read-qd8", || {
        let mut setup = Setup::on("nvme-consumer");
        setup.plant.block.rates = RateLimits {
            reads_per_s: Some(2000),
            ..RateLimits::default()
        };
        setup
    }),
    ("cgroup-throttle", "sequential-read", || {
        let mut setup = Setup::on("ssd-sata");
        setup.plant.block.rates = RateLimits {
            read_bytes_per_s: Some(100 * MIB),
            ..RateLimits::default()
        };
        setup
    }),
    ("journal", "log-write", || {
        let mut setup = Setup::on("nvme-datacenter");
        setup.only("log-write");
        setup.plant.journal = Some(JournalParameters {
            transaction: 16 * KIB,
            start: 1 << 30,
            len: 128 * MIB,
        });
        setup
    }),
    ("other-process", "random-read", || {
        let mut setup = Setup::on("hdd-7200-1tb");
        setup.only("random-read");
        setup.plant.neighbour = Some(NeighbourParameters {
            every_ns: 15 * MS,
            len: 64 * KIB,
            writes: false,
            extent: Extent { start: 0, end: 0 },
        });
        setup
    }),
    ("dirty-throttling", "buffered-write", || {
        let mut setup = Setup::on("hdd-7200-1tb");
        buffered_writes(&mut setup, 1024 * MIB);
        let host = host(&mut setup);
        host.dirty_background = 32 * MIB;
        host.dirty_limit = 64 * MIB;
        setup
    }),
    ("cpu-kernel", "random-read-qd8", || {
        let mut setup = Setup::on("nvme-consumer");
        setup.plant.processor = Some(Processor {
            busiest_thread: 0.97,
            ..Processor::default()
        });
        setup
    }),
    ("cpu-kernel", "random-read-qd8", || {
        let mut setup = Setup::on("nvme-consumer");
        setup.plant.cost = CpuCost {
            user_ns: 500,
            system_ns: 60_000,
        };
        setup
    }),
    ("cpu-generator", "random-read-qd8", || {
        let mut setup = Setup::on("nvme-consumer");
        setup.plant.cost = CpuCost {
            user_ns: 60_000,
            system_ns: 2000,
        };
        setup
    }),
];

fn host(setup: &mut Setup) -> &mut HostParameters {
    let host = setup.profile.host_or_default();
    setup.profile.host.insert(host)
}

/// Adds reads in order through a page cache that has nothing of the span.
fn buffered_read(setup: &mut Setup) {
    let mut stage = setup.stage("sequential-read").clone();
    stage.name = "buffered-read".into();
    stage.workload.cache = CacheMode::Cold;
    stage.workload.queue_depth = 1;
    setup.plan.stages.push(stage);
}

/// Leaves writes of so many bytes through the page cache, without a sync.
fn buffered_writes(setup: &mut Setup, bytes: u64) {
    let stage = setup.only("sequential-read");
    stage.name = "buffered-write".into();
    let workload = &mut stage.workload;
    workload.operation = Operation::Write;
    workload.cache = CacheMode::Buffered;
    workload.sync = SyncMode::None;
    workload.queue_depth = 1;
    workload.stop.time_ns = None;
    workload.stop.bytes = Some(bytes);
}

#[test]
fn each_cause_on_the_side_of_the_host_is_named_first() {
    named_first(CASES);
}
