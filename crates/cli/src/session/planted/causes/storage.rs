//! Causes in the storage: what the drive is, or what is wrong with it.

use super::draw::{
    Draw, GIB, KIB, MIB, MS, WORK, flash, hdd, spindle, ssd, ssd_of, stage, vary_hdd, work,
};
use super::truth::Truth::{self, Faster, Gain, Share};
use super::{Cause, Setup};
use diskfacts_disk::defects::WeakSector;
use diskfacts_disk::faults::stall::StallParameters;
use diskfacts_disk::faults::throttle::{CreditParameters, HeatParameters, ThrottleParameters};
use diskfacts_disk::network::NetworkParameters;
use diskfacts_disk::raid::Level;
use diskfacts_disk::ssd::Wear;
use diskfacts_plan::{Operation, Pattern, SyncMode, Workload};
use diskfacts_record::evidence::TimeParts;

/// Half of the time.
const HALF: f64 = 0.5;

pub(super) const CAUSES: &[Cause] = &[
    cause("media-rate", Share(of_media, 0.7), media_rate),
    cause("rotation", Share(|t| t.rotation_ns, HALF), rotation),
    cause("seek", Share(|t| t.seek_ns, HALF), seek),
    cause("one-at-a-time", Faster("deeper", 1.7), one_at_a_time),
    cause("device-parallelism", Truth::Knee, parallelism),
    cause("interface", Gain(1.6), interface),
    cause("flush-per-write", Gain(2.0), flush_per_write),
    cause("write-cache-off", Gain(2.0), write_cache_off),
    cause("garbage-collection", Gain(1.7), garbage_collection),
    cause("thermal-throttle", Share(|t| t.throttle_ns, HALF), thermal),
    cause("credit-throttle", Share(|t| t.throttle_ns, HALF), credit),
    cause("raid-small-write", Gain(1.7), raid_small_write),
    cause("alignment", Gain(1.6), alignment),
    cause("zone", Faster("outside", 1.6), zone),
    cause("network", Share(|t| t.network_ns, HALF), network),
    cause("retries", Share(|t| t.retry_ns, HALF), retries),
    cause("stall", Share(|t| t.stall_ns, HALF), stall),
];

const fn cause(name: &'static str, truth: Truth, plant: fn(&mut Draw, bool) -> Setup) -> Cause {
    Cause { name, truth, plant }
}

/// Bytes under the head or in a die; on a disk that streams, the wait for them.
fn of_media(time: &TimeParts) -> u64 {
    time.transfer_ns + time.rotation_ns + time.cache_wait_ns + time.program_ns + time.queue_ns
}

fn in_order(block_size: u64, queue_depth: u32) -> Workload {
    Workload {
        pattern: Pattern::Sequential,
        block_size,
        queue_depth,
        ..Workload::default()
    }
}

fn writing(workload: Workload) -> Workload {
    Workload {
        operation: Operation::Write,
        ..workload
    }
}

fn media_rate(draw: &mut Draw, _: bool) -> Setup {
    let block = draw.pick(&[256 * KIB, 512 * KIB, MIB, 4 * MIB]);
    let depth = draw.pick(&[1, 2, 4, 8]);
    let mut setup = hdd(draw);
    work(draw, &mut setup, 3000, in_order(block, depth));
    setup
}

/// Short ways, or a flush behind each small write.
fn rotation(draw: &mut Draw, _: bool) -> Setup {
    let mut setup = hdd(draw);
    let block_size = draw.pick(&[4 * KIB, 8 * KIB, 16 * KIB]);
    let workload = if draw.chance(50) {
        Workload {
            block_size,
            span: Some(draw.spread(256 * MIB, 4 * GIB) / MIB * MIB),
            ..Workload::default()
        }
    } else {
        Workload {
            sync: draw.pick(&[SyncMode::Fdatasync, SyncMode::Fsync]),
            ..writing(in_order(block_size, 1))
        }
    };
    let ms = draw.range(6000, 12_000);
    work(draw, &mut setup, ms, workload);
    show_speed(&mut setup);
    setup
}

/// Synced writes beside it, as a survey has them: of them it can be seen how fast the
/// disk turns, without which arm and platter cannot be told apart.
fn show_speed(setup: &mut Setup) {
    let log = Workload {
        sync: SyncMode::Fdatasync,
        ..writing(in_order(4 * KIB, 1))
    };
    setup.plan.stages.push(stage("log-write", 3000, log));
}

fn seek(draw: &mut Draw, _: bool) -> Setup {
    let mut setup = hdd(draw);
    let workload = Workload {
        block_size: draw.pick(&[4 * KIB, 8 * KIB, 16 * KIB, 64 * KIB]),
        ..Workload::default()
    };
    let ms = draw.range(8000, 15_000);
    work(draw, &mut setup, ms, workload);
    show_speed(&mut setup);
    setup
}

fn one_at_a_time(draw: &mut Draw, _: bool) -> Setup {
    let mut setup = ssd(draw);
    let workload = Workload {
        block_size: draw.pick(&[4 * KIB, 8 * KIB, 16 * KIB]),
        ..Workload::default()
    };
    let deeper = Workload {
        queue_depth: 4,
        ..workload.clone()
    };
    let ms = draw.range(40, 120);
    work(draw, &mut setup, ms, workload);
    setup.plan.stages.push(stage("deeper", 30, deeper));
    setup
}

fn parallelism(draw: &mut Draw, _: bool) -> Setup {
    let name = draw.pick(&["ssd-sata", "nvme-consumer", "nvme-datacenter"]);
    let mut setup = ssd_of(draw, name);
    let drive = flash(&mut setup);
    drive.channels = draw.pick(&[2, 4]);
    drive.dies_per_channel = draw.pick(&[1, 2]);
    drive.read_ns = draw.range(60, 100) * 1000;
    let depths: &[u32] = if name == "ssd-sata" {
        &[1, 4, 8, 32]
    } else {
        &[1, 4, 16, 64]
    };
    let block_size = draw.pick(&[4 * KIB, 8 * KIB, 16 * KIB]);
    setup.plan.trials = 3;
    setup.plan.stages = depths
        .iter()
        .map(|&queue_depth| {
            let workload = Workload {
                block_size,
                queue_depth,
                ..Workload::default()
            };
            stage(&format!("depth-{queue_depth}"), 40, workload)
        })
        .collect();
    if let Some(last) = setup.plan.stages.last_mut() {
        last.name = WORK.into();
    }
    setup
}

fn interface(draw: &mut Draw, planted: bool) -> Setup {
    // SATA at 3 and 6 Gb/s, PCIe 2.0 x2 and 3.0 x2 and x4, as drives reach them.
    let link = draw.pick(&[280, 550, 850, 1750, 3500]);
    let is_sata = link < 600;
    let name = if is_sata {
        "ssd-sata"
    } else {
        "nvme-datacenter"
    };
    let mut setup = ssd_of(draw, name);
    let drive = flash(&mut setup);
    drive.link_bytes_per_s = draw.around(link * 1_000_000, 2);
    if !planted {
        drive.link_bytes_per_s *= 4;
    }
    let workload = in_order(
        draw.pick(&[512 * KIB, MIB, 2 * MIB]),
        draw.pick(&[4, 8, 16]),
    );
    let ms = draw.range(300, 600);
    work(draw, &mut setup, ms, workload);
    setup
}

fn flush_per_write(draw: &mut Draw, planted: bool) -> Setup {
    let name = draw.pick(&["ssd-sata", "nvme-consumer"]);
    let mut setup = ssd_of(draw, name);
    flash(&mut setup).flush_ns = draw.spread(500_000, 8_000_000);
    let mut workload = writing(in_order(draw.pick(&[4 * KIB, 8 * KIB, 16 * KIB]), 1));
    if draw.chance(30) {
        workload.pattern = Pattern::Random;
    }
    let sync = draw.pick(&[SyncMode::Fdatasync, SyncMode::Fsync]);
    if planted {
        workload.sync = sync;
    }
    let ms = draw.range(300, 800);
    work(draw, &mut setup, ms, workload);
    setup
}

fn write_cache_off(draw: &mut Draw, planted: bool) -> Setup {
    let mut setup = hdd(draw);
    spindle(&mut setup).write_cache.enabled = !planted;
    let block = draw.pick(&[4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB]);
    let ms = draw.range(4000, 9000);
    work(draw, &mut setup, ms, writing(in_order(block, 1)));
    setup
}

fn garbage_collection(draw: &mut Draw, planted: bool) -> Setup {
    let name = draw.pick(&["ssd-sata", "nvme-datacenter"]);
    let mut setup = ssd_of(draw, name);
    let drive = flash(&mut setup);
    drive.spare_percent = draw.range(5, 9);
    drive.wear = if planted {
        Wear::Sustained
    } else {
        Wear::Fresh
    };
    drive.write_buffer = draw.pick(&[4 * MIB, 8 * MIB, 16 * MIB]);
    let workload = Workload {
        block_size: draw.pick(&[8 * KIB, 16 * KIB, 32 * KIB]),
        queue_depth: draw.pick(&[4, 8, 16, 32]),
        ..writing(Workload::default())
    };
    let ms = draw.range(800, 1500);
    work(draw, &mut setup, ms, workload);
    setup
}

fn thermal(draw: &mut Draw, planted: bool) -> Setup {
    let name = draw.pick(&["nvme-consumer", "nvme-datacenter", "ssd-sata"]);
    let mut setup = ssd_of(draw, name);
    let rate = flash(&mut setup).link_bytes_per_s.min(1_600_000_000);
    let throttled = rate * draw.range(12, 30) / 100;
    let ms = draw.range(1500, 3000);
    let limit = rate * ms / 1000 * draw.range(20, 60) / 100;
    if planted {
        setup.profile.faults.throttle = Some(ThrottleParameters::Heat(HeatParameters {
            cools_bytes_per_s: throttled * draw.range(20, 60) / 100,
            limit,
            resume: limit * draw.range(30, 70) / 100,
            throttled_bytes_per_s: throttled,
        }));
    }
    let workload = in_order(draw.pick(&[256 * KIB, MIB]), draw.pick(&[4, 8, 16]));
    work(draw, &mut setup, ms, workload);
    // Stages beside it would be hot too.
    setup.plan.stages.truncate(1);
    setup
}

fn credit(draw: &mut Draw, planted: bool) -> Setup {
    let name = draw.pick(&["cloud-credit", "nvme-datacenter", "ssd-sata"]);
    let mut setup = ssd_of(draw, name);
    let base_iops = draw.spread(100, 2000);
    let burst_iops = base_iops * draw.range(4, 12);
    let ms = draw.range(3000, 6000);
    let burst_ms = ms * draw.range(15, 45) / 100;
    if planted {
        setup.profile.faults.throttle = Some(ThrottleParameters::Credit(CreditParameters {
            base_iops,
            burst_iops,
            bucket: ((burst_iops - base_iops) * burst_ms / 1000).max(1),
            io_unit: 256 * KIB,
            bytes_per_s: 250 * MIB,
        }));
    }
    let workload = Workload {
        block_size: draw.pick(&[4 * KIB, 8 * KIB, 16 * KIB]),
        queue_depth: draw.pick(&[8, 16, 32]),
        ..Workload::default()
    };
    work(draw, &mut setup, ms, workload);
    setup
}

fn raid_small_write(draw: &mut Draw, planted: bool) -> Setup {
    let mut setup = Setup::on("raid6x8");
    setup.seed = draw.number();
    vary_hdd(draw, spindle(&mut setup));
    let level = draw.pick(&[Level::Parity, Level::DoubleParity]);
    let members = draw.range(4, 10) as usize;
    let chunk = draw.pick(&[64 * KIB, 256 * KIB, 512 * KIB]);
    if let Some(raid) = &mut setup.profile.raid {
        raid.level = if planted { level } else { Level::Stripe };
        raid.members = members;
        raid.chunk = chunk;
        if !planted {
            raid.gather_ns = 0;
        }
    }
    let workload = Workload {
        block_size: draw.pick(&[4 * KIB, 8 * KIB, 16 * KIB]),
        queue_depth: draw.pick(&[1, 4, 8]),
        ..writing(Workload::default())
    };
    let ms = draw.range(5000, 10_000);
    work(draw, &mut setup, ms, workload);
    setup
}

fn alignment(draw: &mut Draw, planted: bool) -> Setup {
    let mut setup = hdd(draw);
    let drive = spindle(&mut setup);
    drive.logical_sector = 512;
    drive.physical_sector = 4096;
    let sectors = draw.pick(&[63, 1, 2, 34, 7]);
    if planted {
        setup.profile.faults.partition_start = sectors * 512;
    }
    let workload = Workload {
        block_size: draw.pick(&[4 * KIB, 8 * KIB, 16 * KIB]),
        ..writing(Workload::default())
    };
    let mut workload = workload;
    if draw.chance(70) {
        workload.pattern = Pattern::Sequential;
        workload.sync = SyncMode::Fdatasync;
    }
    let ms = draw.range(6000, 12_000);
    work(draw, &mut setup, ms, workload);
    setup
}

fn zone(draw: &mut Draw, _: bool) -> Setup {
    let mut setup = hdd(draw);
    // Inner tracks of this disk are as short as half of the outer ones or less.
    let drive = spindle(&mut setup);
    let (zones, fall) = (drive.zones.len() as u64, draw.range(75, 85) as f64 / 100.0);
    let outer = drive.zones[0].bytes_per_s as f64;
    for (index, zone) in drive.zones.iter_mut().enumerate() {
        let inward = index as f64 / zones as f64;
        zone.bytes_per_s = (outer * (1.0 - fall * inward).sqrt()) as u64;
    }
    let size = setup.profile.measured_bytes();
    let block = draw.pick(&[256 * KIB, MIB]);
    let at = size / 100 * draw.range(88, 97) / block * block;
    let outside = Workload {
        span: Some(4 * GIB),
        ..in_order(block, draw.pick(&[1, 4]))
    };
    let inside = Workload {
        offset: at,
        ..outside.clone()
    };
    work(draw, &mut setup, 3000, inside);
    setup
        .plan
        .stages
        .retain(|stage| stage.name != "sequential-read");
    setup.plan.stages.push(stage("outside", 3000, outside));
    setup
}

fn network(draw: &mut Draw, planted: bool) -> Setup {
    let mut setup = ssd(draw);
    let rate = draw.pick(&[117_000_000, 1_150_000_000, 2_900_000_000]);
    let round_trip_ns = draw.spread(300_000, 4_000_000);
    if planted {
        setup.profile.network = Some(NetworkParameters {
            server_bytes_per_s: rate,
            link_bytes_per_s: rate,
            client_request: 4096,
            server_window: 4096,
            unoverlapped: 4096,
            round_trip_ns,
        });
    }
    let workload = Workload {
        block_size: draw.pick(&[4 * KIB, 8 * KIB, 16 * KIB]),
        ..Workload::default()
    };
    let ms = draw.range(300, 900);
    work(draw, &mut setup, ms, workload);
    setup
}

fn retries(draw: &mut Draw, planted: bool) -> Setup {
    let mut setup = hdd(draw);
    let span = draw.range(256, 1024) * MIB;
    let apart = draw.spread(MIB, 8 * MIB);
    let workload = Workload {
        span: Some(span),
        ..in_order(draw.pick(&[64 * KIB, 128 * KIB, 256 * KIB]), 1)
    };
    let tries = draw.range(6, 25);
    // Anywhere, and each of its own.
    let weak: Vec<WeakSector> = (0..span / apart)
        .map(|_| WeakSector {
            offset: draw.range(0, span / 4096 - 1) * 4096,
            retries: draw.range(tries / 4, tries) as u32,
            readable: true,
        })
        .collect();
    if planted {
        setup.profile.faults.weak_sectors = weak;
    }
    let ms = draw.range(5000, 9000);
    work(draw, &mut setup, ms, workload);
    setup
}

fn stall(draw: &mut Draw, planted: bool) -> Setup {
    let turns = draw.chance(40);
    let mut setup = if turns { hdd(draw) } else { ssd(draw) };
    let scale = if turns { 8 } else { 1 };
    let every_ns = draw.range(150, 500) * MS * scale;
    let for_ns = every_ns / 100 * draw.range(60, 85);
    if planted {
        setup.profile.faults.stall = Some(StallParameters { every_ns, for_ns });
    }
    let workload = Workload {
        block_size: draw.pick(&[4 * KIB, 16 * KIB]),
        ..Workload::default()
    };
    let ms = every_ns / MS * draw.range(5, 8);
    work(draw, &mut setup, ms, workload);
    setup
}
