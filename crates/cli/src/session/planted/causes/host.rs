//! Causes in the host: its memory, its processors, its block layer, its filesystem,
//! and whom it serves besides.

use super::draw::{Draw, GIB, KIB, MIB, MS, flash, hdd, host, ssd, ssd_of, stage, work};
use super::truth::Truth::{self, Gain, Memory, Met, Share};
use super::{Cause, Setup};
use diskfacts_disk::Extent;
use diskfacts_disk::faults::neighbour::NeighbourParameters;
use diskfacts_disk::host::{JournalParameters, RateLimits};
use diskfacts_disk::network::NetworkParameters;
use diskfacts_engine::sim::CpuCost;
use diskfacts_plan::{Arrivals, CacheMode, Operation, Pattern, Rate, Stop, SyncMode, Workload};

pub(super) const CAUSES: &[Cause] = &[
    cause("page-cache", Memory, page_cache),
    cause(
        "dirty-throttling",
        Share(|t| t.cache_wait_ns, 0.5),
        dirty_throttling,
    ),
    cause("cpu-generator", Gain(1.6), cpu_generator),
    cause("cpu-kernel", Gain(1.6), cpu_kernel),
    cause("device-queue", Gain(1.6), device_queue),
    cause("read-ahead", Gain(1.6), read_ahead),
    cause("request-splitting", Gain(1.6), request_splitting),
    cause("cgroup-throttle", Gain(1.6), cgroup_throttle),
    cause("journal", Gain(1.6), journal),
    cause("other-process", Gain(1.6), other_process),
    cause("offered-load", Met, offered_load),
];

const fn cause(name: &'static str, truth: Truth, plant: fn(&mut Draw, bool) -> Setup) -> Cause {
    Cause { name, truth, plant }
}

fn hdd_or_ssd(draw: &mut Draw) -> Setup {
    if draw.chance(40) {
        hdd(draw)
    } else {
        ssd(draw)
    }
}

fn page_cache(draw: &mut Draw, _: bool) -> Setup {
    let mut setup = hdd_or_ssd(draw);
    let workload = Workload {
        block_size: draw.pick(&[4 * KIB, 16 * KIB, 64 * KIB]),
        span: Some(draw.range(16, 128) * MIB),
        cache: CacheMode::Warm,
        pattern: draw.pick(&[Pattern::Random, Pattern::Sequential]),
        ..Workload::default()
    };
    let ms = draw.range(30, 80);
    work(draw, &mut setup, ms, workload);
    setup
}

/// More is written than may be dirty, many times over.
fn dirty_throttling(draw: &mut Draw, _: bool) -> Setup {
    let mut setup = hdd_or_ssd(draw);
    let limit = draw.range(16, 64) * MIB;
    let background = limit * draw.range(40, 60) / 100;
    let times = draw.range(6, 12);
    let host = host(&mut setup);
    host.dirty_limit = limit;
    host.dirty_background = background;
    let workload = Workload {
        operation: Operation::Write,
        pattern: Pattern::Sequential,
        block_size: draw.pick(&[64 * KIB, 256 * KIB, MIB]),
        span: Some(16 * GIB),
        cache: CacheMode::Buffered,
        stop: Stop {
            bytes: Some(limit * times),
            ..Stop::default()
        },
        ..Workload::default()
    };
    work(draw, &mut setup, 0, workload);
    setup
}

/// A drive that does more than one processor can ask for, and a cost of each
/// operation that is mostly the program's, or mostly the kernel's.
fn processor(draw: &mut Draw, planted: bool, cost: CpuCost) -> Setup {
    let name = draw.pick(&["nvme-consumer", "nvme-datacenter"]);
    let mut setup = ssd_of(draw, name);
    if planted {
        setup.plant.cost = cost;
    }
    let workload = Workload {
        block_size: draw.pick(&[4 * KIB, 8 * KIB]),
        queue_depth: draw.pick(&[16, 32, 64]),
        ..Workload::default()
    };
    let ms = draw.range(30, 60);
    work(draw, &mut setup, ms, workload);
    setup
}

fn cpu_generator(draw: &mut Draw, planted: bool) -> Setup {
    let user_ns = draw.spread(8000, 60_000);
    let cost = CpuCost {
        user_ns,
        system_ns: user_ns * draw.range(5, 35) / 100,
    };
    processor(draw, planted, cost)
}

fn cpu_kernel(draw: &mut Draw, planted: bool) -> Setup {
    let system_ns = draw.spread(8000, 60_000);
    let cost = CpuCost {
        user_ns: system_ns * draw.range(2, 30) / 100,
        system_ns,
    };
    processor(draw, planted, cost)
}

fn device_queue(draw: &mut Draw, planted: bool) -> Setup {
    let mut setup = ssd(draw);
    let most = draw.range(1, 4);
    if draw.chance(50) {
        if planted {
            setup.plant.block.requests = Some(most as usize);
        }
    } else if planted {
        host(&mut setup).block.depth = most as usize;
    }
    let workload = Workload {
        block_size: draw.pick(&[4 * KIB, 8 * KIB, 16 * KIB]),
        queue_depth: draw.pick(&[16, 32]),
        ..Workload::default()
    };
    let ms = draw.range(50, 100);
    work(draw, &mut setup, ms, workload);
    setup
}

/// A window that is small against rate times latency.
fn read_ahead(draw: &mut Draw, planted: bool) -> Setup {
    let far = draw.chance(50);
    let mut setup = if far {
        let mut setup = ssd(draw);
        let rate = draw.pick(&[1_150_000_000, 2_900_000_000]);
        setup.profile.network = Some(NetworkParameters {
            server_bytes_per_s: rate,
            link_bytes_per_s: rate,
            client_request: 4096,
            server_window: 4096,
            unoverlapped: 4096,
            round_trip_ns: draw.spread(200_000, 2_000_000),
        });
        setup
    } else {
        ssd(draw)
    };
    let window = if far {
        draw.pick(&[32, 64, 128])
    } else {
        draw.pick(&[8, 16, 32])
    };
    host(&mut setup).read_ahead = if planted { window * KIB } else { 8 * MIB };
    let workload = Workload {
        pattern: Pattern::Sequential,
        block_size: draw.pick(&[4 * KIB, 16 * KIB, 64 * KIB]).min(window * KIB),
        span: Some(GIB),
        cache: CacheMode::Cold,
        ..Workload::default()
    };
    let ms = draw.range(80, 200);
    work(draw, &mut setup, ms, workload);
    setup
}

/// Each piece costs a command, and commands come one after the other.
fn request_splitting(draw: &mut Draw, planted: bool) -> Setup {
    let mut setup = ssd(draw);
    let interval_ns = draw.range(20, 80) * 1000;
    let drive = flash(&mut setup);
    drive.command_interval_ns = interval_ns;
    let largest = draw.pick(&[4, 8, 16, 32]) * KIB;
    setup.plant.block.splits = true;
    host(&mut setup).block.max_request = if planted { largest } else { 4 * MIB };
    let workload = Workload {
        pattern: Pattern::Sequential,
        block_size: draw.pick(&[512 * KIB, MIB, 2 * MIB]),
        queue_depth: draw.pick(&[1, 2, 4]),
        ..Workload::default()
    };
    let ms = draw.range(150, 300);
    work(draw, &mut setup, ms, workload);
    // What a small request costs shows where small requests are many.
    setup
        .plan
        .stages
        .retain(|stage| stage.name != "random-read-qd8");
    let small = Workload {
        queue_depth: 8,
        ..Workload::default()
    };
    setup.plan.stages.push(stage("random-read-qd8", 30, small));
    setup
}

fn cgroup_throttle(draw: &mut Draw, planted: bool) -> Setup {
    let mut setup = hdd_or_ssd(draw);
    let turns = setup.profile.is_rotational();
    let writes = draw.chance(30) && !turns;
    let by_bytes = draw.chance(50);
    let mut workload = Workload {
        block_size: draw.pick(&[4 * KIB, 16 * KIB]),
        queue_depth: draw.pick(&[1, 4, 16]),
        ..Workload::default()
    };
    let mut per_s = if turns {
        draw.range(15, 40)
    } else {
        draw.spread(200, 4000)
    };
    if by_bytes {
        workload.pattern = Pattern::Sequential;
        workload.block_size = draw.pick(&[64 * KIB, 128 * KIB, MIB]);
        per_s = draw.spread(5, 60) * MIB;
    }
    if writes {
        workload.operation = Operation::Write;
    }
    let some = planted.then_some(per_s);
    setup.plant.block.rates = match (by_bytes, writes) {
        (true, false) => RateLimits {
            read_bytes_per_s: some,
            ..RateLimits::default()
        },
        (true, true) => RateLimits {
            write_bytes_per_s: some,
            ..RateLimits::default()
        },
        (false, false) => RateLimits {
            reads_per_s: some,
            ..RateLimits::default()
        },
        (false, true) => RateLimits {
            writes_per_s: some,
            ..RateLimits::default()
        },
    };
    let ms = draw.range(2000, 4000);
    work(draw, &mut setup, ms, workload);
    setup
}

fn journal(draw: &mut Draw, planted: bool) -> Setup {
    // On flash that loses nothing, where no flush is sent: else the flushes are more
    // of a write's time than what the journal adds to them.
    let turns = draw.chance(50);
    let mut setup = if turns {
        hdd(draw)
    } else {
        ssd_of(draw, "nvme-datacenter")
    };
    let size = setup.profile.measured_bytes();
    let start = size / 100 * draw.range(30, 70) / MIB * MIB;
    let transaction = draw.pick(&[8, 16, 32, 64]) * KIB;
    if planted {
        setup.plant.journal = Some(JournalParameters {
            transaction,
            start,
            len: 128 * MIB,
        });
    }
    let workload = Workload {
        operation: Operation::Write,
        pattern: draw.pick(&[Pattern::Sequential, Pattern::Sequential, Pattern::Random]),
        block_size: draw.pick(&[4 * KIB, 8 * KIB, 16 * KIB]),
        span: Some(GIB),
        sync: draw.pick(&[SyncMode::Fdatasync, SyncMode::Fsync]),
        cache: draw.pick(&[CacheMode::Direct, CacheMode::Buffered]),
        ..Workload::default()
    };
    let ms = if turns { 8000 } else { 400 };
    work(draw, &mut setup, ms, workload);
    setup
}

fn other_process(draw: &mut Draw, planted: bool) -> Setup {
    let mut setup = hdd_or_ssd(draw);
    let turns = setup.profile.is_rotational();
    let neighbour = if turns {
        NeighbourParameters {
            every_ns: draw.range(16, 30) * MS,
            len: draw.pick(&[16, 64, 256]) * KIB,
            writes: false,
            extent: Extent { start: 0, end: 0 },
        }
    } else {
        let len = draw.pick(&[256, 512]) * KIB;
        let link = flash(&mut setup).link_bytes_per_s.min(3_000_000_000);
        NeighbourParameters {
            every_ns: len * 1_000_000_000 / link * 100 / draw.range(70, 92),
            len,
            writes: false,
            extent: Extent { start: 0, end: 0 },
        }
    };
    if planted {
        setup.plant.neighbour = Some(neighbour);
    }
    let workload = Workload {
        block_size: draw.pick(&[4 * KIB, 16 * KIB, 64 * KIB]),
        ..Workload::default()
    };
    let ms = if turns {
        draw.range(8000, 14_000)
    } else {
        draw.range(60, 120)
    };
    work(draw, &mut setup, ms, workload);
    setup
}

fn offered_load(draw: &mut Draw, _: bool) -> Setup {
    let mut setup = hdd_or_ssd(draw);
    let turns = setup.profile.is_rotational();
    let workload = Workload {
        block_size: draw.pick(&[4 * KIB, 8 * KIB, 16 * KIB]),
        queue_depth: draw.pick(&[8, 16, 32]),
        rate: Some(Rate {
            operations_per_s: if turns {
                draw.range(5, 25)
            } else {
                draw.spread(200, 4000)
            },
            arrivals: draw.pick(&[Arrivals::Fixed, Arrivals::Poisson]),
        }),
        ..Workload::default()
    };
    let ms = if turns { 20_000 } else { draw.range(400, 900) };
    work(draw, &mut setup, ms, workload);
    setup
}
