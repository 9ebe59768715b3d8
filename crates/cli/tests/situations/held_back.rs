//! Limits that somebody set on the device.

use crate::alone::alone;
use crate::beside::filled;
use crate::case::MIB;
use crate::said::of;
use diskfacts_testkit::{Throttle, ThrottleGroup, or_skip};

/// Measured within the limit it is named, as these words, and nothing is claimed of the
/// device; without it, it is not.
fn is_named(throttle: Throttle, stage: &str, words: &str) {
    let _alone = alone();
    let device = or_skip!(filled(64 * MIB));
    let group = or_skip!(ThrottleGroup::new(&device, throttle));
    let measurement = |stage| {
        let measurement = of(device.path(), stage);
        if throttle
            .writes_per_s
            .or(throttle.write_bytes_per_s)
            .is_some()
        {
            measurement.destroying()
        } else {
            measurement
        }
    };
    let said = measurement(stage).inside(group.path()).said();
    assert!(group.operations().expect("its counters") > 0);
    said.names("cgroup-throttle", words).is_silent_of("stall");
    measurement(stage).said().is_silent_of("cgroup-throttle");
}

#[test]
fn reads_a_second() {
    let throttle = Throttle {
        reads_per_s: Some(500),
        ..Throttle::default()
    };
    let stage = "operation = \"read\"\ncache = \"direct\"\nqueue_depth = 8\ntime = \"800ms\"";
    is_named(throttle, stage, "500.0 reads a second");
}

#[test]
fn bytes_read() {
    let throttle = Throttle {
        read_bytes_per_s: Some(20 * MIB),
        ..Throttle::default()
    };
    let stage = "operation = \"read\"\npattern = \"sequential\"\nblock_size = \"128KiB\"\n\
                 cache = \"direct\"\nqueue_depth = 4\ntime = \"800ms\"";
    is_named(throttle, stage, "21.0 MB/s read");
}

#[test]
fn bytes_read_through_the_page_cache() {
    let throttle = Throttle {
        read_bytes_per_s: Some(20 * MIB),
        ..Throttle::default()
    };
    let stage = "operation = \"read\"\npattern = \"sequential\"\nblock_size = \"128KiB\"\n\
                 cache = \"cold\"\ntime = \"800ms\"";
    is_named(throttle, stage, "21.0 MB/s read");
}

#[test]
fn writes_a_second() {
    let throttle = Throttle {
        writes_per_s: Some(500),
        ..Throttle::default()
    };
    let stage = "operation = \"write\"\ncache = \"direct\"\nqueue_depth = 8\ntime = \"800ms\"";
    is_named(throttle, stage, "500.0 writes a second");
}

#[test]
fn bytes_written() {
    let throttle = Throttle {
        write_bytes_per_s: Some(20 * MIB),
        ..Throttle::default()
    };
    let stage = "operation = \"write\"\npattern = \"sequential\"\nblock_size = \"128KiB\"\n\
                 cache = \"direct\"\ntime = \"800ms\"";
    is_named(throttle, stage, "21.0 MB/s written");
}

#[test]
fn writes_that_are_synced() {
    let throttle = Throttle {
        writes_per_s: Some(100),
        ..Throttle::default()
    };
    let stage = "operation = \"write\"\ncache = \"buffered\"\nsync = \"fdatasync\"\n\
                 time = \"800ms\"";
    is_named(throttle, stage, "100.0 writes a second");
}
