//! Differences of counters, across wrapping and across a device that went away.

use diskfacts_host::Diskstats;
use diskfacts_host::parse::diskstats::{Discards, Flushes};
use diskfacts_record::{BlockDevice, DeviceKind};
use proptest::prelude::*;

fn disk() -> BlockDevice {
    BlockDevice::unknown("sda", 8, 0, DeviceKind::Disk)
}

#[test]
fn the_difference_is_in_bytes_and_names_the_device() {
    let before = Diskstats {
        reads: 10,
        read_sectors: 80,
        in_flight: 3,
        discard: Some(Discards::default()),
        flush: Some(Flushes { count: 4, ms: 9 }),
        ..Diskstats::default()
    };
    let after = Diskstats {
        reads: 15,
        read_sectors: 88,
        writes: 2,
        write_sectors: 16,
        busy_ms: 7,
        flush: Some(Flushes { count: 5, ms: 11 }),
        ..before
    };
    let counters = Diskstats::between(&disk(), &before, &after).expect("counters");
    assert_eq!(counters.name, "sda");
    assert!(counters.leaf);
    assert_eq!((counters.reads, counters.read_bytes), (5, 4096));
    assert_eq!((counters.writes, counters.write_bytes), (2, 8192));
    assert_eq!(counters.busy_ms, 7);
    assert_eq!(counters.in_flight_before, 3);
    assert_eq!(counters.discards, Some(0));
    assert_eq!((counters.flushes, counters.flush_ms), (Some(1), Some(2)));
}

#[test]
fn times_wrap_at_32_bits_on_every_kernel() {
    let before = Diskstats {
        read_ms: u64::from(u32::MAX) - 4,
        weighted_ms: u64::from(u32::MAX),
        ..Diskstats::default()
    };
    let after = Diskstats {
        read_ms: 5,
        weighted_ms: 0,
        ..Diskstats::default()
    };
    let counters = Diskstats::between(&disk(), &before, &after).expect("counters");
    assert_eq!(counters.read_ms, 10);
    assert_eq!(counters.weighted_ms, 1);
}

#[test]
fn operations_wrap_at_32_bits_on_a_32_bit_kernel() {
    let before = Diskstats {
        reads: u64::from(u32::MAX) - 1,
        ..Diskstats::default()
    };
    let after = Diskstats {
        reads: 8,
        ..Diskstats::default()
    };
    let counters = Diskstats::between(&disk(), &before, &after).expect("counters");
    assert_eq!(counters.reads, 10);
}

#[test]
fn a_counter_that_fell_without_wrapping_means_another_device() {
    for before in [1_000_000, 1 << 40] {
        let before = Diskstats {
            write_sectors: before,
            ..Diskstats::default()
        };
        let error = Diskstats::between(&disk(), &before, &Diskstats::default()).expect_err("fell");
        assert_eq!(error.counter, "sectors written");
        assert!(error.to_string().contains("removed"), "{error}");
    }
}

#[test]
fn counters_that_only_one_reading_has_are_absent() {
    let before = Diskstats::default();
    let after = Diskstats {
        discard: Some(Discards::default()),
        flush: Some(Flushes::default()),
        ..before
    };
    let counters = Diskstats::between(&disk(), &before, &after).expect("counters");
    assert_eq!(counters.discards, None);
    assert_eq!(counters.flushes, None);
    assert_eq!(counters.flush_ms, None);
}

proptest! {
    /// The kernel's counters in 64 bits, printed with 32 as an old one does.
    #[test]
    fn any_step_below_half_a_lap_is_found_after_wrapping(
        start in any::<u32>(),
        step in 0_u32..1 << 31,
    ) {
        let stat = |value: u32| Diskstats {
            reads: u64::from(value),
            busy_ms: u64::from(value),
            ..Diskstats::default()
        };
        let (before, after) = (stat(start), stat(start.wrapping_add(step)));
        let counters = Diskstats::between(&disk(), &before, &after).expect("counters");
        prop_assert_eq!(counters.reads, u64::from(step));
        prop_assert_eq!(counters.busy_ms, u64::from(step));
    }
}
