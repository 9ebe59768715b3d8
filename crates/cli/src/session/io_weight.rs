//! The I/O weight that a stage asks for: a control group of this process for as long
//! as its trial takes.

use crate::exit::{Failure, OrFail};
use diskfacts_host::io_weight::cost_model;
use diskfacts_host::{Error, IoWeight, Roots};
use diskfacts_plan::kernel::IO_WEIGHT;
use diskfacts_plan::{Plan, Stage};
use diskfacts_record::Stack;
use diskfacts_record::evidence::SettingInForce;

/// Refuses a plan whose weights cannot be had, before anything is measured.
pub(super) fn check(plan: &Plan) -> Result<(), Failure> {
    let mut stages = plan.stages.iter();
    match stages.find_map(|stage| stage.kernel.get(IO_WEIGHT)) {
        Some(weight) => IoWeight::enter(&Roots::default(), weight)
            .map(drop)
            .or_failed(),
        None => Ok(()),
    }
}

/// Enters the group of a stage that asks for a weight.
pub(super) fn enter(stage: &Stage) -> Result<Option<IoWeight>, Error> {
    let weight = stage.kernel.get(IO_WEIGHT);
    weight
        .map(|weight| IoWeight::enter(&Roots::default(), weight))
        .transpose()
}

/// Leaves what this process may still be in, where any stage of the plan asked for a weight.
pub(super) fn leave(plan: &Plan) {
    let mut stages = plan.stages.iter();
    if stages.any(|stage| stage.kernel.contains_key(IO_WEIGHT)) {
        IoWeight::leave(&Roots::default());
    }
}

/// What came of it, for the record of the trial.
pub(super) fn in_force(entered: &IoWeight, stage: &Stage, stack: &Stack) -> SettingInForce {
    let asked = stage.kernel.get(IO_WEIGHT).cloned().unwrap_or_default();
    let roots = Roots::default();
    let cost = |numbers| cost_model(&roots, numbers) == Some(true);
    SettingInForce {
        device: None,
        name: IO_WEIGHT.to_owned(),
        note: unheeded(stage, stack, &cost),
        asked,
        before: entered.before(),
        in_force: entered.in_force(),
    }
}

/// Why the weight changes nothing on the way down: no scheduler of a device goes by
/// it, nor does the cost model.
fn unheeded(stage: &Stage, stack: &Stack, cost: &dyn Fn((u32, u32)) -> bool) -> Option<String> {
    let mut queues = Vec::new();
    for device in &stack.devices {
        if cost((device.major, device.minor)) {
            return None;
        }
        let Some(now) = &device.scheduler else {
            continue;
        };
        let scheduler = stage.kernel.get("scheduler").unwrap_or(now);
        // cfq was before Linux 5.0.
        if matches!(scheduler.as_str(), "bfq" | "cfq") {
            return None;
        }
        queues.push(format!("{} has '{scheduler}'", device.name));
    }
    let queues = if queues.is_empty() {
        "no queue with a scheduler is known under the target".to_owned()
    } else {
        queues.join(", ")
    };
    Some(format!(
        "nothing goes by the weight: {queues}, and only the scheduler 'bfq' and the cost model \
         of control groups (io.cost.qos) do"
    ))
}

/// Sentences about trials whose weight changed nothing.
pub(super) fn notes(plan: &Plan, stack: &Stack) -> Vec<String> {
    let roots = Roots::default();
    let cost = |numbers| cost_model(&roots, numbers) == Some(true);
    let mut notes: Vec<String> = Vec::new();
    for stage in &plan.stages {
        if let Some(weight) = stage.kernel.get(IO_WEIGHT)
            && let Some(why) = unheeded(stage, stack, &cost)
        {
            let name = &stage.name;
            let note = format!("`{IO_WEIGHT} = {weight}` of stage {name}: {why}.");
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_plan::file::parse;
    use diskfacts_record::{BlockDevice, DeviceKind};

    fn stack(scheduler: Option<&str>) -> Stack {
        let sda = BlockDevice {
            scheduler: scheduler.map(str::to_owned),
            ..BlockDevice::unknown("sda", 8, 0, DeviceKind::Disk)
        };
        let md = BlockDevice::unknown("md0", 9, 0, DeviceKind::SoftwareRaid);
        Stack {
            devices: vec![md, sda],
            ..Stack::default()
        }
    }

    #[test]
    fn a_weight_that_nothing_goes_by_is_said_with_the_schedulers_that_there_are() {
        let asking = |scheduler: &str| {
            let text = format!(
                "name = \"x\"\n[[stage]]\nname = \"a\"\noperation = \"read\"\n\
                 kernel = {{ io_weight = 500{scheduler} }}\n"
            );
            parse(&text).expect("a plan")
        };
        let plain = &asking("").stages[0];
        let chosen = &asking(", scheduler = \"bfq\"").stages[0];
        let off = |_| false;
        let said = unheeded(plain, &stack(Some("none")), &off).expect("none passes it over");
        assert!(said.contains("sda has 'none'"), "{said}");
        assert!(!said.contains("md0"), "{said}");
        let said = unheeded(plain, &stack(None), &off).expect("nothing is known");
        assert!(said.contains("no queue with a scheduler"), "{said}");
        assert_eq!(unheeded(plain, &stack(Some("bfq")), &off), None);
        assert_eq!(unheeded(chosen, &stack(Some("none")), &off), None);
        let on_sda = |numbers| numbers == (8, 0);
        assert_eq!(unheeded(plain, &stack(Some("none")), &on_sda), None);
    }
}
