//! Whether the disks under a target turn.
//!
//! `queue/rotational` says yes unless a driver knows better: virtio disks, USB sticks and
//! volumes of RAID controllers say so whatever they are (`BLK_FEAT_ROTATIONAL` is what
//! `drivers/block/virtio_blk.c` begins with, and `drivers/scsi/sd.c` keeps it where a device has
//! no page 0xb1). So it is held against what reading one block after the other at places of
//! chance took: an arm needs milliseconds for each.
//!
//! * Of a disk that a hypervisor shows it is believed only where all of these reads are as
//!   slow as those of an arm; without such reads it is not known.
//! * Of another disk it is believed unless one of these stages was faster than any arm, over
//!   a span that no drive's own memory holds.

use diskfacts_plan::{Operation, Pattern};
use diskfacts_record::{BlockDevice, Run, TargetKind, Trial};

/// Reads at places of chance take an arm longer, nanoseconds: half a revolution of the
/// fastest disks is 2 ms (15 000 rpm), and they seek besides.
const ARM_NS: f64 = 2.5e6;

/// Bytes over which the memory of a drive serves at most half of such reads: 512 MiB is the
/// largest that disks are sold with.
const SPAN_MIN: u64 = 1 << 30;

/// Time of such a read, nanoseconds, that no arm reaches over such a span: a drive that has
/// half of it in memory needs [`ARM_NS`] for the other half.
const NO_ARM_NS: f64 = ARM_NS / 2.0;

/// Whether this leaf of the run's stack turns, by its driver and by what its reads took;
/// `None` where the driver says so and the reads do not bear it out, or nothing is known.
pub fn turns(run: &Run, leaf: &BlockDevice) -> Option<bool> {
    Arm::of(run).turns(run, leaf)
}

/// What the reads of a run say of an arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arm {
    /// All were as slow as those of one.
    Seen,
    /// Some were faster than any.
    Excluded,
    /// There were none, or neither is shown.
    Unknown,
}

impl Arm {
    /// Of all trials of a run.
    pub(crate) fn of(run: &Run) -> Self {
        let alone = |trial: &&Trial| {
            let workload = &trial.workload;
            workload.operation == Operation::Read
                && workload.outstanding() == 1
                && matches!(workload.pattern, Pattern::Random | Pattern::Zipf { .. })
                && trial.layers.page_cache < 0.1
        };
        let mut found = Self::Unknown;
        let mut fast = false;
        for trial in run.trials.iter().filter(alone) {
            let Some(mean_ns) = trial.latency_ns.mean else {
                continue;
            };
            // Zipf's favourites fit any memory.
            let spread = trial.workload.pattern == Pattern::Random
                && trial.workload.span.unwrap_or(run.target.size_bytes) >= SPAN_MIN;
            if mean_ns < NO_ARM_NS && spread {
                return Self::Excluded;
            }
            fast |= mean_ns < ARM_NS;
            found = Self::Seen;
        }
        if fast { Self::Unknown } else { found }
    }

    /// Whether this leaf of the run's stack turns; `None` where that is not known.
    pub(crate) fn turns(self, run: &Run, leaf: &BlockDevice) -> Option<bool> {
        if !leaf.rotational? {
            return Some(false);
        }
        let shown = leaf.virtual_by.is_some() || run.machine.virtualization.is_some();
        let believed = match self {
            Self::Seen => true,
            Self::Excluded => false,
            Self::Unknown => !shown,
        };
        // The model's own disks are what they say.
        (believed || run.target.kind == TargetKind::Simulated).then_some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each};

    /// A run on a disk that says that it turns, with single reads of this mean over this span.
    fn reads(mean_ns: f64, span: u64) -> Run {
        let mut run = testing::healthy();
        testing::rotating(&mut run);
        run.machine.virtualization = None;
        each(&mut run, "random-read-qd1", |trial| {
            trial.latency_ns.mean = Some(mean_ns);
            trial.workload.span = Some(span);
        });
        run
    }

    fn turns(run: &Run) -> Option<bool> {
        let leaf = run.stack.leaves().next().expect("a disk");
        Arm::of(run).turns(run, leaf)
    }

    const SPAN: u64 = 4 << 30;

    #[test]
    fn a_disk_that_answers_faster_than_any_arm_is_not_known_to_turn() {
        assert_eq!(turns(&reads(8e6, SPAN)), Some(true));
        assert_eq!(turns(&reads(57e3, SPAN)), None);
        // The memory of a drive may have all of it.
        assert_eq!(turns(&reads(57e3, 64 << 20)), Some(true));
        // Half of it, and an arm for the rest.
        assert_eq!(turns(&reads(1.5e6, SPAN)), Some(true));
        let mut zipf = reads(57e3, SPAN);
        each(&mut zipf, "random-read-qd1", |trial| {
            trial.workload.pattern = Pattern::Zipf { theta: 0.99 };
        });
        assert_eq!(turns(&zipf), Some(true));
    }

    #[test]
    fn what_a_hypervisor_shows_turns_where_its_reads_are_as_slow_as_an_arm() {
        let shown = |mut run: Run| {
            run.machine.virtualization = Some("kvm".into());
            turns(&run)
        };
        assert_eq!(shown(reads(8e6, SPAN)), Some(true));
        assert_eq!(shown(reads(1.5e6, SPAN)), None);
        assert_eq!(shown(reads(57e3, 64 << 20)), None);
        let mut none = reads(8e6, SPAN);
        none.trials.retain(|trial| trial.stage != "random-read-qd1");
        assert_eq!(turns(&none), Some(true));
        assert_eq!(shown(none), None);
    }

    #[test]
    fn a_disk_that_says_that_it_does_not_turn_is_believed() {
        let mut run = reads(8e6, SPAN);
        for device in &mut run.stack.devices {
            device.rotational = Some(false);
        }
        assert_eq!(turns(&run), Some(false));
    }
}
