//! The trials of a stage differ because the kernel's processor time for an operation does:
//! what the device did was the same ([`ProcessorVaries`]).
//!
//! A common cause in virtual machines: memory that the host has to find first. Filling a
//! page cache with it costs the guest processor time that no counter of the guest names.

use super::prelude::*;
use crate::processor_varies::ProcessorVaries;

pub(super) const RULE: Rule = Rule {
    name: "cpu-time-varies",
    needs: &[NoDocument, Blocks],
    check: Check::Stages(&[StageCheck(by_processor, not_the_device)]),
    ..Rule::NOTE
};

fn by_processor(facts: &StageFacts<'_>) -> Option<Seen> {
    let varies = ProcessorVaries::of(facts.stage)?;
    let [least, most] = varies.system_ns.map(|ns| show_duration(ns as u64));
    let line = format!(
        "the kernel's processor time for an operation went from {least} to {most} over {} trials, \
         which differ by {}; with the median of it in each they would by {}.",
        facts.trials().len(),
        percent(varies.width),
        percent(varies.equal),
    );
    Some((varies.width, vec![line]))
}

fn not_the_device(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    shown.keep_worst();
    let by = percent(shown.most());
    let guest = context.run.machine.virtualization.is_some();
    let memory = when(
        guest,
        || " In a virtual machine, memory that the host has to find first costs such time.",
    );
    RULE.claim(format!(
        "The trials of {} differ by up to {by} because the kernel's processor time for an \
         operation does; what the device did was the same.{memory}",
        shown.list()
    ))
    .headline(format!("trials differ by {by}: kernel CPU, not the device"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each, only};
    use diskfacts_record::Run;

    /// Kernel time and whole time of an operation, nanoseconds, in the trials of a buffered
    /// read of a loop device in a virtual machine whose page cache filled memory that the host
    /// had taken back.
    const MEASURED: [(f64, f64); 9] = [
        (100_549.0, 128_206.0),
        (74_053.0, 97_994.0),
        (53_323.0, 82_277.0),
        (40_347.0, 69_342.0),
        (30_540.0, 61_047.0),
        (22_594.0, 56_559.0),
        (20_850.0, 53_375.0),
        (18_065.0, 50_456.0),
        (15_215.0, 48_564.0),
    ];

    fn run_of(times: &[(f64, f64)]) -> Run {
        let mut plan = diskfacts_plan::builtin::plan("survey").expect("it is built in");
        plan.trials = times.len() as u32;
        plan.stages.retain(|stage| stage.name == "buffered-read");
        let mut run = testing::run_of(plan, testing::stack());
        each(&mut run, "buffered-read", |trial| {
            let (system, whole) = times[trial.number as usize - 1];
            testing::set_rate(trial, 1e9 / whole / trial.iops);
            trial.cpu.system_ns_per_io = Some(system);
        });
        run
    }

    #[test]
    fn what_processor_time_does_is_not_told_of_the_device() {
        let finding = only(&run_of(&MEASURED), RULE.name);
        assert_eq!(finding.severity, Severity::Note);
        assert_eq!(
            finding.evidence,
            [
                "buffered-read: the kernel's processor time for an operation went from 15.2 us to \
              101 us over 9 trials, which differ by 59 %; with the median of it in each they \
              would by 9.3 %."
            ]
        );
    }

    #[test]
    fn a_device_that_changes_its_speed_is_told_of_as_before() {
        // The same times, with processor time that is always the same, or that hardly grows.
        for growth in [0.0, 0.1] {
            let times = MEASURED.map(|(_, whole)| (10_000.0 + growth * whole, whole));
            only(&run_of(&times), "drift");
        }
    }
}
