//! A run in a control group with little memory. What it needs for certain is held against
//! what the group lets it have: the kernel kills what takes more, and a run that is killed
//! says nothing.

use crate::exit::Failure;
use diskfacts_host::{Roots, allowed_memory};
use diskfacts_plan::units::show_size;
use diskfacts_plan::{Plan, Stage, Workload};

/// What a run takes beside the buffers of its operations, bytes: the survey of a file of
/// 1 GiB, whose buffers are 8 MiB, ran within 20 MiB and was killed in 16.
const BESIDE: u64 = 12 << 20;
/// Filling a file takes this much for buffers, bytes, whatever the stages take.
const FILLING: u64 = 8 << 20;

/// Refuses a plan that needs more than the control groups of this process let it have.
///
/// # Errors
/// When it does: with both sizes, and what would do.
pub(super) fn refuse_too_little(plan: &Plan) -> Result<(), Failure> {
    let Some(allowed) = allowed_memory(&Roots::default()) else {
        return Ok(());
    };
    let of = |stage: &Stage| (buffers(&stage.workload), stage.name.clone());
    let largest = plan.stages.iter().map(of).max().unwrap_or_default();
    let needed = needed(largest.0);
    if needed <= allowed.bytes {
        return Ok(());
    }
    let (group, file) = (allowed.group.display(), allowed.file);
    let smaller = if largest.0 > FILLING {
        format!(
            "; the buffers of {} alone are {}, so a smaller block_size or queue_depth needs less",
            largest.1,
            show_size(largest.0)
        )
    } else {
        String::new()
    };
    Err(Failure::failed(format!(
        "the control group {group} lets this process have {} of memory, and this plan needs {}: \
         the kernel would kill it in the middle. Write {needed} to {group}/{file}, or leave the \
         group{smaller}",
        show_size(allowed.bytes),
        show_size(needed)
    )))
}

/// What a plan takes whose largest stage has so many bytes of buffers.
fn needed(buffers: u64) -> u64 {
    BESIDE.saturating_add(buffers.max(FILLING))
}

/// Bytes of all blocks that are in flight at once.
fn buffers(workload: &Workload) -> u64 {
    let own = workload.block_size.saturating_mul(workload.outstanding());
    let beside = workload.beside.as_ref();
    own.saturating_add(beside.map_or(0, |beside| buffers(beside)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_is_counted_of_all_that_is_in_flight() {
        const MIB: u64 = 1 << 20;
        let plan = diskfacts_plan::builtin::plan("survey").expect("it is built in");
        assert_eq!(needed(buffers(&plan.stages[0].workload)), 20 * MIB);
        let mut large = plan.stages[0].workload.clone();
        (large.block_size, large.queue_depth, large.streams) = (4 * MIB, 16, 2);
        assert_eq!(buffers(&large), 128 * MIB);
        let mut beside = large.clone();
        beside.beside = Some(Box::new(large));
        assert_eq!(needed(buffers(&beside)), 268 * MIB);
        beside.block_size = u64::MAX;
        assert_eq!(needed(buffers(&beside)), u64::MAX);
    }
}
