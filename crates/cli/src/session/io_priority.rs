//! I/O priorities that a plan asks for: whether this process may have them, and
//! whether anything looks at them.

use crate::exit::{Failure, OrFail};
use diskfacts_engine::io_priority;
use diskfacts_plan::{IoPriority, Plan, Stage};
use diskfacts_record::Stack;
use std::collections::BTreeMap;

/// The schedulers that send by priority: bfq, mq-deadline since Linux 5.14
/// (`block/mq-deadline.c`), and cfq before Linux 5.0.
const LOOK_AT_IT: [&str; 3] = ["bfq", "mq-deadline", "cfq"];

/// The priorities that a stage asks for, for itself and for what runs beside it.
fn asked(stage: &Stage) -> impl Iterator<Item = IoPriority> + '_ {
    let beside = stage.workload.beside.as_deref();
    let beside = beside.and_then(|beside| beside.io_priority);
    stage.workload.io_priority.into_iter().chain(beside)
}

/// Refuses a plan whose priorities this process may not have, before anything is
/// measured.
pub(super) fn check(plan: &Plan) -> Result<(), Failure> {
    let before = plan.precondition.iter().map(|work| &work.stage);
    let mut tried = Vec::new();
    for priority in before.chain(&plan.stages).flat_map(asked) {
        if !tried.contains(&priority) {
            io_priority::allowed(priority).or_failed()?;
            tried.push(priority);
        }
    }
    Ok(())
}

/// A sentence for each device whose scheduler does not look at priorities, when
/// stages ask for one.
pub(super) fn notes(plan: &Plan, stack: &Stack) -> Vec<String> {
    // Stages by device and scheduler.
    let mut passed_over: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for stage in &plan.stages {
        if asked(stage).next().is_none() {
            continue;
        }
        for device in &stack.devices {
            let Some(now) = &device.scheduler else {
                continue;
            };
            let scheduler = stage.kernel.get("scheduler").unwrap_or(now);
            if !LOOK_AT_IT.contains(&scheduler.as_str()) {
                let names = passed_over.entry((&device.name, scheduler)).or_default();
                if !names.contains(&stage.name.as_str()) {
                    names.push(&stage.name);
                }
            }
        }
    }
    let note = |((device, scheduler), stages): ((&str, &str), Vec<&str>)| {
        format!(
            "The I/O priority of {} changes nothing in the queue of {device}: its scheduler \
             '{scheduler}' sends requests whoever they are from. 'bfq' and 'mq-deadline' look \
             at it.",
            stages.join(", ")
        )
    };
    passed_over.into_iter().map(note).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_plan::file::parse;
    use diskfacts_record::{BlockDevice, DeviceKind};

    fn stack(schedulers: &[(&str, Option<&str>)]) -> Stack {
        let device = |(name, scheduler): &(&str, Option<&str>)| BlockDevice {
            scheduler: scheduler.map(str::to_owned),
            ..BlockDevice::unknown(name, 8, 0, DeviceKind::Disk)
        };
        Stack {
            devices: schedulers.iter().map(device).collect(),
            ..Stack::default()
        }
    }

    #[test]
    fn a_scheduler_that_passes_priorities_over_is_named_with_the_stages_that_ask() {
        let plan = parse(
            "name = \"x\"\n\
             [[stage]]\nname = \"first\"\noperation = \"read\"\nio_priority = \"realtime:0\"\n\
             [[stage]]\nname = \"plain\"\noperation = \"read\"\n\
             [[stage]]\nname = \"beside\"\noperation = \"read\"\n\
             beside = { operation = \"read\", io_priority = \"idle\" }\n\
             [[stage]]\nname = \"chosen\"\noperation = \"read\"\nio_priority = \"idle\"\n\
             [stage.vary]\nscheduler = [\"bfq\", \"kyber\"]\n",
        )
        .expect("a plan");
        let said = notes(&plan, &stack(&[("md0", None), ("sda", Some("none"))]));
        let [kyber, none] = said.as_slice() else {
            panic!("{said:?}");
        };
        assert!(
            none.contains("of first, beside changes nothing in the queue of sda"),
            "{none}"
        );
        assert!(
            kyber.contains("of chosen changes nothing") && kyber.contains("'kyber'"),
            "{kyber}"
        );
        let said = notes(&plan, &stack(&[("sda", Some("mq-deadline"))]));
        assert_eq!(said.len(), 1, "{said:?}");
        let without = parse("name = \"x\"\n[[stage]]\nname = \"a\"\noperation = \"read\"\n");
        assert_eq!(
            notes(&without.expect("a plan"), &stack(&[("sda", Some("none"))])),
            Vec::<String>::new()
        );
    }
}
