//! Which observers look at a trial, and what root would add.

use diskfacts_host::Roots;
use diskfacts_host::observe::Observers;
use diskfacts_host::trace::{Pace, TraceError, Tracefs, remove_stale_instances};
use diskfacts_plan::observe::{OBSERVERS, Observe, observer};
use diskfacts_plan::{EngineChoice, Plan, Workload};
use diskfacts_record::Stack;
use std::fs::File;

/// Events without which the block layer cannot be followed.
const NEEDED: [&str; 2] = ["block/block_rq_issue", "block/block_rq_complete"];

/// The observers of one trial.
pub(super) struct Chosen {
    /// Whether the page cache of the span is looked at.
    pub(super) residency: bool,
    /// All others.
    pub(super) others: Observers,
}

impl Chosen {
    /// Those that a workload wants in the trial of this number, from 1. Events that
    /// nobody asked for by name are left out where they cannot be had.
    pub(super) fn new(workload: &Workload, number: u32, file: &File, stack: &Stack) -> Self {
        let possible = workload.observe != Observe::Auto || events(stack).is_ok_and(|can| can);
        let wanted = |name: &str| {
            let observer = observer(name);
            observer.is_some_and(|observer| {
                workload.observe.wants(observer, number) && (possible || !observer.events)
            })
        };
        let pace = if workload.observe.sparing() {
            Pace::Sparing
        } else {
            Pace::Whole
        };
        Self {
            residency: wanted("residency"),
            others: Observers::chosen(&Roots::default(), stack, Some(file), pace, &wanted),
        }
    }

    /// Those of counters.
    pub(super) fn counters(stack: &Stack) -> Self {
        Self {
            residency: true,
            others: Observers::for_run(&Roots::default(), stack),
        }
    }
}

/// Whether there is a device whose events could be followed.
fn events(stack: &Stack) -> Result<bool, TraceError> {
    if stack.devices.is_empty() {
        return Ok(false);
    }
    Tracefs::open(&Roots::default())?.need_events(&NEEDED)?;
    Ok(true)
}

/// What diskfacts that were killed left in the kernel's tracing is removed; a line for
/// each. Without root there is nothing to look into, and nothing is said.
pub(super) fn leftovers() -> Vec<String> {
    let Ok(found) = remove_stale_instances(&Roots::default()) else {
        return Vec::new();
    };
    let removed = found.removed.iter().map(|name| {
        format!("Removed the trace instance {name}, which a killed diskfacts had left.")
    });
    let kept = found.kept.iter().map(|(name, why)| {
        format!(
            "The trace instance {name}, which a killed diskfacts had left, could not be removed: \
             {why}."
        )
    });
    removed.chain(kept).collect()
}

/// A line on events that are left out because they cannot be had.
pub(super) fn note(plan: &Plan, stack: &Stack) -> Option<String> {
    let by_itself = |workload: &Workload| {
        workload.observe == Observe::Auto && workload.engine != EngineChoice::Null
    };
    if !plan.stages.iter().any(|stage| by_itself(&stage.workload)) {
        return None;
    }
    let names: Vec<&str> = OBSERVERS
        .iter()
        .filter(|o| o.events && o.auto)
        .map(|o| o.name)
        .collect();
    let names = names.join(", ");
    match events(stack) {
        Ok(_) => None,
        Err(TraceError::NotRoot { .. }) => Some(format!(
            "Root would add the kernel's trace events: {names}."
        )),
        Err(error) => Some(format!(
            "The trace events of the kernel were not followed ({names}): {error}."
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn this_program() -> File {
        let program = std::env::current_exe().expect("this program");
        File::open(program).expect("a file")
    }

    #[test]
    fn the_observers_that_a_plan_can_name_are_those_that_there_are() {
        let stack = Stack::default();
        let file = this_program();
        let all = Observers::chosen(
            &Roots::default(),
            &stack,
            Some(&file),
            Pace::default(),
            &|_| true,
        );
        let all = all.with_residency(&file, 0, 1);
        let names: Vec<&str> = all.names().collect();
        let known: Vec<&str> = OBSERVERS.iter().map(|observer| observer.name).collect();
        assert_eq!(names, known);
    }

    #[test]
    fn an_observer_that_is_not_wanted_is_not_there() {
        let workload = |observe: &str| Workload {
            observe: observe.parse().expect("a choice"),
            ..Workload::default()
        };
        let names = |observe: &str, number| {
            let chosen = Chosen::new(
                &workload(observe),
                number,
                &this_program(),
                &Stack::default(),
            );
            let mut names: Vec<String> = chosen.others.names().map(str::to_owned).collect();
            names.extend(chosen.residency.then(|| "residency".to_owned()));
            names
        };
        assert!(names("none", 1).is_empty());
        assert_eq!(names("devices,residency", 1), ["devices", "residency"]);
        assert_eq!(names("all", 2).len(), OBSERVERS.len());
        // Nothing to follow: counters only.
        let counters = OBSERVERS.iter().filter(|observer| !observer.events).count();
        assert_eq!(names("auto", 1).len(), counters);
    }
}
