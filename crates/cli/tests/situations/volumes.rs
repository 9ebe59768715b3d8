//! Volumes as clouds give them: so many operations or bytes a second, and credit for more.

use crate::alone::alone;
use crate::beside::{Counter, counted};
use crate::case::{MIB, write_data};
use crate::said::of;
use diskfacts_testkit::{Missing, ThrottledVolume, or_skip};

const READS: &str = "operation = \"read\"\npattern = \"random\"\nblock_size = \"4KiB\"\n\
                     cache = \"direct\"\nqueue_depth = 8\ntime = \"4s\"";

/// A volume with these limits.
fn throttled(limits: &str) -> Result<ThrottledVolume, Missing> {
    ThrottledVolume::new(limits, |image| write_data(image, 64 * MIB))
}

/// Reads that the device did meanwhile.
fn reads(volume: &ThrottledVolume, measure: impl FnOnce()) -> u64 {
    let before = counted(volume.device(), Counter::Reads);
    measure();
    counted(volume.device(), Counter::Reads) - before
}

/// Under these limits the cap is named, with so many operations a second; without them it
/// is not.
fn is_capped(limits: &str, most: u64, per_s: f64) {
    let _alone = alone();
    let volume = or_skip!(throttled(limits));
    let done = reads(&volume, || {
        let said = of(volume.device().path(), READS).said();
        said.names("credit-throttle", "operations/s")
            .counts("credit-throttle", per_s)
            .is_silent_of("stall")
            .is_silent_of("device-parallelism")
            .is_silent_of("thermal-throttle");
    });
    assert!(done <= most, "{done} reads");
    drop(volume);
    let free = or_skip!(throttled(""));
    let done = reads(&free, || {
        let said = of(free.device().path(), READS).said();
        said.is_silent_of("credit-throttle");
    });
    assert!(done > 4 * most, "{done} reads without a limit");
}

#[test]
fn a_volume_of_so_many_operations_a_second() {
    // Two trials of 4 s, a tenth of a second at once, and what looks at the device before.
    is_capped(",limits.iops-total=500", 5000, 500.0);
}

#[test]
fn a_volume_with_credit() {
    // A bucket of 3000 operations, filled at 3000 a second and drained at 500.
    let limits = ",limits.iops-total=500,limits.iops-total-max=3000,limits.iops-total-max-length=1";
    is_capped(limits, 9000, 500.0);
}
