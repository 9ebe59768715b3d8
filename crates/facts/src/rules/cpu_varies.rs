//! The trials of a stage differ because the kernel's processor time for an operation does:
//! what the device did was the same.
//!
//! Held against the same trials with the processor time of the median one in each. Where
//! they differ by half as much then, or less, processor time is what they differ by. That
//! has no free parameter, and a device that changes its speed leaves the processor time of
//! an operation as it is. Only of one operation after another: with several in flight,
//! processor time lies beside that of the device.
//!
//! A common cause in virtual machines: memory that the host has to find first. Filling a
//! page cache with it costs the guest processor time that no counter of the guest names.

use super::prelude::*;
use crate::figures;
use crate::spread::{self, NOISE};

pub(super) const RULE: Rule = Rule {
    name: "cpu-time-varies",
    needs: &[NoDocument, Blocks],
    check: Check::Stages(&[StageCheck(by_processor, not_the_device)]),
    ..Rule::NOTE
};

/// Trials from which on a range is one of more than chance.
const TRIALS: usize = 4;

/// What the trials of a stage differ by.
#[derive(Debug)]
struct Varies {
    /// How wide their rates lie, as a share of the median.
    width: f64,
    /// The same with equal processor time in all.
    equal: f64,
    /// Processor time of an operation, nanoseconds: the least and the most.
    system_ns: [f64; 2],
}

/// Whether processor time is what the trials of a stage differ by.
pub(super) fn is_cause(stage: &Stage<'_>) -> bool {
    varies(stage).is_some()
}

fn varies(stage: &Stage<'_>) -> Option<Varies> {
    let workload = stage.workload();
    let one_by_one = workload.streams == 1 && workload.queue_depth == 1 && workload.rate.is_none();
    if !one_by_one || stage.trials.len() < TRIALS {
        return None;
    }
    // Of an operation: in the kernel, and the rest.
    let times = stage.trials.iter().map(|trial| {
        let system = trial.cpu.system_ns_per_io?;
        let rest = 1e9 / trial.iops - system;
        (rest > 0.0 && rest.is_finite()).then_some((system, rest))
    });
    let (system, rest): (Vec<f64>, Vec<f64>) =
        times.collect::<Option<Vec<_>>>()?.into_iter().unzip();
    let typical = stats::median(&system)?;
    let width = |rates: &mut dyn Iterator<Item = f64>| spread::width(&figures::figure(rates));
    let as_it_was = width(&mut stage.trials.iter().map(|trial| trial.iops))?;
    let equal = width(&mut rest.iter().map(|rest| 1e9 / (rest + typical)))?;
    let system_ns = [
        system.iter().copied().fold(f64::INFINITY, f64::min),
        system.iter().copied().fold(0.0, f64::max),
    ];
    (as_it_was > NOISE && equal <= as_it_was / 2.0).then_some(Varies {
        width: as_it_was,
        equal,
        system_ns,
    })
}

fn by_processor(facts: &StageFacts<'_>) -> Option<Seen> {
    let varies = varies(facts.stage)?;
    let [least, most] = varies.system_ns.map(|ns| show_duration(ns as u64));
    let line = format!(
        "the kernel's processor time for an operation went from {least} to {most} over {} trials, \
         which differ by {}; with the median of it in each they would by {}.",
        facts.trials().len(),
        percent(varies.width),
        percent(varies.equal),
    );
    Some(Seen::line(varies.width, line))
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
