//! What is said of a drive that turns: from its own word, from waits that agree, and never
//! from one wait that happens to fit.

use super::host_tests::said;
use super::*;
use crate::limits;
use crate::testing::{self, each, set_latencies};
use diskfacts_record::{Confidence, Run, TargetKind};

const LOG: &str = "log-write";
const STREAM: &str = "sequential-write";

/// Each write of this stage takes so long, of blocks of so many bytes that are made durable
/// one by one.
fn waits(run: &mut Run, stage: &str, block_size: u64, ns: u64) {
    let log = run.plan.stages.iter().find(|known| known.name == LOG);
    let log = log.expect("a survey has it").workload.clone();
    each(run, stage, |trial| {
        trial.workload = diskfacts_plan::Workload {
            block_size,
            ..log.clone()
        };
        set_latencies(trial, &[(ns, 500)]);
        (trial.ops, trial.iops) = (500, 1e9 / ns as f64);
        trial.throughput_bytes_per_s = trial.iops * block_size as f64;
        trial.seconds = 500.0 / trial.iops;
        trial.evidence.devices.clear();
    });
}

/// A disk of this machine that turns, whose synced writes take so long.
fn disk(ns: u64) -> Run {
    let mut run = testing::healthy();
    testing::rotating(&mut run);
    run.machine.virtualization = None;
    // No disk that turns reads as fast as this one.
    run.trials
        .retain(|trial| [LOG, STREAM].contains(&trial.stage.as_str()));
    for device in &mut run.stack.devices {
        device.write_cache = Some("write through".into());
    }
    waits(&mut run, LOG, 4096, ns);
    run
}

fn state(run: &mut Run, rpm: u32) {
    for device in &mut run.stack.devices {
        device.rpm = Some(rpm);
    }
}

#[test]
fn one_wait_that_fits_some_speed_shows_none() {
    // A revolution at 5900 rpm, and as well anything else that takes 10.2 ms.
    let rotation = |run: &Run| said(run, LOG, rotation::LIMITER.name);
    let alone = disk(10_200_000);
    let limit = rotation(&alone).expect("a revolution is one explanation");
    assert_eq!(limit.confidence, Confidence::Possible, "{limit:#?}");
    // The drive says that it turns so fast; or at another speed, so it is no revolution.
    let mut stated = alone.clone();
    state(&mut stated, 5900);
    let limit = rotation(&stated).expect("a revolution");
    assert_eq!(limit.confidence, Confidence::Likely, "{limit:#?}");
    assert!(
        limit
            .evidence
            .iter()
            .any(|line| line.contains("states 5900 rpm")),
        "{limit:#?}"
    );
    state(&mut stated, 7200);
    assert!(rotation(&stated).is_none());
    // Blocks of another size wait as long, beside their bytes.
    let mut agree = alone.clone();
    waits(&mut agree, STREAM, 16 << 10, 10_250_000);
    let limit = rotation(&agree).expect("a revolution");
    assert_eq!(limit.confidence, Confidence::Likely, "{limit:#?}");
}

#[test]
fn what_reading_parts_of_sectors_costs_is_measured_or_not_said() {
    let off = |turns: bool| {
        let mut run = disk(9_000_000);
        for device in &mut run.stack.devices {
            device.rotational = Some(turns);
            (device.logical_sector_bytes, device.physical_sector_bytes) = (Some(512), Some(4096));
            device.start_bytes = (device.name == "vda1").then_some(63 * 512);
        }
        run
    };
    // Flash, a wait of no whole revolutions, and one that an aligned write has too.
    for (turns, rpm) in [(false, None), (true, None), (true, Some(6667))] {
        let mut run = off(turns);
        for device in &mut run.stack.devices {
            device.rpm = rpm;
        }
        let limit = said(&run, LOG, alignment::LIMITER.name);
        assert!(
            limit.is_none_or(|limit| limit.share.is_none()),
            "{turns} {rpm:?}"
        );
    }
    // As long as two revolutions of some usual disk: which of them it is nobody says.
    let mut by_chance = off(true);
    waits(&mut by_chance, LOG, 4096, 16_700_000);
    let limit = said(&by_chance, LOG, alignment::LIMITER.name).expect("parts of sectors");
    assert_eq!(limit.share, None, "{limit:#?}");
    // Two revolutions: one to read, one to write.
    let mut twice = off(true);
    state(&mut twice, 13_333);
    let limit = said(&twice, LOG, alignment::LIMITER.name).expect("two revolutions");
    let share = limit.share.expect("a share");
    assert!((0.45..0.55).contains(&share), "{limit:#?}");
}

#[test]
fn a_place_far_inside_is_a_prediction_where_the_beginning_was_not_measured() {
    let mut run = testing::healthy();
    testing::rotating(&mut run);
    run.trials.retain(|trial| trial.stage == "sequential-read");
    run.target.kind = TargetKind::Device;
    for device in &mut run.stack.devices {
        device.size_bytes = Some(1 << 40);
    }
    let far = 900 << 30;
    each(&mut run, "sequential-read", |trial| {
        trial.workload.offset = far;
    });
    let limit = said(&run, "sequential-read", zone::LIMITER.name).expect("it lies far inside");
    assert_eq!(
        (limit.share, limit.confidence),
        (None, Confidence::Possible)
    );
    let of_stage = limits(&run);
    let of_stage = of_stage
        .iter()
        .find(|stage| stage.stage == "sequential-read");
    let first = &of_stage.expect("it is limited").limits[0];
    assert_ne!(first.limiter, zone::LIMITER.name, "{first:#?}");
}

/// Writes of 4 KiB and of 1 MiB past the page cache, one at a time and none of them synced.
fn small_and_large(write_cache: &str) -> Run {
    let mut run = disk(8_350_000);
    for device in &mut run.stack.devices {
        device.write_cache = Some(write_cache.into());
    }
    waits(&mut run, STREAM, 1 << 20, 15_500_000);
    for stage in [LOG, STREAM] {
        each(&mut run, stage, |trial| {
            trial.workload.sync = diskfacts_plan::SyncMode::None;
            trial.workload.cache = diskfacts_plan::CacheMode::Direct;
            trial.evidence.engine.direct = true;
        });
    }
    run
}

#[test]
fn a_write_that_waits_for_the_medium_shows_no_rate_of_it() {
    let off = small_and_large("write through");
    assert!(said(&off, STREAM, media_rate::LIMITER.name).is_none());
    // How long the bytes of a large one take at the rate of the medium is not known.
    assert!(said(&off, STREAM, write_cache_off::LIMITER.name).is_none());
    let on = small_and_large("write back");
    assert!(said(&on, STREAM, media_rate::LIMITER.name).is_some());
    // A stream of the same disk shows it: 1 MiB in 7.5 ms.
    let mut known = off.clone();
    let mut reads = testing::healthy();
    reads
        .trials
        .retain(|trial| trial.stage == "sequential-read");
    known.trials.append(&mut reads.trials);
    each(&mut known, "sequential-read", |trial| {
        let rate = 140e6;
        trial.iops *= rate / trial.throughput_bytes_per_s;
        trial.throughput_bytes_per_s = rate;
    });
    let limit = said(&known, STREAM, write_cache_off::LIMITER.name).expect("half of the time");
    let share = limit.share.expect("it is worked out");
    assert!((0.5..0.55).contains(&share), "{limit:#?}");
    // Of 256 KiB a revolution is most of the time, and their rate is none of the platter.
    waits(&mut known, STREAM, 256 << 10, 10_000_000);
    each(&mut known, STREAM, |trial| {
        trial.workload.sync = diskfacts_plan::SyncMode::None;
        trial.workload.cache = diskfacts_plan::CacheMode::Direct;
        trial.evidence.engine.direct = true;
    });
    assert!(said(&known, STREAM, media_rate::LIMITER.name).is_none());
    let limit = said(&known, STREAM, write_cache_off::LIMITER.name).expect("most of the time");
    assert!(limit.share.is_some_and(|share| share > 0.7), "{limit:#?}");
}

#[test]
fn two_small_writes_in_flight_are_gathered_by_nobody_where_the_cache_is_off() {
    let of = |write_cache: &str| {
        let mut run = small_and_large(write_cache);
        // 16 KiB as fast as a platter may well be.
        waits(&mut run, STREAM, 16 << 10, 1_000_000);
        each(&mut run, STREAM, |trial| {
            trial.workload.sync = diskfacts_plan::SyncMode::None;
            trial.workload.cache = diskfacts_plan::CacheMode::Direct;
            trial.workload.queue_depth = 2;
            trial.evidence.engine.direct = true;
        });
        said(&run, STREAM, media_rate::LIMITER.name)
    };
    assert!(of("write through").is_none());
    assert!(of("write back").is_some());
}

#[test]
fn what_small_blocks_lose_is_laid_to_the_medium_where_the_cache_is_off() {
    let of = |run: &Run| {
        let found = crate::findings(run);
        let small = |finding: &&diskfacts_record::Finding| finding.rule == "direct-small-blocks";
        let finding = found.iter().find(small).expect("small blocks are slow");
        // The largest alone does not show that nothing more is to be had.
        assert!(!finding.claim.contains("hide"), "{finding:#?}");
        finding.claim.clone()
    };
    let claim = |write_cache: &str| of(&small_and_large(write_cache));
    assert!(claim("write through").contains("about a revolution of the disk"));
    assert!(claim("write back").contains("a fixed cost of each command"));
    // A volume that is as far away gives the same figures.
    let mut shown = small_and_large("write through");
    shown.machine.virtualization = Some("kvm".into());
    assert!(of(&shown).contains("a fixed cost of each command"));
    // Nothing that turns is so fast, whatever a driver says of it.
    let mut fast = small_and_large("write through");
    for stage in [LOG, STREAM] {
        each(&mut fast, stage, |trial| testing::set_rate(trial, 50.0));
    }
    assert!(of(&fast).contains("a fixed cost of each command"));
}

#[test]
fn writes_that_ask_to_pass_a_cache_do_not_say_that_it_is_off() {
    let claim = |cache: &str| {
        let mut run = testing::healthy();
        for device in &mut run.stack.devices {
            (device.rotational, device.fua) = (Some(false), Some(true));
            device.write_cache = Some(cache.into());
        }
        waits(&mut run, LOG, 4096, 300_000);
        each(&mut run, LOG, |trial| {
            trial.workload.sync = diskfacts_plan::SyncMode::ODsync;
        });
        let limit = said(&run, LOG, write_cache_off::LIMITER.name);
        limit.expect("each write goes to the flash").claim
    };
    let (off, forced) = (claim("write through"), claim("write back"));
    assert!(off.contains("cache is off"), "{off}");
    assert!(!forced.contains("is off"), "{forced}");
    assert!(
        forced.contains("asks to pass the drive's cache"),
        "{forced}"
    );
}

#[test]
fn in_a_partition_that_begins_within_a_sector_no_stage_writes_whole_ones() {
    let share = |start_bytes: u64| {
        let mut run = disk(16_700_000);
        state(&mut run, 7200);
        for device in &mut run.stack.devices {
            (device.logical_sector_bytes, device.physical_sector_bytes) = (Some(512), Some(4096));
            device.start_bytes = (device.name == "vda1").then_some(start_bytes);
        }
        waits(&mut run, LOG, 512, 16_700_000);
        waits(&mut run, STREAM, 4096, 16_700_000);
        let limit = said(&run, LOG, alignment::LIMITER.name);
        limit.and_then(|limit| limit.share)
    };
    // Where the other writes whole sectors, reading parts of some costs nothing.
    assert_eq!(share(1 << 20), None);
    // Of two revolutions one is for reading.
    let half = share(63 * 512).expect("a share");
    assert!((0.45..0.55).contains(&half), "{half}");
}

#[test]
fn a_wait_for_a_revolution_is_tested_by_what_it_leaves_to_larger_writes() {
    let settled = |block_size: u64, bytes_ns: u64| {
        let mut run = disk(8_333_333);
        state(&mut run, 7200);
        waits(&mut run, LOG, block_size, 8_333_333 + bytes_ns);
        let limit = said(&run, LOG, rotation::LIMITER.name).expect("a revolution");
        limit.experiment.prediction.expect("a test").ratio
    };
    // Half of the way from a quarter to all but the time of the bytes, 0.03 ms of 8.36.
    let small = settled(4096, 30_000);
    assert!((0.61..0.63).contains(&small), "{small}");
    // 8.33 ms and 1.31 for the bytes, and four times these: 0.71 times as many.
    let large = settled(128 << 10, 1_310_000);
    assert!((0.46..0.5).contains(&large), "{large}");
}
