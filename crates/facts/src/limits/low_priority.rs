//! The scheduler lets others go first, because this process asks for it: its I/O class is idle,
//! or its level is below that of everybody else (`ionice(1)`, `IOSchedulingClass=` of a service).

use super::prelude::*;
use crate::stage_facts::shared_device::SharedDevice;
use crate::stages::one_value;
use diskfacts_plan::IoPriority;

pub(super) const LIMITER: Limiter = Limiter {
    name: "low-io-priority",
    needs: &[NoDocument, Blocks],
    find: others_go_first,
    ..Limiter::ANY
};

/// Level of who asks for nothing (`IOPRIO_BE_NORM`, kernel `include/uapi/linux/ioprio.h`).
const USUAL: u8 = 4;

/// Whether a scheduler serves others first: mq-deadline goes by the class (since Linux 5.14,
/// `block/mq-deadline.c`), bfq by the level too; nothing else looks at either.
fn puts_behind(scheduler: &str, priority: IoPriority) -> bool {
    match priority {
        IoPriority::Idle => ["bfq", "mq-deadline"].contains(&scheduler),
        IoPriority::BestEffort(level) => level > USUAL && scheduler == "bfq",
        IoPriority::Realtime(_) => false,
    }
}

fn others_go_first(facts: &StageFacts<'_>) -> Option<Candidate> {
    // What the plan asks for is no surprise, and is what it wants to know.
    unless(facts.workload().io_priority.is_some())?;
    let each = facts.trials().iter();
    let priority = one_value(each.map(|trial| trial.evidence.engine.io_priority))??;
    let (device, scheduler) = facts.stack().devices.iter().find_map(|device| {
        let scheduler = device.scheduler.as_deref()?;
        puts_behind(scheduler, priority).then_some((&device.name, scheduler))
    })?;
    // With nobody else there it waits for nobody.
    let others = SharedDevice::of(facts)?;
    let claim = format!(
        "This process has the I/O priority {priority}: {scheduler}, the scheduler of {device}, \
         serves others first, and they used it."
    );
    let line = format!("The threads had {priority}, which the plan does not ask for (ioprio_get).");
    let found = cause(others.share?, Likely, claim).evidence([line]);
    Some(found.evidence(others.evidence))
}
