mod mapping;
mod nfs;

use super::*;
use crate::testing::{SIZE, counters, evidence, loop_stack, memory_stack, stack};
use diskfacts_plan::{CacheMode, EngineChoice, Operation, Pattern, SyncMode};
use diskfacts_record::evidence::{ProcessIo, Residency, ResidencyMethod, Truth};
use diskfacts_record::{BlockDevice, DeviceCounters, DeviceKind};
use mapping::thin_stack;
use proptest::prelude::*;

const OPS: u64 = 10_000;
const BYTES: u64 = OPS * 4096;

fn reading(cache: CacheMode) -> Workload {
    Workload {
        cache,
        span: Some(SIZE),
        ..Workload::default()
    }
}

fn writing(cache: CacheMode, sync: SyncMode) -> Workload {
    Workload {
        operation: Operation::Write,
        sync,
        ..reading(cache)
    }
}

fn device<'a>(evidence: &'a mut Evidence, name: &str) -> &'a mut DeviceCounters {
    evidence
        .devices
        .iter_mut()
        .find(|d| d.name == name)
        .unwrap()
}

/// Asserts shares within a millionth of a percent of what they should be.
fn is(got: Layers, page_cache: f64, media: f64, device: Option<f64>) {
    let near = |a: f64, b: f64| (a - b).abs() < 2e-6;
    assert!(
        near(got.page_cache, page_cache),
        "page cache {page_cache}: {got:?}"
    );
    assert!(near(got.media, media), "media {media}: {got:?}");
    assert!(near(got.unknown, 1.0 - page_cache - media), "{got:?}");
    match (got.device, device) {
        (Some(a), Some(b)) => assert!(near(a, b), "device {b}: {got:?}"),
        (a, b) => assert_eq!(a.is_some(), b.is_some(), "{got:?}"),
    }
}

#[test]
fn direct_reads_reach_the_device_and_where_in_it_is_unknown() {
    let workload = reading(CacheMode::Direct);
    let seen = evidence(&workload, OPS, &stack());
    is(layers(&workload, &seen, &stack()), 0.0, 0.0, Some(1.0));
}

#[test]
fn cold_warm_and_half_warm_reads_are_told_apart() {
    for (cached, share) in [(0, 0.0), (BYTES / 2, 0.5), (BYTES, 1.0), (BYTES / 4, 0.25)] {
        let workload = reading(CacheMode::Buffered);
        let mut seen = evidence(&workload, OPS, &stack());
        seen.process_io.as_mut().unwrap().read_bytes = BYTES - cached;
        device(&mut seen, "vda1").read_bytes = BYTES - cached;
        device(&mut seen, "vda").read_bytes = BYTES - cached;
        is(
            layers(&workload, &seen, &stack()),
            share,
            0.0,
            Some(1.0 - share),
        );
    }
}

#[test]
fn reads_of_others_do_not_make_cached_reads_look_cold() {
    let workload = reading(CacheMode::Warm);
    let mut seen = evidence(&workload, OPS, &stack());
    device(&mut seen, "vda1").read_bytes = 3 * BYTES;
    is(layers(&workload, &seen, &stack()), 1.0, 0.0, Some(0.0));
}

#[test]
fn code_that_the_process_fetched_does_not_make_cached_reads_look_cold() {
    let workload = reading(CacheMode::Warm);
    let fetched = |bytes: u64, all_cached: bool| {
        let mut seen = evidence(&workload, OPS, &stack());
        seen.process_io.as_mut().unwrap().read_bytes = bytes;
        device(&mut seen, "vda1").read_bytes = bytes;
        if !all_cached {
            seen.residency_after.as_mut().unwrap().cached_bytes -= 4096;
        }
        layers(&workload, &seen, &stack())
    };
    let share = 0.01;
    let little = (BYTES as f64 * share) as u64;
    is(fetched(little, true), 1.0, 0.0, Some(0.0));
    // What is more, or missing in the cache afterwards, is the span's.
    is(fetched(BYTES / 4, true), 0.75, 0.0, Some(0.25));
    is(fetched(little, false), 1.0 - share, 0.0, Some(share));
}

#[test]
fn random_reads_of_less_than_a_page_fetch_whole_pages() {
    let mut workload = reading(CacheMode::Cold);
    workload.pattern = Pattern::Random;
    workload.block_size = 512;
    let mut seen = evidence(&workload, OPS, &stack());
    // A hundred pages were fetched, for as many of the reads.
    seen.process_io.as_mut().unwrap().read_bytes = 100 * 4096;
    for name in ["vda1", "vda"] {
        device(&mut seen, name).read_bytes = 100 * 4096;
    }
    let share = 100.0 / OPS as f64;
    is(
        layers(&workload, &seen, &stack()),
        1.0 - share,
        0.0,
        Some(share),
    );
}

#[test]
fn residency_is_the_witness_when_the_process_is_not() {
    let workload = reading(CacheMode::Buffered);
    let mut seen = evidence(&workload, OPS, &stack());
    seen.process_io = None;
    for residency in [&mut seen.residency_before, &mut seen.residency_after] {
        residency.as_mut().unwrap().cached_bytes = SIZE * 3 / 4;
    }
    // The device counted all of it, others' reads among them.
    is(layers(&workload, &seen, &stack()), 0.75, 0.0, Some(0.25));
    // Without the device, what was not resident may have gone anywhere.
    seen.devices.clear();
    is(layers(&workload, &seen, &stack()), 0.75, 0.0, None);
    // The place of a sequential pass over a part of the span is not known.
    let part = Workload {
        pattern: Pattern::Sequential,
        ..workload
    };
    is(layers(&part, &seen, &stack()), 0.0, 0.0, None);
    // Unless there was nothing else.
    for residency in [&mut seen.residency_before, &mut seen.residency_after] {
        residency.as_mut().unwrap().cached_bytes = SIZE;
    }
    is(layers(&part, &seen, &stack()), 1.0, 0.0, None);
}

#[test]
fn read_ahead_does_not_make_more_than_all() {
    let workload = reading(CacheMode::Cold);
    let mut seen = evidence(&workload, OPS, &stack());
    seen.process_io.as_mut().unwrap().read_bytes = 5 * BYTES;
    device(&mut seen, "vda1").read_bytes = 5 * BYTES;
    is(layers(&workload, &seen, &stack()), 0.0, 0.0, Some(1.0));
}

#[test]
fn a_device_that_does_not_count_is_no_witness() {
    let workload = reading(CacheMode::Direct);
    let mut seen = evidence(&workload, OPS, &stack());
    for counted in &mut seen.devices {
        *counted = DeviceCounters {
            name: counted.name.clone(),
            leaf: counted.leaf,
            ..DeviceCounters::default()
        };
    }
    is(layers(&workload, &seen, &stack()), 0.0, 0.0, Some(1.0));
    // When it says so itself, not even one that was busy or flushed is.
    let mut silent = stack();
    silent.devices[0].counts_io = Some(false);
    device(&mut seen, "vda1").busy_ms = 1;
    device(&mut seen, "vda1").flushes = Some(3);
    is(layers(&workload, &seen, &silent), 0.0, 0.0, Some(1.0));
}

#[test]
fn a_counter_that_moved_is_believed_whatever_the_switch_says() {
    // A LUKS volume of Linux 6.1: `queue/iostats` is 0, and it counts all the same.
    let workload = reading(CacheMode::Buffered);
    let mut stack = stack();
    stack.devices[0].counts_io = Some(false);
    let mut seen = evidence(&workload, OPS, &stack);
    seen.process_io = None;
    device(&mut seen, "vda1").read_bytes = BYTES / 4;
    is(layers(&workload, &seen, &stack), 0.75, 0.0, Some(0.25));
}

#[test]
fn a_loop_device_serves_from_its_files_page_cache_unless_it_is_direct() {
    let workload = reading(CacheMode::Direct);
    for (direct, page_cache) in [(Some(false), 0.75), (Some(true), 0.0), (None, 0.0)] {
        let stack = loop_stack(direct);
        let mut seen = evidence(&workload, OPS, &stack);
        device(&mut seen, "vda1").read_bytes = BYTES / 4;
        device(&mut seen, "vda").read_bytes = BYTES / 4;
        is(
            layers(&workload, &seen, &stack),
            page_cache,
            0.0,
            Some(0.25),
        );
    }
}

#[test]
fn shares_of_two_page_caches_multiply() {
    let workload = reading(CacheMode::Buffered);
    let stack = loop_stack(Some(false));
    let mut seen = evidence(&workload, OPS, &stack);
    // Half stays above the loop device, half of the rest above its file.
    seen.process_io.as_mut().unwrap().read_bytes = BYTES / 2;
    device(&mut seen, "loop0").read_bytes = BYTES / 2;
    device(&mut seen, "vda1").read_bytes = BYTES / 4;
    is(layers(&workload, &seen, &stack), 0.75, 0.0, Some(0.25));
}

#[test]
fn reads_of_others_below_a_loop_device_do_not_add_to_what_came_through_it() {
    let workload = reading(CacheMode::Buffered);
    let stack = loop_stack(Some(false));
    let mut seen = evidence(&workload, OPS, &stack);
    seen.process_io.as_mut().unwrap().read_bytes = BYTES / 2;
    device(&mut seen, "loop0").read_bytes = BYTES / 2;
    device(&mut seen, "vda1").read_bytes = 9 * BYTES;
    is(layers(&workload, &seen, &stack), 0.5, 0.0, Some(0.5));
}

#[test]
fn read_ahead_above_a_loop_device_does_not_hide_its_page_cache() {
    let workload = reading(CacheMode::Cold);
    let stack = loop_stack(Some(false));
    let mut seen = evidence(&workload, OPS, &stack);
    seen.process_io.as_mut().unwrap().read_bytes = 10 * BYTES;
    device(&mut seen, "loop0").read_bytes = 10 * BYTES;
    device(&mut seen, "vda1").read_bytes = 5 * BYTES;
    is(layers(&workload, &seen, &stack), 0.5, 0.0, Some(0.5));
}

#[test]
fn what_lies_under_a_loop_device_on_no_device_is_seen_only_past_its_cache() {
    let workload = reading(CacheMode::Direct);
    for (direct, device_share) in [(Some(true), Some(1.0)), (Some(false), None)] {
        let mut stack = loop_stack(direct);
        stack.devices.truncate(1);
        stack.devices[0].below.clear();
        let seen = evidence(&workload, OPS, &stack);
        is(layers(&workload, &seen, &stack), 0.0, 0.0, device_share);
    }
}

#[test]
fn copies_of_a_raid_are_not_compared_with_what_was_issued() {
    let workload = writing(CacheMode::Direct, SyncMode::None);
    let mut stack = stack();
    let mut raid = BlockDevice::unknown("md0", 9, 0, DeviceKind::SoftwareRaid);
    raid.below = vec!["vda1".into(), "sdb".into()];
    stack.devices.insert(0, raid);
    let mut other = BlockDevice::unknown("sdb", 8, 16, DeviceKind::Disk);
    other.write_cache = Some("write through".into());
    stack.devices.push(other);
    let seen = evidence(&workload, OPS, &stack);
    is(layers(&workload, &seen, &stack), 0.0, 1.0, Some(1.0));
}

#[test]
fn a_filesystem_on_two_devices_reaches_both() {
    let workload = reading(CacheMode::Direct);
    let mut stack = stack();
    stack
        .devices
        .push(BlockDevice::unknown("sdb", 8, 16, DeviceKind::Disk));
    let mut seen = evidence(&workload, OPS, &stack);
    for name in ["vda1", "vda", "sdb"] {
        device(&mut seen, name).read_bytes = BYTES / 2;
    }
    is(layers(&workload, &seen, &stack), 0.0, 0.0, Some(1.0));
}

#[test]
fn a_filesystem_that_compresses_moves_fewer_bytes_and_no_cache_is_blamed() {
    let workload = reading(CacheMode::Direct);
    let mut stack = stack();
    stack.filesystem.as_mut().unwrap().options = vec!["compress=zstd:3".into()];
    let mut seen = evidence(&workload, OPS, &stack);
    seen.process_io.as_mut().unwrap().read_bytes = BYTES / 2;
    device(&mut seen, "vda1").read_bytes = BYTES / 2;
    is(layers(&workload, &seen, &stack), 0.0, 0.0, Some(0.5));
}

#[test]
fn memory_and_no_io_at_all() {
    for cache in [CacheMode::Direct, CacheMode::Buffered, CacheMode::Cold] {
        let workload = reading(cache);
        let seen = evidence(&workload, OPS, &memory_stack());
        is(
            layers(&workload, &seen, &memory_stack()),
            1.0,
            0.0,
            Some(0.0),
        );
    }
    let workload = Workload {
        engine: EngineChoice::Null,
        ..reading(CacheMode::Direct)
    };
    let mut seen = evidence(&workload, OPS, &stack());
    seen.engine.name = "null".into();
    assert_eq!(layers(&workload, &seen, &stack()), Layers::default());
}

#[test]
fn a_filesystem_without_known_devices_is_not_guessed_at() {
    let mut stack = memory_stack();
    stack.filesystem.as_mut().unwrap().kind = "fuse.sshfs".into();
    let workload = reading(CacheMode::Direct);
    let mut seen = evidence(&workload, OPS, &stack);
    seen.process_io.as_mut().unwrap().read_bytes = 0;
    is(layers(&workload, &seen, &stack), 0.0, 0.0, None);
    // An overlay over a disk counts, and its page cache shows.
    stack.filesystem.as_mut().unwrap().kind = "overlay".into();
    seen.process_io.as_mut().unwrap().read_bytes = BYTES;
    is(layers(&workload, &seen, &stack), 0.0, 0.0, Some(1.0));
    let warm = reading(CacheMode::Warm);
    let seen = evidence(&warm, OPS, &stack);
    is(layers(&warm, &seen, &stack), 1.0, 0.0, None);
}

#[test]
fn a_simulated_disk_is_judged_by_its_witnesses() {
    let workload = reading(CacheMode::Direct);
    let mut seen = evidence(&workload, OPS, &stack());
    let without = layers(&workload, &seen, &stack());
    seen.truth = Some(Truth {
        layers: Layers {
            page_cache: 0.0,
            drive_cache: 0.25,
            media: 0.75,
            unknown: 0.0,
            device: Some(1.0),
            mapping: 0.0,
            server: 0.0,
        },
        time: None,
    });
    assert_eq!(layers(&workload, &seen, &stack()), without);
}

#[test]
fn synced_writes_are_on_the_medium_as_far_as_the_device_tells() {
    use SyncMode::{AtEnd, Fdatasync, Fsync, None as NoSync, ODsync};
    for (cache, sync, write_cache, flushes, fua, media) in [
        ("buffered", Fdatasync, "write back", Some(5), None, 1.0),
        ("buffered", Fsync, "write back", Some(5), None, 1.0),
        ("buffered", AtEnd, "write back", Some(1), None, 1.0),
        // No flush: acknowledged from wherever.
        (
            "buffered",
            Fdatasync,
            "write back",
            Some(0),
            Some(true),
            0.0,
        ),
        ("buffered", Fdatasync, "write back", None, None, 0.0),
        // Flushes of others do not make unsynced writes durable.
        ("direct", NoSync, "write back", Some(5), Some(true), 0.0),
        // No volatile cache.
        ("direct", NoSync, "write through", Some(0), None, 1.0),
        ("buffered", Fdatasync, "write through", Some(0), None, 1.0),
        // Forced single writes.
        ("direct", ODsync, "write back", Some(0), Some(true), 1.0),
        ("direct", ODsync, "write back", Some(0), Some(false), 0.0),
        ("direct", ODsync, "write back", Some(9), Some(false), 1.0),
        ("buffered", ODsync, "write back", Some(0), Some(true), 0.0),
    ] {
        let mode = if cache == "direct" {
            CacheMode::Direct
        } else {
            CacheMode::Buffered
        };
        let workload = writing(mode, sync);
        let mut stack = stack();
        let disk = stack.devices.last_mut().unwrap();
        disk.write_cache = Some(write_cache.into());
        disk.fua = fua;
        let mut seen = evidence(&workload, OPS, &stack);
        device(&mut seen, "vda").flushes = flushes;
        is(layers(&workload, &seen, &stack), 0.0, media, Some(1.0));
    }
}

#[test]
fn an_unknown_write_cache_or_a_missing_final_sync_proves_nothing() {
    let workload = writing(CacheMode::Buffered, SyncMode::AtEnd);
    let mut stack = stack();
    stack.devices.last_mut().unwrap().write_cache = Some("write back".into());
    let mut seen = evidence(&workload, OPS, &stack);
    device(&mut seen, "vda").flushes = Some(3);
    seen.issued.final_sync_ns = None;
    is(layers(&workload, &seen, &stack), 0.0, 0.0, Some(1.0));
    seen.issued.final_sync_ns = Some(1);
    stack.devices.last_mut().unwrap().write_cache = None;
    is(layers(&workload, &seen, &stack), 0.0, 0.0, Some(1.0));
}

#[test]
fn dirtied_pages_are_no_witness_of_buffered_writes() {
    // A page that is dirty already is not counted again, and a large folio is
    // counted whole for each small write into it.
    let workload = writing(CacheMode::Buffered, SyncMode::Fdatasync);
    for dirtied in [BYTES / 2, 250 * BYTES] {
        let mut seen = evidence(&workload, OPS, &stack());
        seen.process_io.as_mut().unwrap().write_bytes = dirtied;
        is(layers(&workload, &seen, &stack()), 0.0, 1.0, Some(1.0));
    }
}

#[test]
fn buffered_writes_reach_the_device_as_far_as_it_counted() {
    let workload = writing(CacheMode::Buffered, SyncMode::None);
    let mut seen = evidence(&workload, OPS, &stack());
    device(&mut seen, "vda1").write_bytes = BYTES / 4;
    is(layers(&workload, &seen, &stack()), 0.75, 0.25, Some(0.25));
    // Others wrote too, but what is still dirty did not leave.
    device(&mut seen, "vda1").write_bytes = 9 * BYTES;
    seen.residency_after.as_mut().unwrap().dirty_bytes = Some(BYTES / 2);
    is(layers(&workload, &seen, &stack()), 0.5, 0.5, Some(0.5));
}

#[test]
fn a_mixed_workload_weighs_its_reads_and_writes_by_bytes() {
    let workload = Workload {
        operation: Operation::Mixed { read_percent: 75 },
        ..reading(CacheMode::Buffered)
    };
    let mut seen = evidence(&workload, OPS, &stack());
    // All reads from the page cache, all writes on the medium.
    seen.process_io.as_mut().unwrap().read_bytes = 0;
    for counted in &mut seen.devices {
        counted.read_bytes = 0;
    }
    is(layers(&workload, &seen, &stack()), 0.75, 0.25, Some(0.25));
}

#[test]
fn nothing_issued_and_nothing_seen_is_unknown() {
    let workload = reading(CacheMode::Direct);
    assert_eq!(
        layers(&workload, &Evidence::default(), &stack()),
        Layers::default()
    );
    let mut seen = evidence(&workload, OPS, &stack());
    seen.process_io = None;
    seen.devices.clear();
    is(layers(&workload, &seen, &stack()), 0.0, 0.0, None);
}

#[test]
fn a_stack_that_goes_in_circles_ends() {
    let mut stack = loop_stack(Some(false));
    stack.devices[2].below = vec!["loop0".into()];
    let mut other = stack.devices[0].clone();
    other.name = "loop1".into();
    other.below = vec!["loop1".into(), "nothing".into()];
    stack.devices.push(other);
    let workload = reading(CacheMode::Direct);
    let seen = evidence(&workload, OPS, &stack);
    layers(&workload, &seen, &stack);
}

fn any_evidence() -> impl Strategy<Value = (Workload, Evidence, Stack)> {
    let bytes = || prop_oneof![Just(0_u64), 0..4 * BYTES, any::<u64>()];
    let caches = prop::sample::select(vec![
        CacheMode::Buffered,
        CacheMode::Warm,
        CacheMode::Cold,
        CacheMode::Direct,
    ]);
    let syncs = prop::sample::select(vec![
        SyncMode::None,
        SyncMode::Fdatasync,
        SyncMode::AtEnd,
        SyncMode::ODsync,
    ]);
    let stacks = prop_oneof![
        Just(stack()),
        Just(loop_stack(Some(false))),
        Just(loop_stack(Some(true))),
        Just(loop_stack(None)),
        Just(memory_stack()),
        Just(thin_stack()),
        Just(Stack::default()),
    ];
    (
        (caches, syncs, stacks, 0_u8..=100, any::<bool>()),
        prop::collection::vec((bytes(), bytes(), any::<bool>()), 4),
        prop::option::of((bytes(), bytes())),
        prop::option::of((bytes(), bytes(), bytes())),
        (bytes(), bytes()),
    )
        .prop_map(
            |((cache, sync, stack, percent, direct), devices, io, residency, issued)| {
                let workload = Workload {
                    operation: Operation::Mixed {
                        read_percent: percent,
                    },
                    sync,
                    ..reading(cache)
                };
                let mut seen = evidence(&workload, OPS, &stack);
                seen.engine.direct = direct;
                (seen.issued.read_bytes, seen.issued.write_bytes) = issued;
                seen.devices = counters(&stack, &seen.issued, false);
                for (counted, (read, write, keep)) in seen.devices.iter_mut().zip(devices) {
                    counted.read_bytes = read;
                    counted.write_bytes = write;
                    if !keep {
                        counted.name = "gone".into();
                    }
                }
                seen.process_io = io.map(|(read_bytes, write_bytes)| ProcessIo {
                    read_bytes,
                    write_bytes,
                    ..ProcessIo::default()
                });
                seen.residency_after =
                    residency.map(|(span_bytes, cached_bytes, dirty)| Residency {
                        span_bytes,
                        cached_bytes,
                        dirty_bytes: Some(dirty),
                        writing_bytes: None,
                        evicted_bytes: None,
                        recently_evicted_bytes: None,
                        method: ResidencyMethod::Mincore,
                    });
                seen.residency_before = seen.residency_after;
                (workload, seen, stack)
            },
        )
}

proptest! {
    #[test]
    #[expect(clippy::float_cmp, reason = "shares add up exactly, that is the promise")]
    fn shares_of_any_evidence_add_up_to_exactly_one((workload, seen, stack) in any_evidence()) {
        let Layers { page_cache, drive_cache, media, unknown, device, mapping, server } =
            layers(&workload, &seen, &stack);
        prop_assert_eq!(page_cache + mapping + server + drive_cache + media + unknown, 1.0);
        for share in [page_cache, mapping, server, drive_cache, media, unknown] {
            prop_assert!((0.0..=1.0).contains(&share));
        }
        if let Some(device) = device {
            prop_assert!(drive_cache + media <= device);
            prop_assert!(device <= 1.0 - page_cache - mapping - server);
        }
    }
}
