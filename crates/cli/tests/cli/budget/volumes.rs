//! A volume as clouds give them, with a limit and with credit for more.

use super::compared::{Measured, Planted};
use super::{DIRECT, measured};
use crate::support::{MIB, write_data};
use crate::trace_support::events;
use diskfacts_testkit::{Missing, ThrottledVolume, or_skip};

const AT_A_TIME: f64 = 8.0;
/// Operations a second that the bucket drains by, and how many it holds.
const PER_S: u32 = 500;
const CREDIT: u32 = 1000;

/// Deep reads of so many operations of a volume that may take so many at once.
fn limited(limits: &str, credit: u32, operations: u32) -> Result<(), Missing> {
    events()?;
    let stage = format!("{DIRECT}queue_depth = {AT_A_TIME}\noperations = {operations}");
    let volume = |limits: &str| ThrottledVolume::new(limits, |image| write_data(image, 32 * MIB));
    let free = volume("")?;
    Planted::only(&["device"]).compare(|planted| {
        // Its credit is whole again.
        let limited = if planted { Some(volume(limits)?) } else { None };
        let device = limited.as_ref().unwrap_or(&free).device();
        let budget = measured(device, &stage, None);
        let truth_ns = if planted {
            // What the credit does not cover leaves at that rate, and so many are under way.
            let waited = f64::from(operations - credit) / f64::from(operations);
            waited * AT_A_TIME * 1e9 / f64::from(PER_S)
        } else {
            budget.undisturbed()
        };
        Ok(Measured { budget, truth_ns })
    })
}

#[test]
fn what_a_volume_without_credit_holds_back_is_its_device() {
    // Without a word of it the bucket holds a tenth of a second.
    let limits = format!(",limits.iops-total={PER_S}");
    or_skip!(limited(&limits, PER_S / 10, 1000));
}

#[test]
fn what_a_volume_holds_back_when_its_credit_is_spent_is_its_device() {
    let limits = format!(
        ",limits.iops-total={PER_S},limits.iops-total-max={CREDIT},limits.iops-total-max-length=1"
    );
    or_skip!(limited(&limits, CREDIT, 2000));
}
