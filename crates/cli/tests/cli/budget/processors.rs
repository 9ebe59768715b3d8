//! Processors that others have, or that a quota withholds.

use super::compared::{Measured, Planted};
use super::{filled, measured_by};
use crate::trace_support::events;
use diskfacts_testkit::{ControlGroup, Missing, Program, Shells, or_skip, require_tool};

/// Reads that memory serves: nothing but a processor is needed for them.
const WARM: &str = "operation = \"read\"\nblock_size = \"1MiB\"\ncache = \"warm\"\n\
                    span = \"4MiB\"\ntime = \"600ms\"";
/// Before what else runs on the machine.
const FIRST: (&str, &str) = ("cpu.shares", "262144");
/// Other programs on the processor.
const OTHERS: u32 = 2;

/// `diskfacts` on the first processor, in this group.
fn on_one(program: Program, group: &ControlGroup) -> Program {
    program.under("taskset", &["-c", "0"]).inside(group.path())
}

#[test]
fn processors_that_others_keep_busy() {
    or_skip!(events());
    or_skip!(require_tool("taskset", "util-linux"));
    let device = or_skip!(filled());
    // In one group they have equal parts of what the group gets.
    let group = or_skip!(ControlGroup::new("cpu", "budget-busy", &[FIRST]));
    let others = format!(
        "echo $$ > {}/cgroup.procs; taskset -pc 0 $$; while :; do :; done",
        group.path().display()
    );
    let planted = Planted {
        starves: true,
        ..Planted::only(&["processor"])
    };
    let mut alone_ns = 0.0;
    or_skip!(planted.compare(|planted| {
        let busy = planted.then(|| Shells::running(OTHERS as usize, &others));
        let budget = measured_by(device.path(), WARM, |program| on_one(program, &group));
        drop(busy);
        if !planted {
            alone_ns = budget.undisturbed();
        }
        // As long as each of the others has the processor for each time that it has it.
        let truth_ns = if planted {
            f64::from(OTHERS) * alone_ns
        } else {
            0.0
        };
        Ok(Measured { budget, truth_ns })
    }));
}

/// A quarter of a processor, in periods of 20 ms.
const QUARTER: [(&str, &str); 3] = [
    FIRST,
    ("cpu.cfs_period_us", "20000"),
    ("cpu.cfs_quota_us", "5000"),
];

#[test]
fn processor_time_that_a_quota_withholds() {
    or_skip!(events());
    or_skip!(require_tool("taskset", "util-linux"));
    let device = or_skip!(filled());
    let limited = or_skip!(ControlGroup::new("cpu", "budget-quota", &QUARTER));
    let free = or_skip!(ControlGroup::new("cpu", "budget-free", &[FIRST]));
    let planted = Planted {
        starves: true,
        ..Planted::only(&["processor"])
    };
    or_skip!(planted.compare(|planted| {
        let group = if planted { &limited } else { &free };
        // On one processor there is one quota to use up.
        let budget = measured_by(device.path(), WARM, |program| on_one(program, group));
        if !planted {
            return Ok(Measured {
                budget,
                truth_ns: 0.0,
            });
        }
        let number = |word| group.number("cpu.stat", word);
        // What comes before the trial does not use it up.
        if number("nr_throttled ") * 2 < number("nr_periods ") {
            return Err(Missing::new(
                "processors that are free enough for a quota of a quarter to be used up",
                "stop what else runs here",
            ));
        }
        // Of four quarters it has one, which is what it ran by its own clock.
        let truth_ns = 3.0 * budget.of("kernel");
        Ok(Measured { budget, truth_ns })
    }));
}
